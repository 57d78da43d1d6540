//! A peer that writes its frames by hand, and what each of them leads to.

use apus_proto::http1::RequestHead;
use apus_proto::http2::frame::{HEADER_LEN, flag, kind};
use apus_proto::http2::hpack::{Encoder, Indexing};
use apus_proto::http2::{ErrorCode, Frame, FrameHeader, MAX_WINDOW, PREFACE, Setting, write};
use bytes::Bytes;

use super::{Closed, Event, Limits, Read, Session};
use crate::answer::SendError;

/// What has happened, in words.
pub(super) type Seen = Vec<String>;

pub(super) struct Peer {
    pub(super) session: Session,
    encoder: Encoder,
    pub(super) now: u64,
    pub(super) head: RequestHead,
    pub(super) bytes: Vec<u8>,
}

fn word(event: &Event<'_>) -> String {
    match event {
        Event::Request { stream, end_stream } => format!("request {stream} {end_stream}"),
        Event::Data { stream, data, end_stream } => format!("data {stream} {} {end_stream}", data.len()),
        Event::Trailers { stream } => format!("trailers {stream}"),
        Event::Reset { stream, code } => format!("reset {stream} {}", code.name()),
    }
}

impl Peer {
    pub(super) fn silent(limits: Limits) -> Self {
        let session = Session::new(limits, 0);
        let encoder = Encoder::new(4096);
        Self { session, encoder, now: 0, head: RequestHead::default(), bytes: Vec::new() }
    }

    /// A peer that has greeted, and whose greeting was answered.
    pub(super) fn new(limits: Limits) -> Self {
        let mut peer = Self::silent(limits);
        let mut hello = PREFACE.to_vec();
        write::settings(&[], &mut hello);
        write::settings_ack(&mut hello);
        assert_eq!(peer.feed(&hello), Ok(vec![]));
        peer.output();
        peer
    }

    /// Takes all of the input, as long as output has room.
    pub(super) fn feed(&mut self, mut input: &[u8]) -> Result<Seen, Closed> {
        let mut seen = Vec::new();
        loop {
            let Read { used, event } = self.session.read(input, self.now, &mut self.bytes, &mut self.head)?;
            input = &input[used..];
            match event {
                Some(event) => seen.push(word(&event)),
                None => break,
            }
        }
        Ok(seen)
    }

    pub(super) fn block(&mut self, fields: &[(&str, &str)]) -> Vec<u8> {
        let mut block = Vec::new();
        for (name, value) in fields {
            self.encoder.field(name.as_bytes(), value.as_bytes(), Indexing::Auto, &mut block);
        }
        block
    }

    pub(super) fn request(&mut self, stream: u32, end_stream: bool) -> Vec<u8> {
        self.request_with(stream, end_stream, &[])
    }

    pub(super) fn request_with(&mut self, stream: u32, end_stream: bool, more: &[(&str, &str)]) -> Vec<u8> {
        let fields = [(":method", "POST"), (":scheme", "http"), (":authority", "a"), (":path", "/")];
        let block = self.block(&[&fields[..], more].concat());
        headers(stream, &block, end_stream)
    }

    /// Bytes that leave.
    pub(super) fn output(&mut self) -> Vec<u8> {
        let mut output = Vec::new();
        self.session.fill(&mut output, usize::MAX);
        output
    }

    /// The frames that leave, in words.
    pub(super) fn sent(&mut self) -> Seen {
        let output = self.output();
        words(&output)
    }
}

pub(super) fn headers(stream: u32, block: &[u8], end_stream: bool) -> Vec<u8> {
    let mut out = Vec::new();
    let at = write::begin_headers(&mut out);
    out.extend_from_slice(block);
    write::end_headers(at, stream, end_stream, 16_384, &mut out);
    out
}

pub(super) fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut out = FrameHeader { len: payload.len(), kind, flags, stream }.to_bytes().to_vec();
    out.extend_from_slice(payload);
    out
}

pub(super) fn words(mut bytes: &[u8]) -> Seen {
    let mut seen = Vec::new();
    while let Some(header) = FrameHeader::parse(bytes) {
        let end = HEADER_LEN + header.len;
        seen.push(match Frame::parse(header, &bytes[HEADER_LEN..end]) {
            Ok(Frame::Data { stream, data, end_stream }) => format!("data {stream} {} {end_stream}", data.len()),
            Ok(Frame::Headers { stream, end_stream, .. }) => format!("headers {stream} {end_stream}"),
            Ok(Frame::Reset { stream, code }) => format!("reset {stream} {}", code.name()),
            Ok(Frame::GoAway { last_stream, code, .. }) => format!("goaway {last_stream} {}", code.name()),
            Ok(Frame::WindowUpdate { stream, increment }) => format!("window {stream} {increment}"),
            Ok(Frame::Ping { ack, .. }) => format!("ping {ack}"),
            Ok(Frame::SettingsAck) => "ack".to_owned(),
            other => format!("{other:?}"),
        });
        bytes = &bytes[end..];
    }
    seen
}

pub(super) fn data(stream: u32, len: usize, end: bool) -> Vec<u8> {
    let mut out = Vec::new();
    write::data(stream, &vec![b'x'; len], end, &mut out);
    out
}

#[test]
fn a_request_is_answered() {
    let mut peer = Peer::new(Limits::default());
    let request = peer.request(1, true);
    assert_eq!(peer.feed(&request), Ok(vec!["request 1 true".to_owned()]));
    assert_eq!(peer.bytes, b"POST / HTTP/2\r\nhost: a\r\n\r\n");
    assert_eq!(peer.session.head(1, 200, b"A: b\r\n", false), Ok(()));
    assert_eq!(peer.session.head(1, 200, b"", false), Err(SendError::HeadSent));
    assert_eq!(peer.session.data(1, Bytes::from_static(b"hello"), true), Ok(()));
    assert_eq!(peer.session.data(1, Bytes::new(), true), Err(SendError::Ended));
    assert_eq!(peer.sent(), ["headers 1 false", "data 1 5 true"]);
    assert_eq!((peer.session.open_streams(), peer.session.running_streams()), (0, 1));
    peer.session.finish(1);
    assert_eq!(peer.session.running_streams(), 0);
    assert_eq!(peer.sent(), Seen::new());
    assert!(peer.session.is_quiet());
}

/// However the bytes are cut, the same happens.
#[test]
fn bytes_may_come_one_by_one() {
    let mut peer = Peer::silent(Limits::default());
    let mut input = PREFACE.to_vec();
    write::settings(&[Setting::InitialWindowSize(9)], &mut input);
    input.extend_from_slice(&peer.request(1, false));
    input.extend_from_slice(&data(1, 3, true));
    let (mut seen, mut rest) = (Vec::new(), Vec::new());
    for byte in input {
        rest.push(byte);
        let read = peer.session.read(&rest, 0, &mut peer.bytes, &mut peer.head);
        let Ok(Read { used, event }) = read else { panic!("{read:?}") };
        seen.extend(event.as_ref().map(word));
        rest.drain(..used);
    }
    assert_eq!(seen, ["request 1 false", "data 1 3 true"]);
}

#[test]
fn the_preface_is_checked() {
    for wrong in [&b"GET / HTTP/1.1\r\n"[..], b"PRI * HTTP/2.0\r\n\r\nXX"] {
        assert_eq!(Peer::silent(Limits::default()).feed(wrong).map_err(|c| c.code), Err(ErrorCode::PROTOCOL_ERROR));
    }
    let input = [&PREFACE[..], &frame(kind::PING, 0, 0, &[0; 8])].concat();
    assert_eq!(Peer::silent(Limits::default()).feed(&input).map_err(|c| c.code), Err(ErrorCode::PROTOCOL_ERROR));
}

#[test]
fn bodies_are_held_back_by_windows() {
    let limits = Limits { stream_window: 65_535, connection_window: 100_000, ..Limits::default() };
    let mut peer = Peer::new(limits);
    let request = peer.request(1, false);
    assert!(peer.feed(&request).is_ok());
    for _ in 0..3 {
        assert_eq!(peer.feed(&data(1, 16_384, false)), Ok(vec!["data 1 16384 false".to_owned()]));
    }
    assert_eq!(peer.sent(), Seen::new());
    peer.session.consumed(1, 30_000);
    assert_eq!(peer.sent(), Seen::new());
    peer.session.consumed(1, 2768);
    assert_eq!(peer.sent(), ["window 1 32768"]);
    // No more than was shown can be taken.
    peer.session.consumed(1, usize::MAX);
    assert_eq!(peer.sent(), Seen::new());
    for _ in 0..2 {
        assert!(peer.feed(&data(1, 16_384, false)).is_ok());
    }
    // 65,535 and 32,768 were allowed.
    assert_eq!(peer.feed(&data(1, 16_383, false)), Ok(vec!["data 1 16383 false".to_owned()]));
    assert_eq!(peer.feed(&data(1, 1, false)), Ok(vec!["reset 1 FLOW_CONTROL_ERROR".to_owned()]));
}

#[test]
fn a_stream_beyond_its_window_is_broken_off() {
    let mut peer = Peer::new(Limits { stream_window: 65_535, ..Limits::default() });
    let request = peer.request(1, false);
    assert!(peer.feed(&request).is_ok());
    for _ in 0..3 {
        assert!(peer.feed(&data(1, 16_384, false)).is_ok());
    }
    assert_eq!(peer.feed(&data(1, 16_384, false)), Ok(vec!["reset 1 FLOW_CONTROL_ERROR".to_owned()]));
    assert_eq!(peer.sent(), ["reset 1 FLOW_CONTROL_ERROR"]);
    assert_eq!(peer.session.data(1, Bytes::from_static(b"x"), false), Err(SendError::Closed));
    // What was on its way is thrown away, and counts for the connection.
    for _ in 0..200 {
        assert_eq!(peer.feed(&data(1, 16_384, false)), Ok(vec![]));
        peer.output();
    }
}

#[test]
fn answers_are_held_back_by_windows() {
    let mut peer = Peer::new(Limits::default());
    let input = [peer.request(1, true), peer.request(3, true)].concat();
    assert!(peer.feed(&input).is_ok());
    for stream in [1, 3] {
        assert_eq!(peer.session.head(stream, 200, b"", false), Ok(()));
        assert_eq!(peer.session.data(stream, vec![b'y'; 40_000].into(), true), Ok(()));
    }
    let sent: usize = peer.output().len();
    assert_eq!(sent, 65_535 + 4 * HEADER_LEN + 2 * (HEADER_LEN + 1));
    assert_eq!(peer.session.queued(1) + peer.session.queued(3), 80_000 - 65_535);
    let mut more = Vec::new();
    write::window_update(0, 100_000, &mut more);
    assert!(peer.feed(&more).is_ok());
    let sent = peer.sent();
    assert!(sent.iter().any(|word| word.ends_with("true")), "{sent:?}");
    assert_eq!(peer.session.open_streams(), 0);
}

#[test]
fn a_changed_setting_moves_all_windows() {
    let mut peer = Peer::new(Limits::default());
    let settings = |size| {
        let mut out = Vec::new();
        write::settings(&[Setting::InitialWindowSize(size)], &mut out);
        out
    };
    let input = [settings(10), peer.request(1, true)].concat();
    assert!(peer.feed(&input).is_ok());
    assert_eq!(peer.session.head(1, 200, b"", false), Ok(()));
    assert_eq!(peer.session.data(1, vec![b'y'; 20].into(), true), Ok(()));
    assert_eq!(peer.sent(), ["ack", "headers 1 false", "data 1 10 false"]);
    assert!(peer.feed(&settings(0)).is_ok());
    assert!(peer.feed(&settings(14)).is_ok());
    assert_eq!(peer.sent(), ["ack", "ack", "data 1 4 false"]);
    assert!(peer.feed(&settings(MAX_WINDOW)).is_ok());
    assert_eq!(peer.sent(), ["ack", "data 1 6 true"]);
}

#[test]
fn trailers_end_both_directions() {
    let mut peer = Peer::new(Limits::default());
    let trailers = {
        let request = peer.request(1, false);
        let block = peer.block(&[("x-sum", "1")]);
        [request, data(1, 5, false), headers(1, &block, true)].concat()
    };
    let seen = peer.feed(&trailers);
    assert_eq!(seen, Ok(vec!["request 1 false".into(), "data 1 5 false".into(), "trailers 1".into()]));
    assert_eq!(peer.head.header(&peer.bytes, b"x-sum"), Some(&b"1"[..]));
    assert_eq!(peer.session.informational(1, 103, b"Link: </a>\r\n"), Ok(()));
    assert_eq!(peer.session.head(1, 200, b"", false), Ok(()));
    assert_eq!(peer.session.informational(1, 103, b""), Err(SendError::HeadSent));
    assert_eq!(peer.session.data(1, Bytes::from_static(b"abc"), false), Ok(()));
    assert_eq!(peer.session.trailers(1, b"X-End: 1\r\n"), Ok(()));
    assert_eq!(peer.sent(), ["headers 1 false", "headers 1 false", "data 1 3 false", "headers 1 true"]);
    assert_eq!(peer.session.open_streams(), 0);
}

#[test]
fn content_length_is_what_comes() {
    type Case = (&'static str, &'static [(usize, bool)], bool);
    let cases: [Case; 6] = [
        ("5", &[(5, true)], true),
        ("5", &[(2, false), (3, false), (0, true)], true),
        ("5", &[(4, true)], false),
        ("5", &[(6, false)], false),
        ("0", &[(1, true)], false),
        ("0", &[(0, true)], true),
    ];
    for (length, pieces, good) in cases {
        let mut peer = Peer::new(Limits::default());
        let request = peer.request_with(1, false, &[("content-length", length)]);
        assert!(peer.feed(&request).is_ok());
        for (len, end) in pieces {
            assert!(peer.feed(&data(1, *len, *end)).is_ok());
        }
        let sent = peer.sent();
        assert_eq!(sent, if good { Seen::new() } else { vec!["reset 1 PROTOCOL_ERROR".into()] }, "{length} {pieces:?}");
    }
}

#[test]
fn a_handler_that_says_nothing_is_answered_for() {
    let mut peer = Peer::new(Limits::default());
    let input = [peer.request(1, true), peer.request(3, false)].concat();
    assert!(peer.feed(&input).is_ok());
    peer.session.finish(1);
    assert_eq!(peer.session.head(3, 404, b"", true), Ok(()));
    assert_eq!(peer.session.open_streams(), 1);
    peer.session.finish(3);
    assert_eq!(peer.sent(), ["reset 1 INTERNAL_ERROR", "headers 3 true"]);
    // The answer is complete, and nobody wants the body: what comes is thrown away for a while.
    assert!(peer.feed(&data(3, 10, false)).is_ok());
    assert_eq!(peer.session.check(1, |_| ()), Ok(()));
    assert_eq!(peer.sent(), Seen::new());
    assert_eq!(peer.session.check(2, |_| ()), Ok(()));
    assert_eq!(peer.sent(), ["reset 3 NO_ERROR"]);
    assert_eq!(peer.session.running_streams(), 0);
}

#[test]
fn writers_wait_for_room() {
    let mut peer = Peer::new(Limits { max_output: 9000, ..Limits::default() });
    let request = peer.request(1, true);
    assert!(peer.feed(&request).is_ok());
    assert_eq!(peer.session.head(1, 200, b"", false), Ok(()));
    assert_eq!(peer.session.data(1, vec![0; 9000].into(), false), Ok(()));
    assert_eq!(peer.session.data(1, vec![0; 1].into(), false), Err(SendError::Full));
    assert_eq!(peer.session.writable(), Vec::<u32>::new());
    peer.output();
    assert_eq!(peer.session.writable(), [1]);
    assert_eq!(peer.session.writable(), Vec::<u32>::new());
    assert_eq!(peer.session.data(1, vec![0; 1].into(), true), Ok(()));
}

#[test]
fn nobody_is_told_of_room_for_a_handler_that_has_ended() {
    let mut peer = Peer::new(Limits { max_output: 30_000, ..Limits::default() });
    let request = peer.request(1, true);
    assert!(peer.feed(&request).is_ok());
    assert_eq!(peer.session.head(1, 200, b"", false), Ok(()));
    assert_eq!(peer.session.data(1, vec![0; 30_000].into(), false), Ok(()));
    assert_eq!(peer.session.data(1, vec![0; 1].into(), false), Err(SendError::Full));
    assert_eq!(peer.session.data(1, Bytes::new(), true), Ok(()));
    peer.session.finish(1);
    // Some of it has gone, and a part is still there.
    peer.session.fill(&mut Vec::new(), 1000);
    assert!((1..=15_000).contains(&peer.session.queued(1)));
    assert_eq!(peer.session.writable(), Vec::<u32>::new());
}

#[test]
fn urgent_answers_go_first() {
    let mut peer = Peer::new(Limits::default());
    let mut input = Vec::new();
    for (stream, priority) in [(1, "u=5"), (3, "u=1"), (5, "u=3, i"), (7, "u=3, i")] {
        input.extend_from_slice(&peer.request_with(stream, true, &[("priority", priority)]));
    }
    // One that is raised later, and one before it begins.
    input.extend_from_slice(&frame(kind::PRIORITY_UPDATE, 0, 0, &[&[0, 0, 0, 9][..], b"u=0"].concat()));
    input.extend_from_slice(&peer.request_with(9, true, &[("priority", "u=7")]));
    input.extend_from_slice(&frame(kind::PRIORITY_UPDATE, 0, 0, &[&[0, 0, 0, 1][..], b"u=2"].concat()));
    assert!(peer.feed(&input).is_ok());
    for stream in [1, 3, 5, 7, 9] {
        assert_eq!(peer.session.head(stream, 200, b"", false), Ok(()));
        assert_eq!(peer.session.data(stream, vec![0; 12_000].into(), false), Ok(()));
    }
    let order: Vec<String> = peer.sent().into_iter().filter(|word| word.starts_with("data")).collect();
    let expected = [9, 3, 1, 5, 7].map(|stream| format!("data {stream} 12000 false"));
    assert_eq!(order, expected);
}

#[test]
fn draining_loses_no_stream() {
    let mut peer = Peer::new(Limits::default());
    let first = peer.request(1, true);
    assert!(peer.feed(&first).is_ok());
    peer.session.drain(0);
    assert_eq!(peer.sent(), ["goaway 2147483647 NO_ERROR", "ping false"]);
    // The peer began this one before it knew.
    let second = peer.request(3, true);
    assert_eq!(peer.feed(&second), Ok(vec!["request 3 true".to_owned()]));
    assert!(peer.feed(&frame(kind::PING, flag::ACK, 0, b"draining")).is_ok());
    assert_eq!(peer.sent(), ["goaway 3 NO_ERROR"]);
    let late = peer.request(5, true);
    assert_eq!(peer.feed(&late), Ok(vec![]));
    assert_eq!(peer.sent(), ["reset 5 REFUSED_STREAM"]);
    assert!(!peer.session.is_over());
    for stream in [1, 3] {
        assert_eq!(peer.session.head(stream, 200, b"", true), Ok(()));
        peer.session.finish(stream);
    }
    assert_eq!(peer.sent(), ["headers 1 true", "headers 3 true"]);
    assert!(peer.session.is_over());
}

#[test]
fn a_peer_that_answers_no_ping_is_drained_after_a_while() {
    let mut peer = Peer::new(Limits::default());
    peer.session.drain(0);
    peer.output();
    assert_eq!(peer.session.check(1000, |_| ()), Ok(()));
    assert_eq!(peer.sent(), ["goaway 0 NO_ERROR"]);
    assert!(peer.session.is_over());
}

#[test]
fn an_upgraded_connection_has_a_first_stream() {
    let Ok(session) = Session::upgraded(Limits::default(), &[0, 4, 0, 0, 0, 7], 0) else { panic!("refused") };
    let mut peer = Peer { session, ..Peer::silent(Limits::default()) };
    assert_eq!(peer.session.head(1, 200, b"", false), Ok(()));
    assert_eq!(peer.session.data(1, vec![0; 9].into(), true), Ok(()));
    let mut hello = PREFACE.to_vec();
    write::settings(&[Setting::InitialWindowSize(7)], &mut hello);
    hello.extend_from_slice(&peer.request(3, true));
    assert_eq!(peer.feed(&hello), Ok(vec!["request 3 true".to_owned()]));
    assert_eq!(peer.sent()[2..], ["headers 1 false", "ack", "data 1 7 false"]);
    assert!(Session::upgraded(Limits::default(), &[0; 5], 0).is_err());
}

/// What a frame leads to in each state of a stream (RFC 9113 section 5.1).
#[test]
fn frames_in_the_wrong_state_are_refused() {
    type Case = (&'static str, fn(&mut Peer) -> Vec<u8>, Result<&'static str, ErrorCode>);
    fn ended(peer: &mut Peer) {
        let request = peer.request(1, true);
        assert!(peer.feed(&request).is_ok());
    }
    fn over(peer: &mut Peer) {
        ended(peer);
        assert_eq!(peer.session.head(1, 200, b"", true), Ok(()));
        peer.session.finish(1);
        peer.output();
    }
    let cases: [Case; 16] = [
        ("DATA, idle", |_| data(1, 1, true), Err(ErrorCode::PROTOCOL_ERROR)),
        ("RST_STREAM, idle", |_| frame(kind::RST_STREAM, 0, 1, &[0; 4]), Err(ErrorCode::PROTOCOL_ERROR)),
        ("WINDOW_UPDATE, idle", |_| frame(kind::WINDOW_UPDATE, 0, 1, &[0, 0, 0, 1]), Err(ErrorCode::PROTOCOL_ERROR)),
        ("CONTINUATION alone", |_| frame(kind::CONTINUATION, 4, 1, &[]), Err(ErrorCode::PROTOCOL_ERROR)),
        ("an even stream", |peer| peer.request(2, true), Err(ErrorCode::PROTOCOL_ERROR)),
        ("too long", |_| data(1, 16_385, true), Err(ErrorCode::FRAME_SIZE_ERROR)),
        ("a broken block", |_| headers(1, &[0xff], true), Err(ErrorCode::COMPRESSION_ERROR)),
        (
            "DATA, ended",
            |peer| {
                ended(peer);
                data(1, 1, true)
            },
            Ok("reset 1 STREAM_CLOSED"),
        ),
        (
            "HEADERS, ended",
            |peer| {
                ended(peer);
                peer.request(1, true)
            },
            Ok("reset 1 STREAM_CLOSED"),
        ),
        (
            "DATA, over",
            |peer| {
                over(peer);
                data(1, 1, true)
            },
            Ok("reset 1 STREAM_CLOSED"),
        ),
        (
            "HEADERS, over",
            |peer| {
                over(peer);
                peer.request(1, true)
            },
            Err(ErrorCode::STREAM_CLOSED),
        ),
        (
            "WINDOW_UPDATE, over",
            |peer| {
                over(peer);
                frame(kind::WINDOW_UPDATE, 0, 1, &[0, 0, 0, 1])
            },
            Ok(""),
        ),
        (
            "RST_STREAM, over",
            |peer| {
                over(peer);
                frame(kind::RST_STREAM, 0, 1, &[0; 4])
            },
            Ok(""),
        ),
        (
            "a lower stream",
            |peer| [peer.request(5, true), peer.request(3, true)].concat(),
            Err(ErrorCode::PROTOCOL_ERROR),
        ),
        (
            "a frame inside a block",
            |_| [frame(kind::HEADERS, 0, 1, &[0x82]), frame(kind::PING, 0, 0, &[0; 8])].concat(),
            Err(ErrorCode::PROTOCOL_ERROR),
        ),
        (
            "a connection window too large",
            |_| frame(kind::WINDOW_UPDATE, 0, 0, &MAX_WINDOW.to_be_bytes()),
            Err(ErrorCode::FLOW_CONTROL_ERROR),
        ),
    ];
    for (what, input, expected) in cases {
        let mut peer = Peer::new(Limits::default());
        let input = input(&mut peer);
        let verdict = peer.feed(&input).map_err(|closed| closed.code);
        match expected {
            Ok(word) => assert_eq!((verdict.is_ok(), peer.sent().join(" ")), (true, word.to_owned()), "{what}"),
            Err(code) => {
                assert_eq!(verdict.err(), Some(code), "{what}");
                assert!(peer.sent().last().is_some_and(|last| last.starts_with("goaway")), "{what}");
                assert!(peer.session.is_over() && !peer.session.wants_input(), "{what}");
            }
        }
    }
}

#[test]
fn broken_requests_end_their_stream_only() {
    let mut peer = Peer::new(Limits::default());
    let long = "x".repeat(9000);
    let bad = peer.request_with(1, true, &[("Bad", "name")]);
    let large = peer.request_with(3, true, &[("a", &long), ("b", &long)]);
    let good = peer.request(5, true);
    assert_eq!(peer.feed(&[bad, large, good].concat()), Ok(vec!["request 5 true".to_owned()]));
    assert_eq!(peer.sent(), ["reset 1 PROTOCOL_ERROR", "headers 3 true"]);
}

#[test]
fn a_malformed_priority_of_a_stream_that_is_over_is_answered() {
    let mut peer = Peer::new(Limits::default());
    let request = peer.request(1, true);
    assert!(peer.feed(&request).is_ok());
    assert_eq!(peer.session.head(1, 200, b"", true), Ok(()));
    peer.session.finish(1);
    peer.output();
    assert_eq!(peer.feed(&frame(kind::PRIORITY, 0, 1, &[0; 4])), Ok(vec![]));
    assert_eq!(peer.sent(), ["reset 1 FRAME_SIZE_ERROR"]);
}
