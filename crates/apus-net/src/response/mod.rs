//! Answering a request: from the handler, later, or from another task.

mod coded;
mod upgrade;

use std::cell::Cell;
use std::fs::File;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use apus_proto::http1::{Version, response as wire};
use apus_proto::http2::ErrorCode;

use crate::answer::{AnswerState, ResponseHead, SendError};
use crate::asked::Asked;
use crate::coding::Coded;
use crate::conn::Conn;
use crate::exchange::{AnswerPhase, BodyOut};
use crate::file_part::{FilePart, FileState, SendFile};
use crate::http1;
use crate::http2::Session;
use crate::info::ConnInfo;
use crate::kill::Kill;
use crate::output::{OutputQueue, is_over_bound};
use crate::pool::Pool;

/// Bodies up to this many bytes are copied behind their head; longer ones are sent from where they are.
const COPY: usize = 16 * 1024;

/// Where the bytes of a `write` are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteState {
    /// The kernel has them.
    Sent,
    /// This many bytes wait for the client. Above the port's `max_output` the next `write` fails with
    /// [`SendError::Full`].
    Buffered(usize),
}

/// The answer to one request. Clones answer the same request; when the last one is dropped unanswered (and the answer
/// is not [detached](Self::detach)) the client gets a 500, or a cut connection when the head was sent.
pub struct Responder {
    conn: Rc<Conn>,
    seq: u32,
    /// This one left the answer to others.
    detached: Cell<bool>,
}

impl Responder {
    pub(crate) fn new(conn: Rc<Conn>) -> Self {
        let exchange = &conn.exchange;
        exchange.responders.set(exchange.responders.get() + 1);
        let seq = exchange.seq.get();
        Self { conn, seq, detached: Cell::new(false) }
    }

    #[inline]
    fn is_current(&self) -> bool {
        self.conn.exchange.seq.get() == self.seq && !self.detached.get()
    }

    /// How far the answer is.
    pub fn state(&self) -> AnswerState {
        if self.detached.get() {
            return AnswerState::Detached;
        }
        match self.conn.exchange.phase() {
            // Only after an answer does the connection go on with the next request.
            _ if !self.is_current() => AnswerState::Answered,
            AnswerPhase::Open => AnswerState::Open,
            AnswerPhase::Body(BodyOut::Coded { ended: true, .. }) | AnswerPhase::Answered => AnswerState::Answered,
            AnswerPhase::Body(_) => AnswerState::Begun,
            AnswerPhase::None | AnswerPhase::Arriving | AnswerPhase::Lost => AnswerState::Lost,
        }
    }

    /// Whether this one left the answer to others.
    #[inline]
    pub fn is_detached(&self) -> bool {
        self.detached.get()
    }

    /// Whether nothing is sent, so that the head can still be changed.
    #[inline]
    pub fn is_open(&self) -> bool {
        self.is_current() && self.conn.exchange.phase() == AnswerPhase::Open
    }

    /// The connection.
    #[inline]
    pub fn conn(&self) -> &Rc<ConnInfo> {
        &self.conn.info
    }

    /// Whether it goes over a stream of HTTP/2, which shares its connection with others.
    pub fn is_stream(&self) -> bool {
        self.conn.stream_id() > 0
    }

    /// Whether others have its session id, too: those of a connection's streams that ask for no WebSocket.
    pub fn shares_id(&self) -> bool {
        self.is_stream() && !self.conn.is_apart()
    }

    /// Whether the answer has ended, or its request is over in another way.
    #[inline]
    pub fn is_ended(&self) -> bool {
        !self.is_current() || !self.conn.exchange.is_programs()
    }

    /// Whether nobody but the holder of this one could still answer, and nobody has.
    #[inline]
    pub fn is_forgotten(&self) -> bool {
        let exchange = &self.conn.exchange;
        !self.is_ended() && exchange.responders.get() == 1 && !exchange.detached.get()
    }

    /// Whether something can be written: not ended, and the client is not known to be gone. A client that closed only
    /// its own direction still gets its answer.
    #[inline]
    pub fn is_writable(&self) -> bool {
        !self.is_ended() && self.conn.is_usable()
    }

    /// Whether the client is known to have left: it sent EOF or reset the connection. (A client that only shut down its
    /// sending direction looks the same; `end` still answers it.)
    pub fn peer_gone(&self) -> bool {
        self.conn.is_gone()
    }

    /// Ready when the client is known to have left.
    pub fn gone(&self) -> Gone {
        Gone(Rc::clone(&self.conn))
    }

    /// Checks that this exchange still wants an answer.
    #[inline]
    fn check(&self) -> Result<(), SendError> {
        if self.is_ended() {
            Err(SendError::Ended)
        } else if self.conn.broken.get() {
            // Nothing can be answered any more: the exchange is over.
            self.conn.lose_answer();
            Err(SendError::Closed)
        } else {
            Ok(())
        }
    }

    /// Has the answer begin with further field lines, in place of those that it was given before. Lines of a name that
    /// the answer has are left out, but for Vary. Only ports and hosts with [`Config::adorns`](crate::Config::adorns)
    /// do it.
    pub fn add_lines(&self, lines: &[u8]) {
        if self.is_open() {
            self.conn.exchange.add(lines);
        }
    }

    /// Sends the whole answer, or the last of one begun with [`write`](Self::write) (then `head` is not used).
    ///
    /// The bytes go to the kernel at once, in one call, unless the client does not keep up (then they wait in memory)
    /// or answers to further pipelined requests will follow in the same turn.
    #[inline]
    pub fn end(&self, head: &ResponseHead, body: &[u8]) -> Result<(), SendError> {
        let mut coded = Coded::default();
        if self.may_code(body.len())
            && let Some(done) = self.end_coded(head, body, || Box::new(body.to_vec()), &mut coded)
        {
            return done;
        }
        self.end_with(head, body, coded, copy(body))
    }

    /// Like [`end`](Self::end), for a large body that somebody else keeps anyway: `keep` is called only when the client
    /// does not take all of it at once, and returns an owner of the same bytes, dropped when they are sent (its drop
    /// MUST NOT call back here). So slow readers of the same large body share its memory.
    pub fn end_shared(
        &self,
        head: &ResponseHead,
        body: &[u8],
        keep: impl FnOnce() -> Box<dyn AsRef<[u8]>>,
    ) -> Result<(), SendError> {
        let mut coded = Coded::default();
        let mut keep = Some(keep);
        let mut owner = move || keep.take().map_or_else(|| Box::new(Vec::new()) as _, |keep| keep());
        if self.may_code(body.len())
            && let Some(done) = self.end_coded(head, body, &mut owner, &mut coded)
        {
            return done;
        }
        self.end_with(head, body, coded, |out, _, from| out.lend(owner(), from))
    }

    #[inline]
    fn end_with(
        &self,
        head: &ResponseHead,
        body: &[u8],
        coded: Coded,
        keep: impl FnOnce(&mut OutputQueue, &Pool, usize),
    ) -> Result<(), SendError> {
        self.check()?;
        if self.conn.exchange.phase() != AnswerPhase::Open {
            if !body.is_empty() {
                // The last piece may pass the bound: its writer cannot be asked to come again.
                self.write_body(body)?;
            }
            return self.finish(head, &[]);
        }
        let conn = &*self.conn;
        let pool = &conn.port.worker.pool;
        let answer = http1::plan(&conn.exchange, head, Some(body.len() as u64)).coded(coded);
        let mut out = conn.out.borrow_mut();
        self.begin(head, answer, &mut out);
        if answer.body != BodyOut::Suppressed {
            conn.exchange.sent.set(body.len() as u64);
        }
        if answer.body == BodyOut::Suppressed || conn.sent_whole(body) {
            conn.push(out);
        } else if body.len() <= COPY {
            out.buffer(pool).extend_from_slice(body);
            conn.push(out);
        } else {
            conn.push_tail(out, body, keep);
        }
        conn.answered(head.final_status());
        Ok(())
    }

    /// Writes the head and settles whether the connection stays.
    #[inline]
    fn begin(&self, head: &ResponseHead, answer: http1::Answer, out: &mut OutputQueue) {
        let conn = &*self.conn;
        let pool = &conn.port.worker.pool;
        conn.exchange.status.set(head.final_status());
        let site = conn.site();
        let adorned;
        let head = if site.config.adorns {
            adorned = http1::adorned(head, &site.config, &conn.exchange.added.borrow());
            &adorned
        } else {
            head
        };
        let version = conn.exchange.version.get();
        if version == Version::Http2 {
            let mut lines = pool.out_buffer();
            http1::write_fields(&mut lines, site, head, answer);
            conn.begin_stream_answer(head.final_status(), &lines, answer.is_empty());
            return pool.give_out(lines);
        }
        let close = http1::close_after(&conn.exchange, site, head, answer);
        let old = version == Version::Http10;
        http1::write_head(out.buffer(pool), site, head, answer, close, old);
        if close {
            conn.exchange.persist.set(false);
        }
    }

    /// Sends a piece of the body; the first call sends the head before it. Chunked, by the length that `head` tells, or
    /// (to a 1.0 client) by the end of the connection.
    pub fn write(&self, head: &ResponseHead, data: &[u8]) -> Result<WriteState, SendError> {
        self.check()?;
        let conn = &*self.conn;
        if is_over_bound(conn.out.borrow().bytes(), &conn.port.config, &conn.port.worker) {
            return Err(SendError::Full);
        }
        self.write_on(head, data)
    }

    /// Sends a piece of the body, however much waits.
    fn write_on(&self, head: &ResponseHead, data: &[u8]) -> Result<WriteState, SendError> {
        let conn = &*self.conn;
        if conn.exchange.phase() == AnswerPhase::Open {
            let mut coded = Coded::default();
            if self.may_code(usize::MAX - 1) && self.began_coded(head, &mut coded)? {
                return self.write_body(data);
            }
            let answer = http1::plan(&conn.exchange, head, None).coded(coded);
            let mut out = conn.out.borrow_mut();
            self.begin(head, answer, &mut out);
            conn.exchange.set_body(answer.body);
            if data.is_empty() || answer.body == BodyOut::Suppressed {
                return Ok(write_state(conn.push(out)));
            }
        }
        self.write_body(data)
    }

    fn write_body(&self, data: &[u8]) -> Result<WriteState, SendError> {
        let conn = &*self.conn;
        let AnswerPhase::Body(body) = conn.exchange.phase() else { return Err(SendError::Ended) };
        if let BodyOut::Coded { chunked, .. } = body {
            return self.write_coded(data, chunked).map(write_state);
        }
        if body != BodyOut::Suppressed {
            conn.exchange.count_sent(data.len());
        }
        let mut out = conn.out.borrow_mut();
        let pool = &conn.port.worker.pool;
        let waiting = match body {
            BodyOut::Suppressed | BodyOut::Coded { .. } => out.bytes(),
            BodyOut::Chunked => {
                wire::write_chunk(out.buffer(pool), data);
                conn.push(out)
            }
            BodyOut::UntilClose => conn.push_tail(out, data, copy(data)),
            BodyOut::Length(left) => {
                let Some(left) = left.checked_sub(data.len() as u64) else {
                    // The head may be new. None of this is sent: the client would take its beginning for the whole.
                    conn.push(out);
                    return Err(self.cut());
                };
                conn.exchange.set_body(BodyOut::Length(left));
                conn.push_tail(out, data, copy(data))
            }
        };
        Ok(write_state(waiting))
    }

    /// Has trailer fields follow the body of an answer over a stream, however that is given then. Whether it is one.
    pub fn trail(&self, trailers: &[(&[u8], &[u8])]) -> bool {
        let can = self.is_stream() && !self.is_ended();
        if can {
            self.conn.trail(trailers);
        }
        can
    }

    /// Tells a client of HTTP/2 to begin no more streams on the connection; what has begun is answered. False on other
    /// connections.
    pub fn go_away(&self, code: u32, text: &[u8]) -> bool {
        self.conn.with_session(|session| session.go_away(ErrorCode(code), text))
    }

    /// Asks a client of HTTP/2 for a sign of life. False on other connections.
    pub fn ping(&self) -> bool {
        self.conn.with_session(Session::ping)
    }

    /// Ends an answer, with trailer fields where it is chunked (RFC 9112 section 7.1.2). An answer that was not begun
    /// is sent with an empty body, its trailers in the chunked coding.
    pub fn finish(&self, head: &ResponseHead, trailers: &[(&[u8], &[u8])]) -> Result<(), SendError> {
        self.check()?;
        let conn = &*self.conn;
        if conn.exchange.phase() == AnswerPhase::Open {
            if trailers.is_empty() {
                return self.end(head, &[]);
            }
            self.write_on(head, &[])?;
        }
        let AnswerPhase::Body(body) = conn.exchange.phase() else { return Err(SendError::Ended) };
        match body {
            BodyOut::Coded { chunked, .. } => return self.finish_coded(trailers, chunked),
            BodyOut::Chunked => {
                let mut out = conn.out.borrow_mut();
                wire::write_last_chunk(out.buffer(&conn.port.worker.pool), trailers);
                conn.push(out);
            }
            BodyOut::Suppressed | BodyOut::Length(0) | BodyOut::UntilClose => conn.trail(trailers),
            BodyOut::Length(_) => return Err(self.cut()),
        }
        conn.answered(conn.exchange.status.get());
        Ok(())
    }

    /// The answer has not the length that its head told: it is over, and the connection with it, so that the client
    /// takes nothing that follows for the rest of this body.
    fn cut(&self) -> SendError {
        self.conn.answered(self.conn.exchange.status.get());
        self.conn.kill(Kill::AfterOutput);
        SendError::Length
    }

    /// Sends `len` bytes of a file from `offset` on as the whole body, with sendfile(2). The answer has ended with this
    /// call; the future tells when the last byte is with the kernel, and may be dropped.
    ///
    /// The file MUST have that many bytes: when it turns out shorter, the connection is cut.
    pub fn send_file(&self, head: &ResponseHead, file: File, offset: u64, len: u64) -> Result<SendFile, SendError> {
        self.check()?;
        let conn = &*self.conn;
        if conn.exchange.phase() != AnswerPhase::Open {
            return Err(SendError::HeadSent);
        }
        let answer = http1::plan(&conn.exchange, head, Some(len));
        let state = Rc::new(FileState::default());
        let mut out = conn.out.borrow_mut();
        self.begin(head, answer, &mut out);
        let left = if answer.body == BodyOut::Suppressed { 0 } else { len };
        conn.exchange.sent.set(left);
        let part = FilePart::new(file, offset, left, Rc::clone(&state));
        // A part of nothing is dropped at once, which completes the future.
        if left > 0 {
            out.attach(part);
        }
        conn.push(out);
        conn.answered(head.final_status());
        Ok(SendFile(state))
    }

    /// The conditions of the request, which are given once. What is no GET or HEAD has none.
    pub fn asked(&self) -> Asked {
        self.conn.exchange.take_asked()
    }

    /// Ready when little enough output waits for writers to go on.
    pub fn writable(&self) -> Writable {
        Writable { conn: Rc::clone(&self.conn), seq: self.seq }
    }

    /// Bytes of this connection that wait for the client.
    pub fn buffered(&self) -> usize {
        self.conn.out.borrow().bytes()
    }

    /// Tells a client that waits for it to send its body (RFC 9110 section 10.1.1). Reading the body does so by itself.
    pub fn send_continue(&self) -> Result<(), SendError> {
        self.check()?;
        self.conn.send_continue();
        Ok(())
    }

    /// Sends an interim answer (1xx) before the head; `lines` are its field lines, validated by the caller. A client of
    /// HTTP/1.0 knows none and gets none.
    pub fn informational(&self, status: u16, lines: &[u8]) -> Result<(), SendError> {
        self.check()?;
        let conn = &*self.conn;
        if conn.exchange.phase() != AnswerPhase::Open {
            return Err(SendError::HeadSent);
        }
        match conn.exchange.version.get() {
            Version::Http10 => {}
            Version::Http11 => {
                let mut out = conn.out.borrow_mut();
                if is_over_bound(out.bytes(), &conn.port.config, &conn.port.worker) {
                    return Err(SendError::Full);
                }
                http1::write_interim(out.buffer(&conn.port.worker.pool), status, lines);
                conn.push(out);
            }
            Version::Http2 => conn.inform(status, lines),
        }
        Ok(())
    }

    /// Leaves the answer to somebody else: this one can do nothing more, and dropping all responders does not end the
    /// answer. [`crate::Control::responder`] makes a new one from the session id.
    pub fn detach(&self) {
        if self.is_current() {
            let exchange = &self.conn.exchange;
            exchange.detached.set(true);
            exchange.responders.set(exchange.responders.get() - 1);
        }
        self.detached.set(true);
    }

    /// Gives the answer up: cuts the connection.
    pub fn abort(&self) {
        if !self.is_ended() {
            self.conn.lose_answer();
            self.conn.kill(Kill::Now);
        }
    }

    /// Answers with a bare `status` and its reason as text; cuts the connection where the head has left already.
    /// Nothing where the answer has ended.
    pub fn fail(&self, status: u16) {
        self.fail_with(ResponseHead::new(status));
    }

    /// As [`fail`](Self::fail), and says after how many seconds another attempt makes sense.
    pub fn fail_for(&self, status: u16, seconds: u64) {
        let mut head = ResponseHead::new(status);
        head.push_field(b"Retry-After", seconds.to_string().as_bytes());
        self.fail_with(head);
    }

    /// Whether its client is answered as code written for Swoole knows it.
    pub fn is_lenient(&self) -> bool {
        self.conn.site().config.lenient
    }

    fn fail_with(&self, mut head: ResponseHead) {
        if self.is_ended() {
            return;
        }
        let wanted = matches!(self.conn.kill.get(), Kill::No | Kill::AfterOutput);
        if wanted && self.conn.exchange.phase() == AnswerPhase::Open {
            let mut text = String::new();
            if self.conn.site().config.explains {
                head.push_field(b"Content-Type", b"text/plain; charset=UTF-8");
                head.has_content_type = true;
                text = format!("{} {}\n", head.status, wire::reason(head.status));
            }
            // A client that is gone needs no answer.
            let _ = self.end(&head, text.as_bytes());
        } else {
            // Without its last chunk the client knows that the answer is cut.
            self.abort();
        }
    }
}

/// Keeps what the socket did not take.
fn copy(data: &[u8]) -> impl FnOnce(&mut OutputQueue, &Pool, usize) {
    move |out, pool, from| out.append([data, &[]], from, pool)
}

fn write_state(waiting: usize) -> WriteState {
    if waiting == 0 { WriteState::Sent } else { WriteState::Buffered(waiting) }
}

impl Clone for Responder {
    fn clone(&self) -> Self {
        if self.is_current() {
            let responders = &self.conn.exchange.responders;
            responders.set(responders.get() + 1);
        }
        Self { conn: Rc::clone(&self.conn), seq: self.seq, detached: self.detached.clone() }
    }
}

impl Drop for Responder {
    #[inline]
    fn drop(&mut self) {
        if !self.is_current() {
            return;
        }
        let exchange = &self.conn.exchange;
        exchange.responders.set(exchange.responders.get() - 1);
        if exchange.responders.get() == 0 && !exchange.detached.get() && exchange.is_answerable() {
            self.fail(500);
        }
    }
}

impl std::fmt::Debug for Responder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Responder")
            .field("conn", &self.conn.info.id)
            .field("ended", &self.is_ended())
            .finish_non_exhaustive()
    }
}

/// Future of [`Responder::gone`].
pub struct Gone(Rc<Conn>);

impl Future for Gone {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.0.is_gone() {
            return Poll::Ready(());
        }
        self.0.gone.register(cx.waker());
        Poll::Pending
    }
}

/// Future of [`Responder::writable`].
pub struct Writable {
    conn: Rc<Conn>,
    seq: u32,
}

impl Future for Writable {
    type Output = Result<(), SendError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let conn = &self.conn;
        if conn.broken.get() {
            return Poll::Ready(Err(SendError::Closed));
        }
        let (config, worker) = (&conn.port.config, &conn.port.worker);
        let waiting = conn.out.borrow().bytes();
        let below = waiting <= config.low_watermark;
        if conn.exchange.seq.get() != self.seq || (below && !is_over_bound(waiting, config, worker)) {
            return Poll::Ready(Ok(()));
        }
        conn.drained.register(cx.waker());
        if below {
            worker.output_fell.register(cx.waker());
        }
        Poll::Pending
    }
}
