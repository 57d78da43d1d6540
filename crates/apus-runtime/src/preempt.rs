//! Turns of the event loop that coroutines do not take by themselves (see [`slices`](crate::slices)): the coroutine
//! that has had its time waits for a turn, as if it slept for no time.
//!
//! It does so in code that the VM alone has called. What C code has called (a callback, a destructor, an autoloader, an
//! output handler) may find that C code's data changed by others, and is not suspended; the next time that is over, it
//! is asked again.

use std::cell::RefCell;
use std::collections::HashSet;

use apus_coro::{TaskId, Wait};
use apus_zend::{Raise, engine};

use crate::runtime::State;
use crate::slices;
use crate::wait::{may_wait, wait};

pub use crate::slices::is_wanted;

thread_local! {
    /// Coroutines that are not to be interrupted.
    static EXCEPTED: RefCell<HashSet<TaskId>> = RefCell::default();
}

/// Excepts the running coroutine, or no longer. `false`: it was so, or there is none.
pub fn except(excepted: bool) -> bool {
    let Some(state) = State::existing() else { return false };
    let id = state.engine.current_id();
    if id == -1 {
        return false;
    }
    EXCEPTED.with_borrow_mut(|all| {
        if !excepted {
            return all.remove(&id);
        }
        // Those that ended so are not kept.
        all.retain(|&id| state.engine.find(id).is_some());
        all.insert(id)
    })
}

/// Has the running coroutine wait for a turn, if its time is over. To be called where the VM can be interrupted.
pub fn give_way() -> Result<(), Raise> {
    if !slices::take_due() {
        return Ok(());
    }
    let Some(state) = State::existing().filter(|state| may_wait(state)) else { return Ok(()) };
    if EXCEPTED.with_borrow(|all| all.contains(&state.engine.current_id())) {
        return Ok(());
    }
    if engine::returns() {
        // What a function of C code has just given is not in its caller's hands yet.
        slices::put_off();
        return Ok(());
    }
    if !engine::vm_alone() {
        return Ok(());
    }
    wait(&state, Wait::Outside("its next turn"), tokio::task::yield_now()).map(drop)
}
