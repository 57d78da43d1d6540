//! The socket of a connection, and TLS around it where the port has that.
//!
//! The plain way costs one comparison: it reads and writes as a bare socket does.

use std::cell::{Cell, OnceCell, RefCell};
use std::io::{self, IoSlice, Read, Write};
use std::net::Shutdown;
use std::os::fd::{AsFd, AsRawFd, RawFd};
use std::rc::Rc;

use apus_loop::{Key, Loop};
use apus_tls::Session;
use socket2::Socket;

use crate::info::{ConnInfo, TlsInfo};
use crate::output::Sink;
use crate::port_tls::Tls;
use crate::sys;
use crate::worker::{Counters, bump};

/// Bytes that are opened into a vector in one call.
const OPEN: usize = 64 * 1024;

/// A socket, and the session of TLS over it.
pub(crate) struct Wire {
    socket: Socket,
    /// The loop watches it.
    watched: Cell<bool>,
    tls: OnceCell<Box<Sealed>>,
}

struct Sealed {
    session: RefCell<Session>,
    /// Nothing was read yet.
    fresh: Cell<bool>,
    /// The peer speaks no TLS: what is said to it goes as it is.
    refused: Cell<bool>,
}

impl Sealed {
    /// `looks`: whether it is to be noticed that the peer speaks no TLS, so that it can be told so.
    fn new(tls: &Tls, looks: bool) -> io::Result<Box<Self>> {
        let session = RefCell::new(Session::new(tls.now()).map_err(io::Error::other)?);
        Ok(Box::new(Self { session, fresh: Cell::new(looks), refused: Cell::new(false) }))
    }
}

impl Wire {
    #[inline]
    pub(crate) fn new(socket: Socket, tls: Option<&Tls>) -> io::Result<Self> {
        let wire = Self { socket, watched: Cell::new(false), tls: OnceCell::new() };
        if let Some(tls) = tls {
            let _ = wire.tls.set(Sealed::new(tls, true)?);
        }
        Ok(wire)
    }

    /// Begins TLS on a connection that began without; whether that was possible. What its peer sends from now on is a
    /// handshake, or ends it.
    pub(crate) fn begin_tls(&self, tls: &Tls) -> bool {
        self.tls.get().is_none() && Sealed::new(tls, false).is_ok_and(|sealed| self.tls.set(sealed).is_ok())
    }

    /// Has the loop watch the socket under this key from now on.
    pub(crate) fn watch(&self, of: &Loop, key: Key) -> io::Result<()> {
        if self.watched.get() {
            return of.rewatch(self.socket.as_fd(), key);
        }
        of.watch(self.socket.as_fd(), key)?;
        self.watched.set(true);
        Ok(())
    }

    /// It is about to be closed. MUST be called before it is dropped.
    pub(crate) fn unwatch(&self, of: &Loop) {
        if self.watched.replace(false) {
            of.unwatch(self.socket.as_raw_fd());
        }
    }

    /// Whether the loop watches the socket.
    #[inline]
    pub(crate) fn is_watched(&self) -> bool {
        self.watched.get()
    }

    #[inline]
    pub(crate) fn socket(&self) -> &Socket {
        &self.socket
    }

    #[inline]
    fn sealed(&self) -> Option<&Sealed> {
        self.tls.get().map(|sealed| &**sealed).filter(|sealed| !sealed.refused.get())
    }

    /// The socket, where nothing stands between it and its peer.
    #[inline]
    pub(crate) fn plain(&self) -> Option<&Socket> {
        if self.sealed().is_none() { Some(&self.socket) } else { None }
    }

    /// Reads once: how many bytes, and whether the socket is known to be empty then.
    #[inline]
    pub(crate) fn read(&self, into: &mut [u8]) -> io::Result<(usize, bool)> {
        match self.sealed() {
            None => {
                let count = (&self.socket).read(into)?;
                Ok((count, count < into.len()))
            }
            Some(sealed) => self.open(sealed, into),
        }
    }

    /// The same behind what a vector holds, at most `room` bytes, without growing it.
    pub(crate) fn read_behind(&self, into: &mut Vec<u8>, room: usize) -> io::Result<(usize, bool)> {
        if let Some(socket) = self.plain() {
            let count = sys::receive_behind(socket, into, room)?;
            return Ok((count, count < room));
        }
        let len = into.len();
        into.resize(len + room.min(OPEN), 0);
        let opened = self.read(&mut into[len..]);
        into.truncate(len + opened.as_ref().map_or(0, |opened| opened.0));
        opened
    }

    fn open(&self, sealed: &Sealed, into: &mut [u8]) -> io::Result<(usize, bool)> {
        if sealed.fresh.get() {
            let first = sys::peek(&self.socket)?;
            sealed.fresh.set(false);
            // A handshake begins with 0x16; a method of HTTP, and what most else says first, with a letter.
            if first.is_some_and(|byte| byte.is_ascii_alphabetic()) {
                sealed.refused.set(true);
                return Err(io::ErrorKind::Unsupported.into());
            }
        }
        let opened = sealed.session.borrow_mut().read(&mut Raw(&self.socket), into)?;
        Ok((opened.count, opened.drained))
    }

    /// Whether the peer has not shown yet that it speaks TLS.
    #[inline]
    pub(crate) fn is_handshaking(&self) -> bool {
        self.sealed().is_some_and(|sealed| sealed.session.borrow().is_handshaking())
    }

    /// Whether there is input here of which the socket does not tell.
    #[inline]
    pub(crate) fn holds_input(&self) -> bool {
        self.sealed().is_some_and(|sealed| sealed.session.borrow().holds_input())
    }

    /// Sealed bytes that the socket did not take wait here.
    #[inline]
    pub(crate) fn waits(&self) -> bool {
        self.sealed().is_some_and(|sealed| sealed.session.borrow().waits())
    }

    /// Sends them.
    #[cold]
    pub(crate) fn flush(&self) -> io::Result<()> {
        self.sealed().map_or(Ok(()), |sealed| sealed.session.borrow_mut().flush(&mut Raw(&self.socket)))
    }

    /// Closes our direction, with the alert that TLS wants before it (RFC 8446 section 6.1).
    pub(crate) fn shut_down(&self) -> io::Result<()> {
        self.say_goodbye();
        self.socket.shutdown(Shutdown::Write)
    }

    fn say_goodbye(&self) {
        // Who has not said a word has not shown that it speaks TLS.
        if let Some(sealed) = self.sealed().filter(|sealed| !sealed.fresh.get()) {
            let mut session = sealed.session.borrow_mut();
            session.close();
            // A peer that takes nothing does not want to know.
            let _ = session.flush(&mut Raw(&self.socket));
        }
    }

    /// Tells `info` of the session, once its handshake is over.
    #[inline]
    pub(crate) fn introduce(&self, info: &ConnInfo, counters: &Counters) {
        if let Some(sealed) = self.sealed()
            && info.tls.get().is_none()
        {
            let session = sealed.session.borrow();
            if !session.is_handshaking() {
                let told = TlsInfo::of(&session);
                bump(if told.resumed { &counters.tls_resumed } else { &counters.tls_full });
                let _ = info.tls.set(Rc::new(told));
            }
        }
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        debug_assert!(!self.watched.get() || std::thread::panicking(), "hooks would leave its number alone for ever");
        self.say_goodbye();
    }
}

impl AsRawFd for Wire {
    fn as_raw_fd(&self) -> RawFd {
        self.socket.as_raw_fd()
    }
}

impl Sink for &Wire {
    #[inline]
    fn write(&mut self, slices: &[IoSlice<'_>], more: bool) -> io::Result<usize> {
        match self.sealed() {
            None => Sink::write(&mut &self.socket, slices, more),
            Some(sealed) => sealed.session.borrow_mut().write(&mut Raw(&self.socket), slices),
        }
    }

    fn file_target(&self) -> Option<&Socket> {
        self.plain()
    }

    fn waits(&self) -> bool {
        Wire::waits(self)
    }
}

/// A socket whose writes raise no signal.
struct Raw<'s>(&'s Socket);

impl Read for Raw<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.0.read(into)
    }
}

impl Write for Raw<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.send_with_flags(bytes, libc::MSG_NOSIGNAL)
    }

    fn write_vectored(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        self.0.send_vectored_with_flags(slices, libc::MSG_NOSIGNAL)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
