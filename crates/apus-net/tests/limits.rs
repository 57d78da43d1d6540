//! Deadlines and bounds, with a clock that the tests move.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "what is missing fails the test")]

mod support;

use std::io::Read;
use std::net::TcpStream;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, mpsc};
use std::task::Poll;
use std::time::Duration;

use apus_net::{BodyError, Config, Control, Request, Responder, ResponseHead, SendError, WriteState};
use support::{Client, Server, hello};

const SECOND: Duration = Duration::from_secs(1);

fn config() -> Config {
    Config {
        header_timeout: 10_000,
        body_timeout: 5_000,
        min_rate: 100,
        keepalive_timeout: 20_000,
        send_timeout: 30_000,
        ..Config::default()
    }
}

#[test]
fn a_dripping_head_is_cut_by_its_whole_deadline() {
    let server = Server::start(config(), hello);
    let mut client = server.client();
    let mut read = 0;
    let head = "GET / HTTP/1.1\r\nHost: x\r\nA: b\r\n";
    for (second, byte) in head.bytes().enumerate().take(10) {
        client.send([byte]);
        read += 1;
        server.until_read(read);
        if second < 9 {
            server.advance(SECOND);
        }
    }
    assert_eq!(server.with(|c| c.connections()), 1, "nine seconds are allowed");
    server.advance(SECOND);
    assert_eq!(client.answer().status, 408);
    client.assert_closed();
}

#[test]
fn a_connection_without_a_request_is_closed_without_a_word() {
    let server = Server::start(config(), hello);
    let mut client = server.client();
    server.until_connections(1);
    server.advance(9 * SECOND);
    assert_eq!(server.with(|c| c.connections()), 1);
    server.advance(SECOND);
    client.assert_closed();
}

#[test]
fn an_idle_connection_is_closed_after_its_keep_alive_time() {
    let server = Server::start(config(), hello);
    let mut client = server.client();
    for _ in 0..3 {
        assert_eq!(client.get("/").status, 200);
        server.advance(19 * SECOND);
    }
    assert_eq!(client.get("/").status, 200);
    server.advance(20 * SECOND);
    client.assert_closed();
}

#[test]
fn keep_alive_can_be_off() {
    let server = Server::start(Config { keepalive_timeout: 0, ..config() }, hello);
    let mut client = server.client();
    assert_eq!(client.get("/").header("connection"), Some("close"));
    client.assert_closed();
}

#[test]
fn a_slow_body_is_cut_by_its_minimum_rate() {
    let server = Server::start(config(), hello);
    let mut client = server.client();
    let head = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n";
    client.send(head);
    server.until_read(head.len());
    // 600 bytes in 5 seconds are enough, 400 are not.
    client.send([0; 600]);
    server.until_read(head.len() + 600);
    server.advance(5 * SECOND);
    client.send([0; 400]);
    server.until_read(head.len() + 1000);
    server.advance(4 * SECOND);
    assert_eq!(server.with(|c| c.counters().refused.get()), 0);
    server.advance(SECOND);
    assert_eq!(client.answer().status, 408);
    client.stream.shutdown(std::net::Shutdown::Write).unwrap();
    client.assert_closed();
}

#[test]
fn a_slow_streamed_body_is_an_error_for_its_reader_only_while_it_reads() {
    let (tx, rx) = mpsc::channel();
    let (go, wait) = tokio::sync::oneshot::channel::<()>();
    let wait = std::sync::Mutex::new(Some(wait));
    let server = Server::start(Config { stream_body: true, ..config() }, move |request: Request, r: Responder| {
        let (tx, wait) = (tx.clone(), wait.lock().unwrap().take().unwrap());
        async move {
            tx.send(None).unwrap();
            wait.await.unwrap();
            let mut chunk = request.body().read_chunk(10);
            std::future::poll_fn(|cx| {
                assert!(Pin::new(&mut chunk).poll(cx).is_pending());
                Poll::Ready(())
            })
            .await;
            tx.send(None).unwrap();
            tx.send(Some(chunk.await)).unwrap();
            r.end(&ResponseHead::new(408), b"").unwrap();
        }
    });
    let mut client = server.client();
    client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n");
    assert_eq!(rx.recv().unwrap(), None);
    server.advance(100 * SECOND);
    go.send(()).unwrap();
    assert_eq!(rx.recv().unwrap(), None);
    server.advance(4 * SECOND);
    server.advance(SECOND);
    assert_eq!(rx.recv().unwrap(), Some(Err(BodyError::TooSlow)));
    assert_eq!(client.answer().header("connection"), Some("close"));
}

#[test]
fn a_dripping_streamed_body_is_cut_although_its_reader_gets_each_byte() {
    let (tx, rx) = mpsc::channel();
    let server = Server::start(Config { stream_body: true, ..config() }, move |request: Request, r: Responder| {
        let tx = tx.clone();
        async move {
            loop {
                let chunk = request.body().read_chunk(10).await;
                tx.send(chunk.clone()).unwrap();
                if chunk.is_err() {
                    return r.end(&ResponseHead::new(408), b"").unwrap();
                }
            }
        }
    });
    let mut client = server.client();
    client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n");
    for _ in 0..4 {
        client.send([b'x']);
        assert_eq!(rx.recv().unwrap().unwrap().as_deref(), Some(&b"x"[..]));
        server.advance(SECOND);
    }
    client.send([b'x']);
    assert!(rx.recv().unwrap().is_ok());
    server.advance(2 * SECOND);
    assert_eq!(rx.recv().unwrap(), Err(BodyError::TooSlow));
    assert_eq!(client.answer().status, 408);
}

/// A client whose kernel takes little.
fn small_reader(server: &Server) -> Client {
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    socket.connect(&server.addr.into()).unwrap();
    Client::new(TcpStream::from(socket))
}

#[test]
fn a_slow_reader_meets_a_bounded_buffer_and_a_deadline() {
    const BOUND: usize = 100_000;
    const PIECE: usize = 10_000;
    let (tx, rx) = mpsc::channel();
    let server = Server::start(Config { max_output: BOUND, ..config() }, move |_: Request, r: Responder| {
        let tx = tx.clone();
        async move {
            let head = ResponseHead::new(200);
            let mut most = 0;
            loop {
                match r.write(&head, &[b'x'; PIECE]) {
                    Ok(WriteState::Sent) => {}
                    Ok(WriteState::Buffered(waiting)) => most = most.max(waiting),
                    Err(SendError::Full) => break,
                    Err(error) => panic!("{error}"),
                }
            }
            tx.send((most, None)).unwrap();
            let waited = r.writable().await;
            tx.send((0, Some(waited))).unwrap();
        }
    });
    let mut client = small_reader(&server);
    client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    let (most, _) = rx.recv().unwrap();
    assert!((BOUND..BOUND + PIECE + 100).contains(&most), "{most}");
    server.advance(SECOND);
    server.advance(29 * SECOND);
    assert_eq!(server.with(|c| c.connections()), 1);
    server.advance(SECOND);
    assert_eq!(rx.recv().unwrap().1, Some(Err(SendError::Closed)));
    server.until_connections(0);
}

#[test]
fn slow_readers_together_meet_the_bound_of_the_worker() {
    const ALL: usize = 150_000;
    let config = Config { max_output: 100_000, max_buffered: ALL, ..config() };
    let server = Server::start(config, async |_: Request, r: Responder| {
        let head = ResponseHead::new(200);
        loop {
            match r.write(&head, &[b'x'; 10_000]) {
                Ok(_) => {}
                Err(SendError::Full) if r.writable().await.is_ok() => {}
                Err(_) => return,
            }
        }
    });
    let mut readers: Vec<_> = (0..3).map(|_| small_reader(&server)).collect();
    for reader in &mut readers {
        reader.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    }
    server.until(|c| c.counters().requests.get() == 3 && c.buffered() >= ALL);
    assert!(server.with(|c| c.buffered()) < ALL + 3 * 11_000, "one piece each beyond it");
    // What one of them kept goes to another when it leaves.
    readers.pop();
    server.until_connections(2);
    server.until(|c| c.buffered() >= ALL);
    drop(readers);
    server.until_connections(0);
    assert_eq!(server.with(|c| c.buffered()), 0);
}

#[test]
fn a_reader_that_takes_enough_is_not_cut() {
    let server = Server::start(Config { min_rate: 10, ..config() }, async |_: Request, r: Responder| {
        r.end(&ResponseHead::new(200), &vec![b'x'; 8_000_000]).unwrap();
    });
    let mut client = small_reader(&server);
    client.send("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    server.until(|c| c.counters().answers.get() == 1);
    let mut piece = vec![0; 100_000];
    for _ in 0..20 {
        server.advance(SECOND);
        client.stream.read_exact(&mut piece).unwrap();
        server.advance(29 * SECOND);
    }
    assert_eq!(server.with(|c| c.connections()), 1, "ten minutes, and still fed");
    let rest = client.rest();
    assert!(rest.len() > 8_000_000 - 2_000_001, "{}", rest.len());
}

/// A body with a count of its owners.
struct Kept(Arc<[u8]>, Arc<AtomicUsize>);

impl AsRef<[u8]> for Kept {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        self.1.fetch_sub(1, Relaxed);
    }
}

#[test]
fn slow_readers_share_a_large_body() {
    const READERS: usize = 20;
    let body: Arc<[u8]> = vec![b'z'; 6_000_000].into();
    let (ours, owners) = (Arc::clone(&body), Arc::new(AtomicUsize::new(0)));
    let count = Arc::clone(&owners);
    let server = Server::start(config(), move |_: Request, r: Responder| {
        let (body, count) = (Arc::clone(&ours), Arc::clone(&count));
        async move {
            let keep = || {
                count.fetch_add(1, Relaxed);
                Box::new(Kept(Arc::clone(&body), Arc::clone(&count))) as Box<dyn AsRef<[u8]>>
            };
            r.end_shared(&ResponseHead::new(200), &body, keep).unwrap();
        }
    });
    let mut readers: Vec<_> = (0..READERS).map(|_| small_reader(&server)).collect();
    for reader in &mut readers {
        reader.send("GET / HTTP/1.1\r\nHost: x\r\n\r\nGET /next HTTP/1.1\r\nHost: x\r\n\r\n");
    }
    server.until(|c| c.counters().answers.get() == READERS as u64);
    assert_eq!(owners.load(Relaxed), READERS, "nobody has taken it all, and nothing was copied");
    let mut one = readers.pop().unwrap();
    assert!(one.answer().body == body[..] && one.answer().body == body[..]);
    drop((one, readers));
    server.until_connections(0);
    assert_eq!(owners.load(Relaxed), 0);
}

#[test]
fn writers_go_on_when_the_reader_does() {
    let server = Server::start(Config { max_output: 50_000, ..config() }, async |_: Request, r: Responder| {
        let head = ResponseHead::new(200);
        for _ in 0..1000 {
            if let WriteState::Buffered(waiting) = r.write(&head, &[b'y'; 10_000]).unwrap() {
                assert!(waiting < 70_000);
                r.writable().await.unwrap();
            }
        }
        r.finish(&head, &[]).unwrap();
    });
    let mut client = small_reader(&server);
    let answer = client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n").answer();
    assert_eq!(answer.body.len(), 10_000_000);
}

#[test]
fn a_client_that_lingers_is_cut() {
    let server = Server::start(config(), hello);
    let mut client = server.client();
    assert_eq!(client.send("nonsense\r\n\r\n").answer().status, 400);
    server.advance(4 * SECOND);
    assert_eq!(server.with(|c| c.connections()), 1);
    server.advance(SECOND);
    server.until_connections(0);
}

#[test]
fn a_client_that_lingers_holds_up_no_stop() {
    let server = Server::start(config(), hello);
    let mut client = server.client();
    assert_eq!(client.send("nonsense\r\n\r\n").answer().status, 400);
    server.with(Control::drain);
    server.advance(SECOND);
    server.until_connections(0);
}

#[test]
fn connections_beyond_the_limit_wait_in_the_queue() {
    let server = Server::start(Config { max_connections: 2, ..config() }, hello);
    let mut first = server.client();
    let mut second = server.client();
    assert_eq!((first.get("/").status, second.get("/").status), (200, 200));
    let mut third = server.client();
    third.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_eq!(server.with(|c| (c.connections(), c.counters().accepted.get())), (2, 2));
    drop(first);
    assert_eq!(third.answer().status, 200);
}
