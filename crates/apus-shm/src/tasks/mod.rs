//! Tasks that processes hand to task workers, and what these report, in memory that all of them share.
//!
//! A task is copied in once, when it is handed over, and out once, by the worker that runs it; its result likewise. Who
//! runs what stands here, so that the death of a worker is told to whoever waits for it, by the master, at once. Tasks
//! that wait for a time or come again stand here, too: no process's death loses one, and exactly one worker takes each
//! run. `store.rs` says why this holds.
//!
//! Every process has a slot and a notifier of its own, which notifies it when it has something to collect, to take, or
//! room that it registered for.

mod held;
mod lines;
mod store;
#[cfg(test)]
mod tests;

use std::io;
use std::os::fd::BorrowedFd;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::clock;
use crate::notifier::Notifier;
use held::Held;
use lines::{PRIORITIES, queue_of};
use store::{Pool, Store, Tag};

/// Payloads up to this size are copied under the mutex: taking it twice costs more.
const SHORT: usize = 4096;
/// The calendar may be set anew: a task with a date looks at it at least this often.
const CALENDAR_CHECK: u64 = 60_000_000;

/// What is reported when the worker that ran a task died.
pub const DIED: u32 = 0xff;

/// Why a task or report was not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SubmitError {
    /// There is no room now.
    #[error("there is no room now")]
    Full,
    /// There would be none if it were all alone.
    #[error("it is larger than all the room there is")]
    TooLarge,
}

/// When a task runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// As soon as a worker is free.
    Now,
    /// After this time.
    After(Duration),
    /// After this time and again after each; a run that would begin while one goes on is left out.
    Every(Duration),
    /// At this time of the calendar, in milliseconds since 1970; who runs it says when the next time is.
    At(u64),
}

/// A task to hand over.
#[derive(Debug, Clone, Copy)]
pub struct Order {
    /// Slot of the process that hands it over, and gets the reports.
    pub sender: usize,
    /// 0 to 2; 0 goes first.
    pub priority: usize,
    /// The task worker that is to run it, from 0; any where `None`.
    pub worker: Option<usize>,
    /// When it runs.
    pub when: When,
    /// The program's own.
    pub flags: u32,
    /// What the sender wants to hear; the program's own.
    pub wants: u32,
    /// Takes the place of a task with the same key, which is called off; 0 for none.
    pub key: u64,
    /// Whether the sender is to be notified when there may be room.
    pub interest: bool,
}

/// A task to run.
#[derive(Debug)]
pub struct Task {
    block: u32,
    /// Its number; that of all its runs.
    pub id: u64,
    /// Slot of the process that handed it over.
    pub sender: usize,
    sender_generation: u32,
    /// When it was handed over, in microseconds since 1970.
    pub born: u64,
    /// The program's own.
    pub flags: u32,
    /// The program's own.
    pub wants: u32,
    /// Whether it comes again.
    pub repeats: bool,
    /// What it is.
    pub payload: Vec<u8>,
}

/// What a report takes over from its task.
#[derive(Debug, Clone, Copy)]
struct About {
    id: u64,
    flags: u32,
    wants: u32,
    sender: u32,
}

impl From<&Task> for About {
    fn from(task: &Task) -> Self {
        Self { id: task.id, flags: task.flags, wants: task.wants, sender: task.sender as u32 }
    }
}

/// What a look for a task gave.
#[derive(Debug)]
pub enum Taken {
    /// A task, this process's now.
    Task(Task),
    /// None: the notifier tells when there is one. Look again after this time, too, where one is given.
    Nothing(Option<Duration>),
}

/// What somebody is told of a task that it handed over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// The task.
    pub task: u64,
    /// [`DIED`], or the program's own.
    pub kind: u32,
    /// The task's `flags`.
    pub flags: u32,
    /// The task's `wants`.
    pub wants: u32,
    /// The program's own.
    pub payload: Vec<u8>,
}

/// What became of a task that was called off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cancelled {
    /// It had not begun, and will not.
    Removed,
    /// It runs; its worker can see that nobody wants it, and it does not come again.
    Running,
    /// There is no such task.
    Unknown,
}

/// A task that died with its worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lost {
    /// The task.
    pub id: u64,
    /// Whether it comes again.
    pub repeats: bool,
}

/// Numbers of now.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stats {
    /// Tasks that wait for a worker.
    pub waiting: u32,
    /// Tasks that run.
    pub running: u32,
    /// Tasks that wait for their time.
    pub delayed: u32,
    /// Task workers that have nothing to do.
    pub idle: u32,
    /// Bytes that tasks take.
    pub task_bytes: u64,
    /// Bytes that reports take.
    pub report_bytes: u64,
    /// Bytes that either may take.
    pub capacity: u64,
}

/// The tasks of a server. Made before the first fork.
#[derive(Debug)]
pub struct TaskQueue {
    store: Store,
    notifiers: Vec<Notifier>,
}

impl TaskQueue {
    /// Room for `bytes` of tasks, and as much of reports; for processes in so many slots, of which at most `workers`
    /// are task workers at a time.
    pub fn new(bytes: usize, slots: usize, workers: usize) -> io::Result<Self> {
        let store = Store::new(bytes, slots, (workers + 1) * PRIORITIES)?;
        Ok(Self { store, notifiers: (0..slots).map(|_| Notifier::new()).collect::<io::Result<_>>()? })
    }

    /// The notifier of a slot: to be watched edge-triggered and never read.
    pub fn notifier(&self, slot: usize) -> BorrowedFd<'_> {
        self.notifiers[slot].fd()
    }

    /// Hands a task over; its number. From here on it survives this process.
    pub fn submit(&self, order: &Order, payload: &[u8]) -> Result<u64, SubmitError> {
        if self.store.is_too_large(payload.len()) {
            return Err(SubmitError::TooLarge);
        }
        let mut held = self.hold();
        let Some(block) = self.store.allocate(Pool::Tasks, payload.len()) else {
            if order.interest {
                held.interest(order.sender);
            }
            return Err(SubmitError::Full);
        };
        held = self.write(held, block, order.sender, payload);
        if order.key != 0 {
            held.cancel_key(order.key);
        }
        let entry = self.store.entry(block);
        let id = held.next_id();
        entry.id.set(id);
        entry.key.set(order.key);
        entry.sender.set(order.sender as u32);
        entry.sender_generation.set(self.store.place(order.sender).generation.get());
        entry.flags.set(order.flags);
        entry.wants.set(order.wants);
        entry.born.set(unix_micros());
        entry.queue.set(queue_of(order.priority, order.worker) as u32);
        let (period, wall) = match order.when {
            When::Every(period) => ((period.as_micros() as u64).max(1), 0),
            When::At(wall) => (0, wall.max(1)),
            When::Now | When::After(_) => (0, 0),
        };
        entry.period.set(period);
        entry.wall.set(wall);
        match order.when {
            When::Now => held.enqueue(block, true),
            When::After(time) | When::Every(time) => held.delay(block, now().saturating_add(time.as_micros() as u64)),
            When::At(_) => held.delay(block, held::next_look(wall, now())),
        }
        Ok(id)
    }

    /// Takes the next task for the task worker with that number in `slot`. When there is none the worker counts as idle
    /// until it looks again, or [leaves](Self::leave).
    pub fn take(&self, slot: usize, worker: usize) -> Taken {
        self.take_held(self.hold(), slot, worker)
    }

    fn take_held(&self, mut held: Held<'_>, slot: usize, worker: usize) -> Taken {
        held.rouse(slot);
        let now = now();
        held.promote(now);
        let Some(block) = held.next_for(worker) else { return Taken::Nothing(held.rest(slot, worker, now)) };
        held.begin(block, slot);
        held.call_others();
        drop(held);
        let entry = self.store.entry(block);
        Taken::Task(Task {
            block,
            id: entry.id.get(),
            sender: entry.sender.get() as usize,
            sender_generation: entry.sender_generation.get(),
            born: entry.born.get(),
            flags: entry.flags.get(),
            wants: entry.wants.get(),
            repeats: entry.period.get() != 0 || entry.wall.get() != 0,
            payload: self.store.read(block),
        })
    }

    /// This worker takes nothing more; others do.
    pub fn leave(&self, slot: usize) {
        let mut held = self.hold();
        held.rouse(slot);
        held.call_others();
    }

    /// Tells the sender of a task something, while it runs or later. Nothing happens when the sender is gone.
    pub fn report(&self, task: &Task, slot: usize, kind: u32, payload: &[u8]) -> Result<(), SubmitError> {
        let mut held = self.hold();
        if !held.is_there(task.sender, task.sender_generation) {
            return Ok(());
        }
        let block = held.reply(task.into(), slot, kind, payload.len())?;
        held = self.write(held, block, slot, payload);
        held.deliver(block, task.sender);
        Ok(())
    }

    /// A task is over, and its sender told where there is something to tell; for a task with a date, `next` is the next
    /// one. On an error it is not over yet: the notifier of `slot` tells when there may be room.
    pub fn finish(
        &self,
        task: &Task,
        slot: usize,
        report: Option<(u32, &[u8])>,
        next: Option<u64>,
    ) -> Result<(), SubmitError> {
        self.end_held(task, slot, report, next).map(drop)
    }

    /// The same, and the next task is [taken](Self::take) before the sender is told: when the sender hands over another
    /// one, this worker has what it was to take, or counts as idle. Otherwise another worker would be woken for it, in
    /// vain as often as not.
    pub fn finish_and_take(
        &self,
        task: &Task,
        (slot, worker): (usize, usize),
        report: Option<(u32, &[u8])>,
        next: Option<u64>,
    ) -> Result<Taken, SubmitError> {
        let held = self.end_held(task, slot, report, next)?;
        Ok(self.take_held(held, slot, worker))
    }

    fn end_held(
        &self,
        task: &Task,
        slot: usize,
        report: Option<(u32, &[u8])>,
        next: Option<u64>,
    ) -> Result<Held<'_>, SubmitError> {
        let mut held = self.hold();
        let told = match report.filter(|_| held.is_there(task.sender, task.sender_generation)) {
            None => None,
            Some((kind, payload)) => {
                let block = held.reply(task.into(), slot, kind, payload.len())?;
                held = self.write(held, block, slot, payload);
                Some(block)
            }
        };
        held.end(task.block, told, next);
        Ok(held)
    }

    /// Whether the task that this process runs was called off.
    pub fn is_cancelled(&self, task: &Task) -> bool {
        self.store.entry(task.block).cancelled.get() != 0
    }

    /// Calls a task off.
    pub fn cancel(&self, id: u64) -> Cancelled {
        let mut held = self.hold();
        held.cancel(id)
    }

    /// The next report for the process in `slot`.
    pub fn collect(&self, slot: usize) -> Option<Report> {
        let mut held = Some(self.hold());
        let block = match self.store.inbox(slot).first.get() {
            0 => return None,
            block => block,
        };
        lines::unlink(&self.store, self.store.inbox(slot), block);
        self.store.set_tag(block, Tag::Reading(slot as u32));
        let entry = self.store.entry(block);
        if entry.len.get() as usize > SHORT {
            held = None;
        }
        let payload = self.store.read(block);
        let (task, kind, flags) = (entry.id.get(), entry.queue.get(), entry.flags.get());
        let report = Report { task, kind, flags, wants: entry.wants.get(), payload };
        held.unwrap_or_else(|| self.hold()).release(block);
        Some(report)
    }

    /// Whether there is a report for the process in `slot`; a look that waits for nobody.
    #[inline]
    pub fn has_report(&self, slot: usize) -> bool {
        self.store.inbox(slot).first.get() != 0
    }

    /// How many tasks wait for a worker; likewise.
    #[inline]
    pub fn waiting(&self) -> u32 {
        self.store.head().waiting.get()
    }

    /// The process of a slot is dead: what it ran is told to those who wait for it, what it wrote and was to read is
    /// dropped. `next` gives the next date of a task that has one, from its payload. Called by the master before the
    /// slot is used again.
    pub fn bury(&self, slot: usize, next: impl Fn(&[u8]) -> Option<u64>) -> Vec<Lost> {
        let mut held = self.hold();
        held.bury(slot, next)
    }

    /// Numbers of now.
    pub fn stats(&self) -> Stats {
        let _held = self.hold();
        self.glance()
    }

    /// The same without waiting for anybody: numbers that may not be of one moment.
    pub fn glance(&self) -> Stats {
        let head = self.store.head();
        let bytes = |count: u32| u64::from(count) * store::BLOCK as u64;
        Stats {
            waiting: head.waiting.get(),
            running: head.running.get(),
            delayed: head.clock.get(),
            idle: head.idle.get(),
            task_bytes: bytes(head.used[Pool::Tasks as usize].get()),
            report_bytes: bytes(head.used[Pool::Reports as usize].get()),
            capacity: bytes(self.store.share),
        }
    }

    fn hold(&self) -> Held<'_> {
        Held::new(self)
    }

    /// Writes a payload into a chain just allocated: a long one without the mutex.
    fn write<'a>(&'a self, held: Held<'a>, block: u32, slot: usize, payload: &[u8]) -> Held<'a> {
        if payload.len() <= SHORT {
            self.store.fill(block, payload);
            return held;
        }
        self.store.set_tag(block, Tag::Writing(slot as u32));
        drop(held);
        self.store.fill(block, payload);
        self.hold()
    }
}

/// Microseconds of the clock that all processes of the machine share and nobody sets.
fn now() -> u64 {
    clock::now() / 1000
}

/// Microseconds since 1970.
fn unix_micros() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_micros() as u64)
}
