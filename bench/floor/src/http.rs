//! Request heads (httparse) and response heads.

use std::str;

/// A whole request: head and body are in the buffer.
pub struct Request<'a> {
    pub method: &'a str,
    pub target: &'a str,
    pub body: &'a [u8],
    pub http10: bool,
    pub keep_alive: bool,
    /// Bytes of head and body together.
    pub length: usize,
}

pub enum Parsed<'a> {
    Complete(Request<'a>),
    /// Not all there; parse again when this many bytes are.
    Partial(usize),
    Malformed,
}

pub fn parse(input: &[u8]) -> Parsed<'_> {
    let mut headers = [httparse::EMPTY_HEADER; 32];
    let mut head = httparse::Request::new(&mut headers);
    let head_length = match head.parse(input) {
        Ok(httparse::Status::Complete(length)) => length,
        Ok(httparse::Status::Partial) => return Parsed::Partial(input.len() + 1),
        Err(_) => return Parsed::Malformed,
    };
    let (Some(method), Some(target), Some(version)) = (head.method, head.path, head.version) else {
        return Parsed::Malformed;
    };
    let http10 = version == 0;
    let (mut content_length, mut keep_alive) = (0_usize, !http10);
    for header in head.headers.iter() {
        if header.name.eq_ignore_ascii_case("content-length") {
            match str::from_utf8(header.value).ok().and_then(|digits| digits.parse().ok()) {
                Some(length) => content_length = length,
                None => return Parsed::Malformed,
            }
        } else if header.name.eq_ignore_ascii_case("connection") {
            keep_alive = wants_keep_alive(header.value, keep_alive);
        } else if header.name.eq_ignore_ascii_case("transfer-encoding") {
            return Parsed::Malformed;
        }
    }
    let Some(length) = head_length.checked_add(content_length) else { return Parsed::Malformed };
    match input.get(head_length..length) {
        Some(body) => Parsed::Complete(Request { method, target, body, http10, keep_alive, length }),
        None => Parsed::Partial(length),
    }
}

fn wants_keep_alive(value: &[u8], default: bool) -> bool {
    if value.eq_ignore_ascii_case(b"close") {
        false
    } else if value.eq_ignore_ascii_case(b"keep-alive") {
        true
    } else {
        default
    }
}

/// Appends a response head. `Connection` is sent only where it differs from the version's default (RFC 9112 section
/// 9.3).
pub fn head(request: &Request, status: &str, kind: &str, length: usize, date: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(b"HTTP/1.1 ");
    out.extend_from_slice(status.as_bytes());
    out.extend_from_slice(b"\r\nServer: floor\r\nDate: ");
    out.extend_from_slice(date);
    out.extend_from_slice(b"\r\nContent-Type: ");
    out.extend_from_slice(kind.as_bytes());
    out.extend_from_slice(b"\r\nContent-Length: ");
    out.extend_from_slice(itoa::Buffer::new().format(length).as_bytes());
    if !request.keep_alive {
        out.extend_from_slice(b"\r\nConnection: close");
    } else if request.http10 {
        out.extend_from_slice(b"\r\nConnection: keep-alive");
    }
    out.extend_from_slice(b"\r\n\r\n");
}

pub fn bad_request(out: &mut Vec<u8>) {
    out.extend_from_slice(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
}

#[cfg(test)]
mod tests {
    use super::{Parsed, parse};

    #[test]
    fn keep_alive_follows_version_and_header() {
        let keep = |text: &str| match parse(text.as_bytes()) {
            Parsed::Complete(request) => request.keep_alive,
            _ => panic!("not complete: {text:?}"),
        };
        assert!(keep("GET / HTTP/1.1\r\nHost: x\r\n\r\n"));
        assert!(!keep("GET / HTTP/1.1\r\nConnection: close\r\n\r\n"));
        assert!(!keep("GET / HTTP/1.0\r\n\r\n"));
        assert!(keep("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n"));
    }

    #[test]
    fn a_body_is_awaited() {
        let text = b"POST /echo HTTP/1.1\r\nContent-Length: 5\r\n\r\nabcdeGET";
        assert!(matches!(parse(&text[..text.len() - 5]), Parsed::Partial(total) if total == text.len() - 3));
        match parse(text) {
            Parsed::Complete(request) => {
                assert_eq!(request.body, b"abcde");
                assert_eq!(request.length, text.len() - 3);
            }
            _ => panic!("not complete"),
        }
    }

    #[test]
    fn chunked_and_odd_lengths_are_refused() {
        assert!(matches!(parse(b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"), Parsed::Malformed));
        assert!(matches!(parse(b"POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n"), Parsed::Malformed));
    }
}
