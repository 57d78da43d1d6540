//! The client's side of a WebSocket (RFC 6455), with permessage-deflate (RFC 7692).

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::Poll;

use apus_proto::websocket::deflate::{self, Deflater, Params};
use apus_proto::websocket::{self as proto, Decoder, Event, Limits, Opcode, Role, close, handshake};
use bytes::{Buf, Bytes, BytesMut};
use http::HeaderMap;
use http::header::{
    CONNECTION, HeaderValue, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_EXTENSIONS, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_PROTOCOL,
    SEC_WEBSOCKET_VERSION, UPGRADE,
};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf, ReadHalf, WriteHalf, split};
use tokio::sync::Mutex;

use crate::failure::{Failure, HANDSHAKE_FAILED, Stage};
use crate::wire::{Facts, Wire};

/// Bytes of frames whose senders' time was over that wait for a slow server; beyond it the connection is given up.
const MAX_WAITING: usize = 64 << 20;
/// What is read at a time.
const READ: usize = 16 << 10;

/// How a WebSocket behaves.
#[derive(Debug, Clone)]
pub struct WebSocketOptions {
    /// What the server may send.
    pub limits: Limits,
    /// Whether messages are offered to be compressed.
    pub compression: bool,
    /// zlib's level, 1 to 9.
    pub level: u32,
    /// Whether frames are masked, which RFC 6455 demands of a client.
    pub mask: bool,
}

/// Adds the fields of a handshake to a request.
pub fn ask(headers: &mut HeaderMap, options: &WebSocketOptions) -> Result<(), Failure> {
    let mut nonce = [0; 16];
    random(&mut nonce)?;
    let key = handshake::key(nonce);
    headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
    headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
    headers.insert(SEC_WEBSOCKET_VERSION, HeaderValue::from_static(handshake::VERSION));
    if let Ok(key) = HeaderValue::from_str(&key) {
        headers.insert(SEC_WEBSOCKET_KEY, key);
    }
    if options.compression {
        headers.insert(SEC_WEBSOCKET_EXTENSIONS, HeaderValue::from_static(deflate::OFFER));
    } else if !options.limits.lenient {
        headers.remove(SEC_WEBSOCKET_EXTENSIONS);
    }
    Ok(())
}

/// A key that nobody can foresee, to mask a frame with.
pub fn mask_key() -> Result<[u8; 4], Failure> {
    let mut key = [0; 4];
    random(&mut key)?;
    Ok(key)
}

fn random(bytes: &mut [u8]) -> Result<(), Failure> {
    getrandom::fill(bytes)
        .map_err(|error| Failure::new(Stage::Send, libc::EIO, format!("the system gave no random bytes: {error}")))
}

fn has_token(headers: &HeaderMap, name: http::HeaderName, token: &str) -> bool {
    headers.get_all(name).iter().any(|value| {
        value
            .as_bytes()
            .split(|&byte| byte == b',')
            .any(|part| part.trim_ascii().eq_ignore_ascii_case(token.as_bytes()))
    })
}

/// Checks a server's answer to a handshake (RFC 6455 section 4.1).
pub(crate) fn check_answer(asked: &HeaderMap, answer: &HeaderMap) -> Result<Option<Params>, Failure> {
    let wrong = |why: &str| {
        Err(Failure::new(Stage::Receive, HANDSHAKE_FAILED, format!("the WebSocket handshake failed: {why}")))
    };
    if !has_token(answer, UPGRADE, "websocket") || !has_token(answer, CONNECTION, "upgrade") {
        return wrong("the server did not change to it");
    }
    let expected = asked.get(SEC_WEBSOCKET_KEY).map(|key| handshake::accept(key.as_bytes()));
    if answer.get(SEC_WEBSOCKET_ACCEPT).map(HeaderValue::as_bytes) != expected.as_deref().map(str::as_bytes) {
        return wrong("Sec-WebSocket-Accept does not answer the key");
    }
    if let Some(chosen) = answer.get(SEC_WEBSOCKET_PROTOCOL).map(HeaderValue::as_bytes) {
        let chosen = String::from_utf8_lossy(chosen);
        // Subprotocols are compared as they are written; a browser does the same.
        if !has_token(asked, SEC_WEBSOCKET_PROTOCOL, &chosen) {
            return wrong("the server chose a subprotocol that was not offered");
        }
    }
    let mut chosen = answer.get_all(SEC_WEBSOCKET_EXTENSIONS).iter();
    let Some(field) = chosen.next() else { return Ok(None) };
    if !asked.contains_key(SEC_WEBSOCKET_EXTENSIONS) || chosen.next().is_some() {
        return wrong("the server chose an extension that was not offered");
    }
    match deflate::answered(&String::from_utf8_lossy(field.as_bytes())) {
        Ok(params) => Ok(params),
        Err(violation) => wrong(violation.reason),
    }
}

struct Reader {
    half: ReadHalf<Wire>,
    input: BytesMut,
    decoder: Decoder,
}

/// A WebSocket. One may receive while another sends.
pub struct WebSocket {
    reader: RefCell<Reader>,
    /// Taken by whoever writes what `out` holds.
    writer: Mutex<WriteHalf<Wire>>,
    /// Whole frames that are to leave. A writer that is dropped half-way leaves the rest to the next one.
    out: RefCell<BytesMut>,
    deflater: RefCell<Option<Deflater>>,
    mask: bool,
    close_sent: Cell<bool>,
    /// The message that is being sent in fragments.
    sequence: RefCell<proto::Sequence>,
    closed: Cell<bool>,
    facts: Rc<Facts>,
}

impl std::fmt::Debug for WebSocket {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WebSocket").field("closed", &self.closed.get()).finish_non_exhaustive()
    }
}

impl WebSocket {
    pub(crate) fn new(
        wire: Wire,
        read_ahead: &[u8],
        options: &WebSocketOptions,
        params: Option<Params>,
        facts: Rc<Facts>,
    ) -> Self {
        let (read, write) = split(wire);
        let decoder = Decoder::new(Role::Client, options.limits, params.map(|p| p.inflater(Role::Client)));
        Self {
            reader: RefCell::new(Reader { half: read, input: BytesMut::from(read_ahead), decoder }),
            writer: Mutex::new(write),
            out: RefCell::new(BytesMut::new()),
            deflater: RefCell::new(params.map(|p| p.deflater(Role::Client, options.level))),
            mask: options.mask,
            close_sent: Cell::new(false),
            sequence: RefCell::default(),
            closed: Cell::new(false),
            facts,
        }
    }

    /// What is known of the connection.
    pub fn facts(&self) -> &Rc<Facts> {
        &self.facts
    }

    /// Whether messages may be compressed.
    pub fn compresses(&self) -> bool {
        self.deflater.borrow().is_some()
    }

    /// Whether nothing more can come.
    pub fn is_closed(&self) -> bool {
        self.closed.get()
    }

    /// The next thing the server says. Dropped half-way it loses nothing. After a close frame, which it answers, and
    /// after a failure the connection is of no further use. Pings are not answered: see [`WebSocket::pong`].
    pub async fn receive(&self) -> Result<Event, Failure> {
        let received = self.next_event().await;
        match &received {
            Ok(Event::Close { code, .. }) => {
                self.say_close(code.unwrap_or(close::NO_STATUS), "").await;
                self.closed.set(true);
            }
            Ok(_) => {}
            Err(_) => self.closed.set(true),
        }
        received
    }

    async fn next_event(&self) -> Result<Event, Failure> {
        loop {
            let decoded = {
                let reader = &mut *self.reader.borrow_mut();
                reader.decoder.decode(&mut reader.input)
            };
            match decoded {
                Ok(Some(event)) => return Ok(event),
                Ok(None) => {}
                Err(violation) => {
                    self.say_close(violation.code, violation.reason).await;
                    let errno = if violation.code == close::TOO_BIG { libc::EMSGSIZE } else { libc::EPROTO };
                    return Err(Failure::new(
                        Stage::Receive,
                        errno,
                        format!("the server broke the WebSocket protocol: {violation}"),
                    ));
                }
            }
            let read = self.fill().await.map_err(|error| Failure::io(Stage::Receive, &error))?;
            if read == 0 {
                return Err(Failure::new(
                    Stage::Receive,
                    libc::ECONNRESET,
                    "the server closed the connection without a close frame",
                ));
            }
        }
    }

    /// Reads once.
    async fn fill(&self) -> io::Result<usize> {
        poll_fn(|cx| {
            let reader = &mut *self.reader.borrow_mut();
            let at = reader.input.len();
            reader.input.resize(at + READ, 0);
            let mut buf = ReadBuf::new(&mut reader.input[at..]);
            let polled = Pin::new(&mut reader.half).poll_read(cx, &mut buf);
            let read = buf.filled().len();
            reader.input.truncate(at + read);
            polled.map_ok(|()| read)
        })
        .await
    }

    /// Answers a ping.
    pub async fn pong(&self, payload: &Bytes) -> Result<(), Failure> {
        self.send(Opcode::Pong, true, payload, false).await
    }

    /// What stands after a frame; see [`proto::Sequence::after`].
    ///
    /// # Errors
    /// Which rule does not allow it after those that were sent.
    pub fn after(
        &self,
        opcode: Opcode,
        fin: bool,
        compressed: bool,
        payload: &[u8],
    ) -> Result<proto::Sequence, &'static str> {
        if compressed && !self.compresses() {
            return Err(proto::NOT_AGREED);
        }
        self.sequence.borrow().after(opcode, fin, compressed, payload)
    }

    /// Sends a frame, and waits until it has left. Dropped half-way, the frame leaves with the next one.
    ///
    /// `compress` has a whole message compressed; of a fragment it says that it begins one that the program compressed.
    pub async fn send(&self, opcode: Opcode, fin: bool, payload: &[u8], compress: bool) -> Result<(), Failure> {
        if self.closed.get() || self.close_sent.get() {
            return Err(Failure::new(Stage::Send, libc::EPIPE, "the WebSocket is closed"));
        }
        if self.out.borrow().len() > MAX_WAITING {
            self.closed.set(true);
            let text = "the server takes nothing, and 64 MiB of frames wait for it: it is given up";
            return Err(Failure::new(Stage::Send, libc::ENOBUFS, text));
        }
        let begins = matches!(opcode, Opcode::Text | Opcode::Binary);
        let next = self
            .after(opcode, fin, compress && !fin && begins, payload)
            .map_err(|rule| Failure::new(Stage::Send, libc::EINVAL, rule))?;
        self.enqueue(opcode, fin, payload, compress)?;
        *self.sequence.borrow_mut() = next;
        if opcode == Opcode::Close {
            self.close_sent.set(true);
        }
        self.flush().await.map_err(|error| {
            self.closed.set(true);
            Failure::io(Stage::Send, &error)
        })
    }

    fn enqueue(&self, opcode: Opcode, fin: bool, payload: &[u8], compress: bool) -> Result<(), Failure> {
        let mask = if self.mask { Some(mask_key()?) } else { None };
        let mut compressed = BytesMut::new();
        let mut deflater = self.deflater.borrow_mut();
        // A fragment that comes alone is sent as it is: only whole messages are compressed.
        let begins = matches!(opcode, Opcode::Text | Opcode::Binary);
        let (whole, ready) = (fin && begins, !fin && begins && compress);
        let deflated = match &mut *deflater {
            Some(deflater) if compress && whole => deflater.deflate(payload, &mut compressed),
            _ => false,
        };
        let payload = if deflated { &compressed[..] } else { payload };
        proto::encode(&mut self.out.borrow_mut(), opcode, fin, deflated || ready, payload, mask);
        Ok(())
    }

    /// Writes what is to leave.
    async fn flush(&self) -> io::Result<()> {
        let mut half = self.writer.lock().await;
        poll_fn(|cx| {
            loop {
                let mut out = self.out.borrow_mut();
                if out.is_empty() {
                    return Pin::new(&mut *half).poll_flush(cx);
                }
                match Pin::new(&mut *half).poll_write(cx, &out) {
                    Poll::Ready(Ok(0)) => return Poll::Ready(Err(io::Error::from(io::ErrorKind::WriteZero))),
                    Poll::Ready(Ok(written)) => out.advance(written),
                    Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                    Poll::Pending => return Poll::Pending,
                }
            }
        })
        .await
    }

    /// Sends a close frame unless one was sent, and ends our half. Nobody hears of a failure: the connection is over.
    async fn say_close(&self, code: u16, reason: &str) {
        if !self.close_sent.replace(true) {
            let payload = proto::close_payload(code, reason);
            if self.enqueue(Opcode::Close, true, &payload, false).is_ok() {
                let _ = self.flush().await;
            }
        }
        let mut half = self.writer.lock().await;
        let _ = poll_fn(|cx| Pin::new(&mut *half).poll_shutdown(cx)).await;
    }
}
