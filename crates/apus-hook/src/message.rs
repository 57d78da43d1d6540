//! Receiving from and sending to sockets.

use std::ffi::{c_int, c_void};
use std::os::fd::RawFd;

use apus_runtime::runtime::State;
use apus_zend::guard;
use libc::{MSG_DONTWAIT, MSG_PEEK, MSG_WAITALL, iovec, msghdr, size_t, sockaddr, socklen_t, ssize_t};
use tokio::time::Instant;

use super::args::{Bytes, Place, array, bytes, zeroed};
use super::gate::{Gate, errno, fail, gate, in_coroutine};
use super::reactor::Reactor;
use super::sys::{self, check};
use super::timeout::{ANY_SOCKET, blocks, hooked, is_stream, receive_deadline, send_deadline};

/// One call that moves bytes.
pub(super) struct Transfer<'a> {
    pub(super) gate: &'a Gate,
    pub(super) fd: RawFd,
    /// The epoll event that says that it can go on.
    pub(super) event: c_int,
    /// Bytes after which the call is done.
    pub(super) total: usize,
    /// Whether a stream's call returns only when all is moved.
    pub(super) all: bool,
    pub(super) deadline: fn(RawFd) -> Option<Instant>,
    /// Output to pipes goes on in a call that was broken off: PHP's messages about it.
    pub(super) is_socket: bool,
}

impl Transfer<'_> {
    /// Does `attempt`, which must not block and is told how many bytes were moved before, as often as libc would.
    pub(super) fn run(&self, mut attempt: impl FnMut(usize) -> ssize_t) -> ssize_t {
        if self.is_socket && guard::is_broken() {
            return fail(libc::ECANCELED);
        }
        let (mut done, mut checked, mut end) = (0, false, None);
        loop {
            let moved = attempt(done);
            if moved > 0 {
                done += moved as usize;
            }
            let waits = moved < 0 && matches!(errno(), libc::EAGAIN);
            let partial = moved > 0 && self.all && done < self.total;
            if !waits && !partial {
                return self.end(done, moved);
            }
            if !checked {
                if !blocks(self.fd) || (partial && !is_stream(self.fd)) {
                    return if waits { self.refused(done) } else { self.end(done, moved) };
                }
                (checked, end) = (true, (self.deadline)(self.fd));
            }
            if !waits {
                continue;
            }
            match self.gate.ready(&[(self.fd, self.event as u32)], end) {
                Ok(true) => {}
                Ok(false) => return self.refused(done),
                Err(errno) if done == 0 => return fail(errno),
                Err(_) => return done as ssize_t,
            }
        }
    }

    fn refused(&self, done: usize) -> ssize_t {
        if done > 0 { self.gate.success(done as ssize_t) } else { at_once(fail(libc::EAGAIN)) }
    }

    fn end(&self, done: usize, last: ssize_t) -> ssize_t {
        // What was moved counts; an error comes again with the next call.
        if done > 0 || last == 0 { self.gate.success(done as ssize_t) } else { last }
    }
}

/// The gate for a call with these flags on a socket, if it would block.
fn socket_gate(name: &'static str, fd: RawFd, flags: c_int) -> Option<Gate> {
    if flags & MSG_DONTWAIT != 0 {
        return None;
    }
    gate(name, ANY_SOCKET).filter(|_| hooked(fd))
}

/// The result of a call that was not to wait. In a call whose wait was broken off there is nothing to come any more:
/// PHP's streams would ask for ever.
pub(super) fn at_once(result: ssize_t) -> ssize_t {
    // What came after the cancellation is lost with the connection: else a call that was cancelled would go on.
    if (result >= 0 || errno() == libc::EAGAIN) && in_coroutine() && guard::is_broken() {
        return fail(libc::ECANCELED);
    }
    result
}

fn receiving(gate: &Gate, fd: RawFd, flags: c_int, total: usize) -> Transfer<'_> {
    let all = flags & MSG_WAITALL != 0 && flags & MSG_PEEK == 0;
    let event = if flags & libc::MSG_OOB != 0 { libc::EPOLLPRI } else { libc::EPOLLIN };
    Transfer { gate, fd, event, total, all, deadline: receive_deadline, is_socket: true }
}

pub(super) fn sending(gate: &Gate, fd: RawFd, total: usize) -> Transfer<'_> {
    Transfer { gate, fd, event: libc::EPOLLOUT, total, all: true, deadline: send_deadline, is_socket: true }
}

/// recv(2).
pub(super) unsafe extern "C" fn recv(fd: c_int, buffer: *mut c_void, len: size_t, flags: c_int) -> ssize_t {
    // SAFETY: the rest of the caller's buffer, which may be NULL to drop what comes (tcp(7), MSG_TRUNC).
    let call = |done, flags| unsafe { libc::recv(fd, buffer.byte_add(done), len - done, flags) };
    let Some(gate) = socket_gate("recv()", fd, flags) else {
        let received = at_once(call(0, flags));
        if in_coroutine() {
            took(fd, received, len, flags);
        }
        return received;
    };
    let received = receiving(&gate, fd, flags, len).run(|done| call(done, flags | MSG_DONTWAIT));
    took(fd, received, len, flags);
    received
}

/// A plain read that got something, and less than it had room for: a stream has nothing more.
fn took(fd: RawFd, received: ssize_t, room: size_t, flags: c_int) {
    if received > 0
        && (received as size_t) < room
        && flags & !(MSG_DONTWAIT | libc::MSG_NOSIGNAL) == 0
        && let Some(state) = State::existing()
    {
        state.room::<Reactor>().emptied(fd, is_stream);
    }
}

/// recv(2) as fortified sources call it.
pub(super) unsafe extern "C" fn recv_chk(
    fd: c_int,
    buffer: *mut c_void,
    len: size_t,
    size: size_t,
    flags: c_int,
) -> ssize_t {
    check(len, size);
    // SAFETY: the caller's arguments.
    unsafe { recv(fd, buffer, len, flags) }
}

/// recvfrom(2).
pub(super) unsafe extern "C" fn recvfrom(
    fd: c_int,
    buffer: *mut c_void,
    len: size_t,
    flags: c_int,
    from: *mut sockaddr,
    from_len: *mut socklen_t,
) -> ssize_t {
    // SAFETY: the rest of the caller's buffer, and its record for the address.
    let call = |done, flags| unsafe { libc::recvfrom(fd, buffer.byte_add(done), len - done, flags, from, from_len) };
    let Some(gate) = socket_gate("recvfrom()", fd, flags) else { return at_once(call(0, flags)) };
    receiving(&gate, fd, flags, len).run(|done| call(done, flags | MSG_DONTWAIT))
}

/// recvfrom(2) as fortified sources call it.
pub(super) unsafe extern "C" fn recvfrom_chk(
    fd: c_int,
    buffer: *mut c_void,
    len: size_t,
    size: size_t,
    flags: c_int,
    from: *mut sockaddr,
    from_len: *mut socklen_t,
) -> ssize_t {
    check(len, size);
    // SAFETY: the caller's arguments.
    unsafe { recvfrom(fd, buffer, len, flags, from, from_len) }
}

/// send(2).
pub(super) unsafe extern "C" fn send(fd: c_int, buffer: *const c_void, len: size_t, flags: c_int) -> ssize_t {
    // SAFETY: the caller's buffer.
    let Some(buffer) = (unsafe { bytes(buffer, len) }) else { return fail(libc::EFAULT) };
    let Some(gate) = socket_gate("send()", fd, flags) else { return at_once(sys::send(fd, buffer, flags)) };
    sending(&gate, fd, len).run(|done| sys::send(fd, &buffer[done..], flags | MSG_DONTWAIT))
}

/// sendto(2).
pub(super) unsafe extern "C" fn sendto(
    fd: c_int,
    buffer: *const c_void,
    len: size_t,
    flags: c_int,
    to: *const sockaddr,
    to_len: socklen_t,
) -> ssize_t {
    // SAFETY: the rest of the caller's buffer, and its address.
    let call = |done, flags| unsafe { libc::sendto(fd, buffer.byte_add(done), len - done, flags, to, to_len) };
    let Some(gate) = socket_gate("sendto()", fd, flags) else { return call(0, flags) };
    sending(&gate, fd, len).run(|done| call(done, flags | MSG_DONTWAIT))
}

/// The buffers of a scattered call, from which what was moved is taken. All of them are the caller's.
pub(super) struct Parts {
    parts: Vec<iovec>,
    moved: usize,
}

impl Parts {
    /// # Safety
    /// `parts` MUST be the caller's array of `count` records, each with a buffer for the time of the call; it may be
    /// NULL when empty.
    pub(super) unsafe fn of(parts: *const iovec, count: usize) -> Self {
        // SAFETY: by contract.
        let parts = unsafe { array(parts.cast_mut(), count) };
        Self { parts: parts.map_or_else(Vec::new, |parts| parts.to_vec()), moved: 0 }
    }

    pub(super) fn total(&self) -> usize {
        self.parts.iter().map(|part| part.iov_len).sum::<usize>() + self.moved
    }

    /// What is left when `done` bytes in all were moved.
    fn rest(&mut self, done: usize) -> &mut [iovec] {
        let mut skip = done - self.moved;
        self.moved = done;
        let mut whole = 0;
        for part in &mut self.parts {
            if skip < part.iov_len {
                part.iov_base = part.iov_base.wrapping_byte_add(skip);
                part.iov_len -= skip;
                break;
            }
            skip -= part.iov_len;
            whole += 1;
        }
        self.parts.drain(..whole);
        &mut self.parts
    }

    /// A message of what is left, and nothing beside it.
    fn message(&mut self, done: usize) -> msghdr {
        let rest = self.rest(done);
        msghdr { msg_iov: rest.as_mut_ptr(), msg_iovlen: rest.len() as _, ..zeroed() }
    }

    /// Receives at once into what is left when `done` bytes in all were moved.
    pub(super) fn receive(&mut self, fd: RawFd, done: usize, flags: c_int) -> ssize_t {
        let mut message = self.message(done);
        // SAFETY: the caller's buffers, by the contract of `of`.
        unsafe { libc::recvmsg(fd, &raw mut message, flags | MSG_DONTWAIT) }
    }

    /// Sends at once from what is left.
    pub(super) fn send(&mut self, fd: RawFd, done: usize, flags: c_int) -> ssize_t {
        let message = self.message(done);
        // SAFETY: the caller's buffers, by the contract of `of`.
        unsafe { libc::sendmsg(fd, &raw const message, flags | MSG_DONTWAIT) }
    }

    /// What is left as the buffers that it is.
    pub(super) fn buffers(&self) -> impl Iterator<Item = &Bytes> {
        // SAFETY: the caller's buffers, by the contract of `of`.
        self.parts.iter().filter_map(|part| unsafe { bytes(part.iov_base, part.iov_len) }.map(|bytes| &*bytes))
    }
}

/// recvmsg(2).
pub(super) unsafe extern "C" fn recvmsg(fd: c_int, message: Place<'_, msghdr>, flags: c_int) -> ssize_t {
    // SAFETY: the caller's record.
    let call = |flags| unsafe { libc::recvmsg(fd, message.as_ptr(), flags) };
    let opened = message.get().and_then(|head| Some((socket_gate("recvmsg()", fd, flags)?, head)));
    let Some((gate, head)) = opened else { return call(flags) };
    // SAFETY: the caller's buffers.
    let mut parts = unsafe { Parts::of(head.msg_iov, head.msg_iovlen) };
    receiving(&gate, fd, flags, parts.total()).run(|done| match done {
        0 => call(flags | MSG_DONTWAIT),
        _ => parts.receive(fd, done, flags),
    })
}

/// sendmsg(2). What goes beside the bytes goes with the first of them.
pub(super) unsafe extern "C" fn sendmsg(fd: c_int, message: Place<'_, msghdr>, flags: c_int) -> ssize_t {
    // SAFETY: the caller's record.
    let call = |flags| unsafe { libc::sendmsg(fd, message.as_ptr(), flags) };
    let opened = message.get().and_then(|head| Some((socket_gate("sendmsg()", fd, flags)?, head)));
    let Some((gate, head)) = opened else { return call(flags) };
    // SAFETY: the caller's buffers.
    let mut parts = unsafe { Parts::of(head.msg_iov, head.msg_iovlen) };
    sending(&gate, fd, parts.total()).run(|done| match done {
        0 => call(flags | MSG_DONTWAIT),
        _ => parts.send(fd, done, flags),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_moved_is_taken_from_the_parts() {
        let (a, b, c) = ([0u8; 3], [0u8; 0], [0u8; 5]);
        let part = |bytes: &[u8]| iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
        let array = [part(&a), part(&b), part(&c)];
        // SAFETY: an array of three.
        let mut parts = unsafe { Parts::of(array.as_ptr(), 3) };
        assert_eq!(parts.total(), 8);
        assert_eq!(parts.rest(2).iter().map(|p| p.iov_len).collect::<Vec<_>>(), [1, 0, 5]);
        assert_eq!(parts.rest(3).iter().map(|p| p.iov_len).collect::<Vec<_>>(), [5]);
        assert_eq!(parts.rest(7).iter().map(|p| p.iov_len).collect::<Vec<_>>(), [1]);
        assert_eq!(parts.total(), 8);
        assert!(parts.rest(8).is_empty());
    }
}
