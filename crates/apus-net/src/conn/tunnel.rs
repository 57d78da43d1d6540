//! A stream that carries a WebSocket (RFC 8441): what comes over it waits here until its message connection reads it,
//! and what that writes goes into the frames of the connection which carries the stream. What waits is bounded by the
//! windows that the peer was given.

use std::cell::{Cell, RefCell};
use std::io::{self, IoSlice};
use std::rc::{Rc, Weak};

use apus_proto::http2::ErrorCode;
use bytes::{Buf, Bytes, BytesMut};

use super::Conn;
use super::muxed::MuxedStream;
use crate::account::Share;
use crate::exchange::AnswerPhase;
use crate::kill::Kill;
use crate::message_conn::{MessageConn, Tunnel};
use crate::output::Sink;

/// What a stream has that asked for a WebSocket.
#[derive(Default)]
pub(super) struct Inbox {
    bytes: RefCell<BytesMut>,
    /// Of the worker's memory.
    share: RefCell<Option<Share>>,
    /// The peer says nothing more.
    ended: Cell<bool>,
    /// Who reads it, once the handshake is accepted.
    reader: RefCell<Weak<MessageConn>>,
    accepted: Cell<bool>,
    /// The message connection is over.
    closed: Cell<bool>,
}

impl Inbox {
    fn count(&self, bytes: usize) {
        if let Some(share) = &mut *self.share.borrow_mut() {
            share.set(bytes);
            // It is for us to read it.
            share.wait();
        }
    }

    fn with_reader(&self, work: impl FnOnce(&MessageConn)) {
        let reader = self.reader.borrow().upgrade();
        if let Some(message_conn) = reader {
            work(&message_conn);
        }
    }
}

impl Conn {
    fn inbox(&self) -> Option<(&MuxedStream, &Inbox)> {
        let muxed = self.muxed.as_deref()?;
        Some((muxed, muxed.inbox.as_deref()?))
    }

    /// Whether it is a stream that carries a message connection.
    pub(crate) fn is_tunnel(&self) -> bool {
        self.inbox().is_some_and(|(_, inbox)| inbox.accepted.get())
    }

    /// Whether what it asked for is not decided yet.
    pub(crate) fn may_become_tunnel(&self) -> bool {
        !self.broken.get() && (self.exchange.phase() == AnswerPhase::Arriving || self.exchange.is_answerable())
    }

    /// Whether its message connection is over.
    pub(crate) fn is_tunnel_closed(&self) -> bool {
        self.inbox().is_some_and(|(_, inbox)| inbox.closed.get())
    }

    /// Bytes came on a stream that asked for a WebSocket.
    pub(crate) fn tunnel_brought(self: &Rc<Self>, data: &[u8]) {
        let Some((_, inbox)) = self.inbox() else { return };
        let waiting = {
            let mut bytes = inbox.bytes.borrow_mut();
            bytes.extend_from_slice(data);
            bytes.len()
        };
        inbox.share.borrow_mut().get_or_insert_with(|| {
            let weak: Weak<Self> = Rc::downgrade(self);
            Share::new(&self.port.worker.account, weak)
        });
        inbox.count(waiting);
        inbox.with_reader(MessageConn::arrived);
    }

    /// Nothing more comes on it.
    pub(crate) fn tunnel_ended(&self) {
        if let Some((_, inbox)) = self.inbox() {
            inbox.ended.set(true);
            inbox.with_reader(MessageConn::arrived);
        }
    }

    /// The stream is broken off.
    pub(crate) fn tunnel_broke(&self) {
        if let Some((_, inbox)) = self.inbox() {
            inbox.with_reader(|message_conn| message_conn.kill(Kill::Now));
        }
    }

    /// The worker has no memory left for what waits here.
    pub(crate) fn tunnel_gives_up(&self) {
        let reader = self.inbox().and_then(|(_, inbox)| inbox.reader.borrow().upgrade());
        if let Some(message_conn) = reader {
            crate::account::Holder::give_up(message_conn);
        }
    }

    /// The connection that carries it is asked to end.
    pub(crate) fn close_tunnel(&self) {
        let reader = self.inbox().and_then(|(_, inbox)| inbox.reader.borrow().upgrade());
        if let Some(message_conn) = reader {
            message_conn.close(apus_proto::websocket::close::GOING_AWAY, "the connection is closed");
        }
    }

    /// Nobody reads what came, and comes.
    pub(crate) fn drop_tunnel(&self) {
        if let Some((_, inbox)) = self.inbox() {
            *inbox.bytes.borrow_mut() = BytesMut::new();
            *inbox.share.borrow_mut() = None;
            self.discard_stream_body();
        }
    }

    /// Breaks the stream off if the peer has not taken what was written; whether that is so.
    pub(crate) fn abandon_tunnel(&self) -> bool {
        let held = self.held() > 0;
        if held && let Some((muxed, _)) = self.inbox() {
            muxed.mux.session.borrow_mut().reset(muxed.id, ErrorCode::CANCEL);
        }
        held
    }

    /// Accepts the handshake with these field lines; whether the stream is still there.
    pub(crate) fn accept_tunnel(&self, lines: &[u8]) -> bool {
        let Some((muxed, inbox)) = self.inbox() else { return false };
        // What HTTP/1.1 answers with 101 (RFC 8441 section 5).
        let accepted = muxed.mux.session.borrow_mut().head(muxed.id, 200, lines, false).is_ok();
        inbox.accepted.set(accepted);
        self.touch();
        accepted
    }

    /// Who reads what comes from now on.
    pub(crate) fn lead_to(&self, message_conn: &Rc<MessageConn>) {
        if let Some((_, inbox)) = self.inbox() {
            *inbox.reader.borrow_mut() = Rc::downgrade(message_conn);
        }
    }

    /// Tells the message connection where its stream takes more again.
    pub(crate) fn serve_tunnel(&self) {
        let Some((muxed, inbox)) = self.inbox() else { return };
        muxed.touched.set(false);
        if !muxed.mux.session.borrow().is_full(muxed.id) {
            inbox.with_reader(MessageConn::has_room);
        }
    }
}

impl Tunnel for Conn {
    fn read(&self, into: &mut [u8]) -> io::Result<(usize, bool)> {
        let Some((muxed, inbox)) = self.inbox() else { return Err(io::ErrorKind::NotConnected.into()) };
        let (count, left) = {
            let mut bytes = inbox.bytes.borrow_mut();
            let count = into.len().min(bytes.len());
            into[..count].copy_from_slice(&bytes[..count]);
            bytes.advance(count);
            if bytes.is_empty() {
                // An idle one owns nothing.
                *bytes = BytesMut::new();
            }
            (count, bytes.len())
        };
        let ended = inbox.ended.get();
        if count == 0 && !ended {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        inbox.count(left);
        let mut session = muxed.mux.session.borrow_mut();
        session.consumed(muxed.id, count);
        let tells = session.has_output();
        drop(session);
        if tells {
            self.touch();
        }
        Ok((count, left == 0 && !ended))
    }

    fn write(&self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        if self.broken.get() {
            // As a socket takes it until the peer's reset comes: what that has said before is still read.
            return Ok(slices.iter().map(|slice| slice.len()).sum());
        }
        let Some(mut muxed) = self.muxed.as_deref() else { return Err(io::ErrorKind::NotConnected.into()) };
        let taken = Sink::write(&mut muxed, slices, false)?;
        muxed.mux.count();
        self.touch();
        Ok(taken)
    }

    fn shut_down(&self) -> io::Result<()> {
        let Some((muxed, _)) = self.inbox() else { return Err(io::ErrorKind::NotConnected.into()) };
        let ended = muxed.mux.session.borrow_mut().data(muxed.id, Bytes::new(), true);
        self.touch();
        ended.map_err(|_| io::ErrorKind::BrokenPipe.into())
    }

    fn held(&self) -> u64 {
        self.muxed.as_deref().map_or(0, |muxed| muxed.mux.session.borrow().queued(muxed.id) as u64)
    }

    fn close(&self, kill: Kill) {
        let Some((muxed, inbox)) = self.inbox() else { return };
        if kill == Kill::Reset {
            // RFC 8441 section 5: what a reset is to a connection of its own.
            muxed.mux.session.borrow_mut().reset(muxed.id, ErrorCode::CANCEL);
        } else {
            // Behind what is on its way; it may have been said before.
            let _ = self.shut_down();
        }
        inbox.closed.set(true);
        self.touch();
    }
}
