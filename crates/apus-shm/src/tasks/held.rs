//! What is done under the mutex, and who is woken when it is given back.

use super::lines::{
    PRIORITIES, append, first_due, queue_of, rest, rested, rouse, set_clock, unlink, unset_clock, worker_of,
};
use super::store::{Pool, Store, Tag};
use super::{About, CALENDAR_CHECK, Cancelled, DIED, Lost, SubmitError, TaskQueue, now, unix_micros};
use crate::robust::Guard;

/// Milliseconds that a date may be ahead and count as reached: timers are rounded.
const EARLY: u64 = 2;

/// The mutex is held; notifications are sent when it is released.
pub(super) struct Held<'a> {
    task_queue: &'a TaskQueue,
    store: &'a Store,
    guard: Option<Guard<'a>>,
    notifiers: Vec<usize>,
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        drop(self.guard.take());
        // A process killed in between leaves others asleep; the master wakes them when it buries it.
        self.notifiers
            .iter()
            .filter_map(|slot| self.task_queue.notifiers.get(*slot))
            .for_each(crate::notifier::Notifier::notify_now);
    }
}

/// When a task with a date is looked at, by the clock that nobody sets.
pub(super) fn next_look(wall: u64, now: u64) -> u64 {
    let left = wall.saturating_mul(1000).saturating_sub(unix_micros());
    now.saturating_add(left.min(CALENDAR_CHECK))
}

impl<'a> Held<'a> {
    pub(super) fn new(task_queue: &'a TaskQueue) -> Self {
        let guard = task_queue.store.lock();
        let mut held = Self { task_queue, store: &task_queue.store, guard: Some(guard), notifiers: Vec::new() };
        if held.store.head().alarm.get() != 0 {
            held.notifiers.extend(0..held.store.slots);
            held.store.head().alarm.set(0);
        }
        held
    }

    pub(super) fn next_id(&self) -> u64 {
        self.store.head().ids.next()
    }

    /// Rings for a process when something is freed.
    pub(super) fn interest(&mut self, slot: usize) {
        let interest = &self.store.place(slot).interest;
        if interest.get() == 0 {
            interest.set(1);
            self.store.head().interested.add(1);
        }
    }

    /// Frees a chain, and calls those who registered for room.
    pub(super) fn release(&mut self, block: u32) {
        self.store.release(block);
        if self.store.head().interested.get() == 0 {
            return;
        }
        self.store.head().interested.set(0);
        for slot in 0..self.store.slots {
            let interest = &self.store.place(slot).interest;
            if interest.get() != 0 {
                interest.set(0);
                self.notifiers.push(slot);
            }
        }
    }

    /// Puts a task into its queue; `call`s a worker for it.
    pub(super) fn enqueue(&mut self, block: u32, call: bool) {
        let (head, entry) = (self.store.head(), self.store.entry(block));
        let queue = entry.queue.get() as usize;
        entry.order.set(head.orders.next());
        self.store.set_tag(block, Tag::Queued(queue as u32));
        append(self.store, self.store.queue(queue), block);
        head.waiting.add(1);
        if call {
            self.call(queue);
        }
    }

    /// Wakes a worker that can take from this queue.
    fn call(&mut self, queue: usize) {
        if let Some(slot) = rested(self.store, queue) {
            self.rouse(slot);
            self.notifiers.push(slot);
        }
    }

    /// A worker is idle no longer. Somebody else has to look at the clock if it did.
    pub(super) fn rouse(&mut self, slot: usize) {
        rouse(self.store, slot);
    }

    /// Puts a task into the clock. Who looks at the clock looks again if it comes first.
    pub(super) fn delay(&mut self, block: u32, due: u64) {
        self.store.entry(block).due.set(due);
        self.store.set_tag(block, Tag::Delayed);
        set_clock(self.store, block);
        if first_due(self.store) == Some(block) {
            match self.store.head().keeper.get() {
                0 => self.call(0),
                keeper => {
                    let keeper = keeper as usize - 1;
                    self.rouse(keeper);
                    self.notifiers.push(keeper);
                }
            }
        }
    }

    /// Moves what is due from the clock to the queues.
    pub(super) fn promote(&mut self, now: u64) {
        while let Some(block) = first_due(self.store) {
            let entry = self.store.entry(block);
            if entry.due.get() > now {
                return;
            }
            unset_clock(self.store, block);
            let wall = entry.wall.get();
            if wall > unix_micros() / 1000 + EARLY {
                entry.due.set(next_look(wall, now).max(now + 1));
                set_clock(self.store, block);
            } else {
                // What any worker may take is the caller's, or `call_others` finds somebody for it.
                self.enqueue(block, worker_of(entry.queue.get() as usize).is_some());
            }
        }
    }

    /// The task that the worker with that number is to take: by priority, and among those of one the oldest.
    pub(super) fn next_for(&self, worker: usize) -> Option<u32> {
        (0..PRIORITIES).find_map(|priority| {
            let firsts = [None, Some(worker)].map(|worker| self.store.queue(queue_of(priority, worker)).first.get());
            firsts.into_iter().filter(|block| *block != 0).min_by_key(|block| self.store.entry(*block).order.get())
        })
    }

    /// Gives a task that waits to the process of a slot.
    pub(super) fn begin(&mut self, block: u32, slot: usize) {
        let (head, queue) = (self.store.head(), self.store.entry(block).queue.get() as usize);
        self.store.set_tag(block, Tag::Taken(slot as u32));
        unlink(self.store, self.store.queue(queue), block);
        head.waiting.sub(1);
        head.running.add(1);
    }

    /// Wakes one more worker where there is something to take, and one to look at the clock where nobody does.
    pub(super) fn call_others(&mut self) {
        let head = self.store.head();
        if head.idle.get() == 0 {
            return;
        }
        if head.waiting.get() > 0 {
            let shared = (0..PRIORITIES).find(|queue| self.store.queue(*queue).first.get() != 0);
            if let Some(queue) = shared {
                self.call(queue);
            } else {
                self.call_owners();
            }
        }
        if head.clock.get() > 0 && head.keeper.get() == 0 {
            self.call(0);
        }
    }

    /// Wakes those for whom tasks of their own wait.
    fn call_owners(&mut self) {
        for queue in PRIORITIES..self.store.queues {
            if self.store.queue(queue).first.get() != 0 {
                self.call(queue);
            }
        }
    }

    /// A worker has nothing to do; after which time it is to look again.
    pub(super) fn rest(&mut self, slot: usize, worker: usize, now: u64) -> Option<std::time::Duration> {
        rest(self.store, slot, worker);
        let due = self.store.entry(first_due(self.store)?).due.get();
        if self.store.head().keeper.get() != 0 {
            return None;
        }
        self.store.head().keeper.set(slot as u32 + 1);
        Some(std::time::Duration::from_micros(due.saturating_sub(now)))
    }

    /// Whether the process that handed a task over is still there.
    pub(super) fn is_there(&self, slot: usize, generation: u32) -> bool {
        slot < self.store.slots && self.store.place(slot).generation.get() == generation
    }

    /// A chain for a report on a task.
    pub(super) fn reply(&mut self, about: About, slot: usize, kind: u32, len: usize) -> Result<u32, SubmitError> {
        if self.store.is_too_large(len) {
            return Err(SubmitError::TooLarge);
        }
        let Some(block) = self.store.allocate(Pool::Reports, len) else {
            self.interest(slot);
            return Err(SubmitError::Full);
        };
        let entry = self.store.entry(block);
        entry.id.set(about.id);
        entry.flags.set(about.flags);
        entry.wants.set(about.wants);
        entry.sender.set(about.sender);
        entry.queue.set(kind);
        Ok(block)
    }

    /// Puts a report into its reader's inbox.
    pub(super) fn deliver(&mut self, block: u32, slot: usize) {
        self.store.entry(block).order.set(self.store.head().orders.next());
        self.store.set_tag(block, Tag::Report(slot as u32));
        self.link_report(block, slot);
    }

    fn link_report(&mut self, block: u32, slot: usize) {
        let inbox = self.store.inbox(slot);
        // Who collects goes on until nothing is left.
        if inbox.first.get() == 0 {
            self.notifiers.push(slot);
        }
        append(self.store, inbox, block);
    }

    /// A task is over: it goes, or comes again.
    pub(super) fn end(&mut self, task: u32, told: Option<u32>, next: Option<u64>) {
        let entry = self.store.entry(task);
        self.store.head().running.sub(1);
        let wall = next.filter(|_| entry.wall.get() != 0).unwrap_or(0);
        let again = (entry.period.get() != 0 || wall != 0) && entry.cancelled.get() == 0;
        if again {
            // Killed between the two, a worker has reported a run that its death is reported of, too: the harm is
            // small, and no run is lost.
            if let Some(report) = told {
                self.deliver(report, entry.sender.get() as usize);
            }
            return self.again(task, wall);
        }
        let Some(report) = told else { return self.release(task) };
        let sender = entry.sender.get();
        self.store.entry(report).order.set(self.store.head().orders.next());
        entry.reply.set(report);
        self.store.set_tag(task, Tag::Ended(sender));
        self.store.set_tag(report, Tag::Report(sender));
        self.link_report(report, sender as usize);
        self.release(task);
    }

    fn again(&mut self, task: u32, wall: u64) {
        let (entry, now) = (self.store.entry(task), now());
        let due = if wall != 0 {
            entry.wall.set(wall);
            next_look(wall, now)
        } else {
            // Times that are over are left out; the next one is a multiple of the period after the first.
            let (period, last) = (entry.period.get(), entry.due.get());
            last.saturating_add(period.saturating_mul(now.saturating_sub(last) / period + 1))
        };
        self.delay(task, due);
    }

    /// Calls off the tasks with a key.
    pub(super) fn cancel_key(&mut self, key: u64) {
        while let Cancelled::Removed = self.cancel_if(|store, block| {
            let entry = store.entry(block);
            entry.key.get() == key && entry.cancelled.get() == 0
        }) {}
    }

    pub(super) fn cancel(&mut self, id: u64) -> Cancelled {
        self.cancel_if(|store, block| store.entry(block).id.get() == id)
    }

    fn cancel_if(&mut self, meant: impl Fn(&Store, u32) -> bool) -> Cancelled {
        let found = self.store.chains().find(|(block, tag)| {
            matches!(tag, Tag::Queued(_) | Tag::Delayed | Tag::Taken(_)) && meant(self.store, *block)
        });
        let Some((block, tag)) = found else { return Cancelled::Unknown };
        match tag {
            Tag::Taken(_) => {
                self.store.entry(block).cancelled.set(1);
                return Cancelled::Running;
            }
            Tag::Queued(queue) => {
                unlink(self.store, self.store.queue(queue as usize), block);
                self.store.head().waiting.sub(1);
            }
            _ => unset_clock(self.store, block),
        }
        self.release(block);
        Cancelled::Removed
    }

    pub(super) fn bury(&mut self, slot: usize, next: impl Fn(&[u8]) -> Option<u64>) -> Vec<Lost> {
        let (mut lost, dead) = (Vec::new(), slot as u32);
        self.rouse(slot);
        let place = self.store.place(slot);
        place.generation.add(1);
        if place.interest.get() != 0 {
            place.interest.set(0);
            self.store.head().interested.sub(1);
        }
        let chains: Vec<(u32, Tag)> = self.store.chains().collect();
        for (block, tag) in chains {
            match tag {
                Tag::Writing(owner) | Tag::Reading(owner) if owner == dead => self.release(block),
                Tag::Report(owner) if owner == dead => {
                    unlink(self.store, self.store.inbox(slot), block);
                    self.release(block);
                }
                Tag::Taken(owner) if owner == dead => lost.push(self.lose(block, &next)),
                _ => {}
            }
        }
        self.wake_all();
        lost
    }

    /// The worker that ran a task is dead.
    fn lose(&mut self, block: u32, next: &impl Fn(&[u8]) -> Option<u64>) -> Lost {
        let entry = self.store.entry(block);
        let repeats = entry.period.get() != 0 || entry.wall.get() != 0;
        let (sender, generation) = (entry.sender.get() as usize, entry.sender_generation.get());
        let listens = self.is_there(sender, generation);
        if repeats {
            // Without room for the report nobody is told; the next run comes all the same.
            let about =
                About { id: entry.id.get(), flags: entry.flags.get(), wants: entry.wants.get(), sender: sender as u32 };
            let told = if listens { self.reply(about, sender, DIED, 0).ok() } else { None };
            let date = if entry.wall.get() == 0 { None } else { next(&self.store.read(block)) };
            self.end(block, told, date);
        } else if listens {
            // The task itself becomes the report: there is always room for it.
            self.store.head().running.sub(1);
            entry.queue.set(DIED);
            entry.len.set(0);
            self.deliver(block, sender);
        } else {
            self.store.head().running.sub(1);
            self.release(block);
        }
        Lost { id: entry.id.get(), repeats }
    }

    /// Everybody who may have been about to be woken by a process that died looks again.
    fn wake_all(&mut self) {
        let waiting = (0..self.store.slots).filter(|slot| self.store.inbox(*slot).first.get() != 0);
        self.notifiers.extend(waiting);
        let idle = self.store.idle()[..self.store.head().idle.get() as usize].iter().map(|word| word.get() as usize);
        self.notifiers.extend(idle);
    }
}
