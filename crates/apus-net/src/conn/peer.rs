//! Input of a connection, and noticing that the peer left.

use std::io;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use super::io::Direction;
use super::{Conn, Expired, Io};
use crate::account::Holder;
use crate::body::BodyError;
use crate::exchange::UnreadBody;
use crate::input::Receive;

impl Conn {
    /// Reads once. Asks the kernel a second time only when the buffer was filled to its end.
    #[inline]
    pub(crate) fn poll_recv<S: Receive + ?Sized>(&self, cx: &mut Context<'_>, into: &mut S) -> Poll<io::Result<usize>> {
        loop {
            let io = self.io.borrow();
            let fd = match io.as_ref() {
                Some(fd @ Io::Registered(_)) => fd,
                Some(Io::Fresh(wire)) => match into.receive(wire) {
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                        drop(io);
                        self.register()?;
                        continue;
                    }
                    result => {
                        wire.introduce(&self.info, &self.port.worker.counters);
                        return Poll::Ready(result.map(|(count, _)| self.count_in(count)));
                    }
                },
                None => return Poll::Ready(Err(io::ErrorKind::NotConnected.into())),
            };
            if fd.wire().holds_input() {
                return Poll::Ready(into.receive(fd.wire()).map(|(count, _)| self.count_in(count)));
            }
            let mut guard = ready!(fd.poll_ready(Direction::Read, cx))?;
            match into.receive(fd.wire()) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => guard.clear_ready(),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Poll::Ready(Err(error)),
                Ok((count, room_left)) => {
                    if room_left && count > 0 {
                        // The socket is empty: edge-triggered epoll tells when that changes.
                        guard.clear_ready();
                    }
                    fd.wire().introduce(&self.info, &self.port.worker.counters);
                    return Poll::Ready(Ok(self.count_in(count)));
                }
            }
        }
    }

    #[inline]
    fn count_in(&self, count: usize) -> usize {
        let bytes_in = &self.port.worker.counters.bytes_in;
        bytes_in.set(bytes_in.get() + count as u64);
        self.body_bytes.set(self.body_bytes.get() + count as u64);
        count
    }

    /// While the program works: watches for the peer's EOF or reset without reading.
    ///
    /// Unread input (a pipelined request, a body nobody asks for) keeps the socket readable, so that no event would
    /// tell of the EOF behind it; then the sweep polls the task, which comes here again.
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
            return self.break_off();
        }
        if closed {
            self.peer_closed();
        }
        // Neither an EOF behind the unread input nor a reset after the EOF raises an event for us.
        self.watch_in_sweep.set(true);
    }
}

impl Holder for Conn {
    fn give_up(self: Rc<Self>) {
        self.expired.set(Some(Expired::Memory));
        self.wake_later();
    }
}

impl Conn {
    /// The peer left while its body was awaited.
    pub(crate) fn lost(&self) -> BodyError {
        self.peer_closed();
        BodyError::Disconnected
    }

    /// Sends 100 (Continue) once, if the client waits for it.
    pub(crate) fn send_continue(&self) {
        if self.exchange.expects_continue.get() {
            self.send_continue_now();
        }
    }

    pub(crate) fn send_continue_now(&self) {
        self.exchange.expects_continue.set(false);
        if self.exchange.unread.get() == UnreadBody::Large {
            self.exchange.unread.set(UnreadBody::Small);
        }
        if self.lane.is_some() {
            return self.inform(100, b"");
        }
        let mut out = self.out.borrow_mut();
        out.buffer(&self.port.worker.pool).extend_from_slice(apus_proto::http1::response::CONTINUE);
        self.push(out);
    }
}
