//! Signals that coroutines wait for.
//!
//! A handler, not a blocked mask with a signalfd: masks are inherited by the programs that a process starts, and by its
//! threads. The handler sets a bit and writes to one eventfd, which stays open as long as the process, so that a
//! handler that runs late on another thread never writes to somebody else's descriptor. It stands only while a
//! coroutine waits: then the disposition that stood before (PHP's, a worker's) comes back.

use std::cell::RefCell;
use std::ffi::{c_int, c_void};
use std::os::fd::RawFd;
use std::rc::{Rc, Weak};
use std::sync::atomic::{
    AtomicBool, AtomicI32, AtomicU64, AtomicUsize,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
};

use apus_zend::value::View;
use apus_zend::{Call, Raise, engine};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use super::failure::{errno, give, waited};
use crate::runtime::State;
use crate::wait::{expect_suspendable, time_limit};

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

static SLOTS: [Slot; SIGNALS] = [const {
    Slot { taken: AtomicBool::new(false), before: AtomicUsize::new(libc::SIG_DFL), before_flags: AtomicI32::new(0) }
}; SIGNALS];
/// Bit n: signal n came and no coroutine has been told.
static CAME: AtomicU64 = AtomicU64::new(0);
/// The eventfd, and the process that it belongs to: a forked child makes its own.
static EVENT: AtomicI32 = AtomicI32::new(-1);
static OWNER: AtomicI32 = AtomicI32::new(0);

type Handler = extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void);

extern "C" fn on_signal(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: this thread's errno; the handler gives it back as it was.
    let before = unsafe { *libc::__errno_location() };
    let slot = &SLOTS[signal as usize % SIGNALS];
    // SAFETY: getpid is async-signal-safe.
    if unsafe { libc::getpid() } == OWNER.load(Acquire) {
        CAME.fetch_or(1 << (signal % 64), AcqRel);
        let one = 1u64;
        // SAFETY: write is async-signal-safe; the eventfd stays open as long as the process.
        unsafe { libc::write(EVENT.load(Acquire), (&raw const one).cast(), size_of::<u64>()) };
        if signal == libc::SIGCHLD {
            pass_on(slot, signal, info, context);
        }
    } else {
        in_forked_child(slot, signal, info, context);
    }
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = before };
}

/// Calls the handler that stood before, if there was one.
fn pass_on(slot: &Slot, signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    let before = slot.before.load(Acquire);
    if before == libc::SIG_DFL || before == libc::SIG_IGN {
        return;
    }
    if slot.before_flags.load(Acquire) & libc::SA_SIGINFO != 0 {
        // SAFETY: the disposition that stood before said that this is a handler with three arguments.
        let handler = unsafe { std::mem::transmute::<usize, Handler>(before) };
        handler(signal, info, context);
    } else {
        // SAFETY: as above, with one argument.
        let handler = unsafe { std::mem::transmute::<usize, extern "C" fn(c_int)>(before) };
        handler(signal);
    }
}

/// A process that was forked while its parent waited: nobody waits here, so the signal is to do what it did before.
fn in_forked_child(slot: &Slot, signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: an all-zero sigaction is valid: no flags, an empty mask.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = slot.before.load(Acquire);
    action.sa_flags = slot.before_flags.load(Acquire);
    // SAFETY: sigaction and raise are async-signal-safe. The signal is blocked until the handler returns.
    unsafe {
        libc::sigaction(signal, &raw const action, std::ptr::null_mut());
        if action.sa_sigaction == libc::SIG_DFL {
            libc::raise(signal);
        }
    }
    pass_on(slot, signal, info, context);
}

/// The eventfd of this process.
fn event_fd() -> Result<RawFd, c_int> {
    // SAFETY: has no preconditions.
    let me = unsafe { libc::getpid() };
    if OWNER.load(Acquire) == me {
        return Ok(EVENT.load(Acquire));
    }
    // SAFETY: takes integers.
    let fd = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) };
    if fd < 0 {
        return Err(errno());
    }
    if OWNER.load(Acquire) != 0 {
        // The parent's, under which our handler stands no more: every slot is free again.
        // SAFETY: this process has its own reference, which nobody uses.
        unsafe { libc::close(EVENT.load(Acquire)) };
        for slot in &SLOTS {
            slot.taken.store(false, Release);
        }
        CAME.store(0, Release);
    }
    EVENT.store(fd, Release);
    OWNER.store(me, Release);
    Ok(fd)
}

/// The eventfd, watched by one runtime.
struct Routing {
    event: AsyncFd<RawFd>,
    process: c_int,
}

thread_local! {
    static ROUTING: RefCell<Weak<Routing>> = const { RefCell::new(Weak::new()) };
}

impl Routing {
    fn get() -> Result<Rc<Self>, c_int> {
        let fd = event_fd()?;
        let process = OWNER.load(Relaxed);
        if let Some(routing) =
            ROUTING.with(|routing| routing.borrow().upgrade()).filter(|routing| routing.process == process)
        {
            return Ok(routing);
        }
        // SAFETY: the eventfd stays open as long as the process, and every process has one routing at a time.
        let event = unsafe { AsyncFd::register_with_interest(fd, Interest::READABLE) };
        let event = event.map_err(|error| super::failure::code(&error.into()))?;
        let routing = Rc::new(Self { event, process });
        ROUTING.with(|slot| *slot.borrow_mut() = Rc::downgrade(&routing));
        Ok(routing)
    }
}

/// Signals that are caught as long as this lives.
pub(super) struct Watch {
    process: c_int,
    /// Each with the disposition that comes back.
    caught: Vec<(c_int, libc::sigaction)>,
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
        let mut watch = Self { process: OWNER.load(Relaxed), caught: Vec::with_capacity(signals.len()), mask: 0 };
        for &signal in signals {
            watch.catch(signal)?;
        }
        Ok(watch)
    }

    /// Watches for children that end; handlers of PHP code for SIGCHLD are called, too. `None`: look now and then
    /// instead.
    pub(super) fn children() -> Option<Rc<Self>> {
        let process = std::process::id() as c_int;
        if let Some(watch) = CHILDREN.with(|slot| slot.borrow().upgrade()).filter(|watch| watch.process == process) {
            return Some(watch);
        }
        let watch = Rc::new(Self::new(&[libc::SIGCHLD]).ok()?);
        CHILDREN.with(|slot| *slot.borrow_mut() = Rc::downgrade(&watch));
        Some(watch)
    }

    fn catch(&mut self, signal: c_int) -> Result<(), c_int> {
        let bit = 1 << (signal % 64);
        if self.mask & bit != 0 {
            return Ok(());
        }
        let slot = &SLOTS[signal as usize];
        if slot.taken.swap(true, AcqRel) {
            return Err(libc::EBUSY);
        }
        match install(slot, signal) {
            Ok(before) => {
                self.caught.push((signal, before));
                self.mask |= bit;
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
        let came = CAME.load(Acquire) & self.mask;
        let (signal, _) =
            self.caught.iter().filter(|(signal, _)| came >> (signal % 64) & 1 == 1).min_by_key(|c| c.0)?;
        CAME.fetch_and(!(1 << (signal % 64)), AcqRel);
        Some(*signal)
    }

    /// Waits for one of the signals.
    pub(super) async fn came(&self) -> Result<c_int, c_int> {
        let routing = Routing::get()?;
        loop {
            if let Some(signal) = self.take() {
                return Ok(signal);
            }
            // Every signal makes the eventfd readable anew, so it need not be emptied.
            routing.event.readable().await.map_err(|error| super::failure::code(&error))?.clear_ready();
        }
    }
}

fn install(slot: &Slot, signal: c_int) -> Result<libc::sigaction, c_int> {
    // SAFETY: an all-zero sigaction is valid: no flags, an empty mask.
    let (mut before, mut ours): (libc::sigaction, libc::sigaction) = unsafe { std::mem::zeroed() };
    // SAFETY: the out pointer is local.
    if unsafe { libc::sigaction(signal, std::ptr::null(), &raw mut before) } != 0 {
        return Err(errno());
    }
    slot.before.store(before.sa_sigaction, Release);
    slot.before_flags.store(before.sa_flags, Release);
    ours.sa_sigaction = on_signal as *const () as usize;
    ours.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART | libc::SA_ONSTACK;
    // SAFETY: the handler makes only async-signal-safe calls and touches atomics.
    if unsafe { libc::sigaction(signal, &raw const ours, std::ptr::null_mut()) } != 0 {
        return Err(errno());
    }
    Ok(before)
}

impl Drop for Watch {
    fn drop(&mut self) {
        if self.process != std::process::id() as c_int {
            return;
        }
        for (signal, before) in &self.caught {
            // SAFETY: an all-zero sigaction is valid, and filled by the call.
            let mut now: libc::sigaction = unsafe { std::mem::zeroed() };
            // SAFETY: the pointers are to live values; `before` stood before. What PHP code has set meanwhile stays.
            unsafe {
                libc::sigaction(*signal, std::ptr::null(), &raw mut now);
                if now.sa_sigaction == on_signal as *const () as usize {
                    libc::sigaction(*signal, before, std::ptr::null_mut());
                }
            }
            SLOTS[*signal as usize].taken.store(false, Release);
        }
    }
}

/// The signals of an argument: a number or numbers.
fn signals_of(call: &Call) -> Result<Vec<c_int>, Raise> {
    let View::Array(given) = call.view(0) else { return Ok(vec![valid(call, call.int(0, 0)?)?]) };
    let mut signals = Vec::with_capacity(given.len());
    for (_, value) in given.iter() {
        match value.view() {
            View::Int(signal) => signals.push(valid(call, signal)?),
            _ => return Err(call.content_error(0, "must hold numbers of signals (int) only")),
        }
    }
    if signals.is_empty() {
        return Err(call.value_error(0, "cannot be empty"));
    }
    Ok(signals)
}

fn valid(call: &Call, signal: i64) -> Result<c_int, Raise> {
    let number = c_int::try_from(signal).unwrap_or(0);
    let why = match number {
        libc::SIGCHLD => "SIGCHLD cannot be waited for: use Apus\\Coroutine\\System::wait() or waitPid()",
        libc::SIGKILL | libc::SIGSTOP => "SIGKILL and SIGSTOP cannot be caught",
        _ if FAULTS.contains(&number) => "signals of the program's own faults cannot be waited for",
        1..=31 => return Ok(number),
        _ if (libc::SIGRTMIN()..=libc::SIGRTMAX()).contains(&number) => return Ok(number),
        _ => "that is no signal",
    };
    Err(call.value_error(0, &format!("must be signals that can be waited for, {signal} given: {why}")))
}

const WAIT_SIGNAL: &str = "Coroutine\\System::waitSignal()";

/// `System::waitSignal()`.
pub(super) fn wait_signal(call: &Call) -> Result<(), Raise> {
    let signals = signals_of(call)?;
    let limit = time_limit(call, 1, -1.0)?;
    let state = State::get()?;
    expect_suspendable(&state, WAIT_SIGNAL)?;
    // Caught from now on, before anybody else runs: the signal may come at once.
    let watch = Watch::new(&signals);
    let job = async move { Ok(i64::from(watch?.came().await?)) };
    let result = waited(&state, WAIT_SIGNAL, limit, job)?;
    if result == Err(libc::EBUSY) {
        engine::warning(
            "Apus\\Coroutine\\System::waitSignal(): another coroutine waits for one of these signals already",
        )?;
    }
    give(call, result)
}
