//! What each worker is doing, in shared memory: a slot of counters a process.

use std::io;
use std::sync::atomic::{
    AtomicU8, AtomicU32, AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};

use crate::counter::Counter;
use crate::histogram::Histogram;
use crate::role::{Role, RoleCounts};
use crate::tally::Tally;
use apus_shm::{self as shm, Shared};

/// Where a worker stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum WorkerState {
    /// No process has the slot.
    Free = 0,
    /// Forked, not serving yet.
    Starting = 1,
    /// Serving.
    Serving = 2,
    /// Serving, and waiting to be replaced.
    Recycling = 3,
    /// Broken by a fatal error; finishing what it began, waiting to be replaced.
    Faulted = 4,
    /// Accepts nothing any more and finishes what it began.
    Draining = 5,
}

impl WorkerState {
    fn from_number(n: u8) -> Self {
        match n {
            1 => Self::Starting,
            2 => Self::Serving,
            3 => Self::Recycling,
            4 => Self::Faulted,
            5 => Self::Draining,
            _ => Self::Free,
        }
    }

    /// The name in status reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Free => "free",
            Self::Starting => "starting",
            Self::Serving => "serving",
            Self::Recycling => "recycling",
            Self::Faulted => "faulted",
            Self::Draining => "draining",
        }
    }
}

/// One process's slot. A worker that leaves and the one that replaces it have different slots, with the same worker id.
/// Groups of fields that change together share cache lines; no two slots do.
#[derive(Debug)]
#[repr(C, align(128))]
pub struct WorkerSlot {
    state: AtomicU8,
    pid: AtomicU32,
    id: AtomicU32,
    generation: AtomicU32,
    /// Rows of the connection table that this process holds: tells the master whether a crash left any.
    pub(crate) rows: Counter,
    /// When the process was forked, in milliseconds since 1970.
    pub started_at: Counter,
    /// Requests or tasks after which it asks to be replaced; 0 for never.
    pub(crate) request_limit: Counter,

    /// Connections open now.
    pub connections: Counter,
    /// Connections accepted.
    pub accepted: Counter,
    /// Connections closed.
    pub closed: Counter,
    /// Requests answered; of a task worker, tasks done.
    pub requests: Counter,
    /// Requests or tasks being handled now.
    pub active: Counter,
    /// Callbacks of what streams, WebSockets and datagrams brought that run or wait now.
    pub messages_active: Counter,
    /// Answers with a 5xx status, or tasks that failed.
    pub errors: Counter,
    /// Bytes read from connections.
    pub bytes_in: Counter,
    /// Bytes written to connections.
    pub bytes_out: Counter,

    /// Coroutines alive now.
    pub coroutines: Counter,
    /// The most coroutines alive at once.
    pub coroutine_peak: Counter,
    /// Memory that PHP's allocator holds, in bytes.
    pub memory_bytes: Counter,
    /// The most memory that PHP's allocator held, in bytes.
    pub memory_peak: Counter,
    /// Times that the event loop was blocked longer than `blocked_loop_warn`.
    pub loop_blocked: Counter,
    /// Timers alive now.
    pub timers: Counter,
    /// Connections of the program's pools that are in use.
    pub pool_used: Counter,
    /// Connections of the program's pools that nobody uses.
    pub pool_idle: Counter,
    /// Coroutines that wait for a connection of a pool.
    pub pool_waiting: Counter,
    /// By how many microseconds the event loop's last tick was late.
    pub loop_late: Counter,
    /// When the event loop's next tick is due, in milliseconds of the monotonic clock; 0 while it has none.
    pub loop_due: Counter,
    /// Signals that the program handles in this process, each a bit.
    pub handled_signals: Counter,

    /// What lives on when the process is gone.
    pub tally: Tally,
    /// Time from a request's arrival to the end of its answer.
    pub latency: Histogram,
}

// SAFETY: `Counter` and `Histogram` are atomics and arrays of them; all-zero is the free slot.
unsafe impl Shared for WorkerSlot {}

impl WorkerSlot {
    /// Where the worker stands.
    pub fn state(&self) -> WorkerState {
        WorkerState::from_number(self.state.load(Acquire))
    }

    pub(crate) fn set_state(&self, state: WorkerState) {
        self.state.store(state as u8, Release);
    }

    /// The worker's process id.
    pub fn pid(&self) -> u32 {
        self.pid.load(Acquire)
    }

    pub(crate) fn set_pid(&self, pid: u32) {
        self.pid.store(pid, Release);
    }

    /// The process's id.
    pub fn id(&self) -> u16 {
        self.id.load(Relaxed) as u16
    }

    /// How many reloads came before this worker's, from 1.
    pub fn generation(&self) -> u32 {
        self.generation.load(Relaxed)
    }

    fn counters(&self) -> [&Counter; 24] {
        [
            &self.rows,
            &self.started_at,
            &self.request_limit,
            &self.connections,
            &self.accepted,
            &self.closed,
            &self.requests,
            &self.active,
            &self.messages_active,
            &self.errors,
            &self.bytes_in,
            &self.bytes_out,
            &self.coroutines,
            &self.coroutine_peak,
            &self.memory_bytes,
            &self.memory_peak,
            &self.loop_blocked,
            &self.timers,
            &self.pool_used,
            &self.pool_idle,
            &self.pool_waiting,
            &self.loop_late,
            &self.loop_due,
            &self.handled_signals,
        ]
    }
}

/// What the whole server counted in processes that are gone, and its own numbers.
#[derive(Debug)]
#[repr(C, align(128))]
pub(crate) struct Header {
    pub(crate) started_at: Counter,
    pub(crate) generation: Counter,
    /// Reloads that are over.
    pub(crate) reloads: Counter,
    pub(crate) crashes: Counter,
    /// Whether the server is stopping: 1 then.
    pub(crate) stopping: Counter,
    pub(crate) tasks: Counter,
    pub(crate) task_errors: Counter,
    pub(crate) accepted: Counter,
    pub(crate) closed: Counter,
    pub(crate) requests: Counter,
    pub(crate) errors: Counter,
    pub(crate) bytes_in: Counter,
    pub(crate) bytes_out: Counter,
    pub(crate) loop_blocked: Counter,
    pub(crate) tally: Tally,
    pub(crate) latency: Histogram,
    pub(crate) task_latency: Histogram,
}

// SAFETY: all fields are `Counter`s, which are atomics, or arrays of them.
unsafe impl Shared for Header {}

/// The slots of all workers. Any process of the server reads them.
#[derive(Debug)]
pub struct Scoreboard {
    pub(crate) header: &'static Header,
    slots: &'static [WorkerSlot],
    /// For each worker id, the last session number given out: outlives the process, so that no session id comes twice.
    sessions: &'static [AtomicU64],
    /// Whether session ids are 1, 2, 3, … over all workers, and do not tell the worker.
    plain_sessions: bool,
    role_counts: RoleCounts,
}

impl Scoreboard {
    /// Maps a scoreboard for these processes. There are three slots for each, so that two generations may drain while a
    /// third serves.
    pub fn new(role_counts: RoleCounts) -> io::Result<&'static Self> {
        Self::with_sessions(role_counts, None)
    }

    /// The same; with `plain` session ids are one more each time over all workers, from the number behind this one on.
    pub fn with_sessions(role_counts: RoleCounts, plain: Option<u64>) -> io::Result<&'static Self> {
        let slots = Self::slots_for(role_counts);
        let board: &'static Self = Box::leak(Box::new(Self {
            header: shm::map::<Header>(1)?.first().ok_or(io::ErrorKind::OutOfMemory)?,
            slots: shm::map(slots)?,
            sessions: shm::map(usize::from(role_counts.total()))?,
            plain_sessions: plain.is_some(),
            role_counts,
        }));
        if let (Some(before), Some(first)) = (plain, board.sessions.first()) {
            first.store(before, Relaxed);
        }
        Ok(board)
    }

    /// How many slots a scoreboard for these processes has.
    pub fn slots_for(role_counts: RoleCounts) -> usize {
        usize::from(role_counts.total()) * 3
    }

    /// Event workers that serve when all is well.
    pub fn worker_num(&self) -> u16 {
        self.role_counts.workers
    }

    /// How many processes of which role there are when all is well.
    pub fn role_counts(&self) -> RoleCounts {
        self.role_counts
    }

    /// Lines of the access log for which there was no room.
    pub(crate) fn access_dropped(&self) -> u64 {
        let living: u64 = self.live().map(|slot| slot.tally.access_dropped.get()).sum();
        self.header.tally.access_dropped.get() + living
    }

    /// Whether the whole server is stopping.
    pub fn is_stopping(&self) -> bool {
        self.header.stopping.get() != 0
    }

    pub(crate) fn role_of(&self, slot: &WorkerSlot) -> Option<Role> {
        self.role_counts.role(slot.id())
    }

    /// Whether a process of this role is there, starting and leaving ones included.
    pub fn has_live(&self, role: Role) -> bool {
        self.live().any(|slot| self.role_of(slot) == Some(role))
    }

    /// Every slot that a process has.
    pub fn live(&self) -> impl Iterator<Item = &'static WorkerSlot> {
        self.slots.iter().filter(|slot| slot.state() != WorkerState::Free)
    }

    /// How many slots there are, free ones included: their numbers are below this.
    pub fn slot_count(&self) -> usize {
        self.slots.len()
    }

    /// Every slot that a process has, with its number: what [`IpcEndpoint`](crate::Messages) and
    /// [`ConnEntry`](crate::ConnEntry) name processes by.
    pub fn live_slots(&self) -> impl Iterator<Item = (usize, &'static WorkerSlot)> {
        self.slots.iter().enumerate().filter(|(_, slot)| slot.state() != WorkerState::Free)
    }

    /// The newest process with this worker id that has begun to serve, else the newest one at all.
    pub fn worker(&self, id: u16) -> Option<&'static WorkerSlot> {
        self.find(id).map(|(_, slot)| slot)
    }

    /// The number of the slot that [`worker`](Self::worker) gives.
    pub fn slot_of_worker(&self, id: u16) -> Option<usize> {
        self.find(id).map(|(number, _)| number)
    }

    fn find(&self, id: u16) -> Option<(usize, &'static WorkerSlot)> {
        self.live_slots().filter(|(_, slot)| slot.id() == id).max_by_key(|(_, slot)| {
            (slot.state() != WorkerState::Starting, slot.generation(), slot.started_at.get(), slot.pid())
        })
    }

    /// How many workers serve, and how many connections each of them has on average.
    pub(crate) fn share(&self) -> (u64, u64) {
        let workers = self.slots.iter().filter(|slot| slot.id() < self.role_counts.workers);
        let serving = workers.filter(|slot| matches!(slot.state(), WorkerState::Serving | WorkerState::Recycling));
        let (count, sum) =
            serving.fold((0u64, 0u64), |(count, sum), slot| (count + 1, sum.saturating_add(slot.rows.get())));
        (count, sum / count.max(1))
    }

    /// The next session id of a worker: a plain number; or one of the worker's own above the low 12 bits, which are the
    /// worker's id, so that no two workers write to the same memory.
    pub fn next_session(&self, id: u16) -> i64 {
        let next = |counter: usize| self.sessions.get(counter).map_or(0, |last| last.fetch_add(1, Relaxed) + 1) as i64;
        if self.plain_sessions { next(0) } else { next(usize::from(id)) << 12 | i64::from(id & 0xfff) }
    }

    /// Takes a free slot for a process about to be forked; its index and itself.
    pub(crate) fn claim(&self, id: u16, generation: u32, now_ms: u64) -> Option<(usize, &'static WorkerSlot)> {
        let (index, slot) = self.slots.iter().enumerate().find(|(_, slot)| slot.state() == WorkerState::Free)?;
        slot.counters().iter().for_each(|counter| counter.set(0));
        slot.latency.clear();
        slot.tally.clear();
        slot.id.store(u32::from(id), Relaxed);
        slot.generation.store(generation, Relaxed);
        slot.started_at.set(now_ms);
        slot.set_pid(0);
        slot.set_state(WorkerState::Starting);
        Some((index, slot))
    }

    /// Frees the slot of a process that is gone, and keeps its sums.
    pub(crate) fn release(&self, slot: &WorkerSlot) {
        let header = self.header;
        let (requests, errors, latency) = match self.role_of(slot) {
            // Its requests are those of the workers.
            Some(Role::Script) => return slot.set_state(WorkerState::Free),
            Some(Role::Task) => (&header.tasks, &header.task_errors, &header.task_latency),
            _ => (&header.requests, &header.errors, &header.latency),
        };
        latency.take_over(&slot.latency);
        header.tally.take_over(&slot.tally);
        let sums = [
            (&self.header.accepted, &slot.accepted),
            // What a killed worker held open is closed by the kernel.
            (&self.header.closed, &slot.accepted),
            (requests, &slot.requests),
            (errors, &slot.errors),
            (&self.header.bytes_in, &slot.bytes_in),
            (&self.header.bytes_out, &slot.bytes_out),
            (&self.header.loop_blocked, &slot.loop_blocked),
        ];
        for (sum, counter) in sums {
            sum.add(counter.get());
        }
        slot.set_state(WorkerState::Free);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_claimed_counted_and_released() {
        let board = Scoreboard::new(RoleCounts::workers(2)).unwrap();
        let (index, slot) = board.claim(1, 1, 5).unwrap();
        slot.set_pid(42);
        slot.set_state(WorkerState::Serving);
        slot.requests.add(3);
        slot.accepted.add(2);
        assert_eq!(board.worker(1).map(WorkerSlot::pid), Some(42));
        assert!(board.worker(0).is_none());
        board.release(slot);
        assert_eq!((board.live().count(), board.header.requests.get(), board.header.closed.get()), (0, 3, 2));
        let (again, slot) = board.claim(0, 2, 9).unwrap();
        assert_eq!((again, slot.requests.get(), slot.generation()), (index, 0, 2));
    }

    #[test]
    fn there_is_room_for_three_processes_a_worker_and_no_more() {
        let board = Scoreboard::new(RoleCounts::workers(1)).unwrap();
        assert_eq!((0..4).filter(|n| board.claim(0, *n, 0).is_some()).count(), 3);
    }

    #[test]
    fn a_serving_worker_is_found_before_a_starting_one() {
        let board = Scoreboard::new(RoleCounts::workers(1)).unwrap();
        let (_, old) = board.claim(0, 1, 0).unwrap();
        old.set_state(WorkerState::Serving);
        let (_, new) = board.claim(0, 2, 1).unwrap();
        assert_eq!(board.worker(0).map(WorkerSlot::generation), Some(1));
        new.set_state(WorkerState::Serving);
        assert_eq!(board.worker(0).map(WorkerSlot::generation), Some(2));
    }

    #[test]
    fn session_ids_name_their_worker_and_never_repeat() {
        let board = Scoreboard::new(RoleCounts::workers(3)).unwrap();
        let (a, b) = (board.next_session(2), board.next_session(2));
        assert_eq!((a, b), (1 << 12 | 2, 2 << 12 | 2));
        assert_eq!(board.next_session(0), 1 << 12);
        let board = Scoreboard::with_sessions(RoleCounts::workers(3), Some(0)).unwrap();
        assert_eq!([2, 0, 2].map(|worker| board.next_session(worker)), [1, 2, 3]);
        let board = Scoreboard::with_sessions(RoleCounts::workers(1), Some(1 << 31)).unwrap();
        assert_eq!(board.next_session(0), (1 << 31) + 1);
    }

    #[test]
    fn a_share_counts_those_that_serve() {
        let board = Scoreboard::new(RoleCounts::workers(2)).unwrap();
        let slots: Vec<_> = (0..4).map(|id| board.claim(id / 2, 1, 0).unwrap().1).collect();
        slots.iter().zip([1000, 200, 5000, 0]).for_each(|(slot, rows)| slot.rows.set(rows));
        assert_eq!(board.share(), (0, 0), "nobody serves");
        let states = [WorkerState::Serving, WorkerState::Recycling, WorkerState::Draining, WorkerState::Starting];
        slots.iter().zip(states).for_each(|(slot, state)| slot.set_state(state));
        assert_eq!(board.share(), (2, 600));
    }

    #[test]
    fn slots_have_numbers() {
        let board = Scoreboard::new(RoleCounts::workers(2)).unwrap();
        let (first, old) = board.claim(1, 1, 0).unwrap();
        old.set_state(WorkerState::Serving);
        let (second, new) = board.claim(1, 2, 1).unwrap();
        assert_eq!((board.slot_count(), board.live_slots().count()), (6, 2));
        assert_eq!((board.slot_of_worker(0), board.slot_of_worker(1)), (None, Some(first)));
        new.set_state(WorkerState::Serving);
        assert_eq!(board.slot_of_worker(1), Some(second));
    }

    #[test]
    fn tasks_and_requests_are_counted_apart() {
        let board = Scoreboard::new(RoleCounts { workers: 1, tasks: 1, scripts: 0, users: 1 }).unwrap();
        for id in 0..3 {
            let (_, slot) = board.claim(id, 1, 0).unwrap();
            slot.requests.add(u64::from(id) + 1);
            slot.set_state(WorkerState::Serving);
            slot.rows.set(1000);
        }
        assert_eq!(board.share(), (1, 1000), "task workers have no share");
        assert!(board.has_live(Role::Task) && board.has_live(Role::User(0)) && !board.has_live(Role::User(1)));
        board.live().for_each(|slot| board.release(slot));
        assert_eq!((board.header.requests.get(), board.header.tasks.get()), (4, 2));
        assert!(!board.has_live(Role::Task));
    }

    #[test]
    fn counters_do_not_wrap_below_zero() {
        let counter = Counter::default();
        counter.sub(1);
        counter.raise(5);
        counter.raise(2);
        assert_eq!(counter.get(), 5);
    }
}
