//! Frames as they are read (RFC 9113 sections 4 and 6, RFC 9218 section 7.1).

use super::{ErrorCode, FrameError, Setting};

/// What a client's connection begins with (RFC 9113 section 3.4).
pub const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Bytes of a frame's header.
pub const HEADER_LEN: usize = 9;

/// The longest payload without another setting, and the least that a setting may allow.
pub const DEFAULT_FRAME: usize = 1 << 14;

/// The longest payload that a setting may allow.
pub const MAX_FRAME: usize = (1 << 24) - 1;

/// The largest window, and the largest increment of one.
pub const MAX_WINDOW: u32 = (1 << 31) - 1;

/// The types of frames.
pub mod kind {
    #![allow(missing_docs, reason = "the names are those of RFC 9113 section 6")]
    pub const DATA: u8 = 0x0;
    pub const HEADERS: u8 = 0x1;
    pub const PRIORITY: u8 = 0x2;
    pub const RST_STREAM: u8 = 0x3;
    pub const SETTINGS: u8 = 0x4;
    pub const PUSH_PROMISE: u8 = 0x5;
    pub const PING: u8 = 0x6;
    pub const GOAWAY: u8 = 0x7;
    pub const WINDOW_UPDATE: u8 = 0x8;
    pub const CONTINUATION: u8 = 0x9;
    /// RFC 9218.
    pub const PRIORITY_UPDATE: u8 = 0x10;
}

/// The flags of frames.
pub mod flag {
    #![allow(missing_docs, reason = "the names are those of RFC 9113 section 6")]
    pub const ACK: u8 = 0x1;
    pub const END_STREAM: u8 = 0x1;
    pub const END_HEADERS: u8 = 0x4;
    pub const PADDED: u8 = 0x8;
    pub const PRIORITY: u8 = 0x20;
}

/// The header of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameHeader {
    /// Bytes of the payload, fewer than 2^24.
    pub len: usize,
    /// Its type, one of [`kind`] or any other.
    pub kind: u8,
    /// Its flags; those that its type does not know mean nothing.
    pub flags: u8,
    /// Its stream, without the reserved bit.
    pub stream: u32,
}

impl FrameHeader {
    /// Reads a header; `None` when fewer than nine bytes are there.
    #[inline]
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let &[a, b, c, kind, flags, rest @ ..] = bytes.first_chunk::<HEADER_LEN>()?;
        let len = u32::from_be_bytes([0, a, b, c]) as usize;
        Some(Self { len, kind, flags, stream: u32::from_be_bytes(rest) & MAX_WINDOW })
    }

    /// As it stands on the wire.
    #[inline]
    pub fn to_bytes(self) -> [u8; HEADER_LEN] {
        let [_, a, b, c] = (self.len as u32).to_be_bytes();
        let mut bytes = [a, b, c, self.kind, self.flags, 0, 0, 0, 0];
        bytes[5..].copy_from_slice(&self.stream.to_be_bytes());
        bytes
    }

    fn has(self, flag: u8) -> bool {
        self.flags & flag != 0
    }
}

/// A whole frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Frame<'a> {
    /// DATA. Flow control counts the whole payload, its padding too.
    #[allow(missing_docs, reason = "named as in the RFC")]
    Data { stream: u32, data: &'a [u8], end_stream: bool },
    /// HEADERS. `depends_on` is the stream that the deprecated priority names.
    #[allow(missing_docs, reason = "named as in the RFC")]
    Headers { stream: u32, block: &'a [u8], end_stream: bool, end_headers: bool, depends_on: Option<u32> },
    /// PRIORITY: deprecated, and only checked.
    #[allow(missing_docs, reason = "named as in the RFC")]
    Priority { stream: u32, depends_on: u32 },
    /// `RST_STREAM`.
    #[allow(missing_docs, reason = "named as in the RFC")]
    Reset { stream: u32, code: ErrorCode },
    /// SETTINGS.
    Settings(Settings<'a>),
    /// SETTINGS with ACK.
    SettingsAck,
    /// PING.
    #[allow(missing_docs, reason = "named as in the RFC")]
    Ping { ack: bool, data: [u8; 8] },
    /// GOAWAY.
    #[allow(missing_docs, reason = "named as in the RFC")]
    GoAway { last_stream: u32, code: ErrorCode, debug: &'a [u8] },
    /// `WINDOW_UPDATE`, of the connection where the stream is 0. The increment is above 0.
    #[allow(missing_docs, reason = "named as in the RFC")]
    WindowUpdate { stream: u32, increment: u32 },
    /// CONTINUATION.
    #[allow(missing_docs, reason = "named as in the RFC")]
    Continuation { stream: u32, block: &'a [u8], end_headers: bool },
    /// `PRIORITY_UPDATE`: the value of a Priority field for a stream, which may not have begun.
    #[allow(missing_docs, reason = "named as in the RFC")]
    PriorityUpdate { stream: u32, value: &'a [u8] },
    /// A type that means nothing to us: ALTSVC, ORIGIN, or one that is not known.
    Ignored,
}

/// The settings of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings<'a>(&'a [u8]);

impl<'a> Settings<'a> {
    /// The payload of a SETTINGS frame, as `HTTP2-Settings` has it too.
    pub fn new(payload: &'a [u8]) -> Result<Self, FrameError> {
        if payload.len().is_multiple_of(6) {
            Ok(Self(payload))
        } else {
            Err(FrameError::size("SETTINGS of a wrong size"))
        }
    }

    /// How many there are.
    pub fn count(self) -> usize {
        self.0.len() / 6
    }

    /// Each of them in order, those that are not known left out.
    pub fn iter(self) -> impl Iterator<Item = Result<Setting, FrameError>> + 'a {
        let (each, _) = self.0.as_chunks::<6>();
        each.iter().filter_map(|&[a, b, c, d, e, f]| {
            Setting::read(u16::from_be_bytes([a, b]), u32::from_be_bytes([c, d, e, f])).transpose()
        })
    }
}

impl<'a> Frame<'a> {
    /// Reads a frame whose payload is all there. Whether its length is allowed at all is judged before, by
    /// [`too_long`].
    #[inline]
    pub fn parse(header: FrameHeader, payload: &'a [u8]) -> Result<Self, FrameError> {
        match header.kind {
            kind::DATA => {
                let data = unpadded(header, of_stream(header, payload)?)?;
                Ok(Self::Data { stream: header.stream, data, end_stream: header.has(flag::END_STREAM) })
            }
            kind::HEADERS => headers(header, unpadded(header, of_stream(header, payload)?)?),
            kind::CONTINUATION => {
                let block = of_stream(header, payload)?;
                Ok(Self::Continuation { stream: header.stream, block, end_headers: header.has(flag::END_HEADERS) })
            }
            kind::WINDOW_UPDATE => window_update(header, payload),
            _ => other(header, payload),
        }
    }
}

/// A frame that is longer than the settings allow: to be judged as soon as its header is there.
#[inline]
pub fn too_long(header: FrameHeader, max_frame: usize) -> Result<(), FrameError> {
    if header.len <= max_frame { Ok(()) } else { Err(FrameError::size("frame too long")) }
}

fn other(header: FrameHeader, payload: &[u8]) -> Result<Frame<'_>, FrameError> {
    match header.kind {
        kind::PRIORITY => {
            let stream = header.stream;
            let &[a, b, c, d, _weight] = of_stream(header, payload)? else {
                return Err(FrameError::stream(stream, ErrorCode::FRAME_SIZE_ERROR, "PRIORITY of a wrong size"));
            };
            Ok(Frame::Priority { stream, depends_on: u32::from_be_bytes([a, b, c, d]) & MAX_WINDOW })
        }
        kind::RST_STREAM => {
            let code = of_stream(header, payload)?.try_into();
            let code = code.map_err(|_| FrameError::size("RST_STREAM of a wrong size"))?;
            Ok(Frame::Reset { stream: header.stream, code: ErrorCode(u32::from_be_bytes(code)) })
        }
        kind::SETTINGS => settings(header, of_connection(header, payload)?),
        kind::PUSH_PROMISE => Err(FrameError::protocol("PUSH_PROMISE of a client")),
        kind::PING => {
            let data = of_connection(header, payload)?.try_into();
            let data = data.map_err(|_| FrameError::size("PING of a wrong size"))?;
            Ok(Frame::Ping { ack: header.has(flag::ACK), data })
        }
        kind::GOAWAY => {
            let (last, code, debug) =
                two_words(of_connection(header, payload)?).ok_or(FrameError::size("GOAWAY of a wrong size"))?;
            Ok(Frame::GoAway { last_stream: last & MAX_WINDOW, code: ErrorCode(code), debug })
        }
        kind::PRIORITY_UPDATE => priority_update(of_connection(header, payload)?),
        _ => Ok(Frame::Ignored),
    }
}

fn two_words(payload: &[u8]) -> Option<(u32, u32, &[u8])> {
    let (&first, rest) = payload.split_first_chunk()?;
    let (&second, rest) = rest.split_first_chunk()?;
    Some((u32::from_be_bytes(first), u32::from_be_bytes(second), rest))
}

#[inline]
fn of_stream(header: FrameHeader, payload: &[u8]) -> Result<&[u8], FrameError> {
    if header.stream != 0 { Ok(payload) } else { Err(FrameError::protocol("frame of a stream without one")) }
}

fn of_connection(header: FrameHeader, payload: &[u8]) -> Result<&[u8], FrameError> {
    if header.stream == 0 { Ok(payload) } else { Err(FrameError::protocol("frame of the connection with a stream")) }
}

/// The payload without its padding (RFC 9113 section 6.1).
#[inline]
fn unpadded(header: FrameHeader, payload: &[u8]) -> Result<&[u8], FrameError> {
    if !header.has(flag::PADDED) {
        return Ok(payload);
    }
    let (&padding, rest) = payload.split_first().ok_or(FrameError::size("padded frame without a length"))?;
    let len = rest.len().checked_sub(usize::from(padding));
    len.map(|len| &rest[..len]).ok_or(FrameError::protocol("more padding than frame"))
}

fn headers(header: FrameHeader, payload: &[u8]) -> Result<Frame<'_>, FrameError> {
    let (depends_on, block) = if header.has(flag::PRIORITY) {
        let (&[a, b, c, d, _weight], block) =
            payload.split_first_chunk().ok_or(FrameError::size("HEADERS too short for a priority"))?;
        (Some(u32::from_be_bytes([a, b, c, d]) & MAX_WINDOW), block)
    } else {
        (None, payload)
    };
    Ok(Frame::Headers {
        stream: header.stream,
        block,
        end_stream: header.has(flag::END_STREAM),
        end_headers: header.has(flag::END_HEADERS),
        depends_on,
    })
}

fn settings(header: FrameHeader, payload: &[u8]) -> Result<Frame<'_>, FrameError> {
    match (header.has(flag::ACK), payload.is_empty()) {
        (true, true) => Ok(Frame::SettingsAck),
        (true, false) => Err(FrameError::size("acknowledgement of SETTINGS with settings")),
        (false, _) => Settings::new(payload).map(Frame::Settings),
    }
}

fn window_update<'a>(header: FrameHeader, payload: &[u8]) -> Result<Frame<'a>, FrameError> {
    let increment = payload.try_into().map_err(|_| FrameError::size("WINDOW_UPDATE of a wrong size"))?;
    let increment = u32::from_be_bytes(increment) & MAX_WINDOW;
    let stream = header.stream;
    if increment == 0 {
        let stream = (stream != 0).then_some(stream);
        return Err(FrameError { stream, code: ErrorCode::PROTOCOL_ERROR, reason: "WINDOW_UPDATE by nothing" });
    }
    Ok(Frame::WindowUpdate { stream, increment })
}

fn priority_update(payload: &[u8]) -> Result<Frame<'_>, FrameError> {
    let (&stream, value) = payload.split_first_chunk().ok_or(FrameError::size("PRIORITY_UPDATE too short"))?;
    match u32::from_be_bytes(stream) & MAX_WINDOW {
        0 => Err(FrameError::protocol("PRIORITY_UPDATE without a stream")),
        stream => Ok(Frame::PriorityUpdate { stream, value }),
    }
}
