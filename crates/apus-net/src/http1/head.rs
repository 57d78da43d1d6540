//! The head of an answer.

use apus_proto::http1::{Version, response};

use crate::answer::ResponseHead;
use crate::coding::Coded;
use crate::config::Config;
use crate::exchange::{BodyOut, Exchange, UnreadBody};
use crate::port::Port;

/// RFC 6797.
const HSTS: &[u8] = b"Strict-Transport-Security";
/// The method stays (RFC 9110 section 15.4.9).
pub(crate) const PERMANENT_REDIRECT: u16 = 308;
/// The line that PHP sends when a program names no type (`default_mimetype`, `default_charset`).
pub const DEFAULT_TYPE: &[u8] = b"Content-Type: text/html; charset=UTF-8\r\n";
/// The same where the character set is the program's business.
const BARE_TYPE: &[u8] = b"Content-Type: text/html\r\n";

/// How an answer's body goes out, and what its head says of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) body: BodyOut,
    /// Content-Length to send.
    pub(crate) length: Option<u64>,
    /// There is content, or would have been for GET, that a Content-Type tells of.
    pub(crate) typed: bool,
    /// What its coding adds to the head.
    pub(crate) coded: Coded,
}

impl Answer {
    /// With what its coding adds.
    #[inline]
    pub(crate) fn coded(self, coded: Coded) -> Self {
        // What GET would have had is not known to HEAD.
        let unknown = coded.coding.is_some() && self.body == BodyOut::Suppressed;
        Self { coded, length: self.length.filter(|_| !unknown), ..self }
    }

    /// Whether nothing follows the head.
    pub(crate) fn is_empty(self) -> bool {
        self.body == BodyOut::Suppressed || self.length == Some(0)
    }
}

/// Settles the framing of an answer (RFC 9112 section 6.3). `whole` is the length of a body that is all there.
#[inline]
pub(crate) fn plan(exchange: &Exchange, head: &ResponseHead, whole: Option<u64>) -> Answer {
    if exchange.connect.get() && (200..300).contains(&head.final_status()) {
        // RFC 9110 section 9.3.6: neither Content-Length nor Transfer-Encoding; what follows is the tunnel's.
        return Answer { body: BodyOut::UntilClose, length: None, typed: false, coded: Coded::default() };
    }
    if exchange.head_only.get() || !response::status_has_body(head.final_status()) {
        return bodiless(head, whole);
    }
    match whole.or(head.content_length) {
        Some(length) => {
            // Over HTTP/1 what the program sends by itself is to follow, until the connection ends.
            let untold = head.untold_length && (length > 0) == (exchange.version.get() == Version::Http2);
            let told = (!untold).then_some(length);
            Answer { body: BodyOut::Length(length), length: told, typed: length > 0, coded: Coded::default() }
        }
        None if exchange.version.get() == Version::Http11 => {
            Answer { body: BodyOut::Chunked, length: None, typed: true, coded: Coded::default() }
        }
        None => Answer { body: BodyOut::UntilClose, length: None, typed: true, coded: Coded::default() },
    }
}

/// An answer to HEAD, or one whose status has no content.
fn bodiless(head: &ResponseHead, whole: Option<u64>) -> Answer {
    let (length, typed) = match head.final_status() {
        // Without it the client would wait for the end of the connection (RFC 9112 section 6.3): no rule of framing
        // knows 205.
        205 => (Some(0), false),
        // May tell the length that a 200 would have had (RFC 9110 section 8.6).
        304 => (head.content_length, false),
        status if !response::status_has_body(status) => (None, false),
        // To HEAD: the length that GET would have had, which is that of the body that was made for it. Where none was
        // made, only the program can know it, and nothing is told unless it does.
        _ => {
            let length = whole.filter(|&length| length > 0).or(head.content_length);
            (length, length.map_or(whole.is_none(), |length| length > 0))
        }
    };
    Answer { body: BodyOut::Suppressed, length, typed, coded: Coded::default() }
}

/// Whether the connection ends with this answer.
#[inline]
pub(crate) fn close_after(exchange: &Exchange, port: &Port, head: &ResponseHead, answer: Answer) -> bool {
    head.close
        || !exchange.persist.get()
        || answer.body == BodyOut::UntilClose
        || exchange.unread.get() == UnreadBody::Large
        || port.worker.is_draining()
}

/// Writes status line, fields and the empty line.
#[inline]
pub(crate) fn write_head(out: &mut Vec<u8>, port: &Port, head: &ResponseHead, answer: Answer, close: bool, old: bool) {
    response::write_status_line(out, Version::Http11, head.final_status(), head.reason.as_deref());
    let connection: &[u8] = if close {
        b"Connection: close\r\n"
    } else if old || head.tell_keep_alive || port.config.own_first {
        // A 1.0 client asked for it and is told that it has it (RFC 9112 section 9.3); any other where the program
        // wants it.
        b"Connection: keep-alive\r\n"
    } else {
        b""
    };
    if port.config.own_first {
        write_own_first(out, port, head, answer, connection);
    } else {
        write_standing(out, port, head);
        write_own(out, port, head, answer);
    }
    if answer.body == BodyOut::Chunked {
        out.extend_from_slice(b"Transfer-Encoding: chunked\r\n");
    }
    if !port.config.own_first {
        out.extend_from_slice(connection);
    }
    out.extend_from_slice(b"\r\n");
}

/// Writes the fields with those of the program first, as clients of code written for Swoole compare them.
fn write_own_first(out: &mut Vec<u8>, port: &Port, head: &ResponseHead, answer: Answer, connection: &[u8]) {
    let tells = head.close || head.tell_keep_alive;
    if tells {
        out.extend_from_slice(connection);
    }
    let length = |out: &mut Vec<u8>, wanted: bool| {
        if let Some(length) = answer.length.filter(|_| wanted) {
            write_length(out, head, length);
        }
    };
    length(out, head.content_length.is_some());
    write_lines(out, port, head, answer);
    write_standing(out, port, head);
    if !tells {
        out.extend_from_slice(connection);
    }
    if !head.has_content_type && (answer.typed || answer.length == Some(0)) {
        write_default_type(out, port);
    }
    length(out, head.content_length.is_none());
}

/// Writes an interim answer.
pub(crate) fn write_interim(out: &mut Vec<u8>, status: u16, lines: &[u8]) {
    response::write_status_line(out, Version::Http11, status, None);
    out.extend_from_slice(lines);
    out.extend_from_slice(b"\r\n");
}

/// Writes the fields that do not depend on the protocol's version.
#[inline]
pub(crate) fn write_fields(out: &mut Vec<u8>, port: &Port, head: &ResponseHead, answer: Answer) {
    if port.config.own_first {
        return write_own_first(out, port, head, answer, b"");
    }
    write_standing(out, port, head);
    write_own(out, port, head, answer);
}

/// Writes the fields of this very answer.
#[inline]
fn write_own(out: &mut Vec<u8>, port: &Port, head: &ResponseHead, answer: Answer) {
    write_lines(out, port, head, answer);
    if answer.typed && !head.has_content_type {
        write_default_type(out, port);
    }
    if let Some(length) = answer.length {
        write_length(out, head, length);
    }
}

/// The length as the program has written it, where it is that.
#[inline]
fn write_length(out: &mut Vec<u8>, head: &ResponseHead, length: u64) {
    let digits = if head.content_length == Some(length) { head.length_digits } else { 0 };
    response::write_content_length(out, length, digits);
}

fn write_default_type(out: &mut Vec<u8>, port: &Port) {
    out.extend_from_slice(if port.config.default_charset { DEFAULT_TYPE } else { BARE_TYPE });
}

/// Writes the fields that the program, its files and its settings name.
#[inline]
fn write_lines(out: &mut Vec<u8>, port: &Port, head: &ResponseHead, answer: Answer) {
    if answer.coded.varies {
        answer.coded.write(out, &head.lines);
    } else {
        out.extend_from_slice(&head.lines);
    }
    if !port.config.response_headers.is_empty() {
        write_configured(out, port, &head.lines);
    }
}

/// A head without the fields that are removed, and with those that its exchange adds.
#[cold]
pub(crate) fn adorned(head: &ResponseHead, config: &Config, added: &[u8]) -> ResponseHead {
    let begins =
        |line: &[u8], name: &[u8]| line.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name));
    let mut lines = Vec::with_capacity(head.lines.len() + added.len());
    for line in head.lines.split_inclusive(|byte| *byte == b'\n') {
        if !config.removed_headers.iter().any(|name| begins(line, name)) {
            lines.extend_from_slice(line);
        }
    }
    let own = lines.len();
    for line in added.split_inclusive(|byte| *byte == b'\n') {
        let name = &line[..line.iter().position(|byte| *byte == b':').map_or(0, |colon| colon + 1)];
        let mut owned = lines[..own].split(|byte| *byte == b'\n');
        if begins(line, b"vary:") || !owned.any(|line| begins(line, name)) {
            lines.extend_from_slice(line);
        }
    }
    ResponseHead { lines, ..head.clone() }
}

/// Fields that all answers of the port have, where `lines` have none of that name.
#[cold]
fn write_configured(out: &mut Vec<u8>, port: &Port, lines: &[u8]) {
    for (name, line) in &port.config.response_headers {
        let mut lines = lines.split(|byte| *byte == b'\n');
        let is_set = lines.any(|line| line.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name)));
        if !is_set {
            out.extend_from_slice(line);
        }
    }
}

/// `Server` and `Date`, formatted once a second for all connections of the port.
#[inline]
fn write_standing(out: &mut Vec<u8>, port: &Port, head: &ResponseHead) {
    let mut standing = port.standing.borrow_mut();
    let seconds = port.worker.clock.seconds();
    if standing.seconds != seconds || standing.lines.is_empty() {
        standing.seconds = seconds;
        standing.lines.clear();
        if !port.config.server_header.is_empty() {
            response::write_field(&mut standing.lines, b"Server", port.config.server_header.as_bytes());
        }
        standing.date_at = standing.lines.len();
        let date = apus_proto::date::imf_fixdate(seconds);
        response::write_field(&mut standing.lines, b"Date", &date);
        standing.hsts_at = standing.lines.len();
        if port.config.tls.is_some() && !port.config.hsts.is_empty() {
            response::write_field(&mut standing.lines, HSTS, port.config.hsts.as_bytes());
        }
    }
    let (rest, hsts) = standing.lines.split_at(standing.hsts_at);
    let (server, date) = rest.split_at(standing.date_at);
    match (head.has_server, head.has_date) {
        (false, false) => out.extend_from_slice(rest),
        (false, true) => out.extend_from_slice(server),
        (true, false) => out.extend_from_slice(date),
        (true, true) => {}
    }
    if !hsts.is_empty() && !has_hsts(&head.lines) {
        out.extend_from_slice(hsts);
    }
}

/// Whether the program has one of its own: a client follows the first.
fn has_hsts(lines: &[u8]) -> bool {
    let mut lines = lines.split(|byte| *byte == b'\n');
    lines.any(|line| line.get(..HSTS.len()).is_some_and(|name| name.eq_ignore_ascii_case(HSTS)))
}

/// Writes the whole answer that sends a client elsewhere: the method and the content stay the same (RFC 9110 section
/// 15.4.9). The connection ends with it.
pub(crate) fn write_redirect(out: &mut Vec<u8>, port: &Port, to: &[u8], head_only: bool) {
    let mut head = ResponseHead::new(PERMANENT_REDIRECT);
    response::write_field(&mut head.lines, b"Location", to);
    write_text(out, port, head, b"308 Permanent Redirect\n", head_only);
}

fn write_text(out: &mut Vec<u8>, port: &Port, mut head: ResponseHead, text: &[u8], head_only: bool) {
    head.lines.extend_from_slice(b"Content-Type: text/plain; charset=UTF-8\r\n");
    head.has_content_type = true;
    let length = text.len() as u64;
    let answer = Answer { body: BodyOut::Length(length), length: Some(length), typed: true, coded: Coded::default() };
    write_head(out, port, &head, answer, true, false);
    if !head_only {
        out.extend_from_slice(text);
    }
}

/// Writes the fields of an answer without content to a request on a stream that the program does not see; `to`: where
/// its client is sent.
pub(crate) fn write_refusal(out: &mut Vec<u8>, port: &Port, status: u16, to: Option<&[u8]>) {
    let answer = Answer { body: BodyOut::Length(0), length: Some(0), typed: false, coded: Coded::default() };
    let mut head = ResponseHead::new(status);
    if let Some(to) = to {
        response::write_field(&mut head.lines, b"Location", to);
    }
    write_fields(out, port, &head, answer);
}

/// Writes the whole answer to a request that was refused. The connection ends with it.
pub(crate) fn write_error(out: &mut Vec<u8>, port: &Port, status: u16, why: &str, head_only: bool) {
    if !port.config.explains {
        let answer = Answer { body: BodyOut::Length(0), length: Some(0), typed: false, coded: Coded::default() };
        write_head(out, port, &ResponseHead::new(status), answer, true, false);
        return;
    }
    let body = format!("{status} {}: {why}\n", response::reason(status));
    write_text(out, port, ResponseHead::new(status), body.as_bytes(), head_only);
}
