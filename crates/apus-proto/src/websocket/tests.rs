use bytes::{Bytes, BytesMut};

use super::deflate::{self, Params};
use super::*;

const KEY: [u8; 4] = [0x37, 0xfa, 0x21, 0x3d];
const SMALL: Limits = Limits { max_frame: 1000, max_message: 1000, lenient: false };

fn frame(opcode: Opcode, fin: bool, payload: &[u8]) -> BytesMut {
    let mut out = BytesMut::new();
    encode(&mut out, opcode, fin, false, payload, None);
    out
}

/// Decodes what a client receives, cut into pieces of every size up to 7 bytes; all cuts must agree.
fn decode_with(bytes: &[u8], limits: Limits, params: Option<Params>) -> (Vec<Event>, Option<Violation>) {
    let run = |piece: usize| {
        let mut decoder = Decoder::new(Role::Client, limits, params.map(|p| p.inflater(Role::Client)));
        let mut input = BytesMut::new();
        let mut events = Vec::new();
        for part in bytes.chunks(piece) {
            input.extend_from_slice(part);
            loop {
                match decoder.decode(&mut input) {
                    Ok(Some(event)) => events.push(event),
                    Ok(None) => break,
                    Err(violation) => return (events, Some(violation)),
                }
            }
        }
        (events, None)
    };
    let whole = run(bytes.len().max(1));
    for piece in 1..8 {
        assert_eq!(run(piece), whole, "cut into {piece}");
    }
    whole
}

fn decode(bytes: &[u8]) -> (Vec<Event>, Option<Violation>) {
    decode_with(bytes, SMALL, None)
}

fn text(data: &str) -> Event {
    Event::Message { text: true, data: Bytes::copy_from_slice(data.as_bytes()), compressed: false }
}

fn code(bytes: &[u8]) -> u16 {
    let (events, violation) = decode(bytes);
    assert_eq!(events, []);
    violation.expect("refused").code
}

#[test]
fn the_examples_of_the_rfc() {
    // RFC 6455 section 5.7.
    assert_eq!(decode(&[0x81, 5, b'H', b'e', b'l', b'l', b'o']).0, [text("Hello")]);
    assert_eq!(decode(&[0x01, 3, b'H', b'e', b'l', 0x80, 2, b'l', b'o']).0, [text("Hello")]);
    assert_eq!(decode(&[0x89, 5, b'H', b'e', b'l', b'l', b'o']).0, [Event::Ping(Bytes::from_static(b"Hello"))]);
    let masked = [0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58];
    let mut out = BytesMut::new();
    encode(&mut out, Opcode::Text, true, false, b"Hello", Some(KEY));
    assert_eq!(&out[..], masked);
    let mut server = Decoder::new(Role::Server, SMALL, None);
    assert_eq!(server.decode(&mut out), Ok(Some(text("Hello"))));
    // Section 1.3.
    assert_eq!(handshake::accept(b"dGhlIHNhbXBsZSBub25jZQ=="), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    assert!(handshake::is_key(b"dGhlIHNhbXBsZSBub25jZQ=="));
    assert!(!handshake::is_key(b"c2hvcnQ="));
    assert!(!handshake::is_key(b"dGhlIHNhbXBsZSBub25jZQ!="));
}

#[test]
fn masking_is_the_same_however_it_is_cut() {
    let plain: Vec<u8> = (0..100u8).collect();
    let mut whole = plain.clone();
    apply_mask(&mut whole, KEY, 0);
    for (i, byte) in whole.iter().enumerate() {
        assert_eq!(*byte, plain[i] ^ KEY[i % 4]);
    }
    for cut in 0..plain.len() {
        let mut parts = plain.clone();
        let (a, b) = parts.split_at_mut(cut);
        apply_mask(a, KEY, 0);
        apply_mask(b, KEY, cut);
        assert_eq!(parts, whole);
    }
}

#[test]
fn lengths_at_every_border_come_back() {
    for len in [0usize, 1, 125, 126, 127, 65535, 65536, 70000] {
        let payload = vec![7; len];
        let bytes = frame(Opcode::Binary, true, &payload);
        let mut decoder = Decoder::new(Role::Client, Limits::default(), None);
        let mut input = bytes;
        let event = decoder.decode(&mut input).unwrap();
        assert_eq!(event, Some(Event::Message { text: false, data: payload.into(), compressed: false }));
        assert!(input.is_empty());
    }
}

#[test]
fn control_frames_come_between_fragments() {
    let mut bytes = frame(Opcode::Text, false, b"a");
    bytes.extend_from_slice(&frame(Opcode::Ping, true, b"p"));
    bytes.extend_from_slice(&frame(Opcode::Continuation, false, b""));
    bytes.extend_from_slice(&frame(Opcode::Pong, true, b""));
    bytes.extend_from_slice(&frame(Opcode::Continuation, true, b"b"));
    let expected = [Event::Ping(Bytes::from_static(b"p")), Event::Pong(Bytes::new()), text("ab")];
    assert_eq!(decode(&bytes), (expected.to_vec(), None));
}

#[test]
fn frames_that_break_the_protocol_are_refused() {
    let protocol: [&[u8]; 14] = [
        &[0x83, 0],                                 // a reserved opcode
        &[0x8b, 0],                                 // a reserved control opcode
        &[0xc1, 0],                                 // RSV1 without an extension
        &[0xa1, 0],                                 // RSV2
        &[0x91, 0],                                 // RSV3
        &[0x09, 0],                                 // a fragmented ping
        &[0x89, 126, 0, 126],                       // a long ping
        &[0x80, 0],                                 // a continuation of nothing
        &[0x01, 0, 0x01, 0],                        // a message inside a message
        &[0x81, 0x80, 0, 0, 0, 0],                  // a masked server frame
        &[0x82, 126, 0, 125],                       // a length that is not the shortest
        &[0x82, 127, 0, 0, 0, 0, 0, 0, 0xff, 0xff], // the same in eight bytes
        &[0x82, 127, 0x80, 0, 0, 0, 0, 0, 0, 0],    // the highest bit of a length
        &[0x88, 1, 3],                              // half a close code
    ];
    for bytes in protocol {
        assert_eq!(code(bytes), 1002, "{bytes:x?}");
    }
    let mut server = Decoder::new(Role::Server, SMALL, None);
    assert_eq!(server.decode(&mut frame(Opcode::Text, true, b"x")).unwrap_err().code, 1002);
}

#[test]
fn limits_hold_before_anything_is_kept() {
    assert_eq!(code(&[0x82, 126, 0x03, 0xe9]), 1009);
    assert_eq!(code(&[0x82, 127, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]), 1009);
    let mut bytes = frame(Opcode::Binary, false, &[0; 600]);
    bytes.extend_from_slice(&frame(Opcode::Continuation, true, &[0; 401]));
    assert_eq!(code(&bytes), 1009);
    let mut bytes = frame(Opcode::Binary, false, &[0; 600]);
    bytes.extend_from_slice(&frame(Opcode::Continuation, true, &[0; 400]));
    assert_eq!(decode(&bytes).1, None);
}

#[test]
fn text_is_checked_as_it_arrives() {
    assert_eq!(decode(&frame(Opcode::Text, true, "κόσμε 🐦".as_bytes())).0, [text("κόσμε 🐦")]);
    let mut cut = frame(Opcode::Text, false, &"🐦".as_bytes()[..2]);
    cut.extend_from_slice(&frame(Opcode::Continuation, true, &"🐦".as_bytes()[2..]));
    assert_eq!(decode(&cut).0, [text("🐦")]);
    for bad in [&[0xffu8][..], &[0xc0, 0x80], &[0xed, 0xa0, 0x80], &[0xf4, 0x90, 0x80, 0x80], &"🐦".as_bytes()[..3]] {
        assert_eq!(code(&frame(Opcode::Text, true, bad)), 1007, "{bad:x?}");
    }
    // The first bad byte ends it, though the frame is far from complete.
    assert_eq!(code(&[0x01, 126, 0x01, 0x00, 0xff]), 1007);
    let mut utf8 = Utf8::default();
    assert!(utf8.feed(&[0xf4]) && !utf8.feed(&[0x90]));
}

#[test]
fn close_frames() {
    let close = |code: Option<u16>, reason: &str| {
        let mut out = BytesMut::new();
        encode_close(&mut out, code.unwrap_or(close::NO_STATUS), reason, None);
        decode(&out)
    };
    let event = |code, reason: &'static str| Event::Close { code, reason: Bytes::from_static(reason.as_bytes()) };
    assert_eq!(close(None, "").0, [event(None, "")]);
    assert_eq!(close(Some(1000), "bye").0, [event(Some(1000), "bye")]);
    for bad in [0u16, 999, 1004, 1005, 1006, 1015, 1016, 2999, 5000, 65535] {
        assert_eq!(code(&frame(Opcode::Close, true, &bad.to_be_bytes())), 1002, "{bad}");
    }
    assert_eq!(code(&frame(Opcode::Close, true, &[3, 232, 0xff])), 1007);
    // A long reason is cut at a character.
    let (events, _) = close(Some(1000), &"ä".repeat(100));
    assert!(matches!(&events[..], [Event::Close { reason, .. }] if reason.len() == 122));
    // What follows is not looked at.
    let mut bytes = frame(Opcode::Close, true, b"");
    bytes.extend_from_slice(&[0xff; 20]);
    assert_eq!(decode(&bytes), (vec![event(None, "")], None));
}

fn compressed(params: Params, messages: &[&[u8]]) -> BytesMut {
    let mut deflater = params.deflater(Role::Server, 6);
    let mut out = BytesMut::new();
    for message in messages {
        let mut data = BytesMut::new();
        assert!(deflater.deflate(message, &mut data));
        encode(&mut out, Opcode::Text, true, true, &data, None);
    }
    out
}

#[test]
fn compressed_messages_come_back() {
    let words = "the same words again and again, the same words again and again. ".repeat(12);
    for params in [
        Params::default(),
        Params { server_no_context_takeover: true, ..Params::default() },
        Params { server_max_window_bits: 9, ..Params::default() },
    ] {
        let bytes = compressed(params, &[words.as_bytes(), b"", words.as_bytes(), b"x"]);
        assert!(bytes.len() < words.len());
        let (events, violation) = decode_with(&bytes, SMALL, Some(params));
        assert_eq!(violation, None);
        let datas: Vec<&[u8]> = events
            .iter()
            .map(|event| match event {
                Event::Message { data, compressed: true, .. } => &data[..],
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(datas, [words.as_bytes(), b"", words.as_bytes(), b"x"]);
    }
}

#[test]
fn the_example_of_rfc_7692() {
    let hello = [0xc1, 0x07, 0xf2, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00];
    let again = [0xc1, 0x05, 0xf2, 0x00, 0x11, 0x00, 0x00];
    let (events, _) = decode_with(&[&hello[..], &again].concat(), SMALL, Some(Params::default()));
    let message = Event::Message { text: true, data: Bytes::from_static(b"Hello"), compressed: true };
    assert_eq!(events, [message.clone(), message.clone()]);
    // In two fragments, a stored block, and a block marked as the last.
    let fragments = [0x41, 0x03, 0xf2, 0x48, 0xcd, 0x80, 0x04, 0xc9, 0xc9, 0x07, 0x00];
    let stored = [0xc1, 0x0b, 0x00, 0x05, 0x00, 0xfa, 0xff, 0x48, 0x65, 0x6c, 0x6c, 0x6f, 0x00];
    let last = [0xc1, 0x08, 0xf3, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00, 0x00];
    for bytes in [&fragments[..], &stored, &last] {
        assert_eq!(decode_with(bytes, SMALL, Some(Params::default())), (vec![message.clone()], None), "{bytes:x?}");
    }
}

#[test]
fn a_bomb_and_garbage_are_refused() {
    let bomb = compressed(Params::default(), &[&[b'a'; 1001]]);
    assert_eq!(decode_with(&bomb, SMALL, Some(Params::default())).1.unwrap().code, 1009);
    let fits = compressed(Params::default(), &[&[b'a'; 1000]]);
    assert_eq!(decode_with(&fits, SMALL, Some(Params::default())).1, None);
    let garbage = [0xc1, 4, 0xff, 0xff, 0xff, 0xff];
    assert_eq!(decode_with(&garbage, SMALL, Some(Params::default())).1.unwrap().code, 1007);
    // A compressed text is checked for UTF-8, too.
    let bad = compressed(Params::default(), &[&[0xff, 0xfe]]);
    assert_eq!(decode_with(&bad, SMALL, Some(Params::default())).1.unwrap().code, 1007);
}

#[test]
fn the_extension_is_agreed_upon() {
    let chosen = deflate::choose(
        "x-unknown; a=1, permessage-deflate; server_max_window_bits=8, permessage-deflate; server_max_window_bits=10; client_max_window_bits",
    );
    assert_eq!(chosen.unwrap().to_field(), "permessage-deflate; server_max_window_bits=10");
    assert_eq!(deflate::choose(deflate::OFFER), Some(Params::default()));
    for bad in [
        "",
        "permessage-deflate; x",
        "permessage-deflate; server_max_window_bits=16",
        "permessage-deflate; server_max_window_bits",
        "permessage-deflate; server_no_context_takeover=1",
        "permessage-deflate; client_no_context_takeover; client_no_context_takeover",
    ] {
        assert_eq!(deflate::choose(bad), None, "{bad}");
    }
    assert_eq!(deflate::answered(""), Ok(None));
    let all = Params {
        server_no_context_takeover: true,
        client_no_context_takeover: true,
        server_max_window_bits: 12,
        client_max_window_bits: 11,
    };
    assert_eq!(deflate::answered(&all.to_field()), Ok(Some(all)));
    for bad in [
        "x-unknown",
        "permessage-deflate; client_max_window_bits",
        "permessage-deflate, permessage-deflate",
        "permessage-deflate; client_max_window_bits=08",
    ] {
        assert!(deflate::answered(bad).is_err(), "{bad}");
    }
}

#[test]
fn inflating_in_steps_gives_the_same_and_no_step_goes_far_beyond_its_budget() {
    let params = Params { client_no_context_takeover: true, ..Params::default() };
    let messages = ["x".repeat(300_000), "short".to_owned(), "äöü ".repeat(50_000), String::new()];
    let mut wire = BytesMut::new();
    let mut deflater = params.deflater(Role::Client, 6);
    for text in &messages {
        let mut compressed = BytesMut::new();
        assert!(deflater.deflate(text.as_bytes(), &mut compressed));
        let half = compressed.len() / 2;
        encode(&mut wire, Opcode::Text, false, true, &compressed[..half], Some([1, 2, 3, 4]));
        encode(&mut wire, Opcode::Ping, true, false, b"between", Some([1, 2, 3, 4]));
        encode(&mut wire, Opcode::Continuation, true, false, &compressed[half..], Some([5, 6, 7, 8]));
    }
    for allowed in [1, 1000, 100_000] {
        let mut decoder = Decoder::new(Role::Server, Limits::default(), Some(params.inflater(Role::Server)));
        let (mut input, mut found, mut pings) = (wire.clone(), Vec::new(), 0);
        loop {
            let mut budget = allowed;
            let before = decoder.held();
            match decoder.decode_within(&mut input, &mut budget).unwrap() {
                Some(Event::Message { data, text: true, compressed: true }) => found.push(data),
                Some(Event::Ping(_)) => pings += 1,
                Some(other) => panic!("{other:?}"),
                None if decoder.is_behind() => assert!(decoder.held() <= before + allowed + (64 << 10)),
                None => break,
            }
        }
        assert_eq!(found, messages);
        assert_eq!(pings, messages.len());
        assert!(decoder.is_idle());
    }
}

#[test]
fn a_lenient_decoder_takes_unmasked_frames_and_any_close_code() {
    let mut lenient = Decoder::new(Role::Server, Limits { lenient: true, ..SMALL }, None);
    let mut input = frame(Opcode::Text, true, b"plain");
    input.extend_from_slice(&frame(Opcode::Close, true, &7u16.to_be_bytes()));
    assert_eq!(lenient.decode(&mut input).unwrap(), Some(text("plain")));
    assert_eq!(lenient.decode(&mut input).unwrap(), Some(Event::Close { code: Some(7), reason: Bytes::new() }));
}
