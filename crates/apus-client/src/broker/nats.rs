//! The text protocol of NATS, as much of it as publishing and subscribing need.

use std::fmt::Write as _;

use bytes::{Buf, Bytes, BytesMut};
use serde_json::{Value, json};

use super::credentials::Credentials;
use super::url::BrokerUrl;
use super::{Event, Info};

/// Bytes of a line. The longest is INFO of a large cluster.
const MAX_LINE: usize = 64 * 1024;

/// The answer to the server's INFO, whose `nonce` proves that we have the key of the credentials.
pub(super) fn greet(out: &mut BytesMut, url: &BrokerUrl, credentials: Option<&Credentials>, nonce: &str) {
    let mut words = json!({
        "verbose": false, "pedantic": false, "headers": false, "protocol": 1, "echo": true,
        "name": "apus", "lang": "rust", "version": env!("CARGO_PKG_VERSION"),
    });
    match &url.secret {
        Some(secret) if url.user.is_empty() => words["auth_token"] = json!(secret),
        Some(secret) => {
            words["user"] = json!(url.user);
            words["pass"] = json!(secret);
        }
        None => {}
    }
    if let Some(credentials) = credentials {
        words["nkey"] = json!(credentials.public_key());
        words["sig"] = json!(credentials.sign(nonce));
        if let Some(jwt) = credentials.jwt() {
            words["jwt"] = json!(jwt);
        }
    }
    line(out, format_args!("CONNECT {words}"));
    ping(out);
}

pub(super) fn ping(out: &mut BytesMut) {
    out.extend_from_slice(b"PING\r\n");
}

pub(super) fn pong(out: &mut BytesMut) {
    out.extend_from_slice(b"PONG\r\n");
}

pub(super) fn subscribe(out: &mut BytesMut, subject: &str, sid: u64) {
    line(out, format_args!("SUB {subject} {sid}"));
}

pub(super) fn unsubscribe(out: &mut BytesMut, sid: u64) {
    line(out, format_args!("UNSUB {sid}"));
}

pub(super) fn publish(out: &mut BytesMut, subject: &str, payload: &[u8]) {
    line(out, format_args!("PUB {subject} {}", payload.len()));
    out.extend_from_slice(payload);
    out.extend_from_slice(b"\r\n");
}

fn line(out: &mut BytesMut, text: std::fmt::Arguments<'_>) {
    // Writing to memory does not fail.
    let _ = out.write_fmt(text);
    out.extend_from_slice(b"\r\n");
}

/// The next thing the server says; `None` when it is not complete.
pub(super) fn decode(input: &mut BytesMut, max_payload: usize) -> Result<Option<Event>, String> {
    let Some(end) = input.iter().take(MAX_LINE).position(|&byte| byte == b'\n') else {
        if input.len() >= MAX_LINE {
            return Err("it sent a line without an end".to_owned());
        }
        return Ok(None);
    };
    let text = input[..end].strip_suffix(b"\r").ok_or("it sent a line that ends without a carriage return")?;
    let text = std::str::from_utf8(text).map_err(|_| "it sent a line that is no text")?;
    let (word, rest) = text.split_once([' ', '\t']).unwrap_or((text, ""));
    let event = match word.to_ascii_uppercase().as_str() {
        "MSG" => {
            let (subject, length) = message(rest)?;
            if length > max_payload {
                return Err("it sent a message larger than the limit".to_owned());
            }
            let start = end + 1;
            if input.len() < start + length + 2 {
                return Ok(None);
            }
            let payload = Bytes::copy_from_slice(&input[start..start + length]);
            let event = Event::Message { subject: subject.into(), payload };
            input.advance(start + length + 2);
            return Ok(Some(event));
        }
        "PING" => Event::Ping,
        "PONG" => Event::Pong,
        "INFO" => info(rest)?,
        "-ERR" => Event::Error(rest.trim().trim_matches('\'').to_owned()),
        "+OK" => Event::Nothing,
        _ => return Err("it sent what is not NATS".to_owned()),
    };
    input.advance(end + 1);
    Ok(Some(event))
}

/// Subject and size of `MSG subject sid [reply-to] size`.
fn message(rest: &str) -> Result<(&str, usize), &'static str> {
    let mut words = rest.split_ascii_whitespace();
    let subject = words.next().ok_or("it sent a message without a subject")?;
    let length = words.next_back().and_then(|size| size.parse().ok()).ok_or("it sent a message without a size")?;
    Ok((subject, length))
}

fn info(rest: &str) -> Result<Event, String> {
    let info: Value = serde_json::from_str(rest).map_err(|_| "its INFO is not JSON")?;
    let is = |name: &str| info[name].as_bool() == Some(true);
    Ok(Event::Info(Info {
        max_payload: info["max_payload"].as_u64().map(|max| usize::try_from(max).unwrap_or(usize::MAX)),
        tls_required: is("tls_required"),
        tls_available: is("tls_available"),
        nonce: info["nonce"].as_str().unwrap_or_default().to_owned(),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_written() {
        let mut out = BytesMut::new();
        subscribe(&mut out, "a.b", 7);
        publish(&mut out, "a.b", b"x\r\ny");
        unsubscribe(&mut out, 7);
        pong(&mut out);
        assert_eq!(&out[..], b"SUB a.b 7\r\nPUB a.b 4\r\nx\r\ny\r\nUNSUB 7\r\nPONG\r\n");
    }

    #[test]
    fn logins_are_json() {
        for (url, user, pass, token) in [
            ("nats://h", Value::Null, Value::Null, Value::Null),
            ("nats://u:p%22@h", json!("u"), json!("p\""), Value::Null),
            ("nats://tok@h", Value::Null, Value::Null, json!("tok")),
        ] {
            let mut out = BytesMut::new();
            greet(&mut out, &BrokerUrl::parse(url).unwrap(), None, "");
            let text = std::str::from_utf8(&out).unwrap();
            let sent = text.strip_prefix("CONNECT ").and_then(|text| text.strip_suffix("\r\nPING\r\n")).unwrap();
            let sent: Value = serde_json::from_str(sent).unwrap();
            assert_eq!((&sent["user"], &sent["pass"], &sent["auth_token"]), (&user, &pass, &token));
        }
    }

    #[test]
    fn words_are_read_in_any_pieces() {
        let bytes = b"INFO {\"max_payload\":2048,\"tls_required\":false}\r\n+OK\r\nPONG\r\nMSG a.b 1 4\r\n\r\n\0x\r\n\
                      MSG a 2 reply 0\r\n\r\nping\r\n-ERR 'Authorization Violation'\r\n";
        let expected = vec![
            Event::Info(Info { max_payload: Some(2048), ..Info::default() }),
            Event::Nothing,
            Event::Pong,
            Event::Message { subject: "a.b".into(), payload: Bytes::from_static(b"\r\n\0x") },
            Event::Message { subject: "a".into(), payload: Bytes::new() },
            Event::Ping,
            Event::Error("Authorization Violation".to_owned()),
        ];
        for step in [1, 3, bytes.len()] {
            let (mut input, mut events) = (BytesMut::new(), Vec::new());
            for piece in bytes.chunks(step) {
                input.extend_from_slice(piece);
                while let Some(event) = decode(&mut input, 100).unwrap() {
                    events.push(event);
                }
            }
            assert_eq!((events, input.len()), (expected.clone(), 0));
        }
    }

    #[test]
    fn what_breaks_the_rules_is_an_error() {
        let long = vec![b'a'; MAX_LINE];
        for bytes in [
            &b"HELLO\r\n"[..],
            b"PONG\n",
            b"MSG\r\n",
            b"MSG a\r\n",
            b"MSG a 1 x\r\n",
            b"MSG a 1 101\r\n",
            b"INFO {\r\n",
            b"\xff\r\n",
            &long,
        ] {
            assert!(decode(&mut BytesMut::from(bytes), 100).is_err(), "{bytes:?}");
        }
    }
}
