//! The state of a pool: its places, who has them, and who waits for one.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::time::Duration;

use apus_shm::ForkEpoch;
use apus_zend::{Raise, native};
use tokio::time::Instant;

use super::conn::{Conn, Lease, seconds};
use super::figures;
use super::keeper::{Keeper, Notifier};
use super::options::{Check, Numbers, Reset};
use super::queue::{Grant, Queue};
use crate::exception::{self};
use crate::runtime::{Mode, State};

/// Leases that the message of an exhausted pool names.
const NAMED: usize = 3;

/// One of the pool's places: held while a connection is being made, and by each connection. Free again when dropped.
pub(super) struct Slot(Weak<Core>);

impl Drop for Slot {
    fn drop(&mut self) {
        if let Some(core) = self.0.upgrade() {
            core.slot_freed();
        }
    }
}

/// What the pool counts.
#[derive(Default)]
pub(super) struct Counters {
    pub(super) created: Cell<u64>,
    /// Connections that were closed because they were dead, broken or lost.
    pub(super) replaced: Cell<u64>,
    /// Connections that were closed because of their age or idleness.
    pub(super) expired: Cell<u64>,
    pub(super) timeouts: Cell<u64>,
    /// Connections that were brought back to their first state.
    pub(super) resets: Cell<u64>,
    /// Connections whose holder ended without giving them back.
    pub(super) lost: Cell<u64>,
    pub(super) waits: Cell<u64>,
    pub(super) wait_total: Cell<Duration>,
    pub(super) wait_max: Cell<Duration>,
}

/// Adds one.
pub(super) fn count(counter: &Cell<u64>) {
    counter.set(counter.get() + 1);
}

impl Counters {
    fn waited(&self, time: Duration) {
        count(&self.waits);
        self.wait_total.set(self.wait_total.get() + time);
        self.wait_max.set(self.wait_max.get().max(time));
    }
}

/// A pool.
pub(super) struct Core {
    pub(super) numbers: Cell<Numbers>,
    pub(super) check: RefCell<Check>,
    pub(super) reset: RefCell<Reset>,
    pub(super) closed: Cell<bool>,
    /// The process that the connections belong to.
    process: Cell<ForkEpoch>,
    /// Places that are taken.
    slots: Cell<usize>,
    /// Idle connections; the last was used last.
    idle: RefCell<Vec<Conn>>,
    leases: RefCell<Leases>,
    /// Connections that nobody can give back any more, to be closed.
    lost: RefCell<Vec<Lease>>,
    pub(super) queue: Queue,
    /// Connections that were last used before are checked, whatever their idle time.
    pub(super) distrusted: Cell<Option<Instant>>,
    /// When garbage was last looked through for connections.
    collected: Cell<Option<Instant>>,
    /// When somebody who has to wait last looked for lost connections.
    looked: Cell<Option<Instant>>,
    pub(super) counters: Counters,
    pub(super) notifier: Arc<Notifier>,
    pub(super) keeper: Keeper,
}

/// Hashes addresses: they differ in themselves.
#[derive(Default)]
struct AddressHasher(u64);

impl Hasher for AddressHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(byte);
        }
    }

    fn write_usize(&mut self, address: usize) {
        // The top bits choose within a group of the table, the low ones of an address are all zero.
        self.0 = (address as u64 >> 3).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

type Leases = HashMap<usize, Lease, BuildHasherDefault<AddressHasher>>;

/// The payload of a pool object.
pub(super) struct PoolHandle(pub(super) Rc<Core>);

native!(PoolHandle, "Apus\\ConnectionPool", |pool, held| {
    // They are closed with the pool, whoever else still holds the core.
    if let Ok(idle) = pool.0.idle.try_borrow() {
        idle.iter().for_each(|conn| held.value(conn.value()));
    }
});

impl Drop for PoolHandle {
    fn drop(&mut self) {
        let core = &self.0;
        core.enter_process();
        core.keeper.stop();
        core.closed.set(true);
        drop(core.idle.take());
        drop(core.leases.take());
        drop(core.lost.take());
    }
}

impl Core {
    pub(super) fn new(size: usize) -> Rc<Self> {
        let core = Rc::new(Self {
            numbers: Cell::new(Numbers::new(size)),
            check: RefCell::default(),
            reset: RefCell::default(),
            closed: Cell::new(false),
            process: Cell::new(ForkEpoch::now()),
            slots: Cell::new(0),
            idle: RefCell::default(),
            leases: RefCell::default(),
            lost: RefCell::default(),
            queue: Queue::default(),
            distrusted: Cell::new(None),
            collected: Cell::new(None),
            looked: Cell::new(None),
            counters: Counters::default(),
            notifier: Arc::default(),
            keeper: Keeper::default(),
        });
        figures::made(&core);
        core
    }

    /// In a forked child: the connections are the parent's, whose sessions a close would end.
    pub(super) fn enter_process(&self) {
        let now = ForkEpoch::now();
        if self.process.replace(now) == now {
            return;
        }
        std::mem::forget(self.idle.take());
        std::mem::forget(self.leases.take());
        std::mem::forget(self.lost.take());
        self.queue.forget();
        self.keeper.forget();
        self.slots.set(0);
    }

    /// Connections that this process may have.
    pub(super) fn limit(&self) -> usize {
        let numbers = self.numbers.get();
        if numbers.total == 0 { numbers.size } else { numbers.size.min(numbers.total / workers()) }
    }

    /// Throws when nothing can be got.
    pub(super) fn expect_usable(&self) -> Result<(), Raise> {
        if self.closed.get() {
            return Err(closed());
        }
        if self.limit() > 0 {
            return Ok(());
        }
        let (total, workers) = (self.numbers.get().total, workers());
        let text = format!(
            "setting \"total\" is {total}, which leaves no connection for each of the {workers} workers: \
             it must be at least {workers}"
        );
        Err(exception::throw(exception::code::pool::OPTION, &text))
    }

    /// A connection or a place, if there is one at once.
    pub(super) fn take(self: &Rc<Self>) -> Option<Grant> {
        let idle = self.idle.borrow_mut().pop();
        if let Some(conn) = idle {
            return Some(Grant::Conn(conn));
        }
        self.free_slot().map(Grant::Permit)
    }

    /// A place, if one is free.
    pub(super) fn free_slot(self: &Rc<Self>) -> Option<Slot> {
        (self.slots.get() < self.limit()).then(|| {
            self.slots.set(self.slots.get() + 1);
            Slot(Rc::downgrade(self))
        })
    }

    /// A place that a dropped [`Slot`] held goes to who waits, or is free.
    fn slot_freed(self: &Rc<Self>) {
        if self.closed.get() || self.slots.get() > self.limit() || self.queue.len() == 0 {
            self.slots.set(self.slots.get().saturating_sub(1));
            return;
        }
        drop(self.queue.hand(Grant::Permit(Slot(Rc::downgrade(self)))));
    }

    /// Gives places that a larger limit brought to those who wait.
    pub(super) fn spread(self: &Rc<Self>) {
        while self.queue.len() > 0 {
            let Some(slot) = self.free_slot() else { return };
            drop(self.queue.hand(Grant::Permit(slot)));
        }
    }

    /// Takes a connection that is fit for use: to who waits, or to the idle ones. Gives back what is to be closed.
    #[must_use]
    pub(super) fn offer(self: &Rc<Self>, mut conn: Conn) -> Option<Conn> {
        let now = Instant::now();
        if conn.is_expired(now) {
            count(&self.counters.expired);
            return Some(conn);
        }
        if self.closed.get() || self.slots.get() > self.limit() {
            return Some(conn);
        }
        let numbers = self.numbers.get();
        conn.idle_since = now;
        conn.idle_until = numbers.shortened(numbers.idle_timeout, conn.luck).map(|time| now + time);
        let due = [conn.idle_until, conn.expires].into_iter().flatten().min();
        if let Some(Grant::Conn(conn)) = self.queue.hand(Grant::Conn(conn)) {
            self.idle.borrow_mut().push(conn);
            self.keeper.hurry(due, &self.notifier);
        }
        None
    }

    /// Takes one idle connection that has to go.
    pub(super) fn take_expired(&self) -> Option<Conn> {
        let now = Instant::now();
        let least = self.numbers.get().min_idle;
        let mut idle = self.idle.borrow_mut();
        let spare = idle.len() > least;
        let at = idle.iter().position(|conn| conn.is_expired(now) || (spare && idle_too_long(conn, now)))?;
        Some(idle.remove(at))
    }

    /// When the next idle connection has to go.
    pub(super) fn next_expiry(&self) -> Option<Instant> {
        let idle = self.idle.borrow();
        let spare = idle.len() > self.numbers.get().min_idle;
        idle.iter()
            .filter_map(|conn| [conn.expires, conn.idle_until.filter(|_| spare)].into_iter().flatten().min())
            .min()
    }

    /// Whether there are fewer idle connections than there are to be.
    pub(super) fn lacks_idle(&self) -> bool {
        let least = self.numbers.get().min_idle;
        !self.closed.get() && self.idle.borrow().len() < least && self.slots.get() < self.limit()
    }

    /// Notes that the running coroutine has it, and gives back another reference.
    pub(super) fn lease(&self, conn: Conn, now: Instant) -> apus_zend::Value {
        let value = conn.value().share();
        let key = conn.identity();
        let lease = Lease::new(conn, now, &self.notifier);
        let before = self.leases.borrow_mut().insert(key, lease);
        debug_assert!(before.is_none(), "one connection has one lease");
        count(&self.keeper.activity);
        if self.lacks_idle() {
            self.notifier.notify();
        }
        value
    }

    /// The end of a lease.
    pub(super) fn take_lease(&self, key: usize) -> Option<Lease> {
        self.leases.borrow_mut().remove(&key)
    }

    /// Marks a connection that is in use.
    pub(super) fn suspect(&self, key: usize) {
        if let Some(lease) = self.leases.borrow_mut().get_mut(&key) {
            lease.conn.suspect = true;
        }
    }

    /// What the running coroutine took last, those that it has let go of first.
    pub(super) fn take_lease_of(&self, holder: i64) -> Option<Lease> {
        let key = {
            let leases = self.leases.borrow();
            let own = leases.iter().filter(|(_, lease)| lease.holder == holder);
            own.max_by_key(|(_, lease)| (lease.is_lost(), lease.since)).map(|(key, _)| *key)
        };
        self.take_lease(key?)
    }

    /// Whether it stands idle here.
    pub(super) fn is_idle(&self, key: usize) -> bool {
        self.idle.borrow().iter().any(|conn| conn.identity() == key)
    }

    /// Collects the connections that nobody can give back any more. Returns whether some are left whose holder has
    /// ended, or that somebody waits for: it is worth looking again.
    pub(super) fn collect_lost(&self) -> bool {
        let lost: Vec<Lease> = {
            let mut leases = self.leases.borrow_mut();
            let keys: Vec<usize> = leases.iter().filter(|(_, lease)| lease.is_lost()).map(|(key, _)| *key).collect();
            keys.iter().filter_map(|key| leases.remove(key)).collect()
        };
        for lease in lost {
            count(&self.counters.lost);
            count(&self.counters.replaced);
            self.lost.borrow_mut().push(lease);
        }
        self.leases.borrow().values().any(Lease::holder_has_ended)
            || (self.queue.len() > 0 && !self.leases.borrow().is_empty())
    }

    /// Whether one who has to wait may look for lost connections: at once if nobody waits yet, and else not more often
    /// than once in `pause`.
    pub(super) fn may_look(&self, now: Instant, pause: Duration) -> bool {
        let may =
            self.queue.len() == 0 || self.looked.get().is_none_or(|at| now.saturating_duration_since(at) >= pause);
        if may {
            self.looked.set(Some(now));
        }
        may
    }

    /// Whether the cycle collector may look for connections in garbage now: not more often than once in `pause`.
    pub(super) fn may_collect_garbage(&self, pause: Duration) -> bool {
        let ended = self.leases.borrow().values().any(Lease::holder_has_ended);
        let rested = self.collected.get().is_none_or(|at| at.elapsed() >= pause);
        if ended && rested {
            self.collected.set(Some(Instant::now()));
        }
        ended && rested
    }

    /// One of the connections that [`Core::collect_lost`] found.
    pub(super) fn take_lost(&self) -> Option<Lease> {
        self.lost.borrow_mut().pop()
    }

    /// Whether there are any.
    pub(super) fn has_lost(&self) -> bool {
        !self.lost.borrow().is_empty()
    }

    /// Ends the pool: idle connections are given back to be closed, those in use are closed when they return.
    pub(super) fn shut(&self) -> Vec<Conn> {
        if self.closed.replace(true) {
            return Vec::new();
        }
        while self.queue.hand(Grant::Closed).is_none() {}
        self.keeper.stop();
        self.idle.take()
    }

    /// Counts a wait that is over.
    pub(super) fn waited(&self, time: Duration) {
        self.counters.waited(time);
        figures::waited();
    }

    /// The numbers of the moment: places taken, in use, idle.
    pub(super) fn occupancy(&self) -> (usize, usize, usize) {
        let idle = self.idle.borrow().len();
        (self.slots.get(), self.slots.get() - idle.min(self.slots.get()), idle)
    }

    /// The exception of a `get()` that got nothing.
    pub(super) fn exhausted(&self, waited: Duration) -> Raise {
        let (_, in_use, _) = self.occupancy();
        let mut held: Vec<(Instant, String)> =
            self.leases.borrow().values().map(|lease| (lease.since, lease.describe())).collect();
        held.sort_by_key(|(since, _)| *since);
        let named: Vec<String> = held.into_iter().take(NAMED).map(|(_, text)| text).collect();
        let text = format!(
            "no connection came free within {}: size {}, in use {in_use}, waiters {}. Held longest by: {}. \
             Give connections back sooner, or raise the pool's size or the time-out.",
            seconds(waited),
            self.limit(),
            // The one that gives up is still counted among them.
            self.queue.len() + 1,
            if named.is_empty() { "connections that are being made".to_owned() } else { named.join("; ") },
        );
        exception::throw(exception::code::pool::EXHAUSTED, &text)
    }
}

fn idle_too_long(conn: &Conn, now: Instant) -> bool {
    conn.idle_until.is_some_and(|at| at <= now)
}

/// How many workers share the setting `total`; 1 outside servers.
fn workers() -> usize {
    let state = State::existing().filter(|state| state.mode.get() == Mode::Worker);
    state.map_or(1, |state| (state.settings.borrow().worker_num as usize).max(1))
}

/// The exception of a pool that was closed.
pub(super) fn closed() -> Raise {
    exception::throw(exception::code::pool::CLOSED, "the pool was closed: nothing can be got from it any more")
}
