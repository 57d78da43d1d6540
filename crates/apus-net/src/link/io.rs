//! The socket of a link.

use std::io;
use std::task::{Context, Poll, ready};

use super::Link;
use super::out::Sent;
use crate::conn::Receive;

impl Link {
    /// Reads once.
    #[inline]
    pub(super) fn poll_recv<S: Receive + ?Sized>(&self, cx: &mut Context<'_>, into: &mut S) -> Poll<io::Result<usize>> {
        let io = self.io.borrow();
        let Some(fd) = io.as_ref() else { return Poll::Ready(Err(io::ErrorKind::NotConnected.into())) };
        loop {
            let mut guard = ready!(fd.poll_read_ready(cx))?;
            match into.receive(fd.get_ref()) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => guard.clear_ready(),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Poll::Ready(Err(error)),
                Ok((count, room_left)) => {
                    if room_left && count > 0 {
                        // The socket is empty: edge-triggered epoll tells when that changes.
                        guard.clear_ready();
                    }
                    let control = self.control();
                    control.counters.bytes_in.set(control.counters.bytes_in.get() + count as u64);
                    return Poll::Ready(Ok(count));
                }
            }
        }
    }

    /// Sends what waits. Ready when nothing waits any more; an error when the connection is broken.
    pub(super) fn poll_output(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        loop {
            if self.out.borrow().is_none() {
                return Poll::Ready(Ok(()));
            }
            let io = self.io.borrow();
            let Some(fd) = io.as_ref() else { return Poll::Ready(Err(io::ErrorKind::NotConnected.into())) };
            let mut guard = ready!(fd.poll_write_ready(cx))?;
            match self.send_waiting(fd.get_ref())? {
                Sent::All => {}
                Sent::Blocked => guard.clear_ready(),
                Sent::More => {
                    cx.waker().wake_by_ref();
                    return Poll::Pending;
                }
            }
        }
    }
}
