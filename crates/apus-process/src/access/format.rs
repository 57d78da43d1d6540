//! What a line of the access log looks like.

use std::cell::{RefCell, RefMut};
use std::io::Write as _;
use std::time::{Duration, UNIX_EPOCH};

use apus_options::LOGGED_FIELDS_MOST;

use super::Access;
use crate::log::{Timestamp, civil};

/// The form that servers have had since the first ones.
const COMBINED: &str =
    "$remote_addr - - [$time_local] \"$request\" $status $body_bytes_sent \"$http_referer\" \"$http_user_agent\"";
/// An object a line.
const JSON: &str = "{\"time\":\"$time_iso8601\",\"remote_addr\":\"$remote_addr\",\"method\":\"$request_method\",\
                    \"uri\":\"$request_uri\",\"protocol\":\"$server_protocol\",\"host\":\"$host\",\"status\":$status,\
                    \"bytes\":$body_bytes_sent,\"seconds\":$request_time,\"referer\":\"$http_referer\",\
                    \"user_agent\":\"$http_user_agent\",\"worker\":$worker,\"trace_id\":\"$trace_id\"}";

/// Months as the combined format has them.
const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// Texts that stand before the header fields in what was noted of a request.
const FIRST_FIELD: usize = 5;
/// Bytes before the texts.
const PREFIX: usize = 4;

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Text(String),
    Request(OfRequest),
    Answer(OfAnswer),
}

/// What a request says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OfRequest {
    RemotePort,
    Line,
    Protocol,
    Scheme,
    /// One of the texts: 0 to 4 are the client's address, the method, the target, the host and the trace.
    Noted(usize),
}

/// What differs between the answers to requests that say the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OfAnswer {
    TimeLocal,
    TimeIso,
    Seconds,
    Status,
    /// What colours a terminal by it.
    StatusColor,
    Sent,
    RequestTime,
    Worker,
}

/// A format, read.
#[derive(Debug)]
pub(crate) struct Format {
    pieces: Vec<Piece>,
    json: bool,
    /// Whether it tells the client's port, by which requests of one client differ.
    port: bool,
    /// The one of the last line.
    second: RefCell<Second>,
    last: RefCell<Standing>,
    /// The names of the fields it wants, in lower case.
    pub(crate) headers: Vec<String>,
}

/// What the last request made of a line: clients that ask the same again and again have it again.
#[derive(Debug, Default)]
struct Standing {
    /// What was noted of that request.
    noted: Vec<u8>,
    text: Vec<u8>,
    /// What stands within the text, each before the byte of that place.
    answers: Vec<(usize, OfAnswer)>,
}

/// What most formats take besides what was noted.
const ROOM: usize = 256;
/// The last second that lines tell: the end of the year 9999.
const LATEST: u64 = 253_402_300_799;

/// The place of the trace among the texts.
const TRACE: usize = 4;

/// The variables, `$http_NAME` apart.
const VARIABLES: [(&str, Piece); 17] = [
    ("remote_addr", Piece::Request(OfRequest::Noted(0))),
    ("remote_port", Piece::Request(OfRequest::RemotePort)),
    ("time_local", Piece::Answer(OfAnswer::TimeLocal)),
    ("time_iso8601", Piece::Answer(OfAnswer::TimeIso)),
    ("msec", Piece::Answer(OfAnswer::Seconds)),
    ("request", Piece::Request(OfRequest::Line)),
    ("request_method", Piece::Request(OfRequest::Noted(1))),
    ("request_uri", Piece::Request(OfRequest::Noted(2))),
    ("server_protocol", Piece::Request(OfRequest::Protocol)),
    ("status", Piece::Answer(OfAnswer::Status)),
    ("status_color", Piece::Answer(OfAnswer::StatusColor)),
    ("body_bytes_sent", Piece::Answer(OfAnswer::Sent)),
    ("request_time", Piece::Answer(OfAnswer::RequestTime)),
    ("scheme", Piece::Request(OfRequest::Scheme)),
    ("host", Piece::Request(OfRequest::Noted(3))),
    ("trace_id", Piece::Request(OfRequest::Noted(TRACE))),
    ("worker", Piece::Answer(OfAnswer::Worker)),
];

impl Format {
    /// `combined`, `json`, or a text with variables.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let text = match text {
            "combined" | "" => COMBINED,
            "json" => JSON,
            own => own,
        };
        if text.contains('\n') {
            return Err("a line has no line break".to_owned());
        }
        let mut format = Self {
            pieces: Vec::new(),
            json: text.starts_with('{'),
            port: false,
            second: RefCell::default(),
            last: RefCell::default(),
            headers: Vec::new(),
        };
        let mut rest = text;
        while let Some(at) = rest.find('$') {
            format.text(&rest[..at]);
            let behind = &rest[at + 1..];
            let braced = behind.strip_prefix('{').and_then(|inner| inner.split_once('}'));
            let (name, next) = braced.unwrap_or_else(|| {
                let end = behind.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(behind.len());
                behind.split_at(end)
            });
            let piece = format.variable(name)?;
            format.pieces.push(piece);
            rest = next;
        }
        format.text(rest);
        format.port = format.pieces.contains(&Piece::Request(OfRequest::RemotePort));
        Ok(format)
    }

    /// Whether it wants the trace.
    pub(crate) fn wants_trace(&self) -> bool {
        self.pieces.contains(&Piece::Request(OfRequest::Noted(TRACE)))
    }

    fn text(&mut self, text: &str) {
        if !text.is_empty() {
            self.pieces.push(Piece::Text(text.to_owned()));
        }
    }

    fn variable(&mut self, name: &str) -> Result<Piece, String> {
        if let Some((_, piece)) = VARIABLES.iter().find(|(known, _)| *known == name) {
            return Ok(piece.clone());
        }
        let Some(field) = name.strip_prefix("http_").filter(|field| !field.is_empty()) else {
            let known: Vec<_> = VARIABLES.iter().map(|(known, _)| *known).collect();
            return Err(format!(
                "there is no ${name}; there are {}, and http_NAME for header fields",
                known.join(", ")
            ));
        };
        let field = field.to_ascii_lowercase().replace('_', "-");
        if field == "host" {
            return Ok(Piece::Request(OfRequest::Noted(3)));
        }
        let at = self.headers.iter().position(|known| *known == field).unwrap_or_else(|| {
            self.headers.push(field);
            self.headers.len() - 1
        });
        if at >= LOGGED_FIELDS_MOST {
            return Err(format!("names more than {LOGGED_FIELDS_MOST} header fields"));
        }
        Ok(Piece::Request(OfRequest::Noted(FIRST_FIELD + at)))
    }

    /// Adds the line of an answer, with its line break.
    pub(crate) fn write(&self, access: &Access<'_>, worker: u16, out: &mut Vec<u8>) {
        let mut last = self.last.borrow_mut();
        if !self.is_alike(&last.noted, access.noted) {
            self.stand(access.noted, &mut last);
        }
        // So that most lines find room: pieces then only look.
        out.reserve(last.text.len() + ROOM);
        let mut from = 0;
        for &(to, answer) in &last.answers {
            out.extend_from_slice(&last.text[from..to]);
            from = to;
            self.answer(answer, access, worker, out);
        }
        out.extend_from_slice(&last.text[from..]);
    }

    /// Whether two requests have the same text in this format.
    #[inline]
    fn is_alike(&self, one: &[u8], other: &[u8]) -> bool {
        match (one.split_first_chunk::<PREFIX>(), other.split_first_chunk::<PREFIX>()) {
            (Some(([protocol, scheme, port @ ..], one)), Some(([protocol2, scheme2, port2 @ ..], other))) => {
                one == other && (protocol, scheme) == (protocol2, scheme2) && (port == port2 || !self.port)
            }
            _ => false,
        }
    }

    /// Writes what a request says.
    fn stand(&self, request: &[u8], into: &mut Standing) {
        let mut noted = [None; FIRST_FIELD + LOGGED_FIELDS_MOST];
        let prefix = texts(request, &mut noted[..FIRST_FIELD + self.headers.len()]);
        let Standing { text: out, answers, .. } = into;
        out.clear();
        answers.clear();
        out.reserve(request.len() + ROOM);
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => out.extend_from_slice(text.as_bytes()),
                Piece::Answer(answer) => answers.push((out.len(), *answer)),
                Piece::Request(OfRequest::RemotePort) => number(u16::from_ne_bytes([prefix[2], prefix[3]]).into(), out),
                Piece::Request(OfRequest::Line) => {
                    self.escaped(noted[1], out);
                    if noted[1].is_some() {
                        out.push(b' ');
                        self.escaped(noted[2], out);
                        out.push(b' ');
                        out.extend_from_slice(protocol(prefix[0]).as_bytes());
                    }
                }
                Piece::Request(OfRequest::Protocol) => out.extend_from_slice(protocol(prefix[0]).as_bytes()),
                Piece::Request(OfRequest::Scheme) => {
                    out.extend_from_slice(if prefix[1] == 0 { b"http" } else { b"https" });
                }
                Piece::Request(OfRequest::Noted(at)) => self.escaped(noted[*at], out),
            }
        }
        out.push(b'\n');
        into.noted.clear();
        into.noted.extend_from_slice(request);
    }

    fn answer(&self, piece: OfAnswer, access: &Access<'_>, worker: u16, out: &mut Vec<u8>) {
        match piece {
            OfAnswer::TimeLocal => out.extend_from_slice(&self.second(since(access.received_at)).local),
            OfAnswer::TimeIso => {
                let time = since(access.received_at);
                out.extend_from_slice(&self.second(time).iso);
                formatted(out, format_args!(".{:03}Z", time.subsec_millis()));
            }
            OfAnswer::Seconds => formatted(out, format_args!("{:.3}", access.received_at)),
            OfAnswer::Status => number(access.status.into(), out),
            OfAnswer::StatusColor => out.extend_from_slice(match access.status {
                ..300 => b"\x1b[32m",
                300..400 => b"\x1b[36m",
                400..500 => b"\x1b[33m",
                500.. => b"\x1b[31m",
            }),
            OfAnswer::Sent => number(access.sent, out),
            OfAnswer::RequestTime => {
                number(access.micros / 1_000_000, out);
                formatted(out, format_args!(".{:06}", access.micros % 1_000_000));
            }
            OfAnswer::Worker => number(worker.into(), out),
        }
    }

    fn second(&self, time: Duration) -> RefMut<'_, Second> {
        let mut second = self.second.borrow_mut();
        second.set(time.as_secs());
        second
    }

    /// Nothing that a client sends can end a line, a text in quotation marks, or reach a terminal as a control.
    fn escaped(&self, text: Option<&[u8]>, out: &mut Vec<u8>) {
        let Some(text) = text else {
            if !self.json {
                out.push(b'-');
            }
            return;
        };
        // Most texts are so, and copied at once.
        if is_all_plain(text) {
            return out.extend_from_slice(text);
        }
        if self.json {
            for char in String::from_utf8_lossy(text).chars() {
                match char {
                    '"' | '\\' => out.extend_from_slice(&[b'\\', char as u8]),
                    '\0'..='\x1f' | '\x7f'..='\u{9f}' | '\u{2028}' | '\u{2029}' => {
                        let _ = write!(out, "\\u{:04x}", u32::from(char));
                    }
                    other => out.extend_from_slice(other.encode_utf8(&mut [0; 4]).as_bytes()),
                }
            }
            return;
        }
        for byte in text {
            if is_plain(*byte) {
                out.push(*byte);
            } else {
                let _ = write!(out, "\\x{byte:02X}");
            }
        }
    }
}

/// Without the formatter, which takes several times as long.
#[inline]
fn number(number: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

fn formatted(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    // Writing to a vector cannot fail.
    let _ = out.write_fmt(text);
}

/// Whether all bytes stand for themselves in every format.
#[inline]
fn is_all_plain(text: &[u8]) -> bool {
    let words = |from: &[u8]| from.first_chunk().is_none_or(|word| is_word_plain(u64::from_ne_bytes(*word)));
    if text.len() < 8 {
        return text.iter().all(|byte| is_plain(*byte));
    }
    // The last word is looked at whole, with bytes of the one before.
    text.chunks_exact(8).all(words) && words(&text[text.len() - 8..])
}

/// The same of eight bytes.
#[inline]
fn is_word_plain(word: u64) -> bool {
    const ONES: u64 = u64::MAX / 255;
    const HIGH: u64 = ONES << 7;
    let below = |word: u64, byte: u8| word.wrapping_sub(ONES * u64::from(byte)) & !word;
    let controls = below(word, b' ');
    let quotes = below(word ^ (ONES * u64::from(b'"')), 1);
    let slashes = below(word ^ (ONES * u64::from(b'\\')), 1);
    // DEL becomes 0x80.
    let others = word | word.wrapping_add(ONES);
    (controls | quotes | slashes | others) & HIGH == 0
}

/// Whether a byte stands for itself in every format.
fn is_plain(byte: u8) -> bool {
    (b' '..0x7f).contains(&byte) && byte != b'"' && byte != b'\\'
}

/// A second as lines have it: most lines are of the second of the one before.
#[derive(Debug, Default)]
struct Second {
    of: u64,
    /// `23/Nov/2026:12:00:00 +0000`.
    local: Vec<u8>,
    /// `2026-11-23T12:00:00`.
    iso: Vec<u8>,
}

impl Second {
    fn set(&mut self, second: u64) {
        if self.of == second && !self.local.is_empty() {
            return;
        }
        self.of = second;
        self.local.clear();
        self.iso.clear();
        // Writing to a vector cannot fail.
        let _ = time_local(second, &mut self.local);
        let _ = write!(self.iso, "{}", Timestamp(UNIX_EPOCH + Duration::from_secs(second)));
        // Without the milliseconds.
        self.iso.truncate(self.iso.len() - ".000Z".len());
    }
}

/// Reads the texts of what was noted; the bytes before them.
fn texts<'a>(noted: &'a [u8], into: &mut [Option<&'a [u8]>]) -> [u8; PREFIX] {
    let Some((prefix, mut rest)) = noted.split_first_chunk::<PREFIX>() else { return [0; PREFIX] };
    for text in into {
        let Some((len, behind)) = rest.split_first_chunk::<2>() else { break };
        rest = behind;
        let len = u16::from_ne_bytes(*len);
        if len < u16::MAX {
            let Some((found, behind)) = rest.split_at_checked(usize::from(len)) else { break };
            (*text, rest) = (Some(found), behind);
        }
    }
    *prefix
}

fn protocol(number: u8) -> &'static str {
    match number {
        10 => "HTTP/1.0",
        11 => "HTTP/1.1",
        20 => "HTTP/2.0",
        _ => "-",
    }
}

/// What a record says may be anything.
#[inline]
fn since(seconds: f64) -> Duration {
    // A conversion that gives the nearest number where there is none.
    let whole = seconds as u64;
    let rest = ((seconds - whole as f64) * 1e9) as u32;
    Duration::new(whole.min(LATEST), rest.min(999_999_999))
}

fn time_local(seconds: u64, out: &mut Vec<u8>) -> std::io::Result<()> {
    let (year, month, day) = civil((seconds / 86400) as i64);
    let month = MONTHS.get((month - 1) as usize).copied().unwrap_or("-");
    let of_day = seconds % 86400;
    write!(out, "{day:02}/{month}/{year:04}:{:02}:{:02}:{:02} +0000", of_day / 3600, of_day / 60 % 60, of_day % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noted(texts: &[Option<&[u8]>]) -> Vec<u8> {
        let mut noted = vec![11, 1];
        noted.extend_from_slice(&4711u16.to_ne_bytes());
        for text in texts {
            let len = text.map_or(u16::MAX, |text| text.len() as u16);
            noted.extend_from_slice(&len.to_ne_bytes());
            noted.extend_from_slice(text.unwrap_or_default());
        }
        noted
    }

    fn line(format: &str, texts: &[Option<&[u8]>]) -> String {
        let noted = noted(texts);
        let access =
            Access { received_at: 951_782_400.25, micros: 1_000_250, sent: 42, status: 200, host: 0, noted: &noted };
        let mut out = Vec::new();
        Format::parse(format).unwrap().write(&access, 3, &mut out);
        String::from_utf8(out).unwrap()
    }

    const TEXTS: [Option<&[u8]>; 7] = [
        Some(b"::1"),
        Some(b"GET"),
        Some(b"/a?b"),
        Some(b"example.org"),
        Some(b"4bf9"),
        None,
        Some(b"curl \"\\\n\xff"),
    ];

    #[test]
    fn the_known_formats() {
        assert_eq!(
            line("combined", &TEXTS),
            "::1 - - [29/Feb/2000:00:00:00 +0000] \"GET /a?b HTTP/1.1\" 200 42 \"-\" \"curl \\x22\\x5C\\x0A\\xFF\"\n"
        );
        let json: serde_json::Value = serde_json::from_str(&line("json", &TEXTS)).unwrap();
        let expected = serde_json::json!({"time": "2000-02-29T00:00:00.250Z", "remote_addr": "::1", "method": "GET",
            "uri": "/a?b", "protocol": "HTTP/1.1", "host": "example.org", "status": 200, "bytes": 42,
            "seconds": 1.00025, "referer": "", "user_agent": "curl \"\\\n\u{fffd}", "worker": 3, "trace_id": "4bf9"});
        assert_eq!(json, expected);
    }

    #[test]
    fn own_formats() {
        let texts = [Some(b"::1".as_slice()), None, None, None, None, Some(b"x")];
        let all = "$remote_port $scheme ${msec}s $request_time|$request|$http_x_Y|$http_x_y|$http_host";
        assert_eq!(line(all, &texts), "4711 https 951782400.250s 1.000250|-|x|x|-\n");
        let wrong = Format::parse("$statsu").unwrap_err();
        assert!(wrong.contains("$statsu") && wrong.contains("request_time"), "{wrong}");
        assert!(Format::parse("a\nb").is_err() && Format::parse("$http_").is_err());
        let many: Vec<_> = (0..40).map(|number| format!("$http_h{number}")).collect();
        assert!(Format::parse(&many.concat()).is_err());
    }

    #[test]
    fn a_line_is_that_of_its_request_whatever_was_before() {
        let mut requests = vec![noted(&TEXTS), noted(&TEXTS[..3]), noted(&[]), vec![11, 1], Vec::new()];
        for at in 0..requests[0].len() {
            let mut other = requests[0].clone();
            other[at] ^= 1;
            requests.extend([other, requests[0].clone()]);
        }
        for text in ["combined", "json", "$remote_port $host $status"] {
            let format = Format::parse(text).unwrap();
            for (at, noted) in requests.iter().enumerate() {
                let (received_at, status) = (951_782_400.25 + at as f64 / 7.0, at as u16);
                let access = Access { received_at, micros: 7, sent: at as u64, status, host: 0, noted };
                let (mut one, mut other) = (Vec::new(), Vec::new());
                format.write(&access, at as u16, &mut one);
                Format::parse(text).unwrap().write(&access, at as u16, &mut other);
                assert_eq!(one, other, "{text} {at}");
            }
        }
    }

    #[test]
    fn texts_of_all_lengths_are_escaped_byte_for_byte() {
        let format = Format::parse("$host").unwrap();
        for len in 0..70 {
            let text: Vec<u8> = (0..len).map(|at| b'a' + at % 26).collect();
            let mut out = Vec::new();
            format.escaped(Some(&text), &mut out);
            assert_eq!(out, text);
            for at in 0..text.len() {
                for byte in 0..=255u8 {
                    let mut text = text.clone();
                    text[at] = byte;
                    assert_eq!(is_all_plain(&text), is_plain(byte), "{byte} at {at} of {len}");
                }
            }
        }
    }

    #[test]
    fn seconds_of_records_are_any() {
        for (seconds, expected) in [
            (1_700_000_000.25, Duration::new(1_700_000_000, 250_000_000)),
            (f64::NAN, Duration::ZERO),
            (-1.0, Duration::ZERO),
            (f64::INFINITY, Duration::new(LATEST, 999_999_999)),
        ] {
            assert_eq!(since(seconds), expected, "{seconds}");
        }
    }

    #[test]
    fn a_record_that_nobody_wrote_is_no_matter() {
        let whole = noted(&TEXTS);
        for end in 0..whole.len() {
            let access =
                Access { received_at: f64::NAN, micros: u64::MAX, sent: 0, status: 0, host: 0, noted: &whole[..end] };
            let mut out = Vec::new();
            Format::parse("combined").unwrap().write(&access, 0, &mut out);
            assert_eq!(out.split(|byte| *byte == b'\n').count(), 2);
        }
    }
}
