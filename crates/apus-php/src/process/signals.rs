//! `Process::signal()`: handlers of signals for as long as the process lives.
//!
//! The C handler notes the signal, makes one eventfd readable and has the VM interrupted. While an event loop runs, handlers
//! run in coroutines: a task of the loop starts them when nothing else does. Without one they run between two opcodes, as
//! those of ext/pcntl, or in the functions of this room that block, which wait for the eventfd, too. A forked child begins
//! with no handlers.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::{c_int, c_void};
use std::os::fd::RawFd;
use std::rc::{Rc, Weak};
use std::sync::atomic::{
    AtomicI32, AtomicU64,
    Ordering::{AcqRel, Acquire, Release},
};

use apus_zend::{Callable, Raise, Value, process};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use super::sys::errno;
use crate::runtime::State;

/// One past the greatest number of a signal.
const SIGNALS: c_int = 65;
/// Signals that say where the program broke: returning from their handler would break it again.
const FAULTS: [c_int; 5] = [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGTRAP];

/// Bit n (mod 64): signal n came and its handler has not run.
static CAME: AtomicU64 = AtomicU64::new(0);
/// The eventfd, and the process that it belongs to.
static EVENT: AtomicI32 = AtomicI32::new(-1);
static OWNER: AtomicI32 = AtomicI32::new(0);

/// What a signal does.
#[derive(Clone)]
pub(super) enum Action {
    /// A callable, which gets the number.
    Php(Rc<Callable>),
    /// A part of this module.
    Native(Rc<dyn Fn()>),
}

struct Entry {
    action: Action,
    before: libc::sigaction,
}

thread_local! {
    static ENTRIES: RefCell<BTreeMap<c_int, Entry>> = const { RefCell::new(BTreeMap::new()) };
    /// Whose loop has the task that starts handlers.
    static SERVED: RefCell<Weak<State>> = const { RefCell::new(Weak::new()) };
}

/// At module start: the compiler of opcache builds the hook of that time into its code.
pub(crate) fn prepare() {
    process::on_signal(interrupted);
}

fn bit(signal: c_int) -> u64 {
    1 << (signal % 64)
}

extern "C" fn on_signal(signal: c_int, _: *mut libc::siginfo_t, _: *mut c_void) {
    // SAFETY: this thread's errno; the handler gives it back as it was.
    let before = unsafe { *libc::__errno_location() };
    CAME.fetch_or(bit(signal), AcqRel);
    // SAFETY: getpid is async-signal-safe.
    if unsafe { libc::getpid() } == OWNER.load(Acquire) {
        let one = 1u64;
        // SAFETY: write is async-signal-safe; the eventfd stays open as long as the process.
        unsafe { libc::write(EVENT.load(Acquire), (&raw const one).cast(), size_of::<u64>()) };
    }
    process::signal_due();
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = before };
}

unsafe extern "C" fn interrupted() -> bool {
    let Ok(result) = std::panic::catch_unwind(dispatch) else {
        eprintln!("apus: a handler of a signal failed; please report this");
        return false;
    };
    result == Err(Raise::Bailed)
}

/// The eventfd of this process, made when there is none.
fn event_fd() -> Result<RawFd, c_int> {
    let me = std::process::id() as c_int;
    if OWNER.load(Acquire) == me {
        return Ok(EVENT.load(Acquire));
    }
    // SAFETY: takes integers.
    let fd = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) };
    if fd < 0 {
        return Err(errno());
    }
    close_inherited();
    EVENT.store(fd, Release);
    OWNER.store(me, Release);
    Ok(fd)
}

/// A forked child has its own reference to the parent's eventfd, which nobody uses.
fn close_inherited() {
    let owner = OWNER.swap(0, AcqRel);
    if owner != 0 && owner != std::process::id() as c_int {
        // SAFETY: ours alone in this process, and forgotten by the line above.
        unsafe { libc::close(EVENT.swap(-1, AcqRel)) };
    }
}

/// What becomes readable when a signal with a handler comes; `None` when no handler is set.
pub(super) fn event() -> Option<RawFd> {
    ENTRIES.with(|entries| (!entries.borrow().is_empty()).then(event_fd)).and_then(Result::ok)
}

/// Makes the eventfd unreadable until the next signal. To be followed by [`dispatch`].
pub(super) fn silence() {
    if let Some(fd) = event() {
        let mut count = 0u64;
        // SAFETY: eight bytes of room, as the kernel asks for; the eventfd does not block.
        unsafe { libc::read(fd, (&raw mut count).cast(), size_of::<u64>()) };
    }
}

/// Whether a handler can be set for a signal, or why not.
pub(super) fn valid(signal: i64) -> Result<c_int, &'static str> {
    let number = c_int::try_from(signal).unwrap_or(0);
    match number {
        libc::SIGKILL | libc::SIGSTOP => Err("SIGKILL and SIGSTOP cannot be caught"),
        _ if FAULTS.contains(&number) => Err("signals of the program's own faults cannot be handled"),
        1..=31 => Ok(number),
        _ if number < SIGNALS && (libc::SIGRTMIN()..=libc::SIGRTMAX()).contains(&number) => Ok(number),
        _ => Err("that is no signal"),
    }
}

/// Whether a signal has a handler.
pub(super) fn has(signal: c_int) -> bool {
    ENTRIES.with(|entries| entries.borrow().contains_key(&signal))
}

/// Sets what a signal does, in the place of what it did.
pub(super) fn set(signal: c_int, action: Action) -> Result<(), c_int> {
    event_fd()?;
    let before = install(signal)?;
    // What it replaces is dropped after the borrow: a destructor may call back.
    let old = ENTRIES.with(|entries| {
        let mut entries = entries.borrow_mut();
        if let Some(entry) = entries.get_mut(&signal) {
            return Some(std::mem::replace(&mut entry.action, action));
        }
        entries.insert(signal, Entry { action, before });
        None
    });
    drop(old);
    Ok(())
}

/// Takes a handler away; the signal does what it did before. `false`: it had none.
pub(super) fn unset(signal: c_int) -> bool {
    let Some(entry) = ENTRIES.with(|entries| entries.borrow_mut().remove(&signal)) else { return false };
    // SAFETY: `before` stood before.
    unsafe { libc::sigaction(signal, &raw const entry.before, std::ptr::null_mut()) };
    CAME.fetch_and(!bit(signal), AcqRel);
    true
}

fn install(signal: c_int) -> Result<libc::sigaction, c_int> {
    // SAFETY: an all-zero sigaction is valid: no flags, an empty mask.
    let (mut before, mut ours): (libc::sigaction, libc::sigaction) = unsafe { std::mem::zeroed() };
    ours.sa_sigaction = on_signal as *const () as usize;
    // An alarm is set to break off what blocks; others are not to make reads of libraries fail.
    let restart = if signal == libc::SIGALRM { 0 } else { libc::SA_RESTART };
    ours.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | restart;
    // SAFETY: the handler makes only async-signal-safe calls and touches atomics; the out pointer is local.
    if unsafe { libc::sigaction(signal, &raw const ours, &raw mut before) } != 0 {
        return Err(errno());
    }
    Ok(before)
}

/// Runs the handlers of all signals that have come. An exception of one is pending then; the others come later.
pub(super) fn dispatch() -> Result<(), Raise> {
    loop {
        let came = CAME.load(Acquire);
        if came == 0 {
            return Ok(());
        }
        let next = ENTRIES.with(|entries| {
            let entries = entries.borrow();
            entries.iter().find(|(signal, _)| came & bit(**signal) != 0).map(|(s, e)| (*s, e.action.clone()))
        });
        let Some((signal, action)) = next else {
            CAME.fetch_and(!came, AcqRel);
            continue;
        };
        CAME.fetch_and(!bit(signal), AcqRel);
        let done = run(signal, &action);
        if done.is_err() {
            if CAME.load(Acquire) != 0 {
                process::signal_due();
            }
            return done;
        }
    }
}

fn run(signal: c_int, action: &Action) -> Result<(), Raise> {
    let callable = match action {
        Action::Native(action) => {
            action();
            return Ok(());
        }
        Action::Php(callable) => callable,
    };
    let args = vec![Value::int(i64::from(signal))];
    match State::existing().filter(|state| state.is_looping() || state.engine.current_id() != -1) {
        Some(state) => state.go(callable.share(), args, None).map(drop),
        None => callable.call(&args).map(drop),
    }
}

/// Has the event loop of this thread start handlers while nothing else runs.
pub(super) fn serve(state: &Rc<State>) -> Result<(), c_int> {
    let served = SERVED.with(|served| std::ptr::eq(served.borrow().as_ptr(), Rc::as_ptr(state)));
    if served {
        return Ok(());
    }
    let fd = event_fd()?;
    SERVED.with(|served| *served.borrow_mut() = Rc::downgrade(state));
    drop(state.spawn(async move {
        // SAFETY: the eventfd stays open as long as the process, and the loop has one such task.
        let Ok(event) = (unsafe { AsyncFd::register_with_interest(fd, Interest::READABLE) }) else { return };
        loop {
            // Every signal makes the eventfd readable anew, so it need not be emptied.
            let Ok(mut ready) = event.readable().await else { return };
            ready.clear_ready();
            drop(ready);
            if let (Err(raise), Some(state)) = (dispatch(), State::existing()) {
                state.report(raise);
            }
        }
    }));
    Ok(())
}

/// At the end of a request: signals do again what they did before.
pub(crate) fn end_request() {
    let signals: Vec<c_int> = ENTRIES.with(|entries| entries.borrow().keys().copied().collect());
    for signal in signals {
        unset(signal);
    }
}

/// In a forked child, which has none of its parent's handlers.
pub(super) fn forget() {
    let entries = ENTRIES.with(RefCell::take);
    for signal in entries.keys() {
        default(*signal);
    }
    // The callables' captured values are the parent's copies; nobody is to notice their end here.
    std::mem::forget(entries);
    SERVED.with(|served| drop(std::mem::take(&mut *served.borrow_mut())));
    close_inherited();
    CAME.store(0, Release);
}

/// After a process went on as its own child (daemon): its handlers stay, its eventfd is made anew.
pub(super) fn moved() {
    SERVED.with(|served| drop(std::mem::take(&mut *served.borrow_mut())));
    if event().is_none() {
        close_inherited();
    }
}

fn default(signal: c_int) {
    // SAFETY: an all-zero sigaction is the default action; no handler runs.
    unsafe {
        let action: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, &raw const action, std::ptr::null_mut());
    }
}

/// Gives every signal whose handler lies in this module its default action: in a forked child, where the parent's servers and
/// waits have no meaning.
pub(super) fn reset_module() {
    let Some(ours) = module_of(on_signal as *const () as usize) else { return };
    for signal in 1..SIGNALS {
        // SAFETY: an all-zero sigaction is valid, and is filled by the call.
        let mut now: libc::sigaction = unsafe { std::mem::zeroed() };
        // SAFETY: the out pointer is local; numbers without a signal fail.
        let known = unsafe { libc::sigaction(signal, std::ptr::null(), &raw mut now) } == 0;
        if known
            && ![libc::SIG_DFL, libc::SIG_IGN].contains(&now.sa_sigaction)
            && module_of(now.sa_sigaction) == Some(ours)
        {
            default(signal);
        }
    }
}

/// Where the shared object that holds an address begins.
fn module_of(address: usize) -> Option<usize> {
    // SAFETY: plain data that the call fills.
    let mut info: libc::Dl_info = unsafe { std::mem::zeroed() };
    // SAFETY: any address may be asked for.
    let found = unsafe { libc::dladdr(address as *const c_void, &raw mut info) } != 0;
    found.then_some(info.dli_fbase as usize)
}
