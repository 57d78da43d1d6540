//! A connection of HTTP/2 with a peer that sends anything, and handlers that do anything: no panic, no more than the
//! limits, no more data than the peer allows, nothing on a stream after its end.
#![no_main]

use std::collections::{HashMap, HashSet};

use apus_net::http2::{Event, Limits, Read, Session};
use apus_proto::http1::RequestHead;
use apus_proto::http2::frame::{HEADER_LEN, flag, kind};
use apus_proto::http2::{ErrorCode, Frame, FrameHeader, PREFACE, write};
use bytes::Bytes;
use libfuzzer_sys::fuzz_target;

/// `:method: POST`, `:scheme: http`, `:path: /`, `:authority: a`.
const BLOCK: &[u8] = &[0x83, 0x86, 0x84, 0x01, 0x01, b'a'];

struct Run {
    session: Session,
    limits: Limits,
    input: Vec<u8>,
    handled: Vec<u32>,
    /// What was sent of each stream, and what the peer's frames allow of the connection.
    sent: HashMap<u32, u64>,
    ended: HashSet<u32>,
    allowed: u64,
    now: u64,
}

fuzz_target!(|input: &[u8]| {
    let limits = Limits {
        max_streams: 4,
        max_running: 6,
        stream_window: 65_535,
        connection_window: 70_000,
        max_output: 20_000,
        max_total_output: 40_000,
        max_control: 500,
        ..Limits::default()
    };
    let mut run = Run {
        session: Session::new(limits, 0),
        limits,
        input: PREFACE.to_vec(),
        handled: Vec::new(),
        sent: HashMap::new(),
        ended: HashSet::new(),
        allowed: 65_535,
        now: 0,
    };
    write::settings(&[], &mut run.input);
    let mut rest = input;
    while let Some((&step, tail)) = rest.split_first() {
        rest = run.step(step, tail);
        run.check();
    }
});

fn word<'a>(rest: &mut &'a [u8], count: usize) -> &'a [u8] {
    let (taken, left) = rest.split_at(count.min(rest.len()));
    *rest = left;
    taken
}

impl Run {
    fn step<'a>(&mut self, step: u8, mut rest: &'a [u8]) -> &'a [u8] {
        let choice = word(&mut rest, 1).first().copied().unwrap_or(0);
        let stream = u32::from(choice);
        let one = self.handled.get(usize::from(choice) % self.handled.len().max(1)).copied().unwrap_or(stream);
        match step % 16 {
            // The peer: raw bytes, or frames that are right as far as they go.
            0 => self.input.extend_from_slice(word(&mut rest, stream as usize)),
            1 => {
                let flags = flag::END_HEADERS | step >> 4 & 1;
                self.frame(kind::HEADERS, flags, stream, BLOCK);
            }
            2 => self.frame(kind::DATA, step >> 4 & 1, stream, &vec![0; usize::from(choice) * 64]),
            3 => {
                let payload = word(&mut rest, usize::from(step >> 4));
                self.frame(choice % 18, step & 0x2d, u32::from(step >> 6), payload);
            }
            4 => self.frame(kind::WINDOW_UPDATE, 0, u32::from(step >> 4), &[0, 0, choice, choice]),
            5 => self.frame(kind::RST_STREAM, 0, stream, &[0; 4]),
            6 => self.frame(kind::HEADERS, step >> 4, stream, word(&mut rest, 6)),
            7 => self.frame(kind::CONTINUATION, step >> 4, stream, word(&mut rest, 6)),
            // The handlers.
            8 => drop(self.session.head(one, 200, b"A: b\r\n", step & 0x80 != 0)),
            9 => drop(self.session.data(one, Bytes::from(vec![1; usize::from(choice) * 100]), step & 0x80 != 0)),
            10 => drop(self.session.trailers(one, b"Sum: 1\r\n")),
            11 => self.session.consumed(one, usize::from(choice) * 200),
            12 => {
                if let Some(at) = self.handled.iter().position(|stream| *stream == one) {
                    self.handled.swap_remove(at);
                    self.session.finish(one);
                }
            }
            13 => match choice % 4 {
                0 => self.session.drain(self.now),
                1 => self.session.reset(one, ErrorCode::CANCEL),
                2 => self.session.discard(one),
                _ => drop(self.session.informational(one, 103, b"Link: a\r\n")),
            },
            14 => {
                self.now += u64::from(choice) * 50;
                let _ = self.session.check(self.now, |_| ());
            }
            _ => self.fill(usize::from(choice) * 256),
        }
        self.read();
        rest
    }

    fn frame(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
        self.input.extend_from_slice(&FrameHeader { len: payload.len(), kind, flags, stream }.to_bytes());
        self.input.extend_from_slice(payload);
    }

    fn read(&mut self) {
        let (mut bytes, mut head) = (Vec::new(), RequestHead::default());
        let mut input = std::mem::take(&mut self.input);
        let mut at = 0;
        while self.session.wants_input() {
            let Ok(Read { used, event }) = self.session.read(&input[at..], self.now, &mut bytes, &mut head) else {
                break;
            };
            self.allowed += granted(&input[at..at + used]);
            at += used;
            match event {
                None => break,
                Some(Event::Request { stream, .. }) => {
                    assert!(bytes.ends_with(b"\r\n\r\n") && !self.handled.contains(&stream));
                    self.handled.push(stream);
                }
                Some(ref event @ (Event::Data { stream, .. } | Event::Trailers { stream } | Event::Reset { stream, .. })) => {
                    assert!(self.handled.contains(&stream), "{event:?}");
                }
            }
        }
        input.drain(..at);
        // What cannot become a frame is not kept by whoever reads.
        if input.len() <= 40_000 {
            self.input = input;
        }
    }

    fn fill(&mut self, room: usize) {
        let mut output = Vec::new();
        self.session.fill(&mut output, room);
        let mut rest = &output[..];
        while let Some(header) = FrameHeader::parse(rest) {
            let payload = &rest[HEADER_LEN..HEADER_LEN + header.len];
            let frame = Frame::parse(header, payload).expect("a frame that is right");
            if matches!(header.kind, kind::DATA | kind::HEADERS) {
                assert!(!self.ended.contains(&header.stream), "{frame:?} after the end");
            }
            match frame {
                Frame::Data { stream, data, end_stream } => {
                    *self.sent.entry(stream).or_default() += data.len() as u64;
                    if end_stream {
                        self.ended.insert(stream);
                    }
                }
                Frame::Headers { stream, end_stream: true, .. } | Frame::Reset { stream, .. } => {
                    self.ended.insert(stream);
                }
                _ => {}
            }
            rest = &rest[HEADER_LEN + header.len..];
        }
        assert!(rest.is_empty());
        assert!(self.sent.values().sum::<u64>() <= self.allowed);
        for stream in self.session.writable() {
            assert!(self.handled.contains(&stream));
        }
    }

    fn check(&self) {
        assert!(self.session.running_streams() <= self.limits.max_running as usize);
        assert!(self.session.open_streams() <= self.limits.max_streams);
        assert!(self.handled.len() <= self.session.running_streams());
        assert!(self.session.footprint() < 256 * 1024, "{}", self.session.footprint());
    }
}

/// What the frames that were used allow to be sent on the connection.
fn granted(used: &[u8]) -> u64 {
    let mut rest = used.strip_prefix(PREFACE).unwrap_or(used);
    let mut granted = 0;
    while let Some(header) = FrameHeader::parse(rest) {
        let Some(payload) = rest.get(HEADER_LEN..HEADER_LEN + header.len) else { break };
        if let Ok(Frame::WindowUpdate { stream: 0, increment }) = Frame::parse(header, payload) {
            granted += u64::from(increment);
        }
        rest = &rest[HEADER_LEN + header.len..];
    }
    granted
}
