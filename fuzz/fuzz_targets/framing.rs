//! Messages inside a stream: no panic, no message beyond the limit, and the same messages however the stream is cut.
#![no_main]

use apus_proto::framing::{Framing, FramingError, LengthType, Next, Rule};
use libfuzzer_sys::fuzz_target;

const LETTERS: [&str; 14] = ["c", "C", "s", "S", "n", "v", "l", "L", "N", "V", "q", "Q", "J", "P"];

fuzz_target!(|input: (u8, u8, u8, u8, &[u8])| {
    let (choice, offset, body, max, bytes) = input;
    let rule = match LETTERS.get(usize::from(choice)).and_then(|letter| LengthType::of_letter(letter)) {
        Some(kind) => Rule::Length { kind, offset: usize::from(offset), body_offset: usize::from(body) },
        None => Rule::End(bytes.iter().copied().take(usize::from(offset % 5)).collect()),
    };
    let Ok(framing) = Framing::new(rule, usize::from(max)) else { return };
    let whole = read(&framing, bytes, bytes.len());
    assert_eq!(whole, read(&framing, bytes, 1));
    assert_eq!(whole, read(&framing, bytes, 3));
});

/// Reads a stream that arrives in pieces: the lengths of its messages, and what ended it.
fn read(framing: &Framing, bytes: &[u8], piece: usize) -> (Vec<usize>, Option<FramingError>) {
    let (mut begin, mut end, mut searched) = (0, 0, 0);
    let mut messages = Vec::new();
    loop {
        match framing.next(&bytes[begin..end], &mut searched) {
            Ok(Next::Message(length)) => {
                assert!(length > 0 && length <= end - begin && length <= framing.max());
                messages.push(length);
                begin += length;
                searched = 0;
            }
            Ok(Next::More(more)) => {
                assert!(more > 0 && end - begin + more <= framing.max());
                if end == bytes.len() {
                    return (messages, None);
                }
                end = (end + piece.max(1)).min(bytes.len());
            }
            Err(error) => return (messages, Some(error)),
        }
    }
}
