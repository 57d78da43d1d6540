//! The two ends of the pipe between a process and the one that started it.
//!
//! A pair of connected sockets: `SOCK_STREAM`, or `SOCK_SEQPACKET` where datagrams are asked for, which keeps the
//! borders of messages as well and, other than a datagram socket, tells its reader when the other side is gone.

use std::cell::{Cell, RefCell};
use std::ffi::c_int;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::rc::Rc;
use std::time::{Duration, Instant};

use apus_zend::Raise;
use rustix::buffer::spare_capacity;
use rustix::event::PollFlags;
use rustix::io::{Errno, ioctl_fionbio, retry_on_intr};
use rustix::net::sockopt::{set_socket_recv_buffer_size, set_socket_send_buffer_size};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, Shutdown, SocketFlags, SocketType, recv, send, shutdown, socketpair,
};

use super::signals;
use super::sys::{Blocked, block, deadline};
use crate::descriptor::Number;
use crate::hook::Reactor;
use crate::runtime::State;
use crate::wait::wait_either;

/// Bytes that each end is asked to buffer; the system may grant less (`net.core.wmem_max`).
const BUFFER: usize = 8 * 1024 * 1024;

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
    /// How many wait here for what comes next.
    readers: Cell<u32>,
}

/// One more who waits at an end, until it is dropped.
struct Reading<'a>(&'a Cell<u32>);

impl<'a> Reading<'a> {
    fn at(readers: &'a Cell<u32>) -> Self {
        readers.set(readers.get() + 1);
        Self(readers)
    }
}

impl Drop for Reading<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}

impl AsFd for End {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
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
        let kind = if stream { SocketType::STREAM } else { SocketType::SEQPACKET };
        let (one, other) =
            socketpair(AddressFamily::UNIX, kind, SocketFlags::CLOEXEC, None).map_err(Errno::raw_os_error)?;
        let ends = [one, other].map(|fd| {
            // What the system does not grant is not granted.
            let _ = set_socket_send_buffer_size(&fd, BUFFER);
            let _ = set_socket_recv_buffer_size(&fd, BUFFER);
            Some(Rc::new(End { fd, closed: Cell::new(false), readers: Cell::new(0) }))
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
    /// Ends one direction.
    pub(super) fn shutdown(&self, how: Shutdown) -> Result<(), Errno> {
        shutdown(&self.fd, how)
    }

    /// Whether operations of others (streams over the number) block.
    pub(super) fn set_blocking(&self, blocking: bool) -> Result<(), c_int> {
        ioctl_fionbio(&self.fd, !blocking).map_err(Errno::raw_os_error)
    }

    /// How long the next message is; 0: nobody is left who could write one; EAGAIN: there is none.
    pub(super) fn next_length(&self) -> Result<usize, c_int> {
        let flags = RecvFlags::DONTWAIT | RecvFlags::PEEK | RecvFlags::TRUNC;
        let told = retry_on_intr(|| recv(&self.fd, &mut [0_u8; 0], flags));
        told.map(|(_, length)| length).map_err(Errno::raw_os_error)
    }

    /// Whether somebody waits here for what comes next.
    pub(super) fn is_awaited(&self) -> bool {
        self.readers.get() > 0
    }

    /// Reads once, at most `size` bytes: they, and how long the message was. Empty: nobody is left who could write.
    pub(super) fn read(
        &self,
        size: usize,
        stream: bool,
        patience: &Patience,
    ) -> Result<Result<(Vec<u8>, usize), c_int>, Raise> {
        let flags = RecvFlags::DONTWAIT | if stream { RecvFlags::empty() } else { RecvFlags::TRUNC };
        let mut last = false;
        let _reading = patience.blocking.then(|| Reading::at(&self.readers));
        self.attempt(patience, PollFlags::IN, |over| {
            let mut buffer: Vec<u8> = Vec::with_capacity(size);
            match recv(&self.fd, spare_capacity(&mut buffer), flags) {
                Ok((_, length)) => {
                    buffer.truncate(size);
                    Ok(Tried::Done((buffer, length)))
                }
                // What the other side wrote before its end is read first.
                Err(Errno::AGAIN) if over && std::mem::replace(&mut last, true) => Ok(Tried::Done((Vec::new(), 0))),
                Err(Errno::AGAIN | Errno::INTR) => Ok(Tried::Again),
                Err(error) => Err(error.raw_os_error()),
            }
        })
    }

    /// Writes all of it: how many bytes were taken, which is less only when the wait was broken off.
    pub(super) fn write(&self, bytes: &[u8], patience: &Patience) -> Result<Result<usize, c_int>, Raise> {
        let mut sent = 0;
        let result = self.attempt(patience, PollFlags::OUT, |over| {
            // Its end is open in this process, too, and perhaps in later children: the kernel would take bytes for
            // nobody.
            if over {
                return Err(libc::EPIPE);
            }
            match send(&self.fd, &bytes[sent..], SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
                Ok(n) => {
                    sent += n;
                    Ok(if sent == bytes.len() { Tried::Done(sent) } else { Tried::Again })
                }
                Err(Errno::AGAIN | Errno::INTR) => Ok(Tried::Again),
                Err(error) => Err(error.raw_os_error()),
            }
        })?;
        Ok(if sent > 0 { Ok(sent) } else { result })
    }

    /// Makes `attempt` until it is done, waiting in between as `patience` says. It is told whether the other side has
    /// ended.
    fn attempt<T>(
        &self,
        patience: &Patience,
        event: PollFlags,
        mut attempt: impl FnMut(bool) -> Result<Tried<T>, c_int>,
    ) -> Result<Result<T, c_int>, Raise> {
        let until = deadline(patience.limit);
        loop {
            if self.closed.get() {
                return Ok(Err(libc::EBADF));
            }
            let over = patience.other.is_some_and(|fd| super::sys::readable(Number(fd)));
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
    fn pause(&self, patience: &Patience, event: PollFlags, until: Option<Instant>) -> Result<Result<(), c_int>, Raise> {
        let mut fds = vec![(self.fd(), event)];
        fds.extend(patience.other.map(|fd| (fd, PollFlags::IN)));
        let waited = wait_either(
            patience.what,
            |state| ready_until(state, &fds, until),
            || {
                signals::dispatch()?;
                Ok(block(&fds, until)? == Blocked::Look)
            },
        )?;
        Ok(match waited {
            Some(true) => Ok(()),
            Some(false) => Err(libc::ETIMEDOUT),
            None => Err(libc::ECANCELED),
        })
    }
}

/// Waits in the running coroutine until one of `fds` is ready; `false`: the time was over first.
fn ready_until(
    state: &Rc<State>,
    fds: &[(RawFd, PollFlags)],
    until: Option<Instant>,
) -> impl Future<Output = bool> + use<> {
    // The numbers of poll(2) and epoll(7) are the same for these events.
    let fds: Vec<(RawFd, u32)> = fds.iter().map(|&(fd, event)| (fd, u32::from(event.bits().cast_unsigned()))).collect();
    let reactor = state.room::<Reactor>();
    let cid = state.engine.current_id();
    async move {
        let ready = reactor.ready(cid, &fds);
        if let Some(at) = until {
            tokio::time::timeout_at(at.into(), ready).await.is_ok()
        } else {
            ready.await;
            true
        }
    }
}
