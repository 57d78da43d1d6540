//! A connection that speaks HTTP/2: requests come as streams, each with a [`Conn`] of its own, and all their answers
//! leave in the frames of this one.
//!
//! The session knows the protocol, the streams know the answers; here they are brought together, in the connection's
//! task. A handler that waits goes on in a task of its own.

use std::collections::VecDeque;
use std::rc::Rc;
use std::task::{Context, Poll};

use apus_proto::http1::{Framing, Reject, Span, Version};

use super::redirect::{NO_HOST, location, log, turn_away};
use super::share::Share;
use super::stream_body::StreamBody;
use super::tunnels::{Wish, begin_messages};
use super::{ConnState, ConnStep, ConnTask, MAX_HELD, handle};
use crate::app::App;
use crate::body::{Body, BodyDecoder, BodyError, Form};
use crate::conn::{Conn, Expired, Mux, Timer};
use crate::exchange::AnswerPhase;
use crate::head_bytes::Inner;
use crate::http1;
use crate::http2::{Closed, Event, Read, Session};
use crate::info::ConnInfo;
use crate::input::Input;
use crate::worker::{Counters, bump};
use apus_loop::after_the_others;

/// Rounds of reading and sending before other connections have their turn.
const MAX_ROUNDS: u32 = 4;

/// So many times what may wait for a stream waits for all of a connection when it begins no more requests.
const FULL: usize = 4;

/// The streams of a connection.
pub(crate) struct Streams {
    mux: Rc<Mux>,
    /// By id: new ones come last.
    open: Vec<(u32, Stream)>,
    /// Requests that wait until the client has taken more of earlier answers.
    queue: VecDeque<(Rc<Conn>, Box<Inner>, Body)>,
    share: Share,
    /// The last turn ended before all was read, for others to have theirs.
    hurried: bool,
    /// The last turn ended for the kernel to be asked once more what has come, before a deadline is looked at: a signal
    /// may have ended its wait.
    asked: bool,
    /// Where the next head goes.
    spare: Option<Box<Inner>>,
    /// The client left a WebSocket of a worker that leaves unread: what else it leaves is not waited for long.
    pub(super) abandoned: bool,
}

/// A request, from its head until it is answered and nobody handles it any more.
pub(super) struct Stream {
    conn: Rc<Conn>,
    pub(super) body: StreamBody,
}

/// How a turn ended.
enum Turn {
    Wait,
    /// All is said, or the session gave up: the output that waits is the last.
    Over,
    /// The client is.
    Gone,
}

impl<A: App> ConnTask<A> {
    /// Reads and sends frames until something is missing.
    pub(super) fn streams(&mut self, cx: &mut Context<'_>) -> ConnStep {
        let ConnState::Streams(mut streams) = std::mem::replace(&mut self.state, ConnState::Head) else {
            return ConnStep::Again;
        };
        let turn = streams.run(&self.app, &self.conn, &mut self.input, cx);
        streams.count(&self.conn.port.worker.counters);
        match turn {
            Turn::Wait => {
                self.state = ConnState::Streams(streams);
                ConnStep::Wait
            }
            Turn::Over => {
                streams.end(&self.app);
                self.state = ConnState::Closing { linger: true };
                ConnStep::Again
            }
            Turn::Gone => {
                streams.end(&self.app);
                ConnStep::Close
            }
        }
    }
}

impl Streams {
    pub(super) fn new(session: Session, conn: &Rc<Conn>) -> Self {
        let mux = Mux::new(session, conn);
        conn.carry(&mux);
        Self {
            mux,
            open: Vec::new(),
            queue: VecDeque::new(),
            share: Share::default(),
            hurried: false,
            asked: false,
            spare: None,
            abandoned: false,
        }
    }

    /// Enters a stream; with an `info` of its own it asks for a WebSocket.
    pub(super) fn add(
        &mut self,
        carrier: &Rc<Conn>,
        id: u32,
        inner: &Inner,
        received_at: f64,
        info: Option<Rc<ConnInfo>>,
    ) -> Rc<Conn> {
        bump(&carrier.port.worker.counters.http2_streams);
        let conn = Conn::stream_of(carrier, &self.mux, id, info);
        conn.exchange.begin(Version::Http2, inner.head.method.of(&inner.bytes), true, received_at);
        self.open.push((id, Stream { conn: Rc::clone(&conn), body: StreamBody::None }));
        conn
    }

    fn count(&self, counters: &Counters) {
        let (received, sent) = self.mux.session.borrow_mut().take_broken_off();
        counters.http2_resets_received.set(counters.http2_resets_received.get() + received);
        counters.http2_resets_sent.set(counters.http2_resets_sent.get() + sent);
    }

    fn run<A: App>(&mut self, app: &Rc<A>, conn: &Rc<Conn>, input: &mut Input, cx: &mut Context<'_>) -> Turn {
        let worker = &conn.port.worker;
        self.share.renew();
        let begun = worker.clock.wall();
        // What came while the worker was busy may be what a deadline waits for: it is read first.
        let mut heard = std::mem::take(&mut self.hurried);
        let asked = std::mem::take(&mut self.asked);
        for _ in 0..MAX_ROUNDS {
            let now = worker.clock.now();
            let mut read = self.read(app, conn, input, now, cx);
            if heard && read.is_ok() {
                read = self.look(conn, now);
            }
            self.serve(app);
            let blocked = self.send(conn, cx);
            self.dispatch_queued(app, conn, cx);
            if conn.broken.get() {
                return Turn::Gone;
            }
            if read.is_err() || (!blocked && self.mux.session.borrow().is_over()) {
                return Turn::Over;
            }
            if self.mux.is_touched() {
                continue;
            }
            if self.share.is_used() || (heard && Share::is_over(begun, &worker.clock)) {
                break;
            }
            let more = if self.mux.session.borrow().wants_input() {
                conn.poll_recv(cx, &mut (&mut *input, &worker.pool))
            } else {
                Poll::Pending
            };
            match more {
                Poll::Ready(Ok(count @ 1..)) => input.filled(count),
                Poll::Ready(_) => {
                    conn.peer_closed();
                    return Turn::Gone;
                }
                Poll::Pending if heard || !self.mux.look.get() => return self.rest(conn, input, now),
                Poll::Pending if !asked => {
                    self.asked = true;
                    after_the_others(cx);
                    return Turn::Wait;
                }
                Poll::Pending => {}
            }
            heard = true;
        }
        self.hurried = true;
        after_the_others(cx);
        Turn::Wait
    }

    /// Nothing to do until something comes from somewhere.
    fn rest(&self, conn: &Conn, input: &mut Input, now: u64) -> Turn {
        input.release(&conn.port.worker.pool);
        let over = self.abandoned && self.mux.session.borrow().open_streams() == 0;
        if over && !matches!(conn.timer.get(), Timer::Linger { .. }) {
            conn.timer.set(Timer::Linger { since: now });
        } else if !over && (!self.open.is_empty() || !self.mux.session.borrow().is_quiet()) {
            conn.timer.set(Timer::None);
        } else if !over && !matches!(conn.timer.get(), Timer::Idle { .. }) {
            conn.timer.set(Timer::Idle { since: now });
        }
        Turn::Wait
    }

    /// The connection is asked to end: WebSockets, which would never, are told to.
    pub(super) fn close(&self, now: u64) {
        for (_, stream) in &self.open {
            stream.conn.close_tunnel();
        }
        self.drain(now);
    }

    /// Begins a graceful end: what has begun is answered.
    pub(super) fn drain(&self, now: u64) {
        self.mux.session.borrow_mut().drain(now);
    }

    /// Looks at what has a deadline, where the sweep asked for it.
    fn look(&mut self, conn: &Conn, now: u64) -> Result<(), Closed> {
        if !self.mux.look.take() {
            return Ok(());
        }
        let draining = conn.port.worker.is_draining();
        if draining {
            self.drain(now);
        }
        for (_, stream) in &self.open {
            if let Some(expired) = stream.conn.expired_now(now, draining) {
                stream.conn.expired.set(Some(expired));
                stream.conn.wake_later();
            }
        }
        let mut reset = Vec::new();
        let checked = self.mux.session.borrow_mut().check(now, |id| reset.push(id));
        for id in reset {
            self.reset(id);
        }
        checked
    }

    /// Takes what the frames that are there say.
    fn read<A: App>(
        &mut self,
        app: &Rc<A>,
        conn: &Rc<Conn>,
        input: &mut Input,
        now: u64,
        cx: &mut Context<'_>,
    ) -> Result<(), Closed> {
        let pool = &conn.port.worker.pool;
        while !input.is_empty() && !self.share.is_used() && self.mux.session.borrow().wants_input() {
            let mut inner = self.spare.take().unwrap_or_else(|| pool.request());
            let read = self.mux.session.borrow_mut().read(input.bytes(), now, &mut inner.bytes, &mut inner.head);
            let Read { used, event } = read?;
            let more = event.is_some();
            let begins = matches!(event, Some(Event::Request { .. }));
            match event {
                Some(Event::Request { stream, end_stream }) => {
                    self.begin(app, conn, stream, end_stream, inner, cx);
                }
                Some(Event::Data { stream, data, end_stream }) => {
                    self.spare = Some(inner);
                    self.data(app, stream, data, end_stream, cx);
                }
                Some(Event::Trailers { stream }) => {
                    let own = |(name, value): &(Span, Span)| {
                        (name.of(&inner.bytes).to_vec(), value.of(&inner.bytes).to_vec())
                    };
                    let trailers = inner.head.headers.iter().map(own).collect();
                    self.spare = Some(inner);
                    self.complete(app, stream, trailers, cx);
                }
                Some(Event::Reset { stream, .. }) => {
                    self.spare = Some(inner);
                    self.reset(stream);
                }
                None => self.spare = Some(inner),
            }
            input.consume(used);
            if !more || (begins && !input.is_empty() && self.look_at_share(conn)) {
                break;
            }
        }
        if input.is_empty()
            && let Some(inner) = self.spare.take()
        {
            pool.give_request(inner);
        }
        Ok(())
    }

    pub(super) fn find(&mut self, id: u32) -> Option<&mut Stream> {
        let at = self.open.binary_search_by_key(&id, |(id, _)| *id).ok()?;
        Some(&mut self.open[at].1)
    }

    /// A request has begun.
    fn begin<A: App>(
        &mut self,
        app: &Rc<A>,
        carrier: &Rc<Conn>,
        id: u32,
        end_stream: bool,
        inner: Box<Inner>,
        cx: &mut Context<'_>,
    ) {
        let (config, worker) = (&carrier.port.config, &carrier.port.worker);
        let received_at = worker.clock.wall();
        self.share.count(received_at);
        let count = carrier.info.count_request(received_at);
        if config.keepalive_requests > 0 && count >= config.keepalive_requests {
            self.drain(worker.clock.now());
        }
        if inner.head.protocol.is_some() {
            return self.begin_tunnel(app, carrier, Wish { stream: id, ended: end_stream }, inner, cx);
        }
        let conn = self.add(carrier, id, &inner, received_at, None);
        if let Err(reject) = conn.choose_host(&inner) {
            return self.refuse(id, reject);
        }
        let config = &conn.site().config;
        if config.https_redirect != 0 && config.tls.is_none() {
            return match location(&inner, config.https_redirect) {
                Some(to) => {
                    log(&conn, inner);
                    turn_away(&conn, http1::PERMANENT_REDIRECT, Some(&to));
                }
                None => self.refuse(id, NO_HOST),
            };
        }
        let head = &inner.head;
        if conn.exchange.connect.get() && !config.connect {
            return self.refuse(id, Reject::new(501, "CONNECT is not served here"));
        }
        let length = match head.framing {
            Framing::Length(length) => Some(length),
            _ => None,
        };
        if end_stream || head.framing == Framing::None {
            return self.dispatch(app, &conn, inner, Body::empty(length), cx);
        }
        let decoder = match BodyDecoder::of_stream(head.framing, Form::max_body(&inner, config)) {
            Ok(decoder) => decoder,
            Err(reject) => return self.refuse(id, reject),
        };
        let expects = inner.head.expect_continue;
        if config.stream_body {
            let (body, stream) = StreamBody::streamed(&conn, decoder);
            conn.exchange.expects_continue.set(expects);
            if let Some(stream) = self.find(id) {
                stream.body = body;
            }
            return self.dispatch(app, &conn, inner, Body::streamed(stream, length), cx);
        }
        if expects {
            conn.send_continue_now();
        }
        match StreamBody::collected(&conn, inner, decoder) {
            Ok(body) => {
                if let Some(stream) = self.find(id) {
                    stream.body = body;
                }
                conn.start_body_timer();
            }
            Err(reject) => self.refuse(id, reject),
        }
    }

    /// Hands a request to the app, after those that wait.
    pub(super) fn dispatch<A: App>(
        &mut self,
        app: &Rc<A>,
        conn: &Rc<Conn>,
        inner: Box<Inner>,
        body: Body,
        cx: &mut Context<'_>,
    ) {
        if self.queue.is_empty() && !self.is_full(conn) {
            dispatch(app, conn, inner, body, cx);
        } else {
            self.queue.push_back((Rc::clone(conn), inner, body));
        }
    }

    /// Whether so much output waits that no request is begun. Answers that are given in one piece have no other bound:
    /// a client could ask for as many as it may have streams, and take none.
    fn is_full(&self, conn: &Conn) -> bool {
        self.mux.waiting() >= conn.port.config.max_output.saturating_mul(FULL)
    }

    /// A request has begun, and there is more to begin: whether others are to have their turn before.
    fn look_at_share(&mut self, conn: &Conn) -> bool {
        self.share.look(conn.port.config.max_pipelined, &conn.port.worker.clock)
    }

    /// Begins what has waited.
    fn dispatch_queued<A: App>(&mut self, app: &Rc<A>, conn: &Conn, cx: &mut Context<'_>) {
        while !self.queue.is_empty() && !self.is_full(conn) && !self.share.is_used() {
            let Some((conn, inner, body)) = self.queue.pop_front() else { return };
            if conn.is_usable() {
                self.share.count(conn.port.worker.clock.wall());
                dispatch(app, &conn, inner, body, cx);
            } else {
                conn.handled();
                continue;
            }
            self.look_at_share(&conn);
        }
    }

    /// A piece of a body.
    fn data<A: App>(&mut self, app: &Rc<A>, id: u32, data: &[u8], end: bool, cx: &mut Context<'_>) {
        let Some(stream) = self.find(id) else { return };
        let conn = Rc::clone(&stream.conn);
        conn.body_bytes.set(conn.body_bytes.get() + data.len() as u64);
        match stream.body.arrived(&conn, data) {
            Err(reject) => return self.refuse(id, reject),
            Ok(taken) => self.mux.session.borrow_mut().consumed(id, taken),
        }
        if end {
            self.complete(app, id, Vec::new(), cx);
        }
    }

    /// The end of a body.
    fn complete<A: App>(&mut self, app: &Rc<A>, id: u32, trailers: Vec<(Vec<u8>, Vec<u8>)>, cx: &mut Context<'_>) {
        let Some(stream) = self.find(id) else { return };
        let conn = Rc::clone(&stream.conn);
        match stream.body.complete(&conn, trailers) {
            Ok(None) => {}
            Ok(Some((inner, body))) => {
                conn.timer.set(Timer::None);
                self.dispatch(app, &conn, inner, body, cx);
            }
            Err(reject) => self.refuse(id, reject),
        }
    }

    /// A stream is broken off.
    fn reset(&mut self, id: u32) {
        let Some(stream) = self.find(id) else { return };
        stream.conn.tunnel_broke();
        stream.cut();
        stream.conn.wake_later();
    }

    /// Answers a request that the app does not see, or whose body cannot be read on. Nothing more is read of it.
    pub(super) fn refuse(&mut self, id: u32, reject: Reject) {
        let Some(Stream { conn, body }) = self.find(id) else { return };
        let conn = Rc::clone(conn);
        if let StreamBody::Stream(held) = body {
            held.fail(if reject.status == 413 { BodyError::TooLarge } else { BodyError::Malformed(reject.reason) });
            *body = StreamBody::None;
            return conn.discard_stream_body();
        }
        *body = StreamBody::None;
        conn.timer.set(Timer::None);
        conn.port.worker.refused(&conn.info, &conn.exchange, reject.status, conn.noting());
        turn_away(&conn, reject.status, None);
    }

    /// Looks at the streams at which something has happened.
    fn serve<A: App>(&mut self, app: &Rc<A>) {
        for id in self.mux.take_touched() {
            let Some(stream) = self.find(id) else { continue };
            let conn = Rc::clone(&stream.conn);
            match (conn.expired.take(), &stream.body) {
                (Some(Expired::Body), StreamBody::Stream(held)) => held.fail(BodyError::TooSlow),
                (Some(Expired::Body), StreamBody::Collect(_)) => {
                    self.refuse(id, Reject::new(408, "the request body came too slowly"));
                }
                (Some(Expired::Memory), StreamBody::Collect(_)) => self.refuse(id, Reject::new(503, "no memory left")),
                (Some(Expired::Memory), StreamBody::Tunnel) => conn.tunnel_gives_up(),
                _ => {}
            }
            self.serve_stream(app, id, &conn);
        }
    }

    fn serve_stream<A: App>(&mut self, app: &Rc<A>, id: u32, conn: &Rc<Conn>) {
        if matches!(self.find(id), Some(Stream { body: StreamBody::Tunnel, .. })) && self.serve_tunnel(app, id, conn) {
            return;
        }
        let mux = Rc::clone(&self.mux);
        if let Some(stream) = self.find(id)
            && let StreamBody::Stream(held) = &mut stream.body
            && conn.exchange.phase() != AnswerPhase::Arriving
        {
            if conn.exchange.is_answerable() && conn.is_usable() {
                let taken = held.feed(conn);
                mux.session.borrow_mut().consumed(id, taken);
            } else {
                held.fail(BodyError::Ended);
                stream.body = StreamBody::None;
                conn.timer.set(Timer::None);
                conn.discard_stream_body();
            }
        }
        if conn.serve_stream() {
            self.finish(app, id, conn);
        }
    }

    /// A stream is through.
    pub(super) fn finish<A: App>(&mut self, app: &Rc<A>, id: u32, conn: &Conn) {
        self.mux.session.borrow_mut().finish(id);
        if let Ok(at) = self.open.binary_search_by_key(&id, |(id, _)| *id) {
            self.open.remove(at);
        }
        if conn.leave() {
            app.on_close(&conn.info);
        }
    }

    /// Sends what the session has to say. Whether the client has to take some of it first.
    fn send(&self, conn: &Conn, cx: &mut Context<'_>) -> bool {
        let worker = &conn.port.worker;
        loop {
            {
                let (mut session, mut out) = (self.mux.session.borrow_mut(), conn.out.borrow_mut());
                if session.has_output() && out.bytes() < MAX_HELD {
                    session.fill(out.buffer(&worker.pool), MAX_HELD);
                    out.count(worker);
                }
            }
            self.mux.count();
            let blocked = conn.poll_output(cx).is_pending();
            let writable = self.mux.session.borrow_mut().writable();
            for id in writable {
                if let Ok(at) = self.open.binary_search_by_key(&id, |(id, _)| *id) {
                    self.open[at].1.conn.wake_later();
                }
            }
            if blocked || conn.broken.get() || !self.mux.session.borrow().has_output() {
                return blocked;
            }
        }
    }

    /// The connection is over: nobody can be answered any more.
    pub(super) fn end<A: App>(&mut self, app: &Rc<A>) {
        for (_, stream) in &self.open {
            begin_messages(app, &stream.conn);
            if stream.conn.leave() {
                app.on_close(&stream.conn.info);
            }
        }
        self.cut();
    }

    fn cut(&mut self) {
        for (_, mut stream) in self.open.drain(..) {
            // What a WebSocket has brought is read before it ends.
            stream.conn.tunnel_ended();
            stream.cut();
            stream.conn.leave();
        }
        for (conn, ..) in self.queue.drain(..) {
            conn.handled();
        }
        self.mux.give_up();
    }
}

impl Drop for Streams {
    fn drop(&mut self) {
        // Only what an app that panicked has left.
        self.cut();
    }
}

/// Hands a request to the app. Its handler goes on by itself if it waits.
fn dispatch<A: App>(app: &Rc<A>, conn: &Rc<Conn>, inner: Box<Inner>, body: Body, cx: &mut Context<'_>) {
    let upgrade = conn.port.config.websocket && conn.handshake.borrow().is_some();
    match handle(app, conn, inner, body, upgrade, cx) {
        None => conn.handled(),
        Some(running) => {
            let (conn, events) = (Rc::clone(conn), Rc::clone(&conn.conns.events));
            events.spawn(async move {
                running.await;
                conn.handled();
            });
        }
    }
}

impl Stream {
    /// Nothing more comes, and nothing can be said any more.
    fn cut(&mut self) {
        if let StreamBody::Tunnel = self.body {
            return self.conn.break_off();
        }
        let body = std::mem::replace(&mut self.body, StreamBody::None);
        if let StreamBody::Stream(held) = &body {
            held.fail(BodyError::Disconnected);
        }
        if let StreamBody::Collect(_) = body {
            // Nobody has seen the request.
            self.conn.handled();
        }
        self.conn.break_off();
    }
}
