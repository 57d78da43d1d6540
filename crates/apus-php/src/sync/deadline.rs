//! Times after which whatever a coroutine waits in ends with a `TimeoutException`.

use std::cell::Cell;
use std::rc::{Rc, Weak};
use std::time::Duration;

use apus_coro::{Cancel, State as TaskState, Task};
use apus_zend::{Callable, Raise, Value};
use tokio::task::JoinHandle;

use crate::runtime::{PhpSwitch, State};
use crate::wait::{Timeout, expect_suspendable};

const CALL: &str = "Coroutine\\timeout()";
/// Between tries to break off the wait of a coroutine that meets another cancellation first.
const AGAIN: Duration = Duration::from_millis(1);

/// A number that no other deadline or scope of this thread has.
pub(super) fn next_number() -> u64 {
    thread_local! {
        static LAST: Cell<u64> = const { Cell::new(0) };
    }
    LAST.set(LAST.get() + 1);
    LAST.get()
}

/// Breaks off what a task waits in; keeps trying while that is not possible yet, and `wanted`.
pub(super) async fn strike(state: Weak<State>, task: Rc<Task<PhpSwitch>>, cancel: Cancel, wanted: Rc<Cell<bool>>) {
    while wanted.get() && task.state() != TaskState::Ended {
        match state.upgrade() {
            Some(state) if !state.engine.cancel(task.id(), cancel) => {}
            _ => return,
        }
        tokio::time::sleep(AGAIN).await;
    }
}

/// The time of one coroutine, which runs until this is dropped.
pub(super) struct Expiry {
    state: Rc<State>,
    task: Rc<Task<PhpSwitch>>,
    cancel: Cancel,
    /// It has not struck.
    running: Rc<Cell<bool>>,
    wanted: Rc<Cell<bool>>,
    handle: JoinHandle<()>,
}

impl Expiry {
    /// After `limit` it calls `first`, and then ends the wait that `task` is in.
    pub(super) fn start(
        state: &Rc<State>,
        task: &Rc<Task<PhpSwitch>>,
        limit: Duration,
        first: impl FnOnce() + 'static,
    ) -> Self {
        let cancel = Cancel::Deadline(next_number());
        let (running, wanted) = (Rc::new(Cell::new(true)), Rc::new(Cell::new(true)));
        // Waits for other coroutines are no deadlock while it runs.
        state.engine.hold();
        let handle = state.spawn({
            let (weak, task) = (Rc::downgrade(state), Rc::clone(task));
            let (running, wanted) = (Rc::clone(&running), Rc::clone(&wanted));
            async move {
                tokio::time::sleep(limit).await;
                first();
                strike(weak.clone(), task, cancel, wanted).await;
                if running.replace(false)
                    && let Some(state) = weak.upgrade()
                {
                    state.engine.release();
                }
            }
        });
        Self { state: Rc::clone(state), task: Rc::clone(task), cancel, running, wanted, handle }
    }
}

impl Drop for Expiry {
    fn drop(&mut self) {
        self.wanted.set(false);
        self.handle.abort();
        if self.running.replace(false) {
            self.state.engine.release();
        }
        self.state.engine.take_back(&self.task, self.cancel);
    }
}

/// Limits the time of the running coroutine, until it has ended or is given another limit; 0 or less is none.
pub(crate) fn set_time_limit(seconds: f64) -> Result<bool, Raise> {
    let state = State::get()?;
    expect_suspendable(&state, "Coroutine::setTimeLimit()")?;
    let Some(task) = state.engine.current() else { return Ok(false) };
    // What it had before ends first.
    task.data().keep(None);
    if let Ok(limit) = Duration::try_from_secs_f64(seconds)
        && !limit.is_zero()
    {
        let expiry = Expiry::start(&state, &task, limit, || {});
        task.data().keep(Some(Box::new(expiry)));
    }
    Ok(true)
}

/// `Apus\Coroutine\timeout()`.
pub(super) fn timeout(timeout: Timeout, callable: Callable) -> Result<Value, Raise> {
    let state = State::get()?;
    expect_suspendable(&state, CALL)?;
    let expiry =
        timeout.limit().and_then(|limit| state.engine.current().map(|task| Expiry::start(&state, &task, limit, || {})));
    let result = callable.call(&[]);
    drop(expiry);
    result
}
