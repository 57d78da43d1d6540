//! A request head: no panic, one verdict however the bytes are cut, and whatever is accepted httparse reads the same.
#![no_main]

use apus_proto::http1::{Limits, Parsed, RequestHead, parse_request};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u16, u8, &[u8])| {
    let (cut, small, bytes) = input;
    let limits =
        if small & 1 == 0 { Limits::default() } else { Limits { max_head: 64, max_headers: 3, max_target: 16, without_host: true } };
    let mut head = RequestHead::default();
    let verdict = parse_request(bytes, &limits, &mut head);
    let mut early = RequestHead::default();
    let cut = usize::from(cut).min(bytes.len());
    match parse_request(&bytes[..cut], &limits, &mut early) {
        Ok(Parsed::Partial) => {}
        early_verdict => {
            assert_eq!(early_verdict, verdict);
            if verdict.is_ok() {
                assert_eq!(early, head);
            }
        }
    }
    if verdict == Ok(Parsed::Complete) {
        check(bytes, &head);
    }
});

fn check(bytes: &[u8], head: &RequestHead) {
    let mut storage = [httparse::EMPTY_HEADER; 128];
    let mut theirs = httparse::Request::new(&mut storage);
    // httparse takes HTTP/1.0 and 1.1 only, a later minor version is ours.
    match theirs.parse(bytes) {
        Err(httparse::Error::Version) => return,
        // It refuses a path that is not UTF-8.
        Err(httparse::Error::Token) if std::str::from_utf8(head.target.of(bytes)).is_err() => return,
        result => assert_eq!(result, Ok(httparse::Status::Complete(head.head_len))),
    }
    assert_eq!(theirs.method.map(str::as_bytes), Some(head.method.of(bytes)));
    assert_eq!(theirs.path.map(str::as_bytes), Some(head.target.of(bytes)));
    assert_eq!(theirs.headers.len(), head.headers.len());
    for (theirs, (name, value)) in theirs.headers.iter().zip(&head.headers) {
        assert_eq!(theirs.name.as_bytes(), name.of(bytes));
        if name.of(bytes).eq_ignore_ascii_case(b"host") {
            // A target with a host replaces it.
            assert_eq!(Some(value.of(bytes)), head.host.map(|host| host.of(bytes)));
        } else {
            assert_eq!(theirs.value.trim_ascii(), value.of(bytes).trim_ascii());
        }
    }
}
