//! The request head (RFC 9112 sections 2 to 7), read strictly.
//!
//! Invariant: bytes are judged from left to right and only within the first `max_head`, so a prefix of a head gives
//! either `Partial` or the very verdict of the whole. What is lenient in the RFC by "MAY" (a lone LF as line end,
//! obs-fold, lists in Content-Length) is refused here: another parser in front may have read it differently.

use super::noted::is_noted;
use super::{Framing, Limits, MAX_HEAD, Noted, Parsed, Reject, RequestHead, Span, Version};
use crate::grammar::{
    has_port, host_port_ends_at, is_field_value, is_host_port, is_token_byte, list_members, target_end,
};
use crate::scan::{control_at, find, same, token_end};

/// No method in the IANA registry is longer than 17; a longer one is refused with 501 (RFC 9112 section 3).
pub(crate) const MAX_METHOD: usize = 32;

/// Reads one request head from the start of `buf`. One empty line before it is skipped (RFC 9112 section 2.2).
///
/// `head` is meaningful only after `Complete`.
pub fn parse_request(buf: &[u8], limits: &Limits, head: &mut RequestHead) -> Result<Parsed, Reject> {
    head.clear();
    let max_head = limits.max_head.min(MAX_HEAD);
    let view = &buf[..buf.len().min(max_head)];
    let full = buf.len() >= max_head;
    let start = match view {
        [b'\r', b'\n', ..] => 2,
        [b'\r'] => 1,
        _ => 0,
    };
    let Some(fields_at) = request_line(view, start, limits, head)? else {
        return if full { Err(Reject::new(414, "request line too long")) } else { Ok(Parsed::Partial) };
    };
    let mut seen = Seen::default();
    let Some(head_len) = fields(view, fields_at, limits, head, &mut seen)? else {
        return if full { Err(Reject::new(431, "request head too large")) } else { Ok(Parsed::Partial) };
    };
    head.head_len = head_len;
    seen.settle(view, head, limits)?;
    Ok(Parsed::Complete)
}

/// `method SP request-target SP HTTP-version CRLF`; `None` when more bytes are needed, else where the fields start.
#[inline]
fn request_line(view: &[u8], start: usize, limits: &Limits, head: &mut RequestHead) -> Result<Option<usize>, Reject> {
    let method_end = token_end(view, start, is_token_byte);
    if method_end - start > MAX_METHOD {
        return Err(Reject::new(501, "method too long"));
    }
    match view.get(method_end) {
        None => return Ok(None),
        Some(b' ') if method_end > start => {}
        Some(_) => return Err(Reject::bad("malformed method")),
    }
    let target_at = method_end + 1;
    let target_end = target_end(view, target_at);
    if target_end - target_at > limits.max_target {
        return Err(Reject::new(414, "request target too long"));
    }
    match view.get(target_end) {
        None => return Ok(None),
        Some(b' ') if target_end > target_at => {}
        Some(b'#') => return Err(Reject::bad("fragment in the request target")),
        Some(_) => return Err(Reject::bad("malformed request target")),
    }
    let tail = view.get(target_end + 1..).unwrap_or_default();
    let Some(line) = tail.first_chunk() else { return version_begun(tail).map(|()| None) };
    head.version = version(line)?;
    head.method = Span::new(start, method_end);
    head.target = Span::new(target_at, target_end);
    if view[target_at] == b'/' && &view[start..method_end] != b"CONNECT" {
        split_path(view, target_at, head);
    } else {
        other_target(view, head)?;
    }
    Ok(Some(target_end + 11))
}

/// `HTTP-version CRLF`.
#[inline]
fn version(line: &[u8; 10]) -> Result<Version, Reject> {
    if line == b"HTTP/1.1\r\n" {
        Ok(Version::Http11)
    } else if line == b"HTTP/1.0\r\n" {
        Ok(Version::Http10)
    } else {
        other_version(line)
    }
}

#[cold]
fn other_version(line: &[u8]) -> Result<Version, Reject> {
    match line {
        [b'H', b'T', b'T', b'P', b'/', major, b'.', minor, b'\r', b'\n']
            if major.is_ascii_digit() && minor.is_ascii_digit() =>
        {
            if *major == b'1' {
                Ok(Version::Http11)
            } else {
                Err(Reject::new(505, "HTTP version not supported"))
            }
        }
        _ => Err(BAD_VERSION),
    }
}

const BAD_VERSION: Reject = Reject::bad("malformed HTTP version");

/// Refuses the beginning of what can become no HTTP-version: a client that has sent its line waits for an answer.
fn version_begun(tail: &[u8]) -> Result<(), Reject> {
    let fits = |(&byte, &pattern): (&u8, &u8)| if pattern == b'1' { byte.is_ascii_digit() } else { byte == pattern };
    if tail.iter().zip(b"HTTP/1.1\r\n").all(fits) { Ok(()) } else { Err(BAD_VERSION) }
}

/// The forms of RFC 9112 section 3.2 besides the origin-form, and where path and query lie in them.
#[cold]
fn other_target(view: &[u8], head: &mut RequestHead) -> Result<(), Reject> {
    let target = head.target.of(view);
    let at = head.target.start as usize;
    let method = head.method.of(view);
    if method == b"CONNECT" {
        if !has_port(target) || target.starts_with(b":") || !is_host_port(target) {
            return Err(Reject::bad("CONNECT needs host:port"));
        }
        head.host = Some(head.target);
        head.path = Span::new(at, at);
        return Ok(());
    }
    if target == b"*" && method == b"OPTIONS" {
        head.path = head.target;
        return Ok(());
    }
    absolute_form(view, head)
}

/// Sets path and query to what they are in the target from `at` on.
#[inline]
pub(crate) fn split_path(view: &[u8], at: usize, head: &mut RequestHead) {
    let end = head.target.end as usize;
    if let Some(mark) = find(b'?', &view[at..end]) {
        head.path = Span::new(at, at + mark);
        head.query = Some(Span::new(at + mark + 1, end));
    } else {
        head.path = Span::new(at, end);
    }
}

fn absolute_form(view: &[u8], head: &mut RequestHead) -> Result<(), Reject> {
    const BAD: Reject = Reject::bad("malformed request target");
    let target = head.target.of(view);
    let at = head.target.start as usize;
    let scheme = [&b"http://"[..], b"https://"]
        .into_iter()
        .find(|scheme| target.get(..scheme.len()).is_some_and(|t| t.eq_ignore_ascii_case(scheme)))
        .ok_or(BAD)?;
    let authority_at = at + scheme.len();
    let rest = &target[scheme.len()..];
    let len = rest.iter().position(|&b| b == b'/' || b == b'?').unwrap_or(rest.len());
    let authority = &rest[..len];
    // RFC 9110 section 4.2.1: an http URI with an empty host is invalid.
    if authority.is_empty() || authority[0] == b':' || !is_host_port(authority) {
        return Err(BAD);
    }
    head.host = Some(Span::new(authority_at, authority_at + len));
    split_path(view, authority_at + len, head);
    Ok(())
}

/// Field lines and the empty line; `None` when more bytes are needed, else the length of the head.
#[inline]
fn fields(
    view: &[u8],
    mut pos: usize,
    limits: &Limits,
    head: &mut RequestHead,
    seen: &mut Seen,
) -> Result<Option<usize>, Reject> {
    loop {
        let colon = token_end(view, pos, is_token_byte);
        if colon == pos {
            return after_fields(view, pos);
        }
        let Some(line) = line(view, pos, colon)? else { return Ok(None) };
        if head.headers.len() >= limits.max_headers {
            return Err(Reject::new(431, "too many fields"));
        }
        head.headers.push((line.name, line.value));
        if is_noted(&view[pos..colon]) {
            seen.note(view, &line, head)?;
        }
        pos = line.next;
    }
}

/// What stands where no field line begins: the empty line, as a rule.
fn after_fields(view: &[u8], pos: usize) -> Result<Option<usize>, Reject> {
    match view.get(pos..) {
        None | Some([] | [b'\r']) => Ok(None),
        Some([b'\r', b'\n', ..]) => Ok(Some(pos + 2)),
        Some([b' ' | b'\t', ..]) => Err(Reject::bad("line folding in a field")),
        Some(_) => Err(BAD_NAME),
    }
}

const BAD_NAME: Reject = Reject::bad("malformed field name");

pub(super) struct FieldLine {
    pub(super) name: Span,
    pub(super) value: Span,
    /// Where the next line starts.
    pub(super) next: usize,
}

/// `field-name ":" OWS field-value OWS CRLF` (RFC 9112 section 5); `None` when more bytes are needed.
pub(super) fn field_line(view: &[u8], pos: usize) -> Result<Option<FieldLine>, Reject> {
    let colon = token_end(view, pos, is_token_byte);
    line(view, pos, colon)
}

/// The same where it is known that the name ends at `colon`.
#[inline]
fn line(view: &[u8], pos: usize, colon: usize) -> Result<Option<FieldLine>, Reject> {
    match view.get(colon) {
        None => return Ok(None),
        Some(b':') if colon > pos => {}
        Some(b' ' | b'\t') => return Err(Reject::bad("white space before the colon of a field")),
        Some(_) => return Err(BAD_NAME),
    }
    let start = colon + 1 + usize::from(view.get(colon + 1) == Some(&b' '));
    let end = control_at(view, start);
    // Nearly every line has one space before its value, no other white space around it, and no HTAB inside.
    if end + 1 < view.len()
        && view[end] == b'\r'
        && view[end + 1] == b'\n'
        && end > start
        && view[start] != b' '
        && view[end - 1] != b' '
    {
        return Ok(Some(FieldLine { name: Span::new(pos, colon), value: Span::new(start, end), next: end + 2 }));
    }
    other_line(view, pos, colon)
}

/// A line whose value is empty, has white space of its own, or is not all there, or not allowed.
fn other_line(view: &[u8], pos: usize, colon: usize) -> Result<Option<FieldLine>, Reject> {
    let Some(len) = memchr::memchr(b'\n', &view[colon + 1..]) else { return Ok(None) };
    let lf = colon + 1 + len;
    let [value @ .., b'\r'] = &view[colon + 1..lf] else { return Err(Reject::bad("bare LF in the head")) };
    if !is_field_value(value) {
        return Err(Reject::bad("control character in a field"));
    }
    let lead = value.iter().take_while(|&&b| b == b' ' || b == b'\t').count();
    let trail = value[lead..].iter().rev().take_while(|&&b| b == b' ' || b == b'\t').count();
    Ok(Some(FieldLine {
        name: Span::new(pos, colon),
        value: Span::new(colon + 1 + lead, lf - 1 - trail),
        next: lf + 1,
    }))
}

/// The fields that decide framing and connection, gathered while the lines go by.
#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own; no combination is excluded")]
struct Seen {
    host: Option<Span>,
    length: Option<u64>,
    chunked: bool,
    expect: bool,
    upgrade: bool,
    connection_close: bool,
    connection_keep_alive: bool,
    connection_upgrade: bool,
}

impl Seen {
    #[inline(never)]
    fn note(&mut self, view: &[u8], line: &FieldLine, head: &mut RequestHead) -> Result<(), Reject> {
        let version = head.version;
        let name = line.name.of(view);
        let value = line.value.of(view);
        match name.len() {
            4 if same(name, b"host") => self.host(view, line.value)?,
            6 if same(name, b"expect") => self.expect(value, version)?,
            7 if same(name, b"upgrade") => self.upgrade = true,
            10 if same(name, b"connection") => self.connection(value),
            14 if same(name, b"content-length") => self.content_length(value)?,
            17 if same(name, b"transfer-encoding") => self.transfer_encoding(value, version)?,
            _ => head.noted |= Noted::of(name),
        }
        Ok(())
    }

    /// RFC 9112 section 3.2: more than one Host, or an invalid one, MUST be answered 400.
    #[inline]
    fn host(&mut self, view: &[u8], span: Span) -> Result<(), Reject> {
        if self.host.is_some() {
            return Err(Reject::bad("more than one Host"));
        }
        if !host_port_ends_at(view, span.start as usize, span.end as usize) {
            return Err(Reject::bad("malformed Host"));
        }
        self.host = Some(span);
        Ok(())
    }

    fn expect(&mut self, value: &[u8], version: Version) -> Result<(), Reject> {
        // RFC 9110 section 10.1.1: in a 1.0 message the expectation MUST be ignored.
        if version == Version::Http10 {
            return Ok(());
        }
        if !value.eq_ignore_ascii_case(b"100-continue") {
            return Err(Reject::new(417, "unknown expectation"));
        }
        self.expect = true;
        Ok(())
    }

    fn connection(&mut self, value: &[u8]) {
        if same(value, b"keep-alive") {
            self.connection_keep_alive = true;
            return;
        }
        for option in list_members(value) {
            self.connection_close |= option.eq_ignore_ascii_case(b"close");
            self.connection_keep_alive |= option.eq_ignore_ascii_case(b"keep-alive");
            self.connection_upgrade |= option.eq_ignore_ascii_case(b"upgrade");
        }
    }

    /// RFC 9112 section 6.3: one value of digits; a second line, a list or a sign is refused even when they agree.
    fn content_length(&mut self, value: &[u8]) -> Result<(), Reject> {
        if self.length.is_some() {
            return Err(Reject::bad("more than one Content-Length"));
        }
        self.length = Some(content_length(value)?);
        Ok(())
    }

    /// RFC 9112 section 6.1: only "chunked", alone and once.
    fn transfer_encoding(&mut self, value: &[u8], version: Version) -> Result<(), Reject> {
        if self.chunked {
            return Err(Reject::bad("more than one Transfer-Encoding"));
        }
        if version == Version::Http10 {
            return Err(Reject::bad("Transfer-Encoding in an HTTP/1.0 request"));
        }
        if value.eq_ignore_ascii_case(b"chunked") {
            self.chunked = true;
            return Ok(());
        }
        Err(unsupported_coding(value))
    }

    /// What can only be judged when every field is known.
    fn settle(&self, view: &[u8], head: &mut RequestHead, limits: &Limits) -> Result<(), Reject> {
        if self.host.is_none() && head.version == Version::Http11 && !limits.without_host {
            return Err(Reject::bad("Host is missing"));
        }
        head.framing = match (self.chunked, self.length) {
            (true, Some(_)) => return Err(Reject::bad("both Transfer-Encoding and Content-Length")),
            (true, None) => Framing::Chunked,
            (false, Some(length)) => Framing::Length(length),
            (false, None) => Framing::None,
        };
        if head.method.of(view) == b"CONNECT" && head.framing != Framing::None {
            // RFC 9110 section 9.3.6: a CONNECT request has no content.
            return Err(Reject::bad("CONNECT with a body"));
        }
        self.settle_host(head);
        head.keep_alive = match head.version {
            Version::Http11 | Version::Http2 => !self.connection_close,
            Version::Http10 => self.connection_keep_alive && !self.connection_close,
        };
        // Without a body there is nothing to wait for (RFC 9110 section 10.1.1).
        head.expect_continue = self.expect && !matches!(head.framing, Framing::None | Framing::Length(0));
        head.upgrade = self.upgrade && self.connection_upgrade && head.version == Version::Http11;
        Ok(())
    }

    /// RFC 9112 section 3.2.2: where the target names a host, the field counts for nothing and is replaced by that.
    #[inline]
    fn settle_host(&self, head: &mut RequestHead) {
        let Some(target) = head.host else {
            head.host = self.host;
            return;
        };
        for (_, value) in &mut head.headers {
            if Some(*value) == self.host {
                *value = target;
            }
        }
    }
}

/// The value of a field Content-Length.
pub(crate) fn content_length(value: &[u8]) -> Result<u64, Reject> {
    if value.is_empty() || !value.iter().all(u8::is_ascii_digit) {
        return Err(Reject::bad("malformed Content-Length"));
    }
    let length = value.iter().try_fold(0u64, |sum, digit| sum.checked_mul(10)?.checked_add(u64::from(digit - b'0')));
    match length {
        // Above i64::MAX no caller could count the bytes.
        Some(length) if i64::try_from(length).is_ok() => Ok(length),
        _ => Err(Reject::new(413, "Content-Length too large")),
    }
}

/// 501 for a coding unknown to us before a final "chunked", 400 where the end of the body could not be found
/// (RFC 9112 sections 6.1 and 6.3).
#[cold]
fn unsupported_coding(value: &[u8]) -> Reject {
    let mut members: Vec<&[u8]> = list_members(value).collect();
    let last_is_chunked = members.pop().is_some_and(|last| last.eq_ignore_ascii_case(b"chunked"));
    let known_tokens = members.iter().all(|m| crate::grammar::is_token(m) && !m.eq_ignore_ascii_case(b"chunked"));
    if last_is_chunked && known_tokens && !members.is_empty() {
        Reject::new(501, "transfer coding not supported")
    } else {
        Reject::bad("malformed Transfer-Encoding")
    }
}
