//! Connections from their beginning to their end: clients that leave, responders that stay, drain, other families.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "what is missing fails the test")]

mod support;

use std::cell::RefCell;
use std::io::{Seek, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use apus_net::{AnswerState, Config, Control, Peer, Request, Responder, ResponseHead, SendError};
use support::{Client, Server, hello};

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn a_handler_learns_that_its_client_is_gone() {
    let (tx, rx) = mpsc::channel();
    let server = Server::start(Config::default(), move |_: Request, r: Responder| {
        let tx = tx.clone();
        async move {
            tx.send("begun").unwrap();
            r.gone().await;
            assert!(r.peer_gone());
            tx.send("gone").unwrap();
        }
    });
    for reset in [false, true] {
        let mut client = server.client();
        client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
        assert_eq!(rx.recv().unwrap(), "begun");
        if reset {
            socket2::SockRef::from(&client.stream).set_linger(Some(Duration::ZERO)).unwrap();
        }
        drop(client);
        assert_eq!(rx.recv().unwrap(), "gone");
    }
    server.until_connections(0);
    let events = server.events.lock().unwrap().clone();
    assert_eq!(events, ["connect 1", "close 1", "connect 2", "close 2"]);
}

#[test]
fn a_client_that_leaves_behind_unread_input_is_noticed_by_the_sweep() {
    let (tx, rx) = mpsc::channel();
    let server = Server::start(Config::default(), move |_: Request, r: Responder| {
        let tx = tx.clone();
        async move {
            tx.send("begun").unwrap();
            r.gone().await;
            tx.send("gone").unwrap();
            r.end(&ResponseHead::new(200), b"").unwrap();
        }
    });
    let mut client = server.client();
    client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_eq!(rx.recv().unwrap(), "begun");
    client.send("GET /2 HTTP/1.1\r\nHost: x\r\n\r\n");
    client.stream.shutdown(std::net::Shutdown::Write).unwrap();
    server.until(move |control| {
        control.advance(Duration::from_millis(1));
        rx.try_recv() == Ok("gone")
    });
    assert_eq!((client.answer().status, client.answer().status), (200, 200));
}

#[test]
fn a_responder_can_outlive_the_handler_and_answer_from_elsewhere() {
    thread_local! { static KEPT: RefCell<Option<Responder>> = const { RefCell::new(None) }; }
    let server = Server::start(Config::default(), async |_: Request, r: Responder| {
        KEPT.with(|kept| *kept.borrow_mut() = Some(r.clone()));
    });
    let mut client = server.client();
    client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\nGET /2 HTTP/1.1\r\nHost: x\r\n\r\n");
    for text in ["first", "second"] {
        server.until(|_| KEPT.with(|kept| kept.borrow().is_some()));
        server.with(move |_| {
            let responder = KEPT.with(|kept| kept.borrow_mut().take()).unwrap();
            responder.end(&ResponseHead::new(200), text.as_bytes()).unwrap();
            assert_eq!(responder.end(&ResponseHead::new(200), b"twice"), Err(SendError::Ended));
        });
        assert_eq!(client.answer().text(), text);
    }
}

#[test]
fn a_late_responder_does_not_answer_the_next_request() {
    thread_local! { static OLD: RefCell<Option<Responder>> = const { RefCell::new(None) }; }
    let server = Server::start(Config::default(), async |request: Request, r: Responder| {
        if request.path() == b"/1" {
            r.end(&ResponseHead::new(200), b"1").unwrap();
            OLD.with(|old| *old.borrow_mut() = Some(r.clone()));
        } else {
            let old = OLD.with(|old| old.borrow_mut().take()).unwrap();
            assert!(old.is_ended() && !old.is_writable());
            assert_eq!(old.end(&ResponseHead::new(200), b"wrong"), Err(SendError::Ended));
            drop(old);
            r.end(&ResponseHead::new(200), b"2").unwrap();
        }
    });
    let mut client = server.client();
    assert_eq!((client.get("/1").text(), client.get("/2").text()), ("1".into(), "2".into()));
}

#[test]
fn an_answer_does_not_wait_for_its_handler() {
    let (go, wait) = tokio::sync::oneshot::channel::<()>();
    let wait = Mutex::new(Some(wait));
    let (tx, rx) = mpsc::channel();
    let server = Server::start(Config::default(), move |request: Request, r: Responder| {
        let wait = wait.lock().unwrap().take().filter(|_| request.path() == b"/slow");
        let tx = tx.clone();
        async move {
            r.end(&ResponseHead::new(200), request.path()).unwrap();
            if let Some(wait) = wait {
                wait.await.unwrap();
                tx.send("done").unwrap();
            }
        }
    });
    let mut client = server.client();
    assert_eq!(client.get("/slow").text(), "/slow");
    assert_eq!(client.get("/next").text(), "/next");
    drop(client);
    server.until_connections(0);
    go.send(()).unwrap();
    assert_eq!(rx.recv().unwrap(), "done");
}

#[test]
fn an_unanswered_request_gets_500_and_a_half_answered_one_is_cut() {
    let server = Server::start(Config::default(), async |request: Request, r: Responder| {
        if request.path() == b"/half" {
            r.write(&ResponseHead::new(200), b"half").unwrap();
        }
    });
    let mut client = server.client();
    assert_eq!(client.get("/").status, 500);
    assert_eq!(client.get("/").status, 500, "the connection stays");
    client.send("GET /half HTTP/1.1\r\nHost: x\r\n\r\n");
    let rest = String::from_utf8(client.rest()).unwrap();
    assert!(rest.ends_with("\r\n\r\n4\r\nhalf\r\n"), "no last chunk: {rest}");
}

#[test]
fn a_detached_answer_is_made_from_the_session_id() {
    let server = Server::start(Config::default(), async |_: Request, r: Responder| r.detach());
    let mut client = server.client();
    client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    server.until(|control| {
        let Some(&id) = control.ids().first() else { return false };
        control.responder(id).is_some_and(|r| r.end(&ResponseHead::new(200), b"detached").is_ok())
    });
    assert_eq!(client.answer().text(), "detached");
    assert!(server.with(|control| control.responder(control.ids()[0]).is_none()));
}

/// Whether all requests that were handed over so far are answered or lost, and how many of each.
fn over(control: &Control) -> Option<(u64, u64)> {
    let counters = control.counters();
    let (answers, lost) = (counters.answers.get(), counters.lost.get());
    (counters.requests.get() == answers + lost).then_some((answers, lost))
}

#[test]
fn every_request_is_answered_or_lost_once() {
    let server = Server::start(Config::default(), |request: Request, r: Responder| async move {
        let head = ResponseHead::new(200);
        match request.path() {
            b"/end" => {
                r.end(&head, b"x").unwrap();
                assert_eq!((r.state(), r.end(&head, b"y")), (AnswerState::Answered, Err(SendError::Ended)));
            }
            b"/none" => assert_eq!(r.state(), AnswerState::Open),
            b"/half" => {
                r.write(&head, b"x").unwrap();
                assert_eq!(r.state(), AnswerState::Begun);
            }
            b"/short" => {
                let head = ResponseHead { content_length: Some(2), ..head };
                r.write(&head, b"x").unwrap();
                assert_eq!((r.finish(&head, &[]), r.state()), (Err(SendError::Length), AnswerState::Answered));
            }
            b"/abort" => {
                r.abort();
                assert_eq!((r.state(), r.end(&head, b"")), (AnswerState::Lost, Err(SendError::Ended)));
            }
            b"/left" => {
                r.detach();
                assert_eq!((r.state(), r.is_open(), r.is_ended()), (AnswerState::Detached, false, true));
                assert_eq!(r.clone().end(&head, b""), Err(SendError::Ended));
            }
            _ => std::future::pending().await,
        }
    });
    // How many are answered and lost after each.
    let expected = [("/end", (1, 0)), ("/none", (2, 0)), ("/half", (2, 1)), ("/short", (3, 1)), ("/abort", (3, 2))];
    for (path, counts) in expected {
        let mut client = server.client();
        client.send(format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"));
        server.until(move |control| control.counters().accepted.get() > 0 && over(control) == Some(counts));
        drop(client);
        server.until_connections(0);
        assert_eq!(server.with(|control| over(control)), Some(counts), "{path}");
    }
    // Their clients leave.
    for (path, lost) in [("/wait", 3), ("/left", 4)] {
        let mut client = server.client();
        client.send(format!("GET {path} HTTP/1.1\r\nHost: x\r\n\r\n"));
        server.until(|control| control.counters().requests.get() > 5 && over(control).is_none());
        let id = server.with(|control| control.ids()[0]);
        server.with(move |control| control.close(id, true));
        server.until(move |control| over(control) == Some((3, lost)));
        server.until_connections(0);
    }
    // One that the program never saw is neither.
    let mut client = server.client();
    client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc");
    server.until(|control| control.incoming() == 3);
    server.with(|control| assert!(control.responder(control.ids()[0]).is_none()));
    drop(client);
    server.until_connections(0);
    assert_eq!(server.with(|control| over(control)), Some((3, 4)));
}

#[test]
fn a_connection_is_closed_by_its_id() {
    let server = Server::start(Config::default(), hello);
    let mut client = server.client();
    client.get("/");
    let info = server.with(|control| {
        let id = control.ids()[0];
        let info = control.info(id).unwrap();
        assert!(control.close(id, false) && info.is_open());
        (info.requests(), info.id(), info.local().port())
    });
    assert_eq!(info, (1, 1, server.addr.port()));
    client.assert_closed();
    drop(client);
    server.until_connections(0);
    assert!(!server.with(|control| control.close(1, true)));
}

fn big_file() -> (std::fs::File, Vec<u8>) {
    let content: Vec<u8> = (0..3_000_000u32).map(|i| (i % 251) as u8).collect();
    let path =
        std::env::temp_dir().join(format!("apus-net-file-{}-{:?}", std::process::id(), std::thread::current().id()));
    let mut file = std::fs::File::options().read(true).write(true).create_new(true).open(&path).unwrap();
    std::fs::remove_file(path).unwrap();
    file.write_all(&content).unwrap();
    file.rewind().unwrap();
    (file, content)
}

#[test]
fn files_are_sent_whole_or_in_part() {
    let (file, content) = big_file();
    let sent = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&sent);
    let server = Server::start(Config::default(), move |request: Request, r: Responder| {
        let file = file.try_clone().unwrap();
        let log = Arc::clone(&log);
        async move {
            let mut words = std::str::from_utf8(request.path()).unwrap()[1..].split('-');
            let (offset, len) = (words.next().unwrap().parse().unwrap(), words.next().unwrap().parse().unwrap());
            let done = r.send_file(&ResponseHead::new(200), file, offset, len).unwrap().await;
            log.lock().unwrap().push(done);
        }
    });
    let mut client = server.client();
    // Pipelined, with other answers in between.
    client.send("GET /0-3000000 HTTP/1.1\r\nHost: x\r\n\r\nGET /1000-5 HTTP/1.1\r\nHost: x\r\n\r\n");
    let whole = client.answer();
    assert_eq!(whole.header("content-length"), Some("3000000"));
    assert!(whole.body == content);
    assert_eq!(client.answer().body, &content[1000..1005]);
    assert!(client.get("/2999990-0").body.is_empty());
    let head = client.send("HEAD /0-100 HTTP/1.1\r\nHost: x\r\n\r\n").answer_to(true);
    assert_eq!(head.header("content-length"), Some("100"));
    assert_eq!(client.get("/7-3").body, &content[7..10]);
    let log = Arc::clone(&sent);
    server.until(move |_| log.lock().unwrap().as_slice() == [Ok(()); 5]);
    // Shorter than promised: cut.
    client.send("GET /2999999-10 HTTP/1.1\r\nHost: x\r\n\r\n");
    let rest = client.rest();
    assert!(rest.ends_with(&content[2_999_999..]) && !rest.ends_with(b"\r\n"));
    let log = Arc::clone(&sent);
    server.until(move |_| log.lock().unwrap().last() == Some(&Err(SendError::Closed)));
}

/// A server that answers "done", and to the first request for `/wait` when it is told to.
fn holding_server() -> (Server, tokio::sync::oneshot::Sender<()>) {
    let (go, wait) = tokio::sync::oneshot::channel::<()>();
    let wait = Mutex::new(Some(wait));
    let server = Server::start(Config::default(), move |request: Request, r: Responder| {
        let wait = if request.path() == b"/wait" { wait.lock().unwrap().take() } else { None };
        async move {
            if let Some(wait) = wait {
                wait.await.unwrap();
            }
            r.end(&ResponseHead::new(200), b"done").unwrap();
        }
    });
    (server, go)
}

#[test]
fn drain_answers_what_is_there_and_closes_what_is_idle() {
    let (server, go) = holding_server();
    let (mut busy, mut idle, mut late, mut fresh) =
        (server.client(), server.client(), server.client(), server.client());
    assert_eq!((idle.get("/").status, late.get("/").status), (200, 200));
    busy.send("GET /wait HTTP/1.1\r\nHost: x\r\n\r\n");
    server.until_connections(4);
    server.until(|c| c.counters().requests.get() == 3);
    server.with(Control::drain);
    // A request that was on its way is answered, and told that it was the last.
    assert_eq!(late.get("/").header("connection"), Some("close"));
    late.assert_closed();
    server.advance(SECOND);
    assert_eq!(server.with(|c| c.connections()), 3);
    server.advance(SECOND);
    idle.assert_closed();
    fresh.assert_closed();
    assert_eq!(server.with(|c| c.connections()), 1);
    go.send(()).unwrap();
    let answer = busy.answer();
    assert_eq!((answer.text().as_str(), answer.header("connection")), ("done", Some("close")));
    busy.assert_closed();
    server.until_connections(0);
    assert!(TcpStream::connect(server.addr).is_err(), "the listener is closed");
}

#[test]
fn idle_connections_can_be_closed_without_waiting_for_what_may_be_on_its_way() {
    let (server, go) = holding_server();
    let (mut busy, mut idle) = (server.client(), server.client());
    assert_eq!(idle.get("/").status, 200);
    busy.send("GET /wait HTTP/1.1\r\nHost: x\r\n\r\n");
    server.until(|c| c.counters().requests.get() == 2);
    server.with(|control| {
        control.drain();
        control.end_idle();
    });
    // Nobody moves the clock.
    idle.assert_closed();
    go.send(()).unwrap();
    assert_eq!(busy.answer().text(), "done");
    busy.assert_closed();
}

#[test]
fn unix_sockets_and_ipv6_work_alike() {
    let path = std::env::temp_dir().join(format!("apus-net-{}.sock", std::process::id()));
    let _ = std::fs::remove_file(&path);
    let unix = UnixListener::bind(&path).unwrap();
    let v6 = TcpListener::bind("[::1]:0").unwrap();
    let addr = v6.local_addr().unwrap();
    let server =
        Server::start_on(vec![unix.into(), v6.into()], Config::default(), async |request: Request, r: Responder| {
            let text = match request.conn().peer() {
                Peer::Unix => "unix".to_owned(),
                Peer::Tcp(peer) => peer.ip().to_string(),
            };
            r.end(&ResponseHead::new(200), text.as_bytes()).unwrap();
        });
    let mut client = Client::wrap(UnixStream::connect(&path).unwrap());
    assert_eq!((client.get("/").text(), client.get("/").text()), ("unix".into(), "unix".into()));
    let mut client = Client::new(TcpStream::connect(addr).unwrap());
    assert_eq!(client.get("/").text(), "::1");
    drop(server);
    std::fs::remove_file(path).unwrap();
}

#[test]
fn abort_closes_everything_at_once() {
    let server = Server::start(Config::default(), async |_: Request, r: Responder| {
        r.gone().await;
        assert_eq!(r.end(&ResponseHead::new(200), b""), Err(SendError::Closed));
    });
    let mut client = server.client();
    client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    server.until(|c| c.counters().requests.get() == 1);
    server.with(Control::abort);
    client.assert_closed();
    server.until_connections(0);
}
