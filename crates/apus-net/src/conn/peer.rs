//! Input of a connection, and noticing that the peer left.

use std::io;
use std::rc::Rc;
use std::task::{Context, Poll};

use super::{Conn, Expired};
use crate::account::Holder;
use crate::body::BodyError;
use crate::exchange::UnreadBody;
use crate::input::Receive;
use apus_loop::after_the_others;

impl Conn {
    /// Reads once. Asks the kernel a second time only when the buffer was filled to its end.
    #[inline]
    pub(crate) fn poll_recv<S: Receive + ?Sized>(&self, cx: &mut Context<'_>, into: &mut S) -> Poll<io::Result<usize>> {
        loop {
            let io = self.io.borrow();
            let Some(wire) = io.as_ref() else { return Poll::Ready(Err(io::ErrorKind::NotConnected.into())) };
            let (watched, held) = (wire.is_watched(), wire.holds_input());
            if watched && !held && !self.ready.get().may_read() {
                return Poll::Pending;
            }
            if self.reads.get() == 0 {
                after_the_others(cx);
                return Poll::Pending;
            }
            self.reads.set(self.reads.get() - 1);
            match into.receive(wire) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    if watched {
                        self.set_ready(|ready| ready.readable = false);
                    } else {
                        drop(io);
                        self.register()?;
                    }
                }
                Err(error) => {
                    self.port.worker.unsealed(&self.info, &error);
                    return Poll::Ready(Err(error));
                }
                Ok((count, room_left)) => {
                    if watched && !held && room_left && count > 0 {
                        // The socket is empty: edge-triggered epoll tells when that changes.
                        self.set_ready(|ready| ready.readable = false);
                    }
                    wire.introduce(&self.info, &self.port.worker.counters);
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
    pub(crate) fn watch_peer(&self) {
        self.watch_in_sweep.set(false);
        if self.broken.get() {
            return;
        }
        if self.register().is_err() {
            return self.break_off();
        }
        let ready = self.ready.get();
        if !ready.may_read() {
            return;
        }
        let closed = ready.read_closed;
        let reset = closed && ready.write_closed;
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
        if self.muxed.is_some() {
            return self.inform(100, b"");
        }
        let mut out = self.out.borrow_mut();
        out.buffer(&self.port.worker.pool).extend_from_slice(apus_proto::http1::response::CONTINUE);
        self.push(out);
    }
}
