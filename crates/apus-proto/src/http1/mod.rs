//! HTTP/1.1 messages (RFC 9112): the request head, which HTTP/2 shares, the chunked coding, and what a response is
//! written with.

mod chunked;
mod head;
mod noted;
pub mod response;

pub use chunked::{ChunkEvent, ChunkLimits, ChunkedDecoder, Trailer};
pub use head::parse_request;
pub(crate) use head::{MAX_METHOD, content_length, split_path};
pub use noted::Noted;

/// A piece of the buffer that [`parse_request`] was given, as offsets: it survives the buffer's move.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Span {
    /// Offset of the first byte.
    pub start: u32,
    /// Offset after the last byte.
    pub end: u32,
}

impl Span {
    /// The bytes this span names. Empty when the buffer is not the one that was parsed and is too short.
    #[inline]
    pub fn of(self, buf: &[u8]) -> &[u8] {
        buf.get(self.start as usize..self.end as usize).unwrap_or_default()
    }

    /// Length in bytes.
    #[inline]
    pub fn len(self) -> usize {
        self.end.saturating_sub(self.start) as usize
    }

    /// Whether it names no byte.
    #[inline]
    pub fn is_empty(self) -> bool {
        self.end <= self.start
    }

    #[inline]
    pub(crate) fn new(start: usize, end: usize) -> Self {
        // A head is at most `MAX_HEAD` bytes, so offsets always fit.
        Self { start: start as u32, end: end as u32 }
    }
}

/// The longest head [`Limits::max_head`] can allow; more is treated as this.
pub const MAX_HEAD: usize = 1 << 24;

/// What a request head may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of the whole head, from the request line to the empty line. More: 431, or 414 in the request line.
    pub max_head: usize,
    /// Number of field lines. More: 431.
    pub max_headers: usize,
    /// Bytes of the request target. More: 414.
    pub max_target: usize,
    /// Whether a request may lack the Host field, which RFC 9112 section 3.2 forbids.
    pub without_host: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_head: 16 * 1024, max_headers: 100, max_target: 8 * 1024, without_host: false }
    }
}

/// The protocol version of a message. A later minor version of HTTP/1 counts as 1.1 (RFC 9110 section 2.5).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Version {
    /// HTTP/1.0.
    Http10,
    /// HTTP/1.1.
    #[default]
    Http11,
    /// HTTP/2.
    Http2,
}

impl Version {
    /// As it stands on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Http10 => "HTTP/1.0",
            Self::Http11 => "HTTP/1.1",
            Self::Http2 => "HTTP/2",
        }
    }
}

/// How the body of a request is delimited (RFC 9112 section 6.3).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Framing {
    /// No body: neither Content-Length nor Transfer-Encoding was sent.
    #[default]
    None,
    /// Content-Length, in bytes; may be 0.
    Length(u64),
    /// Transfer-Encoding: chunked; over HTTP/2, whose frames end it, a body without Content-Length.
    Chunked,
}

/// A request head. Reusable: [`parse_request`] clears and refills it, without an allocation once `headers` has grown.
///
/// All spans are into the buffer that was parsed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RequestHead {
    /// The method, case-sensitive, any token.
    pub method: Span,
    /// The request target as sent.
    pub target: Span,
    /// The path of the target without the query. `*` for asterisk-form; empty for authority-form and for an
    /// absolute-form without a path; see [`RequestHead::path_of`].
    pub path: Span,
    /// What follows the first `?` of the target; `None` without one.
    pub query: Option<Span>,
    /// The authority that rules: the absolute-form's, else the Host field's (RFC 9112 section 3.2.2).
    pub host: Option<Span>,
    /// The protocol version.
    pub version: Version,
    /// The field lines in the order sent: name as sent, value without the white space around it. Host has the target's
    /// authority where that has one (RFC 9112 section 3.2.2).
    pub headers: Vec<(Span, Span)>,
    /// How the body is delimited.
    pub framing: Framing,
    /// Whether the peer lets the connection stay open after this exchange (RFC 9112 section 9.3).
    pub keep_alive: bool,
    /// Whether the peer waits for a 100 before it sends the body (RFC 9110 section 10.1.1).
    pub expect_continue: bool,
    /// Whether the peer asks for another protocol: an Upgrade field that Connection names (RFC 9110 section 7.8).
    pub upgrade: bool,
    /// The protocol that an extended CONNECT asks for (RFC 8441); never of HTTP/1.1.
    pub protocol: Option<Span>,
    /// Bytes of the head, the empty line included: the body starts there.
    pub head_len: usize,
    /// Which fields there are that a server acts upon.
    pub noted: Noted,
}

impl RequestHead {
    /// The value of the first field of that name, compared without case.
    pub fn header<'b>(&self, buf: &'b [u8], name: &[u8]) -> Option<&'b [u8]> {
        self.headers.iter().find(|(n, _)| n.of(buf).eq_ignore_ascii_case(name)).map(|(_, value)| value.of(buf))
    }

    /// The path as an application wants it: `/` where an absolute-form has none.
    pub fn path_of<'b>(&self, buf: &'b [u8]) -> &'b [u8] {
        if self.path.is_empty() { b"/" } else { self.path.of(buf) }
    }

    pub(crate) fn clear(&mut self) {
        let mut headers = std::mem::take(&mut self.headers);
        headers.clear();
        *self = Self { headers, ..Self::default() };
    }
}

/// What became of an attempt to parse.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parsed {
    /// The head is not all there: call again with the same bytes and more.
    Partial,
    /// The head is filled in.
    Complete,
}

/// Why a message is refused: answer `status`, then close the connection, for its framing can no longer be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reject {
    /// 400, 413, 414, 417, 431, 501 or 505.
    pub status: u16,
    /// What is wrong, for the log and the answer's body; no bytes of the peer's.
    pub reason: &'static str,
}

impl Reject {
    /// A refusal with that status.
    pub const fn new(status: u16, reason: &'static str) -> Self {
        Self { status, reason }
    }

    pub(crate) const fn bad(reason: &'static str) -> Self {
        Self::new(400, reason)
    }
}

impl std::fmt::Display for Reject {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.status, self.reason)
    }
}

impl std::error::Error for Reject {}

#[cfg(test)]
mod chunked_tests;
#[cfg(test)]
mod head_tests;
#[cfg(test)]
mod response_tests;
