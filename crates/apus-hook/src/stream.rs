//! Calls on descriptors of any kind: read(2), write(2), and making connections.

use std::ffi::{c_int, c_void};
use std::os::fd::RawFd;

use apus_options::hooks;
use libc::{MSG_DONTWAIT, iovec, msghdr, size_t, sockaddr, socklen_t, ssize_t};

use super::file;
use super::gate::{Gate, errno, fail, gate, in_coroutine, set_errno};
use super::message::{Parts, Transfer, at_once, sending};
use super::timeout::{ANY_SOCKET, Kind, blocks, hooked, kind, receive_deadline, send_deadline, take_socket_error};

/// What `write()` may stand for. Of a regular file it ends in the page cache, in the order in which coroutines call it.
const ANY_DESCRIPTOR: i64 = ANY_SOCKET | PIPES;
/// Pipes and terminals.
const PIPES: i64 = hooks::PROC | hooks::STDIO;
/// What a pipe that is ready for writing takes at once (pipe(7)).
const PIPE_BUF: usize = libc::PIPE_BUF;

pub(super) fn is_ready(fd: RawFd, events: i16) -> bool {
    let mut one = libc::pollfd { fd, events, revents: 0 };
    // SAFETY: one local record.
    unsafe { libc::poll(&raw mut one, 1, 0) != 0 }
}

/// An attempt on a descriptor that cannot be told not to block: made when the descriptor says that it would not.
fn when_ready(fd: RawFd, events: i16, attempt: impl FnOnce() -> ssize_t) -> ssize_t {
    if is_ready(fd, events) { attempt() } else { fail(libc::EAGAIN) }
}

fn pipes_hooked() -> bool {
    super::gate::flags() & PIPES != 0
}

fn of_socket(gate: &Gate, fd: RawFd) -> Transfer<'_> {
    Transfer { gate, fd, event: libc::EPOLLIN, total: 0, all: false, deadline: receive_deadline, is_socket: true }
}

fn of_pipe(gate: &Gate, fd: RawFd, event: c_int, total: usize) -> Transfer<'_> {
    Transfer { gate, fd, event, total, all: false, deadline: |_| None, is_socket: false }
}

/// read(2).
pub(super) unsafe extern "C" fn read(fd: c_int, buffer: *mut c_void, len: size_t) -> ssize_t {
    // SAFETY: the caller's arguments.
    let plainly = || unsafe { libc::read(fd, buffer, len) };
    let Some(gate) = gate("read()", ANY_DESCRIPTOR | hooks::FILE) else { return plainly() };
    match kind(fd) {
        Kind::Socket if hooked(fd) => of_socket(&gate, fd).run(|_| {
            // SAFETY: the caller's buffer.
            unsafe { libc::recv(fd, buffer, len, MSG_DONTWAIT) }
        }),
        // SAFETY: the caller's buffer.
        Kind::Regular => unsafe { file::read(&gate, fd, buffer, len) },
        Kind::Pipe | Kind::Other if pipes_hooked() && blocks(fd) => {
            of_pipe(&gate, fd, libc::EPOLLIN, len).run(|_| when_ready(fd, libc::POLLIN, plainly))
        }
        _ => at_once(plainly()),
    }
}

/// read(2) as fortified sources call it.
pub(super) unsafe extern "C" fn read_chk(fd: c_int, buffer: *mut c_void, len: size_t, size: size_t) -> ssize_t {
    unsafe extern "C" {
        fn __read_chk(fd: c_int, buffer: *mut c_void, len: size_t, size: size_t) -> ssize_t;
    }
    if len > size || !in_coroutine() {
        // SAFETY: the caller's arguments.
        return unsafe { __read_chk(fd, buffer, len, size) };
    }
    // SAFETY: the caller's arguments.
    unsafe { read(fd, buffer, len) }
}

/// write(2).
pub(super) unsafe extern "C" fn write(fd: c_int, buffer: *const c_void, len: size_t) -> ssize_t {
    // SAFETY: the caller's arguments.
    let plainly = || unsafe { libc::write(fd, buffer, len) };
    let Some(gate) = gate("write()", ANY_DESCRIPTOR) else { return plainly() };
    match kind(fd) {
        Kind::Socket if hooked(fd) => sending(&gate, fd, len).run(|done| {
            // SAFETY: the rest of the caller's buffer.
            unsafe { libc::send(fd, buffer.add(done), len - done, MSG_DONTWAIT) }
        }),
        Kind::Pipe if pipes_hooked() && blocks(fd) => write_pipe(&gate, fd, buffer, len),
        Kind::Other if pipes_hooked() && blocks(fd) => {
            of_pipe(&gate, fd, libc::EPOLLOUT, len).run(|_| when_ready(fd, libc::POLLOUT, plainly))
        }
        _ => plainly(),
    }
}

/// A blocking write returns when all is written; in pieces that a ready pipe takes whole.
fn write_pipe(gate: &Gate, fd: RawFd, buffer: *const c_void, len: size_t) -> ssize_t {
    let mut done = 0;
    loop {
        let piece = (len - done).min(PIPE_BUF);
        let written = of_pipe(gate, fd, libc::EPOLLOUT, piece).run(|_| {
            // SAFETY: a piece of the caller's buffer.
            when_ready(fd, libc::POLLOUT, || unsafe { libc::write(fd, buffer.add(done), piece) })
        });
        if written < 0 {
            return if done > 0 { gate.success(done as ssize_t) } else { written };
        }
        done += written as usize;
        if done >= len || written == 0 {
            return gate.success(done as ssize_t);
        }
    }
}

fn scattered(rest: &mut [iovec]) -> msghdr {
    // SAFETY: plain data.
    let mut message: msghdr = unsafe { std::mem::zeroed() };
    (message.msg_iov, message.msg_iovlen) = (rest.as_mut_ptr(), rest.len() as _);
    message
}

/// readv(2).
pub(super) unsafe extern "C" fn readv(fd: c_int, parts: *const iovec, count: c_int) -> ssize_t {
    // SAFETY: the caller's arguments.
    let plainly = || unsafe { libc::readv(fd, parts, count) };
    let valid = usize::try_from(count).ok().filter(|&count| count <= libc::UIO_MAXIOV as usize);
    let Some((gate, count)) = valid.and_then(|count| Some((gate("readv()", ANY_SOCKET | PIPES)?, count))) else {
        return plainly();
    };
    match kind(fd) {
        Kind::Socket if hooked(fd) => {
            // SAFETY: the caller's array.
            let mut rest = unsafe { Parts::of(parts, count) };
            of_socket(&gate, fd).run(|_| {
                let mut message = scattered(rest.rest(0));
                // SAFETY: the caller's buffers.
                unsafe { libc::recvmsg(fd, &raw mut message, MSG_DONTWAIT) }
            })
        }
        Kind::Pipe | Kind::Other if pipes_hooked() && blocks(fd) => {
            of_pipe(&gate, fd, libc::EPOLLIN, 0).run(|_| when_ready(fd, libc::POLLIN, plainly))
        }
        _ => plainly(),
    }
}

/// writev(2).
pub(super) unsafe extern "C" fn writev(fd: c_int, parts: *const iovec, count: c_int) -> ssize_t {
    // SAFETY: the caller's arguments.
    let plainly = || unsafe { libc::writev(fd, parts, count) };
    let valid = usize::try_from(count).ok().filter(|&count| count <= libc::UIO_MAXIOV as usize);
    let Some((gate, count)) = valid.and_then(|count| Some((gate("writev()", ANY_SOCKET | PIPES)?, count))) else {
        return plainly();
    };
    // SAFETY: the caller's array.
    let mut rest = unsafe { Parts::of(parts, count) };
    match kind(fd) {
        Kind::Socket if hooked(fd) => sending(&gate, fd, rest.total()).run(|done| {
            let message = scattered(rest.rest(done));
            // SAFETY: the rest of the caller's buffers.
            unsafe { libc::sendmsg(fd, &raw const message, MSG_DONTWAIT) }
        }),
        Kind::Pipe if pipes_hooked() && blocks(fd) => write_parts(&gate, fd, rest.rest(0)),
        _ => plainly(),
    }
}

fn write_parts(gate: &Gate, fd: RawFd, parts: &[iovec]) -> ssize_t {
    let mut done = 0;
    for part in parts {
        let written = write_pipe(gate, fd, part.iov_base, part.iov_len);
        if written < 0 {
            return if done > 0 { gate.success(done) } else { written };
        }
        done += written;
        if (written as usize) < part.iov_len {
            break;
        }
    }
    gate.success(done)
}

/// Connects with `O_NONBLOCK` set on a descriptor that blocks. A socket that is being connected is nobody else's yet; what others may
/// share, one that listens, is never changed.
fn without_blocking(fd: RawFd, call: impl FnOnce() -> c_int) -> c_int {
    // SAFETY: no pointers.
    unsafe {
        let flags = libc::fcntl(fd, libc::F_GETFL);
        libc::fcntl(fd, libc::F_SETFL, flags | libc::O_NONBLOCK);
        let result = call();
        let errno = errno();
        libc::fcntl(fd, libc::F_SETFL, flags);
        set_errno(errno);
        result
    }
}

/// connect(2).
pub(super) unsafe extern "C" fn connect(fd: c_int, address: *const sockaddr, len: socklen_t) -> c_int {
    // SAFETY: the caller's arguments.
    let call = || unsafe { libc::connect(fd, address, len) };
    let Some(gate) = gate("connect()", ANY_SOCKET).filter(|_| blocks(fd) && hooked(fd)) else { return call() };
    let deadline = send_deadline(fd);
    if without_blocking(fd, call) == 0 {
        return gate.success(0);
    }
    match errno() {
        libc::EINPROGRESS => connected(&gate, fd, deadline),
        // A Unix socket whose queue of connections is full: nobody announces a free place (connect(2)).
        libc::EAGAIN => {
            let again = || {
                let result = without_blocking(fd, call);
                (result == 0 || errno() != libc::EAGAIN).then(|| (result, errno()))
            };
            match gate.retry(deadline, again) {
                Ok(Some((0, _))) => gate.success(0),
                Ok(Some((_, errno))) | Err(errno) => fail(errno),
                Ok(None) => fail(libc::EAGAIN),
            }
        }
        _ => -1,
    }
}

fn connected(gate: &Gate, fd: RawFd, deadline: Option<tokio::time::Instant>) -> c_int {
    while !is_ready(fd, libc::POLLOUT) {
        match gate.ready(&[(fd, libc::EPOLLOUT as u32)], deadline) {
            Ok(true) => {}
            Ok(false) => return fail(libc::EINPROGRESS),
            Err(errno) => return fail(errno),
        }
    }
    match take_socket_error(fd) {
        0 => gate.success(0),
        errno => fail(errno),
    }
}
