//! A socket's descriptor, non-blocking, and how one waits for it.
//!
//! Every operation tries the system call first. Only when it would block does it wait: in a coroutine for the loop's
//! word (edge-triggered, so the descriptor is registered once), outside of one in `poll(2)`.

use std::cell::{Cell, RefCell};
use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::{AsRawFd, RawFd};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use apus_shm::ForkEpoch;
use socket2::Socket;
use tokio::io::unix::AsyncFd;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::wait::Deadline;

/// The direction of an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Way {
    /// Bytes or connections come.
    Read,
    /// Bytes leave, or a connection is made.
    Write,
}

/// How an operation that would block waits.
#[derive(Clone, Copy, Debug)]
pub(super) enum Pace {
    /// For the event loop that this key stands for. A forked child has another one.
    Loop(usize),
    /// In the system, at most until then: whoever polls waits between two polls, with [`Descriptor::block`].
    Block(Deadline),
    /// Not at all: what would block stays pending, and nobody is woken for it.
    Try,
}

/// A number that the loop watches; [`Descriptor`] owns what it stands for.
struct Watched(RawFd);

impl AsRawFd for Watched {
    fn as_raw_fd(&self) -> RawFd {
        self.0
    }
}

struct Registration {
    key: usize,
    io: ManuallyDrop<AsyncFd<Watched>>,
    /// The process that registered: a forked child must leave the parent's registration, which both epoll instances
    /// share.
    process: ForkEpoch,
}

/// A socket and its registration with the event loop.
pub(super) struct Descriptor {
    socket: Socket,
    registration: RefCell<Option<Registration>>,
    pace: Cell<Pace>,
    /// The directions that the last poll found blocked, as `poll(2)` names them.
    wanted: Cell<i16>,
}

impl Descriptor {
    /// Takes over a socket, which becomes non-blocking.
    pub(super) fn new(socket: Socket) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        Ok(Self {
            socket,
            registration: RefCell::new(None),
            pace: Cell::new(Pace::Block(Deadline::NEVER)),
            wanted: Cell::new(0),
        })
    }

    /// The socket.
    pub(super) fn socket(&self) -> &Socket {
        &self.socket
    }

    /// Says how the operation that begins now waits; gives how the one before did.
    pub(super) fn set_pace(&self, pace: Pace) -> Pace {
        self.pace.replace(pace)
    }

    /// Runs `body` without any waiting.
    pub(super) fn at_once<T>(&self, body: impl FnOnce() -> T) -> T {
        let pace = self.pace.replace(Pace::Try);
        let result = body();
        self.pace.set(pace);
        result
    }

    /// Blocks this process until the descriptor is ready for what the last poll wanted. Such a poll MUST have been.
    pub(super) fn block(&self, until: Deadline) -> io::Result<()> {
        let events = self.wanted.take();
        loop {
            let left = until.left().map_or(-1, |left| {
                // Rounded up: a wait that is a fraction of a millisecond short would spin.
                let left = left.saturating_add(Duration::from_micros(999));
                i32::try_from(left.as_millis()).unwrap_or(i32::MAX)
            });
            let mut entry = libc::pollfd { fd: self.socket.as_raw_fd(), events, revents: 0 };
            // SAFETY: one entry, alive during the call.
            match unsafe { libc::poll(&raw mut entry, 1, left) } {
                0 => return Err(io::ErrorKind::TimedOut.into()),
                n if n > 0 => return Ok(()),
                _ => {
                    let error = io::Error::last_os_error();
                    if error.kind() != io::ErrorKind::Interrupted {
                        return Err(error);
                    }
                }
            }
        }
    }

    fn register(&self, key: usize) -> io::Result<()> {
        let mut slot = self.registration.borrow_mut();
        if slot.as_ref().is_some_and(|known| known.key == key) {
            return Ok(());
        }
        Self::unregister(slot.take());
        // SAFETY: the number is that of `self.socket`, which is open as long as self; the registration goes before it,
        // in `drop`.
        let io = unsafe { AsyncFd::register(Watched(self.socket.as_raw_fd())) }?;
        *slot = Some(Registration { key, io: ManuallyDrop::new(io), process: ForkEpoch::now() });
        Ok(())
    }

    fn unregister(registration: Option<Registration>) {
        let Some(Registration { io, process, .. }) = registration else { return };
        if process.is_now() {
            drop(ManuallyDrop::into_inner(io));
        }
    }

    /// Makes `attempt` until it does something else than to block. Its second result tells that there is nothing left
    /// to do right now, as a short read does, which spares the attempt that would only find out.
    pub(super) fn poll_io<T>(
        &self,
        cx: &mut Context<'_>,
        way: Way,
        mut attempt: impl FnMut(&Socket) -> io::Result<(T, bool)>,
    ) -> Poll<io::Result<T>> {
        let mut attempt = || loop {
            match attempt(&self.socket) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return None,
                other => return Some(other),
            }
        };
        if let Some(done) = attempt() {
            return Poll::Ready(done.map(|(value, _)| value));
        }
        let key = match self.pace.get() {
            Pace::Loop(key) => key,
            Pace::Try => return Poll::Pending,
            Pace::Block(_) => {
                let event = if way == Way::Read { libc::POLLIN } else { libc::POLLOUT };
                self.wanted.set(self.wanted.get() | event);
                return Poll::Pending;
            }
        };
        self.register(key)?;
        let slot = self.registration.borrow();
        let Some(Registration { io, .. }) = &*slot else { return Poll::Ready(Err(io::ErrorKind::NotConnected.into())) };
        loop {
            let mut readiness = ready!(match way {
                Way::Read => io.poll_read_ready(cx),
                Way::Write => io.poll_write_ready(cx),
            })?;
            match attempt() {
                None => readiness.clear_ready(),
                Some(done) => {
                    if let Ok((_, true)) = &done {
                        readiness.clear_ready();
                    }
                    return Poll::Ready(done.map(|(value, _)| value));
                }
            }
        }
    }
}

impl Drop for Descriptor {
    fn drop(&mut self) {
        Self::unregister(self.registration.take());
    }
}

/// `recv(2)` into initialised memory.
pub(super) fn recv(socket: &Socket, into: &mut [u8], flags: i32) -> io::Result<usize> {
    // SAFETY: the kernel writes at most `into.len()` bytes into memory that is ours alone.
    let n = unsafe { libc::recv(socket.as_raw_fd(), into.as_mut_ptr().cast(), into.len(), flags) };
    usize::try_from(n).map_err(|_| io::Error::last_os_error())
}

/// The descriptor as a byte stream for TLS.
pub(super) struct Wire(pub(super) Rc<Descriptor>);

impl AsyncRead for Wire {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let into = buf.initialize_unfilled();
        let n = ready!(self.0.poll_io(cx, Way::Read, |socket| recv(socket, into, 0).map(|n| (n, n < into.len()))))?;
        buf.advance(n);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Wire {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.0.poll_io(cx, Way::Write, |socket| {
            socket.send_with_flags(bytes, libc::MSG_NOSIGNAL).map(|n| (n, n < bytes.len()))
        })
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(self.0.socket.shutdown(std::net::Shutdown::Write))
    }
}
