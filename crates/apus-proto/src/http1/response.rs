//! What a response is written with: status line, field lines, chunks. Field text is validated by the caller, once,
//! with [`is_field_name`] and [`is_field_value`]; nothing here checks it again.

use bytes::BufMut;

use super::Version;
pub use crate::date::DateCache;
pub use crate::grammar::{is_field_value, is_token as is_field_name};

/// The interim response to `Expect: 100-continue` (RFC 9110 section 15.2.1).
pub const CONTINUE: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";

/// The registered reason phrase; empty for a status that has none (RFC 9112 section 4 allows that).
pub fn reason(status: u16) -> &'static str {
    match status {
        100..=199 => reason_1xx(status),
        200..=299 => reason_2xx(status),
        300..=399 => reason_3xx(status),
        400..=499 => reason_4xx(status),
        500..=599 => reason_5xx(status),
        _ => "",
    }
}

fn reason_1xx(status: u16) -> &'static str {
    match status {
        100 => "Continue",
        101 => "Switching Protocols",
        102 => "Processing",
        103 => "Early Hints",
        _ => "",
    }
}

fn reason_2xx(status: u16) -> &'static str {
    match status {
        200 => "OK",
        201 => "Created",
        202 => "Accepted",
        203 => "Non-Authoritative Information",
        204 => "No Content",
        205 => "Reset Content",
        206 => "Partial Content",
        207 => "Multi-Status",
        208 => "Already Reported",
        226 => "IM Used",
        _ => "",
    }
}

fn reason_3xx(status: u16) -> &'static str {
    match status {
        300 => "Multiple Choices",
        301 => "Moved Permanently",
        302 => "Found",
        303 => "See Other",
        304 => "Not Modified",
        305 => "Use Proxy",
        307 => "Temporary Redirect",
        308 => "Permanent Redirect",
        _ => "",
    }
}

fn reason_4xx(status: u16) -> &'static str {
    match status {
        400 => "Bad Request",
        401 => "Unauthorized",
        402 => "Payment Required",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        406 => "Not Acceptable",
        407 => "Proxy Authentication Required",
        408 => "Request Timeout",
        409 => "Conflict",
        410 => "Gone",
        411 => "Length Required",
        412 => "Precondition Failed",
        413 => "Content Too Large",
        414 => "URI Too Long",
        415 => "Unsupported Media Type",
        416 => "Range Not Satisfiable",
        417 => "Expectation Failed",
        418 => "I'm a teapot",
        421 => "Misdirected Request",
        422 => "Unprocessable Content",
        423 => "Locked",
        424 => "Failed Dependency",
        425 => "Too Early",
        426 => "Upgrade Required",
        428 => "Precondition Required",
        429 => "Too Many Requests",
        431 => "Request Header Fields Too Large",
        451 => "Unavailable For Legal Reasons",
        _ => "",
    }
}

fn reason_5xx(status: u16) -> &'static str {
    match status {
        500 => "Internal Server Error",
        501 => "Not Implemented",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        505 => "HTTP Version Not Supported",
        506 => "Variant Also Negotiates",
        507 => "Insufficient Storage",
        508 => "Loop Detected",
        510 => "Not Extended",
        511 => "Network Authentication Required",
        _ => "",
    }
}

/// Whether a reason phrase may be sent: HTAB, space, visible and obs-text (RFC 9112 section 4).
pub fn is_reason(bytes: &[u8]) -> bool {
    is_field_value(bytes)
}

/// Whether a final response with that status carries content (RFC 9110 section 6.4.1); HEAD is the caller's to add.
pub fn status_has_body(status: u16) -> bool {
    !(status < 200 || matches!(status, 204 | 205 | 304))
}

/// Writes `HTTP/1.x SSS reason CRLF`. A status outside 100..=999 is sent as 500. `custom` is the caller's own reason
/// phrase, already checked with [`is_reason`].
#[inline]
pub fn write_status_line(out: &mut impl BufMut, version: Version, status: u16, custom: Option<&[u8]>) {
    if status == 200 && custom.is_none() && version == Version::Http11 {
        out.put_slice(b"HTTP/1.1 200 OK\r\n");
        return;
    }
    let status = if (100..=999).contains(&status) { status } else { 500 };
    out.put_slice(version.as_str().as_bytes());
    out.put_u8(b' ');
    out.put_slice(itoa::Buffer::new().format(status).as_bytes());
    out.put_u8(b' ');
    out.put_slice(custom.unwrap_or_else(|| reason(status).as_bytes()));
    out.put_slice(b"\r\n");
}

/// Writes `name: value CRLF`.
#[inline]
pub fn write_field(out: &mut impl BufMut, name: &[u8], value: &[u8]) {
    out.put_slice(name);
    out.put_slice(b": ");
    out.put_slice(value);
    out.put_slice(b"\r\n");
}

/// Writes `Content-Length: n CRLF`, with zeros before the number where it has fewer digits than that.
#[inline]
pub fn write_content_length(out: &mut impl BufMut, length: u64, digits: u8) {
    out.put_slice(b"Content-Length: ");
    let mut buffer = itoa::Buffer::new();
    let text = buffer.format(length).as_bytes();
    out.put_bytes(b'0', usize::from(digits).saturating_sub(text.len()));
    out.put_slice(text);
    out.put_slice(b"\r\n");
}

/// Writes the size line of a chunk. MUST NOT be called for 0: that ends the body, see [`write_last_chunk`].
#[inline]
pub fn write_chunk_size(out: &mut impl BufMut, size: usize) {
    debug_assert!(size > 0);
    let mut digits = [0u8; 16];
    let mut at = digits.len();
    let mut rest = size;
    loop {
        at -= 1;
        digits[at] = b"0123456789abcdef"[rest & 15];
        rest >>= 4;
        if rest == 0 {
            break;
        }
    }
    out.put_slice(&digits[at..]);
    out.put_slice(b"\r\n");
}

/// Writes one chunk; nothing for empty data, which would end the body.
#[inline]
pub fn write_chunk(out: &mut impl BufMut, data: &[u8]) {
    if !data.is_empty() {
        write_chunk_size(out, data.len());
        out.put_slice(data);
        out.put_slice(b"\r\n");
    }
}

/// Whether a field of that name may be sent as a trailer: none that frames or routes the message, says how its content
/// is to be read, or belongs to authentication or to the control of the answer (RFC 9110 section 6.5.1).
pub fn may_be_trailer(name: &[u8]) -> bool {
    const NOT: [&[u8]; 29] = [
        b"age",
        b"authorization",
        b"cache-control",
        b"connection",
        b"content-encoding",
        b"content-length",
        b"content-range",
        b"content-type",
        b"date",
        b"expires",
        b"host",
        b"keep-alive",
        b"location",
        b"pragma",
        b"proxy-authenticate",
        b"proxy-authorization",
        b"proxy-connection",
        b"range",
        b"retry-after",
        b"set-cookie",
        b"te",
        b"trailer",
        b"transfer-encoding",
        b"upgrade",
        b"vary",
        b"warning",
        b"www-authenticate",
        b"expect",
        b"max-forwards",
    ];
    !NOT.iter().any(|not| name.eq_ignore_ascii_case(not))
}

/// Ends a chunked body, with trailer fields the caller has checked.
pub fn write_last_chunk(out: &mut impl BufMut, trailers: &[(&[u8], &[u8])]) {
    out.put_slice(b"0\r\n");
    for (name, value) in trailers {
        write_field(out, name, value);
    }
    out.put_slice(b"\r\n");
}
