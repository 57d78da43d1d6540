//! A request that a program puts together itself, of bytes in whatever pieces: no connection of a port is behind it.

use std::path::PathBuf;
use std::rc::{Rc, Weak};

use apus_proto::http1::{Framing, Parsed, Reject};

use crate::account::Share;
use crate::body::{Body, BodyDecoder, Collecting, Form};
use crate::clock;
use crate::config::Config;
use crate::conn::Conn;
use crate::head_bytes::Inner;
use crate::info::{ConnInfo, Local, Peer};
use crate::port::Port;
use crate::request::Request;
use crate::worker::{NoMetrics, Worker};

/// Bytes that become a request.
pub struct Parsing {
    port: Rc<Port>,
    conn: Rc<ConnInfo>,
    stage: Stage,
}

enum Stage {
    /// What has come of the head.
    Head(Vec<u8>),
    Body(Box<Collecting>),
    Over,
}

impl Parsing {
    /// Bounds and habits are those of `config`.
    pub fn new(config: Config) -> Self {
        let local = Rc::new(Local::Unix(PathBuf::new()));
        let worker = Worker::new(Rc::<NoMetrics>::default());
        let conn = Rc::new(ConnInfo::new(0, Peer::Unix, Rc::clone(&local), clock::wall()));
        let port = Rc::new(Port::new(Rc::new(config), worker, local));
        Self { port, conn, stage: Stage::Head(Vec::new()) }
    }

    /// A request of which nothing is known.
    pub fn blank(&self) -> Request {
        self.request(Box::default(), Body::empty(None))
    }

    /// Takes bytes: how many are the request's, and the request once all of it has come. Nothing is taken after that.
    ///
    /// # Errors
    /// What is wrong with the request, or beyond its bounds. Nothing is taken after that, either.
    pub fn feed(&mut self, input: &[u8]) -> Result<(usize, Option<Request>), Reject> {
        match std::mem::replace(&mut self.stage, Stage::Over) {
            Stage::Head(held) => self.head(held, input),
            Stage::Body(collecting) => self.body(collecting, 0, input),
            Stage::Over => Ok((0, None)),
        }
    }

    fn head(&mut self, mut held: Vec<u8>, input: &[u8]) -> Result<(usize, Option<Request>), Reject> {
        let before = held.len();
        // One byte more than a head may have: then it is refused.
        let room = (self.port.head.max_head + 1).saturating_sub(before);
        held.extend_from_slice(&input[..room.min(input.len())]);
        let mut inner = self.port.worker.pool.request();
        if inner.read(&held, &self.port.head)? == Parsed::Partial {
            let taken = held.len() - before;
            self.stage = Stage::Head(held);
            return Ok((taken, None));
        }
        // Empty lines before the request line are no part of what was read.
        let end = inner.head.head_len.clamp(before, before + input.len()) - before;
        if inner.head.framing == Framing::None {
            return Ok((end, Some(self.request(inner, Body::empty(None)))));
        }
        let config = &self.port.config;
        let decoder = BodyDecoder::new(inner.head.framing, Form::max_body(&inner, config))?;
        let share = Share::new(&self.port.worker.account, Weak::<Conn>::new());
        let collecting = Collecting::new(inner, decoder, config, share)?;
        self.body(Box::new(collecting), end, &input[end..])
    }

    fn body(
        &mut self,
        mut collecting: Box<Collecting>,
        taken: usize,
        input: &[u8],
    ) -> Result<(usize, Option<Request>), Reject> {
        let (used, is_whole) = collecting.feed(input)?;
        if !is_whole {
            self.stage = Stage::Body(collecting);
            return Ok((taken + used, None));
        }
        let (inner, body) = collecting.finish()?;
        Ok((taken + used, Some(self.request(inner, body))))
    }

    fn request(&self, inner: Box<Inner>, body: Body) -> Request {
        Request::new(inner, (Rc::clone(&self.conn), Rc::clone(&self.port)), body, clock::wall(), None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::Collected;

    fn parsing() -> Parsing {
        Parsing::new(Config::default())
    }

    const POST: &[u8] = b"POST /a?b=1 HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nHELLO";

    #[test]
    fn a_request_comes_in_any_pieces() {
        for size in [1, 2, 7, POST.len()] {
            let (mut parsing, mut whole) = (parsing(), None);
            for piece in POST.chunks(size) {
                assert!(whole.is_none());
                let (taken, request) = parsing.feed(piece).unwrap();
                assert_eq!(taken, piece.len());
                whole = request;
            }
            let request = whole.unwrap();
            assert_eq!(
                (request.method(), request.path(), request.query()),
                (&b"POST"[..], &b"/a"[..], Some(&b"b=1"[..]))
            );
            assert!(matches!(request.body().collected(), Some(Collected::Raw(body)) if body == "HELLO"));
        }
    }

    #[test]
    fn what_follows_is_not_taken() {
        let (mut parsing, two) = (parsing(), [POST, b"GET / HTTP/1.1\r\n"].concat());
        let (taken, request) = parsing.feed(&two).unwrap();
        assert_eq!(taken, POST.len());
        assert!(request.is_some());
        assert!(matches!(parsing.feed(b"GET"), Ok((0, None))));
    }

    #[test]
    fn heads_and_bodies_have_bounds() {
        let mut long = parsing();
        assert!(long.feed(format!("GET /{}", "a".repeat(1 << 20)).as_bytes()).is_err());
        let head = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n";
        assert_eq!(parsing().feed(head).unwrap_err().status, 413);
        assert_eq!(parsing().feed(b"\0\0\r\n\r\n").unwrap_err().status, 400);
    }
}
