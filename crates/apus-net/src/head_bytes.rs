//! A request's head as it was sent and as it was read.

use apus_proto::http1::{Limits, Parsed, Reject, RequestHead, Version, parse_request};

/// The head, in memory that is used again by later requests.
#[derive(Default)]
pub(crate) struct Inner {
    /// The head's bytes as sent; all spans of `head` point into them.
    pub(crate) bytes: Vec<u8>,
    pub(crate) head: RequestHead,
    /// What `head` was judged by.
    limits: Limits,
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
            && self.head.version != Version::Http2
        {
            return Ok(Parsed::Complete);
        }
        self.parse(input, limits)
    }

    #[inline(never)]
    fn parse(&mut self, input: &[u8], limits: &Limits) -> Result<Parsed, Reject> {
        self.bytes.clear();
        let parsed = parse_request(input, limits, &mut self.head)?;
        if parsed == Parsed::Complete {
            self.limits = *limits;
            self.bytes.extend_from_slice(&input[..self.head.head_len]);
        }
        Ok(parsed)
    }

    /// A head for a test.
    #[cfg(test)]
    pub(crate) fn of(bytes: &[u8], head: RequestHead) -> Self {
        Self { bytes: bytes.to_vec(), head, limits: Limits::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
