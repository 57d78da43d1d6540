//! The task of a connection: one state machine that reads requests, drives their handlers and sends their answers, in
//! order.
//!
//! ```text
//!            ┌──────────────── answer complete ────────────────┐
//!            v                                                  │
//!  Head ── head complete ──> Collect ── body complete ──> Answer ──> Discard / Drain ──> Head
//!    │                          │                            │
//!    └── refused ───────────────┴──> Closing ──> Linger ──> closed
//! ```

mod barred;
mod begin_streams;
mod ending;
mod incoming;
mod redirect;
mod share;
mod stream_body;
mod streams;
mod tunnels;

use std::fmt::Display;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use apus_proto::http1::{Framing, Parsed, Reject, Version};

use crate::app::App;
use crate::body::{Body, BodyDecoder, BodyError, Collecting};
use crate::conn::{Conn, Expired, Timer};
use crate::head_bytes::Inner;
use crate::http1;
use crate::input::Input;
use crate::kill::Kill;
use crate::message_conn::Handshake;
use crate::message_runner;
use crate::request::Request;
use crate::response::Responder;
use crate::runners::Run;
use crate::worker::bump;
use apus_loop::after_the_others;

use barred::is_barred;
use share::Share;
use streams::Streams;

/// How a TLS record of a handshake begins (RFC 8446 section 5.1).
const TLS_HANDSHAKE: [u8; 2] = [0x16, 0x03];
/// More waiting output than this is sent before the next pipelined request is read.
const MAX_HELD: usize = 64 * 1024;

/// Where the connection is.
pub(super) enum ConnState<H> {
    /// Reading a request head.
    Head,
    /// Collecting a body before the app sees the request.
    Collect(Box<Collecting>),
    /// The app has the request. `body` is what is left of one that is streamed.
    Answer { handling: Option<H>, body: Option<Box<BodyDecoder>> },
    /// Reading away the rest of a body nobody wants; the number counts the bytes.
    Discard(Box<BodyDecoder>, usize),
    /// The connection speaks HTTP/2.
    Streams(Box<Streams>),
    /// Waiting until the output is sent, then the next head.
    Drain,
    /// Waiting until the output is sent, then the end. `linger`: the client may still be sending.
    Closing { linger: bool },
    /// Our side is shut down; reading until the client has seen it. The number counts the bytes.
    Linger(usize),
}

/// What reading for a head came to.
enum Received {
    /// There is something to look at.
    Line,
    /// The port speaks TLS, and the client does not.
    NoTls,
    End,
}

const NO_TLS: Reject = Reject::new(400, "plain HTTP was sent to a port that speaks TLS: use https://");

/// What to do after a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ConnStep {
    Again,
    Wait,
    Close,
}

/// The state machine of one connection.
pub(crate) struct ConnTask<A: App> {
    app: Rc<A>,
    pub(super) conn: Rc<Conn>,
    pub(super) state: ConnState<A::Handling>,
    pub(super) input: Input,
    share: Share,
    /// The keep-alive time is over: close unless a request is there right now.
    last_chance: bool,
    closed: bool,
}

impl<A: App> ConnTask<A> {
    pub(crate) fn new(app: Rc<A>, conn: Rc<Conn>) -> Self {
        let input = Input::default();
        Self { app, conn, state: ConnState::Head, input, share: Share::default(), last_chance: false, closed: false }
    }

    /// Has the worker's loop run it.
    pub(crate) fn start(self) {
        let conn = Rc::clone(&self.conn);
        conn.conns.drive(&conn, Box::new(self));
    }

    /// Works until something is missing. Whether the connection has ended.
    fn work(&mut self, cx: &mut Context<'_>) -> bool {
        loop {
            let mut step = self.attend();
            if step == ConnStep::Again {
                step = match &self.state {
                    ConnState::Head => self.head(cx),
                    ConnState::Collect(_) => self.collect(cx),
                    ConnState::Answer { .. } => self.answer(cx),
                    ConnState::Discard(..) => self.discard(cx),
                    ConnState::Streams(_) => self.streams(cx),
                    ConnState::Drain => self.drain(cx),
                    ConnState::Closing { .. } => self.closing(cx),
                    ConnState::Linger(_) => self.linger(cx),
                };
            }
            match step {
                ConnStep::Again => {}
                ConnStep::Wait => return false,
                ConnStep::Close => return true,
            }
        }
    }

    /// What was asked of the connection from outside: close it, or a deadline passed.
    #[inline]
    fn attend(&mut self) -> ConnStep {
        let conn = &self.conn;
        if conn.broken.get() {
            return ConnStep::Close;
        }
        match conn.kill.get() {
            Kill::No => {}
            Kill::Now | Kill::Reset => return ConnStep::Close,
            Kill::AfterOutput => {
                conn.kill.set(Kill::No);
                if let ConnState::Streams(streams) = &self.state {
                    streams.close(conn.port.worker.clock.now());
                    return ConnStep::Again;
                }
                self.hand_over();
                self.state = ConnState::Closing { linger: true };
            }
        }
        match self.conn.expired.take() {
            None => ConnStep::Again,
            Some(expired) => self.expire(expired),
        }
    }

    fn expire(&mut self, expired: Expired) -> ConnStep {
        match (expired, &self.state) {
            (Expired::Idle, ConnState::Head) => self.last_chance = true,
            (Expired::Idle, ConnState::Streams(streams)) => streams.drain(self.conn.port.worker.clock.now()),
            (Expired::Head, ConnState::Head) => {
                return self.refuse_head(Reject::new(408, "the request head took too long"));
            }
            (Expired::Body, ConnState::Collect(_)) => {
                return self.refuse(Reject::new(408, "the request body came too slowly"));
            }
            (Expired::Memory, ConnState::Collect(_)) => {
                return self
                    .refuse(Reject::new(503, "too much memory is taken by request bodies, and this one came slowly"));
            }
            (Expired::Body, ConnState::Answer { .. }) => {
                self.conn.exchange.persist.set(false);
                self.finish_stream(Err(BodyError::TooSlow));
            }
            (Expired::Body, ConnState::Discard(..)) | (Expired::Peer, _) => return ConnStep::Close,
            _ => {}
        }
        ConnStep::Again
    }

    /// Reads until a request head is complete, and begins it.
    fn head(&mut self, cx: &mut Context<'_>) -> ConnStep {
        let conn = Rc::clone(&self.conn);
        let pool = &conn.port.worker.pool;
        loop {
            if !self.input.is_empty() {
                if self.share.look(conn.port.config.max_pipelined, &conn.port.worker.clock)
                    || conn.out.borrow().bytes() >= MAX_HELD
                {
                    return self.pause(cx);
                }
                let mut inner = pool.request();
                match inner.read(self.input.bytes(), &conn.port.head) {
                    Ok(Parsed::Complete) => return self.begin(inner, cx),
                    Ok(Parsed::Partial) => pool.give_request(inner),
                    Err(reject) => {
                        pool.give_request(inner);
                        if self.is_wrong_preface() {
                            return self.begin_streams();
                        }
                        if self.input.bytes().starts_with(&TLS_HANDSHAKE) {
                            let why = "it speaks TLS, and this port does not: set ssl_cert_file and ssl_key_file for https://";
                            conn.port.worker.metrics.refused(&conn.info, why);
                        }
                        return self.refuse_head(reject);
                    }
                }
            }
            conn.pipelined.set(false);
            if conn.poll_output(cx).is_pending() {
                return ConnStep::Wait;
            }
            match self.read_line(cx) {
                Poll::Ready(Received::Line) if conn.port.config.http2.is_some() && self.speaks_http2() => {
                    return self.begin_streams();
                }
                Poll::Ready(Received::Line) => {}
                // An answer explains it, where answers of ours are wanted.
                Poll::Ready(Received::NoTls) if !self.conn.port.config.explains => return ConnStep::Close,
                Poll::Ready(Received::NoTls) => return self.refuse_head(NO_TLS),
                Poll::Ready(Received::End) => return ConnStep::Close,
                Poll::Pending => return self.rest(),
            }
        }
    }

    /// Reads until there is a line to look at: a head that drips in is not parsed again for every byte.
    fn read_line(&mut self, cx: &mut Context<'_>) -> Poll<Received> {
        let pool = &self.conn.port.worker.pool;
        loop {
            let before = self.input.len();
            let received = self.conn.poll_recv(cx, &mut (&mut self.input, pool));
            let count = match std::task::ready!(received) {
                Ok(count @ 1..) => count,
                // It stays unread: the answer to it is the same whatever it says.
                Err(error) if error.kind() == io::ErrorKind::Unsupported => return Poll::Ready(Received::NoTls),
                _ => {
                    self.conn.peer_closed();
                    return Poll::Ready(Received::End);
                }
            };
            self.input.filled(count);
            let line = before == 0 || self.input.bytes()[before..].contains(&b'\n');
            if line || self.input.len() >= self.conn.port.head.max_head {
                return Poll::Ready(Received::Line);
            }
        }
    }

    /// Lets other connections have their turn, and the client take its answers.
    fn pause(&mut self, cx: &mut Context<'_>) -> ConnStep {
        self.conn.pipelined.set(false);
        let output = self.conn.poll_output(cx);
        self.share.renew();
        if output.is_ready() {
            after_the_others(cx);
        }
        ConnStep::Wait
    }

    /// Nothing to do until the client sends more.
    #[inline]
    fn rest(&mut self) -> ConnStep {
        let conn = &self.conn;
        let now = conn.port.worker.clock.now();
        if self.input.is_empty() {
            if self.last_chance {
                return ConnStep::Close;
            }
            self.input.release(&conn.port.worker.pool);
            if !matches!(conn.timer.get(), Timer::Fresh { .. } | Timer::Idle { .. }) {
                conn.timer.set(Timer::Idle { since: now });
            }
        } else if !matches!(conn.timer.get(), Timer::Head { .. }) {
            conn.timer.set(Timer::Head { since: now });
        }
        ConnStep::Wait
    }

    /// A head is complete.
    #[inline]
    fn begin(&mut self, inner: Box<Inner>, cx: &mut Context<'_>) -> ConnStep {
        self.input.consume(inner.bytes.len());
        self.last_chance = false;
        let conn = &self.conn;
        let (config, worker) = (&conn.port.config, &conn.port.worker);
        conn.timer.set(Timer::None);
        let received_at = worker.clock.wall();
        self.share.count(received_at);
        let count = conn.info.count_request(received_at);
        let head = &inner.head;
        let persist = head.keep_alive
            && config.keepalive_timeout > 0
            && (config.keepalive_requests == 0 || count < config.keepalive_requests);
        let method = head.method.of(&inner.bytes);
        conn.exchange.begin(head.version, method, persist, received_at);
        if let Err(reject) = conn.choose_host(&inner) {
            return self.refuse(reject);
        }
        let config = &conn.site().config;
        if config.https_redirect != 0 && config.tls.is_none() {
            return self.redirect(inner);
        }
        if conn.exchange.connect.get() && !config.connect {
            return self.refuse(Reject::new(501, "CONNECT is not served here"));
        }
        if matches!(head.framing, Framing::None | Framing::Length(0)) {
            if head.version == Version::Http10 && matches!(method, b"POST" | b"PUT") && head.framing == Framing::None {
                // A 1.0 client may mean a body that ends with the connection (RFC 1945 section 7.2.2).
                return self.refuse(Reject::new(411, "an HTTP/1.0 request with content needs a Content-Length"));
            }
            let length = (head.framing != Framing::None).then_some(0);
            return self.dispatch(inner, Body::empty(length), None, cx);
        }
        self.begin_body(inner, cx)
    }

    /// Hands a request to the app.
    #[inline]
    pub(super) fn dispatch(
        &mut self,
        inner: Box<Inner>,
        body: Body,
        decoder: Option<Box<BodyDecoder>>,
        cx: &mut Context<'_>,
    ) -> ConnStep {
        self.conn.pipelined.set(!self.input.is_empty() && decoder.is_none());
        if inner.head.upgrade
            && decoder.is_none()
            && let Some(session) = self.upgraded(&inner)
        {
            return self.upgrade_to_streams(session, inner, body, cx);
        }
        let upgrade = inner.head.upgrade && self.read_handshake(&inner);
        let handling = handle(&self.app, &self.conn, inner, body, upgrade, cx);
        self.state = ConnState::Answer { handling, body: decoder };
        self.settle(cx)
    }

    /// Notes a WebSocket handshake. Whether it goes to `on_upgrade`: a sound one on a port for WebSockets.
    #[cold]
    fn read_handshake(&self, inner: &Inner) -> bool {
        let conn = &self.conn;
        let read = Handshake::read(&inner.head, &inner.bytes);
        let sound = read.is_some();
        *conn.handshake.borrow_mut() = read;
        sound && conn.port.config.websocket
    }

    /// The connection became a message connection, whose task goes on with what was read.
    fn become_message_conn(&mut self) -> Option<ConnStep> {
        let message_conn = self.conn.take_message_conn()?;
        if let ConnState::Answer { handling: Some(running), .. } = std::mem::replace(&mut self.state, ConnState::Head) {
            self.conn.conns.events.spawn(running);
        }
        self.conn.timer.set(Timer::None);
        self.closed = true;
        message_runner::start(&self.app, &message_conn, std::mem::take(&mut self.input));
        Some(ConnStep::Close)
    }

    fn answer(&mut self, cx: &mut Context<'_>) -> ConnStep {
        if let ConnState::Answer { handling, .. } = &mut self.state
            && handling.as_mut().is_some_and(|running| Pin::new(running).poll(cx).is_ready())
        {
            *handling = None;
        }
        self.settle(cx)
    }

    /// The handler had its turn.
    #[inline]
    fn settle(&mut self, cx: &mut Context<'_>) -> ConnStep {
        let conn = Rc::clone(&self.conn);
        if !conn.exchange.is_answerable() {
            if let Some(step) = self.become_message_conn() {
                return step;
            }
            return self.answered();
        }
        // An answer may go on for long: what earlier ones left is sent now.
        conn.pipelined.set(false);
        let _ = conn.poll_output(cx);
        if conn.broken.get() || conn.kill.get() != Kill::No {
            return ConnStep::Again;
        }
        if self.feed_stream(cx) {
            return ConnStep::Wait;
        }
        conn.watch_peer();
        if conn.broken.get() { ConnStep::Again } else { ConnStep::Wait }
    }

    /// The answer is complete (sent or queued).
    #[inline]
    fn answered(&mut self) -> ConnStep {
        let ConnState::Answer { handling, body } = std::mem::replace(&mut self.state, ConnState::Head) else {
            return ConnStep::Again;
        };
        let conn = &self.conn;
        if let Some(running) = handling {
            self.conn.conns.events.spawn(running);
        }
        conn.watch_in_sweep.set(false);
        conn.timer.set(Timer::None);
        conn.forget_handshake();
        conn.exchange.forget();
        let unread = body.filter(|_| !conn.stream.take().is_some_and(|stream| stream.end_early()));
        if !conn.exchange.persist.get() {
            self.state = ConnState::Closing { linger: unread.is_some() || !self.input.is_empty() };
        } else if let Some(decoder) = unread {
            self.begin_discard(decoder);
        } else if conn.out.borrow().holds_part() {
            self.state = ConnState::Drain;
        }
        ConnStep::Again
    }

    /// Leaves a running handler to the runtime.
    fn hand_over(&mut self) {
        match std::mem::replace(&mut self.state, ConnState::Head) {
            ConnState::Answer { handling: Some(running), .. } => self.conn.conns.events.spawn(running),
            ConnState::Streams(mut streams) => streams.end(&self.app),
            _ => {}
        }
        self.finish_stream(Err(BodyError::Disconnected));
        self.conn.lose_answer();
    }

    pub(super) fn finish_stream(&self, end: Result<(), BodyError>) {
        let stream = self.conn.stream.borrow().clone();
        if let Some(stream) = stream {
            stream.finish(end, Vec::new());
        }
    }

    /// The same of a request whose host nobody knows: it need not be that of the one before.
    fn refuse_head(&mut self, reject: Reject) -> ConnStep {
        self.conn.host.set(0);
        self.refuse(reject)
    }

    /// Answers a request that the app never sees; the connection ends with it (RFC 9112 section 2.2).
    pub(super) fn refuse(&mut self, reject: Reject) -> ConnStep {
        let conn = &self.conn;
        conn.port.worker.refused(&conn.info, &conn.exchange, reject.status, conn.noting());
        conn.pipelined.set(false);
        let head_only = conn.exchange.refuse();
        let mut out = conn.out.borrow_mut();
        let buffer = out.buffer(&conn.port.worker.pool);
        http1::write_error(buffer, conn.site(), reject.status, reject.reason, head_only);
        conn.push(out);
        self.state = ConnState::Closing { linger: true };
        ConnStep::Again
    }

    /// Ends the connection: once, however it ends.
    fn close(&mut self, running: bool) {
        if std::mem::replace(&mut self.closed, true) {
            return;
        }
        if running {
            self.hand_over();
        }
        let conn = &self.conn;
        conn.break_off();
        conn.info.open.set(false);
        conn.timer.set(Timer::None);
        let io = conn.io.borrow_mut().take();
        if let Some(io) = io {
            io.unwatch(&conn.conns.events);
            conn.kill.get().before_close(io.socket());
        }
        self.input.consume(usize::MAX);
        self.input.release(&conn.port.worker.pool);
        conn.conns.registry.borrow_mut().remove(conn.info.id);
        conn.port.worker.closed(&conn.info);
        self.app.on_close(&conn.info);
    }
}

/// Hands a request to the app, and polls its handling for the first time: what is left of that.
#[inline]
fn handle<A: App>(
    app: &Rc<A>,
    conn: &Rc<Conn>,
    inner: Box<Inner>,
    body: Body,
    upgrade: bool,
    cx: &mut Context<'_>,
) -> Option<A::Handling> {
    let worker = &conn.port.worker;
    conn.exchange.note(&inner);
    conn.exchange.open();
    bump(&worker.counters.requests);
    worker.metrics.request(&conn.info);
    let received_at = conn.exchange.received_at.get();
    let site = conn.site();
    let of = (Rc::clone(&conn.info), Rc::clone(site));
    let stream = (conn.stream_id() > 0).then(|| Rc::clone(conn));
    let request = Request::new(inner, of, body, received_at, stream);
    if let Some(wanted) = &site.config.noted {
        request.note(&conn.exchange, wanted);
    }
    let responder = Responder::new(Rc::clone(conn));
    if site.config.adorns {
        let name = Some(&*site.config.trace_header).filter(|name| !name.is_empty());
        conn.exchange.begin_added(name.map(|name| (name, &**request.trace() as &dyn Display)));
    }
    if let Some(gate) = &site.config.gate
        && is_barred(gate, &request, &responder)
    {
        return None;
    }
    let mut handling = if upgrade { app.on_upgrade(request, responder) } else { app.on_request(request, responder) };
    Pin::new(&mut handling).poll(cx).is_pending().then_some(handling)
}

impl<A: App> Run for ConnTask<A> {
    fn run(&mut self, cx: &mut Context<'_>) -> bool {
        self.share.renew();
        self.conn.begin_turn();
        let ended = self.work(cx);
        self.conn.in_poll.set(false);
        if ended {
            self.close(true);
        }
        ended
    }
}

impl<A: App> Drop for ConnTask<A> {
    fn drop(&mut self) {
        // Only when the runtime goes away, or the app panicked: its handler goes with it.
        self.close(false);
    }
}
