//! RESP3, as much of it as publishing and subscribing need.

use std::io::Write as _;

use bytes::{Buf, Bytes, BytesMut};

use super::Event;

/// Elements of one reply; a greeting has about twenty.
const MAX_ELEMENTS: usize = 1024;
/// Replies within replies.
const MAX_DEPTH: usize = 8;
/// Bytes of a line that tells a type and a length, or a short text.
const MAX_LINE: usize = 64 * 1024;

/// The first words: RESP3 is asked for because it lets one connection publish and be subscribed. `ask_role`: the answer
/// tells whether this is the master, as Sentinels may have a stale word.
pub(super) fn greet(out: &mut BytesMut, login: Option<(&str, &str)>, database: u32, ask_role: bool) {
    match login {
        Some((user, secret)) => {
            let user = if user.is_empty() { "default" } else { user };
            command(out, &[b"HELLO", b"3", b"AUTH", user.as_bytes(), secret.as_bytes(), b"SETNAME", b"apus"]);
        }
        None => command(out, &[b"HELLO", b"3", b"SETNAME", b"apus"]),
    }
    if database != 0 {
        command(out, &[b"SELECT", database.to_string().as_bytes()]);
    }
    if ask_role {
        command(out, &[b"ROLE"]);
    }
    ping(out);
}

/// Asks a Sentinel for the master.
pub(super) fn ask_master(out: &mut BytesMut, service: &str, login: Option<(&str, &str)>) {
    greet(out, login, 0, false);
    command(out, &[b"SENTINEL", b"get-master-addr-by-name", service.as_bytes()]);
    // The second sign of life: behind the answer.
    ping(out);
}

pub(super) fn ping(out: &mut BytesMut) {
    command(out, &[b"PING"]);
}

pub(super) fn subscribe(out: &mut BytesMut, subject: &str) {
    command(out, &[b"SUBSCRIBE", subject.as_bytes()]);
}

pub(super) fn unsubscribe(out: &mut BytesMut, subject: &str) {
    command(out, &[b"UNSUBSCRIBE", subject.as_bytes()]);
}

pub(super) fn publish(out: &mut BytesMut, subject: &str, payload: &[u8]) {
    command(out, &[b"PUBLISH", subject.as_bytes(), payload]);
}

fn command(out: &mut BytesMut, words: &[&[u8]]) {
    number(out, b'*', words.len());
    for word in words {
        number(out, b'$', word.len());
        out.extend_from_slice(word);
        out.extend_from_slice(b"\r\n");
    }
}

fn number(out: &mut BytesMut, kind: u8, value: usize) {
    let mut text = [0u8; 24];
    let mut rest = &mut text[..];
    // 24 bytes hold any usize.
    let _ = write!(rest, "{}{value}\r\n", char::from(kind));
    let left = rest.len();
    out.extend_from_slice(&text[..24 - left]);
}

/// One value, its bytes where they stand in the input.
#[derive(Debug, PartialEq)]
enum Value<'a> {
    Text(&'a [u8]),
    Error(&'a [u8]),
    /// Bytes from the first to the second offset of the input.
    Bulk(usize, usize),
    Push(Vec<Value<'a>>),
    List(Vec<Value<'a>>),
    /// Numbers, sets, maps and what else is of no interest here.
    Other,
}

/// Why there is no value.
enum Stop {
    More,
    Broken(&'static str),
}

struct Parser<'a> {
    input: &'a [u8],
    at: usize,
    max_payload: usize,
}

impl<'a> Parser<'a> {
    fn line(&mut self) -> Result<&'a [u8], Stop> {
        let rest = &self.input[self.at..];
        let Some(end) = memchr(rest) else {
            return Err(if rest.len() > MAX_LINE { Stop::Broken("a line without an end") } else { Stop::More });
        };
        if rest[..end].last() != Some(&b'\r') {
            return Err(Stop::Broken("a line that ends without a carriage return"));
        }
        self.at += end + 1;
        Ok(&rest[..end - 1])
    }

    fn bulk(&mut self, length: &[u8]) -> Result<Option<(usize, usize)>, Stop> {
        let Some(length) = size(length)? else { return Ok(None) };
        if length > self.max_payload {
            return Err(Stop::Broken("a message larger than the limit"));
        }
        let start = self.at;
        if self.input.len() < start + length + 2 {
            return Err(Stop::More);
        }
        self.at = start + length + 2;
        Ok(Some((start, start + length)))
    }

    fn list(&mut self, length: &[u8], times: usize, depth: usize) -> Result<Vec<Value<'a>>, Stop> {
        let count = size(length)?.unwrap_or(0).saturating_mul(times);
        if count > MAX_ELEMENTS || depth >= MAX_DEPTH {
            return Err(Stop::Broken("a reply of more elements than are expected"));
        }
        (0..count).map(|_| self.value(depth + 1)).collect()
    }

    fn value(&mut self, depth: usize) -> Result<Value<'a>, Stop> {
        let line = self.line()?;
        let (kind, rest) = line.split_first().ok_or(Stop::Broken("an empty line"))?;
        match kind {
            b'+' => Ok(Value::Text(rest)),
            b'-' => Ok(Value::Error(rest)),
            b':' | b'_' | b'#' | b',' | b'(' => Ok(Value::Other),
            b'$' | b'=' => Ok(self.bulk(rest)?.map_or(Value::Other, |(from, to)| Value::Bulk(from, to))),
            b'!' => Ok(self.bulk(rest)?.map_or(Value::Other, |(from, to)| Value::Error(&self.input[from..to]))),
            b'*' => self.list(rest, 1, depth).map(Value::List),
            b'~' => self.list(rest, 1, depth).map(|_| Value::Other),
            b'%' => self.list(rest, 2, depth).map(|_| Value::Other),
            b'>' => self.list(rest, 1, depth).map(Value::Push),
            _ => Err(Stop::Broken("what is not RESP3")),
        }
    }
}

fn memchr(bytes: &[u8]) -> Option<usize> {
    bytes.iter().position(|&byte| byte == b'\n')
}

/// A length; `None` for -1, which stands for null.
fn size(text: &[u8]) -> Result<Option<usize>, Stop> {
    if text == b"-1" {
        return Ok(None);
    }
    let text = std::str::from_utf8(text).ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
    text.and_then(|text| text.parse().ok()).map(Some).ok_or(Stop::Broken("a length that is no number"))
}

/// The next thing Redis says; `None` when it is not complete.
pub(super) fn decode(input: &mut BytesMut, max_payload: usize) -> Result<Option<Event>, String> {
    let mut parser = Parser { input, at: 0, max_payload };
    let value = match parser.value(0) {
        Ok(value) => value,
        Err(Stop::More) => return Ok(None),
        Err(Stop::Broken(what)) => return Err(format!("it sent {what}")),
    };
    let end = parser.at;
    let event = match value {
        Value::Text(b"PONG") => Event::Pong,
        Value::Error(text) => Event::Error(String::from_utf8_lossy(text).into_owned()),
        Value::Push(parts) => message(input, &parts),
        Value::List(parts) => Event::List(parts.iter().filter_map(|part| text(input, part)).collect()),
        _ => Event::Nothing,
    };
    input.advance(end);
    Ok(Some(event))
}

fn text(input: &[u8], value: &Value<'_>) -> Option<String> {
    let bytes = match *value {
        Value::Text(text) => text,
        Value::Bulk(from, to) => &input[from..to],
        _ => return None,
    };
    Some(String::from_utf8_lossy(bytes).into_owned())
}

/// `message`, the channel, the payload; other pushes confirm subscriptions.
fn message(input: &[u8], parts: &[Value<'_>]) -> Event {
    let [Value::Bulk(from, to), Value::Bulk(name_from, name_to), Value::Bulk(data_from, data_to)] = *parts else {
        return Event::Nothing;
    };
    if &input[from..to] != b"message" {
        return Event::Nothing;
    }
    match std::str::from_utf8(&input[name_from..name_to]) {
        Ok(subject) => {
            Event::Message { subject: subject.into(), payload: Bytes::copy_from_slice(&input[data_from..data_to]) }
        }
        // Only names that were subscribed come, and these are text.
        Err(_) => Event::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(bytes: &[u8]) -> Result<Vec<Event>, String> {
        let mut input = BytesMut::from(bytes);
        let mut events = Vec::new();
        while let Some(event) = decode(&mut input, 1000)? {
            events.push(event);
        }
        assert!(input.is_empty(), "left: {input:?}");
        Ok(events)
    }

    const GREETING: &[u8] = b"%2\r\n$6\r\nserver\r\n$5\r\nredis\r\n$7\r\nmodules\r\n*1\r\n%1\r\n+name\r\n_\r\n";

    #[test]
    fn commands_are_written() {
        let mut out = BytesMut::new();
        greet(&mut out, Some(("", "s")), 2, false);
        publish(&mut out, "a", b"\r\n");
        let text = "*7\r\n$5\r\nHELLO\r\n$1\r\n3\r\n$4\r\nAUTH\r\n$7\r\ndefault\r\n$1\r\ns\r\n$7\r\nSETNAME\r\n$4\r\napus\r\n\
                    *2\r\n$6\r\nSELECT\r\n$1\r\n2\r\n*1\r\n$4\r\nPING\r\n*3\r\n$7\r\nPUBLISH\r\n$1\r\na\r\n$2\r\n\r\n\r\n";
        assert_eq!(std::str::from_utf8(&out), Ok(text));
    }

    #[test]
    fn replies_are_read_in_any_pieces() {
        let mut bytes = GREETING.to_vec();
        bytes.extend_from_slice(b"+PONG\r\n>3\r\n$9\r\nsubscribe\r\n$1\r\na\r\n:1\r\n:0\r\n");
        bytes.extend_from_slice(
            b">3\r\n$7\r\nmessage\r\n$1\r\na\r\n$4\r\n\r\n\0x\r\n-NOPERM no\r\n!3\r\nbad\r\n$-1\r\n*3\r\n$2\r\n::\r\n:7\r\n*0\r\n",
        );
        let expected = vec![
            Event::Nothing,
            Event::Pong,
            Event::Nothing,
            Event::Nothing,
            Event::Message { subject: "a".into(), payload: Bytes::from_static(b"\r\n\0x") },
            Event::Error("NOPERM no".to_owned()),
            Event::Error("bad".to_owned()),
            Event::Nothing,
            Event::List(vec!["::".to_owned()]),
        ];
        assert_eq!(all(&bytes).unwrap(), expected);
        let (mut input, mut events) = (BytesMut::new(), Vec::new());
        for byte in bytes {
            input.extend_from_slice(&[byte]);
            events.extend(decode(&mut input, 1000).unwrap());
        }
        assert_eq!(events, expected);
    }

    #[test]
    fn what_breaks_the_rules_is_an_error() {
        for bytes in [
            &b"hello\r\n"[..],
            b"\r\n",
            b"+PONG\n",
            b"$x\r\n",
            b"$-2\r\n",
            b"$1001\r\n",
            b"*1025\r\n",
            b"%99999999999999999999\r\n",
            b"*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n+a\r\n",
        ] {
            assert!(all(bytes).is_err(), "{bytes:?}");
        }
        assert!(all(&vec![b'+'; MAX_LINE + 2]).is_err());
    }
}
