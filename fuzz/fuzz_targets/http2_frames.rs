//! HTTP/2 frames: no panic, no payload longer than what was given, and what is written again is read the same.
#![no_main]

use apus_proto::http2::frame::{HEADER_LEN, too_long};
use apus_proto::http2::{Frame, FrameHeader, MAX_WINDOW, Priority, write};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let mut rest = bytes;
    while let Some(header) = FrameHeader::parse(rest) {
        assert_eq!(FrameHeader::parse(&header.to_bytes()), Some(header));
        assert_eq!(too_long(header, 16_384).is_ok(), header.len <= 16_384);
        let Some(payload) = rest.get(HEADER_LEN..HEADER_LEN + header.len) else { return };
        if let Ok(frame) = Frame::parse(header, payload) {
            check(frame, header);
        }
        rest = &rest[HEADER_LEN + header.len..];
    }
});

fn check(frame: Frame<'_>, header: FrameHeader) {
    let mut out = Vec::new();
    match frame {
        Frame::Data { stream, data, end_stream } => {
            assert!(data.len() <= header.len && stream != 0);
            write::data(stream, data, end_stream, &mut out);
        }
        Frame::Headers { stream, block, end_stream, end_headers, depends_on } => {
            let at = write::begin_headers(&mut out);
            out.extend_from_slice(block);
            write::end_headers(at, stream, end_stream, 16_384, &mut out);
            let again = Frame::Headers { stream, block, end_stream, end_headers: true, depends_on: None };
            if end_headers && depends_on.is_none() && block.len() <= 16_384 {
                assert_eq!(parse(&out), again);
            }
            return;
        }
        Frame::Reset { stream, code } => write::reset(stream, code, &mut out),
        Frame::Settings(settings) => {
            let all: Result<Vec<_>, _> = settings.iter().collect();
            let Ok(all) = all else { return };
            assert!(all.len() <= settings.count());
            write::settings(&all, &mut out);
            let Frame::Settings(again) = parse(&out) else { panic!("no settings") };
            assert_eq!(again.iter().collect::<Result<Vec<_>, _>>(), Ok(all));
            return;
        }
        Frame::SettingsAck => write::settings_ack(&mut out),
        Frame::Ping { ack, data } => write::ping(ack, data, &mut out),
        Frame::GoAway { last_stream, code, debug } => write::go_away(last_stream, code, debug, &mut out),
        Frame::WindowUpdate { stream, increment } => {
            assert!((1..=MAX_WINDOW).contains(&increment));
            write::window_update(stream, increment, &mut out);
        }
        Frame::PriorityUpdate { value, .. } => {
            assert!(Priority::parse(value).urgency < 8);
            return;
        }
        Frame::Priority { .. } | Frame::Continuation { .. } | Frame::Ignored => return,
    }
    assert_eq!(parse(&out), frame);
}

fn parse(bytes: &[u8]) -> Frame<'_> {
    let header = FrameHeader::parse(bytes).expect("a header");
    Frame::parse(header, &bytes[HEADER_LEN..]).expect("a frame")
}
