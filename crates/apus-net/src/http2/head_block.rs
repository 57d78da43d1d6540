//! Field blocks: requests and trailer sections.

use apus_proto::http1::{Framing, RequestHead};
use apus_proto::http2::{ErrorCode, FrameError, HeadError, write};

use super::session::{Event, Session};
use super::stream::{End, Stream};

/// A field block that has begun.
#[derive(Debug)]
pub(super) struct HeadBlock {
    pub(super) stream: u32,
    pub(super) end_stream: bool,
    /// The deprecated priority names the stream itself.
    depends_on_itself: bool,
    /// What has come of it.
    pub(super) bytes: Vec<u8>,
    frames: u32,
    /// When it began, in milliseconds.
    pub(super) since: u64,
}

impl HeadBlock {
    pub(super) fn new(stream: u32, end_stream: bool, depends_on: Option<u32>, now: u64) -> Result<Self, FrameError> {
        if stream.is_multiple_of(2) {
            return Err(FrameError::connection(ErrorCode::PROTOCOL_ERROR, "a client's stream with an even number"));
        }
        let depends_on_itself = depends_on == Some(stream);
        Ok(Self { stream, end_stream, depends_on_itself, bytes: Vec::new(), frames: 0, since: now })
    }
}

impl Session {
    /// Adds what a frame has of a block that needs several.
    pub(super) fn continue_block(&mut self, piece: &[u8]) -> Result<(), FrameError> {
        let most = self.limits.head.list.max_list.saturating_mul(2);
        let Some(block) = &mut self.block else { return Ok(()) };
        block.frames += 1;
        if block.frames > self.limits.max_continuations || block.bytes.len() + piece.len() > most {
            return Err(FrameError::connection(ErrorCode::ENHANCE_YOUR_CALM, "field block too long"));
        }
        block.bytes.extend_from_slice(piece);
        Ok(())
    }

    /// A whole block. It is decoded in any case, for the tables.
    pub(super) fn take_block<'a>(
        &mut self,
        begun: &HeadBlock,
        block: &[u8],
        now: u64,
        bytes: &mut Vec<u8>,
        head: &mut RequestHead,
    ) -> Result<Option<Event<'a>>, FrameError> {
        let id = begun.stream;
        if id > self.highest {
            return self.take_request(begun, block, now, bytes, head);
        }
        let list = self.limits.head.list;
        let trailers = self.heads.trailers(block, &list, bytes, &mut head.headers);
        if let Err(HeadError::Block(error)) = trailers {
            return Err(compression(error));
        }
        match self.streams.get_mut(id) {
            Some(stream) if stream.is_open() => {
                if !stream.remote_open {
                    return Err(FrameError::stream(id, ErrorCode::STREAM_CLOSED, "HEADERS after the end"));
                }
                let whole = begun.end_stream && stream.missing.unwrap_or(0) == 0 && !begun.depends_on_itself;
                if trailers.is_err() || !whole {
                    return Err(FrameError::stream(id, ErrorCode::PROTOCOL_ERROR, "malformed trailer section"));
                }
                stream.remote_open = false;
                let shown = stream.handled && !stream.discards;
                self.complete_if_done(id);
                Ok(shown.then_some(Event::Trailers { stream: id }))
            }
            _ => self.take_late_block(id, now),
        }
    }

    /// A block of a stream that is over.
    fn take_late_block<'a>(&mut self, id: u32, now: u64) -> Result<Option<Event<'a>>, FrameError> {
        match self.streams.end_of(id) {
            // The peer may not have known.
            Some(End::ResetByUs) => self.spend_control(1, now).map(|()| None),
            Some(_) => Err(FrameError::connection(ErrorCode::STREAM_CLOSED, "HEADERS of a stream that is closed")),
            None => Err(FrameError::connection(ErrorCode::PROTOCOL_ERROR, "a stream below the highest begins")),
        }
    }

    fn take_request<'a>(
        &mut self,
        begun: &HeadBlock,
        block: &[u8],
        now: u64,
        bytes: &mut Vec<u8>,
        head: &mut RequestHead,
    ) -> Result<Option<Event<'a>>, FrameError> {
        let (id, end_stream) = (begun.stream, begun.end_stream);
        self.highest = id;
        let read = self.heads.request(block, end_stream, &self.limits.head, bytes, head);
        let early = self.early.iter().position(|(stream, _)| *stream == id).map(|at| self.early.swap_remove(at).1);
        self.early.retain(|(stream, _)| *stream > id);
        if let Err(HeadError::Block(error)) = read {
            return Err(compression(error));
        }
        let busy = self.streams.open >= self.limits.max_streams
            || self.streams.len() >= self.limits.max_running as usize
            || self.is_beyond(id);
        if busy {
            return Err(FrameError::stream(id, ErrorCode::REFUSED_STREAM, "too many streams"));
        }
        if begun.depends_on_itself {
            return Err(FrameError::stream(id, ErrorCode::PROTOCOL_ERROR, "a stream that depends on itself"));
        }
        let priority = match read {
            Ok(priority) => early.or(priority),
            Err(HeadError::Refused(reject)) => {
                self.spend_control(1, now)?;
                self.refuse(id, reject.status, end_stream);
                return Ok(None);
            }
            Err(_) => return Err(FrameError::stream(id, ErrorCode::PROTOCOL_ERROR, "malformed request")),
        };
        let mut stream = Stream::new(id, self.first_window.into(), self.peer.window.into(), priority);
        stream.remote_open = !end_stream;
        if let Framing::Length(length) = head.framing {
            stream.missing = Some(length);
        }
        self.streams.add(stream);
        self.control.earn(2);
        Ok(Some(Event::Request { stream: id, end_stream }))
    }

    /// Answers a request that nobody sees.
    fn refuse(&mut self, id: u32, status: u16, end_stream: bool) {
        self.write_head(id, status, b"content-length: 0\r\n", true);
        if !end_stream {
            write::reset(id, ErrorCode::NO_ERROR, &mut self.out);
            self.broken_off.1 += 1;
        }
        self.streams.remember(id, if end_stream { End::Complete } else { End::ResetByUs });
    }
}

fn compression(error: apus_proto::http2::hpack::HpackError) -> FrameError {
    use apus_proto::http2::hpack::HpackError as Error;
    let reason = match error {
        Error::Truncated => "field block ends early",
        Error::Integer | Error::Index | Error::TableSize => "wrong number in a field block",
        Error::Huffman => "malformed Huffman code",
    };
    FrameError::connection(ErrorCode::COMPRESSION_ERROR, reason)
}
