use super::hpack::{Decoder, Encoder, Indexing, ListLimits};
use super::{ErrorCode, HeadDecoder, HeadError, HeadLimits, Priority, encode_lines};
use crate::http1::{Framing, RequestHead, Version};

type Pairs<'a> = &'a [(&'a str, &'a str)];

const GET: [(&str, &str); 4] = [(":method", "GET"), (":scheme", "https"), (":authority", "a.b"), (":path", "/x?y=z")];

fn block(fields: Pairs<'_>) -> Vec<u8> {
    let mut encoder = Encoder::new(4096);
    let mut out = Vec::new();
    for (name, value) in fields {
        encoder.field(name.as_bytes(), value.as_bytes(), Indexing::Without, &mut out);
    }
    out
}

struct Read {
    bytes: Vec<u8>,
    head: RequestHead,
    priority: Option<Priority>,
}

impl Read {
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }

    fn fields(&self) -> Vec<(String, String)> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        self.head.headers.iter().map(|(n, v)| (text(n.of(&self.bytes)), text(v.of(&self.bytes)))).collect()
    }
}

fn read(fields: Pairs<'_>, end_stream: bool) -> Result<Read, HeadError> {
    let (mut bytes, mut head) = (b"old".to_vec(), RequestHead::default());
    let mut decoder = HeadDecoder::default();
    let priority = decoder.request(&block(fields), end_stream, &HeadLimits::default(), &mut bytes, &mut head)?;
    Ok(Read { bytes, head, priority })
}

fn with(more: Pairs<'_>) -> Vec<(&'static str, String)> {
    GET.iter().map(|(n, v)| (*n, (*v).to_owned())).chain(more.iter().map(|(n, v)| (leak(n), (*v).to_owned()))).collect()
}

fn leak(text: &str) -> &'static str {
    Box::leak(text.to_owned().into_boxed_str())
}

fn read_with(more: Pairs<'_>, end_stream: bool) -> Result<Read, HeadError> {
    let all = with(more);
    let pairs: Vec<(&str, &str)> = all.iter().map(|(n, v)| (*n, v.as_str())).collect();
    read(&pairs, end_stream)
}

#[test]
fn a_request_has_the_shape_of_http1() {
    let fields = [("accept", "*/*"), ("cookie", "a=1"), ("user-agent", "u"), ("cookie", "b=2"), ("priority", "u=1, i")];
    let Ok(read) = read_with(&fields, true) else { panic!("refused") };
    let text = "GET /x?y=z HTTP/2\r\nhost: a.b\r\naccept: */*\r\nuser-agent: u\r\npriority: u=1, i\r\n\
                cookie: a=1; b=2\r\n\r\n";
    assert_eq!(read.text(), text);
    let (bytes, head) = (&read.bytes, &read.head);
    assert_eq!(head.method.of(bytes), b"GET");
    assert_eq!(head.target.of(bytes), b"/x?y=z");
    assert_eq!(head.path.of(bytes), b"/x");
    assert_eq!(head.query.map(|query| query.of(bytes)), Some(&b"y=z"[..]));
    assert_eq!(head.host.map(|host| host.of(bytes)), Some(&b"a.b"[..]));
    assert_eq!(head.header(bytes, b"Cookie"), Some(&b"a=1; b=2"[..]));
    assert_eq!((head.version, head.framing, head.head_len), (Version::Http2, Framing::None, bytes.len()));
    assert!(head.keep_alive && !head.upgrade && !head.expect_continue && head.protocol.is_none());
    assert_eq!(read.priority, Some(Priority { urgency: 1, incremental: true }));
    let names: Vec<String> = read.fields().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["host", "accept", "user-agent", "priority", "cookie"]);
}

#[test]
fn bodies_are_framed() {
    let framing =
        |more: Pairs<'_>, end| read_with(more, end).map(|read| (read.head.framing, read.head.expect_continue));
    assert_eq!(framing(&[], false), Ok((Framing::Chunked, false)));
    assert_eq!(framing(&[("content-length", "5")], false), Ok((Framing::Length(5), false)));
    assert_eq!(framing(&[("content-length", "0")], true), Ok((Framing::Length(0), false)));
    assert_eq!(framing(&[("expect", "100-continue")], false), Ok((Framing::Chunked, true)));
    assert_eq!(framing(&[("expect", "100-continue")], true), Ok((Framing::None, false)));
}

#[test]
fn host_stands_for_the_authority() {
    let pseudo = [(":method", "GET"), (":scheme", "http"), (":path", "/")];
    let Ok(request) = read(&[&pseudo[..], &[("host", "c.d:80")]].concat(), true) else { panic!("refused") };
    assert_eq!(request.text(), "GET / HTTP/2\r\nhost: c.d:80\r\n\r\n");
    assert_eq!(request.head.host.map(|host| host.of(&request.bytes)), Some(&b"c.d:80"[..]));
    assert!(
        read_with(&[("host", "A.b")], true).is_ok_and(|read| read.text() == "GET /x?y=z HTTP/2\r\nhost: a.b\r\n\r\n")
    );
}

#[test]
fn connect_has_two_forms() {
    let Ok(tunnel) = read(&[(":method", "CONNECT"), (":authority", "a.b:443")], false) else { panic!("refused") };
    assert_eq!(tunnel.text(), "CONNECT a.b:443 HTTP/2\r\nhost: a.b:443\r\n\r\n");
    assert_eq!((tunnel.head.path.len(), tunnel.head.framing), (0, Framing::None));
    let extended = [
        (":method", "CONNECT"),
        (":protocol", "websocket"),
        (":scheme", "https"),
        (":path", "/chat"),
        (":authority", "a.b"),
        ("sec-websocket-version", "13"),
    ];
    let Ok(socket) = read(&extended, false) else { panic!("refused") };
    assert_eq!(socket.head.protocol.map(|protocol| protocol.of(&socket.bytes)), Some(&b"websocket"[..]));
    assert_eq!(socket.head.path.of(&socket.bytes), b"/chat");
    assert_eq!(socket.head.framing, Framing::None);
    let mut limits = HeadLimits { connect_protocol: false, ..HeadLimits::default() };
    let request = |limits: &HeadLimits| {
        HeadDecoder::default().request(&block(&extended), false, limits, &mut Vec::new(), &mut RequestHead::default())
    };
    assert_eq!(request(&limits), Err(HeadError::Malformed("unknown pseudo-field")));
    limits.connect_protocol = true;
    assert_eq!(request(&limits), Ok(None));
}

#[test]
fn malformed_pseudo_fields_are_refused() {
    let (m, s, a, p) = (GET[0], GET[1], GET[2], GET[3]);
    let cases: [&[(&str, &str)]; 27] = [
        &[s, a, p],
        &[m, a, p],
        &[m, s, a],
        &[m, s, p],
        &[m, m, s, a, p],
        &[m, s, s, a, p],
        &[m, s, a, a, p],
        &[m, s, a, p, p],
        &[m, s, a, p, (":status", "200")],
        &[m, s, a, p, (":unknown", "x")],
        &[m, s, a, p, (":", "x")],
        &[m, s, a, ("accept", "x"), p],
        &[m, s, a, p, ("accept", "x"), (":path", "/")],
        &[(":Method", "GET"), s, a, p],
        &[(":method", ""), s, a, p],
        &[(":method", "G ET"), s, a, p],
        &[m, (":scheme", ""), a, p],
        &[m, (":scheme", "ht tp"), a, p],
        &[m, s, (":authority", ""), p],
        &[m, s, (":authority", "user@a.b"), p],
        &[m, s, (":authority", "a b"), p],
        &[m, s, a, (":path", "")],
        &[m, s, a, (":path", "x")],
        &[m, s, a, (":path", "*")],
        &[m, s, a, (":path", "/a b")],
        &[m, s, a, (":path", "/a\r\nhost: b")],
        &[m, s, a, p, (":protocol", "websocket")],
    ];
    for fields in cases {
        assert!(matches!(read(fields, true).err(), Some(HeadError::Malformed(_))), "{fields:?}");
    }
    let connects: [&[(&str, &str)]; 6] = [
        &[a],
        &[a, p],
        &[s, (":authority", "a.b:1")],
        &[(":authority", ":1")],
        &[(":authority", "a.b:1"), ("content-length", "1")],
        &[s, p, (":protocol", "websocket"), ("host", "a.b")],
    ];
    for fields in connects {
        let fields = [&[(":method", "CONNECT")], fields].concat();
        assert!(matches!(read(&fields, false).err(), Some(HeadError::Malformed(_))), "{fields:?}");
    }
}

#[test]
fn malformed_fields_are_refused() {
    let cases = [
        ("Accept", "x"),
        ("", "x"),
        ("a b", "x"),
        ("a:", "x"),
        ("a\0", "x"),
        ("\u{e9}", "x"),
        ("a", "x\r\nb: c"),
        ("a", "x\n"),
        ("a", "x\0"),
        ("a", " x"),
        ("a", "x\t"),
        ("connection", "close"),
        ("keep-alive", "1"),
        ("proxy-connection", "close"),
        ("transfer-encoding", "chunked"),
        ("upgrade", "h2c"),
        ("te", "gzip"),
        ("te", "trailers, gzip"),
        ("host", "other"),
        ("content-length", "x"),
        ("content-length", "1"),
        ("content-length", ""),
    ];
    for (name, value) in cases {
        let error = read_with(&[(name, value)], true).err();
        assert!(matches!(error, Some(HeadError::Malformed(_))), "{name:?}: {value:?}");
        assert_eq!(error.map(HeadError::code), Some(ErrorCode::PROTOCOL_ERROR));
    }
    assert!(read_with(&[("te", "trailers"), ("a", ""), ("b", "x\ty"), ("c", "\u{e9}")], true).is_ok());
    let twice = [("content-length", "1"), ("content-length", "1")];
    assert!(matches!(read_with(&twice, false).err(), Some(HeadError::Malformed(_))));
    assert!(matches!(read_with(&[("host", "a.b"), ("host", "a.b")], true).err(), Some(HeadError::Malformed(_))));
}

#[test]
fn what_is_too_much_has_a_status() {
    let long = "x".repeat(9000);
    let path = format!("/{long}");
    let crumbs: Vec<(&str, &str)> = GET.into_iter().chain((0..125).map(|_| ("cookie", "a=1"))).collect();
    let cases: [(&[(&str, &str)], u16); 6] = [
        (&[GET[0], GET[1], GET[2], (":path", &path)], 414),
        (&[GET[0], GET[1], GET[2], GET[3], ("a", &long), ("b", &long)], 431),
        (&crumbs, 431),
        (&[(":method", &long[..33]), GET[1], GET[2], GET[3]], 501),
        (&[GET[0], GET[1], GET[2], GET[3], ("expect", "x")], 417),
        (&[GET[0], GET[1], GET[2], GET[3], ("content-length", "99999999999999999999")], 413),
    ];
    for (fields, status) in cases {
        let Err(HeadError::Refused(reject)) = read(fields, false) else { panic!("{status}: not refused") };
        assert_eq!(reject.status, status);
    }
}

#[test]
fn a_broken_block_ends_the_connection() {
    let (mut bytes, mut head) = (Vec::new(), RequestHead::default());
    let broken = HeadDecoder::default().request(&[0xff], true, &HeadLimits::default(), &mut bytes, &mut head);
    assert_eq!(broken.map_err(HeadError::code), Err(ErrorCode::COMPRESSION_ERROR));
}

/// A request that is refused leaves the tables as they have to be for the next.
#[test]
fn a_refused_request_does_not_harm_the_next() {
    let mut encoder = Encoder::new(4096);
    let mut decoder = HeadDecoder::default();
    let (mut bytes, mut head) = (Vec::new(), RequestHead::default());
    let mut verdicts = Vec::new();
    for bad in [false, true, true, false] {
        let mut block = Vec::new();
        let first = if bad { &[(":bad", "x")][..] } else { &[] };
        for (name, value) in first.iter().chain(&GET).chain(&[("x-a", "1"), ("x-b", "2")]) {
            encoder.field(name.as_bytes(), value.as_bytes(), Indexing::Auto, &mut block);
        }
        verdicts.push(decoder.request(&block, true, &HeadLimits::default(), &mut bytes, &mut head).is_ok());
    }
    assert_eq!(verdicts, [true, false, false, true]);
    assert_eq!(bytes, b"GET /x?y=z HTTP/2\r\nhost: a.b\r\nx-a: 1\r\nx-b: 2\r\n\r\n");
}

#[test]
fn trailers_are_fields_without_pseudo_fields() {
    let (mut bytes, mut fields) = (Vec::new(), Vec::new());
    let mut read = |pairs: Pairs<'_>| {
        let mut decoder = HeadDecoder::default();
        decoder.trailers(&block(pairs), &ListLimits::default(), &mut bytes, &mut fields)?;
        Ok::<_, HeadError>((String::from_utf8_lossy(&bytes).into_owned(), fields.len()))
    };
    assert_eq!(read(&[("a", "1"), ("b", "2")]), Ok(("a: 1\r\nb: 2\r\n".to_owned(), 2)));
    assert!(read(&[(":status", "200")]).is_err());
    assert!(read(&[("connection", "close")]).is_err());
    assert!(read(&[("A", "1")]).is_err());
    let many: Vec<(&str, &str)> = (0..200).map(|_| ("a", "1")).collect();
    assert!(matches!(read(&many), Err(HeadError::Refused(_))));
}

#[test]
fn lines_become_fields() {
    let lines = b"Content-Type: text/html\r\nX-A:  b \r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\
                  Set-Cookie: a=b\r\nEmpty:\r\n";
    let long = format!("{}: v\r\n", "N".repeat(70));
    let mut out = Vec::new();
    encode_lines(&mut Encoder::new(4096), &[&lines[..], long.as_bytes()].concat(), &mut out);
    let mut got = Vec::new();
    let each = |field: super::hpack::Field<'_>| {
        got.extend_from_slice(&[field.name, b"=", field.value, b";"].concat());
    };
    assert!(Decoder::default().decode(&out, &ListLimits::default(), each).is_ok());
    let expected = format!("content-type=text/html;x-a=b;set-cookie=a=b;empty=;{}=v;", "n".repeat(70));
    assert_eq!(got, expected.into_bytes());
}
