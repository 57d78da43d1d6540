//! Who sends what inflates to much more does not keep others waiting.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "what is missing fails the test")]

mod support;

use std::future::{Ready, ready};
use std::net::TcpListener;
use std::rc::Rc;
use std::sync::{Arc, Mutex, mpsc};

use apus_net::proto::websocket::deflate::Params;
use apus_net::proto::websocket::{Opcode, Role};
use apus_net::{App, Config, Message, MessageConn, Request, Responder, ResponseHead, Upgrade};
use support::{Client, Server, masked};

/// Notes the length of each message, and answers small ones.
struct Order(Arc<Mutex<Vec<usize>>>);

impl App for Order {
    type Handling = Ready<()>;

    fn on_request(self: &Rc<Self>, _request: Request, response: Responder) -> Ready<()> {
        self.0.lock().unwrap().push(0);
        response.end(&ResponseHead::new(200), b"http").unwrap();
        ready(())
    }

    fn on_upgrade(self: &Rc<Self>, _request: Request, response: Responder) -> Ready<()> {
        response.upgrade(&Upgrade::default()).unwrap();
        ready(())
    }

    fn on_message(self: &Rc<Self>, message_conn: &Rc<MessageConn>, message: Message<'_>) -> Option<Ready<()>> {
        self.0.lock().unwrap().push(message.data.len());
        if message.data.len() < 100 {
            let _ = message_conn.push(Opcode::Text, true, false, message.data);
        }
        None
    }
}

fn start(config: Config) -> (Server, Arc<Mutex<Vec<usize>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = listener.local_addr().unwrap();
    let order = Arc::new(Mutex::new(Vec::new()));
    let app = Order(Arc::clone(&order));
    let mut server = Server::start_app(vec![listener.into()], config, move || app);
    server.addr = addr;
    (server, order)
}

fn upgrade(server: &Server) -> Client {
    let mut client = server.client();
    let head = "GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n\
                Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Extensions: permessage-deflate\r\n\r\n";
    assert_eq!(client.send(head).answer().status, 101);
    client
}

/// A compressed message of that many bytes.
fn compressed(len: usize) -> Vec<u8> {
    let params = Params { client_no_context_takeover: true, ..Params::default() };
    let mut out = bytes::BytesMut::new();
    assert!(params.deflater(Role::Client, 6).deflate(&vec![b'x'; len], &mut out));
    masked(0xc2, &out)
}

#[test]
fn whatever_is_there_with_bombs_is_answered_before_they_have_exploded() {
    const BOMBS: usize = 12;
    const SIZE: usize = 2 << 20;
    let (server, order) = start(Config { websocket: true, compression: true, ..Config::default() });
    let mut bombers: Vec<_> = (0..BOMBS).map(|_| upgrade(&server)).collect();
    let (mut plain, mut packed, mut http) = (upgrade(&server), upgrade(&server), server.client());
    http.get("/");
    order.lock().unwrap().clear();
    let bomb = compressed(SIZE).repeat(2);
    std::thread::scope(|scope| {
        let (blocked, is_blocked) = mpsc::channel();
        let (go, wait) = mpsc::channel::<()>();
        let server = &server;
        // All of it lies there when the server looks again, the bombs first.
        let held = scope.spawn(move || {
            server.with(move |_| {
                blocked.send(()).unwrap();
                wait.recv().unwrap();
            });
        });
        is_blocked.recv().unwrap();
        for client in &mut bombers {
            client.send(&bomb);
        }
        plain.frame(0x81, b"plain");
        packed.send(compressed(50));
        http.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
        go.send(()).unwrap();
        held.join().unwrap();
    });
    assert_eq!(plain.next_frame().1, b"plain");
    packed.next_frame();
    http.answer();
    server.until({
        let order = Arc::clone(&order);
        move |_| order.lock().unwrap().len() == 2 * BOMBS + 3
    });
    let order = order.lock().unwrap();
    let before = |length: usize| {
        let at = order.iter().position(|&found| found == length).unwrap();
        order[..at].iter().filter(|&&found| found == SIZE).count()
    };
    assert_eq!((before(5), before(50), before(0)), (0, 0, 0), "{order:?}");
}

#[test]
fn messages_that_inflate_to_much_come_whole_and_in_order() {
    let (server, order) = start(Config { websocket: true, compression: true, ..Config::default() });
    let mut client = upgrade(&server);
    let lengths = [1_000_000, 10, 3_000_000, 200_000, 20];
    let bytes: Vec<u8> = lengths.iter().flat_map(|&length| compressed(length)).collect();
    for piece in bytes.chunks(1000) {
        client.send(piece);
    }
    assert_eq!((client.next_frame().1.len(), client.next_frame().1.len()), (10, 20));
    assert_eq!(*order.lock().unwrap(), lengths);
    assert_eq!(server.with(|control| control.incoming()), 0);
}

#[test]
fn many_bombs_at_once_stay_within_the_workers_memory() {
    const BOUND: usize = 4 << 20;
    let config = Config { websocket: true, compression: true, max_incoming: BOUND, ..Config::default() };
    let (server, order) = start(config);
    let mut bombers: Vec<_> = (0..16).map(|_| upgrade(&server)).collect();
    let bomb = compressed(3 << 20);
    for client in &mut bombers {
        client.send(&bomb);
    }
    let highest = Arc::new(Mutex::new(0));
    let seen = Arc::clone(&highest);
    // Some come through, the others are ended: none waits for ever.
    server.until({
        let order = Arc::clone(&order);
        move |control| {
            let mut seen = seen.lock().unwrap();
            *seen = (*seen).max(control.incoming());
            control.advance(std::time::Duration::from_millis(250));
            order.lock().unwrap().len() + (16 - control.connections()) == 16
        }
    });
    // Each may go beyond the bound by what it inflates at a time.
    assert!(*highest.lock().unwrap() <= BOUND + 16 * (1 << 20) / 2, "{highest:?}");
    assert_eq!(server.with(|control| control.incoming()), 0);
}
