//! A server on a thread of its own and a plain blocking client.
#![allow(dead_code, unreachable_pub, missing_docs, clippy::unused_async, reason = "each test file uses its own part")]

use std::future::Future;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::mpsc as std_mpsc;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use apus_loop::Loop;
use apus_net::{App, Config, ConnInfo, Control, NoMetrics, Request, Responder, ResponseHead, serve};
use tokio::runtime::{Builder, LocalOptions};
use tokio::sync::mpsc;

/// No test waits longer than this for bytes: it fails.
const PATIENCE: Duration = Duration::from_secs(20);

type Job = Box<dyn FnOnce(&Rc<Control>) + Send>;
type Handling = Pin<Box<dyn Future<Output = ()>>>;

struct TestApp<F> {
    handler: F,
    events: Arc<Mutex<Vec<String>>>,
}

impl<F, Fut> App for TestApp<F>
where
    F: Fn(Request, Responder) -> Fut + 'static,
    Fut: Future<Output = ()> + 'static,
{
    type Handling = Handling;

    fn on_request(self: &Rc<Self>, request: Request, response: Responder) -> Handling {
        Box::pin((self.handler)(request, response))
    }

    fn on_connect(self: &Rc<Self>, conn: &ConnInfo) {
        self.events.lock().unwrap().push(format!("connect {}", conn.id()));
    }

    fn on_close(self: &Rc<Self>, conn: &ConnInfo) {
        self.events.lock().unwrap().push(format!("close {}", conn.id()));
    }
}

pub struct Server {
    pub addr: SocketAddr,
    pub events: Arc<Mutex<Vec<String>>>,
    jobs: Option<mpsc::UnboundedSender<Job>>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    pub fn start<F, Fut>(config: Config, handler: F) -> Self
    where
        F: Fn(Request, Responder) -> Fut + Send + 'static,
        Fut: Future<Output = ()> + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let addr = listener.local_addr().unwrap();
        let mut server = Self::start_on(vec![listener.into()], config, handler);
        server.addr = addr;
        server
    }

    pub fn start_on<F, Fut>(listeners: Vec<OwnedFd>, config: Config, handler: F) -> Self
    where
        F: Fn(Request, Responder) -> Fut + Send + 'static,
        Fut: Future<Output = ()> + 'static,
    {
        let events = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&events);
        let mut server = Self::start_app(listeners, config, move || TestApp { handler, events: log });
        server.events = events;
        server
    }

    /// Its deadlines move only with [`Server::advance`].
    pub fn start_app<A: App>(
        listeners: Vec<OwnedFd>,
        config: Config,
        app: impl FnOnce() -> A + Send + 'static,
    ) -> Self {
        let (jobs, mut inbox) = mpsc::unbounded_channel::<Job>();
        let thread = std::thread::spawn(move || {
            let runtime = Builder::new_current_thread().enable_all().build_local(LocalOptions::default()).unwrap();
            runtime.block_on(async move {
                let events = Loop::new().unwrap();
                tokio::task::spawn_local(events.driver());
                let control = Control::new(Rc::new(NoMetrics::default()), &events);
                control.stop_clock();
                let config = Rc::new(config);
                let listeners = listeners.into_iter().map(|fd| (fd, Rc::clone(&config))).collect();
                let serving = tokio::task::spawn_local(serve(Rc::new(app()), listeners, Rc::clone(&control)));
                while let Some(job) = inbox.recv().await {
                    job(&control);
                }
                control.abort();
                tokio::time::timeout(PATIENCE, serving).await.expect("connections are left").unwrap().unwrap();
            });
        });
        let addr = "127.0.0.1:0".parse().unwrap();
        Self { addr, events: Arc::default(), jobs: Some(jobs), thread: Some(thread) }
    }

    /// Runs on the server's thread.
    pub fn with<R: Send + 'static>(&self, work: impl FnOnce(&Rc<Control>) -> R + Send + 'static) -> R {
        let (tx, rx) = std_mpsc::channel();
        let job: Job = Box::new(move |control| tx.send(work(control)).unwrap());
        self.jobs.as_ref().unwrap().send(job).ok().unwrap();
        rx.recv_timeout(PATIENCE).unwrap()
    }

    /// Does something while the server's thread is busy, so that it hears of all of that in its next turn.
    pub fn while_busy<R>(&self, work: impl FnOnce() -> R) -> R {
        let (go_on, wait) = std_mpsc::channel::<()>();
        let (busy, is_busy) = std_mpsc::channel();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                self.with(move |_| {
                    busy.send(()).unwrap();
                    wait.recv_timeout(PATIENCE).unwrap();
                });
            });
            is_busy.recv_timeout(PATIENCE).unwrap();
            let done = work();
            go_on.send(()).unwrap();
            done
        })
    }

    /// Asks the server again and again, each time through its event loop, until `fact` holds.
    pub fn until(&self, fact: impl Fn(&Rc<Control>) -> bool + Send + 'static) {
        let fact = Arc::new(Mutex::new(fact));
        let start = std::time::Instant::now();
        loop {
            let fact = Arc::clone(&fact);
            if self.with(move |control| fact.lock().unwrap()(control)) {
                return;
            }
            assert!(start.elapsed() < PATIENCE, "never happened");
            std::thread::yield_now();
        }
    }

    /// Until the server has read that many bytes in all.
    pub fn until_read(&self, bytes: usize) {
        self.until(move |control| control.counters().bytes_in.get() >= bytes as u64);
    }

    pub fn until_connections(&self, count: usize) {
        self.until(move |control| control.connections() == count);
    }

    pub fn advance(&self, time: Duration) {
        self.with(move |control| control.advance(time));
    }

    pub fn client(&self) -> Client {
        Client::new(TcpStream::connect(self.addr).unwrap())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.jobs.take();
        if !std::thread::panicking() {
            self.thread.take().unwrap().join().unwrap();
        }
    }
}

/// Answers "hello" to everything.
pub async fn hello(_request: Request, response: Responder) {
    response.end(&ResponseHead::new(200), b"hello").unwrap();
}

/// Answers with method, target and body.
pub async fn echo(request: Request, response: Responder) {
    let mut text = [request.method(), b" ", request.target(), b" "].concat();
    if let Some(apus_net::Collected::Raw(body)) = request.body().collected() {
        text.extend_from_slice(body);
    }
    response.end(&ResponseHead::new(200), &text).unwrap();
}

pub struct Client<S = TcpStream> {
    pub stream: S,
    held: Vec<u8>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: Vec<u8>,
    pub trailers: String,
}

impl Answer {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().skip(1).find_map(|line| {
            let (n, value) = line.split_once(':')?;
            n.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    pub fn text(&self) -> String {
        String::from_utf8(self.body.clone()).unwrap()
    }
}

impl Client<TcpStream> {
    pub fn new(stream: TcpStream) -> Self {
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        stream.set_nodelay(true).unwrap();
        Self { stream, held: Vec::new() }
    }
}

impl<S: Read + Write> Client<S> {
    pub fn wrap(stream: S) -> Self {
        Self { stream, held: Vec::new() }
    }

    pub fn send(&mut self, bytes: impl AsRef<[u8]>) -> &mut Self {
        self.stream.write_all(bytes.as_ref()).unwrap();
        self
    }

    pub fn get(&mut self, path: &str) -> Answer {
        self.send(format!("GET {path} HTTP/1.1\r\nHost: x\r\n\r\n")).answer()
    }

    /// One more read into what is held; false at the end.
    fn more(&mut self) -> bool {
        let mut buf = [0; 16 * 1024];
        match self.stream.read(&mut buf) {
            Ok(0) => false,
            Ok(n) => {
                self.held.extend_from_slice(&buf[..n]);
                true
            }
            Err(e) if e.kind() == ErrorKind::ConnectionReset => false,
            Err(e) => panic!("read: {e}; held {:?}", String::from_utf8_lossy(&self.held)),
        }
    }

    /// So many bytes, whatever they are.
    pub fn take(&mut self, count: usize) -> Vec<u8> {
        while self.held.len() < count {
            assert!(self.more(), "closed early, held {:?}", String::from_utf8_lossy(&self.held));
        }
        self.held.drain(..count).collect()
    }

    fn take_until(&mut self, end: &str) -> String {
        loop {
            if let Some(at) = self.held.windows(end.len()).position(|w| w == end.as_bytes()) {
                let taken = self.held.drain(..at + end.len()).collect();
                return String::from_utf8(taken).unwrap();
            }
            assert!(self.more(), "closed early, held {:?}", String::from_utf8_lossy(&self.held));
        }
    }

    /// An answer with a body.
    pub fn answer(&mut self) -> Answer {
        self.answer_to(false)
    }

    /// An answer, without a body when it is to HEAD.
    pub fn answer_to(&mut self, head_only: bool) -> Answer {
        let head = self.take_until("\r\n\r\n");
        let status = head[9..12].parse().unwrap();
        let mut answer = Answer { status, head, body: Vec::new(), trailers: String::new() };
        if head_only || status < 200 || status == 204 || status == 304 {
            return answer;
        }
        if answer.header("transfer-encoding") == Some("chunked") {
            loop {
                let line = self.take_until("\r\n");
                let size = usize::from_str_radix(line.trim(), 16).unwrap();
                if size == 0 {
                    break;
                }
                answer.body.extend(self.take(size));
                assert_eq!(self.take(2), b"\r\n");
            }
            loop {
                let line = self.take_until("\r\n");
                if line == "\r\n" {
                    break;
                }
                answer.trailers.push_str(&line);
            }
        } else if let Some(length) = answer.header("content-length") {
            let length = length.parse().unwrap();
            answer.body = self.take(length);
        } else {
            answer.body = self.rest();
        }
        answer
    }

    /// A WebSocket handshake; the answer to it.
    pub fn upgrade(&mut self) -> Answer {
        self.ask_upgrade().answer()
    }

    /// Sends a handshake.
    pub fn ask_upgrade(&mut self) -> &mut Self {
        let head = "GET /chat HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
                    Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n";
        self.send(head)
    }

    /// A masked frame; `first` is its first byte.
    pub fn frame(&mut self, first: u8, payload: &[u8]) -> &mut Self {
        let bytes = masked(first, payload);
        self.send(bytes)
    }

    /// The next frame: first byte and payload.
    pub fn next_frame(&mut self) -> (u8, Vec<u8>) {
        let head = self.take(2);
        let len = match head[1] {
            126 => usize::from(u16::from_be_bytes(self.take(2).try_into().unwrap())),
            127 => usize::try_from(u64::from_be_bytes(self.take(8).try_into().unwrap())).unwrap(),
            len => usize::from(len),
        };
        (head[0], self.take(len))
    }

    /// All that is left, until the server closes.
    pub fn rest(&mut self) -> Vec<u8> {
        while self.more() {}
        std::mem::take(&mut self.held)
    }

    pub fn assert_closed(&mut self) {
        assert_eq!(String::from_utf8_lossy(&self.rest()), "");
    }
}

/// The bytes of a client's frame with `first` as its first byte.
pub fn masked(first: u8, payload: &[u8]) -> Vec<u8> {
    const KEY: [u8; 4] = [1, 2, 3, 4];
    let mut bytes = vec![first];
    match payload.len() {
        len @ 0..=125 => bytes.push(0x80 | len as u8),
        len @ 126..=0xffff => {
            bytes.push(0xfe);
            bytes.extend_from_slice(&(len as u16).to_be_bytes());
        }
        len => {
            bytes.push(0xff);
            bytes.extend_from_slice(&(len as u64).to_be_bytes());
        }
    }
    bytes.extend_from_slice(&KEY);
    bytes.extend(payload.iter().zip(KEY.iter().cycle()).map(|(byte, key)| byte ^ key));
    bytes
}
