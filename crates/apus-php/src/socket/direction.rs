//! Who uses one direction of a socket. One coroutine may read while another writes; two readers would share bytes by
//! chance, so the second one gets an exception.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::pin::pin;
use std::rc::Rc;
use std::task::{Poll, Waker};

use apus_coro::TaskId;
use apus_zend::{Raise, engine};

use super::descriptor::Way;
use super::fault::{Fault, Outcome};
use crate::exception::CONFLICT;
use crate::wait::Deadline;

/// One direction of a socket.
pub(super) struct Direction {
    way: Way,
    turn: RefCell<Rc<Turn>>,
}

/// One use of a direction. It outlives its place there when it is stopped: the direction is free at once, though the
/// coroutine that was stopped has yet to run.
#[derive(Default)]
struct Turn {
    /// The coroutine; 0 for none, -1 for code outside coroutines.
    owner: Cell<TaskId>,
    what: Cell<&'static str>,
    /// Whether the owner waits, be it that the loop has not seen it do so yet.
    waiting: Cell<bool>,
    /// Why the owner is to give up its wait: an errno.
    stop: Cell<Option<i32>>,
    waker: RefCell<Option<Waker>>,
}

/// The use of a direction, until dropped.
pub(super) struct Claim(Rc<Turn>);

impl Drop for Claim {
    fn drop(&mut self) {
        self.0.owner.set(0);
        self.rest();
    }
}

impl Direction {
    pub(super) fn new(way: Way) -> Self {
        Self { way, turn: RefCell::default() }
    }

    /// The coroutine that uses it; 0 for none.
    pub(super) fn owner(&self) -> TaskId {
        self.turn.borrow().owner.get()
    }

    /// Takes the direction for `cid`, or throws a `ConflictException`.
    pub(super) fn claim(&self, cid: TaskId, what: &'static str) -> Result<Claim, Raise> {
        let turn = Rc::clone(&self.turn.borrow());
        if turn.owner.get() == 0 {
            turn.owner.set(cid);
            turn.what.set(what);
            return Ok(Claim(turn));
        }
        let (doing, both) = match self.way {
            Way::Read => ("reading from", "read"),
            Way::Write => ("writing to", "write"),
        };
        let message = format!(
            "{what} in {} was refused: {} is {doing} this socket already, in {}. Two coroutines must not {both} at once on one connection: \
             give each its own, best from a pool, or let one do it for all and pass messages through a Channel",
            name(cid),
            name(turn.owner.get()),
            turn.what.get(),
        );
        Err(engine::throw(CONFLICT.get(), 0, &message))
    }

    /// Whether that use of it was not stopped.
    pub(super) fn is_held_by(&self, claim: &Claim) -> bool {
        Rc::ptr_eq(&self.turn.borrow(), &claim.0)
    }

    /// Has the owner give up its wait with that errno; others may take the direction at once. `false`: nobody waits.
    pub(super) fn stop(&self, errno: i32) -> bool {
        if !self.turn.borrow().waiting.get() {
            return false;
        }
        let turn = self.turn.take();
        turn.stop.set(Some(errno));
        let waker = turn.waker.take();
        if let Some(waker) = waker {
            waker.wake();
        }
        true
    }
}

impl Claim {
    /// A wait for `operation`, at most until `deadline`, or until [`Direction::stop`]. It has begun when this returns,
    /// and [`Claim::rest`] ends it.
    pub(super) fn attend<T>(
        &self,
        deadline: Deadline,
        operation: impl Future<Output = Outcome<T>>,
    ) -> impl Future<Output = Outcome<T>> {
        self.0.waiting.set(true);
        let turn = Rc::clone(&self.0);
        async move {
            let attended = turn.until_stopped(operation);
            deadline.keep(attended).await.unwrap_or_else(|| Err(Fault::errno(libc::ETIMEDOUT)))
        }
    }

    /// Ends a wait. A stop that came when it was over already has nothing to end.
    pub(super) fn rest(&self) {
        self.0.waiting.set(false);
        self.0.stop.set(None);
        drop(self.0.waker.take());
    }
}

impl Turn {
    async fn until_stopped<T>(&self, operation: impl Future<Output = Outcome<T>>) -> Outcome<T> {
        let mut operation = pin!(operation);
        std::future::poll_fn(|cx| {
            // The stop goes first: the operation may belong to a descriptor that is closed.
            if let Some(errno) = self.stop.take() {
                return Poll::Ready(Err(Fault::errno(errno)));
            }
            if let Poll::Ready(done) = operation.as_mut().poll(cx) {
                return Poll::Ready(done);
            }
            *self.waker.borrow_mut() = Some(cx.waker().clone());
            Poll::Pending
        })
        .await
    }
}

fn name(cid: TaskId) -> String {
    if cid < 0 { "code outside coroutines".to_owned() } else { format!("coroutine {cid}") }
}
