//! User processes: what `addProcess()` was given, run beside the workers and started again when it ends.

use std::rc::Rc;

use apus_options::Settings;
use apus_process::{MOST_USERS, RoleCounts, Worker, log};
use apus_zend::arg::Given;
use apus_zend::engine::Thrown;
use apus_zend::object::Object;
use apus_zend::{Raise, Value};

use super::class::slot::server as slot;
use super::core::{ServerCore, ServerHandle, describe};
use super::{routing, task};
use crate::process::{ProcessCore, Signals, core_of};
use crate::swoole;

/// The exit code of a process that met a fatal error: PHP's own.
const FAILED: i32 = 255;

pub(super) fn add_process(core: &ServerHandle, given: Given<Object>) -> Result<usize, Raise> {
    core.expect_new("addProcess()")?;
    let process = core_of(&given.value)?;
    let id = core.users.borrow().len();
    if id >= usize::from(MOST_USERS) {
        return Err(given.value_error(&format!("would be one of more than {MOST_USERS} user processes")));
    }
    process.adopt(&given.value, id as i64)?;
    core.users.borrow_mut().push(given.value);
    Ok(id)
}

/// In the master, before the first fork: their ids, which go on from those of the task workers.
pub(super) fn number(core: &ServerCore, settings: &Settings) {
    let first = i64::from(RoleCounts::new(settings, 0).total());
    for (id, object) in (first..).zip(core.users.borrow().iter()) {
        ProcessCore::set_id(object, id);
    }
}

/// Runs a user process in the child just forked; the exit code.
pub(super) fn run(core: &Rc<ServerCore>, server: &Object, worker: Worker, index: u16) -> i32 {
    let worker = Rc::new(worker);
    *core.worker.borrow_mut() = Some(Rc::clone(&worker));
    server.set_slot(slot::WORKER_ID, Value::int(i64::from(worker.id)));
    server.set_slot(slot::WORKER_PID, Value::int(i64::from(std::process::id())));
    server.set_slot(slot::MASTER_PID, Value::int(i64::from(worker.master_pid)));
    server.set_slot(slot::MANAGER_PID, Value::int(i64::from(worker.master_pid)));
    let object = core.users.borrow().get(usize::from(index)).map(Object::share);
    let Some(object) = object else { return FAILED };
    if core.second {
        swoole::hear_others();
    }
    let task_client = task::open(core, server, &worker);
    worker.ready();
    let begin = |coroutine| routing::start_user(core, server, &worker, coroutine);
    let ended = core_of(&object).and_then(|process| process.run_child(&object, Signals::Keep, begin));
    routing::stop_user();
    task::close();
    drop(task_client);
    ended.unwrap_or_else(|_| {
        if let Some(thrown) = Thrown::take() {
            log::error(format_args!("user process {}: {}", worker.id, describe(&thrown)));
        }
        FAILED
    })
}
