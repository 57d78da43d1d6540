//! Streams of HTTP/2 ([`crate::http2`]) as connections of their own: each has an answer and an output that waits, as a
//! connection of HTTP/1.1 has, and what it says goes into the frames of the connection that carries it.
//!
//! The output of such a stream is never sent by whoever appends to it: it counts as blocked, and the task of the
//! carrying connection moves it into frames when that is [touched](Conn::touch).

use std::cell::{Cell, RefCell};
use std::io::{self, IoSlice};
use std::rc::{Rc, Weak};

use apus_proto::http1::response as wire;
use apus_proto::http2::ErrorCode;
use bytes::Bytes;

use super::tunnel::Inbox;
use super::{Conn, Timer};
use crate::answer::SendError;
use crate::exchange::AnswerPhase;
use crate::http2::Session;
use crate::info::ConnInfo;
use crate::kill::Kill;
use crate::output::{OutputQueue, Sent, Sink};
use crate::worker::Worker;

/// Bytes that are moved into a stream at once.
const PIECE: usize = 16 * 1024;

/// A connection that carries streams, as these reach it.
pub(crate) struct Mux {
    pub(crate) session: RefCell<Session>,
    /// Streams that the connection's task is to look at.
    touched: RefCell<Vec<u32>>,
    /// Bytes that wait in the streams.
    waiting: Cell<usize>,
    /// Bytes that wait in the session, as the worker counts them.
    held: Cell<usize>,
    worker: Rc<Worker>,
    /// The sweep asks for a look at all deadlines.
    pub(crate) look: Cell<bool>,
    conn: Weak<Conn>,
}

/// What makes a connection a stream of another.
pub(crate) struct MuxedStream {
    pub(super) id: u32,
    pub(super) mux: Rc<Mux>,
    pub(super) touched: Cell<bool>,
    /// Nobody handles the request any more.
    handled: Cell<bool>,
    /// Bytes that wait in it, as its connection counts them.
    waiting: Cell<usize>,
    /// The frame that ends the answer was given.
    ended: Cell<bool>,
    /// Field lines that follow the body.
    trailers: RefCell<Vec<u8>>,
    /// What comes for the WebSocket that was asked for.
    pub(super) inbox: Option<Box<Inbox>>,
    /// It has a session id of its own, by which it is found.
    apart: Cell<bool>,
}

impl Mux {
    pub(crate) fn new(session: Session, conn: &Rc<Conn>) -> Rc<Self> {
        Rc::new(Self {
            session: RefCell::new(session),
            touched: RefCell::default(),
            waiting: Cell::new(0),
            held: Cell::new(0),
            worker: Rc::clone(&conn.port.worker),
            look: Cell::new(false),
            conn: Rc::downgrade(conn),
        })
    }

    /// Streams that were touched since.
    pub(crate) fn take_touched(&self) -> Vec<u32> {
        self.touched.take()
    }

    pub(crate) fn is_touched(&self) -> bool {
        !self.touched.borrow().is_empty()
    }

    /// Has the task look at a stream.
    fn touch(&self, id: u32) {
        self.touched.borrow_mut().push(id);
        if let Some(conn) = self.conn.upgrade() {
            conn.wake_task();
        }
    }

    /// Bytes that wait in all streams.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.get()
    }

    /// Has the worker know how much waits in the session.
    pub(crate) fn count(&self) {
        let held = self.session.borrow().waiting();
        let before = self.held.replace(held);
        if held != before {
            self.worker.count_output(before, held);
        }
    }

    /// The connection is over, and what waits in the session with it.
    pub(crate) fn give_up(&self) {
        let held = self.held.replace(0);
        if held > 0 {
            self.worker.count_output(held, 0);
        }
    }

    /// Whether anything on the connection has a deadline.
    pub(super) fn has_deadlines(&self) -> bool {
        self.session.borrow().has_deadlines()
    }
}

impl Conn {
    /// A stream of the connection that `mux` belongs to. With an `info` of its own it asks for a WebSocket, and is
    /// found by its own session id.
    pub(crate) fn stream_of(carrier: &Rc<Self>, mux: &Rc<Mux>, id: u32, info: Option<Rc<ConnInfo>>) -> Rc<Self> {
        let apart = info.is_some();
        let muxed = MuxedStream {
            id,
            mux: Rc::clone(mux),
            touched: Cell::new(false),
            handled: Cell::new(false),
            waiting: Cell::new(0),
            ended: Cell::new(false),
            trailers: RefCell::default(),
            inbox: apart.then(Box::default),
            apart: Cell::new(apart),
        };
        let info = info.unwrap_or_else(|| Rc::clone(&carrier.info));
        let mut conn = Self::with(info, Rc::clone(&carrier.port), Rc::clone(&carrier.conns), None);
        conn.muxed = Some(Box::new(muxed));
        conn.timer.set(Timer::None);
        conn.out.get_mut().block();
        let conn = Rc::new(conn);
        if apart {
            conn.conns.registry.borrow_mut().insert(conn.info.id, Rc::clone(&conn));
            conn.port.worker.opened(&conn.info);
        }
        conn
    }

    /// Whether it is a stream that has a session id of its own.
    pub(crate) fn is_apart(&self) -> bool {
        self.muxed.as_ref().is_some_and(|muxed| muxed.apart.get())
    }

    /// The session id is the message connection's now, or nobody's. Whether it was this stream's.
    pub(crate) fn give_id_up(&self) -> bool {
        self.muxed.as_ref().is_some_and(|muxed| muxed.apart.replace(false))
    }

    /// A stream that had a session id of its own, and became no message connection, is over; whether it had.
    pub(crate) fn leave(&self) -> bool {
        let had = self.give_id_up();
        if had {
            self.info.open.set(false);
            self.conns.registry.borrow_mut().remove(self.info.id);
            self.port.worker.closed(&self.info);
        }
        had
    }

    /// Its stream; 0 on a connection of its own.
    #[inline]
    pub(crate) fn stream_id(&self) -> u32 {
        self.muxed.as_ref().map_or(0, |muxed| muxed.id)
    }

    /// Has the carrying connection look at this stream; nothing on a connection of its own.
    #[cold]
    pub(super) fn touch(&self) {
        if let Some(muxed) = &self.muxed
            && !muxed.touched.replace(true)
        {
            muxed.mux.touch(muxed.id);
        }
    }

    /// Has the worker, and the carrying connection, know how much waits here.
    pub(super) fn count_output(&self, out: &mut OutputQueue) {
        out.count(&self.port.worker);
        if let Some(MuxedStream { mux, waiting, .. }) = self.muxed.as_deref() {
            let before = waiting.replace(out.bytes());
            mux.waiting.set(mux.waiting.get() + out.bytes() - before);
        }
    }

    /// The handler of the request has ended. An answer that cannot be given any more is lost with it.
    pub(crate) fn handled(&self) {
        if let Some(muxed) = &self.muxed {
            muxed.handled.set(true);
            if self.broken.get() {
                self.lose_answer();
            }
            self.touch();
        }
    }

    /// Sends the head of the answer on a stream: `lines` are its fields, `end` says that there is no body.
    pub(crate) fn begin_stream_answer(&self, status: u16, lines: &[u8], end: bool) {
        let Some(muxed) = &self.muxed else { return };
        let end = end && muxed.trailers.borrow().is_empty();
        // A success would tell who asked for a WebSocket that it is one.
        let status = if muxed.inbox.is_some() && (200..300).contains(&status) { 501 } else { status };
        // One that is broken off is told of by its session.
        if muxed.mux.session.borrow_mut().head(muxed.id, status, lines, end).is_ok() && end {
            muxed.ended.set(true);
        }
        self.touch();
    }

    /// Sends the whole body on a stream if it is short and there is room for it at once.
    #[inline]
    pub(crate) fn sent_whole(&self, body: &[u8]) -> bool {
        self.muxed.as_ref().is_some_and(|muxed| muxed.send_whole(body))
    }

    /// Sends an interim answer on a stream.
    pub(crate) fn inform(&self, status: u16, lines: &[u8]) {
        if let Some(muxed) = &self.muxed {
            // One that is broken off needs none.
            let _ = muxed.mux.session.borrow_mut().informational(muxed.id, status, lines);
            self.touch();
        }
    }

    /// Has trailer fields follow the body of a stream's answer.
    pub(crate) fn trail(&self, trailers: &[(&[u8], &[u8])]) {
        if let Some(muxed) = &self.muxed {
            let mut lines = muxed.trailers.borrow_mut();
            for (name, value) in trailers {
                wire::write_field(&mut *lines, name, value);
            }
        }
    }

    /// Lets `work` say something about the connection that carries the stream; nothing on a connection of its own.
    pub(crate) fn with_session(&self, work: impl FnOnce(&mut Session)) -> bool {
        let Some(muxed) = self.muxed.as_ref().filter(|_| self.is_usable()) else { return false };
        work(&mut muxed.mux.session.borrow_mut());
        self.touch();
        true
    }

    /// Moves what a stream has to say into frames. Whether it is through: nothing more is said on it, and nobody
    /// handles its request.
    pub(crate) fn serve_stream(&self) -> bool {
        let Some(muxed) = &self.muxed else { return true };
        muxed.touched.set(false);
        if self.broken.get() {
            // Its handler learns of it first, and may end in peace.
        } else if self.kill.get() != Kill::No || self.exchange.phase() == AnswerPhase::Lost {
            muxed.mux.session.borrow_mut().reset(muxed.id, ErrorCode::INTERNAL_ERROR);
            self.lose_answer();
            self.break_off();
        } else if self.move_output(muxed).is_err() {
            self.break_off();
        }
        let over = self.broken.get() || (muxed.ended.get() && !self.exchange.is_answerable());
        over && muxed.handled.get()
    }

    fn move_output(&self, muxed: &MuxedStream) -> io::Result<()> {
        let worker = &self.port.worker;
        let (sent, waiting) = {
            let mut out = self.out.borrow_mut();
            if out.is_empty() {
                (Sent::All, 0)
            } else {
                out.unblock();
                let sent = out.send(&mut &*muxed, &worker.pool);
                out.block();
                self.count_output(&mut out);
                muxed.mux.count();
                (sent?, out.bytes())
            }
        };
        match sent {
            Sent::All => self.say_end(muxed),
            Sent::More => self.touch(),
            Sent::Blocked => {}
        }
        if waiting <= self.port.config.low_watermark {
            self.drained.wake_all();
        }
        Ok(())
    }

    /// Nothing waits: ends the stream's answer, if it is complete.
    fn say_end(&self, muxed: &MuxedStream) {
        if self.exchange.phase() != AnswerPhase::Answered || muxed.ended.replace(true) {
            return;
        }
        let lines = muxed.trailers.take();
        let mut session = muxed.mux.session.borrow_mut();
        // One that is broken off has no end.
        let _ = if lines.is_empty() {
            session.data(muxed.id, Bytes::new(), true)
        } else {
            session.trailers(muxed.id, &lines)
        };
    }

    /// Nobody reads the body of the stream's request.
    pub(crate) fn discard_stream_body(&self) {
        if let Some(muxed) = &self.muxed {
            muxed.mux.session.borrow_mut().discard(muxed.id);
        }
    }
}

impl MuxedStream {
    fn send_whole(&self, body: &[u8]) -> bool {
        if self.ended.get() {
            return body.is_empty();
        }
        let end = self.trailers.borrow().is_empty();
        let sent = self.mux.session.borrow_mut().data_at_once(self.id, body, end);
        if sent {
            self.ended.set(end);
        }
        sent
    }
}

impl Sink for &MuxedStream {
    fn write(&mut self, slices: &[IoSlice<'_>], _more: bool) -> io::Result<usize> {
        let mut session = self.mux.session.borrow_mut();
        let mut taken = 0;
        for piece in slices.iter().flat_map(|slice| slice.chunks(PIECE)) {
            match session.data(self.id, Bytes::copy_from_slice(piece), false) {
                Ok(()) => taken += piece.len(),
                Err(SendError::Full) if taken == 0 => return Err(io::ErrorKind::WouldBlock.into()),
                Err(SendError::Full) => break,
                Err(_) => return Err(io::ErrorKind::BrokenPipe.into()),
            }
        }
        Ok(taken)
    }
}
