//! One HTTP/1.1 connection and what is sent over it.

use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::rc::Rc;
use std::time::{Duration, Instant};

use http::header::{CONNECTION, CONTENT_ENCODING, CONTENT_LENGTH, TRANSFER_ENCODING};
use http::{Method, StatusCode, Version};
use http_body::Body as _;
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::task::AbortHandle;

use super::body::Sending;
use super::decode::{self, BodyDecoder};
use super::opening::Opening;
use super::sink::Receiving;
use super::{Options, Request, Response, Sink, events};
use crate::connect::{Endpoint, connect};
use crate::failure::{Failure, Stage};
use crate::websocket;
use crate::wire::{Facts, Wire};

/// A connection that was left alone for so long may have been closed without this thread's having noticed.
const RESTED: Duration = Duration::from_millis(1);
/// The least buffer that hyper takes.
const MIN_HEAD: usize = 8 << 10;

/// A connection that is up. Dropped, it is closed.
pub struct Connection {
    sender: http1::SendRequest<Sending>,
    driver: AbortHandle,
    facts: Rc<Facts>,
    endpoint: Endpoint,
    /// When the last answer was complete.
    rested: Option<Instant>,
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

/// What came of a request.
pub(super) enum Sent {
    /// An answer, and whether the connection can be used again.
    Answered(Response, bool),
    /// Nothing: the connection was kept too long, and the server had closed it before it took the request.
    Stale,
    /// It failed.
    Failed(Failure),
}

impl Connection {
    /// Makes a connection.
    pub(super) async fn open(to: &Endpoint, options: &Options) -> Result<Self, Failure> {
        let wire = connect(to, &options.connect).await?;
        let facts = Rc::new(wire.facts());
        let (sender, connection) = http1::Builder::new()
            .title_case_headers(true)
            .max_headers(options.max_fields)
            .max_buf_size(options.max_head.max(MIN_HEAD))
            .handshake::<_, Sending>(TokioIo::new(Opening::new(wire)))
            .await
            .map_err(|error| Failure::of_hyper(&error))?;
        let driver = tokio::task::spawn_local(async move {
            // What goes wrong reaches the request that it belongs to.
            let _ = connection.with_upgrades().await;
        });
        Ok(Self { sender, driver: driver.abort_handle(), facts, endpoint: to.clone(), rested: None })
    }

    /// What is known of it.
    pub fn facts(&self) -> &Rc<Facts> {
        &self.facts
    }

    /// Whether it leads there.
    pub fn leads_to(&self, to: &Endpoint) -> bool {
        self.endpoint == *to
    }

    /// Whether the server is not known to have closed it.
    pub fn is_open(&self) -> bool {
        !self.sender.is_closed()
    }

    /// Sends a request and reads its answer.
    pub(super) async fn send(&mut self, message: http::Request<Sending>, request: &Request, options: &Options) -> Sent {
        let rested = self.rested.take().map(|since| since.elapsed());
        let reused = rested.is_some();
        if rested.is_some_and(|time| time >= RESTED) {
            // Two turns of the loop: the driver learns of a server that has closed meanwhile.
            tokio::task::yield_now().await;
            tokio::task::yield_now().await;
        }
        if self.sender.ready().await.is_err() && reused {
            return Sent::Stale;
        }
        let active = message.body().active();
        let answering = self.sender.try_send_request(message);
        let answer = tokio::select! {
            answer = answering => answer,
            () = silence(options.idle_timeout, &active) => {
                return Sent::Failed(Failure::timeout("the answer (read_timeout)"));
            }
        };
        let head = match answer {
            Ok(head) => head,
            Err(mut error) => {
                let unsent = error.take_message().is_some();
                let error = error.into_error();
                let failure = Failure::of_hyper(&error);
                let silent = error.is_canceled() || matches!(failure.errno, libc::ECONNRESET | libc::EPIPE);
                // Whether the server has acted on the request cannot be known once it was sent (RFC 9110 section
                // 9.2.2).
                if reused && (unsent || (options.repeats && silent && request.method.is_idempotent())) {
                    return Sent::Stale;
                }
                return Sent::Failed(failure);
            }
        };
        match self.receive(head, request, options).await {
            Ok((response, kept)) => {
                self.rested = Some(Instant::now());
                Sent::Answered(response, kept)
            }
            Err(failure) => Sent::Failed(failure),
        }
    }

    async fn receive(
        &mut self,
        head: http::Response<Incoming>,
        request: &Request,
        options: &Options,
    ) -> Result<(Response, bool), Failure> {
        // hyper's own bound is that of its buffer, which may have grown to twice the limit.
        let size: usize = head.headers().iter().map(|(name, value)| name.as_str().len() + value.len() + 4).sum();
        if size > options.max_head {
            return Err(Failure::protocol("the head of the response is larger than max_header_size"));
        }
        if head.status() == StatusCode::SWITCHING_PROTOCOLS {
            return self.upgrade(head, request, options).await.map(|response| (response, false));
        }
        if options.event_stream
            && matches!(request.sink, Sink::Memory)
            && ends_with_connection(&head, &request.method)
            && events::are_told(head.headers())
        {
            let (parts, body) = head.into_parts();
            let mut response = Response { status: parts.status.as_u16(), events: Some(body), ..Response::default() };
            copy_fields(&mut response, &parts.headers);
            return Ok((response, true));
        }
        let kept = options.keep_alive
            && !has_token(&request.headers, "close")
            && persists(&head)
            && !ends_with_connection(&head, &request.method);
        let (parts, body) = head.into_parts();
        let mut response = Response { status: parts.status.as_u16(), ..Response::default() };
        let coding = parts.headers.get(CONTENT_ENCODING).filter(|_| options.decode && request.method != Method::HEAD);
        let coding = coding.map(|value| value.as_bytes().to_vec());
        copy_fields(&mut response, &parts.headers);
        // A redirection that is followed has no body worth keeping, nor has a failure one worth a file.
        let elsewhere = match request.sink {
            Sink::Memory => false,
            Sink::File { .. } => parts.status.is_success(),
            Sink::Stream(_) => !(parts.status.is_redirection() && options.max_redirects > 0),
        };
        let sink = if elsewhere { &request.sink } else { &Sink::Memory };
        response.body = read(body, sink, coding.as_deref(), options, &mut response.headers).await?;
        Ok((response, kept))
    }

    /// The server agreed to change to another protocol.
    async fn upgrade(
        &mut self,
        mut head: http::Response<Incoming>,
        request: &Request,
        options: &Options,
    ) -> Result<Response, Failure> {
        let Some(wanted) = &request.websocket else {
            return Err(Failure::protocol("the server changed to a protocol that was not asked for"));
        };
        let mut response = Response { status: head.status().as_u16(), ..Response::default() };
        copy_fields(&mut response, head.headers());
        let params = websocket::check_answer(&request.headers, head.headers())?;
        let upgraded = limited(options, "the handshake", hyper::upgrade::on(&mut head)).await?;
        let upgraded = upgraded.map_err(|error| Failure::of_hyper(&error))?;
        let parts = upgraded
            .downcast::<TokioIo<Opening<Wire>>>()
            .map_err(|_| Failure::new(Stage::Receive, libc::EPROTO, "the connection is not the one that was made"))?;
        let socket = websocket::WebSocket::new(
            parts.io.into_inner().into_inner(),
            &parts.read_buf,
            wanted,
            params,
            Rc::clone(&self.facts),
        );
        response.websocket = Some(Box::new(socket));
        Ok(response)
    }
}

/// Resolves when nothing was sent for that long; the answer's time begins when the request has left.
async fn silence(limit: Option<Duration>, active: &Cell<tokio::time::Instant>) {
    let Some(limit) = limit else { return std::future::pending().await };
    loop {
        let end = active.get() + limit;
        if end <= tokio::time::Instant::now() {
            return;
        }
        tokio::time::sleep_until(end).await;
    }
}

/// Bounds the time in which nothing comes.
async fn limited<T>(options: &Options, what: &str, future: impl Future<Output = T>) -> Result<T, Failure> {
    match options.idle_timeout {
        None => Ok(future.await),
        Some(limit) => tokio::time::timeout(limit, future).await.map_err(|_| Failure::timeout(what)),
    }
}

/// Whether the server keeps the connection (RFC 9112 section 9.3).
fn persists(head: &http::Response<Incoming>) -> bool {
    let kept = head.version() == Version::HTTP_11 || has_token(head.headers(), "keep-alive");
    kept && !has_token(head.headers(), "close")
}

/// Whether `Connection` holds a word.
fn has_token(headers: &http::HeaderMap, word: &str) -> bool {
    headers.get_all(CONNECTION).iter().any(|value| {
        let mut tokens = value.as_bytes().split(|&byte| byte == b',');
        tokens.any(|token| token.trim_ascii().eq_ignore_ascii_case(word.as_bytes()))
    })
}

/// Whether the body has no other end than the connection's (RFC 9112 section 6.3).
fn ends_with_connection(head: &http::Response<Incoming>, method: &Method) -> bool {
    let bodiless =
        *method == Method::HEAD || matches!(head.status(), StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED);
    !bodiless && !head.headers().contains_key(CONTENT_LENGTH) && !head.headers().contains_key(TRANSFER_ENCODING)
}

fn copy_fields(response: &mut Response, headers: &http::HeaderMap) {
    response.headers.reserve(headers.len());
    for (name, value) in headers {
        response.headers.push((name.clone(), bytes::Bytes::copy_from_slice(value.as_bytes())));
    }
}

async fn read(
    mut body: Incoming,
    sink: &Sink,
    coding: Option<&[u8]>,
    options: &Options,
    fields: &mut Vec<(http::HeaderName, bytes::Bytes)>,
) -> Result<Vec<u8>, Failure> {
    let limit = if matches!(sink, Sink::Memory) { options.max_body } else { options.max_download };
    if coding.is_none() && body.size_hint().lower() > limit {
        return Err(decode::too_large(limit));
    }
    let mut receiving = Receiving::open(sink).await?;
    let mut decoder = BodyDecoder::new(coding, limit);
    loop {
        let next = poll_fn(|cx| Pin::new(&mut body).poll_frame(cx));
        let Some(frame) = limited(options, "the body (read_timeout)", next).await? else { break };
        let frame = frame.map_err(|error| Failure::of_hyper(&error))?;
        match frame.into_data() {
            Ok(data) => {
                let mut pieces = Vec::new();
                decoder.feed(&data, |piece| pieces.push(piece))?;
                for piece in pieces {
                    receiving.take(piece).await?;
                }
            }
            Err(frame) => {
                for (name, value) in frame.trailers_ref().into_iter().flatten() {
                    fields.push((name.clone(), bytes::Bytes::copy_from_slice(value.as_bytes())));
                }
            }
        }
    }
    let rest = decoder.finish()?;
    if !rest.is_empty() {
        receiving.take(rest).await?;
    }
    receiving.finish().await
}
