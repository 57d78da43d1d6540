//! A chunked body: no panic, progress with each call, and the same result however the bytes are cut.
#![no_main]

use apus_proto::http1::{ChunkEvent, ChunkLimits, ChunkedDecoder, Reject, Trailer};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, &[u8])| {
    let (piece, bytes) = input;
    let limits = ChunkLimits { max_line: 64, max_trailer: 128, max_trailers: 4 };
    let whole = decode(bytes, bytes.len().max(1), limits);
    assert_eq!(decode(bytes, usize::from(piece).max(1), limits), whole);
});

type Outcome = Result<(Vec<u8>, Option<(usize, Vec<Trailer>)>), Reject>;

fn decode(input: &[u8], piece: usize, limits: ChunkLimits) -> Outcome {
    let mut decoder = ChunkedDecoder::new(limits);
    let mut data = Vec::new();
    let mut done = 0;
    for bytes in input.chunks(piece) {
        let mut at = 0;
        loop {
            let (consumed, event) = decoder.decode(&bytes[at..])?;
            match event {
                ChunkEvent::Data(range) => {
                    assert!(!range.is_empty());
                    data.extend_from_slice(&bytes[at..][range]);
                }
                ChunkEvent::NeedMore => {
                    assert_eq!(at + consumed, bytes.len());
                    break;
                }
                ChunkEvent::End => return Ok((data, Some((done + at + consumed, decoder.take_trailers())))),
            }
            at += consumed;
        }
        done += bytes.len();
    }
    Ok((data, None))
}
