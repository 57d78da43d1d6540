//! Answers that are coded on their way to the client ([`crate::coding`]).

use std::rc::Rc;

use apus_proto::coding::Accepted;
use apus_proto::http1::{Version, response as wire};

use super::{Responder, copy};
use crate::answer::{ResponseHead, SendError};
use crate::coding::{Coded, Compression, Encoder, Flush, judge, whole};
use crate::conn::Conn;
use crate::exchange::{AnswerPhase, BodyOut};
use crate::http1;
use crate::kill::Kill;

impl Responder {
    /// Bytes that a writer should give at a time, where the answer is coded, or may be: coding them takes no longer
    /// than others may wait.
    pub fn slice(&self) -> Option<usize> {
        let config = self.conn.site().config.http_compression.as_ref()?;
        let coded = match self.conn.exchange.phase() {
            AnswerPhase::Open => self.conn.exchange.negotiates(),
            phase => matches!(phase, AnswerPhase::Body(BodyOut::Coded { .. })),
        };
        coded.then(|| config.slice(None))
    }

    /// Whether an answer may be coded. One to a client that says nothing of codings is as it would be without: whatever
    /// a cache makes of it, it fits all.
    #[inline]
    pub(super) fn may_code(&self, len: usize) -> bool {
        len >= self.conn.site().config.compressed_from && self.conn.exchange.negotiates()
    }

    /// Ends an answer that may be coded. `None`: nothing was done, and it is sent as `coded` has it.
    #[cold]
    pub(super) fn end_coded(
        &self,
        head: &ResponseHead,
        body: &[u8],
        owner: impl FnOnce() -> Box<dyn AsRef<[u8]>>,
        coded: &mut Coded,
    ) -> Option<Result<(), SendError>> {
        let conn = &*self.conn;
        let config = conn.site().config.http_compression.as_ref()?;
        if self.check().is_err() {
            return None;
        }
        match conn.exchange.phase() {
            AnswerPhase::Open => {}
            AnswerPhase::Body(BodyOut::Coded { chunked, .. }) if body.len() > config.slice(None) => {
                conn.exchange.set_body(BodyOut::Coded { chunked, ended: true });
                return Some(self.code_on(owner(), config.slice(None)));
            }
            _ => return None,
        }
        *coded = self.judge(config, head);
        if conn.exchange.head_only.get() {
            return None;
        }
        let coding = coded.coding?;
        if body.len() <= config.at_once(coding) {
            let send = |bytes: &[u8]| self.end_with(head, bytes, *coded, copy(bytes));
            let sent = whole(coding, config.level, body, send);
            if sent.is_none() {
                *coded = coded.uncoded();
            }
            return sent;
        }
        let Some(encoder) = Encoder::new(coding, config.level) else {
            *coded = coded.uncoded();
            return None;
        };
        let begun = self.begin_coded(head, *coded, encoder, true);
        Some(begun.and_then(|()| self.code_on(owner(), config.slice(Some(coding)))))
    }

    fn judge(&self, config: &Compression, head: &ResponseHead) -> Coded {
        let exchange = &self.conn.exchange;
        if exchange.connect.get() {
            return Coded::default();
        }
        // A client of HTTP/1.0 knows no chunks, and hardly any codings.
        let old = exchange.version.get() == Version::Http10;
        judge(config, if old { Accepted::default() } else { exchange.accepted() }, head)
    }

    /// Begins an answer that is written piece by piece, coded where that can be. Whether it is; if not, `coded` tells
    /// what its head says.
    #[cold]
    pub(super) fn began_coded(&self, head: &ResponseHead, coded: &mut Coded) -> Result<bool, SendError> {
        let conn = &*self.conn;
        let Some(config) = &conn.site().config.http_compression else { return Ok(false) };
        // Whoever has told the length is held to it.
        if head.content_length.is_some() {
            return Ok(false);
        }
        *coded = self.judge(config, head);
        let Some(coding) = coded.coding.filter(|_| !conn.exchange.head_only.get()) else { return Ok(false) };
        let Some(encoder) = Encoder::new(coding, config.level) else {
            *coded = coded.uncoded();
            return Ok(false);
        };
        self.begin_coded(head, *coded, encoder, false).map(|()| true)
    }

    fn begin_coded(&self, head: &ResponseHead, coded: Coded, encoder: Encoder, ended: bool) -> Result<(), SendError> {
        let conn = &*self.conn;
        let untold = ResponseHead { content_length: None, ..head.clone() };
        let answer = http1::plan(&conn.exchange, &untold, None).coded(coded);
        let chunked = answer.body == BodyOut::Chunked;
        let mut out = conn.out.borrow_mut();
        self.begin(&untold, answer, &mut out);
        *conn.exchange.encoder.borrow_mut() = Some(Box::new(encoder));
        conn.exchange.set_body(BodyOut::Coded { chunked, ended });
        // The head leaves with the first bytes of the body.
        drop(out);
        if conn.is_usable() { Ok(()) } else { Err(SendError::Closed) }
    }

    /// Codes and sends a piece.
    pub(super) fn write_coded(&self, data: &[u8], chunked: bool) -> Result<usize, SendError> {
        self.conn.code(data, Flush::Yes, chunked)
    }

    /// Ends the coding.
    pub(super) fn finish_coded(&self, trailers: &[(&[u8], &[u8])], chunked: bool) -> Result<(), SendError> {
        self.conn.end_code(trailers, chunked)
    }

    /// Codes the rest of an answer that the program has ended, in turn with others.
    fn code_on(&self, owner: Box<dyn AsRef<[u8]>>, slice: usize) -> Result<(), SendError> {
        if tokio::runtime::Handle::try_current().is_err() {
            // The worker is about to end.
            return Err(SendError::Closed);
        }
        let responder = self.clone();
        tokio::task::spawn_local(async move {
            let conn = &responder.conn;
            if responder.code_all((*owner).as_ref(), slice).await.is_err() && responder.is_current() {
                // The client sees that it has not got all.
                conn.lose_answer();
                conn.kill(Kill::Now);
            }
        });
        Ok(())
    }

    async fn code_all(&self, bytes: &[u8], slice: usize) -> Result<(), SendError> {
        let conn = &self.conn;
        for piece in bytes.chunks(slice) {
            let AnswerPhase::Body(BodyOut::Coded { chunked, .. }) = conn.exchange.phase() else {
                return Err(SendError::Ended);
            };
            if !self.is_current() || !conn.is_usable() {
                return Err(SendError::Closed);
            }
            if conn.code(piece, Flush::No, chunked)? > 0 {
                self.writable().await?;
            }
            tokio::task::yield_now().await;
        }
        match conn.exchange.phase() {
            AnswerPhase::Body(BodyOut::Coded { chunked, .. }) if self.is_current() && conn.is_usable() => {
                conn.end_code(&[], chunked)
            }
            _ => Err(SendError::Ended),
        }
    }
}

impl Conn {
    /// Codes a piece and sends what it becomes: bytes that wait then.
    fn code(self: &Rc<Self>, data: &[u8], flush: Flush, chunked: bool) -> Result<usize, SendError> {
        let coded = match self.exchange.encoder.borrow_mut().as_mut() {
            Some(encoder) => encoder.push(data, flush),
            None => return Err(SendError::Ended),
        };
        coded.map(|bytes| self.send_coded(&bytes, chunked)).map_err(|_| SendError::Closed)
    }

    fn send_coded(&self, bytes: &[u8], chunked: bool) -> usize {
        self.exchange.count_sent(bytes.len());
        let mut out = self.out.borrow_mut();
        if chunked {
            if !bytes.is_empty() {
                wire::write_chunk(out.buffer(&self.port.worker.pool), bytes);
            }
            return self.push(out);
        }
        self.push_tail(out, bytes, copy(bytes))
    }

    fn end_code(&self, trailers: &[(&[u8], &[u8])], chunked: bool) -> Result<(), SendError> {
        let encoder = self.exchange.encoder.take().ok_or(SendError::Ended)?;
        let bytes = encoder.finish(b"").map_err(|_| SendError::Closed)?;
        if chunked {
            self.exchange.count_sent(bytes.len());
            let mut out = self.out.borrow_mut();
            let buffer = out.buffer(&self.port.worker.pool);
            wire::write_chunk(buffer, &bytes);
            wire::write_last_chunk(buffer, trailers);
            self.push(out);
        } else {
            self.send_coded(&bytes, false);
            self.trail(trailers);
        }
        self.answered(self.exchange.status.get());
        Ok(())
    }
}
