//! A body that the program reads while it arrives.
//!
//! The connection's task does the reading: a waiting [`ReadChunk`] says how much it wants, and only then is the socket
//! read, so the kernel's window is the back-pressure.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::pin::Pin;
use std::rc::{Rc, Weak};
use std::task::{Context, Poll};

use bytes::Bytes;

use super::BodyError;
use crate::wake::WakerList;

type Trailers = Vec<(Vec<u8>, Vec<u8>)>;

/// Where a body comes from.
pub(crate) trait Source {
    /// Somebody waits for more of it.
    fn want_body(&self);
}

pub(crate) struct BodyStream {
    conn: Weak<dyn Source>,
    /// Bytes the reader waits for; 0 when nobody waits.
    want: Cell<usize>,
    chunk: RefCell<Option<Bytes>>,
    end: Cell<Option<Result<(), BodyError>>>,
    waiting: WakerList,
    trailers: RefCell<Trailers>,
}

impl BodyStream {
    pub(crate) fn new(conn: Weak<dyn Source>) -> Self {
        Self {
            conn,
            want: Cell::new(0),
            chunk: RefCell::new(None),
            end: Cell::new(None),
            waiting: WakerList::default(),
            trailers: RefCell::new(Vec::new()),
        }
    }

    /// Bytes to read now; 0 for none.
    #[inline]
    pub(crate) fn wanted(&self) -> usize {
        if self.end.get().is_some() { 0 } else { self.want.get() }
    }

    /// The answer has ended: nothing is read any more. Whether the body had been read to its end before.
    pub(crate) fn end_early(&self) -> bool {
        let whole = self.end.get() == Some(Ok(()));
        self.finish(Err(BodyError::Ended), Vec::new());
        whole
    }

    /// Hands a chunk to the reader that waits. MUST be called only while `wanted() > 0`.
    pub(crate) fn deliver(&self, chunk: Bytes) {
        self.want.set(0);
        *self.chunk.borrow_mut() = Some(chunk);
        self.waiting.wake_all();
    }

    /// The body ended, well or not. The first end counts.
    pub(crate) fn finish(&self, end: Result<(), BodyError>, trailers: Trailers) {
        if self.end.get().is_none() {
            self.end.set(Some(end));
            *self.trailers.borrow_mut() = trailers;
        }
        self.want.set(0);
        self.waiting.wake_all();
    }

    pub(crate) fn trailers(&self) -> Trailers {
        self.trailers.borrow().clone()
    }

    fn poll(&self, cx: &mut Context<'_>, max: usize) -> Poll<Result<Option<Bytes>, BodyError>> {
        let taken = self.chunk.borrow_mut().take();
        if let Some(mut chunk) = taken {
            // Another reader may have asked for more than this one can take.
            if chunk.len() > max {
                let rest = chunk.split_off(max);
                *self.chunk.borrow_mut() = Some(rest);
            }
            return Poll::Ready(Ok(Some(chunk)));
        }
        if let Some(end) = self.end.get() {
            return Poll::Ready(end.map(|()| None));
        }
        self.waiting.register(cx.waker());
        if self.want.replace(max) == 0 {
            match self.conn.upgrade() {
                Some(conn) => conn.want_body(),
                None => return Poll::Ready(Err(BodyError::Disconnected)),
            }
        }
        Poll::Pending
    }
}

/// Future of [`crate::Body::read_chunk`]. Dropping it loses nothing: what arrived is kept for the next.
pub struct ReadChunk(Reading);

enum Reading {
    Stream(Rc<BodyStream>, usize),
    Done(Option<Bytes>),
}

impl ReadChunk {
    pub(crate) fn from_stream(stream: Rc<BodyStream>, max: usize) -> Self {
        Self(Reading::Stream(stream, max.max(1)))
    }

    pub(crate) fn done(chunk: Option<Bytes>) -> Self {
        Self(Reading::Done(chunk))
    }
}

impl Future for ReadChunk {
    type Output = Result<Option<Bytes>, BodyError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut self.0 {
            Reading::Stream(stream, max) => stream.poll(cx, *max),
            Reading::Done(chunk) => Poll::Ready(Ok(chunk.take())),
        }
    }
}

impl Drop for ReadChunk {
    fn drop(&mut self) {
        // Nobody waits any more: stop reading ahead.
        if let Reading::Stream(stream, _) = &self.0 {
            stream.want.set(0);
        }
    }
}
