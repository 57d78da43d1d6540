//! The two ends of the pipe between a process and the one that started it.
//!
//! A pair of connected sockets: `SOCK_STREAM`, or `SOCK_SEQPACKET` where datagrams are asked for, which keeps the borders of
//! messages as well and, other than a datagram socket, tells its reader when the other side is gone.

use std::cell::{Cell, RefCell};
use std::ffi::c_int;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::rc::Rc;
use std::time::{Duration, Instant};

use apus_coro::Wait;
use apus_zend::Raise;

use super::signals;
use super::sys::{Blocked, block, deadline, errno};
use crate::hook::Reactor;
use crate::runtime::State;
use crate::wait::{may_wait, wait};

/// Bytes that each end is asked to buffer; the system may grant less (`net.core.wmem_max`).
static BUFFER: c_int = 8 * 1024 * 1024;

/// Whose end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Side {
    /// The process that started the other.
    Master,
    /// The one that was started.
    Worker,
}

/// One end.
pub(super) struct End {
    fd: OwnedFd,
    closed: Cell<bool>,
}

impl End {
    pub(super) fn fd(&self) -> RawFd {
        self.fd.as_raw_fd()
    }
}

/// Both ends, as far as they are open in this process.
pub(super) struct Pipe {
    ends: RefCell<[Option<Rc<End>>; 2]>,
    pub(super) stream: bool,
}

/// How long an operation may wait, and for what else.
pub(super) struct Patience {
    pub(super) what: &'static str,
    pub(super) blocking: bool,
    pub(super) limit: Option<Duration>,
    /// Readable when nobody is left at the other end.
    pub(super) other: Option<RawFd>,
}

/// What an attempt that does not block came to.
enum Tried<T> {
    Done(T),
    Again,
}

impl Pipe {
    pub(super) fn new(stream: bool) -> Result<Self, c_int> {
        let kind = if stream { libc::SOCK_STREAM } else { libc::SOCK_SEQPACKET };
        let mut fds = [0; 2];
        // SAFETY: room for two descriptors.
        if unsafe { libc::socketpair(libc::AF_UNIX, kind | libc::SOCK_CLOEXEC, 0, fds.as_mut_ptr()) } != 0 {
            return Err(errno());
        }
        let ends = fds.map(|fd| {
            for option in [libc::SO_SNDBUF, libc::SO_RCVBUF] {
                let size = size_of::<c_int>() as libc::socklen_t;
                // SAFETY: the option's value is one int. What the system does not grant is not granted.
                unsafe { libc::setsockopt(fd, libc::SOL_SOCKET, option, (&raw const BUFFER).cast(), size) };
            }
            // SAFETY: new descriptors that nobody else owns.
            Some(Rc::new(End { fd: unsafe { OwnedFd::from_raw_fd(fd) }, closed: Cell::new(false) }))
        });
        Ok(Self { ends: RefCell::new(ends), stream })
    }

    /// An end, unless closed.
    pub(super) fn end(&self, side: Side) -> Option<Rc<End>> {
        self.ends.borrow()[side as usize].clone()
    }

    /// Closes an end; who waits at it is told. `false`: it was closed already.
    pub(super) fn close(&self, side: Side) -> bool {
        let Some(end) = self.ends.borrow_mut()[side as usize].take() else { return false };
        end.closed.set(true);
        if let Some(state) = State::existing() {
            state.room::<Reactor>().closing(end.fd());
        }
        true
    }
}

impl End {
    /// Ends one direction (`SHUT_RD`, `SHUT_WR`).
    pub(super) fn shutdown(&self, how: c_int) -> Result<(), c_int> {
        // SAFETY: takes integers.
        if unsafe { libc::shutdown(self.fd(), how) } == 0 { Ok(()) } else { Err(errno()) }
    }

    /// Whether operations of others (streams over the number) block.
    pub(super) fn set_blocking(&self, blocking: bool) -> Result<(), c_int> {
        let on = c_int::from(!blocking);
        // SAFETY: FIONBIO reads one int.
        if unsafe { libc::ioctl(self.fd(), libc::FIONBIO, &raw const on) } == 0 { Ok(()) } else { Err(errno()) }
    }

    /// How long the next message is; 0: nobody is left who could write one; EAGAIN: there is none.
    pub(super) fn next_length(&self) -> Result<usize, c_int> {
        let flags = libc::MSG_DONTWAIT | libc::MSG_PEEK | libc::MSG_TRUNC;
        loop {
            // SAFETY: no room is given, so nothing is written.
            let n = unsafe { libc::recv(self.fd(), std::ptr::null_mut(), 0, flags) };
            match usize::try_from(n) {
                Ok(n) => return Ok(n),
                Err(_) if errno() == libc::EINTR => {}
                Err(_) => return Err(errno()),
            }
        }
    }

    /// Reads once, at most `size` bytes: they, and how long the message was. Empty: nobody is left who could write.
    pub(super) fn read(
        &self,
        size: usize,
        stream: bool,
        patience: &Patience,
    ) -> Result<Result<(Vec<u8>, usize), c_int>, Raise> {
        let flags = libc::MSG_DONTWAIT | if stream { 0 } else { libc::MSG_TRUNC };
        let mut last = false;
        self.attempt(patience, libc::POLLIN, |over| {
            let mut buffer: Vec<u8> = Vec::with_capacity(size);
            // SAFETY: the kernel writes at most `size` bytes into room that is ours alone.
            let n = unsafe { libc::recv(self.fd(), buffer.as_mut_ptr().cast(), size, flags) };
            if let Ok(n) = usize::try_from(n) {
                // SAFETY: so many bytes were written.
                unsafe { buffer.set_len(n.min(size)) };
                return Ok(Tried::Done((buffer, n)));
            }
            match errno() {
                // What the other side wrote before its end is read first.
                libc::EAGAIN if over && std::mem::replace(&mut last, true) => Ok(Tried::Done((Vec::new(), 0))),
                libc::EAGAIN | libc::EINTR => Ok(Tried::Again),
                code => Err(code),
            }
        })
    }

    /// Writes all of it: how many bytes were taken, which is less only when the wait was broken off.
    pub(super) fn write(&self, bytes: &[u8], patience: &Patience) -> Result<Result<usize, c_int>, Raise> {
        let mut sent = 0;
        let result = self.attempt(patience, libc::POLLOUT, |over| {
            // Its end is open in this process, too, and perhaps in later children: the kernel would take bytes for nobody.
            if over {
                return Err(libc::EPIPE);
            }
            let flags = libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL;
            // SAFETY: the kernel reads at most so many bytes.
            let n = unsafe { libc::send(self.fd(), bytes[sent..].as_ptr().cast(), bytes.len() - sent, flags) };
            match usize::try_from(n) {
                Ok(n) => {
                    sent += n;
                    Ok(if sent == bytes.len() { Tried::Done(sent) } else { Tried::Again })
                }
                Err(_) => match errno() {
                    libc::EAGAIN | libc::EINTR => Ok(Tried::Again),
                    code => Err(code),
                },
            }
        })?;
        Ok(if sent > 0 { Ok(sent) } else { result })
    }

    /// Makes `attempt` until it is done, waiting in between as `patience` says. It is told whether the other side has ended.
    fn attempt<T>(
        &self,
        patience: &Patience,
        event: i16,
        mut attempt: impl FnMut(bool) -> Result<Tried<T>, c_int>,
    ) -> Result<Result<T, c_int>, Raise> {
        let until = deadline(patience.limit);
        loop {
            if self.closed.get() {
                return Ok(Err(libc::EBADF));
            }
            let over = patience.other.is_some_and(super::sys::readable);
            match attempt(over) {
                Ok(Tried::Done(value)) => return Ok(Ok(value)),
                Ok(Tried::Again) if over => continue,
                Ok(Tried::Again) if !patience.blocking => return Ok(Err(libc::EAGAIN)),
                Ok(Tried::Again) => {}
                Err(code) => return Ok(Err(code)),
            }
            if let Err(code) = self.pause(patience, event, until)? {
                return Ok(Err(code));
            }
        }
    }

    /// Waits until another attempt is worth it: in the coroutine, or blocking this process.
    fn pause(&self, patience: &Patience, event: i16, until: Option<Instant>) -> Result<Result<(), c_int>, Raise> {
        let mut fds = vec![(self.fd(), event)];
        fds.extend(patience.other.map(|fd| (fd, libc::POLLIN)));
        let Some(state) = State::existing().filter(|state| may_wait(state)) else {
            signals::dispatch()?;
            return Ok(match block(&fds, until)? {
                Blocked::Look => Ok(()),
                Blocked::TimedOut => Err(libc::ETIMEDOUT),
            });
        };
        // The numbers of poll(2) and epoll(7) are the same for these events.
        let fds: Vec<(RawFd, u32)> = fds.into_iter().map(|(fd, event)| (fd, event as u32)).collect();
        let reactor = state.room::<Reactor>();
        let cid = state.engine.current_id();
        let waited = wait(&state, Wait::Outside(patience.what), async {
            let ready = reactor.ready(cid, &fds);
            if let Some(at) = until {
                tokio::time::timeout_at(at.into(), ready).await.is_ok()
            } else {
                ready.await;
                true
            }
        })?;
        Ok(match waited {
            Some(true) => Ok(()),
            Some(false) => Err(libc::ETIMEDOUT),
            None => Err(libc::ECANCELED),
        })
    }
}
