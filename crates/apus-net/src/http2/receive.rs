//! Bodies of requests, and the windows that hold them back.

use apus_proto::http2::{ErrorCode, FrameError, write};

use super::session::{Event, Session, TOO_MANY_RESETS};
use super::stream::{End, Stream};

impl Session {
    /// DATA; `len` is that of the whole payload, which is what windows count.
    pub(super) fn take_data<'a>(
        &mut self,
        id: u32,
        data: &'a [u8],
        len: usize,
        end_stream: bool,
        now: u64,
    ) -> Result<Option<Event<'a>>, FrameError> {
        self.receive_window -= len as i64;
        if self.receive_window < 0 {
            return Err(FrameError::connection(ErrorCode::FLOW_CONTROL_ERROR, "more than the connection's window"));
        }
        if self.is_idle(id) {
            return Err(FrameError::connection(ErrorCode::PROTOCOL_ERROR, "DATA of a stream that has not begun"));
        }
        if data.is_empty() && !end_stream {
            self.spend_control(1, now)?;
        } else {
            self.control.earn(1);
        }
        let open = self.streams.get_mut(id).filter(|stream| stream.is_open());
        let taken = match open.map(|stream| accept(stream, data.len(), len, end_stream)) {
            Some(taken) => taken,
            None if self.streams.end_of(id) == Some(End::ResetByUs) => Ok(0),
            None => Err(FrameError::stream(id, ErrorCode::STREAM_CLOSED, "DATA of a stream that is closed")),
        };
        let held = *taken.as_ref().unwrap_or(&0);
        // The rest is padding, or nobody wants it.
        self.release(id, len - held);
        taken?;
        if end_stream {
            self.complete_if_done(id);
        }
        let shown = held > 0 || (end_stream && self.streams.get(id).is_some_and(|stream| !stream.discards));
        Ok(shown.then_some(Event::Data { stream: id, data, end_stream }))
    }

    /// The handler has taken so many bytes of the data of a stream: the peer may send as many more.
    pub fn consumed(&mut self, stream: u32, count: usize) {
        let Some(held) = self.streams.get_mut(stream).map(|stream| &mut stream.held) else { return };
        let count = count.min(*held as usize);
        *held -= count as u32;
        self.release(stream, count);
    }

    /// Nobody wants what else comes of the body of a stream: it is thrown away.
    pub fn discard(&mut self, stream: u32) {
        let Some(known) = self.streams.get_mut(stream) else { return };
        known.discards = true;
        let held = std::mem::take(&mut known.held) as usize;
        self.release(stream, held);
    }

    /// Gives the windows back what was taken, when it is as much as half of them.
    pub(super) fn release(&mut self, id: u32, count: usize) {
        if count == 0 || self.closed.is_some() {
            return;
        }
        self.released += count as u32;
        if self.released >= self.limits.connection_window / 2 {
            write::window_update(0, self.released, &mut self.out);
            self.receive_window += i64::from(std::mem::take(&mut self.released));
        }
        let Some(stream) = self.streams.get_mut(id).filter(|stream| stream.is_open() && stream.remote_open) else {
            return;
        };
        if !stream.handled {
            return;
        }
        stream.released += count as u32;
        if stream.released >= self.first_window / 2 {
            write::window_update(id, stream.released, &mut self.out);
            stream.receive_window += i64::from(std::mem::take(&mut stream.released));
        }
    }

    pub(super) fn take_reset<'a>(
        &mut self,
        id: u32,
        code: ErrorCode,
        now: u64,
    ) -> Result<Option<Event<'a>>, FrameError> {
        if self.is_idle(id) {
            return Err(FrameError::connection(ErrorCode::PROTOCOL_ERROR, "RST_STREAM of a stream that has not begun"));
        }
        // Whoever breaks off what was answered while it said so has had the answer made for nothing, too.
        let late = !self.streams.get(id).is_some_and(Stream::is_open);
        if late && self.streams.end_of(id) == Some(End::Complete) && !self.resets.spend(1, now) {
            return Err(TOO_MANY_RESETS);
        }
        if late {
            return self.spend_control(1, now).map(|()| None);
        }
        if !self.resets.spend(1, now) {
            return Err(TOO_MANY_RESETS);
        }
        let handled = self.end_stream(id, End::ResetByPeer);
        Ok(handled.then_some(Event::Reset { stream: id, code }))
    }

    /// The protocol is through with a stream. Tells whether somebody still handles it.
    pub(super) fn end_stream(&mut self, id: u32, end: End) -> bool {
        let Some(stream) = self.streams.get_mut(id).filter(|stream| stream.is_open()) else { return false };
        stream.reset = true;
        stream.queue = std::collections::VecDeque::new();
        stream.trailers = None;
        self.queued -= std::mem::take(&mut stream.queued);
        if std::mem::take(&mut stream.scheduled) {
            self.schedule.remove(id);
        }
        let handled = stream.handled;
        self.ended(id, end, handled);
        handled
    }

    /// Both sides may have said all.
    pub(super) fn complete_if_done(&mut self, id: u32) {
        if let Some(stream) = self.streams.get(id).filter(|stream| !stream.reset && !stream.is_open()) {
            let handled = stream.handled;
            self.ended(id, End::Complete, handled);
        }
    }

    fn ended(&mut self, id: u32, end: End, handled: bool) {
        self.streams.open -= 1;
        self.streams.remember(id, end);
        if !handled {
            self.streams.remove(id);
        }
    }

    /// The handler of a stream has ended, and says nothing more. An answer that is not complete is broken off, and
    /// what else comes of the body is thrown away. To be called once for each [`Event::Request`].
    pub fn finish(&mut self, stream: u32) {
        self.discard(stream);
        let Some(known) = self.streams.get_mut(stream) else { return };
        known.handled = false;
        // Nobody waits for room any more.
        known.full = false;
        if !known.is_open() {
            self.streams.remove(stream);
            return;
        }
        match known.answer {
            // What else comes of the body is thrown away for a while: some clients forget an answer that a reset
            // follows.
            super::stream::Answer::Given | super::stream::Answer::Sent => {}
            _ => {
                self.break_off(stream, ErrorCode::INTERNAL_ERROR);
            }
        }
    }
}

/// Counts DATA. Gives how many bytes of it the handler has to take.
fn accept(stream: &mut Stream, data: usize, len: usize, end_stream: bool) -> Result<usize, FrameError> {
    let id = stream.id;
    if !stream.remote_open {
        return Err(FrameError::stream(id, ErrorCode::STREAM_CLOSED, "DATA after the end"));
    }
    stream.receive_window -= len as i64;
    if stream.receive_window < 0 {
        return Err(FrameError::stream(id, ErrorCode::FLOW_CONTROL_ERROR, "more than the stream's window"));
    }
    if let Some(missing) = &mut stream.missing {
        let left = missing.checked_sub(data as u64).filter(|left| *left == 0 || !end_stream);
        *missing = left.ok_or(FrameError::stream(id, ErrorCode::PROTOCOL_ERROR, "a body unlike Content-Length"))?;
    }
    stream.remote_open = !end_stream;
    if stream.discards {
        return Ok(0);
    }
    stream.held += data as u32;
    Ok(data)
}
