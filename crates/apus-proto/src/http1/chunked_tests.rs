//! The chunked coding: what is read, what is refused, and that cuts in the input change nothing (RFC 9112 section 7.1).

use super::{ChunkEvent, ChunkLimits, ChunkedDecoder, Reject, Trailer};

#[derive(Debug, PartialEq, Eq)]
struct Body {
    data: Vec<u8>,
    trailers: Vec<Trailer>,
    /// Bytes after the body.
    rest: usize,
}

/// Decodes input that arrives in pieces of that size; `None` when it does not end.
fn decode_in_pieces(input: &[u8], piece: usize, limits: ChunkLimits) -> Result<Option<Body>, Reject> {
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
                    assert_eq!(range.end, consumed);
                    data.extend_from_slice(&bytes[at..][range]);
                }
                ChunkEvent::NeedMore => {
                    assert_eq!(at + consumed, bytes.len());
                    break;
                }
                ChunkEvent::End => {
                    assert!(decoder.is_end());
                    let rest = input.len() - done - at - consumed;
                    return Ok(Some(Body { data, trailers: decoder.take_trailers(), rest }));
                }
            }
            at += consumed;
        }
        done += bytes.len();
    }
    Ok(None)
}

fn decode(input: &[u8]) -> Result<Option<Body>, Reject> {
    decode_with(input, ChunkLimits::default())
}

fn decode_with(input: &[u8], limits: ChunkLimits) -> Result<Option<Body>, Reject> {
    let whole = decode_in_pieces(input, input.len().max(1), limits);
    for piece in 1..input.len().min(64) {
        assert_eq!(decode_in_pieces(input, piece, limits), whole, "pieces of {piece}: {}", input.escape_ascii());
    }
    whole
}

fn data(input: &[u8]) -> Vec<u8> {
    let body = decode(input).unwrap().unwrap();
    assert_eq!((body.trailers.len(), body.rest), (0, 0));
    body.data
}

fn refused(input: &[u8]) {
    let verdict = decode(input);
    assert_eq!(verdict.map_err(|reject| reject.status), Err(400), "{}", input.escape_ascii());
}

#[test]
fn plain_bodies() {
    assert_eq!(data(b"0\r\n\r\n"), b"");
    assert_eq!(data(b"5\r\nhello\r\n0\r\n\r\n"), b"hello");
    assert_eq!(data(b"5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n"), b"hello world");
    assert_eq!(data(b"a\r\n0123456789\r\nA\r\n0123456789\r\n000\r\n\r\n"), b"01234567890123456789");
    assert_eq!(data(b"0000000000000005\r\nhello\r\n0\r\n\r\n"), b"hello");
    assert_eq!(data(b"4\r\n\r\n\r\n\r\n0\r\n\r\n"), b"\r\n\r\n");
}

#[test]
fn what_follows_is_left_alone() {
    let body = decode(b"1\r\nx\r\n0\r\n\r\nGET / HTTP/1.1\r\n").unwrap().unwrap();
    assert_eq!(body.rest, 16);
}

#[test]
fn incomplete_bodies() {
    let whole = b"5;x=y\r\nhello\r\n0\r\nA: b\r\n\r\n";
    for cut in 0..whole.len() {
        assert_eq!(decode(&whole[..cut]), Ok(None), "{cut}");
    }
}

#[test]
fn extensions_are_skipped() {
    assert_eq!(data(b"5;a\r\nhello\r\n0;b=c;d=\"e;f\"\r\n\r\n"), b"hello");
    assert_eq!(data(b"5 ; a = b\r\nhello\r\n0\t;\r\n\r\n"), b"hello");
    assert_eq!(data(b"5;\xc3\xa9\r\nhello\r\n0\r\n\r\n"), b"hello");
}

#[test]
fn bad_sizes() {
    for size in [
        "", " 5", "\t5", "+5", "-5", "0x5", "x", "g", "5 ", "5 5", "5,", "5h", "5\0", "\x005", "5.", "5_", "٥",
        "\"5\"", "\r", "\n", "5\x0b", "5\x0c", "-0", "0 0",
    ] {
        refused(format!("{size}\r\nhello\r\n0\r\n\r\n").as_bytes());
    }
}

#[test]
fn sizes_that_overflow() {
    for size in [
        "8000000000000000",
        "ffffffffffffffff",
        "FFFFFFFFFFFFFFFF",
        "10000000000000005",
        "00000000000000005",
        "fffffffffffffffff",
        "100000000000000000000000000000005",
    ] {
        refused(format!("{size}\r\nhello\r\n0\r\n\r\n").as_bytes());
    }
    let mut decoder = ChunkedDecoder::default();
    let (consumed, event) = decoder.decode(b"7fffffffffffffff\r\n").unwrap();
    assert_eq!((consumed, event), (18, ChunkEvent::NeedMore));
    assert_eq!(decoder.chunk_remaining(), i64::MAX as u64);
}

#[test]
fn line_ends_are_cr_lf() {
    refused(b"5\nhello\r\n0\r\n\r\n");
    refused(b"5\rhello\r\n0\r\n\r\n");
    refused(b"5\r\rhello\r\n0\r\n\r\n");
    refused(b"5;a\nhello\r\n0\r\n\r\n");
    refused(b"5;a\rb\r\nhello\r\n0\r\n\r\n");
    refused(b"5;a\0\r\nhello\r\n0\r\n\r\n");
    refused(b"5\r\nhello\n0\r\n\r\n");
    refused(b"5\r\nhello\r0\r\n\r\n");
    refused(b"5\r\nhello0\r\n\r\n");
    refused(b"5\r\nhello!\r\n0\r\n\r\n");
    refused(b"4\r\nhello\r\n0\r\n\r\n");
    refused(b"0\n\n");
    refused(b"0\r\n\n");
    refused(b"0\r\n\r\r\n");
    refused(b"0\r\nA: b\n\r\n");
}

#[test]
fn extensions_are_bounded() {
    let long = format!("5;{}\r\nhello\r\n0\r\n\r\n", "x".repeat(300));
    refused(long.as_bytes());
    let fits = format!("5;{}\r\nhello\r\n0\r\n\r\n", "x".repeat(200));
    assert_eq!(data(fits.as_bytes()), b"hello");
    let many = format!("1;{}\r\nx\r\n", "y".repeat(200)).repeat(200);
    refused(many.as_bytes());
}

#[test]
fn small_honest_chunks_are_no_attack() {
    let mut body = b"1\r\nx\r\n".repeat(20_000);
    body.extend_from_slice(b"0\r\n\r\n");
    let decoded = decode_in_pieces(&body, 4096, ChunkLimits::default()).unwrap().unwrap();
    assert_eq!(decoded.data.len(), 20_000);
}

fn trailers(input: &[u8]) -> Vec<(String, String)> {
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    decode(input).unwrap().unwrap().trailers.into_iter().map(|(n, v)| (text(n), text(v))).collect()
}

#[test]
fn trailer_fields() {
    assert_eq!(trailers(b"0\r\nA: b\r\n\r\n"), [("A".into(), "b".into())]);
    assert_eq!(
        trailers(b"1\r\nx\r\n0\r\nX-Sum:\t1 2 \r\nEmpty:\r\nx-sum: 3\r\n\r\n"),
        [("X-Sum".into(), "1 2".into()), ("Empty".into(), String::new()), ("x-sum".into(), "3".into())]
    );
}

#[test]
fn bad_trailer_fields() {
    for line in
        ["A b", "A : b", ": b", " A: b", "A: b\r\n c", "A: b\r\n\tc", "A: \0", "A: b\rc", "A\0: b", "A(: b", "A: \x7f"]
    {
        refused(format!("0\r\n{line}\r\n\r\n").as_bytes());
    }
}

#[test]
fn forbidden_trailer_fields() {
    for name in [
        "Transfer-Encoding",
        "content-length",
        "HOST",
        "Trailer",
        "TE",
        "Connection",
        "Upgrade",
        "Expect",
        "Authorization",
        "Cookie",
        "Set-Cookie",
        "Content-Type",
        "Content-Encoding",
        "Content-Range",
        "Cache-Control",
        "Max-Forwards",
    ] {
        refused(format!("0\r\n{name}: 5\r\n\r\n").as_bytes());
    }
}

#[test]
fn trailers_are_bounded() {
    let status = |input: &[u8], limits| decode_with(input, limits).map_err(|reject| reject.status);
    let limits = ChunkLimits { max_trailer: 20, max_trailers: 2, ..ChunkLimits::default() };
    assert!(status(b"0\r\nA: 1\r\nB: 2\r\n\r\n", limits).is_ok());
    assert_eq!(status(b"0\r\nA: 1\r\nB: 2\r\nC: 3\r\n\r\n", limits), Err(431));
    assert_eq!(status(b"0\r\nA: 1234567890123456789\r\n\r\n", limits), Err(431));
    assert_eq!(status(b"0\r\nA: 12345\r\nB: 12345\r\n\r\n", limits), Err(431));
    assert_eq!(status(&[b"0\r\n".as_slice(), &[b'A'; 100]].concat(), limits), Err(431), "without a line end");
}

#[test]
fn nothing_is_taken_after_the_end() {
    let mut decoder = ChunkedDecoder::default();
    assert_eq!(decoder.decode(b"0\r\n\r\nrest"), Ok((5, ChunkEvent::End)));
    assert_eq!(decoder.decode(b"rest"), Ok((0, ChunkEvent::End)));
}

#[test]
fn data_is_not_copied_nor_cut_short() {
    let mut decoder = ChunkedDecoder::default();
    assert_eq!(decoder.decode(b"8\r\nabc"), Ok((6, ChunkEvent::Data(3..6))));
    assert_eq!(decoder.chunk_remaining(), 5);
    assert_eq!(decoder.decode(b"defgh\r\n"), Ok((5, ChunkEvent::Data(0..5))));
    assert_eq!(decoder.decode(b"\r\n0\r\n\r\n"), Ok((7, ChunkEvent::End)));
}

#[test]
fn every_change_of_one_byte_has_one_verdict() {
    let body = b"5;a=b\r\nhello\r\n1F\r\n0123456789012345678901234567890\r\n0\r\nX-A: b\r\n\r\n";
    for at in 0..body.len() {
        for &byte in b"\0\t\n\r ;:+-0fgX\x7f\xff" {
            let mut input = body.to_vec();
            input[at] = byte;
            // `decode` compares all ways of cutting; data never holds more than what was sent.
            if let Ok(Some(decoded)) = decode(&input) {
                assert!(decoded.data.len() + decoded.rest < body.len());
            }
        }
    }
}
