//! Message connections through real sockets: WebSockets and streams, their limits and deadlines.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "what is missing fails the test")]

mod support;

use std::future::Future;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener};
use std::pin::Pin;
use std::rc::Rc;
use std::time::Duration;

use apus_net::proto::framing::{Framing, Rule};
use apus_net::proto::websocket::Opcode;
use apus_net::{
    App, Config, Control, Delivery, Kind, Message, MessageConn, Request, Responder, ResponseHead, SendPolicy, Upgrade,
};
use support::{Client, Server, masked};

type Handling = Pin<Box<dyn Future<Output = ()>>>;

/// Echoes; "wait" is answered when the next message of the connection has been, "flood" with as much as is taken.
struct Talk {
    pull: bool,
}

impl App for Talk {
    type Handling = Handling;

    fn on_request(self: &Rc<Self>, _request: Request, response: Responder) -> Handling {
        response.fail(404);
        Box::pin(async {})
    }

    fn on_upgrade(self: &Rc<Self>, _request: Request, response: Responder) -> Handling {
        let upgraded = response.upgrade(&Upgrade { pull: self.pull, ..Upgrade::default() });
        let message_conn = match upgraded {
            Ok(message_conn) if self.pull => message_conn,
            Ok(_) => return Box::pin(async {}),
            Err(refusal) => {
                response.refuse_upgrade(refusal);
                return Box::pin(async {});
            }
        };
        Box::pin(async move {
            while let Some(message) = message_conn.recv().await {
                if let Kind::Close { .. } = message.kind {
                    return;
                }
                let _ = message_conn.push(Opcode::Text, true, false, &message.data);
            }
        })
    }

    fn on_message(self: &Rc<Self>, message_conn: &Rc<MessageConn>, message: Message<'_>) -> Option<Handling> {
        if message.kind == Kind::Data {
            let _ = message_conn.send(&[message.data, b"."].concat());
            return None;
        }
        let message_conn = Rc::clone(message_conn);
        match message.data {
            b"flood" => {
                let mut taken = 0;
                while message_conn.push(Opcode::Binary, true, false, &[0; 8192]) != Delivery::Dropped {
                    taken += 1;
                }
                assert!(taken > 0 && message_conn.is_full());
                None
            }
            b"wait" => Some(Box::pin(async move {
                tokio::task::yield_now().await;
                let _ = message_conn.push(Opcode::Text, true, false, b"waited");
            })),
            data => {
                let opcode = if message.kind == Kind::Text { Opcode::Text } else { Opcode::Binary };
                let _ = message_conn.push(opcode, true, false, data);
                None
            }
        }
    }
}

fn start(config: Config, pull: bool) -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = listener.local_addr().unwrap();
    let mut server = Server::start_app(vec![listener.into()], config, move || Talk { pull });
    server.addr = addr;
    server
}

fn websocket() -> Config {
    Config { websocket: true, ..Config::default() }
}

/// Nothing of what is read ahead for some, while others run, is lost or comes to the wrong one.
#[test]
fn many_are_heard_in_one_turn() {
    const MANY: usize = 80;
    for pull in [false, true] {
        let server = start(websocket(), pull);
        let mut clients: Vec<_> = (0..MANY)
            .map(|_| {
                let mut client = server.client();
                assert_eq!(client.upgrade().status, 101);
                client
            })
            .collect();
        server.while_busy(|| {
            for (number, client) in clients.iter_mut().enumerate() {
                let text = number.to_string();
                client.frame(0x81, text.as_bytes());
                match number % 4 {
                    0 => drop(client.stream.shutdown(Shutdown::Write)),
                    1 => drop(client.frame(0x82, &[1; 10_000]).stream.flush()),
                    2 => drop(client.send(&masked(0x81, b"cut")[..5]).stream.flush()),
                    _ => {}
                }
            }
        });
        for (number, client) in clients.iter_mut().enumerate() {
            assert_eq!(client.next_frame().1, number.to_string().into_bytes());
            match number % 4 {
                0 => client.assert_closed(),
                1 => assert_eq!(client.next_frame().1, [1; 10_000]),
                2 => assert_eq!(client.send(&masked(0x81, b"cut")[5..]).next_frame().1, b"cut"),
                _ => {}
            }
        }
    }
}

/// Nor is anything read ahead for whom the program does not want to hear.
#[test]
fn who_is_paused_is_not_heard_beside_others() {
    const MANY: usize = 40;
    let server = start(websocket(), false);
    let mut clients: Vec<_> = (0..MANY)
        .map(|_| {
            let mut client = server.client();
            client.upgrade();
            client
        })
        .collect();
    let before = server.with(|control| {
        control.message_conns().iter().step_by(2).for_each(|message_conn| message_conn.pause());
        control.counters().bytes_in.get()
    });
    let frame = masked(0x81, b"heard");
    server.while_busy(|| {
        for client in &mut clients {
            client.send(&frame);
        }
    });
    let told: usize = clients.iter_mut().skip(1).step_by(2).map(|client| client.next_frame().1.len()).sum();
    assert_eq!(told, MANY / 2 * b"heard".len());
    let read = server.with(|control| control.counters().bytes_in.get()) - before;
    assert_eq!(read, (MANY / 2 * frame.len()) as u64);
    server.with(|control| control.message_conns().iter().for_each(|message_conn| message_conn.resume()));
    for client in clients.iter_mut().step_by(2) {
        assert_eq!(client.next_frame().1, b"heard");
    }
}

#[test]
fn a_connection_that_was_closed_is_not_upgraded() {
    let server = Server::start(websocket(), |_request: Request, response: Responder| async move { response.detach() });
    let mut client = server.client();
    client.ask_upgrade();
    server.until(|control| control.counters().requests.get() == 1);
    server.with(|control| {
        let id = control.ids()[0];
        let response = control.responder(id).unwrap();
        assert!(control.close(id, true));
        assert!(response.upgrade(&Upgrade::default()).is_err() && control.message_conn(id).is_none());
    });
    server.until_connections(0);
}

#[test]
fn messages_go_and_come_whole_in_parts_and_many_at_once() {
    let server = start(websocket(), false);
    let mut client = server.client();
    let answer = client.upgrade();
    assert_eq!(answer.status, 101);
    assert_eq!(answer.header("sec-websocket-accept"), Some("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="));
    client.frame(0x81, b"one");
    assert_eq!(client.next_frame(), (0x81, b"one".to_vec()));
    client.frame(0x01, b"fr").frame(0x89, b"?").frame(0x80, b"ag");
    assert_eq!(client.next_frame(), (0x8a, b"?".to_vec()));
    assert_eq!(client.next_frame(), (0x81, b"frag".to_vec()));
    let large = vec![7; 300_000];
    client.frame(0x82, &large);
    assert_eq!(client.next_frame(), (0x82, large));
    let many: Vec<u8> = (0..100u8).flat_map(|n| masked(0x82, &[n])).collect();
    client.send(many);
    for n in 0..100 {
        assert_eq!(client.next_frame(), (0x82, vec![n]));
    }
    for byte in masked(0x81, b"byte by byte") {
        client.send([byte]);
    }
    assert_eq!(client.next_frame().1, b"byte by byte");
}

#[test]
fn an_invalid_handshake_is_refused_with_what_is_wrong() {
    let server = start(Config { origins: vec!["https://good.example".to_owned()], ..websocket() }, false);
    let base = "Host: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n";
    let key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
    for (request, status) in [
        (format!("GET / HTTP/1.1\r\n{base}{key}Sec-WebSocket-Version: 12\r\n\r\n"), 426),
        (format!("GET / HTTP/1.1\r\n{base}Sec-WebSocket-Version: 13\r\n\r\n"), 400),
        (format!("GET / HTTP/1.1\r\n{base}Sec-WebSocket-Key: short\r\nSec-WebSocket-Version: 13\r\n\r\n"), 400),
        (format!("POST / HTTP/1.1\r\nContent-Length: 0\r\n{base}{key}Sec-WebSocket-Version: 13\r\n\r\n"), 405),
        (format!("GET / HTTP/1.1\r\n{base}{key}Sec-WebSocket-Version: 13\r\nContent-Length: 1\r\n\r\nx"), 400),
        (format!("GET / HTTP/1.1\r\n{base}{key}Sec-WebSocket-Version: 13\r\nOrigin: https://bad.example\r\n\r\n"), 403),
    ] {
        let answer = server.client().send(&request).answer();
        assert_eq!(answer.status, status, "{request}");
        assert_eq!(answer.header("sec-websocket-version").is_some(), status == 426);
    }
}

#[test]
fn a_handshake_that_was_refused_does_not_count_for_the_next_request() {
    let server = Server::start(Config::default(), |request: Request, response: Responder| async move {
        if request.upgrade() {
            response.end(&ResponseHead::new(200), b"no").unwrap();
        } else {
            assert!(!response.is_handshake());
            assert!(response.upgrade(&Upgrade::default()).is_err());
            response.end(&ResponseHead::new(200), b"never").unwrap();
        }
    });
    let mut client = server.client();
    assert_eq!(client.upgrade().text(), "no");
    assert_eq!(client.get("/").text(), "never");
}

#[test]
fn a_violation_is_answered_with_its_code_and_the_end() {
    let server = start(Config { max_message: 1000, ..websocket() }, false);
    for (frame, code) in [
        (masked(0x83, b"reserved"), 1002u16),
        (masked(0x81, b"\xff\xfe"), 1007),
        (masked(0x82, &[0; 1001]), 1009),
        (b"\x81\x03abc".to_vec(), 1002),
    ] {
        let mut client = server.client();
        client.upgrade();
        client.send(frame);
        let (first, payload) = client.next_frame();
        assert_eq!((first, &payload[..2]), (0x88, &code.to_be_bytes()[..]));
        client.assert_closed();
    }
}

#[test]
fn the_closing_handshake_needs_no_waiting() {
    let server = start(websocket(), false);
    let mut client = server.client();
    client.upgrade();
    client.frame(0x88, &1000u16.to_be_bytes());
    assert_eq!(client.next_frame(), (0x88, 1000u16.to_be_bytes().to_vec()));
    client.assert_closed();
    server.until_connections(0);
    let mut client = server.client();
    client.upgrade();
    server.with(|control| assert!(control.message_conns()[0].close(4000, "bye")));
    assert_eq!(client.next_frame(), (0x88, b"\x0f\xa0bye".to_vec()));
    // Who does not answer is cut off in the end.
    server.advance(Duration::from_secs(4));
    server.until_connections(1);
    server.advance(Duration::from_secs(2));
    server.until_connections(0);
}

#[test]
fn a_silent_peer_is_asked_and_then_given_up() {
    let server = start(Config { ping_interval: 30_000, ping_timeout: 20_000, ..websocket() }, false);
    let mut client = server.client();
    client.upgrade();
    server.advance(Duration::from_secs(29));
    server.advance(Duration::from_secs(2));
    assert_eq!(client.next_frame(), (0x89, Vec::new()));
    client.frame(0x8a, b"");
    client.frame(0x81, b"here").next_frame();
    server.advance(Duration::from_secs(31));
    assert_eq!(client.next_frame().0, 0x89);
    server.advance(Duration::from_secs(21));
    client.assert_closed();
    server.until_connections(0);
}

#[test]
fn what_a_client_does_not_read_is_bounded() {
    let config = Config {
        send_policy: SendPolicy::Drop,
        max_output: 100_000,
        high_watermark: 80_000,
        low_watermark: 40_000,
        ..websocket()
    };
    let server = start(config, false);
    let mut client = server.client();
    client.upgrade();
    client.frame(0x81, b"flood");
    server.until(|control| control.message_conns().iter().any(|message_conn| message_conn.is_full()));
    server.with(|control| assert!(control.buffered() < 100_000 + 16_384, "{}", control.buffered()));
    // Read on, it is as any other.
    while server.with(|control| control.buffered() > 0) {
        client.next_frame();
    }
    server.until(|control| !control.message_conns()[0].is_full());
}

#[test]
fn a_peer_that_takes_enough_is_not_cut() {
    let server = start(Config { stream: true, min_rate: 10, max_output: 1 << 20, ..Config::default() }, false);
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    socket.connect(&server.addr.into()).unwrap();
    let mut client = Client::new(socket.into());
    server.until_connections(1);
    // The kernel takes all it has room for at once, long before anything waits here; and makes more room the more is
    // read: most is to be left here at the end.
    server.with(|control| {
        let message_conn = Rc::clone(&control.message_conns()[0]);
        while message_conn.send(&[0; 8192]) != Delivery::Full {}
    });
    let mut piece = vec![0; 10_000];
    for _ in 0..10 {
        server.advance(Duration::from_secs(1));
        client.stream.read_exact(&mut piece).unwrap();
        server.advance(Duration::from_secs(59));
    }
    assert_eq!(server.with(|control| control.connections()), 1, "ten minutes, and still taking");
    server.advance(Duration::from_secs(1));
    server.advance(Duration::from_secs(60));
    server.until_connections(0);
}

#[test]
fn a_handler_that_waits_lets_others_go_first_and_is_bounded() {
    let server = start(Config { concurrency: 2, ..websocket() }, false);
    let mut client = server.client();
    client.upgrade();
    client.send([masked(0x81, b"wait"), masked(0x81, b"next")].concat());
    assert_eq!(client.next_frame().1, b"next");
    assert_eq!(client.next_frame().1, b"waited");
    client.send([masked(0x81, b"wait"), masked(0x81, b"wait"), masked(0x81, b"third")].concat());
    let order: Vec<_> = (0..3).map(|_| client.next_frame().1).collect();
    assert_eq!(order[0], b"waited", "the third is read when a place is free");
}

#[test]
fn a_message_connection_may_be_read_message_by_message() {
    let server = start(websocket(), true);
    let mut client = server.client();
    client.upgrade();
    client.send([masked(0x81, b"a"), masked(0x81, b"b")].concat());
    assert_eq!((client.next_frame().1, client.next_frame().1), (b"a".to_vec(), b"b".to_vec()));
    client.frame(0x88, b"");
    assert_eq!(client.next_frame(), (0x88, Vec::new()));
    client.assert_closed();
}

#[test]
fn a_stream_is_cut_into_messages_and_answered_after_the_clients_end() {
    let framing = Framing::new(Rule::End(b"\n".to_vec()), 100).unwrap();
    let server = start(Config { stream: true, framing: Some(framing), ..Config::default() }, false);
    let mut client = server.client();
    client.send("one\ntwo\nth");
    client.send("ree\n");
    client.stream.shutdown(std::net::Shutdown::Write).unwrap();
    assert_eq!(String::from_utf8(client.rest()).unwrap(), "one\n.two\n.three\n.");
    let mut client = server.client();
    client.send([b'x'; 101]);
    client.assert_closed();
}

#[test]
fn a_leaving_worker_says_goodbye() {
    let server = start(websocket(), false);
    let mut client = server.client();
    client.upgrade();
    server.with(Control::drain);
    assert_eq!(client.next_frame().1[..2], 1001u16.to_be_bytes());
    client.frame(0x88, &1001u16.to_be_bytes());
    client.assert_closed();
    server.until_connections(0);
}

#[test]
fn messages_of_a_turn_leave_together_and_in_order() {
    let server = start(websocket(), false);
    let mut client = server.client();
    client.upgrade();
    server.with(|control| {
        let message_conn = Rc::clone(&control.message_conns()[0]);
        let turn = control.write_turn();
        for n in 0..50u8 {
            assert_eq!(message_conn.push(Opcode::Binary, true, false, &[n]), Delivery::Sent);
        }
        drop(turn);
        assert_eq!(message_conn.push(Opcode::Binary, true, false, &[50]), Delivery::Sent);
    });
    for n in 0..=50 {
        assert_eq!(client.next_frame(), (0x82, vec![n]));
    }
}

#[test]
fn a_turn_with_several_receivers_keeps_the_order_of_each() {
    let server = start(websocket(), false);
    let mut clients: Vec<_> = (0..3).map(|_| server.client()).collect();
    for client in &mut clients {
        client.upgrade();
    }
    server.with(|control| {
        let receivers = control.message_conns();
        let sent = || control.counters().bytes_out.get();
        let before = sent();
        let turns = [control.write_turn(), control.write_turn()];
        for n in 0..40u8 {
            for (at, receiver) in receivers.iter().enumerate() {
                if n == 20 && at == 1 {
                    assert_eq!(sent(), before, "nothing has left");
                    // A long message leaves at once, and what came before it first.
                    assert_eq!(receiver.push(Opcode::Binary, true, false, &[20; 5000]), Delivery::Sent);
                    assert!(sent() > before + 5000);
                } else {
                    assert_eq!(receiver.push(Opcode::Binary, true, false, &[n; 3]), Delivery::Sent);
                }
            }
        }
        let before = sent();
        let [first, second] = turns;
        drop(first);
        assert_eq!(sent(), before, "the outer turn goes on");
        drop(second);
        assert!(sent() > before);
    });
    for client in &mut clients {
        for n in 0..40u8 {
            let (first, payload) = client.next_frame();
            assert_eq!((first, payload[0], payload.len()), (0x82, n, if payload.len() > 3 { 5000 } else { 3 }));
        }
    }
}

#[test]
fn a_message_that_is_complete_counts_as_kept_no_more() {
    let server = start(Config { max_incoming: 500_000, ..websocket() }, false);
    // Each has sent a large message whole, one after the other: together more than may be kept of incomplete ones.
    let mut clients: Vec<_> = (0..4).map(|_| server.client()).collect();
    for client in &mut clients {
        client.upgrade();
        client.frame(0x82, &vec![1; 200_000]);
        assert_eq!(client.next_frame().1.len(), 200_000);
    }
    for client in &mut clients {
        client.frame(0x81, b"still here");
        assert_eq!(client.next_frame().1, b"still here");
    }
    // Incomplete ones end when all together are too much.
    for client in &mut clients {
        let frame = masked(0x82, &vec![1; 200_001]);
        client.send(&frame[..200_000]);
    }
    server.until(|control| {
        control.advance(Duration::from_millis(250));
        control.connections() < 4
    });
}

#[test]
fn websockets_share_the_account_and_wait_for_room() {
    let server = start(Config { max_incoming: 1_048_576, ..websocket() }, false);
    let mut dripping: Vec<_> = (0..5).map(|_| server.client()).collect();
    for client in &mut dripping {
        client.upgrade();
        client.send(&masked(0x82, &vec![1; 400_000])[..200_000]);
    }
    server.until(|control| control.incoming() > 900_000);
    for _ in 0..20 {
        server.advance(Duration::from_millis(250));
    }
    let mut honest = server.client();
    honest.upgrade();
    honest.frame(0x82, &vec![2; 300_000]);
    // It is not read until those that bring nothing are ended.
    server.until(|control| {
        control.advance(Duration::from_millis(250));
        control.connections() < 6
    });
    assert_eq!(honest.next_frame().1, vec![2; 300_000]);
    drop((dripping, honest));
    server.until_connections(0);
    assert_eq!(server.with(|control| control.incoming()), 0);
}
