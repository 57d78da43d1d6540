//! Who waits for a connection, first come, first served.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use super::conn::Conn;
use super::core::{Core, Slot};

/// What somebody who waits is given.
pub(super) enum Grant {
    /// A connection that stands ready.
    Conn(Conn),
    /// The right to make one.
    Permit(Slot),
    /// The pool was closed: there will be nothing.
    Closed,
}

#[derive(Default)]
struct Waiter {
    /// It has left the queue: it was given something.
    called: Cell<bool>,
    grant: RefCell<Option<Grant>>,
    waker: RefCell<Option<Waker>>,
}

/// The queue of a pool.
#[derive(Default)]
pub(super) struct Queue {
    next: Cell<u64>,
    waiters: RefCell<BTreeMap<u64, Rc<Waiter>>>,
}

impl Queue {
    /// How many wait.
    pub(super) fn len(&self) -> usize {
        self.waiters.borrow().len()
    }

    /// Gives it to whoever has waited longest; gives it back when nobody waits.
    pub(super) fn hand(&self, grant: Grant) -> Option<Grant> {
        let Some((_, waiter)) = self.waiters.borrow_mut().pop_first() else { return Some(grant) };
        waiter.called.set(true);
        *waiter.grant.borrow_mut() = Some(grant);
        if let Some(waker) = waiter.waker.borrow_mut().take() {
            waker.wake();
        }
        None
    }

    /// Forgets everybody without waking them: in a forked child, where they are the parent's.
    pub(super) fn forget(&self) {
        std::mem::forget(self.waiters.take());
    }

    /// Takes a place at the end.
    pub(super) fn join(core: &Rc<Core>) -> Ticket {
        let queue = &core.queue;
        let id = queue.next.get();
        queue.next.set(id + 1);
        let waiter = Rc::new(Waiter::default());
        queue.waiters.borrow_mut().insert(id, Rc::clone(&waiter));
        Ticket { core: Rc::clone(core), id, waiter }
    }
}

/// A place in the queue. Dropped before its turn it is given up, and what it was given meanwhile goes to the next.
pub(super) struct Ticket {
    core: Rc<Core>,
    id: u64,
    waiter: Rc<Waiter>,
}

impl Future for Ticket {
    type Output = Grant;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Grant> {
        if let Some(grant) = self.waiter.grant.borrow_mut().take() {
            return Poll::Ready(grant);
        }
        *self.waiter.waker.borrow_mut() = Some(cx.waker().clone());
        Poll::Pending
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        if !self.waiter.called.get() {
            self.core.queue.waiters.borrow_mut().remove(&self.id);
        }
        let unread = self.waiter.grant.borrow_mut().take();
        match unread {
            // What the pool has no use for is closed by its drop.
            Some(Grant::Conn(conn)) => drop(self.core.offer(conn)),
            Some(Grant::Permit(_) | Grant::Closed) | None => {}
        }
    }
}
