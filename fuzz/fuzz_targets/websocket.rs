//! WebSocket frames: no panic, one verdict however the bytes are cut, every limit held, and what is written can be read
//! back.
#![no_main]

use apus_proto::websocket::deflate::{self, Params};
use apus_proto::websocket::{Decoder, Event, Limits, Opcode, Role, Violation, encode};
use bytes::BytesMut;
use libfuzzer_sys::fuzz_target;

const LIMITS: Limits = Limits { max_frame: 512, max_message: 1024, lenient: false };

fuzz_target!(|input: (u8, u8, &[u8])| {
    let (piece, flags, bytes) = input;
    let role = if flags & 1 == 0 { Role::Client } else { Role::Server };
    let params = (flags & 2 != 0).then(|| Params { server_no_context_takeover: flags & 4 != 0, ..Params::default() });
    let whole = decode(bytes, bytes.len().max(1), role, params);
    let cut = decode(bytes, usize::from(piece).max(1), role, params);
    if params.is_some() {
        // Which of several faults of a compressed message is met first depends on how much was inflated at a time.
        assert_eq!((cut.0, cut.1.is_some()), (whole.0, whole.1.is_some()));
    } else {
        assert_eq!(cut, whole);
    }
    if let Ok(text) = std::str::from_utf8(bytes) {
        if let Some(params) = deflate::choose(text) {
            assert_eq!(deflate::answered(&params.to_field()).is_ok(), params.client_max_window_bits > 8);
        }
        let _ = deflate::answered(text);
    }
    round_trip(bytes, params);
});

fn decode(bytes: &[u8], piece: usize, role: Role, params: Option<Params>) -> (Vec<Event>, Option<Violation>) {
    let mut decoder = Decoder::new(role, LIMITS, params.map(|p| p.inflater(role)));
    let mut input = BytesMut::new();
    let mut events = Vec::new();
    for part in bytes.chunks(piece) {
        input.extend_from_slice(part);
        loop {
            match decoder.decode(&mut input) {
                Ok(Some(event)) => {
                    if let Event::Message { text, data, .. } = &event {
                        assert!(data.len() <= LIMITS.max_message);
                        assert!(!text || std::str::from_utf8(data).is_ok());
                    }
                    events.push(event);
                }
                Ok(None) => break,
                Err(violation) => return (events, Some(violation)),
            }
        }
        // What is not a whole head is all that may wait.
        assert!(input.len() < 14);
    }
    (events, None)
}

fn round_trip(bytes: &[u8], params: Option<Params>) {
    let mut out = BytesMut::new();
    let mut data = BytesMut::new();
    let compressed = params.is_some_and(|params| params.deflater(Role::Client, 1).deflate(bytes, &mut data));
    encode(&mut out, Opcode::Binary, true, compressed, if compressed { &data } else { bytes }, Some([1, 2, 3, 4]));
    let mut decoder = Decoder::new(Role::Server, Limits::default(), params.map(|p| p.inflater(Role::Server)));
    let expected = Event::Message { text: false, data: bytes.to_vec().into(), compressed };
    assert_eq!(decoder.decode(&mut out), Ok(Some(expected)));
}
