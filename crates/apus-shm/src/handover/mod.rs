//! Requests handed from front processes to processes that run scripts, and their answers back.
//!
//! A [`Handover`] has a number of channels, one for each process that runs scripts, and a seat for each front. A
//! channel is two rings of bytes (the request to the process, the answer to the front), a word of state and what either
//! side sleeps on.
//!
//! # Why nothing is lost or mixed up, whoever is killed at whatever instruction
//!
//! 1. **One word decides.** [`State`] says what a channel is, which process has it and which front has that process. It
//!    changes by compare-and-swap alone: before one nothing has happened, after it everything has.
//! 2. **Who may write where.** A process that runs scripts has its channel from its first word to its death: until the
//!    master has reaped it, nobody else writes what is the process's. A front has a channel while the state names it:
//!    it alone begins requests there and reads answers. When a process dies that a front has, the channel becomes
//!    [`Kind::Dead`] and stays the front's, which may still be in the middle of a write, until it has seen that. When a
//!    front dies, the channel becomes [`Kind::Abandoned`]: the process ends what it runs and then makes it idle itself.
//!    So the next request never meets a writer of the one before.
//! 3. **A request begins with one store.** The front empties both rings, which are nobody else's then, writes the
//!    request and stores its number; killed before, it has begun nothing. The process looks at nothing else while it
//!    has no request.
//! 4. **Rings** publish by their tail (Release), free by their head; what is not published is not there.
//! 5. **Sleeping.** Whoever is about to sleep says so, fences, and looks once more; whoever publishes does so, fences,
//!    and looks for sleepers. Of two such pairs one sees the other. Nobody makes a system call for a side that is
//!    awake. A front may wake several processes at once, later ([`Wakes`]): if it is killed before, whoever gives its
//!    channels up wakes their processes whatever they say.
//! 6. **Waiting for a process.** A front with requests that wait says since when, fences, and looks for an idle process
//!    once more; whoever has a process to give makes it idle, fences, and looks for waiting fronts once more. The front
//!    that has waited longest gets it.

mod front;
mod process;
mod ring;
mod state;
#[cfg(test)]
mod tests;
mod wakes;
mod watch;

use std::io;
use std::os::fd::BorrowedFd;
use std::sync::atomic::{
    AtomicI32, AtomicU8, AtomicU32, AtomicU64,
    Ordering::{Acquire, Relaxed, Release, SeqCst},
    fence,
};

pub use front::{Front, Held, Pieces};
pub use process::{Begin, ScriptSeat, Wait};
use ring::Positions;
pub use state::Kind;
use state::State;
use wakes::WakeWord;
pub use wakes::Wakes;
pub use watch::{FRONT_FIRST, Watch};

use crate::clock;
use crate::notifier::Notifier;
use crate::region::{Region, Shared, map};

/// Bytes of each ring: a power of two. A whole request head has to fit.
pub const RING: usize = 256 * 1024;
/// The most channels and fronts: numbers of both, and of the slots of processes, are 16 bits in a word of state.
const MOST: usize = u16::MAX as usize - 1;
/// Bytes kept of a script's path, for those who look.
const SHOWN: usize = 256;

/// What a channel is known by.
#[repr(C, align(128))]
#[derive(Debug)]
struct Channel {
    state: AtomicU64,
    /// The process is told to leave when it has nothing to do.
    leave: AtomicU32,
    /// The process's id, for a front that ends one that is stuck.
    pid: AtomicU32,
    /// 1 while the process sleeps and nobody has undertaken to wake it.
    asleep: AtomicU32,
    /// The processor on which the process ran when it last went to sleep.
    cpu: AtomicI32,
    /// 1 while the process waits for room in its answer's ring.
    wants_room: AtomicU32,
    /// The number of the last request.
    request: AtomicU32,
    /// 1 when nobody waits for the answer any more.
    gone: AtomicU32,
    /// When the running request began, in milliseconds of the monotonic clock; 0 when none runs.
    began: AtomicU64,
    to_process: Positions,
    to_front: Positions,
    /// How many bytes of `shown` count.
    shown_len: AtomicU32,
    shown: [AtomicU8; SHOWN],
}

// SAFETY: atomics alone; zero is a channel that nobody has.
unsafe impl Shared for Channel {}

impl Channel {
    /// What its process runs.
    fn running(&self, state: State, now: u64) -> Running {
        let shown = (self.shown_len.load(Acquire) as usize).min(SHOWN);
        Running {
            process: usize::from(state.process),
            pid: self.pid.load(Acquire),
            script: self.shown[..shown].iter().map(|byte| byte.load(Relaxed)).collect(),
            millis: now.saturating_sub(self.began.load(Acquire)),
        }
    }
}

/// A front's seat.
#[repr(C, align(128))]
#[derive(Debug)]
struct FrontSeat {
    /// The slot of its process, plus 1; 0 while nobody has it.
    owner: AtomicU32,
    /// 1 when the front wants to be notified.
    interest: AtomicU32,
    /// Since when its oldest request waits for a process, in milliseconds of the monotonic clock; 0 when none does.
    waits_since: AtomicU64,
}

// SAFETY: atomics alone; zero is a seat that nobody has.
unsafe impl Shared for FrontSeat {}

/// All channels and seats. Made before the first fork.
#[derive(Debug)]
pub struct Handover {
    channels: &'static [Channel],
    /// What processes sleep on.
    wake_words: &'static [WakeWord],
    seats: &'static [FrontSeat],
    notifiers: Vec<Notifier>,
    rings: Region,
}

/// What a process that runs scripts does, for those who look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Running {
    /// The slot of the process.
    pub process: usize,
    /// Its id.
    pub pid: u32,
    /// The script.
    pub script: Vec<u8>,
    /// For how many milliseconds it has been running.
    pub millis: u64,
}

/// How the channels are used now.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Processes that wait for a request.
    pub idle: usize,
    /// Processes that have one.
    pub busy: usize,
    /// Fronts that have requests for which there is no process, and since when the oldest waits, in milliseconds.
    pub waiting_fronts: usize,
    /// For how long the request that has waited longest has.
    pub longest_wait: u64,
}

/// Milliseconds of the monotonic clock, which all processes share.
pub(crate) fn now_ms() -> u64 {
    clock::now() / 1_000_000
}

impl Handover {
    /// Maps so many channels, and seats for so many fronts.
    ///
    /// # Errors
    /// When the system gives no memory or no descriptors.
    pub fn new(channels: usize, fronts: usize) -> io::Result<&'static Self> {
        if channels > MOST || fronts > MOST {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let notifiers = (0..fronts).map(|_| Notifier::new()).collect::<io::Result<_>>()?;
        let rings = Region::new(channels.checked_mul(2 * RING).ok_or(io::ErrorKind::OutOfMemory)?)?;
        Ok(Box::leak(Box::new(Self {
            channels: map(channels)?,
            wake_words: map(WakeWord::count(channels))?,
            seats: map(fronts)?,
            notifiers,
            rings,
        })))
    }

    /// The process of a slot is gone and reaped, and nobody has the slot yet. In the master.
    pub fn reaped(&self, slot: usize) {
        for number in 0..self.seats.len() {
            if self.seats[number].owner.load(Acquire) as usize == slot + 1 {
                self.free_seat(number);
            }
        }
        for channel in self.channels {
            self.bury(channel, slot);
        }
    }

    /// A process that runs scripts is to leave as soon as it has nothing to do.
    pub fn dismiss(&self, slot: usize) {
        for (number, channel) in self.channels.iter().enumerate() {
            let state = State::of(channel);
            if state.has_process() && usize::from(state.process) == slot {
                channel.leave.store(1, SeqCst);
                self.rouse(number);
            }
        }
    }

    /// The process of the channel has died, if it is the one of this slot.
    fn bury(&self, channel: &Channel, slot: usize) {
        loop {
            let state = State::of(channel);
            if !state.has_process() || usize::from(state.process) != slot {
                return;
            }
            let kind = if state.kind == Kind::Taken { Kind::Dead } else { Kind::Absent };
            if state.replace(channel, State { kind, ..state }) {
                channel.began.store(0, Relaxed);
                if kind == Kind::Dead {
                    self.notify(usize::from(state.front));
                }
                return;
            }
        }
    }

    /// The front of a seat is gone.
    fn free_seat(&self, number: usize) {
        let seat = &self.seats[number];
        seat.waits_since.store(0, SeqCst);
        seat.interest.store(0, SeqCst);
        seat.owner.store(0, SeqCst);
        for channel in 0..self.channels.len() {
            self.abandon(channel, number);
        }
    }

    /// The front of a seat gives its channel up.
    fn abandon(&self, channel_number: usize, number: usize) {
        let channel = &self.channels[channel_number];
        loop {
            let state = State::of(channel);
            let kind = match state.kind {
                Kind::Taken => Kind::Abandoned,
                Kind::Dead => Kind::Absent,
                _ => return,
            };
            if usize::from(state.front) != number {
                return;
            }
            if state.replace(channel, State { kind, ..state }) {
                channel.gone.store(1, SeqCst);
                // The front may have been killed between undertaking to wake it and doing so.
                self.rouse(channel_number);
                return;
            }
        }
    }

    /// The channel's process has nothing to do, and is for whoever has waited longest; else it is idle. The front that
    /// has got it is told, unless it is `asker` itself; whether it is.
    fn offer(&self, number: usize, mut state: State, asker: Option<usize>) -> bool {
        let channel = &self.channels[number];
        loop {
            let waiting = if channel.leave.load(SeqCst) == 0 { self.longest_waiting() } else { None };
            let next = match waiting {
                Some(front) => State { kind: Kind::Taken, front: front as u16, ..state },
                None => State { kind: Kind::Idle, front: 0, ..state },
            };
            if state.kind != next.kind || state.front != next.front {
                if !state.replace(channel, next) {
                    return false;
                }
                state = next;
            }
            let Some(front) = waiting else {
                fence(SeqCst);
                if channel.leave.load(SeqCst) != 0 {
                    self.rouse(number);
                    return false;
                }
                if self.longest_waiting().is_none() {
                    return false;
                }
                continue;
            };
            if asker == Some(front) {
                return true;
            }
            // A front that died meanwhile is not to keep it.
            if self.seats[front].owner.load(SeqCst) != 0 {
                self.notify(front);
                return false;
            }
        }
    }

    fn longest_waiting(&self) -> Option<usize> {
        let since = |seat: &FrontSeat| seat.waits_since.load(SeqCst);
        let waiting = self.seats.iter().enumerate().filter(|(_, seat)| since(seat) != 0);
        waiting.min_by_key(|(_, seat)| since(seat)).map(|(number, _)| number)
    }

    /// Wakes a front that sleeps.
    fn notify(&self, number: usize) {
        fence(SeqCst);
        if self.seats[number].interest.load(Relaxed) != 0 && self.seats[number].interest.swap(0, SeqCst) != 0 {
            self.notifiers[number].notify_now();
        }
    }

    fn ring(&self, channel: usize, to_front: bool) -> *mut u8 {
        self.rings.bytes((2 * channel + usize::from(to_front)) * RING, RING).as_ptr()
    }

    /// What is to be watched by the front that has this seat: edge-triggered, and never read.
    fn notifier(&self, number: usize) -> BorrowedFd<'_> {
        self.notifiers[number].fd()
    }

    /// What each process that has a request runs.
    pub fn running(&self) -> Vec<Running> {
        let now = now_ms();
        let busy = self.channels.iter().filter_map(|channel| {
            let state = State::of(channel);
            let runs = matches!(state.kind, Kind::Taken | Kind::Abandoned) && channel.began.load(Acquire) != 0;
            runs.then(|| channel.running(state, now))
        });
        busy.collect()
    }

    /// How the channels are used now.
    pub fn usage(&self) -> Usage {
        let mut usage = Usage::default();
        for channel in self.channels {
            match State::of(channel).kind {
                Kind::Idle => usage.idle += 1,
                Kind::Taken | Kind::Abandoned => usage.busy += 1,
                _ => {}
            }
        }
        let now = now_ms();
        for since in self.seats.iter().map(|seat| seat.waits_since.load(SeqCst)).filter(|since| *since != 0) {
            usage.waiting_fronts += 1;
            usage.longest_wait = usage.longest_wait.max(now.saturating_sub(since));
        }
        usage
    }
}

/// Tells what is shown of a running script.
fn show(channel: &Channel, script: &[u8]) {
    let kept = &script[..script.len().min(SHOWN)];
    for (place, byte) in channel.shown.iter().zip(kept) {
        place.store(*byte, Relaxed);
    }
    channel.shown_len.store(kept.len() as u32, Release);
}
