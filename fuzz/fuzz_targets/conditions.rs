//! Conditional requests, ranges and accepted codings: no panic, and never more bytes than the representation has.
#![no_main]

use apus_proto::coding::{Accepted, Coding, is_compressible};
use apus_proto::conditional::{Conditions, MAX_RANGES, Validators, Verdict};
use libfuzzer_sys::fuzz_target;

const NAMES: [&[u8]; 6] =
    [b"range", b"if-match", b"if-range", b"if-none-match", b"if-modified-since", b"if-unmodified-since"];

fuzz_target!(|input: (u64, u64, u8, &[u8], &[u8])| {
    let (len, now, flags, etag, lines) = input;
    let fields = || lines.split(|byte| *byte == b'\n').zip(NAMES.into_iter().cycle().skip(usize::from(flags >> 4)));
    let conditions = Conditions::read(fields().map(|(value, name)| (name, value)));
    let current = Validators { etag, modified: now / 2 };
    let (reads, ranges) = (flags & 1 == 0, flags & 2 == 0);
    match conditions.verdict(reads, ranges, &current, len, now) {
        Verdict::Parts(parts) => {
            assert!(ranges && !parts.is_empty() && parts.len() <= MAX_RANGES);
            assert!(parts.iter().all(|part| part.len > 0 && part.len <= len && part.first <= len - part.len));
            assert!(parts.iter().map(|part| u128::from(part.len)).sum::<u128>() <= u128::from(len));
        }
        Verdict::NotModified => assert!(reads),
        Verdict::Unsatisfiable => assert!(ranges && len > 0),
        Verdict::Whole | Verdict::Failed => {}
    }
    let accepted = Accepted::read(fields().map(|(value, _)| value));
    assert!(accepted.by_preference().count() <= Coding::ALL.len());
    let _ = is_compressible(lines);
});
