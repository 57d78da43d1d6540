//! From bytes to messages.

use bytes::{Buf, Bytes, BytesMut};

use super::deflate::{Inflater, TAIL};
use super::header::Header;
use super::{Opcode, Role, Utf8, Violation, apply_mask, close};

/// What one side lets the other send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes in one frame's payload.
    pub max_frame: usize,
    /// Bytes in one message, decompressed.
    pub max_message: usize,
    /// What RFC 6455 forbids and does no harm: frames of clients without a mask, any code in a close frame.
    pub lenient: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_frame: 16 << 20, max_message: 16 << 20, lenient: false }
    }
}

/// What came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// A whole message; text is UTF-8.
    Message {
        /// Whether it is text.
        text: bool,
        /// Its bytes.
        data: Bytes,
        /// Whether it came compressed.
        compressed: bool,
    },
    /// A ping, to be answered with a pong of the same bytes.
    Ping(Bytes),
    /// A pong.
    Pong(Bytes),
    /// The other side closes; nothing comes after it.
    Close {
        /// Its code, if it gave one.
        code: Option<u16>,
        /// Its reason, UTF-8.
        reason: Bytes,
    },
}

/// The frame whose payload is being read.
#[derive(Debug)]
struct Frame {
    header: Header,
    /// Bytes of its payload that were taken.
    taken: u64,
}

/// The message whose fragments are being read.
#[derive(Debug)]
struct Message {
    text: bool,
    compressed: bool,
    data: BytesMut,
    utf8: Utf8,
}

/// Compressed bytes of a message that are not inflated yet.
#[derive(Debug)]
struct Compressed {
    /// Unmasked.
    bytes: Bytes,
    /// They are the last of their message.
    ends: bool,
    /// They are the tail that is left away on the wire.
    tail: bool,
}

/// Reads frames and puts messages together. Bytes may be cut anywhere.
#[derive(Debug)]
pub struct Decoder {
    role: Role,
    limits: Limits,
    inflater: Option<Inflater>,
    frame: Option<Frame>,
    message: Option<Message>,
    /// What the budget did not reach for.
    compressed: Option<Compressed>,
    control: BytesMut,
    closed: bool,
}

impl Decoder {
    /// A decoder for one who receives as `role`; `inflater` when permessage-deflate was agreed upon.
    pub fn new(role: Role, limits: Limits, inflater: Option<Inflater>) -> Self {
        Self {
            role,
            limits,
            inflater,
            frame: None,
            message: None,
            compressed: None,
            control: BytesMut::new(),
            closed: false,
        }
    }

    /// Whether the close frame has come.
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// Whether it stands between two messages, and has nothing of either.
    pub fn is_idle(&self) -> bool {
        !self.closed && self.frame.is_none() && self.message.is_none() && self.control.is_empty()
    }

    /// Whether the budget did not reach: there is work to do without further input.
    pub fn is_behind(&self) -> bool {
        self.compressed.is_some()
    }

    /// Bytes kept of a message that is not complete.
    pub fn held(&self) -> usize {
        let compressed = self.compressed.as_ref().map_or(0, |compressed| compressed.bytes.len());
        self.message.as_ref().map_or(0, |message| message.data.len()) + compressed + self.control.len()
    }

    /// Changes the limits, between two messages.
    pub fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
    }

    /// Takes what it can from `input`: the next event, or none when all was taken and more is needed.
    ///
    /// # Errors
    /// When the other side broke the protocol or a limit; the connection is to be closed with the violation's code, and
    /// nothing more is to be decoded.
    pub fn decode(&mut self, input: &mut BytesMut) -> Result<Option<Event>, Violation> {
        let mut unlimited = usize::MAX;
        self.decode_within(input, &mut unlimited)
    }

    /// Like [`decode`](Self::decode), but inflates no more bytes than the budget, from which they are taken. None is
    /// also what comes when it is used up; then [`is_behind`](Self::is_behind).
    ///
    /// # Errors
    /// As [`decode`](Self::decode).
    pub fn decode_within(&mut self, input: &mut BytesMut, budget: &mut usize) -> Result<Option<Event>, Violation> {
        loop {
            if self.closed {
                // What follows a close frame means nothing (RFC 6455 section 1.4).
                input.clear();
                return Ok(None);
            }
            if self.compressed.is_some() {
                let event = self.inflate(budget)?;
                if event.is_some() || self.compressed.is_some() {
                    return Ok(event);
                }
            }
            let mut frame = match self.frame.take() {
                Some(frame) => frame,
                None => match self.begin(input)? {
                    Some(frame) => frame,
                    None => return Ok(None),
                },
            };
            let left = frame.header.len - frame.taken;
            let take = usize::try_from(left).unwrap_or(usize::MAX).min(input.len());
            let mut payload = input.split_to(take);
            if let Some(key) = frame.header.mask {
                apply_mask(&mut payload, key, (frame.taken & 3) as usize);
            }
            frame.taken += take as u64;
            let complete = frame.taken == frame.header.len;
            let event = if frame.header.opcode.is_control() {
                self.control(&frame.header, payload, complete)?
            } else {
                self.data(&frame.header, payload, complete, budget)?
            };
            if !complete {
                self.frame = Some(frame);
                return Ok(None);
            }
            if event.is_some() {
                return Ok(event);
            }
        }
    }

    /// Reads a frame's head and checks it against what came before.
    fn begin(&mut self, input: &mut BytesMut) -> Result<Option<Frame>, Violation> {
        let role = (!self.limits.lenient).then_some(self.role);
        let Some((header, len)) = Header::parse(input, role, self.inflater.is_some())? else { return Ok(None) };
        if header.len > self.limits.max_frame as u64 {
            return Err(Violation::size("a frame is larger than this side allows"));
        }
        match (header.opcode, &self.message) {
            (Opcode::Continuation, None) => {
                return Err(Violation::protocol("a continuation frame continues no message"));
            }
            (Opcode::Text | Opcode::Binary, Some(_)) => {
                return Err(Violation::protocol("a message begins before the last one has ended"));
            }
            (Opcode::Text | Opcode::Binary, None) => {
                self.message = Some(Message {
                    text: header.opcode == Opcode::Text,
                    compressed: header.rsv1,
                    data: BytesMut::new(),
                    utf8: Utf8::default(),
                });
            }
            _ => {}
        }
        let compressed = self.message.as_ref().is_some_and(|message| message.compressed);
        let held = self.message.as_ref().map_or(0, |message| message.data.len() as u64);
        // What a compressed frame becomes is counted while it is inflated.
        if !header.opcode.is_control() && !compressed && held + header.len > self.limits.max_message as u64 {
            return Err(TOO_LARGE);
        }
        input.advance(len);
        Ok(Some(Frame { header, taken: 0 }))
    }

    fn control(&mut self, header: &Header, payload: BytesMut, complete: bool) -> Result<Option<Event>, Violation> {
        if self.control.is_empty() {
            self.control = payload;
        } else {
            self.control.extend_from_slice(&payload);
        }
        if !complete {
            return Ok(None);
        }
        let payload = std::mem::take(&mut self.control).freeze();
        Ok(Some(match header.opcode {
            Opcode::Ping => Event::Ping(payload),
            Opcode::Pong => Event::Pong(payload),
            _ => {
                self.closed = true;
                parse_close(payload, self.limits.lenient)?
            }
        }))
    }

    fn data(
        &mut self,
        header: &Header,
        payload: BytesMut,
        complete: bool,
        budget: &mut usize,
    ) -> Result<Option<Event>, Violation> {
        let Some(message) = &mut self.message else { return Ok(None) };
        let ends = complete && header.fin;
        if message.compressed {
            self.compressed = Some(Compressed { bytes: payload.freeze(), ends, tail: false });
            return self.inflate(budget);
        }
        let before = message.data.len();
        // The usual message, one frame that came whole, is not copied.
        if message.data.is_empty() {
            message.data = payload;
        } else {
            message.data.extend_from_slice(&payload);
        }
        message.check(before)?;
        if ends { self.complete() } else { Ok(None) }
    }

    /// Goes on with what is compressed, as far as the budget reaches: the message if it is complete then.
    fn inflate(&mut self, budget: &mut usize) -> Result<Option<Event>, Violation> {
        let (Some(mut rest), Some(message), Some(inflater)) =
            (self.compressed.take(), &mut self.message, &mut self.inflater)
        else {
            return Ok(None);
        };
        let before = message.data.len();
        loop {
            let mut left = &rest.bytes[..];
            let done = inflater.inflate_some(&mut left, &mut message.data, self.limits.max_message, budget)?;
            if !done {
                rest.bytes = rest.bytes.slice_ref(left);
                message.check(before)?;
                self.compressed = Some(rest);
                return Ok(None);
            }
            if rest.tail || !rest.ends {
                break;
            }
            rest = Compressed { bytes: Bytes::from_static(&TAIL), tail: true, ends: true };
        }
        message.check(before)?;
        if !rest.ends {
            return Ok(None);
        }
        inflater.end_message();
        self.complete()
    }

    /// The message has come whole.
    fn complete(&mut self) -> Result<Option<Event>, Violation> {
        let Some(mut message) = self.message.take() else { return Ok(None) };
        if message.text && !message.utf8.finish() {
            return Err(NOT_UTF8);
        }
        let Message { text, compressed, data, .. } = message;
        Ok(Some(Event::Message { text, data: data.freeze(), compressed }))
    }
}

impl Message {
    /// Checks the text that came from `before` on.
    fn check(&mut self, before: usize) -> Result<(), Violation> {
        if self.text && !self.utf8.feed(&self.data[before..]) { Err(NOT_UTF8) } else { Ok(()) }
    }
}

pub(crate) const TOO_LARGE: Violation = Violation::size("a message is larger than this side allows");
const NOT_UTF8: Violation = Violation::data("a text message is not UTF-8");

/// The event of a close frame with this payload (RFC 6455 section 5.5.1).
///
/// # Errors
/// When the code may not be sent (unless `lenient`), or the reason is not UTF-8.
pub fn parse_close(mut payload: Bytes, lenient: bool) -> Result<Event, Violation> {
    if payload.is_empty() {
        return Ok(Event::Close { code: None, reason: payload });
    }
    if payload.len() == 1 {
        return Err(Violation::protocol("a close frame has half a code"));
    }
    let code = payload.get_u16();
    if !lenient && !close::is_sendable(code) {
        return Err(Violation::protocol("a close frame has a code that may not be sent"));
    }
    if std::str::from_utf8(&payload).is_err() {
        return Err(Violation::data("the reason of a close frame is not UTF-8"));
    }
    Ok(Event::Close { code: Some(code), reason: payload })
}
