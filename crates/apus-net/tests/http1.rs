//! The protocol: requests and answers of HTTP/1.1 and 1.0 over real sockets.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "what is missing fails the test")]

mod support;

use std::net::Shutdown;

use apus_net::{Config, Request, Responder, ResponseHead, SendError};
use support::{Server, echo, hello};

#[test]
fn keep_alive_carries_many_requests() {
    let server = Server::start(Config::default(), echo);
    let mut client = server.client();
    for i in 0..50 {
        let answer = client.get(&format!("/{i}"));
        assert_eq!((answer.status, answer.text()), (200, format!("GET /{i} ")));
        assert_eq!(answer.header("connection"), None);
    }
    assert_eq!(server.with(|c| (c.counters().requests.get(), c.counters().accepted.get())), (50, 1));
}

#[test]
fn an_answer_has_the_fields_it_needs_once() {
    let server = Server::start(Config::default(), hello);
    let answer = server.client().get("/");
    assert_eq!(answer.header("content-length"), Some("5"));
    assert_eq!(answer.header("content-type"), Some("text/html; charset=UTF-8"));
    assert_eq!(answer.header("server"), Some("apus"));
    let date = answer.header("date").unwrap();
    assert!(date.ends_with(" GMT") && date.len() == 29, "{date}");
    assert_eq!(answer.head.to_lowercase().matches("date:").count(), 1);
}

#[test]
fn fields_of_the_program_replace_the_servers() {
    let server = Server::start(
        Config { server_header: String::new(), ..Config::default() },
        async |_: Request, r: Responder| {
            let mut head = ResponseHead::new(299);
            head.reason = Some(b"Fine".to_vec());
            head.push_field(b"Date", b"today");
            head.push_field(b"Content-Type", b"text/plain");
            (head.has_date, head.has_content_type) = (true, true);
            r.end(&head, b"x").unwrap();
        },
    );
    let answer = server.client().get("/");
    assert_eq!(
        answer.head,
        "HTTP/1.1 299 Fine\r\nDate: today\r\nContent-Type: text/plain\r\nContent-Length: 1\r\n\r\n"
    );
}

#[test]
fn pipelined_requests_are_answered_in_order() {
    let server =
        Server::start(Config { max_pipelined: 7, ..Config::default() }, async |request: Request, r: Responder| {
            // Every third answer comes later than the next request is there.
            if request.target().ends_with(b"3") {
                tokio::task::yield_now().await;
            }
            r.end(&ResponseHead::new(200), request.target()).unwrap();
        });
    let mut client = server.client();
    let all = (0..100).map(|i| format!("GET /{i} HTTP/1.1\r\nHost: x\r\n\r\n")).collect::<Vec<_>>().concat();
    client.send(all);
    for i in 0..100 {
        assert_eq!(client.answer().text(), format!("/{i}"));
    }
}

#[test]
fn pipelined_bodies_are_kept_apart() {
    let server = Server::start(Config::default(), echo);
    let mut client = server.client();
    client.send(concat!(
        "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc",
        "POST /b HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nde\n\r\n2;x=y\r\nfg\r\n0\r\n\r\n",
        "POST /c HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n",
        "\r\nGET /d HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
    ));
    let texts: Vec<_> = (0..4).map(|_| client.answer().text()).collect();
    assert_eq!(texts, ["POST /a abc", "POST /b de\nfg", "POST /c ", "GET /d "]);
    client.assert_closed();
}

#[test]
fn head_gets_the_length_without_the_body() {
    let server = Server::start(Config::default(), hello);
    let mut client = server.client();
    let answer = client.send("HEAD / HTTP/1.1\r\nHost: x\r\n\r\n").answer_to(true);
    assert_eq!(answer.header("content-length"), Some("5"));
    assert_eq!(answer.header("content-type"), client.get("/").header("content-type"));
    assert_eq!(client.get("/").text(), "hello", "nothing was left between them");
}

#[test]
fn an_answer_to_head_tells_only_the_length_of_get() {
    let server = Server::start(Config::default(), async |request: Request, r: Responder| {
        let mut head = ResponseHead::new(200);
        head.content_length = (request.path() != b"/untold").then_some(10);
        let body: &[u8] = if request.path() == b"/body" { b"abc" } else { b"" };
        r.end(&head, body).unwrap();
    });
    let mut client = server.client();
    for (path, length) in [("/body", Some("3")), ("/told", Some("10")), ("/untold", None)] {
        let answer = client.send(format!("HEAD {path} HTTP/1.1\r\nHost: x\r\n\r\n")).answer_to(true);
        assert_eq!((answer.header("content-length"), answer.header("transfer-encoding")), (length, None), "{path}");
    }
}

#[test]
fn a_205_has_no_content_and_says_so() {
    let server = Server::start(Config::default(), async |request: Request, r: Responder| {
        let mut head = ResponseHead::new(205);
        head.content_length = Some(5);
        if request.path() == b"/write" {
            r.write(&head, b"hello").unwrap();
            r.finish(&head, &[]).unwrap();
        } else {
            r.end(&head, b"hello").unwrap();
        }
    });
    let mut client = server.client();
    for path in ["/end", "/write", "/end"] {
        let answer = client.get(path);
        assert_eq!(
            (answer.status, answer.header("content-length"), answer.text().as_str()),
            (205, Some("0"), ""),
            "{path}"
        );
        assert_eq!((answer.header("content-type"), answer.header("transfer-encoding")), (None, None));
    }
}

#[test]
fn connect_is_refused_or_answered_without_framing() {
    const CONNECT: &str = "CONNECT a.example:80 HTTP/1.1\r\nHost: b\r\n\r\n";
    let server = Server::start(Config::default(), hello);
    let mut client = server.client();
    assert_eq!(client.send(CONNECT).answer().status, 501);
    client.assert_closed();
    let config = Config { connect: true, ..Config::default() };
    let server = Server::start(config, async |request: Request, r: Responder| {
        assert_eq!(request.header(b"host"), Some(&b"a.example:80"[..]));
        let status = if request.method() == b"CONNECT" { 200 } else { 500 };
        let mut head = ResponseHead::new(status);
        head.content_length = Some(3);
        r.write(&head, b"tun").unwrap();
        r.end(&head, b"nel").unwrap();
    });
    let mut client = server.client();
    // What follows belongs to the tunnel, and is no request.
    client.send(format!("{CONNECT}GET /next HTTP/1.1\r\nHost: a\r\n\r\n"));
    let answer = String::from_utf8(client.rest()).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
    let head = head.to_ascii_lowercase();
    assert!(!head.contains("content-length") && !head.contains("transfer-encoding"), "{head}");
    assert_eq!(body, "tunnel");
}

#[test]
fn statuses_without_a_body_get_none() {
    let server = Server::start(Config::default(), async |request: Request, r: Responder| {
        let status = std::str::from_utf8(&request.path()[1..]).unwrap().parse().unwrap();
        r.end(&ResponseHead::new(status), b"must not be sent").unwrap();
    });
    let mut client = server.client();
    assert_eq!(client.get("/101").status, 500, "an interim status is no answer");
    for status in [204, 304] {
        let answer = client.get(&format!("/{status}"));
        assert_eq!((answer.status, answer.header("content-length")), (status, None));
        assert_eq!(answer.header("transfer-encoding"), None);
    }
    assert_eq!(client.get("/200").text(), "must not be sent");
}

#[test]
fn a_1_0_client_is_closed_unless_it_asks() {
    let server = Server::start(Config::default(), hello);
    let mut client = server.client();
    let answer = client.send("GET / HTTP/1.0\r\n\r\n").answer();
    assert_eq!((answer.status, answer.header("connection")), (200, Some("close")));
    client.assert_closed();
    let mut client = server.client();
    for _ in 0..3 {
        let answer = client.send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n").answer();
        assert_eq!((answer.text().as_str(), answer.header("connection")), ("hello", Some("keep-alive")));
    }
}

#[test]
fn chunked_out_with_trailers_and_until_close_for_1_0() {
    let server = Server::start(Config::default(), async |_: Request, r: Responder| {
        let head = ResponseHead::new(200);
        r.write(&head, b"one,").unwrap();
        r.write(&head, b"").unwrap();
        tokio::task::yield_now().await;
        r.write(&head, b"two").unwrap();
        r.finish(&head, &[(b"X-Sum", b"7")]).unwrap();
        assert!(r.is_ended());
    });
    let mut client = server.client();
    for _ in 0..2 {
        let answer = client.get("/");
        assert_eq!(answer.header("transfer-encoding"), Some("chunked"));
        assert_eq!(answer.header("content-length"), None);
        assert_eq!((answer.text().as_str(), answer.trailers.as_str()), ("one,two", "X-Sum: 7\r\n"));
    }
    let mut old = server.client();
    let answer = old.send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n").answer();
    assert_eq!((answer.text().as_str(), answer.header("connection")), ("one,two", Some("close")));
    assert_eq!(answer.header("transfer-encoding"), None);
    let mut head = server.client();
    head.send("HEAD / HTTP/1.1\r\nHost: x\r\n\r\n").answer_to(true);
    assert_eq!(head.get("/").text(), "one,two");
}

#[test]
fn a_length_told_in_advance_is_kept_to() {
    let server = Server::start(Config::default(), async |request: Request, r: Responder| {
        let mut head = ResponseHead::new(200);
        head.content_length = Some(6);
        if request.path() == b"/at-once" {
            assert_eq!(r.write(&head, b"toolong").err(), Some(SendError::Length));
        } else {
            r.write(&head, b"abc").unwrap();
        }
        match request.path() {
            b"/whole" => return r.end(&head, b"def").unwrap(),
            b"/short" => assert_eq!(r.finish(&head, &[]).err(), Some(SendError::Length)),
            b"/end" => assert_eq!(r.end(&head, b"defg").err(), Some(SendError::Length)),
            b"/long" => assert_eq!(r.write(&head, b"defg").err(), Some(SendError::Length)),
            _ => {}
        }
        assert!(r.is_ended());
        assert_eq!(r.write(&head, b"d").err(), Some(SendError::Ended));
        assert_eq!(r.end(&head, b"def").err(), Some(SendError::Ended));
    });
    let mut client = server.client();
    let answer = client.get("/whole");
    assert_eq!((answer.text().as_str(), answer.header("content-length")), ("abcdef", Some("6")));
    for (path, sent) in [("/short", "abc"), ("/end", "abc"), ("/long", "abc"), ("/at-once", "")] {
        let mut client = server.client();
        client.send(format!("GET {path} HTTP/1.1\r\nHost: x\r\n\r\nGET /whole HTTP/1.1\r\nHost: x\r\n\r\n"));
        let rest = String::from_utf8(client.rest()).unwrap();
        assert!(rest.ends_with(&format!("\r\n\r\n{sent}")), "{path}: cut, not padded: {rest}");
    }
}

#[test]
fn connection_close_is_honoured_from_both_sides() {
    let server = Server::start(Config::default(), async |request: Request, r: Responder| {
        let mut head = ResponseHead::new(200);
        head.close = request.path() == b"/close";
        r.end(&head, b"x").unwrap();
    });
    let mut client = server.client();
    let answer = client.send("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").answer();
    assert_eq!(answer.header("connection"), Some("close"));
    client.assert_closed();
    let mut client = server.client();
    assert_eq!(client.get("/").header("connection"), None);
    assert_eq!(client.get("/close").header("connection"), Some("close"));
    client.assert_closed();
}

#[test]
fn requests_per_connection_are_bounded() {
    let server = Server::start(Config { keepalive_requests: 2, ..Config::default() }, hello);
    let mut client = server.client();
    assert_eq!(client.get("/").header("connection"), None);
    assert_eq!(client.get("/").header("connection"), Some("close"));
    client.assert_closed();
}

#[test]
fn a_half_closed_client_gets_its_answer() {
    let server = Server::start(Config::default(), async |_: Request, r: Responder| {
        r.gone().await;
        assert!(r.peer_gone() && r.is_writable());
        r.end(&ResponseHead::new(200), b"late").unwrap();
    });
    let mut client = server.client();
    client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    client.stream.shutdown(Shutdown::Write).unwrap();
    assert_eq!(client.answer().text(), "late");
    client.assert_closed();
}

/// Sends `request` and expects an error answer that ends the connection, readable though the client sent more.
fn refused(config: Config, request: &str) -> u16 {
    let server = Server::start(config, hello);
    let mut client = server.client();
    client.send(request).send("more that nobody reads");
    let answer = client.answer();
    assert_eq!(answer.header("connection"), Some("close"), "{answer:?}");
    assert!(answer.text().starts_with(&answer.status.to_string()));
    client.stream.shutdown(Shutdown::Write).unwrap();
    client.assert_closed();
    assert_eq!(server.with(|c| (c.counters().requests.get(), c.counters().refused.get())), (0, 1));
    answer.status
}

#[test]
fn what_cannot_be_served_is_refused() {
    let with = |fields: &str| format!("POST / HTTP/1.1\r\nHost: x\r\n{fields}\r\n\r\n");
    let cases = [
        (400, "GET / HTTP/1.1\r\n\r\n".to_owned()),
        (400, "GET /\r\n\r\n".to_owned()),
        (400, with("Content-Length: 3\r\nTransfer-Encoding: chunked")),
        (400, with("Content-Length: 3\r\nContent-Length: 4")),
        (400, with("A: b\r\n folded")),
        (400, with("A : b")),
        (400, with("A: b\nC: d")),
        (411, "POST / HTTP/1.0\r\n\r\n".to_owned()),
        (413, with("Content-Length: 999999999999")),
        (417, with("Expect: 200-ok\r\nContent-Length: 1")),
        (501, with("Transfer-Encoding: gzip, chunked")),
        (505, "GET / HTTP/2.0\r\nHost: x\r\n\r\n".to_owned()),
        (414, format!("GET /{} HTTP/1.1\r\nHost: x\r\n\r\n", "a".repeat(20_000))),
        (431, with(&format!("A: {}", "a".repeat(20_000)))),
        (431, with(&"A: b\r\n".repeat(101)[..6 * 101 - 2])),
    ];
    for (status, request) in cases {
        assert_eq!(refused(Config::default(), &request), status, "{request:.80}");
    }
}

#[test]
fn earlier_answers_come_before_a_refusal() {
    let server = Server::start(Config::default(), hello);
    let mut client = server.client();
    client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\nnonsense\r\n\r\n");
    assert_eq!(client.answer().text(), "hello");
    assert_eq!(client.answer().status, 400);
}
