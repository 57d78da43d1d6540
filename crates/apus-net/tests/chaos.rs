//! Clients that do anything at any time: the server forgets none of them and goes on.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "what is missing fails the test")]

mod support;

use std::io::{Read, Write};
use std::net::Shutdown;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use apus_net::{Collected, Config, Request, Responder, ResponseHead};
use support::{Client, Server};

/// xorshift64*: the same clients in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % sides
    }
}

/// Answers in one of the ways there are, as the path says.
async fn any_way(request: Request, r: Responder) {
    let head = ResponseHead::new(200);
    // Clients leave at any moment: what cannot be sent is not this test's matter.
    let _ = match request.path() {
        b"/drop" => Ok(()),
        b"/late" => {
            tokio::task::yield_now().await;
            r.end(&head, b"late")
        }
        b"/pieces" => {
            for _ in 0..20 {
                if r.write(&head, &[b'p'; 5000]).is_err() || r.writable().await.is_err() {
                    return;
                }
            }
            r.finish(&head, &[])
        }
        b"/body" => {
            let mut size = match request.body().collected() {
                Some(Collected::Raw(body)) => body.len(),
                _ => 0,
            };
            while let Ok(Some(piece)) = request.body().read_chunk(3000).await {
                size += piece.len();
            }
            r.end(&head, size.to_string().as_bytes())
        }
        b"/big" => r.end(&head, &vec![b'b'; 400_000]),
        b"/gone" => {
            r.gone().await;
            r.end(&head, b"gone")
        }
        _ => r.end(&head, b"plain"),
    };
}

fn request(dice: &mut Dice) -> Vec<u8> {
    let plain = |path: &str| format!("GET {path} HTTP/1.1\r\nHost: x\r\n\r\n").into_bytes();
    match dice.roll(10) {
        0 => plain("/drop"),
        1 => plain("/late"),
        2 => plain("/pieces"),
        3 => plain("/big"),
        4 => plain("/gone"),
        5 => b"GET /close HTTP/1.0\r\n\r\n".to_vec(),
        6 => {
            let size = dice.roll(30_000) as usize;
            let mut text = format!("POST /body HTTP/1.1\r\nHost: x\r\nContent-Length: {size}\r\n\r\n").into_bytes();
            text.resize(text.len() + size, b'c');
            text
        }
        7 => b"POST /body HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n0\r\n\r\n".to_vec(),
        8 => {
            let part = "--B\r\nContent-Disposition: form-data; name=\"f\"; filename=\"a\"\r\n\r\nfile\r\n--B--\r\n";
            let type_line = "Content-Type: multipart/form-data; boundary=B";
            format!("POST / HTTP/1.1\r\nHost: x\r\n{type_line}\r\nContent-Length: {}\r\n\r\n{part}", part.len())
                .into_bytes()
        }
        _ => b"nonsense \x00\xff\r\n\r\n".to_vec(),
    }
}

/// Some requests, cut anywhere, then an end of any kind.
fn visit(client: &mut Client, dice: &mut Dice) {
    let mut text = Vec::new();
    for _ in 0..=dice.roll(4) {
        text.extend(request(dice));
    }
    if dice.roll(3) == 0 {
        text.truncate(dice.roll(text.len() as u64 + 1) as usize);
    }
    for piece in text.chunks(1 + dice.roll(4000) as usize) {
        // The server may have closed already.
        if client.stream.write_all(piece).is_err() {
            return;
        }
    }
    match dice.roll(5) {
        0 => socket2::SockRef::from(&client.stream).set_linger(Some(Duration::ZERO)).unwrap(),
        1 => drop(client.stream.shutdown(Shutdown::Write)),
        2 => {
            let mut some = [0; 700];
            client.stream.set_read_timeout(Some(Duration::from_millis(5))).unwrap();
            let _ = client.stream.read(&mut some);
        }
        3 => drop(client.stream.shutdown(Shutdown::Both)),
        _ => {}
    }
}

fn storm(config: Config, seed: u64) {
    let server = Server::start(config, any_way);
    let dice = Arc::new(Mutex::new(Dice(seed)));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut own = Dice(dice.lock().unwrap().roll(u64::MAX) | 1);
                for _ in 0..150 {
                    visit(&mut server.client(), &mut own);
                }
            });
        }
    });
    assert_eq!(server.client().get("/").text(), "plain");
    server.until(|control| {
        // Those that linger, and those whose reset only the sweep can see.
        control.advance(Duration::from_secs(1));
        control.connections() == 0
    });
    let events = server.events.lock().unwrap();
    let opened = events.iter().filter(|event| event.starts_with("connect")).count();
    assert_eq!((opened, events.len()), (601, 2 * 601), "each connection is opened and closed once");
}

#[test]
fn with_collected_bodies() {
    storm(Config { max_output: 20_000, ..Config::default() }, 42);
}

#[test]
fn with_streamed_bodies() {
    storm(Config { stream_body: true, max_output: 20_000, ..Config::default() }, 7);
}
