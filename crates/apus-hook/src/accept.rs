//! accept(2) on a socket that blocks, on which other processes may accept, too.
//!
//! That poll(2) announces a connection does not mean that it is still there when we come for it. accept(2) knows no
//! `MSG_DONTWAIT`, and `O_NONBLOCK` belongs to the description, which all processes share that have inherited the
//! socket: whoever sets it, even for a moment, lets their calls fail. So the call is made as it is, and where it finds
//! nothing a timer interrupts it.

use std::cell::Cell;
use std::ffi::c_int;
use std::os::fd::RawFd;
use std::ptr;

use apus_process::ForkEpoch;
use apus_zend::hook;
use libc::{sockaddr, socklen_t};
use tokio::time::Instant;

use super::args::zeroed;
use super::gate::{Gate, errno, fail, gate, set_errno};
use super::sys::{gettid, is_ready};
use super::timeout::{ANY_SOCKET, blocks, hooked, receive_deadline};

/// How long a call that finds nothing stands still, and the loop with it, in nanoseconds. One that finds a connection
/// takes a tenth.
const PATIENCE: libc::c_long = 100_000;

/// The timer that interrupts this thread.
#[derive(Clone, Copy)]
struct Timer {
    /// Timers do not come along into a child process.
    process: ForkEpoch,
    id: libc::timer_t,
    signal: c_int,
}

thread_local! {
    static TIMER: Cell<Option<Timer>> = const { Cell::new(None) };
    /// The last call of poll(2) for one descriptor that ended before its time-out: which PHP call made it, for which
    /// descriptor, and until when it would have waited.
    static ANNOUNCED: Cell<Option<(usize, RawFd, Instant)>> = const { Cell::new(None) };
}

extern "C" fn interrupted(_: c_int) {}

fn handler() -> libc::sighandler_t {
    interrupted as *const () as libc::sighandler_t
}

fn handler_of(signal: c_int) -> Option<libc::sighandler_t> {
    let mut action: libc::sigaction = zeroed();
    // SAFETY: only asks; the record is local.
    (unsafe { libc::sigaction(signal, ptr::null(), &raw mut action) } == 0).then_some(action.sa_sigaction)
}

/// A signal that nobody uses, handled without `SA_RESTART`.
fn take_signal() -> Option<c_int> {
    let signal = (libc::SIGRTMIN()..=libc::SIGRTMAX())
        .rev()
        .find(|&signal| handler_of(signal).is_some_and(|now| now == libc::SIG_DFL || now == handler()))?;
    // No flags, an empty mask.
    let action = libc::sigaction { sa_sigaction: handler(), ..zeroed() };
    let mut set: libc::sigset_t = zeroed();
    // SAFETY: local records; the handler does nothing.
    let done = unsafe {
        libc::sigemptyset(&raw mut set);
        libc::sigaddset(&raw mut set, signal);
        libc::sigaction(signal, &raw const action, ptr::null_mut()) == 0
            && libc::pthread_sigmask(libc::SIG_UNBLOCK, &raw const set, ptr::null_mut()) == 0
    };
    done.then_some(signal)
}

impl Timer {
    fn new() -> Option<Self> {
        let signal = take_signal()?;
        let mut event: libc::sigevent = zeroed();
        event.sigev_notify = libc::SIGEV_THREAD_ID;
        event.sigev_signo = signal;
        event.sigev_notify_thread_id = gettid();
        let mut id: libc::timer_t = ptr::null_mut();
        // SAFETY: local records.
        let made = unsafe { libc::timer_create(libc::CLOCK_MONOTONIC, &raw mut event, &raw mut id) } == 0;
        made.then(|| Self { process: ForkEpoch::now(), id, signal })
    }

    /// This thread's; `None`: the system gives none.
    fn get() -> Option<Self> {
        let known = TIMER.get().filter(|timer| timer.process.is_now());
        if let Some(timer) = known {
            if handler_of(timer.signal) == Some(handler()) {
                return known;
            }
            // The program has found a use for the signal.
            // SAFETY: our timer, of this process.
            unsafe { libc::timer_delete(timer.id) };
        }
        TIMER.set(Self::new());
        TIMER.get()
    }

    /// Fires after so many nanoseconds, and again until it is set to 0.
    fn set(self, every: libc::c_long) {
        let time = libc::timespec { tv_sec: 0, tv_nsec: every };
        let spec = libc::itimerspec { it_interval: time, it_value: time };
        // SAFETY: our timer; the record is local.
        unsafe { libc::timer_settime(self.id, 0, &raw const spec, ptr::null_mut()) };
    }
}

/// Makes one call, which fails with EAGAIN when there is no connection. Without a timer it stands still until the next
/// one comes, as libc's does.
fn attempt(call: impl FnOnce() -> c_int) -> c_int {
    let timer = Timer::get();
    if let Some(timer) = timer {
        timer.set(PATIENCE);
    }
    let result = call();
    let error = errno();
    if let Some(timer) = timer {
        timer.set(0);
    }
    set_errno(if result < 0 && error == libc::EINTR { libc::EAGAIN } else { error });
    result
}

/// poll(2) has said that `fd` is ready, before its time-out. PHP's `stream_socket_accept()` keeps its time-out by that
/// call alone: the `accept()` that follows in the same PHP call ends by then, too, when another process has taken the
/// connection.
pub(super) fn announced(fd: RawFd, until: Instant) {
    ANNOUNCED.set(Some((hook::running_call(), fd, until)));
}

fn announced_until(fd: RawFd) -> Option<Instant> {
    let (call, of, until) = ANNOUNCED.take()?;
    (of == fd && call == hook::running_call()).then_some(until)
}

fn accept_with(gate: &Gate, fd: RawFd, call: impl Fn() -> c_int) -> c_int {
    let (own, announced) = (receive_deadline(fd), announced_until(fd));
    let deadline = own.into_iter().chain(announced).min();
    loop {
        let accepted = if is_ready(fd, libc::POLLIN) { attempt(&call) } else { fail(libc::EAGAIN) };
        if accepted >= 0 {
            return gate.success(accepted);
        }
        if errno() != libc::EAGAIN {
            return accepted;
        }
        match gate.ready(&[(fd, libc::EPOLLIN as u32)], deadline) {
            Ok(true) => {}
            Ok(false) if deadline == announced => return fail(libc::ETIMEDOUT),
            Ok(false) => return fail(libc::EAGAIN),
            Err(errno) => return fail(errno),
        }
    }
}

/// The gate for a call on a socket that blocks.
fn blocking_gate(fd: RawFd) -> Option<Gate> {
    gate("accept()", ANY_SOCKET).filter(|_| blocks(fd) && hooked(fd))
}

/// accept(2).
pub(super) unsafe extern "C" fn accept(fd: c_int, address: *mut sockaddr, len: *mut socklen_t) -> c_int {
    // SAFETY: the caller's arguments.
    let call = || unsafe { libc::accept(fd, address, len) };
    blocking_gate(fd).map_or_else(call, |gate| accept_with(&gate, fd, call))
}

/// accept4(2).
pub(super) unsafe extern "C" fn accept4(fd: c_int, address: *mut sockaddr, len: *mut socklen_t, flags: c_int) -> c_int {
    // SAFETY: the caller's arguments.
    let call = || unsafe { libc::accept4(fd, address, len, flags) };
    blocking_gate(fd).map_or_else(call, |gate| accept_with(&gate, fd, call))
}
