//! HTTP/1.1: requests, responses, connections that are kept, redirections, WebSocket's handshake.

mod body;
mod connection;
mod decode;
mod events;
mod multipart;
mod opening;
mod redirect;
mod run;
mod sink;

use std::path::PathBuf;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use tokio::sync::mpsc;

pub use body::{Piece, RequestBody};
pub use connection::Connection;
pub(crate) use decode::{BodyDecoder, too_large};
pub use events::pour;
pub use hyper::body::Incoming;
pub use multipart::{Content, FormFile, form};
pub use redirect::endpoint;
pub use run::{Finished, Job, Opened, run};

use crate::connect::ConnectOptions;
use crate::websocket::{WebSocket, WebSocketOptions};

/// The value of `Authorization` for a user and a password (RFC 7617).
pub fn basic_authorization(user: &[u8], password: &[u8]) -> String {
    format!("Basic {}", STANDARD.encode([user, b":", password].concat()))
}

/// How requests are made.
#[derive(Debug, Clone)]
#[allow(clippy::struct_excessive_bools, reason = "each is a choice of its own")]
pub struct Options {
    /// Making connections.
    pub connect: ConnectOptions,
    /// Time for a whole request once there is a connection, its redirections apart. None for no limit.
    pub timeout: Option<Duration>,
    /// Time that may pass without a byte of the answer. None for no limit.
    pub idle_timeout: Option<Duration>,
    /// Whether a connection is kept for the next request.
    pub keep_alive: bool,
    /// Whether content codings are taken off.
    pub decode: bool,
    /// Bytes of one response's body in memory, decoded.
    pub max_body: u64,
    /// Bytes of one response's body that goes into a file.
    pub max_download: u64,
    /// Bytes of one response's head.
    pub max_head: usize,
    /// Fields of one response's head.
    pub max_fields: usize,
    /// Redirections that are followed for one request.
    pub max_redirects: u32,
    /// How often a request is tried again where there is no connection, or the answer is 502 or 503.
    pub max_retries: u32,
    /// Whether an idempotent request is sent again over a new connection where the server has closed a kept one without
    /// a word (RFC 9110 section 9.2.2).
    pub repeats: bool,
    /// Whether a stream of events without a length is given as it comes ([`Response::events`]).
    pub event_stream: bool,
}

/// Where a response's body goes.
#[derive(Debug, Clone)]
pub enum Sink {
    /// Into memory.
    Memory,
    /// Into a file, which is made if it is missing.
    File {
        /// Where it is.
        path: PathBuf,
        /// Where in it the body begins. At 0 what it held before is cut off.
        offset: u64,
    },
    /// To whoever receives, piece by piece, as fast as it takes them.
    Stream(mpsc::Sender<Vec<u8>>),
}

/// A request.
#[derive(Debug, Clone)]
pub struct Request {
    /// Its method, a token.
    pub method: http::Method,
    /// Path and query, or `*`.
    pub target: String,
    /// Its fields, in order; `Host` and `Content-Length` are added where they are missing.
    pub headers: http::HeaderMap,
    /// Its body.
    pub body: RequestBody,
    /// Where the answer's body goes.
    pub sink: Sink,
    /// Set when it asks for a WebSocket.
    pub websocket: Option<WebSocketOptions>,
}

/// A response.
#[derive(Debug, Default)]
pub struct Response {
    /// Its status.
    pub status: u16,
    /// Its fields in order, names lower-case, trailer fields last.
    pub headers: Vec<(http::HeaderName, Bytes)>,
    /// Its body; empty when it went into a file.
    pub body: Vec<u8>,
    /// The connection, when the request was for a WebSocket and the server agreed.
    pub websocket: Option<Box<WebSocket>>,
    /// The events that the server is going to send: for [`pour`].
    pub events: Option<Incoming>,
}

impl Response {
    /// The first field of a name.
    pub fn header(&self, name: &http::HeaderName) -> Option<&[u8]> {
        self.headers.iter().find(|(other, _)| other == name).map(|(_, value)| &value[..])
    }
}
