//! What responses are written with.

use super::Version;
use super::response::*;

fn written(write: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut out = Vec::new();
    write(&mut out);
    String::from_utf8(out).unwrap()
}

#[test]
fn status_lines() {
    let line = |version, status, custom: Option<&str>| {
        written(|out| write_status_line(out, version, status, custom.map(str::as_bytes)))
    };
    assert_eq!(line(Version::Http11, 200, None), "HTTP/1.1 200 OK\r\n");
    assert_eq!(line(Version::Http10, 200, None), "HTTP/1.0 200 OK\r\n");
    assert_eq!(line(Version::Http11, 404, None), "HTTP/1.1 404 Not Found\r\n");
    assert_eq!(line(Version::Http11, 200, Some("Fine")), "HTTP/1.1 200 Fine\r\n");
    assert_eq!(line(Version::Http11, 299, None), "HTTP/1.1 299 \r\n");
    assert_eq!(line(Version::Http11, 999, Some("")), "HTTP/1.1 999 \r\n");
    assert_eq!(line(Version::Http11, 0, None), "HTTP/1.1 500 Internal Server Error\r\n");
    assert_eq!(line(Version::Http11, 1000, None), "HTTP/1.1 500 Internal Server Error\r\n");
}

#[test]
fn every_status_this_crate_rejects_with_has_a_reason() {
    for status in [400, 408, 411, 413, 414, 417, 431, 500, 501, 503, 505] {
        assert!(!reason(status).is_empty(), "{status}");
    }
    assert_eq!(reason(299), "");
    assert_eq!(reason(42), "");
}

#[test]
fn field_lines() {
    assert_eq!(written(|out| write_field(out, b"A", b"b")), "A: b\r\n");
    assert_eq!(written(|out| write_content_length(out, 0, 0)), "Content-Length: 0\r\n");
    assert_eq!(written(|out| write_content_length(out, u64::MAX, 0)), "Content-Length: 18446744073709551615\r\n");
    assert_eq!(written(|out| write_content_length(out, 100, 7)), "Content-Length: 0000100\r\n");
    assert_eq!(written(|out| write_content_length(out, 100, 2)), "Content-Length: 100\r\n");
}

#[test]
fn chunks() {
    assert_eq!(written(|out| write_chunk(out, b"hello")), "5\r\nhello\r\n");
    assert_eq!(written(|out| write_chunk(out, b"")), "");
    assert_eq!(written(|out| write_chunk_size(out, 0x12ab)), "12ab\r\n");
    assert_eq!(written(|out| write_chunk_size(out, usize::MAX)), "ffffffffffffffff\r\n");
    assert_eq!(written(|out| write_last_chunk(out, &[])), "0\r\n\r\n");
    assert_eq!(written(|out| write_last_chunk(out, &[(b"A", b"b"), (b"C", b"d")])), "0\r\nA: b\r\nC: d\r\n\r\n");
}

#[test]
fn written_chunks_are_read_back() {
    let mut out = Vec::new();
    for len in [1, 15, 16, 17, 255, 256, 5000] {
        write_chunk(&mut out, &vec![b'x'; len]);
    }
    write_last_chunk(&mut out, &[(b"X-Sum", b"1")]);
    let mut decoder = super::ChunkedDecoder::default();
    let (mut at, mut total) = (0, 0);
    while !decoder.is_end() {
        let (consumed, event) = decoder.decode(&out[at..]).unwrap();
        at += consumed;
        if let super::ChunkEvent::Data(range) = event {
            total += range.len();
        }
    }
    assert_eq!((at, total), (out.len(), 1 + 15 + 16 + 17 + 255 + 256 + 5000));
    assert_eq!(decoder.trailers(), [(b"X-Sum".to_vec(), b"1".to_vec())]);
}

#[test]
fn statuses_without_a_body() {
    for status in [100, 101, 103, 204, 205, 304] {
        assert!(!status_has_body(status), "{status}");
    }
    assert!(status_has_body(200) && status_has_body(404));
}

#[test]
fn field_text() {
    assert!(is_field_name(b"X-A") && !is_field_name(b"") && !is_field_name(b"X A") && !is_field_name(b"X:"));
    assert!(is_field_value(b"a\tb \xff") && is_field_value(b""));
    for byte in (0..=255u8).filter(|b| (*b < 0x20 && *b != b'\t') || *b == 0x7f) {
        assert!(!is_field_value(&[b'a', byte]), "{byte:#x}");
        assert!(!is_reason(&[byte]), "{byte:#x}");
    }
}

#[test]
fn what_frames_or_routes_is_no_trailer() {
    for name in
        ["Content-Length", "TRANSFER-ENCODING", "host", "Trailer", "Set-Cookie", "Content-Type", "te", "Connection"]
    {
        assert!(!may_be_trailer(name.as_bytes()), "{name}");
    }
    for name in ["X-Sum", "Server-Timing", "Digest", "ETag", "grpc-status"] {
        assert!(may_be_trailer(name.as_bytes()), "{name}");
    }
}
