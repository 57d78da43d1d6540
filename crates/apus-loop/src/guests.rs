//! Futures that the loop's task polls itself: one that its events wake goes on in the same turn.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

use slab::Slab;

use crate::bell::Bell;
use crate::key::{Key, SourceId};
use crate::{Loop, Pace, Source};

type Future = Pin<Box<dyn std::future::Future<Output = ()>>>;

struct Guest {
    key: Key,
    bell: Bell,
    /// Taken out while it is polled.
    future: Option<Future>,
}

/// The futures of a loop.
#[derive(Default)]
pub(crate) struct Guests {
    entries: RefCell<Slab<Guest>>,
    woken: RefCell<Vec<Key>>,
    over: Cell<bool>,
}

/// Their source's number.
pub(crate) const GUESTS: SourceId = SourceId(0);

impl Guests {
    pub(crate) fn add(&self, of: &Loop, future: Future) {
        if self.over.get() {
            // As a runtime does that shuts down.
            return;
        }
        let mut entries = self.entries.borrow_mut();
        let vacant = entries.vacant_entry();
        let key = Key::new(GUESTS, vacant.key() as u32, of.next_generation());
        vacant.insert(Guest { key, bell: of.bell(key), future: Some(future) });
        drop(entries);
        // Not by its bell, which would be heard a turn later: what was begun first goes first.
        self.woken.borrow_mut().push(key);
        of.ask(GUESTS);
    }

    /// Whether one is to be polled.
    #[inline]
    pub(crate) fn are_woken(&self) -> bool {
        !self.woken.borrow().is_empty()
    }

    fn poll(&self, key: Key) {
        let taken = {
            let mut entries = self.entries.borrow_mut();
            let guest = entries.get_mut(key.place()).filter(|guest| guest.key == key);
            guest.and_then(|guest| {
                guest.bell.answer();
                guest.future.take().map(|future| (future, guest.bell.waker().clone()))
            })
        };
        let Some((mut future, waker)) = taken else { return };
        let mut cx = Context::from_waker(&waker);
        // One that panicked is never polled again, and all others go on.
        let polled = catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(&mut cx))).unwrap_or(Poll::Ready(()));
        if polled.is_pending() && !self.over.get() {
            if let Some(guest) = self.entries.borrow_mut().get_mut(key.place()) {
                guest.future = Some(future);
            }
            return;
        }
        let ended = self.entries.borrow_mut().try_remove(key.place());
        // Dropped with nothing borrowed: what they hold may come back here.
        drop((future, ended));
    }
}

impl Source for Guests {
    fn woken(&self, key: Key) -> bool {
        self.woken.borrow_mut().push(key);
        true
    }

    fn run(&self, _cx: &mut Context<'_>) -> Pace {
        let mut woken = self.woken.take();
        for key in woken.drain(..) {
            self.poll(key);
        }
        let mut kept = self.woken.borrow_mut();
        if kept.is_empty() {
            *kept = woken;
        }
        Pace::Done
    }

    fn end(&self) {
        self.over.set(true);
        let left = self.entries.take();
        drop(left);
    }
}
