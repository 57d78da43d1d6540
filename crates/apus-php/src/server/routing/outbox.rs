//! Posting to the other processes: in order, and where a ring is full, patiently.
//!
//! Each receiver has a lock, which whoever posts to it holds meanwhile; those who wait for it get it in the order in
//! which they asked. So nothing overtakes, neither a small record a large one that is being posted in parts, nor a
//! later coroutine an earlier one that waits for room.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use apus_process::{PostError, Worker};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::task::coop::unconstrained;

use super::parts::Cut;
use super::record::{Head, Order, PART};

/// What became of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::server) enum PostOutcome {
    /// It is in the receiver's ring.
    Done,
    /// The receiver has not taken what was sent before: only for those who cannot wait.
    Full,
    /// There is no such process.
    Gone,
    /// It is larger than is taken.
    TooLarge,
}

pub(super) struct Outbox {
    worker: Rc<Worker>,
    /// By the receiver's slot.
    order_locks: RefCell<Vec<Option<Arc<Semaphore>>>>,
    /// Wakes those who wait for room in a ring.
    room: Notify,
    /// The number of the last record that was cut.
    cuts: Cell<u32>,
    /// The longest record.
    limit: usize,
}

/// A record, encoded.
struct Record<'a> {
    kind: u8,
    head: Head,
    tail: &'a [u8],
}

impl<'a> Record<'a> {
    fn new(order: &Order<'a>) -> Self {
        let (kind, head, tail) = order.encode();
        Self { kind, head, tail }
    }

    fn len(&self) -> usize {
        self.head.bytes().len() + self.tail.len()
    }
}

/// A place in a queue from this call on: a coroutine's future is first polled when others may have gone on, and not
/// even then when its task's budget is spent. `None` only for a queue that was closed, which none is.
pub(super) fn place_in(queue: Arc<Semaphore>) -> impl Future<Output = Option<OwnedSemaphorePermit>> {
    let mut turn = Box::pin(unconstrained(queue.acquire_owned()));
    let first = turn.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    async move {
        match first {
            Poll::Ready(turn) => turn.ok(),
            Poll::Pending => turn.await.ok(),
        }
    }
}

impl Outbox {
    pub(super) fn new(worker: Rc<Worker>, limit: usize) -> Self {
        Self { worker, order_locks: RefCell::default(), room: Notify::new(), cuts: Cell::new(0), limit }
    }

    fn order_lock(&self, slot: usize) -> Arc<Semaphore> {
        let mut order_locks = self.order_locks.borrow_mut();
        if order_locks.len() <= slot {
            order_locks.resize(slot + 1, None);
        }
        Arc::clone(order_locks[slot].get_or_insert_with(|| Arc::new(Semaphore::new(1))))
    }

    /// Whether an order fits into one record.
    pub(super) fn is_short(&self, order: &Order<'_>) -> bool {
        Record::new(order).len() <= self.worker.ipc().largest()
    }

    /// Posts a record if that needs no waiting. A long one may end half-way: the receiver drops it then.
    pub(super) fn post_now(&self, slot: usize, order: &Order<'_>) -> PostOutcome {
        let order_lock = self.order_lock(slot);
        let Ok(_turn) = order_lock.try_acquire() else { return PostOutcome::Full };
        let record = Record::new(order);
        if record.len() <= self.worker.ipc().largest() {
            return self.post_whole(slot, &record);
        }
        if record.len() > self.limit {
            return PostOutcome::TooLarge;
        }
        let cut = Cut::new(self.next_cut(), record.kind, record.head.bytes(), record.tail, self.worker.ipc().largest());
        for part in cut {
            let posted = self.post_raw(slot, PART, &[&part.head, part.slices[0], part.slices[1]]);
            if posted != PostOutcome::Done {
                return posted;
            }
        }
        PostOutcome::Done
    }

    /// Posts a record, and waits for its turn and for room. Dropped half-way, what was posted of a long record is
    /// dropped by its receiver. Its place in the lock is that of this call.
    pub(super) fn post<'a>(&'a self, slot: usize, order: &'a Order<'a>) -> impl Future<Output = PostOutcome> + 'a {
        let turn = place_in(self.order_lock(slot));
        async move {
            let Some(_turn) = turn.await else { return PostOutcome::Gone };
            self.post_in_turn(slot, order).await
        }
    }

    async fn post_in_turn(&self, slot: usize, order: &Order<'_>) -> PostOutcome {
        let record = Record::new(order);
        if record.len() <= self.worker.ipc().largest() {
            return self.patiently(|| self.post_whole(slot, &record)).await;
        }
        if record.len() > self.limit {
            return PostOutcome::TooLarge;
        }
        let cut = Cut::new(self.next_cut(), record.kind, record.head.bytes(), record.tail, self.worker.ipc().largest());
        for part in cut {
            let pieces = [&part.head[..], part.slices[0], part.slices[1]];
            let posted = self.patiently(|| self.post_raw(slot, PART, &pieces)).await;
            if posted != PostOutcome::Done {
                return posted;
            }
        }
        PostOutcome::Done
    }

    async fn patiently(&self, attempt: impl Fn() -> PostOutcome) -> PostOutcome {
        loop {
            // Made before the attempt: room that comes in between is not missed.
            let room = self.room.notified();
            match attempt() {
                PostOutcome::Full => room.await,
                posted => return posted,
            }
        }
    }

    fn next_cut(&self) -> u32 {
        self.cuts.set(self.cuts.get().wrapping_add(1));
        self.cuts.get()
    }

    fn post_whole(&self, slot: usize, record: &Record<'_>) -> PostOutcome {
        self.post_raw(slot, record.kind, &[record.head.bytes(), record.tail])
    }

    fn post_raw(&self, slot: usize, kind: u8, parts: &[&[u8]]) -> PostOutcome {
        match self.worker.ipc().post(slot, kind, parts) {
            Ok(()) => PostOutcome::Done,
            Err(PostError::Full) => PostOutcome::Full,
            Err(PostError::Gone) => PostOutcome::Gone,
            Err(PostError::TooLarge) => PostOutcome::TooLarge,
        }
    }

    /// There may be room again somewhere.
    pub(super) fn rooms(&self) {
        self.room.notify_waiters();
    }
}
