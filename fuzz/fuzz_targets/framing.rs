//! Messages inside a stream: no panic, no message beyond the limit, and the same messages however the stream is cut.
#![no_main]

use apus_proto::framing::{Framing, FramingError, LengthType, Next, Rule, Scan};
use libfuzzer_sys::fuzz_target;

const LETTERS: [&str; 14] = ["c", "C", "s", "S", "n", "v", "l", "L", "N", "V", "q", "Q", "J", "P"];

fuzz_target!(|input: (u8, u8, u8, u8, &[u8])| {
    let (choice, offset, body, max, bytes) = input;
    let end = || bytes.iter().copied().take(usize::from(offset % 5)).collect::<Vec<u8>>();
    let rule = match (choice, LETTERS.get(usize::from(choice)).and_then(|letter| LengthType::of_letter(letter))) {
        (_, Some(kind)) => Rule::Length { kind, offset: usize::from(offset), body_offset: usize::from(body) },
        (14..=63, _) => Rule::Fixed(usize::from(offset)),
        (64..=95, _) => Rule::Line,
        (96..=127, _) => Rule::Mqtt,
        (128..=191, _) => Rule::Redis,
        (192..=223, _) => Rule::Check(end()),
        _ => Rule::End(end()),
    };
    let Ok(framing) = Framing::new(rule, usize::from(max)) else { return };
    let whole = read(&framing, bytes, bytes.len());
    let pieces = [read(&framing, bytes, 1), read(&framing, bytes, 3)];
    // What is left together by a rule that only checks for ends depends on how it came.
    if !matches!(framing.rule(), Rule::Check(_)) {
        assert!(pieces.iter().all(|read| *read == whole));
    }
});

/// Reads a stream that arrives in pieces: the lengths of its messages, and what ended it.
fn read(framing: &Framing, bytes: &[u8], piece: usize) -> (Vec<usize>, Option<FramingError>) {
    let (mut begin, mut end, mut scan) = (0, 0, Scan::default());
    let mut messages = Vec::new();
    loop {
        match framing.next(&bytes[begin..end], &mut scan) {
            Ok(Next::Message(length)) => {
                assert!(length > 0 && length <= end - begin && length <= framing.max());
                assert_eq!(scan, Scan::default());
                let message = &bytes[begin..begin + length];
                assert!(message.starts_with(framing.payload(message)));
                if let Rule::Check(end) | Rule::End(end) = framing.rule() {
                    assert!(message.ends_with(end));
                }
                messages.push(length);
                begin += length;
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
