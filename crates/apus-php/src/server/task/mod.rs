//! Tasks: work that any process of a server hands to its task workers.
//!
//! The tasks themselves stand in shared memory ([`apus_shm::tasks`]). [`task_client`] is what a process that hands
//! tasks over knows of them, [`methods`] and [`compute`] how it does so; [`work`] is the task worker's loop,
//! [`running`] one task in it.

mod answer;
mod code;
pub(super) mod compute;
mod cron;
mod master;
pub(super) mod methods;
mod object;
mod running;
pub(super) mod schedule;
mod system_queue;
mod task_client;
mod work;

use apus_options::Settings;
use apus_process::{RoleCounts, log};
use apus_shm::tasks::TaskQueue;
use apus_zend::Raise;
use apus_zend::class::Class;

use super::core::ServerCore;
use crate::exception;

pub(super) use system_queue::{SystemQueue, forward};
pub(super) use task_client::{TaskClient, close, open};
pub(super) use work::{Leaving, work};

/// The class of tasks as callbacks get them.
pub(super) static TASK: &Class = &object::TASK;

/// What a task's callback reports on, in [`apus_shm::tasks::Order::wants`].
mod wants {
    /// What it returns or gives to `finish()`.
    pub(super) const RESULT: u32 = 1;
    /// That it failed.
    pub(super) const ERROR: u32 = 2;
    /// That it is over, where there is no result.
    pub(super) const END: u32 = 4;
}

/// What stands in the low half of a task's flags; the high half is the id of the process that handed it over. The first
/// four have the numbers that programs know.
mod flags {
    /// Its data is packed; else it is a string as it is.
    pub(super) const PACKED: u32 = 2;
    /// Somebody waits for it, and blocks its process.
    pub(super) const BLOCKING: u32 = 4;
    /// A callback of its own is called with the result.
    pub(super) const CALLBACK: u32 = 8;
    /// A coroutine waits for it.
    pub(super) const COROUTINE: u32 = 32;
    /// Nobody hears of it.
    pub(super) const NO_REPLY: u32 = 128;
    /// Somebody waits for it.
    pub(super) const AWAITED: u32 = BLOCKING | COROUTINE;
    /// Its data is a callable with arguments.
    pub(super) const COMPUTE: u32 = 256;
    /// Dates stand before its data.
    pub(super) const DATED: u32 = 512;
}

/// Kinds of reports.
mod kinds {
    /// The result, a string, and the task's end.
    pub(super) const RESULT: u32 = 1;
    /// The same with a packed value.
    pub(super) const RESULT_PACKED: u32 = 2;
    /// What `finish()` was given.
    pub(super) const INTERIM: u32 = 3;
    /// The same with a packed value.
    pub(super) const INTERIM_PACKED: u32 = 4;
    /// What `Apus\progress()` was given.
    pub(super) const PROGRESS: u32 = 5;
    /// The same with a packed value.
    pub(super) const PROGRESS_PACKED: u32 = 6;
    /// The end without a result.
    pub(super) const END: u32 = 7;
    /// It failed; why, as text.
    pub(super) const FAILED: u32 = 8;
}

/// Priorities, from the first.
pub(super) mod priority {
    pub(in crate::server) const HIGH: i64 = 0;
    pub(in crate::server) const NORMAL: i64 = 1;
    pub(in crate::server) const LOW: i64 = 2;
}

/// Why a task was not taken or gave nothing, in `getLastError()`.
pub(super) mod errors {
    pub(in crate::server) const QUEUE_FULL: i64 = 1301;
    pub(in crate::server) const WORKER_DIED: i64 = 1302;
    pub(in crate::server) const FAILED: i64 = 1303;
    pub(in crate::server) const TIMEOUT: i64 = 2003;
}

/// There is no room; gives what a call returns then.
fn full() -> bool {
    crate::last_error::fail(errors::QUEUE_FULL)
}

/// In the master, before the first fork: the memory that tasks stand in; `None` without task workers.
pub(super) fn prepare(settings: &Settings, role_counts: RoleCounts) -> Result<Option<&'static TaskQueue>, Raise> {
    if role_counts.tasks == 0 {
        return Ok(None);
    }
    match TaskQueue::new(settings.task_queue_size, master::slot(role_counts) + 1, usize::from(role_counts.tasks)) {
        Ok(task_queue) => Ok(Some(Box::leak(Box::new(task_queue)))),
        Err(error) => Err(exception::throw(
            exception::code::server::PROCESS,
            &format!("the memory for tasks cannot be mapped: {error} (set task_queue_size lower)"),
        )),
    }
}

/// In the master, when all processes are gone: says what is left undone.
pub(super) fn tell_left(core: &ServerCore) {
    let Some(task_queue) = core.task_queue.get() else { return };
    let waiting = task_queue.stats().waiting;
    if waiting > 0 {
        log::warning(format_args!(
            "{waiting} tasks that waited were not run: the server has stopped (task workers have max_wait_time for them)"
        ));
    }
}

/// In the master: a process is gone, and has left what it worked at.
pub(super) fn reap(task_queue: &TaskQueue, slot: usize) {
    let next = |payload: &[u8]| cron::Calendar::read(payload)?.0.next();
    for lost in task_queue.bury(slot, next) {
        let then = if lost.repeats { "; it comes again at its time" } else { "" };
        log::warning(format_args!("task {} was lost with the worker that ran it{then}", lost.id));
    }
}
