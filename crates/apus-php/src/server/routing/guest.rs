//! A process that runs scripts: it has no connections and no loop, and has a worker do what it wants of those
//! (`errand`).
//!
//! All of the process waits meanwhile, as PHP's blocking functions do there: some 30 microseconds, for workers never
//! block. What has to be waited for longer, a slow worker or a full ring, is given up after a time.

use std::cell::{Cell, RefCell};
use std::hash::{BuildHasher, RandomState};
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use apus_options::Settings;
use apus_process::Worker;
use apus_shm::ForkEpoch;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::errand::LIMIT;
use super::outbox::{Outbox, PostOutcome};
use super::record::{Body, Errand, Order};
use super::{SHORTEST_LIMIT, remote::Forwarded};

/// How much longer than the worker may take its answer is waited for.
const MORE: Duration = Duration::from_secs(1);
/// How often it is looked whether the worker is alive.
const LOOK: Duration = Duration::from_millis(50);
/// Bytes of messages looked through at one go.
const TURN: usize = 64 * 1024;

struct Guest {
    worker: Rc<Worker>,
    outbox: Outbox,
    /// The number of the next errand.
    next: Cell<u64>,
    /// The process itself: what a script forks has no part in it.
    here: ForkEpoch,
}

thread_local! {
    static GUEST: RefCell<Option<Guest>> = const { RefCell::new(None) };
}

/// In a process that runs scripts, before the first one.
pub(in crate::server) fn open(worker: &Rc<Worker>, settings: &Settings) {
    let limit = settings.package_max_length.max(SHORTEST_LIMIT).min(u64::from(u32::MAX)) as usize;
    let outbox = Outbox::new(Rc::clone(worker), limit);
    // What was asked by a process that had this slot before is not taken for ours.
    let next = Cell::new(RandomState::new().hash_one(std::process::id()));
    let guest = Guest { worker: Rc::clone(worker), outbox, next, here: ForkEpoch::now() };
    GUEST.with(|slot| slot.replace(Some(guest)));
}

/// Whether this process is one.
pub(in crate::server) fn is_open() -> bool {
    GUEST.with(|guest| guest.borrow().as_ref().is_some_and(|guest| guest.here.is_now()))
}

/// Has a worker do it, and waits for its answer.
pub(in crate::server) fn run(errand: Errand, name: &[u8], payload: &[u8]) -> Result<u64, Forwarded> {
    GUEST.with(|guest| match &*guest.borrow() {
        Some(guest) => guest.run(errand, name, payload),
        None => Err(Forwarded::NotExist),
    })
}

impl Guest {
    fn run(&self, errand: Errand, name: &[u8], payload: &[u8]) -> Result<u64, Forwarded> {
        let deadline = Instant::now() + LIMIT + MORE;
        let number = self.next.replace(self.next.get().wrapping_add(1));
        let order = Order::Errand { number, errand, name, payload };
        loop {
            let (slot, pid) = self.host().ok_or(Forwarded::NotExist)?;
            match self.post(slot, &order, deadline)? {
                PostOutcome::Done => return self.answer(number, (slot, pid), deadline),
                // It has just left: another one has its place, or will.
                PostOutcome::Gone => self.pause(deadline)?,
                refused @ (PostOutcome::Full | PostOutcome::TooLarge) => return Err(refused.into()),
            }
        }
    }

    /// The worker that does this process's errands, the same one as long as it is there: so they keep their order.
    fn host(&self) -> Option<(usize, u32)> {
        let workers = self.worker.scoreboard.role_counts().workers;
        let ids = (0..workers).map(|step| ((u32::from(self.worker.id) + u32::from(step)) % u32::from(workers)) as u16);
        let mut slots = ids.filter_map(|id| self.worker.slot_of_worker(id));
        slots.find_map(|slot| Some((slot, self.worker.pid_of(slot)?)))
    }

    fn post(&self, slot: usize, order: &Order<'_>, deadline: Instant) -> Result<PostOutcome, Forwarded> {
        let mut posting = pin!(self.outbox.post(slot, order));
        loop {
            if let Poll::Ready(posted) = posting.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
                return Ok(posted);
            }
            self.pause(deadline)?;
        }
    }

    fn answer(&self, number: u64, (slot, pid): (usize, u32), deadline: Instant) -> Result<u64, Forwarded> {
        loop {
            let mut found = None;
            let mut look = |from, kind, bytes: &[u8]| match Order::decode(kind, bytes) {
                Some(Order::Answer { number: of, body }) if (from, of) == (slot, number) => {
                    found = Some(Body::decode(body).unwrap_or_default().count);
                }
                // Of an errand that was given up.
                _ => {}
            };
            while self.worker.ipc().take(TURN, &mut look) {}
            if let Some(count) = found {
                return Ok(count);
            }
            if self.worker.pid_of(slot) != Some(pid) {
                return Err(Forwarded::NotExist);
            }
            self.pause(deadline)?;
        }
    }

    /// Sleeps until somebody has news, or for a while.
    fn pause(&self, deadline: Instant) -> Result<(), Forwarded> {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(Forwarded::QueueFull);
        }
        let ipc = self.worker.ipc();
        let wait = Timespec { tv_sec: 0, tv_nsec: left.min(LOOK).subsec_nanos().into() };
        // What interrupts it only makes it look sooner.
        let _ = poll(&mut [PollFd::from_borrowed_fd(ipc.fd(), PollFlags::IN)], Some(&wait));
        ipc.clear_signal();
        self.outbox.rooms();
        Ok(())
    }
}
