//! What a request is called in the log, and for whom lines are written outside of coroutines.

use std::cell::RefCell;
use std::fmt::Display;
use std::rc::Rc;

/// What a request is called in the log; it may be made when it is first shown.
pub type Trace = Rc<dyn Display>;

thread_local! {
    /// Whose lines are written outside of its coroutine.
    static SPEAKER: RefCell<Option<Trace>> = const { RefCell::new(None) };
}

/// Ends what [`speak_for`] began.
#[derive(Debug)]
#[must_use]
pub struct Speaking(());

impl Drop for Speaking {
    fn drop(&mut self) {
        SPEAKER.take();
    }
}

/// Lines that are written until the guard is dropped are of this request. `None`: as without it.
#[inline]
pub fn speak_for(trace: Option<Trace>) -> Option<Speaking> {
    let trace = trace?;
    SPEAKER.replace(Some(trace));
    Some(Speaking(()))
}

/// Whose lines are written outside of its coroutine.
pub(crate) fn speaker() -> Option<Trace> {
    SPEAKER.try_with(|speaker| speaker.try_borrow().ok().and_then(|speaker| speaker.clone())).ok().flatten()
}
