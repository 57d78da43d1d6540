//! Signals that coroutines wait for.
//!
//! A handler, not a blocked mask with a signalfd: masks are inherited by the programs that a process starts, and by its
//! threads. The handler sets a bit and writes to one eventfd, which stays open as long as the process, so that a
//! handler that runs late on another thread never writes to somebody else's descriptor. It stands only while a
//! coroutine waits: then the disposition that stood before (PHP's, a worker's) comes back.

use std::cell::RefCell;
use std::ffi::{c_int, c_void};
use std::rc::{Rc, Weak};
use std::sync::atomic::{
    AtomicBool, AtomicI32, AtomicUsize,
    Ordering::{AcqRel, Acquire, Release},
};

use apus_shm::ForkEpoch;
use apus_zend::arg::{Any, Given, Want};
use apus_zend::value::View;
use apus_zend::{Raise, engine};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use super::failure::{Noted, code, waited};
use super::notifier::{self, Notifier, bit};
use super::sys::{Disposition, KeptErrno};
use crate::descriptor::watch;
use crate::runtime::State;
use crate::wait::{Timeout, expect_suspendable};

/// One past the greatest number of a signal.
const SIGNALS: usize = 65;
/// Signals that say where the program broke: returning from their handler would break it again.
const FAULTS: [c_int; 5] = [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGTRAP];

/// What the handler needs, reachable without a lock.
struct Slot {
    taken: AtomicBool,
    /// The disposition that stood before ours.
    before: AtomicUsize,
    before_flags: AtomicI32,
}

impl Slot {
    fn before(&self) -> Disposition {
        // SAFETY: `install` has stored both before our handler stood.
        unsafe { Disposition::of_parts(self.before.load(Acquire), self.before_flags.load(Acquire)) }
    }
}

static SLOTS: [Slot; SIGNALS] = [const {
    Slot { taken: AtomicBool::new(false), before: AtomicUsize::new(libc::SIG_DFL), before_flags: AtomicI32::new(0) }
}; SIGNALS];
/// Signals that came and of which no coroutine has been told.
static NOTIFIER: Notifier = Notifier::new();

extern "C" fn on_signal(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    let _errno = KeptErrno::new();
    let slot = &SLOTS[signal as usize % SIGNALS];
    if NOTIFIER.is_own() {
        NOTIFIER.note(signal);
        NOTIFIER.notify();
        if signal == libc::SIGCHLD {
            slot.before().call(signal, info, context);
        }
    } else {
        in_forked_child(&slot.before(), signal, info, context);
    }
}

/// A process that was forked while its parent waited: nobody waits here, so the signal is to do what it did before.
fn in_forked_child(before: &Disposition, signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    let _ = before.set(signal);
    if before.address() == libc::SIG_DFL {
        // The signal is blocked until the handler returns.
        // SAFETY: async-signal-safe; takes an integer.
        unsafe { libc::raise(signal) };
    }
    before.call(signal, info, context);
}

/// The eventfd of this process.
fn event_fd() -> Result<notifier::Event, c_int> {
    if NOTIFIER.close_inherited() {
        // Our handler stands no more: every slot is free again.
        for slot in &SLOTS {
            slot.taken.store(false, Release);
        }
        NOTIFIER.clear(u64::MAX);
    }
    NOTIFIER.open()
}

/// The eventfd, watched by one runtime.
struct WatchedEvent {
    event: AsyncFd<notifier::Event>,
    process: ForkEpoch,
}

thread_local! {
    static WATCHED: RefCell<Weak<WatchedEvent>> = const { RefCell::new(Weak::new()) };
}

impl WatchedEvent {
    fn get() -> Result<Rc<Self>, c_int> {
        let fd = event_fd()?;
        let process = ForkEpoch::now();
        if let Some(watched) = WATCHED.with(|slot| slot.borrow().upgrade()).filter(|one| one.process.is_now()) {
            return Ok(watched);
        }
        let event = watch(fd, Interest::READABLE).map_err(|error| code(&error))?;
        let watched = Rc::new(Self { event, process });
        WATCHED.with(|slot| *slot.borrow_mut() = Rc::downgrade(&watched));
        Ok(watched)
    }
}

/// Signals that are caught as long as this lives.
pub(super) struct Watch {
    process: ForkEpoch,
    /// Each with the disposition that comes back.
    caught: Vec<(c_int, Disposition)>,
    mask: u64,
}

thread_local! {
    /// The one watch for children, shared by all who wait for any.
    static CHILDREN: RefCell<Weak<Watch>> = const { RefCell::new(Weak::new()) };
}

impl Watch {
    /// Catches signals; EBUSY when somebody waits for one of them already.
    fn new(signals: &[c_int]) -> Result<Self, c_int> {
        event_fd()?;
        let mut watch = Self { process: ForkEpoch::now(), caught: Vec::with_capacity(signals.len()), mask: 0 };
        for &signal in signals {
            watch.catch(signal)?;
        }
        Ok(watch)
    }

    /// Watches for children that end; handlers of PHP code for SIGCHLD are called, too. `None`: look now and then
    /// instead.
    pub(super) fn children() -> Option<Rc<Self>> {
        if let Some(watch) = CHILDREN.with(|slot| slot.borrow().upgrade()).filter(|watch| watch.process.is_now()) {
            return Some(watch);
        }
        let watch = Rc::new(Self::new(&[libc::SIGCHLD]).ok()?);
        CHILDREN.with(|slot| *slot.borrow_mut() = Rc::downgrade(&watch));
        Some(watch)
    }

    fn catch(&mut self, signal: c_int) -> Result<(), c_int> {
        if self.mask & bit(signal) != 0 {
            return Ok(());
        }
        let slot = &SLOTS[signal as usize];
        if slot.taken.swap(true, AcqRel) {
            return Err(libc::EBUSY);
        }
        match install(slot, signal) {
            Ok(before) => {
                self.caught.push((signal, before));
                self.mask |= bit(signal);
                Ok(())
            }
            Err(code) => {
                slot.taken.store(false, Release);
                Err(code)
            }
        }
    }

    /// The lowest of our signals that has come. Others that came with it are kept for the next who waits for them.
    fn take(&self) -> Option<c_int> {
        let came = NOTIFIER.came() & self.mask;
        let (signal, _) = self.caught.iter().filter(|(signal, _)| came & bit(*signal) != 0).min_by_key(|c| c.0)?;
        NOTIFIER.clear(bit(*signal));
        Some(*signal)
    }

    /// Waits for one of the signals.
    pub(super) async fn came(&self) -> Result<c_int, c_int> {
        let watched = WatchedEvent::get()?;
        loop {
            if let Some(signal) = self.take() {
                return Ok(signal);
            }
            // Every signal makes the eventfd readable anew, so it need not be emptied.
            watched.event.readable().await.map_err(|error| code(&error))?.clear_ready();
        }
    }
}

fn install(slot: &Slot, signal: c_int) -> Result<Disposition, c_int> {
    let before = Disposition::of(signal)?;
    slot.before.store(before.address(), Release);
    slot.before_flags.store(before.flags(), Release);
    // SAFETY: the handler makes only async-signal-safe calls and touches atomics.
    unsafe { Disposition::handler(on_signal, libc::SA_RESTART) }.set(signal)?;
    Ok(before)
}

impl Drop for Watch {
    fn drop(&mut self) {
        if !self.process.is_now() {
            return;
        }
        for (signal, before) in &self.caught {
            // What PHP code has set meanwhile stays.
            if Disposition::of(*signal).is_ok_and(|now| now.address() == on_signal as *const () as usize) {
                let _ = before.set(*signal);
            }
            SLOTS[*signal as usize].taken.store(false, Release);
        }
    }
}

/// An argument with a signal, or several.
pub(crate) struct Signals(Vec<c_int>);

impl Want<Any<'_>> for Signals {
    fn want(given: Given<Any<'_>>) -> Result<Self, Raise> {
        let argument = given.value;
        let View::Array(given) = argument.view() else { return Ok(Self(vec![valid(argument, argument.int()?)?])) };
        let mut signals = Vec::with_capacity(given.len());
        for (_, value) in given.iter() {
            match value.view() {
                View::Int(signal) => signals.push(valid(argument, signal)?),
                _ => return Err(argument.content_error("must hold numbers of signals (int) only")),
            }
        }
        if signals.is_empty() { Err(argument.value_error("cannot be empty")) } else { Ok(Self(signals)) }
    }
}

/// Why a signal cannot have a handler, if that is so; `what` is what cannot be done with it: "handled".
pub(crate) fn unfit(signal: c_int, what: &str) -> Option<String> {
    match signal {
        libc::SIGKILL | libc::SIGSTOP => Some("SIGKILL and SIGSTOP cannot be caught".to_owned()),
        _ if FAULTS.contains(&signal) => Some(format!("signals of the program's own faults cannot be {what}")),
        1..=31 => None,
        _ if (libc::SIGRTMIN()..=libc::SIGRTMAX()).contains(&signal) => None,
        _ => Some("that is no signal".to_owned()),
    }
}

fn valid(argument: Any<'_>, signal: i64) -> Result<c_int, Raise> {
    let number = c_int::try_from(signal).unwrap_or(0);
    let why = match number {
        libc::SIGCHLD => {
            Some("SIGCHLD cannot be waited for: use Apus\\Coroutine\\System::wait() or waitPid()".to_owned())
        }
        number => unfit(number, "waited for"),
    };
    why.map_or(Ok(number), |why| {
        Err(argument.value_error(&format!("must be signals that can be waited for, {signal} given: {why}")))
    })
}

const WAIT_SIGNAL: &str = "Coroutine\\System::waitSignal()";

/// `System::waitSignal()`.
pub(crate) fn wait_signal(Signals(signals): Signals, timeout: Timeout) -> Result<Noted<i64>, Raise> {
    let state = State::get()?;
    expect_suspendable(&state, WAIT_SIGNAL)?;
    // Caught from now on, before anybody else runs: the signal may come at once.
    let watch = Watch::new(&signals);
    let job = async move { Ok(i64::from(watch?.came().await?)) };
    let result = waited(&state, WAIT_SIGNAL, timeout.limit(), job)?;
    if result == Err(libc::EBUSY) {
        engine::warning(
            "Apus\\Coroutine\\System::waitSignal(): another coroutine waits for one of these signals already",
        )?;
    }
    Ok(Noted(result))
}
