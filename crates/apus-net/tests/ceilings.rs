//! What a request and an idle connection may cost in memory.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "what is missing fails the test")]

mod support;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::future::{Ready, ready};
use std::net::TcpListener;
use std::rc::Rc;

use apus_net::proto::websocket::Opcode;
use apus_net::{App, Config, Message, MessageConn, Request, Responder, ResponseHead, Upgrade};
use support::Server;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
    /// Bytes this thread has allocated and not freed.
    static BYTES: Cell<i64> = const { Cell::new(0) };
}

/// Counts what each thread allocates.
struct Counting;

fn count(allocations: u64, bytes: i64) {
    // A thread that is ending has no counters any more.
    let _ = ALLOCATIONS.try_with(|all| all.set(all.get() + allocations));
    let _ = BYTES.try_with(|all| all.set(all.get() + bytes));
}

// SAFETY: every call goes to `System` unchanged; counting neither allocates nor unwinds.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(1, layout.size() as i64);
        // SAFETY: the caller's contract is that of `System`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        count(0, -(layout.size() as i64));
        // SAFETY: the caller's contract is that of `System`, which gave the block.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

struct Hello(ResponseHead);

impl App for Hello {
    type Handling = Ready<()>;

    fn on_request(self: &Rc<Self>, _request: Request, response: Responder) -> Ready<()> {
        response.end(&self.0, b"Hello, World!").unwrap();
        ready(())
    }

    fn on_upgrade(self: &Rc<Self>, _request: Request, response: Responder) -> Ready<()> {
        response.upgrade(&Upgrade::default()).unwrap();
        ready(())
    }

    fn on_message(self: &Rc<Self>, message_conn: &Rc<MessageConn>, message: Message<'_>) -> Option<Ready<()>> {
        let _ = message_conn.push(Opcode::Text, true, false, message.data);
        None
    }
}

fn start() -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = listener.local_addr().unwrap();
    let config = Config { max_connections: 10_000, websocket: true, ..Config::default() };
    let mut server = Server::start_app(vec![listener.into()], config, || Hello(ResponseHead::new(200)));
    server.addr = addr;
    server
}

#[test]
fn a_request_allocates_nothing() {
    const REQUESTS: u64 = 2_000;
    let server = start();
    let mut client = server.client();
    client.get("/warm-up");
    let before = server.with(|_| ALLOCATIONS.get());
    for _ in 0..REQUESTS {
        client.get("/");
    }
    let after = server.with(|_| ALLOCATIONS.get());
    // The questions themselves, and the sweep, allocate a little.
    assert!(after - before < REQUESTS / 50, "{} allocations in {REQUESTS} requests", after - before);
}

#[test]
fn an_idle_connection_keeps_less_than_two_kib() {
    const CONNECTIONS: i64 = 400;
    let server = start();
    let mut warm: Vec<_> = (0..4).map(|_| server.client()).collect();
    for client in &mut warm {
        client.get("/warm-up");
    }
    let before = server.with(|_| BYTES.get());
    let clients: Vec<_> = (0..CONNECTIONS)
        .map(|_| {
            let mut client = server.client();
            client.get("/");
            client
        })
        .collect();
    let after = server.with(|_| BYTES.get());
    let each = (after - before) / CONNECTIONS;
    assert!((1..2048).contains(&each), "{each} bytes a connection");
    drop(clients);
    server.until_connections(4);
    let left = server.with(|_| BYTES.get()) - before;
    assert!(left < 256 * CONNECTIONS, "{left} bytes are left of {CONNECTIONS} connections");
}

#[test]
fn an_echo_allocates_nothing() {
    const MESSAGES: u64 = 2_000;
    let server = start();
    let mut client = server.client();
    assert_eq!(client.upgrade().status, 101);
    client.frame(0x81, b"warm-up").next_frame();
    let before = server.with(|_| ALLOCATIONS.get());
    for _ in 0..MESSAGES {
        client.frame(0x81, b"twenty bytes of text").next_frame();
    }
    let after = server.with(|_| ALLOCATIONS.get());
    assert!(after - before < MESSAGES / 50, "{} allocations in {MESSAGES} messages", after - before);
}

#[test]
fn an_idle_websocket_keeps_less_than_half_a_kib() {
    const CONNECTIONS: i64 = 400;
    let server = start();
    let mut warm = server.client();
    warm.upgrade();
    let before = server.with(|_| BYTES.get());
    let clients: Vec<_> = (0..CONNECTIONS)
        .map(|_| {
            let mut client = server.client();
            client.upgrade();
            client.frame(0x81, b"hello").next_frame();
            client
        })
        .collect();
    let after = server.with(|_| BYTES.get());
    let each = (after - before) / CONNECTIONS;
    assert!((1..512).contains(&each), "{each} bytes a WebSocket");
    drop(clients);
    server.until_connections(1);
}
