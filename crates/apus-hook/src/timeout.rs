//! What a blocking call on a socket goes by: whether it blocks, and for how long.

use std::ffi::c_int;
use std::os::fd::RawFd;
use std::time::Duration;

use apus_options::hooks;
use tokio::time::Instant;

use super::args::{Plain, zeroed};
use super::gate::deadline;
use super::sys::status_flags;

/// What is known of a descriptor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Socket,
    Regular,
    Pipe,
    /// Terminals, eventfds, whatever else can be polled.
    Other,
    /// It is not open.
    Bad,
}

pub(super) fn kind(fd: RawFd) -> Kind {
    let mut stat: libc::stat = zeroed();
    // SAFETY: the record is local.
    if unsafe { libc::fstat(fd, &raw mut stat) } != 0 {
        return Kind::Bad;
    }
    match stat.st_mode & libc::S_IFMT {
        libc::S_IFSOCK => Kind::Socket,
        libc::S_IFREG | libc::S_IFDIR | libc::S_IFBLK => Kind::Regular,
        libc::S_IFIFO => Kind::Pipe,
        _ => Kind::Other,
    }
}

/// Whether calls on the descriptor block, by its owner's will.
pub(super) fn blocks(fd: RawFd) -> bool {
    let flags = status_flags(fd);
    flags >= 0 && flags & libc::O_NONBLOCK == 0
}

fn option<T: Plain>(fd: RawFd, name: c_int) -> Option<T> {
    let mut value: T = zeroed();
    let mut len = size_of::<T>() as libc::socklen_t;
    // SAFETY: room for a T, whose size is told.
    let got = unsafe { libc::getsockopt(fd, libc::SOL_SOCKET, name, (&raw mut value).cast(), &raw mut len) };
    (got == 0).then_some(value)
}

/// When a receiving call that begins now is to give up (`SO_RCVTIMEO`, socket(7)).
pub(super) fn receive_deadline(fd: RawFd) -> Option<Instant> {
    socket_deadline(fd, libc::SO_RCVTIMEO)
}

/// When a sending call that begins now is to give up (`SO_SNDTIMEO`, socket(7)).
pub(super) fn send_deadline(fd: RawFd) -> Option<Instant> {
    socket_deadline(fd, libc::SO_SNDTIMEO)
}

fn socket_deadline(fd: RawFd, name: c_int) -> Option<Instant> {
    let time: libc::timeval = option(fd, name)?;
    let time = Duration::new(time.tv_sec as u64, time.tv_usec as u32 * 1000);
    if time.is_zero() { None } else { deadline(Some(time)) }
}

/// The error that is pending on a socket, which is taken.
pub(super) fn take_socket_error(fd: RawFd) -> c_int {
    option(fd, libc::SO_ERROR).unwrap_or(libc::EBADF)
}

/// Whether what is sent and received are bytes rather than messages.
pub(super) fn is_stream(fd: RawFd) -> bool {
    option::<c_int>(fd, libc::SO_TYPE) == Some(libc::SOCK_STREAM)
}

/// Bits for every kind of socket.
pub(super) const ANY_SOCKET: i64 = hooks::TCP | hooks::UDP | hooks::UNIX | hooks::UDG;

/// Whether sockets of this one's kind are hooked.
pub(super) fn hooked(fd: RawFd) -> bool {
    let flags = super::gate::flags();
    if flags & ANY_SOCKET == ANY_SOCKET {
        return true;
    }
    let unix = option::<c_int>(fd, libc::SO_DOMAIN) == Some(libc::AF_UNIX);
    let wanted = match (unix, is_stream(fd)) {
        (false, true) => hooks::TCP,
        (false, false) => hooks::UDP,
        (true, true) => hooks::UNIX,
        (true, false) => hooks::UDG,
    };
    flags & wanted != 0
}
