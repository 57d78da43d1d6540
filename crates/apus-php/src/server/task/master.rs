//! Tasks that callbacks of the master hand over, which hears nothing of them.

use apus_process::{RoleCounts, Scoreboard};
use apus_shm::tasks::{Order, SubmitError, TaskQueue, When};
use apus_zend::arg::{Given, OrFalse};
use apus_zend::{Callable, Raise, Value};

use super::answer::encode;
use super::flags;
use super::methods::one_of;
use super::task_client::current;
use crate::exception;
use crate::server::core::{Phase, ServerCore};

/// The master's place at the task queue: behind those of all other processes.
pub(super) fn slot(role_counts: RoleCounts) -> usize {
    Scoreboard::slots_for(role_counts)
}

/// The tasks of a server whose master this is.
pub(super) fn task_queue(core: &ServerCore) -> Option<&'static TaskQueue> {
    core.task_queue.get().filter(|_| core.phase.get() == Phase::Master && current().is_none())
}

/// `task()` in the master.
pub(super) fn task(
    core: &ServerCore,
    task_queue: &TaskQueue,
    value: &Value,
    given_worker: Given<i64>,
    finish: Option<&Callable>,
    priority: usize,
) -> Result<OrFalse<i64>, Raise> {
    if finish.is_some() {
        let text = "task() in the master takes no callback: the master hears nothing of its tasks";
        return Err(exception::throw(exception::code::server::STATE, text));
    }
    let users = u16::try_from(core.users.borrow().len()).unwrap_or(u16::MAX);
    let role_counts = RoleCounts::new(&core.settings.borrow(), users);
    let worker = one_of(i64::from(role_counts.tasks), given_worker)?;
    let (packed, payload) = encode(value)?;
    let order = Order {
        sender: slot(role_counts),
        priority,
        worker,
        when: When::Now,
        flags: flags::NO_REPLY | if packed { flags::PACKED } else { 0 },
        wants: 0,
        key: 0,
        interest: false,
    };
    match task_queue.submit(&order, &payload) {
        Ok(id) => Ok(OrFalse(Some(id as i64 - i64::from(core.second)))),
        Err(SubmitError::Full) => {
            super::full();
            Ok(OrFalse(None))
        }
        Err(SubmitError::TooLarge) => {
            let text = format!("the task's data takes {} bytes: set task_queue_size higher", payload.len());
            Err(exception::throw(exception::code::task::TOO_LARGE, &text))
        }
    }
}
