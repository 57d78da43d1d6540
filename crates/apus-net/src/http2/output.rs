//! Answers: what handlers say, and what of it goes next.

use apus_proto::http2::frame::{FrameHeader, HEADER_LEN, flag, kind};
use apus_proto::http2::{DEFAULT_FRAME, ErrorCode, encode_lines, write};
use bytes::{Buf, Bytes};

use super::control::schedule;
use super::session::Session;
use super::stream::{Answer, Stream, Streams};
use crate::answer::SendError;

/// A piece of a body that is not longer does not wait for its turn, if nothing else does.
const SHORT: usize = 2048;

impl Session {
    /// The head of an answer: field lines as HTTP/1.1 has them, each `Name: value CRLF`, validated by the caller.
    /// Those that HTTP/2 does not allow are left out. With `end` there is no body.
    pub fn head(&mut self, stream: u32, status: u16, lines: &[u8], end: bool) -> Result<(), SendError> {
        let known = self.answering(stream)?;
        if known.answer != Answer::None {
            return Err(SendError::HeadSent);
        }
        known.answer = Answer::Open;
        self.write_head(stream, status, lines, end);
        if end {
            self.sent_all(stream);
        }
        Ok(())
    }

    /// An interim answer (1xx), before the head.
    pub fn informational(&mut self, stream: u32, status: u16, lines: &[u8]) -> Result<(), SendError> {
        if self.answering(stream)?.answer != Answer::None {
            return Err(SendError::HeadSent);
        }
        self.write_head(stream, status, lines, false);
        Ok(())
    }

    /// A piece of the body of an answer whose head was given; the last one with `end`.
    ///
    /// [`SendError::Full`]: nothing was taken. The stream is named by [`writable`](Self::writable) when there is room.
    pub fn data(&mut self, stream: u32, data: Bytes, end: bool) -> Result<(), SendError> {
        if !data.is_empty() && data.len() <= SHORT && self.data_at_once(stream, &data, end) {
            return Ok(());
        }
        let full = self.queued >= self.limits.max_total_output;
        let most = self.limits.max_output;
        if self.closed.is_some() {
            return Err(SendError::Closed);
        }
        let known = answering(&mut self.streams, stream)?;
        if known.answer != Answer::Open {
            return Err(SendError::Ended);
        }
        if !data.is_empty() && (full || known.queued >= most) {
            known.full = true;
            return Err(SendError::Full);
        }
        if end {
            known.answer = Answer::Given;
        }
        if !data.is_empty() {
            known.queued += data.len();
            let len = data.len();
            known.queue.push_back(data);
            schedule(&mut self.schedule, known);
            self.queued += len;
        } else if end && known.queued == 0 {
            write::data(stream, &[], true, &mut self.out);
            self.sent_all(stream);
        }
        Ok(())
    }

    /// Sends a piece of at most one frame without waiting for its turn, where nothing else waits for one and both
    /// windows have room. Otherwise nothing is taken.
    pub fn data_at_once(&mut self, stream: u32, data: &[u8], end: bool) -> bool {
        let waits = !self.schedule.is_empty() || self.out.len() > self.limits.max_control / 2;
        if self.closed.is_some() || !self.greeted || waits || data.len() > DEFAULT_FRAME {
            return false;
        }
        let len = data.len() as i64;
        let first = |stream: &&mut Stream| !stream.reset && stream.answer == Answer::Open && stream.queued == 0;
        let Some(known) = self.streams.get_mut(stream).filter(first) else { return false };
        if len > 0 && len > self.send_window.min(known.send_window) {
            return false;
        }
        known.send_window -= len;
        self.send_window -= len;
        if end {
            known.answer = Answer::Given;
        }
        self.control.earn(2);
        write::data(stream, data, end, &mut self.out);
        if end {
            self.sent_all(stream);
        }
        true
    }

    /// The trailer section of an answer, which ends it.
    pub fn trailers(&mut self, stream: u32, lines: &[u8]) -> Result<(), SendError> {
        let known = self.answering(stream)?;
        if known.answer != Answer::Open {
            return Err(SendError::Ended);
        }
        known.answer = Answer::Given;
        if known.queued > 0 {
            known.trailers = Some(lines.into());
        } else {
            self.write_trailers(stream, lines);
            self.sent_all(stream);
        }
        Ok(())
    }

    /// Breaks a stream off. [`finish`](Self::finish) is still to be called.
    pub fn reset(&mut self, stream: u32, code: ErrorCode) {
        if self.streams.get(stream).is_some_and(Stream::is_open) {
            self.break_off(stream, code);
        }
    }

    /// Bytes of the body of an answer that wait to be sent.
    pub fn queued(&self, stream: u32) -> usize {
        self.streams.get(stream).map_or(0, |stream| stream.queued)
    }

    /// Bytes that wait here, of bodies and of what goes before them.
    pub fn waiting(&self) -> usize {
        self.queued + self.out.len()
    }

    /// Whether a writer of the stream waits for room.
    pub fn is_full(&self, stream: u32) -> bool {
        self.streams.get(stream).is_some_and(|stream| stream.full)
    }

    /// Streams that were full and have room again, each told once.
    pub fn writable(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.writable)
    }

    /// Whether [`fill`](Self::fill) would give anything.
    pub fn has_output(&self) -> bool {
        !self.out.is_empty() || (self.may_send_data() && !self.schedule.is_empty())
    }

    /// Bodies wait for the preface of a client whose connection is upgraded: what comes behind the 101 has to fit the
    /// buffer that some of them have for it.
    fn may_send_data(&self) -> bool {
        self.closed.is_none() && self.greeted && self.send_window > 0
    }

    /// Appends what is to be sent next to `output`, until that is `room` bytes long: control frames and heads first,
    /// and all of them; then data, by priority, at most one frame more than there is room for.
    pub fn fill(&mut self, output: &mut Vec<u8>, room: usize) {
        let before = output.len();
        if output.is_empty() && output.capacity() == 0 {
            std::mem::swap(output, &mut self.out);
        } else {
            output.append(&mut self.out);
        }
        while output.len() < room && self.may_send_data() {
            let Some(id) = self.schedule.next() else { break };
            self.send_piece(id, output);
            // Trailers, and streams that were broken off.
            output.append(&mut self.out);
        }
        if self.out.capacity() > self.limits.max_control {
            self.out = Vec::new();
        }
        if self.queued < self.limits.max_total_output {
            self.wake();
        }
        if let Some((_, sent)) = &mut self.waiting {
            *sent += (output.len() - before) as u64;
        }
    }

    /// One DATA frame of a stream.
    fn send_piece(&mut self, id: u32, output: &mut Vec<u8>) {
        let most = self.send_window.min(self.peer.max_frame.min(DEFAULT_FRAME) as i64);
        let Some(stream) = self.streams.get_mut(id) else { return };
        stream.scheduled = false;
        let len = most.min(stream.send_window).min(stream.queued as i64).max(0) as usize;
        let last = len == stream.queued;
        let end = last && stream.answer == Answer::Given && stream.trailers.is_none();
        let flags = if end { flag::END_STREAM } else { 0 };
        output.reserve(HEADER_LEN + len);
        output.extend_from_slice(&FrameHeader { len, kind: kind::DATA, flags, stream: id }.to_bytes());
        take(stream, len, output);
        stream.send_window -= len as i64;
        self.send_window -= len as i64;
        self.queued -= len;
        self.control.earn(2);
        let given = stream.answer == Answer::Given;
        let trailers = if last { stream.trailers.take() } else { None };
        schedule(&mut self.schedule, stream);
        if let Some(lines) = trailers {
            self.write_trailers(id, &lines);
        }
        if last && given {
            self.sent_all(id);
        }
    }

    /// Names the streams whose writers may go on.
    fn wake(&mut self) {
        let most = self.limits.max_output / 2;
        for stream in self.streams.iter_mut().filter(|stream| stream.full && stream.queued <= most) {
            stream.full = false;
            self.writable.push(stream.id);
        }
    }

    /// The stream of a handler that may say something.
    fn answering(&mut self, stream: u32) -> Result<&mut Stream, SendError> {
        if self.closed.is_some() {
            return Err(SendError::Closed);
        }
        answering(&mut self.streams, stream)
    }

    pub(super) fn write_head(&mut self, stream: u32, status: u16, lines: &[u8], end: bool) {
        let block = write::begin_headers(&mut self.out);
        self.encoder.begin(&mut self.out);
        self.encoder.status(status, &mut self.out);
        self.known_lines.encode(&mut self.encoder, lines, &mut self.out);
        write::end_headers(block, stream, end, self.peer.max_frame, &mut self.out);
    }

    fn write_trailers(&mut self, stream: u32, lines: &[u8]) {
        let block = write::begin_headers(&mut self.out);
        self.encoder.begin(&mut self.out);
        encode_lines(&mut self.encoder, lines, &mut self.out);
        write::end_headers(block, stream, true, self.peer.max_frame, &mut self.out);
    }

    /// The end of an answer was written.
    fn sent_all(&mut self, id: u32) {
        let Some(stream) = self.streams.get_mut(id) else { return };
        stream.answer = Answer::Sent;
        self.complete_if_done(id);
    }
}

fn answering(streams: &mut Streams, stream: u32) -> Result<&mut Stream, SendError> {
    match streams.get_mut(stream) {
        Some(known) if known.reset => Err(SendError::Closed),
        Some(known) if known.answer == Answer::Given || known.answer == Answer::Sent => Err(SendError::Ended),
        Some(known) => Ok(known),
        None => Err(SendError::Closed),
    }
}

/// Moves the first bytes of a stream's queue.
fn take(stream: &mut Stream, mut len: usize, output: &mut Vec<u8>) {
    stream.queued -= len;
    while len > 0
        && let Some(piece) = stream.queue.front_mut()
    {
        let count = len.min(piece.len());
        output.extend_from_slice(&piece[..count]);
        piece.advance(count);
        len -= count;
        if piece.is_empty() {
            stream.queue.pop_front();
        }
    }
}
