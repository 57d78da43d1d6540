//! What a message connection is carried by, read and written.

use std::io;
use std::rc::Rc;
use std::task::Poll;

use apus_loop::{Key, Loop};
use nix::sys::epoll::EpollFlags;

use super::MessageConn;
use super::carrier::Carrier;
use crate::input::Receive;
use crate::kill::Kill;
use crate::output::Sent;
use crate::runners::Driven;

impl Driven for MessageConn {
    fn key(&self) -> Option<Key> {
        self.key.get()
    }

    fn set_queued(&self, queued: bool) -> bool {
        let before = self.flags().queued;
        if before != queued {
            self.set_flags(|flags| flags.queued = queued);
        }
        before
    }

    fn begin(&self, of: &Rc<Loop>, key: Key) -> io::Result<()> {
        self.key.set(Some(key));
        match self.io.borrow().as_ref() {
            None => Err(io::ErrorKind::NotConnected.into()),
            // A stream is told of by the connection that carries it.
            Some(carrier) => carrier.wire().map_or(Ok(()), |wire| wire.watch(of, key)),
        }
    }

    fn note_events(&self, events: EpollFlags) -> bool {
        if events.intersects(EpollFlags::EPOLLOUT | EpollFlags::EPOLLERR | EpollFlags::EPOLLHUP)
            && let Some(waiting) = self.out.borrow_mut().as_mut()
        {
            waiting.unblock();
        }
        if events.contains(EpollFlags::EPOLLERR) {
            // Reset: nothing can be read or sent any more, and a paused message connection would not notice by reading.
            self.kill(Kill::Now);
        }
        let hung_up = events.intersects(EpollFlags::EPOLLRDHUP | EpollFlags::EPOLLHUP | EpollFlags::EPOLLERR);
        if hung_up || events.contains(EpollFlags::EPOLLIN) {
            self.set_flags(|flags| {
                flags.readable = true;
                flags.hung_up |= hung_up;
            });
        }
        true
    }
}

impl MessageConn {
    /// Begins TLS (STARTTLS) on a stream whose port has it and that began without; whether that was possible. What was
    /// sent before has to be with the kernel: it goes in clear.
    pub fn begin_tls(&self) -> bool {
        let began = !self.is_websocket()
            && self.is_established()
            && self.out.borrow().is_none()
            && match (&self.port.config.tls, &*self.io.borrow()) {
                (Some(tls), Some(carrier)) => carrier.begin_tls(tls),
                _ => false,
            };
        if began {
            self.info.tls_begun.set(true);
            // The time for the handshake begins.
            self.seen.set(self.worker().clock.now());
            self.set_flags(|flags| flags.sealed = true);
            self.wake_task();
        }
        began
    }

    /// Closes our direction; whether that was possible.
    pub(crate) fn shut_down(&self) -> bool {
        self.io.borrow().as_ref().is_some_and(|io| io.shut_down().is_ok())
    }

    /// There is more to read: what the kernel says of a socket, said of a stream.
    pub(crate) fn arrived(&self) {
        self.set_flags(|flags| flags.readable = true);
        self.wake_later();
    }

    /// More may be sent, again of a stream.
    pub(crate) fn has_room(&self) {
        if let Some(waiting) = self.out.borrow_mut().as_mut()
            && waiting.is_blocked()
        {
            waiting.unblock();
            self.wake_later();
        }
    }

    /// Reads once. Pending: an event will tell when there is something.
    #[inline]
    pub(crate) fn poll_recv<S: Receive + ?Sized>(&self, into: &mut S) -> Poll<io::Result<usize>> {
        let io = self.io.borrow();
        let Some(carrier) = io.as_ref() else { return Poll::Ready(Err(io::ErrorKind::NotConnected.into())) };
        while self.flags().readable {
            match into.receive(carrier) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.set_flags(|flags| flags.readable = false);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.worker().unsealed(&self.info, &error);
                    return Poll::Ready(Err(error));
                }
                Ok((count, room_left)) => {
                    if room_left && count > 0 && !self.flags().hung_up {
                        // The socket is empty, and an event will tell when that changes.
                        self.set_flags(|flags| flags.readable = false);
                    }
                    carrier.introduce(&self.info, &self.worker().counters);
                    let bytes_in = &self.worker().counters.bytes_in;
                    bytes_in.set(bytes_in.get() + count as u64);
                    return Poll::Ready(Ok(count));
                }
            }
        }
        Poll::Pending
    }

    /// Whether the kernel has told of input that nobody has to open: where TLS may begin, it may be for that.
    pub(crate) fn may_receive(&self) -> bool {
        let (flags, io) = (self.flags(), self.io.borrow());
        let on_wire = || io.as_ref().and_then(Carrier::wire).is_some();
        flags.readable && !flags.hung_up && self.port.config.tls.is_none() && on_wire()
    }

    /// Sends what waits. Ready when nothing waits any more; an error when the connection is broken.
    pub(crate) fn poll_output(&self) -> Poll<io::Result<()>> {
        if let Some(carrier) = &*self.io.borrow()
            && carrier.waits()
        {
            match carrier.flush() {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Poll::Pending,
                flushed => flushed?,
            }
        }
        loop {
            let blocked = match &*self.out.borrow() {
                None => return Poll::Ready(Ok(())),
                Some(waiting) => waiting.is_blocked(),
            };
            if blocked {
                return Poll::Pending;
            }
            let io = self.io.borrow();
            let Some(carrier) = io.as_ref() else { return Poll::Ready(Err(io::ErrorKind::NotConnected.into())) };
            if self.send_waiting(carrier)? == Sent::More {
                self.wake_later();
                return Poll::Pending;
            }
        }
    }
}
