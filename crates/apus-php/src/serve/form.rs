//! What a request looks like on its way to the process that runs its script, and the head of an answer on its way back.

use apus_edge::script::Entries;
use apus_edge::script::pairs::{self, Pairs};
use apus_net::ResponseHead;
use apus_net::proto::http1::response::{is_field_name, is_field_value};
use apus_zend::sapi::{self, Pair, Text};

/// Bytes before the variables: when the request came, and by which version.
const FIXED: usize = 9;

/// Begins to write a request down, whose variables are to follow; `entries` as [`entries`] gives them.
pub(super) fn begin(into: &mut Vec<u8>, entries: &[u8], received_at: f64, old: bool) {
    into.clear();
    into.extend_from_slice(&received_at.to_le_bytes());
    into.push(u8::from(old));
    into.extend_from_slice(entries);
}

/// Entries of php.ini, as they stand in every request of a site: the bytes of both kinds, each after their number.
pub(super) fn entries(entries: &Entries) -> Vec<u8> {
    let mut all = Vec::new();
    for part in [&entries.values, &entries.admin] {
        let mut bytes = Vec::new();
        for (name, value) in part {
            pairs::push(&mut bytes, name.as_bytes(), value.as_bytes());
        }
        all.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
        all.extend_from_slice(&bytes);
    }
    all
}

/// What stands there after its number, and what follows it.
fn part(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (len, rest) = bytes.split_first_chunk::<4>()?;
    rest.split_at_checked(u32::from_le_bytes(*len) as usize)
}

/// What follows the entries.
fn behind_entries(bytes: &[u8]) -> Option<&[u8]> {
    let (_, rest) = part(bytes.get(FIXED..)?)?;
    part(rest).map(|(_, rest)| rest)
}

/// All that stand there, each told first; `None` where something else does.
fn pairs<'a>(bytes: &'a [u8], mut tell: impl FnMut(Text<'a>, Text<'a>)) -> Option<Vec<Pair<'a>>> {
    let mut pairs = Pairs { rest: bytes };
    let mut all = Vec::with_capacity(if bytes.is_empty() { 0 } else { 48 });
    for (name, value) in pairs.by_ref() {
        let (name, value) = (Text::new(name)?, Text::new(value)?);
        tell(name, value);
        all.push(Pair::new(name, value));
    }
    pairs.rest.is_empty().then_some(all)
}

/// The variables of a request.
pub(super) fn variables(bytes: &[u8]) -> Vec<(Vec<u8>, Vec<u8>)> {
    let all = behind_entries(bytes).and_then(|bytes| pairs(bytes, |_, _| {})).unwrap_or_default();
    all.iter().map(|pair| (pair.name().to_vec(), pair.value().bytes().to_vec())).collect()
}

/// What PHP is told of a request beside its variables, out of these.
#[derive(Default)]
struct Told<'a> {
    method: Option<Text<'a>>,
    uri: Option<Text<'a>>,
    query: Option<Text<'a>>,
    script: Option<Text<'a>>,
    content_type: Option<Text<'a>>,
    cookies: Option<Text<'a>>,
    authorization: Option<Text<'a>>,
}

impl<'a> Told<'a> {
    fn hear(&mut self, name: &[u8], value: Text<'a>) {
        let place = match name {
            b"REQUEST_METHOD" => &mut self.method,
            b"REQUEST_URI" => &mut self.uri,
            b"QUERY_STRING" => &mut self.query,
            b"SCRIPT_FILENAME" => &mut self.script,
            b"CONTENT_TYPE" => &mut self.content_type,
            b"HTTP_COOKIE" => &mut self.cookies,
            b"HTTP_AUTHORIZATION" => &mut self.authorization,
            _ => return,
        };
        place.get_or_insert(value);
    }
}

/// Reads a request, whose body has so many bytes, and runs it with what was read.
pub(super) fn with<T>(bytes: &[u8], body: u64, run: impl FnOnce(&sapi::Request<'_>) -> T) -> Option<T> {
    let (fixed, rest) = bytes.split_at_checked(FIXED)?;
    let (received_at, old) = fixed.split_first_chunk::<8>()?;
    let (values, rest) = part(rest)?;
    let (admin, rest) = part(rest)?;
    let (values, admin) = (pairs(values, |_, _| {})?, pairs(admin, |_, _| {})?);
    let mut told = Told::default();
    let pairs = pairs(rest, |name, value| told.hear(name.bytes(), value))?;
    let nothing = Text::from(c"");
    Some(run(&sapi::Request {
        pairs: &pairs,
        method: told.method?,
        uri: told.uri.unwrap_or(nothing),
        query: told.query.unwrap_or(nothing),
        script: told.script?,
        content_type: told.content_type.filter(|value| !value.bytes().is_empty()),
        cookies: told.cookies,
        authorization: told.authorization,
        content_length: body,
        old: *old == [1],
        received_at: f64::from_le_bytes(*received_at),
        values: &values,
        admin: &admin,
    }))
}

/// The reason of a status line such as `HTTP/1.1 404 Nothing Here`.
fn reason(line: &[u8]) -> Option<&[u8]> {
    let mut words = line.splitn(3, |byte| *byte == b' ');
    let (_, _, reason) = (words.next()?, words.next()?, words.next()?);
    (!reason.is_empty()).then_some(reason)
}

/// Begins the head of an answer: what [`head`] reads.
pub(super) fn begin_head(into: &mut Vec<u8>, status: u16, line: &[u8]) {
    into.clear();
    into.extend_from_slice(&status.to_le_bytes());
    into.extend_from_slice(reason(line).unwrap_or_default());
    into.push(b'\n');
}

/// Goes on with it.
pub(super) fn add_line(into: &mut Vec<u8>, line: &[u8]) {
    into.extend_from_slice(line);
    into.push(b'\n');
}

/// The head of an answer. Lines that are none are left out, and those that are the server's to say.
pub(super) fn head(bytes: &[u8]) -> ResponseHead {
    let Some((status, rest)) = bytes.split_first_chunk::<2>() else { return ResponseHead::new(500) };
    let mut head = ResponseHead::new(u16::from_le_bytes(*status));
    // PHP names the type itself: where it has none, the program wants none.
    head.has_content_type = true;
    let mut lines = rest.split(|byte| *byte == b'\n');
    head.reason = lines.next().filter(|reason| !reason.is_empty() && is_field_value(reason)).map(<[u8]>::to_vec);
    for line in lines {
        let Some(colon) = line.iter().position(|byte| *byte == b':') else { continue };
        let (name, value) = (line[..colon].trim_ascii(), line[colon + 1..].trim_ascii());
        if is_field_name(name) && is_field_value(value) {
            add_field(&mut head, name, value);
        }
    }
    head
}

fn add_field(head: &mut ResponseHead, name: &[u8], value: &[u8]) {
    let is = |other: &[u8]| name.eq_ignore_ascii_case(other);
    let number = || std::str::from_utf8(value).ok().and_then(|text| text.parse::<u64>().ok());
    if is(b"content-length") {
        head.content_length = number();
    } else if is(b"status") {
        // Programs of CGI say it so.
        let code = value.split(|byte| *byte == b' ').next().and_then(|code| std::str::from_utf8(code).ok());
        if let Some(code) = code.and_then(|code| code.parse().ok()).filter(|code| (200..=999).contains(code)) {
            head.status = code;
        }
    } else if is(b"content-type") && head.status == 304 {
        // Of what the client has already (RFC 9110 section 15.4.5).
    } else if !(is(b"connection") || is(b"keep-alive") || is(b"transfer-encoding")) {
        head.has_date |= is(b"date");
        head.has_server |= is(b"server");
        head.plain |= is(b"content-encoding");
        head.push_field(name, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_head_of_an_answer_leaves_the_servers_own_lines_out() {
        let mut bytes = Vec::new();
        begin_head(&mut bytes, 200, b"HTTP/1.1 200 All Right");
        for line in [
            &b"Content-Type: text/html"[..],
            b"Connection: close",
            b"X-A:b",
            b"no line",
            b"Content-Length: 12",
            b"X B: c",
        ] {
            add_line(&mut bytes, line);
        }
        let head = head(&bytes);
        assert_eq!((head.status, head.reason.as_deref()), (200, Some(&b"All Right"[..])));
        assert_eq!(head.lines, b"Content-Type: text/html\r\nX-A: b\r\n");
        assert_eq!((head.content_length, head.has_content_type, head.plain), (Some(12), true, false));
    }

    #[test]
    fn a_status_of_cgi_counts_and_what_is_none_does_not() {
        for (line, status) in [(&b"Status: 404 Not Found"[..], 404), (b"Status: 99", 200), (b"Status: x", 200)] {
            let mut bytes = Vec::new();
            begin_head(&mut bytes, 200, b"");
            add_line(&mut bytes, line);
            assert_eq!(head(&bytes).status, status);
        }
    }

    #[test]
    fn what_is_no_request_is_none() {
        assert_eq!(with(b"", 0, |_| ()), None);
        assert_eq!(with(&[0; FIXED + 8], 0, |_| ()), None, "it has no method");
        assert_eq!(with(&[255; FIXED + 20], 0, |_| ()), None);
    }
}
