//! The system calls that have no safe wrapper: fork, signal handlers, a timer that kills.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::sync::OnceLock;
use std::sync::atomic::{
    AtomicI32, AtomicPtr, AtomicU32,
    Ordering::{AcqRel, Acquire, Release},
};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, SigmaskHow, Signal, sigaction};
use nix::unistd::{ForkResult, Pid};

use crate::channel;

/// Milliseconds since 1970.
pub(crate) fn now_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis() as u64
}

/// Milliseconds of the monotonic clock, which all processes share.
pub(crate) fn monotonic_ms() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec as u64 * 1000 + now.tv_nsec as u64 / 1_000_000
}

/// The child's process id in the parent, `None` in the child.
pub(crate) fn fork() -> io::Result<Option<Pid>> {
    // SAFETY: the master has one thread (stock PHP is built without threads, and this crate starts none), so the
    // child's memory holds no lock that a vanished thread owned, and it may go on as an ordinary process.
    match unsafe { nix::unistd::fork() }? {
        ForkResult::Parent { child } => Ok(Some(child)),
        ForkResult::Child => Ok(None),
    }
}

/// A descriptor whose number came from the environment, when it is open.
pub(crate) fn inherited(fd: RawFd) -> Option<BorrowedFd<'static>> {
    if fd < 0 {
        return None;
    }
    // SAFETY: the number is only asked about here; when nothing is open under it, fcntl says so and the borrow ends.
    let borrowed = unsafe { BorrowedFd::borrow_raw(fd) };
    nix::fcntl::fcntl(borrowed, nix::fcntl::FcntlArg::F_GETFD).ok()?;
    Some(borrowed)
}

/// Takes over a descriptor that the environment says is handed to this process.
pub(crate) fn adopt(fd: BorrowedFd<'static>) -> OwnedFd {
    // SAFETY: the descriptor is open, and by the meaning of the variable that named it nobody else in this process uses
    // it.
    unsafe { OwnedFd::from_raw_fd(fd.as_raw_fd()) }
}

/// Takes a variable out of the environment: programs started from here must not act on it.
pub(crate) fn forget_variable(name: &str) {
    // SAFETY: the process has one thread (see `fork`), so nobody reads the environment meanwhile.
    unsafe { std::env::remove_var(name) };
}

/// Sets `TCP_DEFER_ACCEPT`, in seconds; 0 for off.
pub(crate) fn set_defer_accept(fd: BorrowedFd<'_>, seconds: u32) -> io::Result<()> {
    let seconds = seconds as libc::c_int;
    // SAFETY: the option's value is one int, whose address and size are given.
    let done = unsafe {
        libc::setsockopt(
            fd.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_DEFER_ACCEPT,
            (&raw const seconds).cast(),
            size_of::<libc::c_int>() as libc::socklen_t,
        )
    };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// A bell: readable once it was rung, shared with every process forked later, never blocking.
pub(crate) fn eventfd() -> io::Result<OwnedFd> {
    // SAFETY: the call takes two numbers and touches no memory.
    let fd = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor was just made, and nobody else knows of it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Makes a bell readable. The one error there is, a counter at its end, leaves it readable as well.
pub(crate) fn ring(bell: BorrowedFd<'_>) {
    let _ = nix::unistd::write(bell, &1u64.to_ne_bytes());
}

/// Makes a bell unreadable until it is rung again.
pub(crate) fn silence(bell: BorrowedFd<'_>) {
    let _ = nix::unistd::read(bell, &mut [0; 8]);
}

/// Ends this process without unwinding or exit handlers: for a process whose memory is a copy of one that lives on.
pub(crate) fn leave(code: i32) -> ! {
    // SAFETY: _exit takes any code and touches no memory.
    unsafe { libc::_exit(code) }
}

/// Signals that came while a callback ran, a bit each.
static CAME: AtomicU32 = AtomicU32::new(0);

extern "C" fn note_signal(signal: libc::c_int) {
    CAME.fetch_or(1 << signal, AcqRel);
}

/// Runs a callback of the program with the signal mask it had before the master blocked its signals, so that processes
/// that the callback starts do not inherit a blocked TERM. What comes meanwhile is noted and given back.
pub(crate) fn with_open_signals(outer: &SigSet, callback: impl FnOnce()) -> io::Result<Vec<Signal>> {
    let note = SigAction::new(SigHandler::Handler(note_signal), SaFlags::SA_RESTART, SigSet::empty());
    let mut before = Vec::with_capacity(ORDERS.len());
    for signal in ORDERS {
        // SAFETY: the handler only sets a bit of an atomic.
        before.push((signal, unsafe { sigaction(signal, &note) }?));
    }
    let blocked = outer.thread_swap_mask(SigmaskHow::SIG_SETMASK)?;
    callback();
    blocked.thread_set_mask()?;
    for (signal, action) in before {
        // SAFETY: the action stood before, so its handler, if it has one, is as good as it was.
        unsafe { sigaction(signal, &action) }?;
    }
    let came = CAME.swap(0, AcqRel);
    Ok(ORDERS.into_iter().filter(|signal| came >> (*signal as i32) & 1 == 1).collect())
}

/// What a master is told by signals.
const ORDERS: [Signal; 6] =
    [Signal::SIGTERM, Signal::SIGINT, Signal::SIGQUIT, Signal::SIGHUP, Signal::SIGUSR1, Signal::SIGUSR2];

/// The signals that the master blocks and takes from its signalfd. SIGPIPE is among them so that a reader that is gone
/// means an error, not death.
pub(crate) fn master_signals() -> SigSet {
    ORDERS.into_iter().chain([Signal::SIGCHLD, Signal::SIGPIPE]).collect()
}

/// Gives SIGCHLD its default disposition: a parent that ignored it would have passed that on, and the kernel would then
/// reap our children itself.
pub(crate) fn default_sigchld() -> io::Result<()> {
    let action = SigAction::new(SigHandler::SigDfl, SaFlags::empty(), SigSet::empty());
    // SAFETY: the default disposition runs no code of ours.
    unsafe { sigaction(Signal::SIGCHLD, &action) }?;
    Ok(())
}

/// Signals that mean nothing to a server, and end a process that does not say what to do: timers and limits that ran
/// out, a tty's or a power supply's news, and the real-time signals (34 to 64; the C library keeps those below for
/// itself).
fn meaningless() -> impl Iterator<Item = libc::c_int> {
    let named =
        [libc::SIGALRM, libc::SIGVTALRM, libc::SIGPROF, libc::SIGIO, libc::SIGPWR, libc::SIGXCPU, libc::SIGXFSZ];
    named.into_iter().chain([libc::SIGSTKFLT]).chain(34..=64)
}

extern "C" fn do_nothing(_: libc::c_int) {}

fn plain_action(handler: libc::sighandler_t) -> libc::sigaction {
    // SAFETY: all-zero is a valid sigaction, a plain C struct.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    (action.sa_sigaction, action.sa_flags) = (handler, libc::SA_RESTART);
    action
}

/// What SIGPROF did before the master: PHP's time limit, which counts the time of one request.
static TIME_LIMIT: OnceLock<libc::sigaction> = OnceLock::new();

/// In the master: signals that mean nothing do nothing, but for those that the program handles. A handler, not
/// ignoring, so that programs that are started from here get the default back at exec.
pub(crate) fn endure_signals() {
    let quiet = plain_action(do_nothing as *const () as libc::sighandler_t);
    for signal in meaningless() {
        let mut before = plain_action(libc::SIG_DFL);
        // SAFETY: both are live values of the type; the handler does nothing.
        let known = unsafe { libc::sigaction(signal, std::ptr::null(), &raw mut before) } == 0;
        if known && (before.sa_sigaction == libc::SIG_DFL || signal == libc::SIGPROF) {
            // SAFETY: as above.
            unsafe { libc::sigaction(signal, &raw const quiet, std::ptr::null_mut()) };
            if signal == libc::SIGPROF {
                let _ = TIME_LIMIT.set(before);
            }
        }
    }
}

/// In a process just forked: its time limit counts again; `all`: so does every other signal.
fn stop_enduring(all: bool) {
    if let Some(before) = TIME_LIMIT.get() {
        // SAFETY: the action stood before, so its handler is as good as it was.
        unsafe { libc::sigaction(libc::SIGPROF, before, std::ptr::null_mut()) };
    }
    let default = plain_action(libc::SIG_DFL);
    for signal in meaningless().filter(|signal| all && *signal != libc::SIGPROF) {
        let mut now = default;
        // SAFETY: both are live values of the type; the default runs no code of ours.
        unsafe {
            libc::sigaction(signal, std::ptr::null(), &raw mut now);
            if now.sa_sigaction == do_nothing as *const () as libc::sighandler_t {
                libc::sigaction(signal, &raw const default, std::ptr::null_mut());
            }
        }
    }
}

/// Keeps signals from the calling thread, a helper: handlers are PHP's thread's. What a thread's own instructions cause
/// stays.
pub fn block_signals() {
    let mut all = SigSet::all();
    for fault in [Signal::SIGSEGV, Signal::SIGBUS, Signal::SIGFPE, Signal::SIGILL, Signal::SIGTRAP] {
        all.remove(fault);
    }
    // A mask of the right kind is always taken.
    let _ = all.thread_block();
}

/// The worker's end of its channel, for the signal handler; -1 outside a worker.
static CHANNEL: AtomicI32 = AtomicI32::new(-1);
/// The master's process id.
static MASTER: AtomicI32 = AtomicI32::new(0);
/// The timer that kills an orphan.
static TIMER: AtomicPtr<libc::c_void> = AtomicPtr::new(std::ptr::null_mut());
/// What the timer is set to, in milliseconds.
static ORPHAN_LIMIT: AtomicI32 = AtomicI32::new(0);

/// What a TERM or INT that a process itself is sent does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Orders {
    /// It is passed on to the master over this descriptor, and the master sees to it that a replacement serves first.
    ToMaster(RawFd),
    /// It ends the process, unless the program handles it.
    Kept,
}

/// Prepares the signals of a worker: TERM and INT as `orders` say; HUP, USR1 and USR2, meant for the master, do
/// nothing. Handlers, not masks or ignoring: programs that the worker starts get defaults back at exec. When the master
/// dies, a worker that has not left `limit` later is killed, even one whose event loop is blocked.
pub(crate) fn become_worker(orders: Orders, master: Pid, limit: Duration) -> io::Result<()> {
    let (channel, own): (RawFd, &[Signal]) = match orders {
        Orders::ToMaster(channel) => (channel, &[]),
        Orders::Kept => (-1, &[Signal::SIGTERM, Signal::SIGINT]),
    };
    stop_enduring(matches!(orders, Orders::Kept));
    CHANNEL.store(channel, Release);
    MASTER.store(master.as_raw(), Release);
    // The timer first: whoever sees the limit finds the timer.
    TIMER.store(kill_timer()?, Release);
    ORPHAN_LIMIT.store(i32::try_from(limit.as_millis()).unwrap_or(i32::MAX), Release);
    let handle = SigAction::new(SigHandler::Handler(on_signal), SaFlags::SA_RESTART, SigSet::empty());
    for signal in [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP, Signal::SIGUSR1, Signal::SIGUSR2] {
        // SAFETY: the handler makes only async-signal-safe calls (send, getppid, timer_settime) and reads atomics.
        unsafe { sigaction(signal, &handle) }?;
    }
    for signal in [Signal::SIGQUIT, Signal::SIGCHLD].iter().chain(own).copied() {
        let action = SigAction::new(SigHandler::SigDfl, SaFlags::empty(), SigSet::empty());
        // SAFETY: the default disposition runs no code of ours.
        unsafe { sigaction(signal, &action) }?;
    }
    nix::sys::prctl::set_pdeathsig(Signal::SIGTERM)?;
    if nix::unistd::getppid() != master {
        // The master died before the line above.
        arm_orphan_timer();
    }
    Ok(())
}

/// Ends the passing on of signals: the channel's descriptor is about to be closed.
pub(crate) fn forget_channel() {
    CHANNEL.store(-1, Release);
}

extern "C" fn on_signal(signal: libc::c_int) {
    // SAFETY: reads a thread-local integer; the handler gives it back as it was, as it must between a system call and
    // its caller's look at it.
    let errno = unsafe { *libc::__errno_location() };
    // SAFETY: getppid cannot fail and is async-signal-safe.
    if unsafe { libc::getppid() } != MASTER.load(Acquire) {
        arm_orphan_timer();
    }
    if signal == libc::SIGTERM || signal == libc::SIGINT {
        let (bytes, len) = channel::signalled(signal);
        // SAFETY: send is async-signal-safe and the buffer lives through it. A closed descriptor gives an error.
        unsafe {
            libc::send(CHANNEL.load(Acquire), bytes.as_ptr().cast(), len, libc::MSG_NOSIGNAL | libc::MSG_DONTWAIT)
        };
    }
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = errno };
}

/// A timer, not yet running, that kills this process.
fn kill_timer() -> io::Result<*mut libc::c_void> {
    let mut event = MaybeUninit::<libc::sigevent>::zeroed();
    // SAFETY: all-zero is a valid sigevent, a plain C struct.
    let event = unsafe { event.assume_init_mut() };
    event.sigev_notify = libc::SIGEV_SIGNAL;
    event.sigev_signo = libc::SIGKILL;
    let mut timer: libc::timer_t = std::ptr::null_mut();
    // SAFETY: both pointers are to live values of the types the call wants.
    if unsafe { libc::timer_create(libc::CLOCK_MONOTONIC, event, &raw mut timer) } != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(timer)
}

/// Starts the timer that kills this process when it has not left in time after its master died. A second call changes
/// nothing.
pub(crate) fn arm_orphan_timer() {
    let limit = ORPHAN_LIMIT.swap(0, AcqRel);
    if limit == 0 {
        return;
    }
    let zero = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    let at = libc::timespec {
        tv_sec: libc::time_t::from(limit / 1000),
        tv_nsec: libc::c_long::from(limit % 1000) * 1_000_000,
    };
    let setting = libc::itimerspec { it_interval: zero, it_value: at };
    // SAFETY: `become_worker` stored the timer before the limit that was just seen; timer_settime is async-signal-safe.
    unsafe { libc::timer_settime(TIMER.load(Acquire), 0, &raw const setting, std::ptr::null_mut()) };
}
