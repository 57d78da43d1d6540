//! The socket of a connection.

use std::io;
use std::task::{Context, Poll};

use tokio::io::unix::{AsyncFd, AsyncFdReadyGuard};

use super::Conn;
use crate::sys;
use crate::wire::Wire;

/// A socket, known to epoll only once it had to be waited for: a connection that brings its request at once and ends
/// with the answer never is, which saves two system calls.
pub(crate) enum Io {
    Fresh(Wire),
    Registered(AsyncFd<Wire>),
}

/// The direction of readiness.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    Read,
    Write,
}

impl Io {
    #[inline]
    pub(crate) fn wire(&self) -> &Wire {
        match self {
            Self::Fresh(wire) => wire,
            Self::Registered(fd) => fd.get_ref(),
        }
    }

    /// Waits for readiness. MUST NOT be called before [`Conn::register`].
    #[inline]
    pub(super) fn poll_ready(
        &self,
        direction: Direction,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<AsyncFdReadyGuard<'_, Wire>>> {
        match (self, direction) {
            (Self::Registered(fd), Direction::Read) => fd.poll_read_ready(cx),
            (Self::Registered(fd), Direction::Write) => fd.poll_write_ready(cx),
            (Self::Fresh(_), _) => Poll::Ready(Err(io::ErrorKind::NotConnected.into())),
        }
    }
}

impl Conn {
    /// Has epoll watch the socket, if it does not yet.
    #[inline]
    pub(super) fn register(&self) -> io::Result<()> {
        if matches!(*self.io.borrow(), Some(Io::Registered(_))) { Ok(()) } else { self.register_now() }
    }

    #[cold]
    fn register_now(&self) -> io::Result<()> {
        let mut io = self.io.borrow_mut();
        let Some(Io::Fresh(wire)) = io.take() else { return Err(io::ErrorKind::NotConnected.into()) };
        *io = Some(Io::Registered(sys::register(wire)?));
        Ok(())
    }
}
