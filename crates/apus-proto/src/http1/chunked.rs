//! The chunked transfer coding (RFC 9112 section 7.1), decoded without copying the data.

use std::ops::Range;

use super::Reject;
use super::head::field_line;

/// What a chunked body may cost besides its data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChunkLimits {
    /// Bytes of one chunk's size line, its extensions included.
    pub max_line: usize,
    /// Bytes of the whole trailer section.
    pub max_trailer: usize,
    /// Number of trailer fields.
    pub max_trailers: usize,
}

impl Default for ChunkLimits {
    fn default() -> Self {
        Self { max_line: 256, max_trailer: 8 * 1024, max_trailers: 32 }
    }
}

/// A trailer field: name as sent, value without the white space around it.
pub type Trailer = (Vec<u8>, Vec<u8>);

/// What the decoder found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChunkEvent {
    /// Body bytes: this range of the input. Call again with what follows.
    Data(Range<usize>),
    /// The input is used up.
    NeedMore,
    /// The body and its trailer section are complete; what follows in the input is the next message.
    End,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// In the size; `digits` seen.
    Size {
        digits: u8,
    },
    /// White space after the size: only an extension may follow.
    SizeSpace,
    Extension,
    SizeLf,
    Data,
    DataCr,
    DataLf,
    Trailer,
    End,
}

/// More overhead than data, beyond this many bytes, is an attack on our CPU: one-byte chunks with long extensions.
const MAX_EXCESS: u64 = 16 * 1024;

/// Incremental decoder of one body.
#[derive(Debug, Clone)]
pub struct ChunkedDecoder {
    limits: ChunkLimits,
    state: State,
    /// Size read so far, then bytes of the chunk's data still to come.
    remaining: u64,
    /// Bytes of the current size line.
    line: usize,
    /// Bytes of size lines not yet outweighed by data.
    excess: u64,
    /// The trailer section as received.
    trailer: Vec<u8>,
    trailers: Vec<Trailer>,
}

impl Default for ChunkedDecoder {
    fn default() -> Self {
        Self::new(ChunkLimits::default())
    }
}

impl ChunkedDecoder {
    /// A decoder at the start of a body. Does not allocate until there is a trailer.
    pub fn new(limits: ChunkLimits) -> Self {
        Self {
            limits,
            state: State::Size { digits: 0 },
            remaining: 0,
            line: 0,
            excess: 0,
            trailer: Vec::new(),
            trailers: Vec::new(),
        }
    }

    /// Reads on. Returns how many bytes of the input are done with, and what they held.
    ///
    /// After an error the decoder MUST NOT be used again; after `End` it takes nothing more.
    pub fn decode(&mut self, input: &[u8]) -> Result<(usize, ChunkEvent), Reject> {
        let mut pos = 0;
        while pos < input.len() && self.state != State::End {
            match self.state {
                State::Data => {
                    let len = self.remaining.min((input.len() - pos) as u64);
                    self.remaining -= len;
                    if self.remaining == 0 {
                        self.state = State::DataCr;
                    }
                    let end = pos + len as usize;
                    return Ok((end, ChunkEvent::Data(pos..end)));
                }
                State::Trailer => pos += self.trailer_bytes(&input[pos..])?,
                _ => {
                    self.control(input[pos])?;
                    pos += 1;
                }
            }
        }
        Ok((pos, if self.state == State::End { ChunkEvent::End } else { ChunkEvent::NeedMore }))
    }

    /// Bytes of the current chunk's data still to come: lets a caller refuse a chunk larger than its limit before it
    /// arrives.
    pub fn chunk_remaining(&self) -> u64 {
        if self.state == State::Data { self.remaining } else { 0 }
    }

    /// Whether the body is complete.
    pub fn is_end(&self) -> bool {
        self.state == State::End
    }

    /// The trailer fields; all of them after `End`.
    pub fn trailers(&self) -> &[Trailer] {
        &self.trailers
    }

    /// The trailer fields, taken out.
    pub fn take_trailers(&mut self) -> Vec<Trailer> {
        std::mem::take(&mut self.trailers)
    }

    /// One byte between the data.
    fn control(&mut self, byte: u8) -> Result<(), Reject> {
        self.state = match (self.state, byte) {
            (State::DataCr, b'\r') => State::DataLf,
            (State::DataLf, b'\n') => State::Size { digits: 0 },
            (State::DataCr | State::DataLf, _) => return Err(Reject::bad("chunk data longer than its size")),
            _ => self.size_line(byte)?,
        };
        Ok(())
    }

    fn size_line(&mut self, byte: u8) -> Result<State, Reject> {
        self.line += 1;
        if self.line > self.limits.max_line {
            return Err(Reject::bad("chunk extension too long"));
        }
        Ok(match (self.state, byte) {
            (State::Size { digits }, _) if byte.is_ascii_hexdigit() => self.size_digit(byte, digits)?,
            (State::Size { digits: 0 }, _) => return Err(Reject::bad("malformed chunk size")),
            (State::Size { .. } | State::SizeSpace, b' ' | b'\t') => State::SizeSpace,
            (State::Size { .. } | State::SizeSpace, b';') => State::Extension,
            (State::Size { .. } | State::Extension, b'\r') => State::SizeLf,
            (State::SizeLf, b'\n') => self.size_done()?,
            (State::Extension, _) if (byte >= 0x20 && byte != 0x7f) || byte == b'\t' => State::Extension,
            (State::Size { .. } | State::SizeSpace, _) => return Err(Reject::bad("malformed chunk size")),
            _ => return Err(Reject::bad("malformed chunk extension")),
        })
    }

    fn size_digit(&mut self, byte: u8, digits: u8) -> Result<State, Reject> {
        let value = match byte {
            b'0'..=b'9' => byte - b'0',
            _ => (byte | 0x20) - b'a' + 10,
        };
        // Sixteen digits fill a u64; leading zeros count, so the line is bounded by this, too.
        if digits >= 16 {
            return Err(Reject::bad("chunk size too large"));
        }
        self.remaining = self.remaining << 4 | u64::from(value);
        if self.remaining > i64::MAX as u64 {
            return Err(Reject::bad("chunk size too large"));
        }
        Ok(State::Size { digits: digits + 1 })
    }

    fn size_done(&mut self) -> Result<State, Reject> {
        self.excess =
            (self.excess + self.line as u64).saturating_sub(self.remaining.saturating_mul(2).saturating_add(16));
        if self.excess > MAX_EXCESS {
            return Err(Reject::bad("too much chunk overhead"));
        }
        self.line = 0;
        Ok(if self.remaining == 0 { State::Trailer } else { State::Data })
    }

    /// Takes trailer bytes up to the end of a line; returns how many.
    fn trailer_bytes(&mut self, input: &[u8]) -> Result<usize, Reject> {
        let line_end = memchr::memchr(b'\n', input);
        let taken = line_end.map_or(input.len(), |lf| lf + 1);
        if self.line + self.trailer.len() + taken > self.limits.max_trailer {
            return Err(Reject::new(431, "trailer section too large"));
        }
        if line_end.is_some() && self.trailer.is_empty() && &input[..taken] == b"\r\n" {
            self.state = State::End;
            return Ok(taken);
        }
        self.trailer.extend_from_slice(&input[..taken]);
        if line_end.is_some() {
            self.trailer_line()?;
        }
        Ok(taken)
    }

    /// One whole line is in `trailer`. `line` counts the section's bytes of the lines before it.
    fn trailer_line(&mut self) -> Result<(), Reject> {
        self.line += self.trailer.len();
        if self.trailer == b"\r\n" {
            self.state = State::End;
        } else {
            if matches!(self.trailer.first(), Some(b' ' | b'\t')) {
                return Err(Reject::bad("line folding in a trailer"));
            }
            let Some(field) = field_line(&self.trailer, 0)? else { return Err(Reject::bad("malformed trailer")) };
            let (name, value) = (field.name.of(&self.trailer), field.value.of(&self.trailer));
            if is_forbidden_trailer(name) {
                return Err(Reject::bad("field not allowed in a trailer"));
            }
            if self.trailers.len() >= self.limits.max_trailers {
                return Err(Reject::new(431, "too many trailer fields"));
            }
            self.trailers.push((name.to_vec(), value.to_vec()));
        }
        self.trailer.clear();
        Ok(())
    }
}

/// Fields that frame, route, authenticate or describe the content: too late in a trailer (RFC 9110 section 6.5.1).
fn is_forbidden_trailer(name: &[u8]) -> bool {
    const FORBIDDEN: [&[u8]; 20] = [
        b"transfer-encoding",
        b"content-length",
        b"host",
        b"trailer",
        b"te",
        b"connection",
        b"keep-alive",
        b"upgrade",
        b"expect",
        b"max-forwards",
        b"range",
        b"cache-control",
        b"authorization",
        b"proxy-authorization",
        b"cookie",
        b"set-cookie",
        b"content-encoding",
        b"content-type",
        b"content-range",
        b"pragma",
    ];
    FORBIDDEN.iter().any(|field| name.eq_ignore_ascii_case(field))
}
