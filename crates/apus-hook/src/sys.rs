//! The C library's functions as safe ones: what they take has no precondition, or a type holds it.

use std::ffi::{c_int, c_uint};
use std::os::fd::{FromRawFd, OwnedFd, RawFd};
use std::ptr;

use libc::{
    addrinfo, clockid_t, iovec, mode_t, nfds_t, pid_t, pollfd, rusage, sigset_t, socklen_t, ssize_t, timespec,
    useconds_t,
};

use super::args::{Bytes, Place, Text};

// SAFETY: integers alone, or places and texts that are valid by their types.
unsafe extern "C" {
    pub(super) safe fn close(fd: c_int) -> c_int;
    pub(super) safe fn dup2(from: c_int, to: c_int) -> c_int;
    pub(super) safe fn dup3(from: c_int, to: c_int, flags: c_int) -> c_int;
    pub(super) safe fn shutdown(fd: c_int, how: c_int) -> c_int;
    pub(super) safe fn flock(fd: c_int, operation: c_int) -> c_int;
    pub(super) safe fn fsync(fd: c_int) -> c_int;
    pub(super) safe fn fdatasync(fd: c_int) -> c_int;
    pub(super) safe fn gettid() -> pid_t;
    pub(super) safe fn sleep(seconds: c_uint) -> c_uint;
    pub(super) safe fn usleep(microseconds: useconds_t) -> c_int;
    pub(super) safe fn nanosleep(time: Place<'_, timespec>, left: Place<'_, timespec>) -> c_int;
    pub(super) safe fn clock_nanosleep(
        clock: clockid_t,
        flags: c_int,
        time: Place<'_, timespec>,
        left: Place<'_, timespec>,
    ) -> c_int;
    pub(super) safe fn clock_gettime(clock: clockid_t, time: Place<'_, timespec>) -> c_int;
    pub(super) safe fn waitpid(pid: pid_t, status: Place<'_, c_int>, options: c_int) -> pid_t;
    pub(super) safe fn wait4(pid: pid_t, status: Place<'_, c_int>, options: c_int, usage: Place<'_, rusage>) -> pid_t;
    pub(super) safe fn getaddrinfo(
        node: Text<'_>,
        service: Text<'_>,
        hints: Place<'_, addrinfo>,
        result: Place<'_, *mut addrinfo>,
    ) -> c_int;
    pub(super) safe fn system(command: Text<'_>) -> c_int;

    /// What fortified functions call when a buffer is smaller than what is to be put into it: ends the process.
    safe fn __chk_fail() -> !;
    safe fn __errno_location() -> *mut c_int;
    safe fn __h_errno_location() -> *mut c_int;
}

/// As fortified sources have it: a caller that asks for more than its buffer holds is ended.
pub(super) fn check(wanted: usize, room: usize) {
    if wanted > room {
        __chk_fail();
    }
}

pub(super) fn errno() -> c_int {
    // SAFETY: this thread's own errno.
    unsafe { *__errno_location() }
}

pub(super) fn set_errno(value: c_int) {
    // SAFETY: this thread's own errno.
    unsafe { *__errno_location() = value };
}

/// What the resolver's functions leave beside errno.
pub(super) fn h_errno() -> c_int {
    // SAFETY: this thread's own.
    unsafe { *__h_errno_location() }
}

pub(super) fn set_h_errno(value: c_int) {
    // SAFETY: this thread's own.
    unsafe { *__h_errno_location() = value };
}

pub(super) fn read(fd: RawFd, buffer: &mut Bytes) -> ssize_t {
    // SAFETY: the buffer is a slice.
    unsafe { libc::read(fd, buffer.as_mut_ptr().cast(), buffer.len()) }
}

/// The same with bytes that are in the page cache. Fails with EAGAIN where they are not, and with others where the file
/// system cannot tell.
pub(super) fn read_cached(fd: RawFd, buffer: &mut Bytes) -> ssize_t {
    let part = iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    // SAFETY: one buffer, which is a slice; -1 is where the file stands.
    unsafe { libc::preadv2(fd, &raw const part, 1, -1, libc::RWF_NOWAIT) }
}

pub(super) fn write(fd: RawFd, bytes: &Bytes) -> ssize_t {
    // SAFETY: the bytes are a slice.
    unsafe { libc::write(fd, bytes.as_ptr().cast(), bytes.len()) }
}

pub(super) fn recv(fd: RawFd, buffer: &mut Bytes, flags: c_int) -> ssize_t {
    // SAFETY: the buffer is a slice.
    unsafe { libc::recv(fd, buffer.as_mut_ptr().cast(), buffer.len(), flags) }
}

pub(super) fn send(fd: RawFd, bytes: &Bytes, flags: c_int) -> ssize_t {
    // SAFETY: the bytes are a slice.
    unsafe { libc::send(fd, bytes.as_ptr().cast(), bytes.len(), flags) }
}

pub(super) fn poll(fds: &mut [pollfd], timeout: c_int) -> c_int {
    // SAFETY: the records are a slice.
    unsafe { libc::poll(fds.as_mut_ptr(), fds.len() as nfds_t, timeout) }
}

pub(super) fn ppoll(fds: &mut [pollfd], timeout: Place<'_, timespec>, mask: Place<'_, sigset_t>) -> c_int {
    // SAFETY: the records are a slice; the others are valid by their types.
    unsafe { libc::ppoll(fds.as_mut_ptr(), fds.len() as nfds_t, timeout.as_ptr(), mask.as_ptr()) }
}

/// Whether a descriptor is ready now.
pub(super) fn is_ready(fd: RawFd, events: i16) -> bool {
    poll(&mut [pollfd { fd, events, revents: 0 }], 0) != 0
}

/// The flags of a file's description (`O_NONBLOCK` and its kin), or -1.
pub(super) fn status_flags(fd: RawFd) -> c_int {
    // SAFETY: takes no argument.
    unsafe { libc::fcntl(fd, libc::F_GETFL) }
}

pub(super) fn set_status_flags(fd: RawFd, flags: c_int) {
    // SAFETY: takes an integer.
    unsafe { libc::fcntl(fd, libc::F_SETFL, flags) };
}

/// What a function that makes a descriptor gave.
///
/// # Safety
/// It MUST be new, or negative.
unsafe fn owned(fd: RawFd) -> Option<OwnedFd> {
    // SAFETY: by contract.
    (fd >= 0).then(|| unsafe { OwnedFd::from_raw_fd(fd) })
}

pub(super) fn duplicate(fd: RawFd) -> Option<OwnedFd> {
    // SAFETY: takes an integer, and makes a new one.
    unsafe { owned(libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, 0)) }
}

/// open(2), by another thread.
pub(super) fn open(path: Text<'_>, how: c_int, mode: mode_t) -> Option<OwnedFd> {
    // SAFETY: the text is one by its type.
    unsafe { owned(libc::open64(path.as_ptr(), how, mode)) }
}

pub(super) fn getnameinfo(address: &Bytes, host: &mut Bytes, service: &mut Bytes, flags: c_int) -> c_int {
    let (host_len, service_len) = (host.len() as socklen_t, service.len() as socklen_t);
    let pointer = |of: &mut Bytes| if of.is_empty() { ptr::null_mut() } else { of.as_mut_ptr().cast() };
    let (host, service) = (pointer(host), pointer(service));
    let len = address.len() as socklen_t;
    // SAFETY: slices, none of which is longer than the caller's number of that type.
    unsafe { libc::getnameinfo(address.as_ptr().cast(), len, host, host_len, service, service_len, flags) }
}
