//! Peers that mean harm: each is stopped, and none makes a connection hold more than a bound.

use apus_proto::http2::frame::{flag, kind};
use apus_proto::http2::{ErrorCode, Setting, write};
use bytes::Bytes;

use super::Limits;
use super::tests::{Peer, Seen, data, frame, headers};

/// What a connection may take while somebody attacks it, bodies that it was asked to hold left out.
const BOUND: usize = 256 * 1024;

/// Sends the same again and again, as a peer that reads, until the connection is closed: how many times.
fn until_closed(peer: &mut Peer, most: usize, mut next: impl FnMut(&mut Peer, u32) -> Vec<u8>) -> (usize, ErrorCode) {
    for turn in 0..most {
        let input = next(peer, turn as u32);
        if let Err(closed) = peer.feed(&input) {
            assert!(peer.session.footprint() < BOUND, "{}", peer.session.footprint());
            return (turn, closed.code);
        }
        peer.output();
        assert!(peer.session.footprint() < BOUND, "{}", peer.session.footprint());
    }
    panic!("not closed after {most} turns");
}

fn stream(turn: u32) -> u32 {
    turn * 2 + 1
}

/// CVE-2023-44487: handlers that run count, though their streams are gone.
#[test]
fn rapid_reset() {
    let limits = Limits::default();
    let mut peer = Peer::new(limits);
    let mut running = 0;
    let (turns, code) = until_closed(&mut peer, 10_000, |peer, turn| {
        running = running.max(peer.session.running_streams());
        let reset = frame(kind::RST_STREAM, 0, stream(turn), &ErrorCode::CANCEL.0.to_be_bytes());
        [peer.request(stream(turn), true), reset].concat()
    });
    assert_eq!(code, ErrorCode::ENHANCE_YOUR_CALM);
    assert!(turns <= limits.reset_budget.0 as usize, "{turns}");
    assert_eq!(running, limits.max_running as usize);
}

/// The same as slowly as the budget allows: for ever, but never more handlers than may run.
#[test]
fn slow_reset() {
    let limits = Limits::default();
    let mut peer = Peer::new(limits);
    for turn in 0..5000 {
        peer.now += 1000 / u64::from(limits.reset_budget.1);
        let reset = frame(kind::RST_STREAM, 0, stream(turn), &[0; 4]);
        let input = [peer.request(stream(turn), true), reset].concat();
        assert!(peer.feed(&input).is_ok());
        peer.output();
        assert!(peer.session.running_streams() <= limits.max_running as usize);
        assert!(peer.session.footprint() < BOUND);
    }
}

/// CVE-2025-8671: the peer makes us break streams off, in each way that there is.
#[test]
fn made_you_reset() {
    type Wrong = fn(&mut Peer, u32) -> Vec<u8>;
    let ways: [(&str, Wrong); 6] = [
        ("WINDOW_UPDATE by 0", |_, stream| frame(kind::WINDOW_UPDATE, 0, stream, &[0; 4])),
        ("window too large", |_, stream| frame(kind::WINDOW_UPDATE, 0, stream, &[0x7f, 0xff, 0xff, 0xff])),
        ("PRIORITY of a wrong size", |_, stream| frame(kind::PRIORITY, 0, stream, &[0; 4])),
        ("PRIORITY on itself", |_, stream| {
            frame(kind::PRIORITY, 0, stream, &[&stream.to_be_bytes()[..], &[0]].concat())
        }),
        ("DATA after the end", |_, stream| data(stream, 1, false)),
        ("HEADERS after the end", |peer, stream| peer.request(stream, true)),
    ];
    for (what, wrong) in ways {
        let limits = Limits::default();
        let mut peer = Peer::new(limits);
        let (turns, code) = until_closed(&mut peer, 10_000, |peer, turn| {
            [peer.request(stream(turn), true), wrong(peer, stream(turn))].concat()
        });
        assert_eq!(code, ErrorCode::ENHANCE_YOUR_CALM, "{what}");
        assert!(turns <= limits.reset_budget.0 as usize, "{what}: {turns}");
        assert!(peer.session.running_streams() <= limits.max_running as usize, "{what}");
    }
}

#[test]
fn more_streams_than_allowed() {
    let limits = Limits { max_streams: 10, ..Limits::default() };
    let mut peer = Peer::new(limits);
    let (turns, code) = until_closed(&mut peer, 10_000, |peer, turn| peer.request(stream(turn), false));
    assert_eq!((turns, code), (10 + limits.reset_budget.0 as usize, ErrorCode::ENHANCE_YOUR_CALM));
    assert_eq!(peer.session.running_streams(), 10);
}

/// Frames that are of use to nobody, from a peer that reads the answers.
#[test]
fn floods_of_control_frames() {
    let settings = {
        let mut out = Vec::new();
        write::settings(&[Setting::InitialWindowSize(1)], &mut out);
        out
    };
    let many_settings = frame(kind::SETTINGS, 0, 0, &[0, 4, 0, 0, 0, 1].repeat(2700));
    let floods: [(&str, Vec<u8>); 11] = [
        ("PING", frame(kind::PING, 0, 0, &[0; 8])),
        ("PING, answers", frame(kind::PING, flag::ACK, 0, &[0; 8])),
        ("SETTINGS", settings),
        ("long SETTINGS", many_settings),
        ("PRIORITY", frame(kind::PRIORITY, 0, 1, &[0; 5])),
        ("PRIORITY_UPDATE", frame(kind::PRIORITY_UPDATE, 0, 0, &[0, 0, 0, 1, b'u', b'=', b'1'])),
        ("empty DATA", data(1, 0, false)),
        ("padded empty DATA", frame(kind::DATA, flag::PADDED, 1, &[3, 0, 0, 0])),
        ("WINDOW_UPDATE", frame(kind::WINDOW_UPDATE, 0, 0, &[0, 0, 0, 1])),
        ("GOAWAY", frame(kind::GOAWAY, 0, 0, &[0; 8])),
        ("an unknown type", frame(0x50, 0, 0, b"")),
    ];
    for (what, flood) in floods {
        let limits = Limits::default();
        let mut peer = Peer::new(limits);
        let request = peer.request(1, false);
        assert!(peer.feed(&request).is_ok());
        let (turns, code) = until_closed(&mut peer, 10_000, |_, _| flood.clone());
        assert_eq!(code, ErrorCode::ENHANCE_YOUR_CALM, "{what}");
        assert!(turns <= limits.control_budget.0 as usize, "{what}: {turns}");
    }
}

/// The same from one that does not: before the budget ends, nothing is read any more.
#[test]
fn answers_that_nobody_reads_are_bounded() {
    let limits = Limits { max_control: 4096, control_budget: (u32::MAX, 0), ..Limits::default() };
    let mut peer = Peer::new(limits);
    let pings = frame(kind::PING, 0, 0, &[0; 8]).repeat(100_000);
    assert_eq!(peer.feed(&pings), Ok(vec![]));
    assert!(!peer.session.wants_input());
    assert!(peer.session.footprint() < BOUND);
    assert!(peer.output().len() < 4096 + 17);
    assert!(peer.session.wants_input());
    // And it is closed when it goes on like that.
    assert_eq!(peer.feed(&pings), Ok(vec![]));
    assert_eq!(peer.session.check(0, |_| ()), Ok(()));
    let closed = peer.session.check(limits.send_timeout, |_| ());
    assert_eq!(closed.map_err(|closed| closed.code), Err(ErrorCode::ENHANCE_YOUR_CALM));
}

#[test]
fn continuation_floods() {
    for piece in [&b""[..], &[0x00, 1, b'a', 0], &[0; 16_000]] {
        let mut peer = Peer::new(Limits::default());
        let (turns, code) = until_closed(&mut peer, 1000, |_, turn| {
            let kind = if turn == 0 { kind::HEADERS } else { kind::CONTINUATION };
            frame(kind, 0, 1, piece)
        });
        assert_eq!(code, ErrorCode::ENHANCE_YOUR_CALM);
        assert!(turns <= Limits::default().max_continuations as usize);
    }
}

/// A block that never ends is under one time-out, however its frames come.
#[test]
fn slow_heads() {
    let mut peer = Peer::new(Limits::default());
    assert!(peer.feed(&frame(kind::HEADERS, 0, 1, &[0x82])).is_ok());
    for now in [3000, 6000, 9000] {
        peer.now = now;
        assert!(peer.feed(&frame(kind::CONTINUATION, 0, 1, &[0x86])).is_ok());
        assert_eq!(peer.session.check(now, |_| ()), Ok(()));
    }
    assert!(peer.session.check(10_000, |_| ()).is_err());
}

/// CVE-2026-49975: an entry of the table named again and again, a cookie in thousands of crumbs, tiny fields.
#[test]
fn bombs() {
    let mut large = vec![0x40, 1, b'a', 0x7f, 0x81, 0x1e];
    large.extend_from_slice(&[b'x'; 3968]);
    let cookies = [vec![0x40, 6], b"cookie".to_vec(), vec![1, b'a']].concat();
    let tiny = vec![0x40, 1, b'a', 0];
    for (first, times) in [(large, 10_000), (cookies, 15_000), (tiny, 15_000)] {
        let mut peer = Peer::new(Limits::default());
        let mut block = peer.block(&[(":method", "GET"), (":scheme", "http"), (":authority", "a"), (":path", "/")]);
        block.extend_from_slice(&first);
        block.resize(block.len() + times, 0xbe);
        assert!(block.len() <= 16_384);
        let input = headers(1, &block, true);
        assert_eq!(peer.feed(&input), Ok(vec![]));
        assert!(peer.bytes.capacity() < 64 * 1024 && peer.head.headers.len() <= 128);
        assert!(peer.session.footprint() < BOUND);
        assert_eq!(peer.sent(), ["headers 1 true"]);
        // The connection is all right.
        let good = peer.request(3, true);
        assert_eq!(peer.feed(&good), Ok(vec!["request 3 true".to_owned()]));
    }
}

/// Windows of nothing: a body that may not be sent is not kept for ever.
#[test]
fn stalled_windows() {
    let limits = Limits { max_output: 10_000, max_total_output: 50_000, ..Limits::default() };
    let mut peer = Peer::new(limits);
    let mut zero = Vec::new();
    write::settings(&[Setting::InitialWindowSize(0)], &mut zero);
    assert!(peer.feed(&zero).is_ok());
    for turn in 0..100 {
        let request = peer.request(stream(turn), true);
        assert!(peer.feed(&request).is_ok());
        assert_eq!(peer.session.head(stream(turn), 200, b"", false), Ok(()));
        while peer.session.data(stream(turn), Bytes::from_static(&[0; 1000]), false).is_ok() {}
        assert!(peer.session.footprint() < BOUND);
    }
    peer.output();
    let mut reset = Vec::new();
    assert_eq!(peer.session.check(1000, |stream| reset.push(stream)), Ok(()));
    assert!(reset.is_empty());
    // A byte now and then is not enough.
    for now in [10_000, 20_000, 30_000] {
        peer.now = now;
        for turn in 0..100 {
            let input = frame(kind::WINDOW_UPDATE, 0, stream(turn), &[0, 0, 0, 1]);
            assert!(peer.feed(&input).is_ok());
        }
        peer.output();
        assert_eq!(peer.session.check(now, |stream| reset.push(stream)), Ok(()));
    }
    let closed = peer.session.check(31_000, |stream| reset.push(stream));
    assert_eq!(closed.map_err(|closed| closed.code), Err(ErrorCode::ENHANCE_YOUR_CALM));
}

/// A stream alone that takes nothing: it is broken off, and the connection goes on.
#[test]
fn a_lone_stalled_stream() {
    let mut peer = Peer::new(Limits::default());
    let request = peer.request(1, true);
    assert!(peer.feed(&request).is_ok());
    assert_eq!(peer.session.head(1, 200, b"", false), Ok(()));
    assert_eq!(peer.session.data(1, vec![0; 100_000].into(), false), Ok(()));
    assert!(peer.feed(&frame(kind::WINDOW_UPDATE, 0, 0, &1_000_000u32.to_be_bytes())).is_ok());
    let mut reset = Vec::new();
    for now in [0, 20_000, 30_000, 40_000, 60_000] {
        peer.output();
        assert_eq!(peer.session.check(now, |stream| reset.push(stream)), Ok(()));
    }
    assert_eq!(reset, [1]);
    peer.session.finish(1);
    assert!(peer.session.is_quiet());
}

/// One stream that takes nothing beside others that do: only that one is broken off.
#[test]
fn one_stalled_stream() {
    let mut peer = Peer::new(Limits::default());
    let input = [peer.request(1, true), peer.request(3, true)].concat();
    let more = |stream| frame(kind::WINDOW_UPDATE, 0, stream, &1_000_000u32.to_be_bytes());
    assert!(peer.feed(&[input, more(0)].concat()).is_ok());
    for stream in [1, 3] {
        assert_eq!(peer.session.head(stream, 200, b"", false), Ok(()));
        assert_eq!(peer.session.data(stream, vec![0; 100_000].into(), false), Ok(()));
    }
    assert!(peer.feed(&more(3)).is_ok());
    peer.output();
    let mut reset = Vec::new();
    for now in [0, 10_000, 20_000, 30_000] {
        assert_eq!(peer.session.data(3, vec![0; 10_000].into(), false), Ok(()));
        assert_eq!(peer.session.check(now, |stream| reset.push(stream)), Ok(()));
        peer.output();
    }
    assert_eq!(reset, [1]);
    assert_eq!(peer.session.queued(1), 0);
}

#[test]
fn settings_that_are_never_acknowledged() {
    let mut peer = Peer::silent(Limits::default());
    assert_eq!(peer.session.check(9999, |_| ()), Ok(()));
    let closed = peer.session.check(10_000, |_| ());
    assert_eq!(closed.map_err(|closed| closed.code), Err(ErrorCode::SETTINGS_TIMEOUT));
    assert!(peer.sent().last().is_some_and(|last| last == "goaway 0 SETTINGS_TIMEOUT"));
}

/// A body that nobody reads: no more than the windows is held, and no window is given back.
#[test]
fn bodies_that_nobody_reads() {
    let limits = Limits { stream_window: 65_535, connection_window: 100_000, ..Limits::default() };
    let mut peer = Peer::new(limits);
    let input = [peer.request(1, false), peer.request(3, false)].concat();
    assert!(peer.feed(&input).is_ok());
    let mut sent = 0;
    let closed = loop {
        match peer.feed(&data([1, 3][sent % 2], 10_000, false)) {
            Ok(_) => sent += 1,
            Err(closed) => break closed,
        }
    };
    assert_eq!((sent, closed.code), (10, ErrorCode::FLOW_CONTROL_ERROR));
    assert_eq!(peer.sent().len(), 1);
}

/// What a connection takes that does nothing.
#[test]
fn an_idle_connection_is_small() {
    let mut peer = Peer::new(Limits::default());
    assert!(peer.session.footprint() < 2048, "{}", peer.session.footprint());
    for turn in 0..100 {
        let request = peer.request_with(stream(turn), true, &[("user-agent", "somebody's browser 1.0")]);
        assert!(peer.feed(&request).is_ok());
        assert_eq!(peer.session.head(stream(turn), 200, b"Content-Type: text/html\r\n", false), Ok(()));
        assert_eq!(peer.session.data(stream(turn), Bytes::from_static(b"hello"), true), Ok(()));
        peer.session.finish(stream(turn));
        peer.output();
    }
    assert!(peer.session.footprint() < 8192, "{}", peer.session.footprint());
    assert_eq!(peer.sent(), Seen::new());
}

/// A connection that was closed while bodies waited has nothing more to say than that.
#[test]
fn nothing_is_sent_behind_the_last_goaway() {
    let mut peer = Peer::new(Limits::default());
    let request = peer.request(1, true);
    assert!(peer.feed(&request).is_ok());
    assert_eq!(peer.session.head(1, 200, b"", false), Ok(()));
    assert_eq!(peer.session.data(1, vec![0; 9000].into(), false), Ok(()));
    assert!(peer.feed(&frame(kind::WINDOW_UPDATE, 0, 0, &[0; 4])).is_err());
    assert!(peer.session.has_output());
    assert_eq!(peer.sent().last().map(|last| last.starts_with("goaway")), Some(true));
    assert!(!peer.session.has_output());
}
