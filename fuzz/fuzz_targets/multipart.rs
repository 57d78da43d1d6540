//! A multipart body: no panic, progress with each call, and the same parts however the bytes are cut.
#![no_main]

use apus_proto::multipart::{Ending, Error, Event, Limits, Multipart, PartHead, boundary};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, &[u8])| {
    let (piece, bytes) = input;
    let _ = boundary(bytes);
    // `X` in the input stands for a delimiter, so that the fuzzer need not guess one.
    let body: Vec<u8> = bytes
        .iter()
        .flat_map(|byte| if *byte == b'X' { &b"\r\n--xy"[..] } else { std::slice::from_ref(byte) })
        .copied()
        .collect();
    let limits = Limits { max_parts: 8, max_part_head: 256 };
    let whole = read(&body, body.len().max(1), limits);
    assert_eq!(read(&body, usize::from(piece).max(1), limits), whole);
});

type Outcome = Result<(Vec<(PartHead, Vec<u8>, bool)>, Ending), Error>;

fn read(body: &[u8], piece: usize, limits: Limits) -> Outcome {
    let mut parser = Multipart::new(b"xy", limits)?;
    let mut parts: Vec<(PartHead, Vec<u8>, bool)> = Vec::new();
    for bytes in body.chunks(piece) {
        let mut at = 0;
        let mut idle = 0;
        loop {
            let (consumed, event) = parser.feed(&bytes[at..])?;
            match event {
                Event::PartBegin(head) => parts.push((head.clone(), Vec::new(), false)),
                Event::Data(data) => {
                    let part = parts.last_mut().expect("data belongs to a part");
                    assert!(!data.is_empty() && !part.2);
                    part.1.extend_from_slice(data);
                }
                Event::PartEnd => parts.last_mut().expect("an end belongs to a part").2 = true,
                Event::NeedMore => {
                    assert_eq!(at + consumed, bytes.len());
                    break;
                }
                Event::End => break,
            }
            idle = if consumed == 0 { idle + 1 } else { 0 };
            assert!(idle < 3, "no progress");
            at += consumed;
        }
    }
    Ok((parts, parser.finish()))
}
