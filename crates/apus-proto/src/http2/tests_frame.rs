use super::frame::{HEADER_LEN, Settings, flag, kind, too_long};
use super::{ErrorCode, Frame, FrameError, FrameHeader, MAX_WINDOW, Priority, Setting, write};

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Result<Frame<'_>, FrameError> {
    Frame::parse(FrameHeader { len: payload.len(), kind, flags, stream }, payload)
}

fn parse(bytes: &[u8]) -> Vec<Frame<'_>> {
    let mut frames = Vec::new();
    let mut rest = bytes;
    while let Some(header) = FrameHeader::parse(rest) {
        let end = HEADER_LEN + header.len;
        frames.extend(Frame::parse(header, &rest[HEADER_LEN..end]));
        rest = &rest[end..];
    }
    assert!(rest.is_empty());
    frames
}

#[test]
fn headers_survive() {
    for (len, kind, flags, stream) in [(0, 0, 0, 0), (16_384, 9, 0xff, 1), ((1 << 24) - 1, 0xfe, 0x25, MAX_WINDOW)] {
        let header = FrameHeader { len, kind, flags, stream };
        assert_eq!(FrameHeader::parse(&header.to_bytes()), Some(header));
    }
    assert_eq!(FrameHeader::parse(&[0; 8]), None);
    // The reserved bit counts for nothing.
    assert_eq!(FrameHeader::parse(&[0, 0, 0, 0, 0, 0x80, 0, 0, 1]).map(|header| header.stream), Some(1));
}

#[test]
fn what_is_written_is_read() {
    let mut out = Vec::new();
    write::data(1, b"hello", true, &mut out);
    write::reset(3, ErrorCode::CANCEL, &mut out);
    write::settings_ack(&mut out);
    write::ping(true, *b"12345678", &mut out);
    write::go_away(7, ErrorCode::ENHANCE_YOUR_CALM, b"why", &mut out);
    write::window_update(0, 9, &mut out);
    write::window_update(5, MAX_WINDOW, &mut out);
    let expected = [
        Frame::Data { stream: 1, data: b"hello", end_stream: true },
        Frame::Reset { stream: 3, code: ErrorCode::CANCEL },
        Frame::SettingsAck,
        Frame::Ping { ack: true, data: *b"12345678" },
        Frame::GoAway { last_stream: 7, code: ErrorCode::ENHANCE_YOUR_CALM, debug: b"why" },
        Frame::WindowUpdate { stream: 0, increment: 9 },
        Frame::WindowUpdate { stream: 5, increment: MAX_WINDOW },
    ];
    assert_eq!(parse(&out), expected);
}

#[test]
fn settings_survive() {
    let settings = [
        Setting::HeaderTableSize(0),
        Setting::EnablePush(false),
        Setting::MaxConcurrentStreams(100),
        Setting::InitialWindowSize(MAX_WINDOW),
        Setting::MaxFrameSize(1 << 14),
        Setting::MaxHeaderListSize(u32::MAX),
        Setting::EnableConnectProtocol(true),
        Setting::NoRfc7540Priorities(true),
    ];
    let mut out = Vec::new();
    write::settings(&settings, &mut out);
    let frames = parse(&out);
    let [Frame::Settings(read)] = frames[..] else { panic!("{frames:?}") };
    assert_eq!(read.count(), 8);
    assert_eq!(read.iter().collect::<Result<Vec<_>, _>>(), Ok(settings.to_vec()));
}

#[test]
fn settings_out_of_range_are_refused() {
    let cases = [
        (0x2, 2, ErrorCode::PROTOCOL_ERROR),
        (0x4, 1 << 31, ErrorCode::FLOW_CONTROL_ERROR),
        (0x5, (1 << 14) - 1, ErrorCode::PROTOCOL_ERROR),
        (0x5, 1 << 24, ErrorCode::PROTOCOL_ERROR),
        (0x8, 2, ErrorCode::PROTOCOL_ERROR),
        (0x9, 7, ErrorCode::PROTOCOL_ERROR),
    ];
    for (id, value, code) in cases {
        let payload = [&[0, id][..], &u32::to_be_bytes(value)].concat();
        let refused = Settings::new(&payload).and_then(|settings| settings.iter().collect::<Result<Vec<_>, _>>());
        assert_eq!(refused.map_err(|error| (error.stream, error.code)), Err((None, code)), "{id}: {value}");
    }
    let unknown = Settings::new(&[0xff, 0xff, 1, 2, 3, 4]).map(|settings| settings.iter().count());
    assert_eq!(unknown, Ok(0));
}

#[test]
fn padding_and_priority_are_taken_off() {
    let data = frame(kind::DATA, flag::PADDED, 1, &[2, b'a', b'b', 0, 0]);
    assert_eq!(data, Ok(Frame::Data { stream: 1, data: b"ab", end_stream: false }));
    let flags = flag::PADDED | flag::PRIORITY | flag::END_HEADERS | flag::END_STREAM;
    let headers = frame(kind::HEADERS, flags, 3, &[1, 0x80, 0, 0, 9, 200, 0x82, 0]);
    let expected =
        Frame::Headers { stream: 3, block: &[0x82], end_stream: true, end_headers: true, depends_on: Some(9) };
    assert_eq!(headers, Ok(expected));
    assert_eq!(frame(kind::DATA, flag::PADDED, 1, &[0]).map(|_| ()), Ok(()));
}

#[test]
fn broken_frames_are_refused() {
    use ErrorCode as Code;
    let cases: [(u8, u8, u32, &[u8], _, _); 27] = [
        (kind::DATA, 0, 0, b"x", None, Code::PROTOCOL_ERROR),
        (kind::DATA, flag::PADDED, 1, b"", None, Code::FRAME_SIZE_ERROR),
        (kind::DATA, flag::PADDED, 1, &[2, 0], None, Code::PROTOCOL_ERROR),
        (kind::HEADERS, 0, 0, b"x", None, Code::PROTOCOL_ERROR),
        (kind::HEADERS, flag::PRIORITY, 1, &[0; 4], None, Code::FRAME_SIZE_ERROR),
        (kind::HEADERS, flag::PADDED | flag::PRIORITY, 1, &[4, 0, 0, 0, 0, 0], None, Code::FRAME_SIZE_ERROR),
        (kind::PRIORITY, 0, 0, &[0; 5], None, Code::PROTOCOL_ERROR),
        (kind::PRIORITY, 0, 1, &[0; 4], Some(1), Code::FRAME_SIZE_ERROR),
        (kind::RST_STREAM, 0, 0, &[0; 4], None, Code::PROTOCOL_ERROR),
        (kind::RST_STREAM, 0, 1, &[0; 5], None, Code::FRAME_SIZE_ERROR),
        (kind::SETTINGS, 0, 1, b"", None, Code::PROTOCOL_ERROR),
        (kind::SETTINGS, 0, 0, &[0; 7], None, Code::FRAME_SIZE_ERROR),
        (kind::SETTINGS, flag::ACK, 0, &[0; 6], None, Code::FRAME_SIZE_ERROR),
        (kind::PUSH_PROMISE, 0, 1, &[0; 4], None, Code::PROTOCOL_ERROR),
        (kind::PING, 0, 1, &[0; 8], None, Code::PROTOCOL_ERROR),
        (kind::PING, 0, 0, &[0; 7], None, Code::FRAME_SIZE_ERROR),
        (kind::GOAWAY, 0, 1, &[0; 8], None, Code::PROTOCOL_ERROR),
        (kind::GOAWAY, 0, 0, &[0; 7], None, Code::FRAME_SIZE_ERROR),
        (kind::WINDOW_UPDATE, 0, 0, &[0; 4], None, Code::PROTOCOL_ERROR),
        (kind::WINDOW_UPDATE, 0, 5, &[0x80, 0, 0, 0], Some(5), Code::PROTOCOL_ERROR),
        (kind::WINDOW_UPDATE, 0, 5, &[0; 3], None, Code::FRAME_SIZE_ERROR),
        (kind::CONTINUATION, 0, 0, b"", None, Code::PROTOCOL_ERROR),
        (kind::PRIORITY_UPDATE, 0, 1, &[0, 0, 0, 1], None, Code::PROTOCOL_ERROR),
        (kind::PRIORITY_UPDATE, 0, 0, &[0, 0, 1], None, Code::FRAME_SIZE_ERROR),
        (kind::PRIORITY_UPDATE, 0, 0, &[0, 0, 0, 0], None, Code::PROTOCOL_ERROR),
        (kind::PING, flag::ACK, 0, &[0; 9], None, Code::FRAME_SIZE_ERROR),
        (kind::HEADERS, flag::PADDED, 1, &[1], None, Code::PROTOCOL_ERROR),
    ];
    for (kind, flags, stream, payload, scope, code) in cases {
        let refused = frame(kind, flags, stream, payload).map_err(|error| (error.stream, error.code));
        assert_eq!(refused, Err((scope, code)), "{kind} {flags} {stream} {payload:?}");
    }
    let header = FrameHeader { len: 16_385, kind: 0, flags: 0, stream: 1 };
    assert_eq!(too_long(header, 16_384).map_err(|error| error.code), Err(Code::FRAME_SIZE_ERROR));
}

#[test]
fn other_types_are_ignored() {
    for kind in [0xa, 0xb, 0xc, 0x11, 0xff] {
        assert_eq!(frame(kind, 0xff, 7, b"anything"), Ok(Frame::Ignored));
    }
}

#[test]
fn a_long_block_is_continued() {
    for len in [0, 1, 9, 10, 11, 20, 25] {
        let block: Vec<u8> = (0..len).collect();
        let mut out = b"before".to_vec();
        let at = write::begin_headers(&mut out);
        out.extend_from_slice(&block);
        write::end_headers(at, 5, true, 10, &mut out);
        let mut got = Vec::new();
        let frames = parse(&out[6..]);
        for (at, frame) in frames.iter().enumerate() {
            let (piece, end) = match frame {
                Frame::Headers { stream: 5, block, end_stream: true, end_headers, .. } if at == 0 => {
                    (block, end_headers)
                }
                Frame::Continuation { stream: 5, block, end_headers } if at > 0 => (block, end_headers),
                other => panic!("{other:?}"),
            };
            assert_eq!(*end, at + 1 == frames.len());
            got.extend_from_slice(piece);
        }
        assert_eq!(got, block);
    }
}

#[test]
fn priorities_are_read() {
    let cases: [(&[u8], u8, bool); 12] = [
        (b"", 3, false),
        (b"u=0", 0, false),
        (b"u=7, i", 7, true),
        (b"i", 3, true),
        (b"i=?1,u=5", 5, true),
        (b"i=?0", 3, false),
        (b"i, i=?0", 3, false),
        (b"u=8", 3, false),
        (b"u=-1", 3, false),
        (b"u=1;a=b, i;c", 1, true),
        (b"x=\"y\", u=2", 2, false),
        (b"\xff\x00,,u=", 3, false),
    ];
    for (value, urgency, incremental) in cases {
        assert_eq!(Priority::parse(value), Priority { urgency, incremental }, "{:?}", value.escape_ascii().to_string());
    }
}
