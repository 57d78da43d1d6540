//! Requests out of field blocks (RFC 9113 section 8, RFC 8441), in the shape that HTTP/1.1's have.

use super::hpack::{Decoder, Field, HpackError, ListLimits, Listed};
use super::{ErrorCode, Priority};
use crate::grammar::{has_port, is_field_value, is_host_port, is_lower_token_byte, is_token, target_end};
use crate::http1::{
    Framing, Limits, MAX_HEAD, MAX_METHOD, Noted, Reject, RequestHead, Span, Version, content_length, split_path,
};

/// Scratch memory that is kept from one head to the next.
const KEPT_SCRATCH: usize = 1024;

/// What a head may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeadLimits {
    /// The list of fields. More: 431.
    pub list: ListLimits,
    /// Bytes of `:path`. More: 414.
    pub max_target: usize,
    /// Whether `SETTINGS_ENABLE_CONNECT_PROTOCOL` was sent, so that `:protocol` is allowed.
    pub connect_protocol: bool,
}

impl Default for HeadLimits {
    fn default() -> Self {
        Self { list: ListLimits::default(), max_target: Limits::default().max_target, connect_protocol: true }
    }
}

/// What is wrong with a head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeadError {
    /// The connection ends with `COMPRESSION_ERROR`.
    Block(HpackError),
    /// The request is malformed: its stream ends with `PROTOCOL_ERROR` (RFC 9113 section 8.1.1).
    Malformed(&'static str),
    /// The request is answered with a status: 413, 414, 417, 431 or 501.
    Refused(Reject),
}

impl HeadError {
    /// What the peer is told where there is no answer.
    pub fn code(self) -> ErrorCode {
        match self {
            Self::Block(_) => ErrorCode::COMPRESSION_ERROR,
            Self::Malformed(_) | Self::Refused(_) => ErrorCode::PROTOCOL_ERROR,
        }
    }
}

impl std::fmt::Display for HeadError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Block(error) => error.fmt(f),
            Self::Malformed(reason) => f.write_str(reason),
            Self::Refused(reject) => reject.fmt(f),
        }
    }
}

impl std::error::Error for HeadError {}

/// The field blocks of a connection, read as heads and trailer sections. Each block of the connection has to go through
/// here, in order and whole, for the tables to be right: also those of streams that are refused.
#[derive(Debug, Default)]
pub struct HeadDecoder {
    blocks: Decoder,
    scratch: Scratch,
}

/// Values that wait until it is known what they become.
#[derive(Debug, Default)]
struct Scratch {
    pseudo: Vec<u8>,
    cookie: Vec<u8>,
}

impl HeadDecoder {
    /// The tables.
    pub fn blocks(&mut self) -> &mut Decoder {
        &mut self.blocks
    }

    /// Bytes that the tables and what is kept beside them take.
    pub fn footprint(&self) -> usize {
        self.blocks.footprint() + self.scratch.pseudo.capacity() + self.scratch.cookie.capacity()
    }

    /// Reads the head of a request. `bytes` becomes what an HTTP/1.1 client would have sent, as far as there is such a
    /// thing, and the spans of `head` point into it. The parts of a cookie are joined (RFC 9113 section 8.2.3), and
    /// `:authority` becomes `host`.
    ///
    /// [`Framing::Chunked`] says that there is a body of a length that is not known. The body itself ends with the
    /// stream, and is as long as [`Framing::Length`] says, or else the request is malformed.
    ///
    /// Gives what the field Priority says, if there is one.
    pub fn request(
        &mut self,
        block: &[u8],
        end_stream: bool,
        limits: &HeadLimits,
        bytes: &mut Vec<u8>,
        head: &mut RequestHead,
    ) -> Result<Option<Priority>, HeadError> {
        bytes.clear();
        head.clear();
        head.version = Version::Http2;
        head.keep_alive = true;
        self.scratch.clear();
        let mut request = Assembly { limits, bytes, head, scratch: &mut self.scratch, seen: Seen::default() };
        let mut verdict = Ok(());
        // More would not fit a span.
        let list = ListLimits { max_list: limits.list.max_list.min(MAX_HEAD / 2), ..limits.list };
        let listed = self.blocks.decode(block, &list, |field| {
            if verdict.is_ok() {
                verdict = request.field(field);
            }
        });
        let listed = listed.map_err(HeadError::Block)?;
        verdict?;
        if listed == Listed::TooLarge {
            return Err(TOO_LARGE);
        }
        request.settle(end_stream)?;
        Ok(request.seen.priority)
    }

    /// Reads a trailer section: its fields are put into `bytes`, and their spans into `fields`.
    pub fn trailers(
        &mut self,
        block: &[u8],
        limits: &ListLimits,
        bytes: &mut Vec<u8>,
        fields: &mut Vec<(Span, Span)>,
    ) -> Result<(), HeadError> {
        bytes.clear();
        fields.clear();
        let mut verdict = Ok(());
        let list = ListLimits { max_list: limits.max_list.min(MAX_HEAD / 2), ..*limits };
        let listed = self.blocks.decode(block, &list, |field| {
            if verdict.is_ok() {
                verdict = check(field).map(|()| push(bytes, fields, field.name, field.value));
            }
        });
        let listed = listed.map_err(HeadError::Block)?;
        verdict?;
        if listed == Listed::TooLarge { Err(TOO_LARGE) } else { Ok(()) }
    }
}

const TOO_LARGE: HeadError = HeadError::Refused(Reject::new(431, "request head too large"));

impl Scratch {
    fn clear(&mut self) {
        for part in [&mut self.pseudo, &mut self.cookie] {
            part.clear();
            part.shrink_to(KEPT_SCRATCH);
        }
    }
}

/// Appends a field line.
fn push(bytes: &mut Vec<u8>, fields: &mut Vec<(Span, Span)>, name: &[u8], value: &[u8]) {
    let start = bytes.len();
    bytes.extend_from_slice(name);
    bytes.extend_from_slice(b": ");
    let value_at = bytes.len();
    bytes.extend_from_slice(value);
    let end = bytes.len();
    bytes.extend_from_slice(b"\r\n");
    fields.push((Span::new(start, start + name.len()), Span::new(value_at, end)));
}

/// A field that is no pseudo-field (RFC 9113 sections 8.2.1 and 8.2.2).
#[inline]
fn check(field: Field<'_>) -> Result<(), HeadError> {
    let Field { name, value, .. } = field;
    if name.is_empty() || !name.iter().all(|&byte| is_lower_token_byte(byte)) {
        return Err(HeadError::Malformed("malformed field name"));
    }
    if !is_field_value(value) {
        return Err(HeadError::Malformed("control character in a field"));
    }
    if let [b' ' | b'\t', ..] | [.., b' ' | b'\t'] = value {
        return Err(HeadError::Malformed("white space around a field value"));
    }
    match name.len() {
        2 if name == b"te" && !value.eq_ignore_ascii_case(b"trailers") => Err(CONNECTION_SPECIFIC),
        7 | 10 | 16 | 17 if is_connection_specific(name) => Err(CONNECTION_SPECIFIC),
        _ => Ok(()),
    }
}

const CONNECTION_SPECIFIC: HeadError = HeadError::Malformed("connection-specific field");

/// Whether a name in lower case is that of a field that must not be sent over HTTP/2.
pub(super) fn is_connection_specific(name: &[u8]) -> bool {
    matches!(name, b"connection" | b"keep-alive" | b"proxy-connection" | b"transfer-encoding" | b"upgrade")
}

/// The pseudo-fields of a request, as spans of the scratch memory.
#[derive(Default)]
struct Seen {
    method: Option<Span>,
    scheme: Option<Span>,
    authority: Option<Span>,
    path: Option<Span>,
    protocol: Option<Span>,
    /// Fields have begun, and the first line is written.
    begun: bool,
    /// There was a field `host`.
    host: bool,
    length: Option<u64>,
    expect: bool,
    priority: Option<Priority>,
}

/// A request that is put together.
struct Assembly<'a> {
    limits: &'a HeadLimits,
    bytes: &'a mut Vec<u8>,
    head: &'a mut RequestHead,
    scratch: &'a mut Scratch,
    seen: Seen,
}

impl Assembly<'_> {
    fn field(&mut self, field: Field<'_>) -> Result<(), HeadError> {
        if field.name.first() == Some(&b':') {
            return self.pseudo(field);
        }
        if !self.seen.begun {
            self.begin()?;
        }
        check(field)?;
        match field.name.len() {
            4 if field.name == b"host" => return self.host(field.value),
            6 if field.name == b"cookie" => {
                self.cookie(field.value);
                return Ok(());
            }
            6 if field.name == b"expect" => self.expect(field.value)?,
            8 if field.name == b"priority" => self.seen.priority = Some(Priority::parse(field.value)),
            14 if field.name == b"content-length" => self.length(field.value)?,
            _ => self.head.noted |= Noted::of(field.name),
        }
        push(self.bytes, &mut self.head.headers, field.name, field.value);
        Ok(())
    }

    /// RFC 9113 section 8.3: each once, before all fields, and none that is not known.
    fn pseudo(&mut self, field: Field<'_>) -> Result<(), HeadError> {
        if self.seen.begun {
            return Err(HeadError::Malformed("pseudo-field after a field"));
        }
        let place = match field.name {
            b":method" => &mut self.seen.method,
            b":scheme" => &mut self.seen.scheme,
            b":authority" => &mut self.seen.authority,
            b":path" => &mut self.seen.path,
            b":protocol" if self.limits.connect_protocol => &mut self.seen.protocol,
            _ => return Err(HeadError::Malformed("unknown pseudo-field")),
        };
        if place.is_some() {
            return Err(HeadError::Malformed("pseudo-field twice"));
        }
        let start = self.scratch.pseudo.len();
        self.scratch.pseudo.extend_from_slice(field.value);
        *place = Some(Span::new(start, self.scratch.pseudo.len()));
        Ok(())
    }

    fn pseudo_value(&self, span: Option<Span>) -> Option<&[u8]> {
        span.map(|span| span.of(&self.scratch.pseudo))
    }

    /// All pseudo-fields are there: checks them, and writes the first line.
    fn begin(&mut self) -> Result<(), HeadError> {
        self.seen.begun = true;
        let method = self.pseudo_value(self.seen.method).ok_or(HeadError::Malformed("no :method"))?;
        if !is_token(method) {
            return Err(HeadError::Malformed("malformed :method"));
        }
        if method.len() > MAX_METHOD {
            return Err(HeadError::Refused(Reject::new(501, "method too long")));
        }
        if let Some(authority) = self.pseudo_value(self.seen.authority)
            && (authority.is_empty() || !is_host_port(authority))
        {
            return Err(HeadError::Malformed("malformed :authority"));
        }
        let connect = method == b"CONNECT";
        if connect && self.seen.protocol.is_none() {
            self.check_tunnel()?;
        } else {
            self.check_target(connect)?;
        }
        self.write_first_line(connect);
        Ok(())
    }

    /// RFC 9113 section 8.5.
    fn check_tunnel(&self) -> Result<(), HeadError> {
        let authority = self.pseudo_value(self.seen.authority).unwrap_or_default();
        if self.seen.scheme.is_some() || self.seen.path.is_some() || !has_port(authority) {
            return Err(HeadError::Malformed("CONNECT needs host:port and nothing else"));
        }
        Ok(())
    }

    /// RFC 9113 section 8.3.1; RFC 8441 section 4 where there is a protocol.
    fn check_target(&self, connect: bool) -> Result<(), HeadError> {
        let scheme = self.pseudo_value(self.seen.scheme).ok_or(HeadError::Malformed("no :scheme"))?;
        let path = self.pseudo_value(self.seen.path).ok_or(HeadError::Malformed("no :path"))?;
        let known = |&byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
        if !scheme.first().is_some_and(u8::is_ascii_alphabetic) || !scheme.iter().all(known) {
            return Err(HeadError::Malformed("malformed :scheme"));
        }
        if path.len() > self.limits.max_target {
            return Err(HeadError::Refused(Reject::new(414, "request target too long")));
        }
        let asterisk = path == b"*" && self.pseudo_value(self.seen.method) == Some(b"OPTIONS");
        if (path.first() != Some(&b'/') && !asterisk) || target_end(path, 0) < path.len() {
            return Err(HeadError::Malformed("malformed :path"));
        }
        match self.pseudo_value(self.seen.protocol) {
            Some(_) if !connect => Err(HeadError::Malformed(":protocol without CONNECT")),
            Some(protocol) if !is_token(protocol) => Err(HeadError::Malformed("malformed :protocol")),
            Some(_) if self.seen.authority.is_none() => Err(HeadError::Malformed("no :authority")),
            _ => Ok(()),
        }
    }

    fn write_first_line(&mut self, connect: bool) {
        let Self { bytes, head, scratch, seen, .. } = self;
        let mut write = |span: Option<Span>, after: &[u8]| {
            let start = bytes.len();
            bytes.extend_from_slice(span.unwrap_or_default().of(&scratch.pseudo));
            let end = bytes.len();
            bytes.extend_from_slice(after);
            Span::new(start, end)
        };
        head.method = write(seen.method, b" ");
        let tunnel = connect && seen.protocol.is_none();
        head.target = write(if tunnel { seen.authority } else { seen.path }, b" HTTP/2\r\n");
        if let Some(protocol) = seen.protocol {
            write(None, b":protocol: ");
            head.protocol = Some(write(Some(protocol), b"\r\n"));
        }
        if let Some(authority) = seen.authority {
            push(bytes, &mut head.headers, b"host", authority.of(&scratch.pseudo));
            head.host = head.headers.last().map(|(_, value)| *value);
        }
        if tunnel {
            head.path = Span { start: head.target.start, end: head.target.start };
        } else {
            split_path(bytes, head.target.start as usize, head);
        }
    }

    /// RFC 9113 section 8.3.1: it says what `:authority` says, or stands for it.
    fn host(&mut self, value: &[u8]) -> Result<(), HeadError> {
        if std::mem::replace(&mut self.seen.host, true) {
            return Err(HeadError::Malformed("more than one Host"));
        }
        if let Some(authority) = self.pseudo_value(self.seen.authority) {
            let same = value.eq_ignore_ascii_case(authority);
            return if same { Ok(()) } else { Err(HeadError::Malformed("Host differs from :authority")) };
        }
        if value.is_empty() || !is_host_port(value) {
            return Err(HeadError::Malformed("malformed Host"));
        }
        push(self.bytes, &mut self.head.headers, b"host", value);
        self.head.host = self.head.headers.last().map(|(_, value)| *value);
        Ok(())
    }

    fn cookie(&mut self, crumb: &[u8]) {
        if !self.scratch.cookie.is_empty() {
            self.scratch.cookie.extend_from_slice(b"; ");
        }
        self.scratch.cookie.extend_from_slice(crumb);
    }

    fn expect(&mut self, value: &[u8]) -> Result<(), HeadError> {
        if !value.eq_ignore_ascii_case(b"100-continue") {
            return Err(HeadError::Refused(Reject::new(417, "unknown expectation")));
        }
        self.seen.expect = true;
        Ok(())
    }

    fn length(&mut self, value: &[u8]) -> Result<(), HeadError> {
        if self.seen.length.is_some() {
            return Err(HeadError::Malformed("more than one Content-Length"));
        }
        let length = content_length(value).map_err(|reject| match reject.status {
            400 => HeadError::Malformed(reject.reason),
            _ => HeadError::Refused(reject),
        })?;
        self.seen.length = Some(length);
        Ok(())
    }

    /// What can only be judged when every field is known.
    fn settle(&mut self, end_stream: bool) -> Result<(), HeadError> {
        if !self.seen.begun {
            self.begin()?;
        }
        if !self.scratch.cookie.is_empty() {
            push(self.bytes, &mut self.head.headers, b"cookie", &self.scratch.cookie);
        }
        self.bytes.extend_from_slice(b"\r\n");
        self.head.head_len = self.bytes.len();
        if self.head.host.is_none() {
            return Err(HeadError::Malformed("neither :authority nor Host"));
        }
        let connect = self.head.method.of(self.bytes) == b"CONNECT";
        self.head.framing = match (self.seen.length, end_stream) {
            (Some(_), _) if connect => return Err(HeadError::Malformed("CONNECT with a body")),
            (Some(1..), true) => return Err(HeadError::Malformed("less body than Content-Length")),
            (Some(length), _) => Framing::Length(length),
            (None, false) if !connect => Framing::Chunked,
            (None, _) => Framing::None,
        };
        self.head.expect_continue =
            self.seen.expect && !end_stream && !matches!(self.head.framing, Framing::None | Framing::Length(0));
        Ok(())
    }
}
