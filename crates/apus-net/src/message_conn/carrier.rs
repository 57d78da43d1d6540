//! What carries the bytes of a message connection: a socket of its own, or a stream within another connection (RFC
//! 8441).

use std::io::{self, IoSlice};
use std::rc::Rc;

use socket2::Socket;

use crate::info::ConnInfo;
use crate::input::Incoming;
use crate::kill::Kill;
use crate::output::Sink;
use crate::port_tls::Tls;
use crate::sys;
use crate::wire::Wire;
use crate::worker::Counters;

/// A stream whose bytes are those of a message connection. It tells with [`MessageConn::arrived`] and
/// [`MessageConn::has_room`] what epoll tells of sockets.
///
/// [`MessageConn::arrived`]: super::MessageConn::arrived
/// [`MessageConn::has_room`]: super::MessageConn::has_room
pub(crate) trait Tunnel {
    /// Takes bytes that came: how many, and whether it is known that none are left. None at the end; before it, the
    /// error `WouldBlock`.
    fn read(&self, into: &mut [u8]) -> io::Result<(usize, bool)>;

    /// As [`Sink::write`].
    fn write(&self, slices: &[IoSlice<'_>]) -> io::Result<usize>;

    /// Ends our direction, behind what was written.
    fn shut_down(&self) -> io::Result<()>;

    /// Bytes that were written and are held back on this side.
    fn held(&self) -> u64;

    /// The message connection is over.
    fn close(&self, kill: Kill);
}

/// What carries a message connection.
pub(crate) enum Carrier {
    Wire(Wire),
    Stream(Rc<dyn Tunnel>),
}

impl Carrier {
    /// Its own socket; none where it is a stream.
    pub(super) fn wire(&self) -> Option<&Wire> {
        match self {
            Self::Wire(wire) => Some(wire),
            Self::Stream(_) => None,
        }
    }

    pub(super) fn is_handshaking(&self) -> bool {
        self.wire().is_some_and(Wire::is_handshaking)
    }

    /// Whether TLS could be begun on it.
    pub(super) fn begin_tls(&self, tls: &Tls) -> bool {
        self.wire().is_some_and(|wire| wire.begin_tls(tls))
    }

    /// Whether bytes wait that TLS has sealed already.
    #[inline]
    pub(super) fn waits(&self) -> bool {
        match self {
            Self::Wire(wire) => wire.waits(),
            Self::Stream(_) => false,
        }
    }

    pub(super) fn flush(&self) -> io::Result<()> {
        self.wire().map_or(Ok(()), Wire::flush)
    }

    /// Tells `info` of the TLS session, once its handshake is over.
    #[inline]
    pub(super) fn introduce(&self, info: &ConnInfo, counters: &Counters) {
        if let Self::Wire(wire) = self {
            wire.introduce(info, counters);
        }
    }

    pub(super) fn shut_down(&self) -> io::Result<()> {
        match self {
            Self::Wire(wire) => wire.shut_down(),
            Self::Stream(stream) => stream.shut_down(),
        }
    }

    /// Bytes that were written and that the peer is not known to have.
    pub(super) fn in_flight(&self) -> u64 {
        match self {
            Self::Wire(wire) => sys::unacknowledged(wire.socket()).unwrap_or(0),
            Self::Stream(stream) => stream.held(),
        }
    }

    /// The message connection is over.
    pub(super) fn close(self, kill: Kill) {
        match self {
            Self::Wire(wire) => kill.before_close(wire.socket()),
            Self::Stream(stream) => stream.close(kill),
        }
    }
}

impl Incoming for Carrier {
    #[inline]
    fn read(&self, into: &mut [u8]) -> io::Result<(usize, bool)> {
        match self {
            Self::Wire(wire) => wire.read(into),
            Self::Stream(stream) => stream.read(into),
        }
    }
}

impl Sink for &Carrier {
    #[inline]
    fn write(&mut self, slices: &[IoSlice<'_>], more: bool) -> io::Result<usize> {
        match self {
            Carrier::Wire(wire) => Sink::write(&mut &*wire, slices, more),
            Carrier::Stream(stream) => stream.write(slices),
        }
    }

    fn file_target(&self) -> Option<&Socket> {
        self.wire().and_then(Wire::plain)
    }
}
