//! A worker, task worker or user process that the master keeps running: the process that does it now, the one that is
//! to, and when to try again after a death.

use std::os::fd::{AsFd, BorrowedFd};
use std::rc::Rc;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::back_off::BackOff;
use crate::channel::{Channel, Command, Message, Received};
use crate::parcel::Parcel;
use crate::role::Role;
use crate::scoreboard::{WorkerSlot, WorkerState};

/// The least time between the start of service of a process that asked for its replacement before, and the start of the
/// next.
const SOONEST: Duration = Duration::from_secs(1);

/// A process, as the master sees it.
#[derive(Debug)]
pub(crate) struct Process {
    pub(crate) id: u16,
    pub(crate) role: Role,
    pub(crate) pid: Pid,
    pub(crate) generation: u32,
    pub(crate) slot: &'static WorkerSlot,
    pub(crate) slot_index: usize,
    pub(crate) born: Instant,
    /// When its age makes it due for replacement.
    pub(crate) expires: Option<Instant>,
    /// Whether it was told to leave: its death is no crash.
    pub(crate) dismissed: bool,
    /// When it is killed if it is still there.
    pub(crate) kill_at: Option<Instant>,
    /// Whether it was killed for that.
    pub(crate) overdue: bool,
    /// Whether somebody asked for its replacement before it served.
    replace_soon: bool,
    /// `None` once the process has closed its end: it is leaving, or dead and not yet reaped.
    channel: Option<Channel>,
    /// The last order, while the channel was too full to take it.
    unsent: Option<Command>,
    /// What it is to use from now on, while the channel was too full to take it.
    parcel: Option<Rc<Parcel>>,
    /// What it was forked with to report; it has done so once it serves.
    pub(crate) orphans: Vec<i64>,
}

impl Process {
    pub(crate) fn new(
        pid: Pid,
        role: Role,
        channel: Channel,
        (slot_index, slot): (usize, &'static WorkerSlot),
    ) -> Self {
        Self {
            id: slot.id(),
            role,
            pid,
            generation: slot.generation(),
            slot,
            slot_index,
            born: Instant::now(),
            expires: None,
            dismissed: false,
            kill_at: None,
            overdue: false,
            replace_soon: false,
            channel: Some(channel),
            unsent: None,
            parcel: None,
            orphans: Vec::new(),
        }
    }

    /// Tells it to leave, and when its patience ends. A later order may hurry it, never give it more time.
    pub(crate) fn dismiss(&mut self, command: Command, patience: Duration) {
        let deadline = Instant::now() + patience;
        self.kill_at = Some(self.kill_at.map_or(deadline, |earlier| earlier.min(deadline)));
        self.dismissed = true;
        if self.is_user() {
            // What it runs is the program's own and may know nothing of channels.
            let _ = kill(self.pid, Signal::SIGTERM);
            return;
        }
        self.unsent = Some(command);
        self.send_unsent();
    }

    /// Whether it runs a callback of the program's own.
    pub(crate) fn is_user(&self) -> bool {
        matches!(self.role, Role::User(_))
    }

    /// Whether it serves, so that one that it replaces may leave.
    pub(crate) fn serves(&self) -> bool {
        matches!(self.slot.state(), WorkerState::Serving | WorkerState::Recycling)
    }

    /// Tells it to leave because it failed: its death counts.
    pub(crate) fn expel(&mut self, patience: Duration) {
        if self.kill_at.is_none() {
            self.dismiss(Command::StopNow, patience);
            self.dismissed = false;
        }
    }

    /// Has it use something else from now on.
    pub(crate) fn renew(&mut self, parcel: &Rc<Parcel>) {
        self.parcel = Some(Rc::clone(parcel));
        self.send_unsent();
    }

    /// Sends what the channel did not take before; whether some of it is still unsent.
    pub(crate) fn send_unsent(&mut self) -> bool {
        if let (Some(parcel), Some(channel)) = (&self.parcel, &self.channel)
            && !channel.send_parcel(parcel)
        {
            return true;
        }
        self.parcel = None;
        if let (Some(command), Some(channel)) = (self.unsent, &self.channel)
            && !channel.send(Message::Command(command))
        {
            return true;
        }
        self.unsent = None;
        false
    }

    /// Whether an order waits for room in the channel.
    pub(crate) fn has_unsent(&self) -> bool {
        self.unsent.is_some() || self.parcel.is_some()
    }

    /// Tells it of a connection that went down with its predecessor; false when the channel does not take it now.
    fn report_orphan(&self, session: i64) -> bool {
        self.channel.as_ref().is_some_and(|channel| channel.send(Message::Orphan(session)))
    }

    /// What it said, one message at a time.
    pub(crate) fn hear(&mut self) -> Option<Message> {
        match self.channel.as_ref()?.receive() {
            Received::Message(message) => Some(message),
            Received::Nothing => None,
            Received::Closed => {
                self.channel = None;
                None
            }
        }
    }

    /// Whether a client may still come to it: a worker that was told to leave takes connections until it hears of it.
    pub(crate) fn may_accept(&self) -> bool {
        self.role == Role::Worker && !self.is_silent() && self.slot.state() != WorkerState::Draining
    }

    /// Whether it has closed its channel and is only unwinding.
    pub(crate) fn is_silent(&self) -> bool {
        self.channel.is_none()
    }

    pub(crate) fn poll_fd(&self) -> Option<BorrowedFd<'_>> {
        self.channel.as_ref().map(AsFd::as_fd)
    }
}

/// What the master keeps running under one id.
#[derive(Debug)]
pub(crate) struct Replica {
    pub(crate) id: u16,
    pub(crate) role: Role,
    /// The process that serves.
    pub(crate) current: Option<Process>,
    /// The one that starts, and serves once it is ready.
    pub(crate) next: Option<Process>,
    /// Whether `current` is to be replaced.
    pub(crate) replace: bool,
    /// Session ids of connections that went down with processes of this replica, and that none of them has been told of
    /// yet.
    pub(crate) orphans: Vec<i64>,
    back_off: BackOff,
    /// No start before this.
    not_before: Option<Instant>,
}

impl Replica {
    pub(crate) fn new(id: u16, role: Role, hasty: bool) -> Self {
        Self {
            id,
            role,
            current: None,
            next: None,
            replace: false,
            orphans: Vec::new(),
            back_off: BackOff::new(hasty),
            not_before: None,
        }
    }

    /// Whether a process should be started for it now, the back-off apart.
    pub(crate) fn wants_process(&self) -> bool {
        self.next.is_none() && (self.current.is_none() || self.replace)
    }

    /// Somebody (`asker`, a process id) asks for the replacement of the process that has this id: of the one that is
    /// starting if it asks itself, or if there is no other.
    pub(crate) fn ask_replacement(&mut self, asker: Pid) {
        match &mut self.next {
            Some(next) if next.pid == asker || self.current.is_none() => next.replace_soon = true,
            _ => self.replace = self.current.is_some(),
        }
    }

    /// When a process should be started: `None` for not at all.
    pub(crate) fn start_at(&self, now: Instant) -> Option<Instant> {
        self.wants_process().then(|| self.not_before.map_or(now, |at| at.max(now)))
    }

    /// Counts a death that nobody asked for; how long to wait before the next start, and how many early ones there were
    /// in a row.
    pub(crate) fn count_death(&mut self, served: bool, lived: Duration, now: Instant) -> (Duration, u32) {
        let (delay, failures) = self.back_off.death(served, lived);
        self.not_before = Some(now + delay);
        (delay, failures)
    }

    /// Counts the end of a user process that left by itself, without an error; how long to wait before the next start.
    pub(crate) fn count_exit(&mut self, lived: Duration, now: Instant) -> Duration {
        let delay = self.back_off.exit(lived);
        self.not_before = Some(now + delay);
        delay
    }

    /// Its process has ended as it should.
    pub(crate) fn end_asked_for(&mut self) {
        self.back_off.forget();
        self.not_before = None;
    }

    /// The fork itself failed: the machine is short of something.
    pub(crate) fn delay(&mut self, now: Instant) {
        self.not_before = Some(now + Duration::from_secs(1));
    }

    /// Puts the process that now serves in its place; the one that had it before.
    pub(crate) fn promote(&mut self) -> Option<Process> {
        let mut next = self.next.take_if(|next| next.serves())?;
        self.replace = next.replace_soon;
        if self.replace {
            // A program that asks for it at every start is not to keep the machine busy with starts.
            self.not_before = Some(Instant::now() + SOONEST);
        }
        next.orphans = Vec::new();
        self.current.replace(next)
    }

    /// Whether the process that serves is still to be told of connections.
    pub(crate) fn has_unreported(&self) -> bool {
        self.current.is_some() && self.next.is_none() && !self.orphans.is_empty()
    }

    /// Tells the process that serves of as many as its channel takes now. A process that is starting has them by fork,
    /// the next one will.
    pub(crate) fn report_orphans(&mut self) {
        if let Some(current) = self.current.as_ref().filter(|_| self.next.is_none()) {
            let told = self.orphans.iter().take_while(|session| current.report_orphan(**session)).count();
            self.orphans.drain(..told);
        }
    }

    pub(crate) fn processes(&self) -> impl Iterator<Item = &Process> {
        self.current.iter().chain(&self.next)
    }

    pub(crate) fn processes_mut(&mut self) -> impl Iterator<Item = &mut Process> {
        self.current.iter_mut().chain(&mut self.next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::back_off::{CLEAN_DELAY, FIRST_DELAY, LONGEST_DELAY, SERVED, SETTLED};

    #[test]
    fn early_deaths_wait_longer_each_time_and_a_long_life_forgets_them() {
        let (mut replica, now) = (Replica::new(0, Role::Worker, false), Instant::now());
        let delays: Vec<u128> = (0..9).map(|_| replica.count_death(false, Duration::ZERO, now).0.as_millis()).collect();
        assert_eq!(delays, [100, 200, 400, 800, 1600, 3200, 6400, 10_000, 10_000]);
        assert_eq!(replica.start_at(now), Some(now + LONGEST_DELAY));
        assert_eq!(replica.count_death(false, SETTLED, now), (Duration::ZERO, 0));
        assert_eq!(replica.count_death(false, SERVED, now), (FIRST_DELAY, 1));
        assert_eq!(replica.count_death(true, Duration::ZERO, now), (FIRST_DELAY * 2, 2));
        assert_eq!(replica.count_death(true, SERVED, now), (Duration::ZERO, 0));
        replica.count_death(false, Duration::ZERO, now);
        assert_eq!(replica.count_exit(Duration::ZERO, now), FIRST_DELAY * 2);
        for _ in 0..100 {
            assert!(replica.count_exit(Duration::ZERO, now) <= CLEAN_DELAY);
            assert!(replica.count_death(false, Duration::ZERO, now).0 <= LONGEST_DELAY);
        }
    }
}
