//! What clients send takes bounded memory of a worker, whoever sends it and in which way.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "what is missing fails the test")]

mod support;

use std::path::PathBuf;
use std::time::Duration;

use apus_net::{Collected, Config, Request, Responder, ResponseHead};
use support::{Client, Server, echo};

const BOUND: usize = 1 << 20;
/// What each of those that drip sends before.
const SENT: usize = 200_000;
const SWEEP: Duration = Duration::from_millis(250);

fn config() -> Config {
    Config { max_incoming: BOUND, max_body: 8 << 20, max_message: 8 << 20, ..Config::default() }
}

fn nowhere() -> Config {
    Config { upload_dir: PathBuf::from("/nonexistent/apus"), ..config() }
}

fn form_head(length: usize) -> String {
    format!(
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=B\r\nContent-Length: {length}\r\n\r\n"
    )
}

const FIELD: &str = "--B\r\nContent-Disposition: form-data; name=\"field\"\r\n\r\n";

/// The three ways to drip.
fn drip(client: &mut Client, way: usize) -> usize {
    let head = match way {
        0 => "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 8000000\r\n\r\n".to_owned(),
        1 => "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n7a1200\r\n".to_owned(),
        _ => form_head(8_000_000) + FIELD,
    };
    client.send(&head).send(vec![b'x'; SENT]);
    head.len() + SENT
}

/// Answers with what came, of a form the value of its field.
async fn echo_all(request: Request, response: Responder) {
    match request.body().collected() {
        Some(Collected::Form { fields, .. }) => response.end(&ResponseHead::new(200), &fields[0].1).unwrap(),
        _ => echo(request, response).await,
    }
}

fn body() -> Vec<u8> {
    (0..300_000u32).map(|i| b'a' + (i % 23) as u8).collect()
}

#[test]
fn bodies_beyond_the_bound_go_to_files_and_arrive_whole() {
    let server = Server::start(config(), echo_all);
    let mut sent = 0;
    let mut clients: Vec<_> = (0..24).map(|_| server.client()).collect();
    for (at, client) in clients.iter_mut().enumerate() {
        sent += drip(client, at % 3);
        server.until_read(sent);
        assert!(server.with(|control| control.incoming()) <= BOUND);
    }
    assert!(server.with(|control| control.incoming()) > BOUND / 2);
    let body = body();
    let mut honest = server.client();
    honest.send(format!("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n\r\n", body.len())).send(&body);
    assert!(honest.answer().body.ends_with(&body));
    honest.send("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
    for piece in body.chunks(70_001) {
        honest.send(format!("{:x}\r\n", piece.len())).send(piece).send("\r\n");
    }
    honest.send("0\r\n\r\n");
    assert!(honest.answer().body.ends_with(&body));
    let form = [FIELD.as_bytes(), &body, b"\r\n--B--\r\n"].concat();
    honest.send(form_head(form.len())).send(&form);
    assert!(honest.answer().body == body);
    server.advance(SWEEP);
    assert_eq!(server.with(|control| control.connections()), 25, "nobody had to go");
    drop(clients);
    server.until_connections(1);
    assert_eq!(server.with(|control| control.incoming()), 0);
}

#[test]
fn without_a_place_for_files_those_that_drip_are_ended_for_those_that_do_not() {
    for way in 0..3 {
        let server = Server::start(nowhere(), echo_all);
        let mut clients: Vec<_> = (0..4).map(|_| server.client()).collect();
        let mut sent = 0;
        for client in &mut clients {
            sent += drip(client, way);
        }
        server.until_read(sent);
        // What they brought is forgotten in time.
        for _ in 0..20 {
            server.advance(SWEEP);
        }
        let body = body();
        let request = format!("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n\r\n", body.len());
        let mut refused = server.client();
        assert_eq!(refused.send(&request).send(&body).answer().status, 503);
        server.advance(SWEEP);
        assert_eq!(clients[0].answer().status, 503, "way {way}");
        let mut honest = server.client();
        assert_eq!(honest.send(&request).send(&body).answer().status, 200);
        drop((clients, refused, honest));
        server.until_connections(0);
        assert_eq!(server.with(|control| control.incoming()), 0);
    }
}

#[test]
fn what_handlers_hold_counts_until_they_let_it_go() {
    let (go, wait) = tokio::sync::oneshot::channel::<()>();
    let wait = std::sync::Mutex::new(Some(wait));
    let server = Server::start(config(), move |request: Request, response: Responder| {
        let wait = wait.lock().unwrap().take().unwrap();
        async move {
            wait.await.unwrap();
            echo(request, response).await;
        }
    });
    let mut client = server.client();
    client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n0123456789");
    server.until(|control| control.counters().requests.get() == 1);
    assert_eq!(server.with(|control| control.incoming()), 10);
    go.send(()).unwrap();
    assert_eq!(client.answer().status, 200);
    server.until(|control| control.incoming() == 0);
}
