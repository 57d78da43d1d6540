//! Request bodies: collected, streamed, spooled, refused.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "what is missing fails the test")]

mod support;

use std::io::Write;
use std::sync::mpsc;

use apus_net::{BodyError, Collected, Config, Request, Responder, ResponseHead, UploadError};
use support::{Server, echo, hello};

#[test]
fn chunked_bodies_arrive_whole_with_trailers() {
    let server = Server::start(Config::default(), async |request: Request, r: Responder| {
        let Some(Collected::Raw(body)) = request.body().collected() else { panic!("collected") };
        let trailers = request.body().trailers();
        r.end(&ResponseHead::new(200), &[&body[..], b" ", &trailers[0].0, b"=", &trailers[0].1].concat()).unwrap();
    });
    let mut client = server.client();
    let head = "PUT / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
    client.send(head);
    // A byte at a time, each read by the server on its own.
    let mut sent = head.len();
    server.until_read(sent);
    for byte in b"5\r\nhello\r\n1\r\n!\r\n0\r\nX-Sum: 9\r\n\r\n" {
        client.send([*byte]);
        sent += 1;
        server.until_read(sent);
    }
    assert_eq!(client.answer().text(), "hello! X-Sum=9");
    assert_eq!(server.with(|c| c.counters().requests.get()), 1);
}

#[test]
fn large_bodies_of_known_length_arrive_whole() {
    let server = Server::start(Config::default(), echo);
    let mut client = server.client();
    let body: Vec<u8> = (0..3_000_000u32).map(|i| (i % 253) as u8).collect();
    let mut writer = client.stream.try_clone().unwrap();
    let sent = body.clone();
    let writing = std::thread::spawn(move || {
        writer
            .write_all(format!("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n\r\n", sent.len()).as_bytes())
            .unwrap();
        writer.write_all(&sent).unwrap();
        writer.write_all(b"GET /next HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
    });
    let answer = client.answer();
    assert_eq!(answer.body.len(), body.len() + 7);
    assert!(answer.body.ends_with(&body));
    assert_eq!(client.answer().text(), "GET /next ");
    writing.join().unwrap();
}

#[test]
fn an_announced_length_costs_no_memory_and_grows_with_what_comes() {
    let server = Server::start(Config { max_body: u64::MAX, ..Config::default() }, echo);
    let mut huge = server.client();
    huge.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999\r\n\r\nabc");
    let mut client = server.client();
    let body: Vec<u8> = (0..20_000_000u32).map(|i| (i % 249) as u8).collect();
    client.send(format!("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n\r\n", body.len())).send(&body);
    assert!(client.answer().body[7..] == body);
    assert_eq!(server.with(|c| c.connections()), 2);
}

#[test]
fn a_client_that_expects_100_gets_it_when_the_body_is_wanted() {
    let server = Server::start(Config { max_body: 100, ..Config::default() }, echo);
    let mut client = server.client();
    client.send("POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
    assert_eq!(client.answer().head, "HTTP/1.1 100 Continue\r\n\r\n");
    assert_eq!(client.send("ok").answer().text(), "POST / ok");
    // Too large: refused before the body is sent.
    client.send("POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 200\r\n\r\n");
    assert_eq!(client.answer().status, 413);
    // Sent without waiting: no 100.
    let mut client = server.client();
    client.send("POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\nok");
    assert_eq!(client.answer().text(), "POST / ok");
}

#[test]
fn bodies_beyond_the_limit_are_refused() {
    let server = Server::start(Config { max_body: 10, ..Config::default() }, hello);
    for request in [
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 11\r\n\r\n01234567890",
        "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n8\r\n01234567\r\n8\r\n01",
        "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nffffff\r\n0",
    ] {
        let mut client = server.client();
        let answer = client.send(request).answer();
        assert_eq!((answer.status, answer.header("connection")), (413, Some("close")), "{request}");
    }
    let mut client = server.client();
    client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n0123456789");
    assert_eq!(client.answer().status, 200);
}

#[test]
fn malformed_chunks_and_short_bodies_are_refused() {
    let server = Server::start(Config::default(), hello);
    for (body, status) in
        [("xyz\r\n", 400), ("3\r\nabcd\r\n", 400), ("-1\r\n", 400), ("1\r\na\r\n0\r\nContent-Length: 1\r\n\r\n", 400)]
    {
        let mut client = server.client();
        client.send(format!("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n{body}"));
        assert_eq!(client.answer().status, status, "{body}");
    }
    let mut client = server.client();
    client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nab");
    client.stream.shutdown(std::net::Shutdown::Write).unwrap();
    assert_eq!(client.answer().status, 400);
}

fn stream_config() -> Config {
    Config { stream_body: true, max_body: u64::MAX, ..Config::default() }
}

/// Reads the body to its end: bytes and pieces.
async fn drain(request: &Request, max: usize) -> Result<(u64, usize, u64), BodyError> {
    let (mut bytes, mut largest, mut sum) = (0, 0, 0u64);
    while let Some(piece) = request.body().read_chunk(max).await? {
        bytes += piece.len() as u64;
        largest = largest.max(piece.len());
        sum = piece.iter().fold(sum, |sum, byte| sum.wrapping_mul(31).wrapping_add(u64::from(*byte)));
    }
    Ok((bytes, largest, sum))
}

#[test]
fn a_streamed_body_is_read_as_it_arrives() {
    let server = Server::start(stream_config(), async |request: Request, r: Responder| {
        assert!(request.body().collected().is_none() || request.method() == b"GET");
        let (bytes, largest, _) = drain(&request, 1000).await.unwrap();
        assert!(largest <= 1000);
        let trailers = request.body().trailers().len();
        r.end(&ResponseHead::new(200), format!("{bytes} {trailers}").as_bytes()).unwrap();
    });
    let mut client = server.client();
    client.send(format!("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5000\r\n\r\n{}", "x".repeat(5000)));
    assert_eq!(client.answer().text(), "5000 0");
    client.send("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n");
    client.send("4\r\ndefg\r\n0\r\nA: b\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_eq!(client.answer().text(), "7 1");
    assert_eq!(client.answer().text(), "0 0", "a request without a body");
    client.send("POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
    assert_eq!(client.answer().status, 100, "sent when the handler reads");
    assert_eq!(client.send("ok").answer().text(), "2 0");
}

#[test]
fn a_large_upload_takes_constant_memory() {
    const SIZE: u64 = 64 << 20;
    let server = Server::start(stream_config(), async |request: Request, r: Responder| {
        let (bytes, largest, _) = drain(&request, 64 * 1024).await.unwrap();
        r.end(&ResponseHead::new(200), format!("{bytes} {largest}").as_bytes()).unwrap();
    });
    let mut client = server.client();
    client.send(format!("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: {SIZE}\r\n\r\n"));
    let block = vec![7; 1 << 20];
    for _ in 0..SIZE >> 20 {
        client.send(&block);
    }
    let text = client.answer().text();
    let (bytes, largest) = text.split_once(' ').unwrap();
    assert_eq!(bytes, SIZE.to_string());
    assert!(largest.parse::<usize>().unwrap() <= 64 * 1024, "{largest}");
}

#[test]
fn a_body_nobody_reads_stays_in_the_kernel() {
    let (go, wait) = tokio::sync::oneshot::channel::<()>();
    let wait = std::sync::Mutex::new(Some(wait));
    let server = Server::start(stream_config(), move |request: Request, r: Responder| {
        let wait = wait.lock().unwrap().take().unwrap();
        async move {
            let first = request.body().read_chunk(100).await.unwrap().unwrap();
            assert!(first.len() <= 100);
            wait.await.unwrap();
            let (rest, ..) = drain(&request, 1 << 20).await.unwrap();
            r.end(&ResponseHead::new(200), (first.len() as u64 + rest).to_string().as_bytes()).unwrap();
        }
    });
    let mut client = server.client();
    client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 20000000\r\n\r\n");
    client.stream.set_nonblocking(true).unwrap();
    let block = vec![1; 1 << 16];
    let mut sent = 0;
    while sent < 20_000_000 {
        match client.stream.write(&block[..block.len().min(20_000_000 - sent)]) {
            Ok(count) => sent += count,
            Err(_) => break,
        }
    }
    server.until_read(1);
    assert!(sent < 20_000_000, "the client is held back");
    let read = server.with(|c| c.counters().bytes_in.get());
    assert!(read <= 16 * 1024, "{read} bytes read though nobody asked");
    go.send(()).unwrap();
    client.stream.set_nonblocking(false).unwrap();
    let left = vec![1; 20_000_000 - sent];
    client.send(&left);
    assert_eq!(client.answer().text(), "20000000");
}

#[test]
fn an_answer_before_the_end_of_the_body_keeps_small_ones_and_closes_on_large_ones() {
    let server = Server::start(stream_config(), hello);
    let mut client = server.client();
    client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n");
    assert_eq!(client.answer().header("connection"), None);
    client.send("0123456789");
    assert_eq!(client.get("/").text(), "hello", "the body was read away");
    client.send("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n");
    assert_eq!(client.answer().status, 200);
    client.send("0\r\n\r\n");
    assert_eq!(client.get("/").text(), "hello");
    client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n");
    assert_eq!(client.answer().header("connection"), Some("close"));
    client.send(vec![0; 200_000]);
    client.stream.shutdown(std::net::Shutdown::Write).unwrap();
    client.assert_closed();
    let mut client = server.client();
    client.send("POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 10\r\n\r\n");
    let answer = client.answer();
    assert_eq!((answer.status, answer.header("connection")), (200, Some("close")), "no 100 was sent");
}

#[test]
fn a_streamed_body_that_breaks_off_is_an_error_not_an_end() {
    let (tx, rx) = mpsc::channel();
    let server = Server::start(stream_config(), move |request: Request, r: Responder| {
        let tx = tx.clone();
        async move {
            tx.send(drain(&request, 100).await.unwrap_err()).unwrap();
            drop(r);
        }
    });
    let mut client = server.client();
    client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc");
    server.until(|c| c.counters().requests.get() == 1);
    drop(client);
    assert_eq!(rx.recv().unwrap(), BodyError::Disconnected);
    server.client().send("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nnonsense\r\n");
    assert!(matches!(rx.recv().unwrap(), BodyError::Malformed(_)));
}

#[test]
fn a_streamed_body_is_still_limited() {
    let server = Server::start(Config { max_body: 10, ..stream_config() }, async |request: Request, r: Responder| {
        let error = drain(&request, 100).await.unwrap_err();
        r.end(&ResponseHead::new(413), error.to_string().as_bytes()).unwrap();
    });
    let mut client = server.client();
    client.send("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n64\r\nabc");
    let answer = client.answer();
    assert_eq!((answer.status, answer.header("connection")), (413, Some("close")));
}

#[test]
fn forms_are_spooled_to_disk() {
    let dir = std::env::temp_dir().join(format!("apus-net-test-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let config = Config { upload_dir: dir.clone(), max_file: 1 << 30, ..Config::default() };
    let server = Server::start(config, async |request: Request, r: Responder| {
        let Some(Collected::Form { fields, files }) = request.body().collected() else { panic!("a form") };
        assert_eq!((&fields[0].0[..], &fields[0].1[..], fields.len()), (&b"name"[..], &b"value"[..], 1));
        let file = &files[0];
        assert_eq!(file.error, UploadError::Ok);
        let text = std::fs::read(file.tmp.as_ref().unwrap().path()).unwrap();
        assert_eq!(text.len() as u64, file.size);
        r.end(&ResponseHead::new(200), file.size.to_string().as_bytes()).unwrap();
    });
    let mut client = server.client();
    let content = "0123456789".repeat(100_000);
    let body = format!(
        "--B\r\nContent-Disposition: form-data; name=\"name\"\r\n\r\nvalue\r\n\
         --B\r\nContent-Disposition: form-data; name=\"f\"; filename=\"a.bin\"\r\nContent-Type: application/x\r\n\r\n{content}\r\n--B--\r\n"
    );
    client.send(format!(
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=B\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    ));
    assert_eq!(client.answer().text(), "1000000");
    client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=B\r\nTransfer-Encoding: chunked\r\n\r\n");
    for piece in body.as_bytes().chunks(4001) {
        client.send(format!("{:x}\r\n", piece.len())).send(piece).send("\r\n");
    }
    client.send("0\r\n\r\n");
    assert_eq!(client.answer().text(), "1000000");
    drop(client);
    server.until_connections(0);
    assert_eq!(std::fs::read_dir(&dir).unwrap().count(), 0, "removed with the requests");
    std::fs::remove_dir(&dir).unwrap();
}

#[test]
fn an_upload_that_breaks_off_leaves_no_file() {
    let dir = std::env::temp_dir().join(format!("apus-net-cut-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let server = Server::start(Config { upload_dir: dir.clone(), ..Config::default() }, hello);
    let mut client = server.client();
    let part = "--B\r\nContent-Disposition: form-data; name=\"f\"; filename=\"a\"\r\n\r\nsome";
    client.send(format!(
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=B\r\nContent-Length: 1000\r\n\r\n{part}"
    ));
    let path = dir.clone();
    server.until(move |_| std::fs::read_dir(&path).unwrap().count() == 2);
    drop(client);
    server.until_connections(0);
    assert_eq!(std::fs::read_dir(&dir).unwrap().count(), 0);
    std::fs::remove_dir(&dir).unwrap();
}

#[test]
fn a_form_without_a_boundary_is_refused() {
    let server = Server::start(Config::default(), hello);
    let mut client = server.client();
    client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data\r\nContent-Length: 3\r\n\r\nabc");
    assert_eq!(client.answer().status, 400);
}
