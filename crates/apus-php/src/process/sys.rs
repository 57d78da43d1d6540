//! System calls of this room.

use std::ffi::{CStr, CString, c_char, c_int};
use std::io;
use std::os::fd::{AsFd, OwnedFd, RawFd};
use std::time::{Duration, Instant};

use apus_zend::Raise;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, FdFlags, fcntl_dupfd_cloexec, fcntl_setfd};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, send, socketpair};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use rustix::stdio::{dup2_stderr, dup2_stdin, dup2_stdout};

use super::signals;
use crate::descriptor::Number;
use crate::system::ready::look;

/// The error number of a failed system call.
pub(super) fn errno() -> c_int {
    io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO)
}

/// A descriptor that becomes readable when a process has ended. `None`: there is no such process, or an old kernel.
pub(super) fn pidfd(pid: libc::pid_t) -> Option<OwnedFd> {
    pidfd_open(Pid::from_raw(pid)?, PidfdFlags::empty()).ok()
}

/// Whether a descriptor can be read now, or is broken.
pub(super) fn readable(fd: impl AsFd) -> bool {
    look(fd, PollFlags::IN).is_ok_and(|happened| !happened.is_empty())
}

/// How a blocking wait ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Blocked {
    /// A descriptor is ready, or a signal was handled: look again.
    Look,
    /// The time is over.
    TimedOut,
}

/// Blocks this process until one of `fds` is ready, a signal with a handler came (which then has run), or the time is
/// over.
pub(super) fn block(fds: &[(RawFd, PollFlags)], until: Option<Instant>) -> Result<Blocked, Raise> {
    let event = signals::event();
    let numbers: Vec<Number> = fds.iter().map(|&(fd, _)| Number(fd)).collect();
    let mut asked: Vec<PollFd<'_>> =
        numbers.iter().zip(fds).map(|(fd, &(_, events))| PollFd::new(fd, events)).collect();
    asked.extend(event.as_ref().map(|event| PollFd::new(event, PollFlags::IN)));
    let left = until.map(|until| timespec(until.saturating_duration_since(Instant::now())));
    if poll(&mut asked, left.as_ref()) == Ok(0) {
        return Ok(Blocked::TimedOut);
    }
    signals::silence();
    signals::dispatch()?;
    Ok(Blocked::Look)
}

fn timespec(time: Duration) -> Timespec {
    Timespec { tv_sec: i64::try_from(time.as_secs()).unwrap_or(i64::MAX), tv_nsec: time.subsec_nanos().into() }
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
    // A signal that has no handler here ends it early; nobody minds.
    let _ = rustix::thread::nanosleep(&timespec(time));
    Ok(())
}

/// Another descriptor of the same file.
pub(super) fn duplicate(fd: impl AsFd) -> Result<OwnedFd, c_int> {
    fcntl_dupfd_cloexec(fd, 0).map_err(Errno::raw_os_error)
}

/// Replaces this process's program; the errno when that fails. The program inherits descriptor `keep`.
pub(super) fn exec(file: &CStr, args: &[CString], keep: Option<RawFd>) -> c_int {
    let mut argv: Vec<*const c_char> = args.iter().map(|arg| arg.as_ptr()).collect();
    argv.push(std::ptr::null());
    let set_flags = |flags| keep.map(|fd| fcntl_setfd(Number(fd), flags));
    set_flags(FdFlags::empty());
    // SAFETY: the texts end in NUL and the list of them in NULL. PHP ignores SIGPIPE, which programs do not expect.
    let code = unsafe {
        let before = libc::signal(libc::SIGPIPE, libc::SIG_DFL);
        libc::execv(file.as_ptr(), argv.as_ptr());
        let code = errno();
        libc::signal(libc::SIGPIPE, before);
        code
    };
    set_flags(FdFlags::CLOEXEC);
    code
}

/// Two connected descriptors that carry small messages and do not block.
pub(super) fn datagrams() -> Result<(OwnedFd, OwnedFd), c_int> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None).map_err(Errno::raw_os_error)
}

/// Sends a process id over one of [`datagrams`].
pub(super) fn send_pid(fd: impl AsFd, pid: libc::pid_t) -> bool {
    let bytes = pid.to_ne_bytes();
    send(fd, &bytes, SendFlags::NOSIGNAL) == Ok(bytes.len())
}

/// The next process id that was sent, if there is one.
pub(super) fn receive_pid(fd: &OwnedFd) -> Option<libc::pid_t> {
    let mut bytes = [0; size_of::<libc::pid_t>()];
    let (_, length) = recv(fd, &mut bytes, RecvFlags::empty()).ok()?;
    (length == bytes.len()).then(|| libc::pid_t::from_ne_bytes(bytes))
}

/// Makes standard descriptor `place` another one for what `fd` is.
pub(super) fn replace_standard(place: u64, fd: impl AsFd) -> Result<(), Errno> {
    match place {
        0 => dup2_stdin(fd),
        1 => dup2_stdout(fd),
        _ => dup2_stderr(fd),
    }
}
