//! The request head: what is read, and everything that is refused (RFC 9112 section 11.2 and chapters 3, 5, 6).

use super::{Framing, Limits, Parsed, RequestHead, Version, parse_request};

fn parse(input: &[u8]) -> Result<(Parsed, RequestHead), u16> {
    parse_with(input, &Limits::default())
}

fn parse_with(input: &[u8], limits: &Limits) -> Result<(Parsed, RequestHead), u16> {
    let mut head = RequestHead::default();
    match parse_request(input, limits, &mut head) {
        Ok(parsed) => Ok((parsed, head)),
        Err(reject) => Err(reject.status),
    }
}

/// Parses a head that must be complete, with these field lines after a request line and Host.
fn fields(lines: &str) -> Result<RequestHead, u16> {
    whole(format!("POST /p HTTP/1.1\r\nHost: h\r\n{lines}\r\n").as_bytes())
}

fn fields_10(lines: &str) -> Result<RequestHead, u16> {
    whole(format!("POST /p HTTP/1.0\r\n{lines}\r\n").as_bytes())
}

fn line(request_line: &str) -> Result<RequestHead, u16> {
    whole(format!("{request_line}\r\nHost: h\r\n\r\n").as_bytes())
}

/// Every verdict in these tests passes through here: it must be the same however the bytes are cut.
fn whole(input: &[u8]) -> Result<RequestHead, u16> {
    let limits = Limits::default();
    check_every_prefix(input, &limits);
    let (parsed, head) = parse_with(input, &limits)?;
    assert_eq!(parsed, Parsed::Complete, "{}", String::from_utf8_lossy(input));
    Ok(head)
}

fn check_every_prefix(input: &[u8], limits: &Limits) {
    let verdict = parse_with(input, limits);
    for cut in 0..input.len() {
        match parse_with(&input[..cut], limits) {
            Ok((Parsed::Partial, _)) => {}
            early => assert_eq!(early, verdict, "cut at {cut} of {}", String::from_utf8_lossy(input)),
        }
    }
}

#[test]
fn a_browser_s_request() {
    let buf =
        b"GET /a/b?x=1&y=2 HTTP/1.1\r\nHost: example.org:8080\r\nUser-Agent:  agent \t\r\nAccept:*/*\r\nEmpty:\r\n\
        X-Utf8: gr\xc3\xbc\xc3\x9fe\r\n\r\nBODY";
    let head = whole(&buf[..buf.len() - 4]).unwrap();
    assert_eq!(head.method.of(buf), b"GET");
    assert_eq!(head.target.of(buf), b"/a/b?x=1&y=2");
    assert_eq!(head.path_of(buf), b"/a/b");
    assert_eq!(head.query.unwrap().of(buf), b"x=1&y=2");
    assert_eq!(head.host.unwrap().of(buf), b"example.org:8080");
    assert_eq!(head.version, Version::Http11);
    assert_eq!(head.framing, Framing::None);
    assert!(head.keep_alive && !head.expect_continue && !head.upgrade);
    assert_eq!(head.head_len, buf.len() - 4);
    let lines: Vec<_> = head.headers.iter().map(|(n, v)| (n.of(buf), v.of(buf))).collect();
    let expected: [(&[u8], &[u8]); 5] = [
        (b"Host", b"example.org:8080"),
        (b"User-Agent", b"agent"),
        (b"Accept", b"*/*"),
        (b"Empty", b""),
        (b"X-Utf8", "grüße".as_bytes()),
    ];
    assert_eq!(lines, expected);
    assert_eq!(head.header(buf, b"user-agent"), Some(&b"agent"[..]));
    assert_eq!(head.header(buf, b"missing"), None);
}

#[test]
fn only_the_first_of_pipelined_requests_is_read() {
    let one = b"GET / HTTP/1.1\r\nHost: h\r\n\r\n";
    let mut two = one.to_vec();
    two.extend_from_slice(b"GARBAGE\0\r\n");
    assert_eq!(parse(&two), parse(one));
}

#[test]
fn reused_head_keeps_nothing() {
    let mut head = RequestHead::default();
    let first = b"POST http://a/x?y HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nExpect: 100-continue\r\nConnection: upgrade\r\n\
        Upgrade: websocket\r\n\r\n";
    parse_request(first, &Limits::default(), &mut head).unwrap();
    assert!(head.expect_continue && head.upgrade);
    let capacity = head.headers.capacity();
    let second = b"GET / HTTP/1.0\r\n\r\n";
    parse_request(second, &Limits::default(), &mut head).unwrap();
    assert_eq!(head.headers.capacity(), capacity);
    assert_eq!(Ok((Parsed::Complete, head)), parse(second));
}

#[test]
fn one_empty_line_before_the_request_is_skipped() {
    let buf = b"\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n";
    let head = whole(buf).unwrap();
    assert_eq!(head.method.of(buf), b"GET");
    assert_eq!(head.head_len, buf.len());
    assert_eq!(whole(b"\r\n\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n"), Err(400));
    assert_eq!(whole(b"\nGET / HTTP/1.1\r\nHost: h\r\n\r\n"), Err(400));
    assert_eq!(whole(b"\rGET / HTTP/1.1\r\nHost: h\r\n\r\n"), Err(400));
    assert_eq!(parse(b"\r\n").unwrap().0, Parsed::Partial);
    assert_eq!(parse(b"").unwrap().0, Parsed::Partial);
}

#[test]
fn request_line_is_exact() {
    for bad in [
        "GET  / HTTP/1.1",
        "GET /  HTTP/1.1",
        " GET / HTTP/1.1",
        "GET / HTTP/1.1 ",
        "GET\t/ HTTP/1.1",
        "GET /\tHTTP/1.1",
        "GET / a HTTP/1.1",
        "GET /\u{1} HTTP/1.1",
        "GET /\0 HTTP/1.1",
        "GET /\u{7f} HTTP/1.1",
        "GET /\rx HTTP/1.1",
        "GET /\nx HTTP/1.1",
        "GET /x#frag HTTP/1.1",
        "GET /",
        "GET",
        "GET / ",
        "G@T / HTTP/1.1",
        "GET: / HTTP/1.1",
        "/ HTTP/1.1",
        "GET HTTP/1.1",
        "GET / http/1.1",
        "GET / HTTP/1.1\r",
        "GET / HTTP/1,1",
        "GET / HTTP/11",
        "GET / HTTP/1.10",
        "GET / HTTP/a.1",
        "GET / HTTPS/1.1",
        "GET / XTTP/1.1",
        "\u{16}\u{3}\u{1}\u{2}\0\u{1}\0\u{1}",
    ] {
        assert_eq!(line(bad), Err(400), "{bad:?}");
    }
}

#[test]
fn request_line_ends_in_cr_lf() {
    assert_eq!(whole(b"GET / HTTP/1.1\nHost: h\r\n\r\n"), Err(400));
    assert_eq!(whole(b"GET / HTTP/1.1\rHost: h\r\n\r\n"), Err(400));
    assert_eq!(whole(b"GET / HTTP/1.1\r\rHost: h\r\n\r\n"), Err(400));
}

#[test]
fn any_token_is_a_method() {
    for method in ["GET", "get", "PROPFIND", "M-SEARCH", "X!#$%&'*+.^_`|~9", "A"] {
        assert!(line(&format!("{method} / HTTP/1.1")).is_ok(), "{method}");
    }
    assert_eq!(line(&format!("{} / HTTP/1.1", "M".repeat(32))).map(|_| ()), Ok(()));
    assert_eq!(line(&format!("{} / HTTP/1.1", "M".repeat(33))), Err(501));
    assert_eq!(parse(&[b'M'; 40]), Err(501), "told before the line is complete");
}

#[test]
fn versions() {
    assert_eq!(line("GET / HTTP/1.0").unwrap().version, Version::Http10);
    assert_eq!(line("GET / HTTP/1.1").unwrap().version, Version::Http11);
    assert_eq!(line("GET / HTTP/1.9").unwrap().version, Version::Http11);
    for version in ["HTTP/0.9", "HTTP/2.0", "HTTP/3.0", "HTTP/9.9"] {
        assert_eq!(line(&format!("GET / {version}")), Err(505), "{version}");
    }
    assert_eq!(whole(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), Err(505), "the HTTP/2 preface");
}

#[test]
fn target_forms() {
    fn parts(request_line: &str) -> (String, Option<String>, String) {
        let buf = format!("{request_line}\r\nHost: h\r\n\r\n");
        let head = whole(buf.as_bytes()).unwrap();
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        (
            text(head.path_of(buf.as_bytes())),
            head.query.map(|query| text(query.of(buf.as_bytes()))),
            text(head.host.unwrap().of(buf.as_bytes())),
        )
    }
    fn expect(request_line: &str, path: &str, query: Option<&str>, host: &str) {
        assert_eq!(parts(request_line), (path.into(), query.map(Into::into), host.into()), "{request_line}");
    }
    expect("GET /a?b HTTP/1.1", "/a", Some("b"), "h");
    expect("GET /a? HTTP/1.1", "/a", Some(""), "h");
    expect("GET /a?b?c HTTP/1.1", "/a", Some("b?c"), "h");
    expect("GET //a//b HTTP/1.1", "//a//b", None, "h");
    expect("GET /{|}\"<>\\^` HTTP/1.1", "/{|}\"<>\\^`", None, "h");
    expect("GET /ü HTTP/1.1", "/ü", None, "h");
    expect("OPTIONS * HTTP/1.1", "*", None, "h");
    expect("GET http://other:81/a?b HTTP/1.1", "/a", Some("b"), "other:81");
    expect("GET HTTPS://other HTTP/1.1", "/", None, "other");
    expect("GET http://other?b/c HTTP/1.1", "/", Some("b/c"), "other");
    expect("GET http://[::1]:80/ HTTP/1.1", "/", None, "[::1]:80");
    let connect = "CONNECT example.org:443 HTTP/1.1\r\nHost: h\r\n\r\n";
    let head = whole(connect.as_bytes()).unwrap();
    assert_eq!(head.host.unwrap().of(connect.as_bytes()), b"example.org:443");
    assert!(head.path.is_empty());
}

#[test]
fn malformed_targets() {
    for bad in [
        "GET a HTTP/1.1",
        "GET * HTTP/1.1",
        "OPTIONS ** HTTP/1.1",
        "GET ?a HTTP/1.1",
        "GET example.org:80 HTTP/1.1",
        "GET ftp://h/ HTTP/1.1",
        "GET http:/// HTTP/1.1",
        "GET http://:80/ HTTP/1.1",
        "GET http:/h HTTP/1.1",
        "GET http://user@h/ HTTP/1.1",
        "GET http://h:x/ HTTP/1.1",
        "GET http://h:999999/ HTTP/1.1",
        "GET http://[::1/ HTTP/1.1",
        "GET http://[::1]x/ HTTP/1.1",
        "GET http://h\\evil/ HTTP/1.1",
        "GET http://h%zz/ HTTP/1.1",
        "CONNECT / HTTP/1.1",
        "CONNECT h HTTP/1.1",
        "CONNECT h: HTTP/1.1",
        "CONNECT :80 HTTP/1.1",
        "CONNECT http://h:80/ HTTP/1.1",
        "CONNECT u@h:80 HTTP/1.1",
    ] {
        assert_eq!(line(bad), Err(400), "{bad}");
    }
}

#[test]
fn host_is_required_once_and_checked() {
    assert_eq!(whole(b"GET / HTTP/1.1\r\n\r\n"), Err(400));
    assert_eq!(whole(b"GET http://a/ HTTP/1.1\r\n\r\n"), Err(400), "also with an absolute-form");
    assert_eq!(whole(b"GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n"), Err(400));
    assert_eq!(whole(b"GET / HTTP/1.0\r\nHost: a\r\nhost: b\r\n\r\n"), Err(400));
    assert!(whole(b"GET / HTTP/1.0\r\n\r\n").unwrap().host.is_none());
    for good in [
        "",
        "h",
        "a.b-c_d~",
        "1.2.3.4:80",
        "h:",
        "[::1]",
        "[::ffff:1.2.3.4]:8080",
        "[v1.a:b]",
        "%41",
        "%c3%BC.x:80",
        "a,b",
    ] {
        assert!(whole(format!("GET / HTTP/1.1\r\nHost: {good}\r\n\r\n").as_bytes()).is_ok(), "{good}");
    }
    for bad in [
        "a%zz",
        "%",
        "a%4",
        "%4g.b",
        ":80",
        ":",
        "a b",
        "a/b",
        "u@h",
        "h:80:80",
        "h:a",
        "h:-1",
        "[::1",
        "::1",
        "[]",
        "[::1%eth0]",
        "[v1.]",
        "h?",
        "h#",
        "ü",
        "a\\b",
    ] {
        assert_eq!(whole(format!("GET / HTTP/1.1\r\nHost: {bad}\r\n\r\n").as_bytes()), Err(400), "{bad}");
    }
}

/// RFC 9112 section 3.2.2: a proxy or origin server must ignore the Host field and replace it with the target's host.
#[test]
fn the_host_of_the_target_replaces_the_field() {
    for (line, expected) in [
        ("GET http://evil.example:81/x HTTP/1.1", "evil.example:81"),
        ("GET HTTPS://[::1]?q HTTP/1.1", "[::1]"),
        ("CONNECT a.example:80 HTTP/1.1", "a.example:80"),
        ("GET /x HTTP/1.1", "good"),
    ] {
        let buf = format!("{line}\r\nA: good\r\nhOST: good\r\nB: good\r\n\r\n").into_bytes();
        let head = whole(&buf).unwrap();
        let fields: Vec<_> = head.headers.iter().map(|(_, value)| value.of(&buf)).collect();
        assert_eq!(fields, [&b"good"[..], expected.as_bytes(), b"good"], "{line}");
        assert_eq!(head.header(&buf, b"host"), head.host.map(|host| host.of(&buf)), "{line}");
    }
    assert_eq!(whole(b"GET http://good/ HTTP/1.1\r\nHost: a b\r\n\r\n"), Err(400), "it is checked all the same");
}

/// h1spec: a client that has sent an HTTP/0.9 line with a space after the target waits for an answer, and sends no
/// more.
#[test]
fn a_line_that_can_have_no_version_is_refused_at_once() {
    for begun in
        ["GET / \r\n", "GET / \r", "GET / HT\r\n", "GET / HTTP/1.\r\n", "GET / HTTP/1.1\n", "GET / h", "GET / HTTP/x"]
    {
        assert_eq!(parse(begun.as_bytes()), Err(400), "{begun:?}");
    }
    for begun in ["GET / ", "GET / H", "GET / HTTP/", "GET / HTTP/2.", "GET / HTTP/1.1\r"] {
        assert_eq!(parse(begun.as_bytes()).map(|(parsed, _)| parsed), Ok(Parsed::Partial), "{begun:?}");
    }
}

#[test]
fn content_length() {
    assert_eq!(fields("").unwrap().framing, Framing::None);
    assert_eq!(fields("Content-Length: 0\r\n").unwrap().framing, Framing::Length(0));
    assert_eq!(fields("content-LENGTH:\t42 \r\n").unwrap().framing, Framing::Length(42));
    assert_eq!(fields("Content-Length: 007\r\n").unwrap().framing, Framing::Length(7));
    assert_eq!(fields("Content-Length: 9223372036854775807\r\n").unwrap().framing, Framing::Length(i64::MAX as u64));
    for bad in ["", "+5", "-5", "5,5", "5, 5", "5 5", "0x5", "5.0", "5e1", "five", "5;", "\"5\"", "٥", "5\u{a0}", "1_0"]
    {
        assert_eq!(fields(&format!("Content-Length: {bad}\r\n")), Err(400), "{bad:?}");
    }
    for large in ["9223372036854775808", "18446744073709551615", "18446744073709551616", "99999999999999999999999999"] {
        assert_eq!(fields(&format!("Content-Length: {large}\r\n")), Err(413), "{large}");
    }
}

#[test]
fn two_lengths_are_refused() {
    assert_eq!(fields("Content-Length: 5\r\nContent-Length: 6\r\n"), Err(400));
    assert_eq!(fields("Content-Length: 5\r\nContent-Length: 5\r\n"), Err(400));
    assert_eq!(fields("Content-Length: 0\r\ncontent-length: 0\r\n"), Err(400));
}

#[test]
fn transfer_encoding() {
    assert_eq!(fields("Transfer-Encoding: chunked\r\n").unwrap().framing, Framing::Chunked);
    assert_eq!(fields("transfer-encoding:\tCHUNKED \r\n").unwrap().framing, Framing::Chunked);
    for unsupported in ["gzip, chunked", "gzip,deflate,chunked", "identity, chunked", "x-new , chunked"] {
        assert_eq!(fields(&format!("Transfer-Encoding: {unsupported}\r\n")), Err(501), "{unsupported}");
    }
    for bad in [
        "",
        "identity",
        "gzip",
        "chunked, gzip",
        "chunked, chunked",
        "chunked,",
        ", chunked",
        "xchunked",
        "chunkedx",
        "chunk",
        "\"chunked\"",
        "'chunked'",
        "chunked;q=1",
        "chunked chunked",
        "x y, chunked",
        "chunked, identity",
    ] {
        assert_eq!(fields(&format!("Transfer-Encoding: {bad}\r\n")), Err(400), "{bad:?}");
    }
    for sneaky in ["\x0bchunked", "\x0cchunked", "chunked\x0b", "chunked\0", "\x01chunked", "chunked\r", "chunked\x7f"]
    {
        assert_eq!(fields(&format!("Transfer-Encoding: {sneaky}\r\n")), Err(400), "{sneaky:?}");
    }
    assert_eq!(fields("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"), Err(400));
    assert_eq!(fields("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n"), Err(400));
    assert_eq!(fields("Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n"), Err(400));
    assert_eq!(fields_10("Transfer-Encoding: chunked\r\n"), Err(400), "RFC 9112 section 6.1: faulty in HTTP/1.0");
}

#[test]
fn transfer_encoding_with_length_is_refused() {
    assert_eq!(fields("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n"), Err(400));
    assert_eq!(fields("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"), Err(400));
    assert_eq!(fields("Content-Length: 0\r\nX: y\r\ntransfer-encoding: Chunked\r\n"), Err(400));
}

#[test]
fn disguised_framing_fields_are_refused() {
    for sneaky in [
        "Transfer-Encoding : chunked",
        "Transfer-Encoding\t: chunked",
        " Transfer-Encoding: chunked",
        "\tTransfer-Encoding: chunked",
        "Transfer-Encoding\0: chunked",
        "Transfer-Encoding\u{b}: chunked",
        "Transfer\u{a0}Encoding: chunked",
        "Content-Length : 5",
        "Content-Length\r: 5",
        "X: y\nTransfer-Encoding: chunked",
        "X: y\rTransfer-Encoding: chunked",
        "X: y\r\rTransfer-Encoding: chunked",
        "X\n: y",
        "Transfer-Encoding: \r\n chunked",
        "Transfer-Encoding:\r\n\tchunked",
        "Content-Length: 5\r\n 6",
        "Transfer-Encoding",
        "Transfer-Encoding chunked",
        ": chunked",
        "(x): y",
        "X\"Y: z",
        "X[Y]: z",
        "Ünicode: x",
    ] {
        assert_eq!(fields(&format!("{sneaky}\r\n")), Err(400), "{sneaky:?}");
    }
    // An underscore makes another name; it is the application's business that CGI folds the two.
    assert_eq!(fields("Transfer_Encoding: chunked\r\n").unwrap().framing, Framing::None);
}

#[test]
fn line_folding_is_refused() {
    assert_eq!(fields("X: a\r\n b\r\n"), Err(400));
    assert_eq!(fields("X: a\r\n\tb\r\n"), Err(400));
    assert_eq!(fields("X: a\r\n \r\n"), Err(400));
    assert_eq!(whole(b"GET / HTTP/1.1\r\n Host: h\r\n\r\n"), Err(400), "white space after the request line");
}

#[test]
fn control_characters_in_fields_are_refused() {
    for byte in (0..0x20).chain([0x7f]).filter(|b| *b != b'\t') {
        for line in [
            [b"X: a".as_slice(), &[byte], b"b\r\n"].concat(),
            [b"X: ".as_slice(), &[byte], b"\r\n"].concat(),
            [b"X:".as_slice(), &[byte], b"a\r\n"].concat(),
            [b"X".as_slice(), &[byte], b": a\r\n"].concat(),
        ] {
            let input = [b"GET / HTTP/1.1\r\nHost: h\r\n".as_slice(), &line, b"\r\n"].concat();
            assert_eq!(whole(&input).map(|_| ()), Err(400), "{byte:#x}");
        }
    }
    let tab = b"GET / HTTP/1.1\r\nHost: h\r\nX: a\tb\r\n\r\n";
    assert_eq!(whole(tab).unwrap().header(tab, b"x"), Some(&b"a\tb"[..]));
}

#[test]
fn the_head_ends_in_an_empty_line_of_cr_lf() {
    for end in ["\n", "\n\n", "\r\r\n", "\r\n \r\n", "\rX: y\r\n\r\n"] {
        assert_eq!(whole(format!("GET / HTTP/1.1\r\nHost: h{end}\r\n\r\n").as_bytes()), Err(400), "{end:?}");
    }
    assert_eq!(parse(b"GET / HTTP/1.1\r\nHost: h\r\n\r").unwrap().0, Parsed::Partial);
    assert_eq!(parse(b"GET / HTTP/1.1\r\nHost: h\r\n\n"), Err(400));
}

#[test]
fn connection_options() {
    let keep = |head: Result<RequestHead, u16>| head.unwrap().keep_alive;
    assert!(keep(fields("")));
    assert!(keep(fields("Connection: keep-alive\r\n")));
    assert!(!keep(fields("Connection: close\r\n")));
    assert!(!keep(fields("connection: Foo, CLOSE ,bar\r\n")));
    assert!(!keep(fields("Connection: keep-alive\r\nConnection: close\r\n")));
    assert!(!keep(fields("Connection: close, keep-alive\r\n")));
    assert!(keep(fields("Connection: closed\r\n")));
    assert!(!keep(fields_10("")));
    assert!(keep(fields_10("Connection: Keep-Alive\r\n")));
    assert!(!keep(fields_10("Connection: keep-alive, close\r\n")));
}

#[test]
fn expectations() {
    let body = "Content-Length: 5\r\n";
    assert!(fields(&format!("{body}Expect: 100-continue\r\n")).unwrap().expect_continue);
    assert!(fields("Transfer-Encoding: chunked\r\nexpect: 100-Continue\r\n").unwrap().expect_continue);
    assert!(!fields("Expect: 100-continue\r\n").unwrap().expect_continue, "nothing to wait for");
    assert!(!fields("Content-Length: 0\r\nExpect: 100-continue\r\n").unwrap().expect_continue);
    assert_eq!(fields(&format!("{body}Expect: 200-ok\r\n")), Err(417));
    assert_eq!(fields(&format!("{body}Expect: 100-continue, x\r\n")), Err(417));
    assert!(!fields_10(&format!("{body}Expect: 100-continue\r\n")).unwrap().expect_continue);
    assert!(fields_10(&format!("{body}Expect: x\r\n")).is_ok());
}

#[test]
fn upgrade_needs_both_fields() {
    let upgrade = |head: Result<RequestHead, u16>| head.unwrap().upgrade;
    assert!(upgrade(fields("Connection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n")));
    assert!(!upgrade(fields("Upgrade: websocket\r\n")));
    assert!(!upgrade(fields("Connection: upgrade\r\n")));
    assert!(!upgrade(fields_10("Connection: upgrade\r\nUpgrade: websocket\r\n")));
}

#[test]
fn connect_has_no_body() {
    assert_eq!(whole(b"CONNECT h:1 HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\n"), Err(400));
    assert_eq!(whole(b"CONNECT h:1 HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"), Err(400));
}

#[test]
fn limits_of_the_target() {
    let limits = Limits { max_target: 10, ..Limits::default() };
    let request = |target: &str| format!("GET {target} HTTP/1.1\r\nHost: h\r\n\r\n").into_bytes();
    check_every_prefix(&request("/234567890"), &limits);
    check_every_prefix(&request("/2345678901"), &limits);
    assert!(parse_with(&request("/234567890"), &limits).is_ok());
    assert_eq!(parse_with(&request("/2345678901"), &limits), Err(414));
    assert_eq!(parse_with(b"GET /2345678901", &limits), Err(414), "told before the line is complete");
}

#[test]
fn a_host_may_be_missing_where_limits_say_so() {
    let limits = Limits { without_host: true, ..Limits::default() };
    assert!(parse_with(b"GET / HTTP/1.1\r\n\r\n", &limits).is_ok());
    assert_eq!(parse_with(b"GET / HTTP/1.1\r\n\r\n", &Limits::default()), Err(400));
    assert_eq!(parse_with(b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", &limits), Err(400));
}

#[test]
fn limits_of_the_head() {
    let request = b"GET /x HTTP/1.1\r\nHost: h\r\nA: b\r\nC: d\r\n\r\n";
    for max_head in 0..=request.len() {
        let limits = Limits { max_head, ..Limits::default() };
        check_every_prefix(request, &limits);
        let status = if max_head < b"GET /x HTTP/1.1\r\n".len() { 414 } else { 431 };
        let expected = if max_head < request.len() { Err(status) } else { Ok(Parsed::Complete) };
        assert_eq!(parse_with(request, &limits).map(|(parsed, _)| parsed), expected, "{max_head}");
    }
    let exact = Limits { max_headers: 3, ..Limits::default() };
    assert!(parse_with(request, &exact).is_ok());
    let less = Limits { max_headers: 2, ..Limits::default() };
    check_every_prefix(request, &less);
    assert_eq!(parse_with(request, &less), Err(431));
}

/// A strict reading is a subset of a common one: what is accepted here, httparse reads the same.
#[test]
fn agrees_with_httparse_on_what_is_accepted() {
    let buf = b"PUT /x?y HTTP/1.1\r\nHost: h\r\nA:1\r\nB: \t2 \t\r\nC:\r\nContent-Length: 3\r\n\r\nabc";
    check_against_httparse(buf, &parse(buf).unwrap().1);
}

/// What an attacker would put in the place of a byte.
const NASTY: &[u8] = b"\0\t\n\r ,:;#/?A0\x7f\x80\xff";

#[test]
fn every_change_of_one_byte_has_one_verdict() {
    let request = b"PUT /x?y HTTP/1.1\r\nHost: h:1\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\nA: b\r\n\r\n";
    let without_length = String::from_utf8_lossy(request).replace("Content-Length", "Content-Other");
    for base in [request.as_slice(), without_length.as_bytes()] {
        for at in 0..base.len() {
            for &byte in NASTY {
                let mut input = base.to_vec();
                input[at] = byte;
                check_every_prefix(&input, &Limits::default());
                if let Ok((Parsed::Complete, head)) = parse(&input) {
                    check_against_httparse(&input, &head);
                }
            }
        }
    }
}

fn check_against_httparse(buf: &[u8], head: &RequestHead) {
    let mut headers = [httparse::EMPTY_HEADER; 8];
    let mut theirs = httparse::Request::new(&mut headers);
    match theirs.parse(buf) {
        // It knows no HTTP/1.2 and takes no path that is not UTF-8.
        Err(httparse::Error::Version | httparse::Error::Token) => return,
        result => assert_eq!(result, Ok(httparse::Status::Complete(head.head_len)), "{}", buf.escape_ascii()),
    }
    let theirs: Vec<_> = theirs.headers.iter().map(|h| (h.name.as_bytes(), h.value)).collect();
    // Of the Host field it knows what was sent, which a target with a host replaces.
    let shown = |name: &[u8], value| if name.eq_ignore_ascii_case(b"host") { None } else { Some(value) };
    let theirs: Vec<_> = theirs.into_iter().map(|(name, value)| (name, shown(name, value))).collect();
    let ours: Vec<_> = head.headers.iter().map(|(n, v)| (n.of(buf), shown(n.of(buf), v.of(buf)))).collect();
    assert_eq!(ours, theirs, "{}", buf.escape_ascii());
}
