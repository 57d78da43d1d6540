//! A request as the program sees it.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;

use apus_proto::forwarded;
use apus_proto::http1::{Noted, RequestHead, Version};

use crate::asked::Asked;
use crate::body::Body;
use crate::config::Config;
use crate::conn::Conn;
use crate::exchange::Exchange;
use crate::head_bytes::Inner;
use crate::info::{ConnInfo, Peer};
use crate::note::{Facts, LoggedFields, note};
use crate::port::Port;
use crate::trace::{Trace, TraceFrom};

/// One request. Owned and cheap to move; its memory goes back to the worker's pool when it is dropped.
pub struct Request {
    /// Always there until `drop`.
    inner: Option<Box<Inner>>,
    conn: Rc<ConnInfo>,
    port: Rc<Port>,
    body: Body,
    received_at: f64,
    /// The stream it came on; none on a connection of its own.
    stream: Option<Rc<Conn>>,
    /// What a trusted peer tells of its client.
    told: Option<Box<ToldByProxy>>,
    trace: OnceCell<Rc<Trace>>,
}

/// What a trusted peer tells of its client.
#[derive(Debug)]
struct ToldByProxy {
    client: Option<SocketAddr>,
    https: Option<bool>,
    host: Option<Vec<u8>>,
}

impl Request {
    pub(crate) fn new(
        inner: Box<Inner>,
        (conn, port): (Rc<ConnInfo>, Rc<Port>),
        body: Body,
        received_at: f64,
        stream: Option<Rc<Conn>>,
    ) -> Self {
        let told = if inner.head.noted.has(Noted::FORWARDED) && !port.config.trusted.is_empty() {
            told(&inner, &conn, &port.config)
        } else {
            None
        };
        Self { inner: Some(inner), conn, port, body, received_at, stream, told, trace: OnceCell::new() }
    }

    /// The client's address, as far as a trusted peer tells it, else the peer's; none of a Unix socket.
    pub fn remote_address(&self) -> Option<IpAddr> {
        match (&self.told, self.conn.peer()) {
            (Some(told), _) if told.client.is_some() => told.client.map(|client| client.ip()),
            (_, Peer::Tcp(address)) => Some(address.ip().to_canonical()),
            (_, Peer::Unix) => None,
        }
    }

    /// The same as text; empty for a Unix socket.
    pub fn remote_ip(&self) -> Cow<'_, str> {
        match self.told.as_ref().and_then(|told| told.client) {
            Some(client) => client.ip().to_string().into(),
            None => self.conn.peer_ip().into(),
        }
    }

    /// The client's port; 0 where it is not known.
    pub fn remote_port(&self) -> u16 {
        match self.told.as_ref().and_then(|told| told.client) {
            Some(client) => client.port(),
            None => self.conn.peer_port(),
        }
    }

    /// Whether the client speaks https.
    pub fn is_https(&self) -> bool {
        self.told.as_ref().and_then(|told| told.https).unwrap_or_else(|| self.conn.tls().is_some())
    }

    /// The host that the client asked a trusted peer for, where that tells it.
    pub fn forwarded_host(&self) -> Option<&[u8]> {
        self.told.as_ref()?.host.as_deref()
    }

    /// What it is called in logs: the trace that it came with, where that is believed, else one that begins here.
    pub fn trace(&self) -> &Rc<Trace> {
        self.trace.get_or_init(|| {
            let config = &self.port.config;
            let believed = match config.traces {
                None | Some(TraceFrom::Nobody) => false,
                Some(TraceFrom::Trusted) => is_trusted(&self.conn, config),
                Some(TraceFrom::Anybody) => true,
            };
            Rc::new(Trace::new(if believed { self.only_header(b"traceparent") } else { None }))
        })
    }

    /// The value of the field of that name, if there is exactly one.
    fn only_header(&self, name: &[u8]) -> Option<&[u8]> {
        let mut found = self.headers().filter(|(field, _)| field.eq_ignore_ascii_case(name));
        let (_, value) = found.next()?;
        found.next().is_none().then_some(value)
    }

    /// Notes what a log wants of it. Who tells of its client is the connection's peer and its head: the same head has
    /// the same entry, but for the trace.
    #[inline]
    pub(crate) fn note(&self, exchange: &Exchange, wanted: &LoggedFields) {
        let serial = self.inner.as_ref().and_then(|inner| inner.serial()).filter(|_| !wanted.trace);
        if serial.is_none() || exchange.entry_of.replace(serial) != serial {
            exchange.entry_of.set(serial);
            self.note_anew(&mut exchange.entry.borrow_mut(), wanted);
        }
    }

    #[inline(never)]
    fn note_anew(&self, into: &mut Vec<u8>, wanted: &LoggedFields) {
        let facts = Facts {
            version: self.version(),
            address: &self.remote_ip(),
            port: self.remote_port(),
            https: self.is_https(),
            method: self.method(),
            target: self.target(),
            host: self.forwarded_host().or_else(|| self.host()),
            trace: (wanted.trace && self.port.config.traces.is_some()).then(|| self.trace().to_string()),
        };
        note(into, &facts, self.headers(), wanted);
    }

    #[inline]
    fn parts(&self) -> (&[u8], &RequestHead) {
        static EMPTY: RequestHead = RequestHead {
            method: apus_proto::http1::Span { start: 0, end: 0 },
            target: apus_proto::http1::Span { start: 0, end: 0 },
            path: apus_proto::http1::Span { start: 0, end: 0 },
            query: None,
            host: None,
            version: Version::Http11,
            headers: Vec::new(),
            framing: apus_proto::http1::Framing::None,
            keep_alive: false,
            expect_continue: false,
            upgrade: false,
            protocol: None,
            head_len: 0,
            noted: apus_proto::http1::Noted::NONE,
        };
        self.inner.as_deref().map_or((&[], &EMPTY), |inner| (&inner.bytes, &inner.head))
    }

    /// The method, case-sensitive: `GET`.
    #[inline]
    pub fn method(&self) -> &[u8] {
        let (bytes, head) = self.parts();
        head.method.of(bytes)
    }

    /// The request target as sent: path and query, or one of the other forms of RFC 9112 section 3.2.
    pub fn target(&self) -> &[u8] {
        let (bytes, head) = self.parts();
        head.target.of(bytes)
    }

    /// The path, not decoded; `/` where the target has none.
    pub fn path(&self) -> &[u8] {
        let (bytes, head) = self.parts();
        head.path_of(bytes)
    }

    /// Has it ask for another path, which MUST be one as it is sent: beginning with a slash, without a query.
    pub fn rewrite(&mut self, path: &[u8]) {
        if let Some(inner) = &mut self.inner {
            inner.replace_path(path);
        }
    }

    /// What follows the first `?` of the target; `None` without one.
    pub fn query(&self) -> Option<&[u8]> {
        let (bytes, head) = self.parts();
        head.query.map(|span| span.of(bytes))
    }

    /// The protocol version.
    pub fn version(&self) -> Version {
        self.parts().1.version
    }

    /// Whether the peer asks for another protocol (RFC 9110 section 7.8).
    pub fn upgrade(&self) -> bool {
        self.parts().1.upgrade
    }

    /// The field lines in the order sent: name as sent, value without the white space around it. Host has the target's
    /// authority where that has one.
    pub fn headers(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        let (bytes, head) = self.parts();
        head.headers.iter().map(move |(name, value)| (name.of(bytes), value.of(bytes)))
    }

    /// The authority that rules: the target's, else the Host field's.
    pub fn host(&self) -> Option<&[u8]> {
        let (bytes, head) = self.parts();
        head.host.map(|span| span.of(bytes))
    }

    /// The value of the first field of that name, compared without case.
    pub fn header(&self, name: &[u8]) -> Option<&[u8]> {
        let (bytes, head) = self.parts();
        head.header(bytes, name)
    }

    /// The head as sent, from the request line to the empty line.
    pub fn raw_head(&self) -> &[u8] {
        self.parts().0
    }

    /// The number of the host that it is for, from 1 on; 0 where it is the port's own.
    #[inline]
    pub fn host_number(&self) -> u16 {
        self.port.number
    }

    /// The connection it came on.
    #[inline]
    pub fn conn(&self) -> &Rc<ConnInfo> {
        &self.conn
    }

    /// The stream of HTTP/2 that it came on; 0 in HTTP/1.
    #[inline]
    pub fn stream(&self) -> u32 {
        self.stream.as_ref().map_or(0, |stream| stream.stream_id())
    }

    /// Whether the client is known to have left, or to have broken its stream off.
    pub fn is_gone(&self) -> bool {
        self.conn.is_gone() || self.stream.as_ref().is_some_and(|stream| stream.is_gone())
    }

    /// When the head was complete: seconds since 1970.
    #[inline]
    pub fn received_at(&self) -> f64 {
        self.received_at
    }

    /// What it wants of a representation: its conditions and ranges.
    pub fn asked(&self) -> Asked {
        Asked::new(self.method() == b"GET", self.received_at, self.headers())
    }

    /// The body.
    #[inline]
    pub fn body(&self) -> &Body {
        &self.body
    }
}

/// Whether the peer is believed what it says of its client.
fn is_trusted(conn: &ConnInfo, config: &Config) -> bool {
    let peer = match conn.peer() {
        Peer::Tcp(address) => Some(address.ip()),
        Peer::Unix => None,
    };
    // A proxy of the PROXY protocol hands on what its client sends: whom it names has to be trusted.
    config.trusted.contain(peer) && (!config.proxy_protocol || conn.is_proxied())
}

/// What the peer tells, if it is trusted.
#[cold]
fn told(inner: &Inner, conn: &ConnInfo, config: &Config) -> Option<Box<ToldByProxy>> {
    let trusted = &config.trusted;
    if !is_trusted(conn, config) {
        return None;
    }
    let fields = inner.head.headers.iter().map(|(name, value)| (name.of(&inner.bytes), value.of(&inner.bytes)));
    let told = forwarded::read(config.trusted_fields, fields, |address| trusted.contain(Some(address)));
    let client = told.client.map(|client| SocketAddr::new(client, told.port.unwrap_or(0)));
    Some(Box::new(ToldByProxy { client, https: told.https, host: told.host.map(<[u8]>::to_vec) }))
}

impl Drop for Request {
    fn drop(&mut self) {
        if let Some(inner) = self.inner.take() {
            self.port.worker.pool.give_request(inner);
        }
    }
}

impl std::fmt::Debug for Request {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        f.debug_struct("Request")
            .field("method", &text(self.method()))
            .field("target", &text(self.target()))
            .field("conn", &self.conn.id())
            .finish_non_exhaustive()
    }
}
