//! The body of a request, as the connection's task reads it.

use std::rc::{Rc, Weak};
use std::task::{Context, Poll};

use apus_proto::http1::{Framing, Reject};
use bytes::Bytes;

use super::{ConnState, ConnStep, ConnTask};
use crate::account::Share;
use crate::app::App;
use crate::body::{Body, BodyDecoder, BodyError, BodyStream, Collecting, Form, Piece, Source};
use crate::conn::{Conn, Timer};
use crate::exchange::UnreadBody;
use crate::head_bytes::Inner;

/// An unread body up to this many bytes is read away to keep the connection.
const MAX_DISCARD: usize = 64 * 1024;
/// Bytes of one streamed piece at most.
const MAX_PIECE: usize = 256 * 1024;

impl<A: App> ConnTask<A> {
    /// A request with a body: refuse, collect or stream it.
    pub(super) fn begin_body(&mut self, inner: Box<Inner>, cx: &mut Context<'_>) -> ConnStep {
        let conn = Rc::clone(&self.conn);
        let config = &conn.site().config;
        conn.pipelined.set(false);
        let framing = inner.head.framing;
        let decoder = match BodyDecoder::new(framing, Form::max_body(&inner, config)) {
            Ok(decoder) => decoder,
            Err(reject) => return self.refuse(reject),
        };
        let expects = inner.head.expect_continue && self.input.is_empty();
        if config.stream_body {
            return self.begin_stream(inner, decoder, expects, cx);
        }
        if expects {
            conn.send_continue_now();
        }
        let weak: Weak<Conn> = Rc::downgrade(&conn);
        let share = Share::new(&conn.port.worker.account, weak);
        match Collecting::new(inner, decoder, config, share) {
            Ok(collecting) => {
                self.state = ConnState::Collect(Box::new(collecting));
                self.conn.start_body_timer();
                self.collect(cx)
            }
            Err(reject) => self.refuse(reject),
        }
    }

    /// Reads the body to its end, then hands the request over.
    pub(super) fn collect(&mut self, cx: &mut Context<'_>) -> ConnStep {
        loop {
            let ConnState::Collect(collecting) = &mut self.state else { return ConnStep::Again };
            let (used, done) = match collecting.feed(self.input.bytes()) {
                Ok(progress) => progress,
                Err(reject) => return self.refuse(reject),
            };
            self.input.consume(used);
            if done {
                return self.collected(cx);
            }
            // A 100 (Continue) may wait to be sent.
            let _ = self.conn.poll_output(cx);
            match self.read_collect(cx) {
                Poll::Ready(Ok(())) => {}
                Poll::Ready(Err(Some(reject))) => return self.refuse(reject),
                Poll::Ready(Err(None)) => return ConnStep::Close,
                Poll::Pending => {
                    self.input.release(&self.conn.port.worker.pool);
                    return ConnStep::Wait;
                }
            }
        }
    }

    fn collected(&mut self, cx: &mut Context<'_>) -> ConnStep {
        let ConnState::Collect(collecting) = std::mem::replace(&mut self.state, ConnState::Head) else {
            return ConnStep::Again;
        };
        self.conn.timer.set(Timer::None);
        match collecting.finish() {
            Ok((inner, body)) => self.dispatch(inner, body, None, cx),
            Err(reject) => self.refuse(reject),
        }
    }

    /// Reads once: into the body's own memory where its length is known, else through the scratch buffer.
    fn read_collect(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Option<Reject>>> {
        let ConnState::Collect(collecting) = &mut self.state else { return Poll::Ready(Ok(())) };
        let conn = &self.conn;
        let memory = match collecting.memory() {
            Ok(memory) => memory,
            Err(reject) => return Poll::Ready(Err(Some(reject))),
        };
        if let Some(mut memory) = memory {
            return Poll::Ready(match std::task::ready!(conn.poll_recv(cx, &mut memory)) {
                Ok(count @ 1..) => {
                    collecting.received(count);
                    Ok(())
                }
                Ok(0) => Err(Some(CUT_SHORT)),
                Err(_) => Err(None),
            });
        }
        let pool = &conn.port.worker.pool;
        let input = &mut self.input;
        pool.with_scratch(|scratch| {
            let count = match std::task::ready!(conn.poll_recv(cx, scratch)) {
                Ok(0) => return Poll::Ready(Err(Some(CUT_SHORT))),
                Ok(count) => count,
                Err(_) => return Poll::Ready(Err(None)),
            };
            Poll::Ready(match collecting.feed(&scratch[..count]) {
                Ok((used, _)) => {
                    input.append(&scratch[used..count], pool);
                    Ok(())
                }
                Err(reject) => Err(Some(reject)),
            })
        })
    }

    fn begin_stream(
        &mut self,
        inner: Box<Inner>,
        decoder: BodyDecoder,
        expects: bool,
        cx: &mut Context<'_>,
    ) -> ConnStep {
        let conn = &self.conn;
        let source: Rc<dyn Source> = Rc::<Conn>::clone(conn);
        let stream = Rc::new(BodyStream::new(Rc::downgrade(&source)));
        *conn.stream.borrow_mut() = Some(Rc::clone(&stream));
        conn.exchange.expects_continue.set(expects);
        conn.exchange.unread.set(unread(&decoder, expects));
        let length = match inner.head.framing {
            Framing::Length(length) => Some(length),
            _ => None,
        };
        self.dispatch(inner, Body::streamed(stream, length), Some(Box::new(decoder)), cx)
    }

    /// Reads for a handler that waits for body bytes. Whether the socket is being waited for.
    pub(super) fn feed_stream(&mut self, cx: &mut Context<'_>) -> bool {
        let stream = self.conn.stream.borrow().clone();
        let Some(stream) = stream else { return false };
        let mut waits = false;
        while stream.wanted() > 0 && !waits {
            if self.conn.exchange.expects_continue.get() && self.input.is_empty() {
                self.conn.send_continue_now();
            }
            self.conn.resume_body_timer();
            match self.read_piece(cx, stream.wanted().min(MAX_PIECE)) {
                Poll::Pending => waits = true,
                Poll::Ready(Ok(Some(piece))) => stream.deliver(piece),
                Poll::Ready(Ok(None)) => {
                    let trailers = match &mut self.state {
                        ConnState::Answer { body: Some(decoder), .. } => decoder.take_trailers(),
                        _ => Vec::new(),
                    };
                    self.conn.exchange.unread.set(UnreadBody::Nothing);
                    stream.finish(Ok(()), trailers);
                }
                Poll::Ready(Err(error)) => {
                    self.conn.exchange.persist.set(false);
                    stream.finish(Err(error), Vec::new());
                }
            }
        }
        if !waits {
            self.conn.pause_body_timer();
        }
        waits
    }

    /// The next piece of a streamed body, of at most `max` bytes; `None` at its end.
    fn read_piece(&mut self, cx: &mut Context<'_>, max: usize) -> Poll<Result<Option<Bytes>, BodyError>> {
        let ConnState::Answer { body: Some(decoder), .. } = &mut self.state else {
            return Poll::Ready(Err(BodyError::Ended));
        };
        let conn = &self.conn;
        loop {
            let waiting = self.input.bytes();
            let (used, piece) = match decoder.next(&waiting[..waiting.len().min(max)]) {
                Ok(next) => next,
                Err(reject) => return Poll::Ready(Err(body_error(reject))),
            };
            let found = match piece {
                Piece::Data(data) => Some(Ok(Some(Bytes::copy_from_slice(data)))),
                Piece::End => Some(Ok(None)),
                Piece::NeedMore => None,
            };
            self.input.consume(used);
            if let Some(found) = found {
                conn.exchange.unread.set(unread(decoder, false));
                self.input.release(&conn.port.worker.pool);
                return Poll::Ready(found);
            }
            if self.input.is_empty()
                && let BodyDecoder::Length(left) = &mut **decoder
            {
                // Straight into the memory that the handler gets.
                let most = usize::try_from(*left).unwrap_or(usize::MAX).min(max);
                let mut piece = Vec::with_capacity(most);
                let received = conn.poll_recv(cx, &mut (&mut piece, most));
                let Ok(count @ 1..) = std::task::ready!(received) else {
                    return Poll::Ready(Err(conn.lost()));
                };
                *left -= count as u64;
                conn.exchange.unread.set(unread(decoder, false));
                return Poll::Ready(Ok(Some(piece.into())));
            }
            let space = self.input.space(&conn.port.worker.pool);
            match conn.poll_recv(cx, space) {
                Poll::Ready(Ok(count @ 1..)) => self.input.filled(count),
                Poll::Ready(_) => return Poll::Ready(Err(conn.lost())),
                Poll::Pending => {
                    self.input.release(&conn.port.worker.pool);
                    return Poll::Pending;
                }
            }
        }
    }

    /// The answer went out before the body was read to its end.
    pub(super) fn begin_discard(&mut self, decoder: Box<BodyDecoder>) {
        let never_asked = self.conn.exchange.expects_continue.replace(false);
        if never_asked || decoder.left().is_some_and(|left| left > MAX_DISCARD as u64) {
            self.state = ConnState::Closing { linger: true };
        } else {
            self.conn.start_body_timer();
            self.state = ConnState::Discard(decoder, 0);
        }
    }

    /// Reads the rest of a body away.
    pub(super) fn discard(&mut self, cx: &mut Context<'_>) -> ConnStep {
        let conn = Rc::clone(&self.conn);
        let pool = &conn.port.worker.pool;
        if conn.poll_output(cx).is_pending() {
            return ConnStep::Wait;
        }
        let ConnState::Discard(decoder, taken) = &mut self.state else { return ConnStep::Again };
        while let Ok((used, piece)) = decoder.next(self.input.bytes()) {
            *taken += used;
            let (end, more) = (matches!(piece, Piece::End), matches!(piece, Piece::NeedMore));
            self.input.consume(used);
            if end {
                conn.timer.set(Timer::None);
                self.state = ConnState::Head;
                return ConnStep::Again;
            }
            if *taken > MAX_DISCARD {
                break;
            }
            if !more {
                continue;
            }
            match conn.poll_recv(cx, self.input.space(pool)) {
                Poll::Ready(Ok(count @ 1..)) => self.input.filled(count),
                Poll::Ready(_) => return ConnStep::Close,
                Poll::Pending => {
                    self.input.release(pool);
                    return ConnStep::Wait;
                }
            }
        }
        self.state = ConnState::Closing { linger: true };
        ConnStep::Again
    }
}

const CUT_SHORT: Reject = Reject::new(400, "the body ended before its announced length");

fn body_error(reject: Reject) -> BodyError {
    if reject.status == 413 { BodyError::TooLarge } else { BodyError::Malformed(reject.reason) }
}

fn unread(decoder: &BodyDecoder, expects: bool) -> UnreadBody {
    match decoder.left() {
        Some(0) => UnreadBody::Nothing,
        Some(left) if left > MAX_DISCARD as u64 => UnreadBody::Large,
        _ if expects => UnreadBody::Large,
        _ => UnreadBody::Small,
    }
}
