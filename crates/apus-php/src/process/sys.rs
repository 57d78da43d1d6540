//! System calls of this room.

use std::ffi::{CStr, CString, c_char, c_int};
use std::io;
use std::os::fd::{AsRawFd as _, FromRawFd, OwnedFd, RawFd};
use std::time::{Duration, Instant};

use apus_zend::Raise;

use super::signals;

/// The error number of a failed system call.
pub(super) fn errno() -> c_int {
    io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO)
}

/// A descriptor that becomes readable when a process has ended. `None`: there is no such process, or an old kernel.
pub(super) fn pidfd(pid: libc::pid_t) -> Option<OwnedFd> {
    // SAFETY: takes integers.
    let fd = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) };
    // SAFETY: a new descriptor that nobody else owns.
    (fd >= 0).then(|| unsafe { OwnedFd::from_raw_fd(fd as RawFd) })
}

/// Whether a descriptor can be read now, or is broken.
pub(super) fn readable(fd: RawFd) -> bool {
    let mut asked = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
    // SAFETY: one entry, alive during the call, which does not wait.
    unsafe { libc::poll(&raw mut asked, 1, 0) > 0 }
}

/// How a blocking wait ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Blocked {
    /// A descriptor is ready, or a signal was handled: look again.
    Look,
    /// The time is over.
    TimedOut,
}

/// Blocks this process until one of `fds` is ready, a signal with a handler came (which then has run), or the time is over.
pub(super) fn block(fds: &[(RawFd, i16)], until: Option<Instant>) -> Result<Blocked, Raise> {
    let mut asked: Vec<libc::pollfd> =
        fds.iter().map(|&(fd, events)| libc::pollfd { fd, events, revents: 0 }).collect();
    asked.extend(signals::event().map(|fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 }));
    let left = until.map_or(-1, |until| {
        // Rounded up: a wait that is a fraction of a millisecond short would spin.
        let left = until.saturating_duration_since(Instant::now()) + Duration::from_micros(999);
        i32::try_from(left.as_millis()).unwrap_or(i32::MAX)
    });
    // SAFETY: the entries are alive during the call.
    let ready = unsafe { libc::poll(asked.as_mut_ptr(), asked.len() as libc::nfds_t, left) };
    if ready == 0 {
        return Ok(Blocked::TimedOut);
    }
    signals::silence();
    signals::dispatch()?;
    Ok(Blocked::Look)
}

/// When a wait that begins now ends.
pub(super) fn deadline(limit: Option<Duration>) -> Option<Instant> {
    limit.and_then(|limit| Instant::now().checked_add(limit))
}

/// Blocks this process for a time, or until a signal with a handler came.
pub(super) fn nap(time: Duration) -> Result<(), Raise> {
    if signals::event().is_some() {
        return block(&[], deadline(Some(time))).map(drop);
    }
    let left = libc::timespec { tv_sec: time.as_secs() as libc::time_t, tv_nsec: time.subsec_nanos().into() };
    // SAFETY: a local record; what is left after a signal is not asked for.
    unsafe { libc::nanosleep(&raw const left, std::ptr::null_mut()) };
    Ok(())
}

/// Another descriptor of the same file.
pub(super) fn duplicate(fd: RawFd) -> Result<OwnedFd, c_int> {
    // SAFETY: takes integers.
    let copy = unsafe { libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, 0) };
    // SAFETY: a new descriptor that nobody else owns.
    if copy < 0 { Err(errno()) } else { Ok(unsafe { OwnedFd::from_raw_fd(copy) }) }
}

/// Replaces this process's program; the errno when that fails. The program inherits descriptor `keep`.
pub(super) fn exec(file: &CStr, args: &[CString], keep: Option<RawFd>) -> c_int {
    let mut argv: Vec<*const c_char> = args.iter().map(|arg| arg.as_ptr()).collect();
    argv.push(std::ptr::null());
    let set_flags = |flags: c_int| {
        if let Some(fd) = keep {
            // SAFETY: takes integers.
            unsafe { libc::fcntl(fd, libc::F_SETFD, flags) };
        }
    };
    set_flags(0);
    // SAFETY: the texts end in NUL and the list of them in NULL. PHP ignores SIGPIPE, which programs do not expect.
    let code = unsafe {
        let before = libc::signal(libc::SIGPIPE, libc::SIG_DFL);
        libc::execv(file.as_ptr(), argv.as_ptr());
        let code = errno();
        libc::signal(libc::SIGPIPE, before);
        code
    };
    set_flags(libc::FD_CLOEXEC);
    code
}

/// The priority of processes (nice value).
pub(super) fn priority(which: c_int, who: libc::id_t) -> Result<c_int, c_int> {
    // SAFETY: this thread's errno; -1 is a priority, too, so that only errno tells an error.
    unsafe {
        *libc::__errno_location() = 0;
        let priority = libc::getpriority(which as _, who);
        if priority == -1 && *libc::__errno_location() != 0 { Err(errno()) } else { Ok(priority) }
    }
}

/// Two connected descriptors that carry small messages and do not block.
pub(super) fn datagrams() -> Result<(OwnedFd, OwnedFd), c_int> {
    let mut fds = [0; 2];
    let kind = libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
    // SAFETY: room for two descriptors.
    if unsafe { libc::socketpair(libc::AF_UNIX, kind, 0, fds.as_mut_ptr()) } != 0 {
        return Err(errno());
    }
    // SAFETY: new descriptors that nobody else owns.
    Ok(unsafe { (OwnedFd::from_raw_fd(fds[0]), OwnedFd::from_raw_fd(fds[1])) })
}

/// Sends a process id over one of [`datagrams`].
pub(super) fn send_pid(fd: RawFd, pid: libc::pid_t) -> bool {
    let bytes = pid.to_ne_bytes();
    // SAFETY: the kernel reads so many bytes.
    unsafe { libc::send(fd, bytes.as_ptr().cast(), bytes.len(), libc::MSG_NOSIGNAL) == bytes.len() as isize }
}

/// The next process id that was sent, if there is one.
pub(super) fn receive_pid(fd: &OwnedFd) -> Option<libc::pid_t> {
    let mut bytes = [0; size_of::<libc::pid_t>()];
    // SAFETY: room for so many bytes.
    let n = unsafe { libc::recv(fd.as_raw_fd(), bytes.as_mut_ptr().cast(), bytes.len(), 0) };
    (n == bytes.len() as isize).then(|| libc::pid_t::from_ne_bytes(bytes))
}
