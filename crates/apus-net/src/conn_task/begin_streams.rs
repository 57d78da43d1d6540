//! How a connection comes to speak HTTP/2: agreed on by ALPN, begun with, or upgraded from HTTP/1.1.

use std::task::Context;

use apus_proto::http1::{Span, Version};
use apus_proto::http2::upgrade_settings;

use super::streams::Streams;
use super::{ConnState, ConnStep, ConnTask};
use crate::app::App;
use crate::body::Body;
use crate::head_bytes::Inner;
use crate::http1;
use crate::http2::Session;
use crate::message_conn::has_token;

impl<A: App> ConnTask<A> {
    /// Whether a client that has sent its first bytes speaks HTTP/2: agreed by ALPN, or known to it (RFC 9113 section
    /// 3.3).
    pub(super) fn speaks_http2(&self) -> bool {
        let conn = &self.conn;
        let agreed = || conn.info.tls.get().is_some_and(|tls| tls.protocol == "h2");
        conn.info.requests.get() == 0 && (self.input.bytes().starts_with(b"PRI ") || agreed())
    }

    /// Whether the first line is none of HTTP/1 on a port that speaks HTTP/2, whose clients are told so in its frames.
    pub(super) fn is_wrong_preface(&self) -> bool {
        let (conn, bytes) = (&self.conn, self.input.bytes());
        let line = &bytes[..bytes.iter().position(|&byte| byte == b'\n').unwrap_or(bytes.len())];
        let named = line.windows(7).any(|part| part == b"HTTP/1.");
        conn.port.config.http2.is_some() && conn.info.requests.get() == 0 && !named
    }

    /// The connection carries streams from now on.
    pub(super) fn begin_streams(&mut self) -> ConnStep {
        let conn = &self.conn;
        let Some(limits) = conn.port.http2 else { return ConnStep::Again };
        let session = Session::new(limits, conn.port.worker.clock.now());
        self.state = ConnState::Streams(Box::new(Streams::new(session, conn)));
        ConnStep::Again
    }

    /// The session that a request of HTTP/1.1 asks for (RFC 7540 section 3.2). A wrong wish is ignored, and
    /// the request answered as any other.
    #[cold]
    pub(super) fn upgraded(&self, inner: &Inner) -> Option<Session> {
        let conn = &self.conn;
        let limits = conn.port.http2.filter(|_| conn.port.config.tls.is_none())?;
        let values = |name: &'static [u8]| {
            let named = move |(found, _): &&(Span, Span)| found.of(&inner.bytes).eq_ignore_ascii_case(name);
            inner.head.headers.iter().filter(named).map(|(_, value)| value.of(&inner.bytes))
        };
        if inner.head.version != Version::Http11 || !values(b"upgrade").any(|list| has_token(list, b"h2c")) {
            return None;
        }
        let mut settings = values(b"http2-settings");
        let (Some(settings), None) = (settings.next(), settings.next()) else { return None };
        Session::upgraded(limits, &upgrade_settings(settings)?, conn.port.worker.clock.now()).ok()
    }

    /// The connection carries streams from now on; the request is the first.
    #[cold]
    pub(super) fn upgrade_to_streams(
        &mut self,
        session: Session,
        mut inner: Box<Inner>,
        body: Body,
        cx: &mut Context<'_>,
    ) -> ConnStep {
        let conn = &self.conn;
        let mut out = conn.out.borrow_mut();
        let switching = b"Connection: Upgrade\r\nUpgrade: h2c\r\n";
        http1::write_interim(out.buffer(&conn.port.worker.pool), 101, switching);
        conn.push(out);
        inner.head.version = Version::Http2;
        let mut streams = Streams::new(session, conn);
        let first = streams.add(conn, 1, &inner, conn.exchange.received_at.get(), None);
        first.host.set(conn.host.get());
        streams.dispatch(&self.app, &first, inner, body, cx);
        self.state = ConnState::Streams(Box::new(streams));
        ConnStep::Again
    }
}
