//! A request's head as it was sent and as it was read.

use std::cell::Cell;
use std::num::NonZeroU64;

use apus_proto::http1::{Limits, Parsed, Reject, RequestHead, Span, Version, parse_request};

/// What a handshake of HTTP/1.1 has, and one over a stream has not. The key is never sent: it only proves that the
/// other side of HTTP/1.1 has read the request, which a stream needs no proof of.
const HANDSHAKE: [(&[u8], &[u8]); 3] =
    [(b"sec-websocket-key", b"YSBzdHJlYW0gb2YgSDItLQ=="), (b"upgrade", b"websocket"), (b"connection", b"Upgrade")];

/// The head, in memory that is used again by later requests.
#[derive(Default)]
pub(crate) struct Inner {
    /// The head's bytes as sent; all spans of `head` point into them.
    pub(crate) bytes: Vec<u8>,
    pub(crate) head: RequestHead,
    /// What `head` was judged by.
    limits: Limits,
    /// `head` is not what `bytes` say.
    altered: bool,
    /// The number of this head among those that this thread has parsed.
    serial: u64,
}

thread_local! {
    /// Heads that this thread has parsed.
    static PARSED: Cell<u64> = const { Cell::new(0) };
}

impl Inner {
    /// Reads a head from the start of `input`; `bytes` and `head` are it after `Complete`.
    ///
    /// Requests that follow each other are often the same to the byte (a proxy's, an API client's, a health check's):
    /// what this memory held for the last one is compared before anything is parsed.
    #[inline]
    pub(crate) fn read(&mut self, input: &[u8], limits: &Limits) -> Result<Parsed, Reject> {
        // What a head says depends on nothing behind its end, so bytes that begin alike are the same head.
        if !self.bytes.is_empty()
            && input.starts_with(&self.bytes)
            && self.limits == *limits
            && !self.altered
            && self.head.version != Version::Http2
        {
            return Ok(Parsed::Complete);
        }
        self.parse(input, limits)
    }

    #[inline(never)]
    fn parse(&mut self, input: &[u8], limits: &Limits) -> Result<Parsed, Reject> {
        self.bytes.clear();
        self.altered = false;
        let parsed = parse_request(input, limits, &mut self.head)?;
        if parsed == Parsed::Complete {
            self.limits = *limits;
            self.serial = PARSED.get() + 1;
            PARSED.set(self.serial);
            self.bytes.extend_from_slice(&input[..self.head.head_len]);
        }
        Ok(parsed)
    }

    /// A number that another head has only if it is the same to the byte; none where nobody knows.
    #[inline]
    pub(crate) fn serial(&self) -> Option<NonZeroU64> {
        let known = !self.altered && self.head.version != Version::Http2;
        NonZeroU64::new(self.serial).filter(|_| known)
    }

    /// Makes of an extended CONNECT for a WebSocket (RFC 8441) the request that HTTP/1.1 has for it, as proxies do:
    /// programs look for no other.
    pub(crate) fn become_handshake(&mut self) {
        let (old, head) = (std::mem::take(&mut self.bytes), &mut self.head);
        let mut put = |text: &[u8], after: &[u8]| {
            let start = self.bytes.len() as u32;
            self.bytes.extend_from_slice(text);
            let end = self.bytes.len() as u32;
            self.bytes.extend_from_slice(after);
            Span { start, end }
        };
        head.method = put(b"GET", b" ");
        let target = put(head.target.of(&old), b" HTTP/2\r\n");
        let (before, now) = (head.target.start, target.start);
        let moved = |span: Span| Span {
            start: (span.start + now).saturating_sub(before),
            end: (span.end + now).saturating_sub(before),
        };
        (head.path, head.query, head.target) = (moved(head.path), head.query.map(moved), target);
        let has_key = head.headers.iter().any(|(name, _)| name.of(&old) == HANDSHAKE[0].0);
        for (name, value) in &mut head.headers {
            let is_host = head.host == Some(*value);
            (*name, *value) = (put(name.of(&old), b": "), put(value.of(&old), b"\r\n"));
            if is_host {
                head.host = Some(*value);
            }
        }
        for (name, value) in &HANDSHAKE[usize::from(has_key)..] {
            head.headers.push((put(name, b": "), put(value, b"\r\n")));
        }
        put(b"", b"\r\n");
        (head.head_len, head.protocol, head.upgrade) = (self.bytes.len(), None, true);
    }

    /// Puts another path into the place of its own. The head is no longer what was sent.
    pub(crate) fn replace_path(&mut self, path: &[u8]) {
        let Self { bytes, head, altered, .. } = self;
        let old = head.path;
        let by = path.len() as u32;
        bytes.splice(old.start as usize..old.end as usize, path.iter().copied());
        let moved = |at: u32| if at >= old.end { (at - old.end) + old.start + by } else { at };
        let shift = |span: Span| Span { start: moved(span.start), end: moved(span.end) };
        // The target begins where the path does, or before it.
        head.target = Span { start: head.target.start, end: moved(head.target.end) };
        head.path = Span { start: old.start, end: old.start + by };
        head.query = head.query.map(shift);
        head.method = shift_before(head.method, old, shift);
        head.host = head.host.map(|span| shift_before(span, old, shift));
        for (name, value) in &mut head.headers {
            (*name, *value) = (shift_before(*name, old, shift), shift_before(*value, old, shift));
        }
        head.protocol = head.protocol.map(|span| shift_before(span, old, shift));
        head.head_len = (head.head_len + path.len()).saturating_sub((old.end - old.start) as usize);
        *altered = true;
    }

    /// Takes the content coding out: the body is given without it. The head is no longer what its bytes say.
    pub(crate) fn forget_coding(&mut self) {
        let Self { bytes, head, altered, .. } = self;
        head.headers.retain(|(name, _)| !name.of(bytes).eq_ignore_ascii_case(b"content-encoding"));
        *altered = true;
    }

    /// A head for a test.
    #[cfg(test)]
    pub(crate) fn of(bytes: &[u8], head: RequestHead) -> Self {
        Self { bytes: bytes.to_vec(), head, limits: Limits::default(), altered: false, serial: 0 }
    }
}

/// A span where it is now that `old` has another length: one that ends before it stays, even where `old` is empty.
fn shift_before(span: Span, old: Span, shift: impl Fn(Span) -> Span) -> Span {
    if span.end <= old.start { span } else { shift(span) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_head_has_its_number_and_no_other_has() {
        let (mut inner, mut other, limits) = (Inner::default(), Inner::default(), Limits::default());
        assert_eq!(inner.serial(), None);
        let mut numbers = Vec::new();
        for (head, path) in
            [("GET /a", None), ("GET /a", None), ("GET /b", None), ("GET /b", Some("/c")), ("GET /b", None)]
        {
            let bytes = format!("{head} HTTP/1.1\r\nHost: a\r\n\r\n");
            assert_eq!(inner.read(bytes.as_bytes(), &limits), Ok(Parsed::Complete));
            numbers.push(inner.serial().unwrap());
            if let Some(path) = path {
                inner.replace_path(path.as_bytes());
                assert_eq!(inner.serial(), None);
            }
        }
        assert_eq!(numbers[0], numbers[1]);
        assert_eq!(numbers[2], numbers[3]);
        assert!(numbers[1] < numbers[2] && numbers[3] < numbers[4]);
        other.read(b"GET /a HTTP/1.1\r\nHost: a\r\n\r\n", &limits).unwrap();
        assert!(other.serial() > inner.serial());
    }

    #[test]
    fn an_extended_connect_becomes_the_handshake_of_http1() {
        use apus_proto::http2::HeadDecoder;
        use apus_proto::http2::hpack::{Encoder, Indexing};
        let (mut encoder, mut block) = (Encoder::new(4096), Vec::new());
        let fields: [(&[u8], &[u8]); 7] = [
            (b":method", b"CONNECT"),
            (b":protocol", b"websocket"),
            (b":scheme", b"https"),
            (b":path", b"/chat?a=b"),
            (b":authority", b"example.org:81"),
            (b"sec-websocket-version", b"13"),
            (b"origin", b"https://a.test"),
        ];
        for (name, value) in fields {
            encoder.field(name, value, Indexing::Never, &mut block);
        }
        let mut inner = Inner::default();
        let limits = apus_proto::http2::HeadLimits::default();
        HeadDecoder::default().request(&block, false, &limits, &mut inner.bytes, &mut inner.head).unwrap();
        inner.become_handshake();
        let (bytes, head) = (&inner.bytes[..], &inner.head);
        assert_eq!(
            std::str::from_utf8(bytes).unwrap(),
            "GET /chat?a=b HTTP/2\r\nhost: example.org:81\r\nsec-websocket-version: 13\r\norigin: https://a.test\r\n\
             sec-websocket-key: YSBzdHJlYW0gb2YgSDItLQ==\r\nupgrade: websocket\r\nconnection: Upgrade\r\n\r\n"
        );
        assert_eq!((head.method.of(bytes), head.path_of(bytes)), (&b"GET"[..], &b"/chat"[..]));
        assert_eq!(head.query.unwrap().of(bytes), b"a=b");
        assert_eq!((head.target.of(bytes), head.host.unwrap().of(bytes)), (&b"/chat?a=b"[..], &b"example.org:81"[..]));
        assert_eq!((head.header(bytes, b"origin"), head.head_len), (Some(&b"https://a.test"[..]), bytes.len()));
    }

    const FIRST: &[u8] = b"GET /first HTTP/1.1\r\nHost: a\r\n\r\n";

    fn read(inner: &mut Inner, input: &[u8], limits: &Limits) -> Result<Parsed, u16> {
        inner.read(input, limits).map_err(|reject| reject.status)
    }

    /// What memory that was used before says of `input` is what fresh memory says.
    fn same_as_fresh(inner: &mut Inner, input: &[u8], limits: &Limits) {
        let mut fresh = Inner::default();
        let expected = read(&mut fresh, input, limits);
        assert_eq!(read(inner, input, limits), expected, "{}", input.escape_ascii());
        if expected == Ok(Parsed::Complete) {
            assert_eq!((&inner.bytes, &inner.head), (&fresh.bytes, &fresh.head), "{}", input.escape_ascii());
        }
    }

    #[test]
    fn memory_that_was_used_tells_what_fresh_memory_tells() {
        let limits = Limits::default();
        let mut inner = Inner::default();
        let more = [FIRST, b"GET / HTTP/1.1\r\n"].concat();
        let inputs: [&[u8]; 9] = [
            FIRST,
            FIRST,
            &more,
            &FIRST[..20],
            FIRST,
            b"GET /first HTTP/1.1\r\nHost: b\r\n\r\n",
            b"GET /first HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
            FIRST,
            b"\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n",
        ];
        for input in inputs {
            same_as_fresh(&mut inner, input, &limits);
        }
    }

    #[test]
    fn another_path_leaves_everything_else() {
        for target in ["/old/a?b=c", "/old/a", "http://a/old/a?b=c", "http://a", "http://a?b=c"] {
            let input = format!("GET {target} HTTP/1.1\r\nHost: a\r\nX-Y: z\r\n\r\n");
            let mut inner = Inner::default();
            assert_eq!(read(&mut inner, input.as_bytes(), &Limits::default()), Ok(Parsed::Complete));
            let query = inner.head.query.map(|query| query.of(&inner.bytes).to_vec());
            for path in ["/a/much/longer/path", "/n", "/"] {
                inner.replace_path(path.as_bytes());
                let (bytes, head) = (&inner.bytes[..], &inner.head);
                assert_eq!((head.method.of(bytes), head.path_of(bytes)), (&b"GET"[..], path.as_bytes()), "{target}");
                assert_eq!(head.query.map(|query| query.of(bytes).to_vec()), query, "{target}");
                assert_eq!(head.host.unwrap().of(bytes), b"a", "{target}");
                assert_eq!(head.header(bytes, b"x-y"), Some(&b"z"[..]), "{target}");
                assert_eq!(head.head_len, bytes.len());
                let target = std::str::from_utf8(head.target.of(bytes)).unwrap();
                assert!(bytes.starts_with(format!("GET {target} HTTP/1.1\r\n").as_bytes()), "{target}");
            }
            same_as_fresh(&mut inner, FIRST, &Limits::default());
        }
    }

    #[test]
    fn other_limits_are_another_verdict() {
        let mut inner = Inner::default();
        assert_eq!(read(&mut inner, FIRST, &Limits::default()), Ok(Parsed::Complete));
        same_as_fresh(&mut inner, FIRST, &Limits { max_target: 3, ..Limits::default() });
        same_as_fresh(&mut inner, FIRST, &Limits { max_headers: 0, ..Limits::default() });
        same_as_fresh(&mut inner, FIRST, &Limits::default());
    }

    #[test]
    fn fields_of_http2_are_no_head_of_http1() {
        let head = RequestHead { version: Version::Http2, ..RequestHead::default() };
        let mut inner = Inner::of(b"GET", head);
        same_as_fresh(&mut inner, FIRST, &Limits::default());
    }
}
