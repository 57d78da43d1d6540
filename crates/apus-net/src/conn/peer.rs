//! Input of a connection, and noticing that the peer left.

use std::io::{self, Read};
use std::task::{Context, Poll, ready};

use socket2::Socket;

use super::input::Input;
use super::io::Direction;
use super::{Conn, Io};
use crate::pool::Pool;

/// Where received bytes go. Asked for only when there is something to read.
pub(crate) trait Space {
    fn space(&mut self) -> &mut [u8];
}

impl Space for [u8] {
    #[inline]
    fn space(&mut self) -> &mut [u8] {
        self
    }
}

/// The input buffer of a connection, borrowed from the pool at need.
impl Space for (&mut Input, &Pool) {
    #[inline]
    fn space(&mut self) -> &mut [u8] {
        self.0.space(self.1)
    }
}

impl Conn {
    /// Reads once. Asks the kernel a second time only when the buffer was filled to its end.
    #[inline]
    pub(crate) fn poll_recv<S: Space + ?Sized>(&self, cx: &mut Context<'_>, into: &mut S) -> Poll<io::Result<usize>> {
        loop {
            let io = self.io.borrow();
            let fd = match io.as_ref() {
                Some(fd @ Io::Registered(_)) => fd,
                Some(Io::Fresh(socket)) => match read(socket, into.space()) {
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                        drop(io);
                        self.register()?;
                        continue;
                    }
                    result => return Poll::Ready(self.count_in(result)),
                },
                None => return Poll::Ready(Err(io::ErrorKind::NotConnected.into())),
            };
            let mut guard = ready!(fd.poll_ready(Direction::Read, cx))?;
            let buf = into.space();
            match read(fd.socket(), buf) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => guard.clear_ready(),
                result => {
                    if result.as_ref().is_ok_and(|count| *count > 0 && *count < buf.len()) {
                        // The socket is empty: edge-triggered epoll tells when that changes.
                        guard.clear_ready();
                    }
                    return Poll::Ready(self.count_in(result));
                }
            }
        }
    }

    #[inline]
    fn count_in(&self, result: io::Result<usize>) -> io::Result<usize> {
        let count = *result.as_ref().unwrap_or(&0);
        let bytes_in = &self.port.control.counters.bytes_in;
        bytes_in.set(bytes_in.get() + count as u64);
        self.body_bytes.set(self.body_bytes.get() + count as u64);
        result
    }

    /// While the program works: watches for the peer's EOF or reset without reading.
    ///
    /// Unread input (a pipelined request, a body nobody asks for) keeps the socket readable, so that no event would tell of
    /// the EOF behind it; then the sweep polls the task, which comes here again.
    pub(crate) fn watch_peer(&self, cx: &mut Context<'_>) {
        self.watch_in_sweep.set(false);
        if self.broken.get() {
            return;
        }
        if self.register().is_err() {
            return self.break_off();
        }
        let (closed, reset) = {
            let io = self.io.borrow();
            let Some(fd) = io.as_ref() else { return };
            match fd.poll_ready(Direction::Read, cx) {
                Poll::Pending => return,
                Poll::Ready(Err(_)) => (true, true),
                Poll::Ready(Ok(guard)) => {
                    let closed = guard.ready().is_read_closed();
                    let reset = closed
                        && matches!(fd.poll_ready(Direction::Write, cx), Poll::Ready(Ok(write)) if write.ready().is_write_closed());
                    (closed, reset)
                }
            }
        };
        if reset {
            self.break_off();
        } else if closed {
            self.peer_closed();
            // A reset after the EOF raises no event in the read direction any more.
            self.watch_in_sweep.set(true);
        } else {
            self.watch_in_sweep.set(true);
        }
    }
}

#[inline]
fn read(mut socket: &Socket, buf: &mut [u8]) -> io::Result<usize> {
    loop {
        match socket.read(buf) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}
