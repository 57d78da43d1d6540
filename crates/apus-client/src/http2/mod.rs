//! HTTP/2 (RFC 9113) over the `h2` crate: many requests at once over one connection.

mod farewell;
mod stream;

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, VecDeque};
use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;
use h2::client::{Builder, SendRequest};
use h2::{Ping, PingPong, SendStream};
use http::{HeaderMap, HeaderName, Method};
use tokio::sync::{Mutex, Notify};
use tokio::task::AbortHandle;

use crate::connect::{ConnectOptions, Endpoint, connect};
use crate::failure::{Failure, INVALID_PROTOCOL, Stage, TLS_HANDSHAKE};
use crate::wire::{Facts, Wire};

pub use farewell::GoAway;
use farewell::{Heard, Hearing};

/// How long a connection that is closed may say goodbye.
const GOODBYE: Duration = Duration::from_secs(1);

/// How a connection behaves.
#[derive(Debug, Clone)]
pub struct Http2Options {
    /// Making it.
    pub connect: ConnectOptions,
    /// Whether content codings are taken off.
    pub decode: bool,
    /// Bytes of one response's body, decoded.
    pub max_body: u64,
    /// Bytes of one response's fields.
    pub max_head: u32,
    /// Bytes that one stream may send ahead of what was read of it.
    pub window: u32,
    /// Whether answers are kept in the pieces in which they come, with their fields in the first: whoever receives
    /// decides whether to have one at a time.
    pub pieces: bool,
}

/// A request.
#[derive(Debug, Clone)]
pub struct Http2Request {
    /// Its method.
    pub method: Method,
    /// Path and query.
    pub target: String,
    /// Its fields, without `Host`.
    pub headers: HeaderMap,
    /// What `Host` said, or nothing for the endpoint's own name.
    pub authority: Option<String>,
    /// Its body, or the first of it.
    pub body: Bytes,
    /// Whether more of the body follows by [`Http2::write`].
    pub open: bool,
    /// Whether the answer is given piece by piece.
    pub by_piece: bool,
}

/// An answer, or a piece of one.
#[derive(Debug, Default)]
pub struct Http2Response {
    /// The stream that it came over.
    pub stream: u32,
    /// Its status; none when the stream failed.
    pub status: Option<u16>,
    /// Why the stream failed: an error code of RFC 9113 section 7, or a kernel's error number.
    pub error: i64,
    /// Whether more of it follows.
    pub more: bool,
    /// Whether its request asked for pieces.
    pub by_piece: bool,
    /// Its fields in order, trailer fields last.
    pub headers: Vec<(HeaderName, Bytes)>,
    /// Its body, or a piece of it.
    pub data: Vec<u8>,
}

/// What stands between the streams and who receives.
#[derive(Default)]
struct Inbox {
    answers: RefCell<VecDeque<Http2Response>>,
    arrived: Notify,
    /// Why the connection is of no further use.
    dead: RefCell<Option<Failure>>,
    /// The highest stream that the server has answered.
    last_answered: Cell<u32>,
}

impl Http2Response {
    /// What came before, and this.
    fn after(self, mut before: Self) -> Self {
        if self.status.is_none() {
            return self;
        }
        before.headers.extend(self.headers);
        before.data.extend(self.data);
        Self { headers: before.headers, data: before.data, ..self }
    }
}

impl Inbox {
    fn put(&self, answer: Http2Response) {
        self.last_answered.set(self.last_answered.get().max(answer.stream));
        self.answers.borrow_mut().push_back(answer);
        self.arrived.notify_one();
    }

    fn end(&self, failure: Failure) {
        self.dead.borrow_mut().get_or_insert(failure);
        self.arrived.notify_waiters();
        self.arrived.notify_one();
    }
}

/// A stream whose answer is not complete.
struct Open {
    /// Our half, while more of the body can be written.
    body: Option<SendStream<Bytes>>,
    task: Option<AbortHandle>,
}

type Streams = Rc<RefCell<HashMap<u32, Open>>>;

/// A connection. Many may send at once; one receives.
pub struct Http2 {
    sender: RefCell<Option<SendRequest<Bytes>>>,
    streams: Streams,
    inbox: Rc<Inbox>,
    heard: Heard,
    ping: Mutex<Option<PingPong>>,
    closing: Rc<Notify>,
    facts: Facts,
    endpoint: Endpoint,
    options: Http2Options,
    last_sent: Cell<u32>,
    /// Answers of which not all has come, for who receives whole ones.
    partial: RefCell<HashMap<u32, Http2Response>>,
}

/// What a protocol error of h2 means for the whole connection.
fn failure_of(stage: Stage, error: &h2::Error) -> Failure {
    if let Some(io) = error.get_io() {
        return Failure::io(stage, io);
    }
    let errno = if error.is_go_away() && error.is_remote() { libc::ECONNRESET } else { INVALID_PROTOCOL };
    Failure::new(stage, errno, format!("HTTP/2: {error}"))
}

/// The number of a reason, of RFC 9113 section 7 where the stream was reset.
fn code_of(error: &h2::Error) -> i64 {
    match (error.reason(), error.get_io()) {
        (Some(reason), _) => i64::from(u32::from(reason)),
        (None, Some(io)) => i64::from(crate::failure::errno_of(io)),
        (None, None) => i64::from(libc::ECONNRESET),
    }
}

impl Http2 {
    /// Makes a connection: by ALPN with TLS, with prior knowledge without.
    pub async fn connect(to: &Endpoint, options: Http2Options) -> Result<Self, Failure> {
        let limit = options.connect.timeout;
        let making = Self::open(to, options);
        match limit {
            None => making.await,
            Some(limit) => match tokio::time::timeout(limit, making).await {
                Ok(made) => made,
                Err(_) => Err(Failure::new(
                    Stage::Connect,
                    libc::ETIMEDOUT,
                    format!("no connection to {} within {} s (connect_timeout)", to.authority(), limit.as_secs_f64()),
                )),
            },
        }
    }

    async fn open(to: &Endpoint, options: Http2Options) -> Result<Self, Failure> {
        let wire = connect(to, &options.connect).await?;
        let facts = wire.facts();
        if to.tls && !facts.http2 {
            let text = "the server did not agree to HTTP/2 (ALPN): use Coroutine\\Http\\Client for HTTP/1.1";
            return Err(Failure::new(Stage::Connect, TLS_HANDSHAKE, text));
        }
        let (wire, heard) = Hearing::new(wire);
        let (sender, mut connection) = Builder::new()
            .initial_window_size(options.window)
            .initial_connection_window_size(options.window.saturating_mul(4).min(0x7fff_ffff))
            .max_header_list_size(options.max_head)
            .enable_push(false)
            // Until its SETTINGS are here it is not known how many streams the server takes, and it would refuse what
            // is beyond.
            .initial_max_send_streams(1)
            .handshake::<Hearing<Wire>, Bytes>(wire)
            .await
            .map_err(|error| failure_of(Stage::Connect, &error))?;
        let ping = connection.ping_pong();
        let inbox = Rc::new(Inbox::default());
        let closing = Rc::new(Notify::new());
        let (shared, told) = (Rc::clone(&inbox), Rc::clone(&closing));
        tokio::task::spawn_local(async move {
            let mut connection = std::pin::pin!(connection);
            let ended = tokio::select! {
                ended = connection.as_mut() => Some(ended),
                () = told.notified() => None,
            };
            let ended = match ended {
                Some(ended) => ended,
                None => tokio::time::timeout(GOODBYE, connection).await.unwrap_or(Ok(())),
            };
            shared.end(match ended {
                Ok(()) => Failure::new(Stage::Receive, libc::ECONNRESET, "the HTTP/2 connection is closed"),
                Err(error) => failure_of(Stage::Receive, &error),
            });
        });
        Ok(Self {
            sender: RefCell::new(Some(sender)),
            streams: Streams::default(),
            inbox,
            heard,
            ping: Mutex::new(ping),
            closing,
            facts,
            endpoint: to.clone(),
            options,
            last_sent: Cell::new(0),
            partial: RefCell::default(),
        })
    }

    /// What is known of the connection.
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// Whether requests can be sent.
    pub fn is_open(&self) -> bool {
        self.inbox.dead.borrow().is_none() && self.sender.borrow().is_some()
    }

    /// Whether a stream's answer is not complete.
    pub fn has_stream(&self, id: u32) -> bool {
        self.streams.borrow().contains_key(&id)
    }

    /// How many streams there are.
    pub fn streams(&self) -> usize {
        self.streams.borrow().len()
    }

    /// The stream that was begun last; 0 for none.
    pub fn last_sent(&self) -> u32 {
        self.last_sent.get()
    }

    /// The highest stream that the server has answered; 0 before.
    pub fn last_answered(&self) -> u32 {
        self.inbox.last_answered.get()
    }

    /// The last GOAWAY that the server sent.
    pub fn said_goodbye(&self) -> Option<GoAway> {
        self.heard.borrow().clone()
    }

    /// How many streams the server allows at once.
    pub fn max_streams(&self) -> usize {
        self.sender.borrow().as_ref().map_or(0, SendRequest::current_max_send_streams)
    }

    fn gone(&self) -> Failure {
        let closed = || Failure::new(Stage::Send, libc::ENOTCONN, "the HTTP/2 connection is closed");
        self.inbox.dead.borrow().clone().unwrap_or_else(closed)
    }

    /// Begins a request; gives its stream. Waits while the server allows no further stream.
    pub async fn send(&self, request: Http2Request) -> Result<u32, Failure> {
        let sender = self.sender.borrow().clone().ok_or_else(|| self.gone())?;
        let mut sender = sender.ready().await.map_err(|error| failure_of(Stage::Send, &error))?;
        let message = stream::head(&self.endpoint, &request)?;
        let ends = request.body.is_empty() && !request.open;
        let (answer, mut body) = sender.send_request(message, ends).map_err(|error| failure_of(Stage::Send, &error))?;
        let id = answer.stream_id().as_u32();
        self.last_sent.set(id);
        let (held, whole) = if request.open {
            if !request.body.is_empty() {
                // h2 keeps what the window does not let leave; the first piece is the program's own choice of size.
                body.send_data(request.body, false).map_err(|error| failure_of(Stage::Send, &error))?;
            }
            (Some(body), None)
        } else {
            (None, (!ends).then_some((body, request.body)))
        };
        let task = stream::Task {
            id,
            by_piece: request.by_piece,
            splits: self.options.pieces,
            decode: self.options.decode,
            max_body: self.options.max_body,
            inbox: Rc::clone(&self.inbox),
            streams: Rc::clone(&self.streams),
        };
        self.streams.borrow_mut().insert(id, Open { body: held, task: None });
        let handle = tokio::task::spawn_local(task.run(answer, whole)).abort_handle();
        if let Some(open) = self.streams.borrow_mut().get_mut(&id) {
            open.task = Some(handle);
        }
        Ok(id)
    }

    /// Sends a further piece of a request's body, and waits until the server's window takes it.
    pub async fn write(&self, id: u32, data: Bytes, end: bool) -> Result<(), Failure> {
        let taken = self.streams.borrow_mut().get_mut(&id).and_then(|open| open.body.take());
        let Some(mut body) = taken else {
            let text = format!("stream {id} takes no data: it does not exist, was ended, or is being written to");
            return Err(Failure::new(Stage::Send, libc::EINVAL, text));
        };
        let sent = stream::send_all(&mut body, data, end).await;
        if sent.is_ok()
            && !end
            && let Some(open) = self.streams.borrow_mut().get_mut(&id)
        {
            open.body = Some(body);
        }
        sent.map_err(|error| failure_of(Stage::Send, &error))
    }

    /// The next answer of any stream, or where that was asked for, here or in its request, piece of one.
    pub async fn receive(&self, by_piece: bool) -> Result<Http2Response, Failure> {
        loop {
            let next = self.inbox.answers.borrow_mut().pop_front();
            if let Some(answer) = next {
                let mut partial = self.partial.borrow_mut();
                let answer = match partial.remove(&answer.stream) {
                    Some(before) => answer.after(before),
                    None => answer,
                };
                if !answer.more || by_piece || answer.by_piece {
                    return Ok(answer);
                }
                partial.insert(answer.stream, answer);
                continue;
            }
            let dead = self.inbox.dead.borrow().clone();
            match dead {
                Some(failure) if self.streams.borrow().is_empty() => return Err(failure),
                _ => self.inbox.arrived.notified().await,
            }
        }
    }

    /// Asks whether the server is there, and waits for its answer.
    pub async fn ping(&self) -> Result<(), Failure> {
        let mut ping = self.ping.lock().await;
        let Some(ping) = ping.as_mut() else { return Err(self.gone()) };
        ping.ping(Ping::opaque()).await.map(|_| ()).map_err(|error| failure_of(Stage::Receive, &error))
    }

    /// Takes no further request; the connection says goodbye (GOAWAY) when the streams that are open have ended.
    pub fn go_away(&self) {
        drop(self.sender.borrow_mut().take());
    }

    /// Ends every stream and the connection.
    pub fn close(&self) {
        self.go_away();
        for (_, open) in self.streams.borrow_mut().drain() {
            if let Some(task) = open.task {
                task.abort();
            }
        }
        self.inbox.end(Failure::new(Stage::Receive, libc::ECONNRESET, "the HTTP/2 connection is closed"));
        self.closing.notify_one();
    }
}

impl Drop for Http2 {
    fn drop(&mut self) {
        self.close();
    }
}
