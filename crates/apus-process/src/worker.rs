//! A worker's side: what it has from the master, and what it tells the master.

use std::cell::{Cell, RefCell};
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use apus_shm as shm;

use crate::access::{Access, AccessRings, AccessWriter};
use crate::channel::{Ask, Channel, Command, Message, Received};
use crate::conn_table::{ConnFlags, ConnHandle, ConnTable, Owner, Peer};
use crate::directory::{Directory, Register};
use crate::ipc::{IpcEndpoint, IpcRings};
use crate::parcel::Parcel;
use crate::role::Role;
use crate::scoreboard::{Scoreboard, WorkerSlot, WorkerState};
use crate::sys;

/// Commands taken from the channel at one go; more wait for the next.
const BATCH: usize = 64;

/// With this many slots, a question about the share in two looks at the others' numbers, which are a cache line each;
/// with n times as many, one in n.
const SLOTS_A_LOOK: usize = 16;

/// What [`Program::run_worker`](crate::Program::run_worker) works with.
#[derive(Debug)]
pub struct Worker {
    /// The process's id: event workers first, then task workers, then user processes. The one that replaces this one
    /// has the same.
    pub id: u16,
    /// What it is for.
    pub role: Role,
    /// How many reloads came before, from 1.
    pub generation: u32,
    /// The master's process id.
    pub master_pid: u32,
    /// This process's counters.
    pub slot: &'static WorkerSlot,
    /// All processes' counters.
    pub scoreboard: &'static Scoreboard,
    /// All connections.
    pub connections: &'static ConnTable,
    /// Session ids of connections that went down with a process that had this place: their close is still to be
    /// reported. Take them out before [`ready`](Self::ready), which is when the master forgets them, and after each
    /// [`take_commands`](Self::take_commands), which may add some.
    pub orphans: RefCell<Vec<i64>>,
    pub(crate) slot_index: usize,
    pub(crate) channel: Channel,
    pub(crate) ipc: IpcEndpoint,
    pub(crate) users: Directory,
    pub(crate) topics: Directory,
    /// Whether the master's death was noticed and told.
    pub(crate) orphan: Cell<bool>,
    pub(crate) share: Share,
    pub(crate) parcel: RefCell<Option<Parcel>>,
    pub(crate) access: Option<AccessWriter>,
}

/// What is known of the workers that serve and their mean, and for how many questions it holds.
#[derive(Debug, Default)]
pub(crate) struct Share {
    known: Cell<(u64, u64)>,
    questions: Cell<usize>,
}

impl Worker {
    /// Which start of the server this is, and how many reloads were over: another one when its code has changed.
    pub fn version(&self) -> (u64, u64) {
        (self.scoreboard.header.started_at.get(), self.scoreboard.header.reloads.get())
    }

    /// The descriptor to watch: readable when [`take_commands`](Self::take_commands) has something to say. It does not
    /// block, and stays readable once the master is gone: stop watching then (see [`is_orphan`](Self::is_orphan)).
    pub fn signal_fd(&self) -> BorrowedFd<'_> {
        self.channel.as_fd()
    }

    /// What the master wants now. The master's death gives one [`Command::Drain`], and a worker that has not left
    /// `max_wait_time` later is killed by a timer. Up to 64 commands at a time; the descriptor stays readable while
    /// there are more.
    pub fn take_commands(&self) -> Vec<Command> {
        let mut commands = Vec::new();
        while commands.len() < BATCH {
            match self.channel.receive_parcel(&self.parcel) {
                Received::Message(Message::Command(command)) => commands.push(command),
                // No command: an empty answer must still mean that nothing is left.
                Received::Message(Message::Orphan(session)) => self.orphans.borrow_mut().push(session),
                Received::Message(_) => {}
                Received::Nothing => break,
                Received::Closed => {
                    if !self.orphan.replace(true) {
                        sys::arm_orphan_timer();
                        commands.push(Command::Drain);
                    }
                    break;
                }
            }
        }
        commands
    }

    /// What came with the last [`Command::Renew`], once.
    pub fn take_parcel(&self) -> Option<Parcel> {
        self.parcel.take()
    }

    /// Whether the master is gone.
    pub fn is_orphan(&self) -> bool {
        self.orphan.get()
    }

    /// Tells the master that this worker serves: a reload waits for it before the old worker leaves.
    pub fn ready(&self) {
        if self.slot.state() == WorkerState::Starting {
            self.slot.set_state(WorkerState::Serving);
        }
        self.channel.send(Message::Ready);
    }

    /// This process's event loop is to tick so soon.
    pub fn expect_tick(&self, within: Duration) {
        self.slot.loop_due.set(sys::monotonic_ms() + within.as_millis() as u64);
    }

    /// Asks to be replaced. This worker goes on serving until the new one serves and [`Command::Drain`] comes.
    pub fn request_replacement(&self) {
        if self.slot.state() == WorkerState::Serving {
            self.slot.set_state(WorkerState::Recycling);
            self.channel.send(Message::State);
        }
    }

    /// Says that a fatal error broke this worker, which should accept nothing more itself. It is replaced, and told to
    /// drain.
    pub fn faulted(&self) {
        if !matches!(self.slot.state(), WorkerState::Faulted | WorkerState::Draining) {
            self.slot.set_state(WorkerState::Faulted);
            self.channel.send(Message::State);
        }
    }

    /// Says that this worker accepts nothing more. When a stopping server's last worker has said so, the master closes
    /// the listening sockets' queues, so that new clients are refused at once instead of waiting for nothing.
    pub fn draining(&self) {
        self.slot.set_state(WorkerState::Draining);
        self.channel.send(Message::State);
    }

    /// Counts a task done, and asks for replacement when it was the last that `task_max_request` allows.
    pub fn count_task(&self, micros: u64, failed: bool) {
        self.count_request(micros, if failed { 500 } else { 200 });
    }

    /// Counts an answered request, and asks for replacement when it was the last that `max_request` allows.
    pub fn count_request(&self, micros: u64, status: u16) {
        self.slot.requests.add(1);
        self.slot.latency.record(micros);
        if status >= 500 {
            self.slot.errors.add(1);
        }
        let limit = self.slot.request_limit.get();
        if limit != 0 && self.slot.requests.get() >= limit {
            self.request_replacement();
        }
    }

    /// The names of the header fields that the access log of a host (0: of the server) wants, in lower case, and
    /// whether it wants the trace; `None` where there is no access log.
    pub fn logged_fields(&self, host: u16) -> Option<(&'static [String], bool)> {
        self.access.as_ref().and_then(|writer| writer.wants(host))
    }

    /// Has an answer written to the access log, where there is one. Never waits: without room it is dropped, and
    /// counted.
    #[inline]
    pub fn log_access(&self, access: &Access<'_>) {
        if let Some(writer) = &self.access
            && !writer.put(access, self.id)
        {
            self.slot.tally.access_dropped.add(1);
        }
    }

    /// Asks the master for something; false when the master is gone or too far behind to be told now.
    pub fn ask(&self, ask: Ask) -> bool {
        self.channel.send(Message::Ask(ask))
    }

    /// The number of this process's slot: what others post messages to.
    pub fn slot_index(&self) -> usize {
        self.slot_index
    }

    /// The process that has a slot now, which may be the master; its process id.
    pub fn pid_of(&self, slot: usize) -> Option<u32> {
        if slot == self.scoreboard.slot_count() {
            return Some(self.master_pid);
        }
        self.scoreboard.live_slots().find(|(number, _)| *number == slot).map(|(_, slot)| slot.pid())
    }

    /// The slot of the process that serves as this worker now; `None` when there is none.
    pub fn slot_of_worker(&self, id: u16) -> Option<usize> {
        self.scoreboard.slot_of_worker(id)
    }

    /// What this process sends to others and receives from them.
    pub fn ipc(&self) -> &IpcEndpoint {
        &self.ipc
    }

    /// Which processes may have connections of a user.
    pub fn users(&self) -> &Directory {
        &self.users
    }

    /// Which processes may have subscribers of a topic.
    pub fn topics(&self) -> &Directory {
        &self.topics
    }

    /// Connections that are open in all processes. Costs a few loads a process, unlike counting the table's rows.
    pub fn connections_open(&self) -> u64 {
        self.scoreboard.live_slots().map(|(_, slot)| slot.rows.get()).sum()
    }

    /// Requests that all workers are handling. Costs a few loads a process.
    pub fn requests_active(&self) -> u64 {
        let serving = self.scoreboard.live_slots().filter(|(_, slot)| slot.id() < self.scoreboard.worker_num());
        serving.map(|(_, slot)| slot.active.get()).sum()
    }

    /// How many connections this worker has, how many workers serve, and how many connections each of these has on
    /// average. Costs a few nanoseconds.
    pub fn standing(&self) -> (u64, u64, u64) {
        let share = &self.share;
        match share.questions.get() {
            0 => {
                share.known.set(self.scoreboard.share());
                share.questions.set(self.scoreboard.slot_count() / SLOTS_A_LOOK);
            }
            left => share.questions.set(left - 1),
        }
        let (workers, mean) = share.known.get();
        (self.slot.rows.get(), workers, mean)
    }

    /// The next session id.
    pub fn next_session(&self) -> i64 {
        self.scoreboard.next_session(self.id)
    }

    /// Enters a connection into the table. `None` when `max_connection` are open: refuse it.
    pub fn insert_connection(&self, session: i64, peer: Peer, server_port: u16) -> Option<ConnHandle> {
        // Counted before: a crash in between leaves a count that makes the master look, not a row it does not look for.
        self.slot.rows.add(1);
        let handle = self.connections.insert(
            Owner { slot: self.slot_index, worker: self.id },
            session,
            peer,
            server_port,
            sys::now_ms(),
        );
        if handle.is_none() {
            self.slot.rows.sub(1);
        }
        handle
    }

    /// Lets the other processes know the state of a connection.
    pub fn set_connection_flags(&self, handle: &ConnHandle, flags: ConnFlags) {
        self.connections.set_flags(handle, flags);
    }

    /// Takes a connection out of the table.
    pub fn remove_connection(&self, handle: ConnHandle) {
        self.connections.remove(handle);
        self.slot.rows.sub(1);
    }
}

/// What the master made for all processes, to talk to each other.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Post {
    pub(crate) office: &'static IpcRings,
    pub(crate) users: &'static Register,
    pub(crate) topics: &'static Register,
    pub(crate) access: Option<&'static AccessRings>,
}

impl Post {
    /// Maps it all.
    pub(crate) fn new(slots: usize, ring_size: usize) -> io::Result<Self> {
        Ok(Self {
            office: IpcRings::new(slots, ring_size)?,
            users: Register::new(slots)?,
            topics: Register::new(slots)?,
            access: None,
        })
    }

    /// A process is about to be forked into this slot.
    pub(crate) fn open(&self, slot: usize) {
        self.office.open(slot);
    }

    /// The process of this slot is gone, and reaped.
    pub(crate) fn close(&self, slot: usize) {
        self.users.clear(slot);
        self.topics.clear(slot);
        self.office.close(slot);
    }
}

/// What a process just forked knows of itself.
#[derive(Debug)]
pub(crate) struct Begun {
    pub(crate) role: Role,
    pub(crate) slot_index: usize,
    pub(crate) slot: &'static WorkerSlot,
    pub(crate) channel: Channel,
    pub(crate) orphans: Vec<i64>,
    pub(crate) master_pid: u32,
}

impl Begun {
    /// The master itself, which has the slot behind those of the scoreboard.
    pub(crate) fn master(scoreboard: &Scoreboard) -> io::Result<Self> {
        let slot: &'static WorkerSlot = shm::map(1)?.first().ok_or(io::ErrorKind::OutOfMemory)?;
        slot.set_pid(std::process::id());
        // Nobody listens: what workers ask of the master it does by itself.
        let (channel, _) = Channel::pair()?;
        let slot_index = scoreboard.slot_count();
        Ok(Self { role: Role::Master, slot_index, slot, channel, orphans: Vec::new(), master_pid: std::process::id() })
    }

    /// Makes it a worker.
    pub(crate) fn worker(
        self,
        scoreboard: &'static Scoreboard,
        connections: &'static ConnTable,
        post: &Post,
    ) -> Worker {
        let slot_index = self.slot_index;
        Worker {
            id: self.slot.id(),
            role: self.role,
            generation: self.slot.generation(),
            master_pid: self.master_pid,
            slot: self.slot,
            scoreboard,
            connections,
            orphans: RefCell::new(self.orphans),
            slot_index,
            channel: self.channel,
            ipc: IpcEndpoint::new(post.office, slot_index),
            users: Directory::new(post.users, post.office, slot_index),
            topics: Directory::new(post.topics, post.office, slot_index),
            orphan: Cell::new(false),
            share: Share::default(),
            parcel: RefCell::default(),
            access: post.access.and_then(|rings| AccessWriter::new(rings, slot_index)),
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        sys::forget_channel();
    }
}

/// `base` plus a random share of up to `spread`: keeps workers that began together from leaving together.
pub(crate) fn jittered(base: u64, spread: u64) -> u64 {
    // The only source of randomness in std: each RandomState has its own keys.
    base.saturating_add(RandomState::new().hash_one(0u8) % spread.saturating_add(1).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn worker() -> (Worker, Channel) {
        let scoreboard = Scoreboard::new(crate::RoleCounts::workers(1)).unwrap();
        let (slot_index, slot) = scoreboard.claim(0, 1, 0).unwrap();
        let (channel, master) = Channel::pair().unwrap();
        let connections = ConnTable::new(1).unwrap();
        let post = Post::new(scoreboard.slot_count(), 0).unwrap();
        post.open(slot_index);
        let begun = Begun { role: Role::Worker, slot_index, slot, channel, orphans: vec![4096], master_pid: 0 };
        (begun.worker(scoreboard, connections, &post), master)
    }

    #[test]
    fn orphans_come_by_fork_and_later_and_are_no_commands() {
        let (worker, master) = worker();
        master.send(Message::Orphan(8192));
        master.send(Message::Command(Command::Drain));
        master.send(Message::Orphan(12_288));
        assert_eq!(worker.take_commands(), [Command::Drain]);
        assert_eq!(worker.orphans.take(), [4096, 8192, 12_288]);
        assert_eq!(worker.take_commands(), []);
    }

    #[test]
    fn a_worker_knows_how_it_stands_beside_the_others() {
        let (worker, _master) = worker();
        let (_, other) = worker.scoreboard.claim(0, 2, 0).unwrap();
        worker.slot.rows.set(8);
        worker.slot.set_state(WorkerState::Serving);
        assert_eq!(worker.standing(), (8, 1, 8), "the other one has not begun");
        other.set_state(WorkerState::Serving);
        other.rows.set(1000);
        assert_eq!(worker.standing(), (8, 2, 504));
    }

    #[test]
    fn the_last_allowed_request_asks_for_replacement_once() {
        let (worker, master) = worker();
        worker.slot.request_limit.set(2);
        worker.ready();
        for status in [200, 500, 200] {
            worker.count_request(10, status);
        }
        assert_eq!(master.receive(), Received::Message(Message::Ready));
        assert_eq!(master.receive(), Received::Message(Message::State));
        assert_eq!(master.receive(), Received::Nothing);
        assert_eq!((worker.slot.state(), worker.slot.errors.get()), (WorkerState::Recycling, 1));
    }

    #[test]
    fn the_masters_death_is_told_once_after_its_last_words() {
        let (worker, master) = worker();
        master.send(Message::Command(Command::StopNow));
        drop(master);
        assert_eq!(worker.take_commands(), [Command::StopNow, Command::Drain]);
        assert!(worker.is_orphan());
        assert_eq!(worker.take_commands(), []);
    }

    #[test]
    fn a_full_table_leaves_no_count() {
        let (worker, _master) = worker();
        let handle = worker.insert_connection(worker.next_session(), Peer::Unix, 0).unwrap();
        assert_eq!(worker.insert_connection(worker.next_session(), Peer::Unix, 0), None);
        assert_eq!(worker.slot.rows.get(), 1);
        worker.remove_connection(handle);
        assert!(worker.connections.is_empty());
    }

    #[test]
    fn jitter_stays_in_its_spread() {
        for _ in 0..100 {
            assert!((10..=15).contains(&jittered(10, 5)));
        }
        assert_eq!(jittered(10, 0), 10);
        assert!(jittered(u64::MAX, u64::MAX) == u64::MAX);
    }
}
