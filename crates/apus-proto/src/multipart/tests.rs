//! Multipart bodies: every one is fed whole and in pieces of every size, and must read the same.

use super::*;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Part {
    name: String,
    filename: Option<String>,
    content_type: String,
    data: Vec<u8>,
    ended: bool,
}

type Outcome = Result<(Vec<Part>, bool), Error>;

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Feeds pieces of that size; the parts, and whether the closing delimiter was seen.
fn read_in_pieces(body: &[u8], piece: usize, boundary: &[u8], limits: Limits) -> Outcome {
    let mut parser = Multipart::new(boundary, limits)?;
    let mut parts: Vec<Part> = Vec::new();
    let mut ended = false;
    for bytes in body.chunks(piece) {
        let mut at = 0;
        loop {
            let (consumed, event) = parser.feed(&bytes[at..])?;
            match event {
                Event::PartBegin(head) => parts.push(Part {
                    name: text(&head.name),
                    filename: head.filename.as_deref().map(text),
                    content_type: text(&head.content_type),
                    ..Part::default()
                }),
                Event::Data(data) => {
                    assert!(!data.is_empty());
                    parts.last_mut().unwrap().data.extend_from_slice(data);
                }
                Event::PartEnd => parts.last_mut().unwrap().ended = true,
                Event::NeedMore => {
                    assert_eq!(at + consumed, bytes.len());
                    break;
                }
                Event::End => {
                    ended = true;
                    break;
                }
            }
            at += consumed;
        }
    }
    if let Ending::InPart { cut } = parser.finish() {
        let part = parts.last_mut().unwrap();
        assert!(!part.ended);
        part.ended = !cut;
    }
    assert_eq!(ended, parser.finish() == Ending::Complete);
    Ok((parts, ended))
}

fn read_with(body: &[u8], boundary: &[u8], limits: Limits) -> Outcome {
    let whole = read_in_pieces(body, body.len().max(1), boundary, limits);
    for piece in 1..body.len() {
        assert_eq!(read_in_pieces(body, piece, boundary, limits), whole, "pieces of {piece}: {}", body.escape_ascii());
    }
    whole
}

fn read(body: &[u8]) -> Vec<Part> {
    let (parts, ended) = read_with(body, b"xyz", Limits::default()).unwrap();
    assert!(ended, "{}", body.escape_ascii());
    parts
}

/// The one part with that head, whose content is `c`.
fn head(lines: &str) -> Option<Part> {
    let mut parts = read(format!("--xyz\r\n{lines}\r\n\r\nc\r\n--xyz--\r\n").as_bytes());
    assert!(parts.iter().all(|part| part.data == b"c" && part.ended));
    assert!(parts.len() < 2);
    parts.pop()
}

/// The content of the one field of a body, its head left out.
fn content(rest: &[u8]) -> Vec<u8> {
    let body = [b"--xyz\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n".as_slice(), rest].concat();
    let parts = read(&body);
    assert_eq!(parts.len(), 1);
    assert!(parts[0].ended);
    parts[0].data.clone()
}

#[test]
fn a_form_with_a_file() {
    let body = b"--xyz\r\nContent-Disposition: form-data; name=\"field[]\"\r\n\r\nvalue\r\n--xyz\r\n\
        content-disposition: form-data; name=\"up\"; filename=\"a.txt\"\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n\
        line\r\nline\r\n\r\n--xyz--\r\n";
    let parts = read(body);
    let field = Part { name: "field[]".into(), data: b"value".to_vec(), ended: true, ..Part::default() };
    let file = Part {
        name: "up".into(),
        filename: Some("a.txt".into()),
        content_type: "text/plain".into(),
        data: b"line\r\nline\r\n".to_vec(),
        ended: true,
    };
    assert_eq!(parts, [field, file]);
}

#[test]
fn preamble_and_epilogue_are_ignored() {
    let body = b"This is\r\n--xy\r\n--xyzz\r\na preamble\r\n--xyz\r\nContent-Disposition: form-data; name=a\r\n\r\n1\r\n--xyz--\
        \r\nepilogue\r\n--xyz\r\nContent-Disposition: form-data; name=b\r\n\r\n2\r\n--xyz--";
    let parts = read(body);
    assert_eq!(parts.len(), 1);
    assert_eq!(parts[0].name, "a");
    assert!(read(b"--xyz--").is_empty());
    assert!(read(b"\r\n--xyz--\r\n").is_empty());
    assert!(read(b"\n--xyz--x").is_empty());
}

#[test]
fn contents() {
    assert_eq!(content(b"\r\n--xyz--"), b"");
    assert_eq!(content(b"--xyz--"), b"", "the empty line ends the head and begins the delimiter");
    assert_eq!(content(b"\r\n\r\n--xyz--"), b"\r\n");
    assert_eq!(content(b"a\r\n--xyz--"), b"a");
    assert_eq!(content(b"a\n--xyz--"), b"a");
    assert_eq!(content(b"a\r\r\n--xyz--"), b"a\r");
    assert_eq!(content(b"a\n\n--xyz--"), b"a\n");
    assert_eq!(content(b"a\0\xff\r\n--xyz--"), b"a\0\xff");
    assert_eq!(content(b"a--xyz--\r\n--xyz--"), b"a--xyz--");
    assert_eq!(content(b"--xy\r\n--xyz--"), b"--xy");
    assert_eq!(content(b"a\r\n--xy\r\n--xyz--"), b"a\r\n--xy");
    assert_eq!(content(b"a\r\n-\r\n--\r\n--x\r\n--xyz--"), b"a\r\n-\r\n--\r\n--x");
    assert_eq!(content(b"a\r\n--xyzz\r\n--xyz--"), b"a\r\n--xyzz");
    assert_eq!(content(b"a\n--xyz-\n--xyz--"), b"a\n--xyz-");
    assert_eq!(content(b"a\r\n--xyz-x\r\n--xyz--"), b"a\r\n--xyz-x");
    assert_eq!(content(b"a\r\n--xyz\rb\r\n--xyz--"), b"a\r\n--xyz\rb");
    assert_eq!(content(b"a\r\n--xyz\r\r\n--xyz--"), b"a\r\n--xyz\r");
    assert_eq!(content(b"a\r\n--XYZ--\r\n--xyz--"), b"a\r\n--XYZ--");
    assert_eq!(content(b"a\r\n\r--xyz--\r\n--xyz--"), b"a\r\n\r--xyz--");
}

#[test]
fn delimiter_lines() {
    let second = b"Content-Disposition: form-data; name=b\r\n\r\n2\r\n--xyz--";
    for end in ["\r\n", "\n", " \r\n", " \t \n", "\t\r\n"] {
        let body = [b"--xyz".as_slice(), end.as_bytes(), second].concat();
        assert_eq!(read(&body).len(), 1, "{end:?}");
    }
    for end in [" x\r\n", " \rx\r\n", " \r\r\n"] {
        let body = [b"--xyz".as_slice(), end.as_bytes(), second].concat();
        assert_eq!(read_with(&body, b"xyz", Limits::default()), Err(Error::BadDelimiter), "{end:?}");
    }
    let long = [b"--xyz".as_slice(), &[b' '; 100], b"\r\n", second].concat();
    assert_eq!(read_with(&long, b"xyz", Limits::default()), Err(Error::BadDelimiter));
}

#[test]
fn lone_line_feeds_will_do() {
    let parts = read(b"--xyz\nContent-Disposition: form-data; name=\"a\"\nContent-Type: x/y\n\n1\n--xyz--\n");
    assert_eq!((parts[0].name.as_str(), parts[0].content_type.as_str(), &parts[0].data[..]), ("a", "x/y", &b"1"[..]));
}

#[test]
fn names() {
    let name = |disposition: &str| head(&format!("Content-Disposition: {disposition}")).map(|part| part.name);
    for (disposition, expected) in [
        ("form-data; name=\"a b\"", "a b"),
        ("form-data; name=a", "a"),
        ("form-data;name=a;x=y", "a"),
        ("form-data; NAME=\"a\"", "a"),
        ("form-data; name='a\"b'", "a\"b"),
        ("form-data; name=\"a;b=c\"", "a;b=c"),
        ("form-data; name=\"a\\\"b\"", "a\"b"),
        ("form-data; name=\"a\\\\\"", "a\\"),
        ("form-data; name=\"a\\b\"", "a\\b"),
        ("form-data; name=\"a%22b\"", "a%22b"),
        ("form-data; name=\"\"", ""),
        ("form-data; name=", ""),
        ("form-data; name=a b", "a"),
        ("form-data; name=\"open", "open"),
        ("form-data; name=\"a\"; name=\"b\"", "b"),
        ("name=a", "a"),
        ("attachment; name=\"grüße[x][]\"", "grüße[x][]"),
    ] {
        assert_eq!(name(disposition).as_deref(), Some(expected), "{disposition}");
    }
}

#[test]
fn file_names() {
    let filename = |value: &str| {
        head(&format!("Content-Disposition: form-data; name=\"a\"; filename={value}")).unwrap().filename.unwrap()
    };
    for (value, expected) in [
        ("\"a.txt\"", "a.txt"),
        ("a.txt", "a.txt"),
        ("\"\"", ""),
        ("\"a\\\"b\\\\c.txt\"", "a\"b\\c.txt"),
        ("\"C:\\dir\\file.txt\"", "C:\\dir\\file.txt"),
        ("\"a;b.txt\"", "a;b.txt"),
        ("\"a=b.txt\"", "a=b.txt"),
        ("\"it's\"", "it's"),
        ("'a b'", "a b"),
        ("\"%22\"", "%22"),
        ("\"../../etc/passwd\"", "../../etc/passwd"),
        ("\"gr\u{fc}n.txt\"; filename*=UTF-8''x", "gr\u{fc}n.txt"),
    ] {
        assert_eq!(filename(value), expected, "{value}");
    }
    assert_eq!(head("Content-Disposition: form-data; name=a; filename*=UTF-8''x").unwrap().filename, None);
}

#[test]
fn base_names() {
    for (filename, expected) in [
        ("a.txt", "a.txt"),
        ("/etc/passwd", "passwd"),
        ("C:\\dir\\file.txt", "file.txt"),
        ("a\\b/c", "c"),
        ("a/b\\c", "c"),
        ("dir/", ""),
        ("", ""),
    ] {
        assert_eq!(basename(filename.as_bytes()), expected.as_bytes());
    }
}

#[test]
fn part_heads() {
    let part =
        head("X-Other: 1\r\ncontent-type: image/png;x\r\nCONTENT-DISPOSITION: form-data; name=a; filename=b").unwrap();
    assert_eq!((part.name.as_str(), part.content_type.as_str()), ("a", "image/png"));
    let folded = head("Content-Disposition: form-data;\r\n name=\"a\";\r\n\tfilename=\"b\"").unwrap();
    assert_eq!((folded.name.as_str(), folded.filename.as_deref()), ("a", Some("b")));
    let twice = head("Content-Disposition: form-data; name=a\r\nContent-Disposition: form-data; name=b").unwrap();
    assert_eq!(twice.name, "a");
    assert_eq!(head("Content-Disposition: form-data; name=a").unwrap().content_type, "");
}

#[test]
fn parts_that_name_nothing_are_skipped() {
    assert_eq!(head("X: y"), None);
    assert_eq!(head("Content-Disposition: form-data"), None);
    assert_eq!(head("Content-Disposition : form-data; name=a"), None);
    assert_eq!(head("Content-Type: text/plain"), None);
    assert!(read(b"--xyz\r\n\r\nno head\r\n--xyz--").is_empty());
}

#[test]
fn files_without_a_name_are_numbered() {
    let part = "Content-Disposition: form-data; filename=x\r\n\r\n\r\n--xyz";
    let parts = read(format!("--xyz\r\n{part}\r\n{part}--").as_bytes());
    assert_eq!(parts.iter().map(|part| part.name.as_str()).collect::<Vec<_>>(), ["0", "1"]);
}

#[test]
fn bodies_cut_short() {
    let whole = b"--xyz\r\nContent-Disposition: form-data; name=a\r\n\r\nhello\r\n--xyz--\r\n";
    let read = |len: usize| read_with(&whole[..len], b"xyz", Limits::default()).unwrap();
    let content_at = whole.windows(5).position(|w| w == b"hello").unwrap();
    assert_eq!(read(content_at - 1), (vec![], false));
    let cut = |len: usize| read(len).0.pop().map(|part| (text(&part.data), part.ended)).unwrap();
    assert_eq!(cut(content_at), (String::new(), false));
    assert_eq!(cut(content_at + 3), ("hel".into(), false));
    assert_eq!(cut(content_at + 6), ("hello".into(), false));
    assert_eq!(cut(content_at + 11), ("hello".into(), false));
    assert_eq!(cut(content_at + 12), ("hello".into(), true), "the delimiter is there, its line is not");
    assert_eq!(cut(content_at + 13), ("hello".into(), true));
    assert!(read(content_at + 14).1);
    assert_eq!(Multipart::new(b"xyz", Limits::default()).unwrap().finish(), Ending::NoDelimiter);
}

#[test]
fn limits() {
    let part = "Content-Disposition: form-data; name=a\r\n\r\n1\r\n--xyz";
    let body = format!("--xyz\r\n{part}\r\n{part}\r\n{part}--");
    let with = |max_parts, max_part_head| {
        read_with(body.as_bytes(), b"xyz", Limits { max_parts, max_part_head }).map(|(parts, _)| parts.len())
    };
    assert_eq!(with(3, 42), Ok(3));
    assert_eq!(with(2, 42), Err(Error::TooManyParts));
    assert_eq!(with(3, 41), Err(Error::PartHeadTooLarge));
    assert_eq!(Error::TooManyParts.status(), 413);
    let nul = b"--xyz\r\nContent-Disposition: form-data; name=\"a\0b\"\r\n\r\n1\r\n--xyz--";
    assert_eq!(read_with(nul, b"xyz", Limits::default()), Err(Error::BadPartHead));
}

#[test]
fn boundaries() {
    let ok = |content_type: &str, expected: &str| {
        assert_eq!(boundary(content_type.as_bytes()), Ok(expected.as_bytes()), "{content_type}");
    };
    ok("multipart/form-data; boundary=abc", "abc");
    ok("multipart/form-data;BOUNDARY=abc", "abc");
    ok("multipart/form-data; charset=x; boundary=\"a b'()+_,-./:=?\"", "a b'()+_,-./:=?");
    ok("multipart/form-data; boundary=abc ; charset=x", "abc");
    ok("multipart/form-data; boundary=----WebKitFormBoundaryAbC123", "----WebKitFormBoundaryAbC123");
    ok("multipart/form-data; boundary=a,b", "a");
    ok("multipart/form-data; boundary = abc", "abc");
    for missing in
        ["multipart/form-data", "multipart/form-data; charset=x", "multipart/form-data; boundary", "boundary=x"]
    {
        assert_eq!(boundary(missing.as_bytes()), Err(Error::MissingBoundary), "{missing}");
    }
    for bad in ["boundary=", "boundary=\"\"", "boundary=\"abc", "boundary=\"abc \"", "boundary=\u{fc}", "boundary=a\tb"]
    {
        assert_eq!(boundary(format!("multipart/form-data; {bad}").as_bytes()), Err(Error::BadBoundary), "{bad}");
    }
    let long = format!("multipart/form-data; boundary={}", "x".repeat(201));
    assert_eq!(boundary(long.as_bytes()), Err(Error::BadBoundary));
    assert_eq!(Multipart::new(b"", Limits::default()).map(|_| ()), Err(Error::BadBoundary));
    assert_eq!(Multipart::new(b"a\r\nb", Limits::default()).map(|_| ()), Err(Error::BadBoundary));
}

#[test]
fn boundary_of_dashes() {
    for boundary in ["-", "--", "----", "- -"] {
        let body =
            format!("--{boundary}\r\nContent-Disposition: form-data; name=a\r\n\r\n-\r\n-\r\n--\r\n--{boundary}--\r\n");
        let (parts, ended) = read_with(body.as_bytes(), boundary.as_bytes(), Limits::default()).unwrap();
        assert!(ended, "{boundary}");
        assert_eq!(parts.len(), 1, "{boundary}");
        assert_eq!(parts[0].data, b"-\r\n-\r\n--", "{boundary}");
    }
}

#[test]
fn large_contents_pass_through_in_large_pieces() {
    let data: Vec<u8> = (0..300_000u32).flat_map(|n| [b'\r', b'\n', b'-', b'-', n as u8]).collect();
    let head = b"--xyz\r\nContent-Disposition: form-data; name=a; filename=b\r\n\r\n";
    let body = [head.as_slice(), &data, b"\r\n--xyz--"].concat();
    for piece in [4096, 65_536, 1_000_003] {
        let (parts, _) = read_in_pieces(&body, piece, b"xyz", Limits::default()).unwrap();
        assert!(parts[0].data == data);
    }
}

#[test]
fn every_change_of_one_byte_reads_the_same_however_it_is_cut() {
    let body = b"--xyz\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--xyz\r\nContent-Disposition: x; \
        filename=\"b\"\r\nContent-Type: c/d\r\n\r\n2\r\n--xyz--\r\n";
    for at in 0..body.len() {
        for &byte in b"\0\t\n\r -\"'\\;=:x\x7f" {
            let mut input = body.to_vec();
            input[at] = byte;
            let limits = Limits { max_parts: 4, max_part_head: 100 };
            let whole = read_in_pieces(&input, input.len(), b"xyz", limits);
            for piece in [1, 2, 3, 7, 31] {
                assert_eq!(read_in_pieces(&input, piece, b"xyz", limits), whole, "{piece}: {}", input.escape_ascii());
            }
        }
    }
}
