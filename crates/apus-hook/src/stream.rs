//! Calls on descriptors of any kind: read(2), write(2), and making connections.

use std::ffi::{c_int, c_void};
use std::os::fd::RawFd;

use apus_options::hooks;
use libc::{MSG_DONTWAIT, iovec, size_t, sockaddr, socklen_t, ssize_t};

use super::args::{Bytes, bytes};
use super::file;
use super::gate::{Gate, errno, fail, gate, set_errno};
use super::message::{Parts, Transfer, at_once, sending};
use super::sys::{self, check, is_ready};
use super::timeout::{ANY_SOCKET, Kind, blocks, hooked, kind, receive_deadline, send_deadline, take_socket_error};

/// What `write()` may stand for. Of a regular file it ends in the page cache, in the order in which coroutines call it.
const ANY_DESCRIPTOR: i64 = ANY_SOCKET | PIPES;
/// Pipes and terminals.
const PIPES: i64 = hooks::PROC | hooks::STDIO;
/// What a pipe that is ready for writing takes at once (pipe(7)).
const PIPE_BUF: usize = libc::PIPE_BUF;

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
    // SAFETY: the caller's buffer.
    let Some(buffer) = (unsafe { bytes(buffer, len) }) else { return fail(libc::EFAULT) };
    let Some(gate) = gate("read()", ANY_DESCRIPTOR | hooks::FILE) else { return sys::read(fd, buffer) };
    match kind(fd) {
        Kind::Socket if hooked(fd) => of_socket(&gate, fd).run(|_| sys::recv(fd, buffer, MSG_DONTWAIT)),
        Kind::Regular => file::read(&gate, fd, buffer),
        Kind::Pipe | Kind::Other if pipes_hooked() && blocks(fd) => {
            of_pipe(&gate, fd, libc::EPOLLIN, len).run(|_| when_ready(fd, libc::POLLIN, || sys::read(fd, buffer)))
        }
        _ => at_once(sys::read(fd, buffer)),
    }
}

/// read(2) as fortified sources call it.
pub(super) unsafe extern "C" fn read_chk(fd: c_int, buffer: *mut c_void, len: size_t, size: size_t) -> ssize_t {
    check(len, size);
    // SAFETY: the caller's arguments.
    unsafe { read(fd, buffer, len) }
}

/// write(2).
pub(super) unsafe extern "C" fn write(fd: c_int, buffer: *const c_void, len: size_t) -> ssize_t {
    // SAFETY: the caller's buffer.
    let Some(bytes) = (unsafe { bytes(buffer, len) }) else { return fail(libc::EFAULT) };
    let Some(gate) = gate("write()", ANY_DESCRIPTOR) else { return sys::write(fd, bytes) };
    match kind(fd) {
        Kind::Socket if hooked(fd) => sending(&gate, fd, len).run(|done| sys::send(fd, &bytes[done..], MSG_DONTWAIT)),
        Kind::Pipe if pipes_hooked() && blocks(fd) => write_pipe(&gate, fd, bytes),
        Kind::Other if pipes_hooked() && blocks(fd) => {
            of_pipe(&gate, fd, libc::EPOLLOUT, len).run(|_| when_ready(fd, libc::POLLOUT, || sys::write(fd, bytes)))
        }
        _ => sys::write(fd, bytes),
    }
}

/// A blocking write returns when all is written; in pieces that a ready pipe takes whole.
fn write_pipe(gate: &Gate, fd: RawFd, bytes: &Bytes) -> ssize_t {
    let mut done = 0;
    loop {
        let piece = &bytes[done..bytes.len().min(done + PIPE_BUF)];
        let written = of_pipe(gate, fd, libc::EPOLLOUT, piece.len())
            .run(|_| when_ready(fd, libc::POLLOUT, || sys::write(fd, piece)));
        if written < 0 {
            return if done > 0 { gate.success(done as ssize_t) } else { written };
        }
        done += written as usize;
        if done >= bytes.len() || written == 0 {
            return gate.success(done as ssize_t);
        }
    }
}

/// The gate for a call with so many buffers; libc refuses too many.
fn scattered_gate(name: &'static str, count: c_int) -> Option<(Gate, usize)> {
    let count = usize::try_from(count).ok().filter(|&count| count <= libc::UIO_MAXIOV as usize)?;
    Some((gate(name, ANY_SOCKET | PIPES)?, count))
}

/// readv(2).
pub(super) unsafe extern "C" fn readv(fd: c_int, parts: *const iovec, count: c_int) -> ssize_t {
    // SAFETY: the caller's arguments.
    let plainly = || unsafe { libc::readv(fd, parts, count) };
    let Some((gate, count)) = scattered_gate("readv()", count) else { return plainly() };
    match kind(fd) {
        Kind::Socket if hooked(fd) => {
            // SAFETY: the caller's array.
            let mut parts = unsafe { Parts::of(parts, count) };
            of_socket(&gate, fd).run(|_| parts.receive(fd, 0, 0))
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
    let Some((gate, count)) = scattered_gate("writev()", count) else { return plainly() };
    // SAFETY: the caller's array.
    let mut parts = unsafe { Parts::of(parts, count) };
    match kind(fd) {
        Kind::Socket if hooked(fd) => sending(&gate, fd, parts.total()).run(|done| parts.send(fd, done, 0)),
        Kind::Pipe if pipes_hooked() && blocks(fd) => write_parts(&gate, fd, &parts),
        _ => plainly(),
    }
}

fn write_parts(gate: &Gate, fd: RawFd, parts: &Parts) -> ssize_t {
    let mut done = 0;
    for part in parts.buffers() {
        let written = write_pipe(gate, fd, part);
        if written < 0 {
            return if done > 0 { gate.success(done) } else { written };
        }
        done += written;
        if (written as usize) < part.len() {
            break;
        }
    }
    gate.success(done)
}

/// Connects with `O_NONBLOCK` set on a descriptor that blocks. A socket that is being connected is nobody else's yet;
/// what others may share, one that listens, is never changed.
fn without_blocking(fd: RawFd, call: impl FnOnce() -> c_int) -> c_int {
    let flags = sys::status_flags(fd);
    sys::set_status_flags(fd, flags | libc::O_NONBLOCK);
    let result = call();
    let errno = errno();
    sys::set_status_flags(fd, flags);
    set_errno(errno);
    result
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
