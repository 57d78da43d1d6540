//! Tasks that wait for something that happens to a connection.

use std::cell::RefCell;
use std::task::Waker;

/// Wakers to call once. Empty it costs no allocation.
#[derive(Default)]
pub(crate) struct WakerList(RefCell<Vec<Waker>>);

impl WakerList {
    pub(crate) fn register(&self, waker: &Waker) {
        let mut list = self.0.borrow_mut();
        if !list.iter().any(|known| known.will_wake(waker)) {
            list.push(waker.clone());
        }
    }

    pub(crate) fn wake_all(&self) {
        if self.0.borrow().is_empty() {
            return;
        }
        // Taken out first: a waker may come back to this list at once.
        for waker in self.0.take() {
            waker.wake();
        }
    }
}
