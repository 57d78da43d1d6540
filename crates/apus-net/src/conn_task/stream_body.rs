//! The body of a request that comes on a stream of HTTP/2. What of it waits is bounded by the windows that the client
//! was given; they are opened again as it is taken.

use std::collections::VecDeque;
use std::rc::{Rc, Weak};

use apus_proto::http1::Reject;
use bytes::Bytes;

use crate::account::Share;
use crate::body::{Body, BodyDecoder, BodyError, BodyStream, Collecting, Piece, Source};
use crate::conn::Conn;
use crate::head_bytes::Inner;

type Trailers = Vec<(Vec<u8>, Vec<u8>)>;

/// Where a body goes.
pub(super) enum StreamBody {
    /// There is none, or nobody wants it.
    None,
    /// The app sees the request when it is complete.
    Collect(Box<Collecting>),
    /// The handler reads it.
    Stream(Box<Held>),
    /// It is what a WebSocket brings.
    Tunnel,
}

/// What has come of a body, and was not read.
pub(super) struct Held {
    stream: Rc<BodyStream>,
    decoder: BodyDecoder,
    pieces: VecDeque<Bytes>,
    /// Of the worker's memory.
    share: Share,
    bytes: usize,
    /// All of it has come.
    end: Option<Trailers>,
}

fn share(conn: &Rc<Conn>) -> Share {
    let weak: Weak<Conn> = Rc::downgrade(conn);
    Share::new(&conn.port.worker.account, weak)
}

impl StreamBody {
    pub(super) fn collected(conn: &Rc<Conn>, inner: Box<Inner>, decoder: BodyDecoder) -> Result<Self, Reject> {
        let collecting = Collecting::new(inner, decoder, &conn.site().config, share(conn))?;
        Ok(Self::Collect(Box::new(collecting)))
    }

    /// A body that the handler reads, and what it reads it from.
    pub(super) fn streamed(conn: &Rc<Conn>, decoder: BodyDecoder) -> (Self, Rc<BodyStream>) {
        let source: Rc<dyn Source> = Rc::<Conn>::clone(conn);
        let stream = Rc::new(BodyStream::new(Rc::downgrade(&source)));
        let held = Held {
            stream: Rc::clone(&stream),
            decoder,
            pieces: VecDeque::new(),
            share: share(conn),
            bytes: 0,
            end: None,
        };
        (Self::Stream(Box::new(held)), stream)
    }

    /// Takes a piece: how many bytes of it need no room any more.
    pub(super) fn arrived(&mut self, conn: &Rc<Conn>, data: &[u8]) -> Result<usize, Reject> {
        match self {
            Self::None => {}
            Self::Tunnel => {
                conn.tunnel_brought(data);
                // The rest when it is read.
                return Ok(0);
            }
            Self::Collect(collecting) => {
                collecting.feed(data)?;
            }
            Self::Stream(held) => {
                if let (_, Piece::Data(data)) = held.decoder.next(data)? {
                    held.pieces.push_back(Bytes::copy_from_slice(data));
                    held.count(held.bytes + data.len());
                }
                return Ok(held.feed(conn));
            }
        }
        Ok(data.len())
    }

    /// All of it has come. The request, where the app has not seen it.
    pub(super) fn complete(&mut self, conn: &Conn, trailers: Trailers) -> Result<Option<(Box<Inner>, Body)>, Reject> {
        match std::mem::replace(self, Self::None) {
            Self::None => Ok(None),
            Self::Tunnel => {
                conn.tunnel_ended();
                *self = Self::Tunnel;
                Ok(None)
            }
            Self::Collect(collecting) => collecting.finish_with(trailers).map(Some),
            Self::Stream(mut held) => {
                held.end = Some(trailers);
                held.feed(conn);
                *self = Self::Stream(held);
                Ok(None)
            }
        }
    }
}

impl Held {
    fn count(&mut self, bytes: usize) {
        self.bytes = bytes;
        self.share.set(bytes);
    }

    /// Gives a reader that waits what is there: how many bytes it took.
    pub(super) fn feed(&mut self, conn: &Conn) -> usize {
        let before = self.bytes;
        while let wanted @ 1.. = self.stream.wanted() {
            if let Some(mut piece) = self.pieces.pop_front() {
                if piece.len() > wanted {
                    self.pieces.push_front(piece.split_off(wanted));
                }
                self.count(self.bytes - piece.len());
                self.stream.deliver(piece);
            } else if let Some(trailers) = self.end.take() {
                self.stream.finish(Ok(()), trailers);
            } else {
                conn.send_continue();
                conn.resume_body_timer();
                return before - self.bytes;
            }
        }
        conn.pause_body_timer();
        before - self.bytes
    }

    /// The body cannot be read to its end.
    pub(super) fn fail(&self, why: BodyError) {
        self.stream.finish(Err(why), Vec::new());
    }
}
