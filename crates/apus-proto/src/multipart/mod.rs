//! `multipart/form-data` (RFC 7578) as a push parser: bytes go in as they arrive, parts come out, nothing is buffered
//! but the head of a part and a delimiter cut in two.
//!
//! Where senders differ from the RFC the rules are PHP's: lines may end in a lone LF, the preamble and the epilogue are
//! ignored, parts without a usable Content-Disposition are skipped.

mod disposition;

use std::fmt;
use std::ops::Range;

use memchr::memmem::Finder;

pub use disposition::{PartHead, basename};

use crate::grammar::trim_ows;

/// What a multipart body may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Number of parts, skipped ones included (PHP's `max_multipart_body_parts`).
    pub max_parts: usize,
    /// Bytes of one part's head.
    pub max_part_head: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_parts: 1020, max_part_head: 8 * 1024 }
    }
}

/// Why a body is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Error {
    /// The content type names no boundary.
    MissingBoundary,
    /// The boundary is empty, too long, or holds a character it must not.
    BadBoundary,
    /// More parts than [`Limits::max_parts`].
    TooManyParts,
    /// A part's head is longer than [`Limits::max_part_head`].
    PartHeadTooLarge,
    /// A part's head holds a NUL.
    BadPartHead,
    /// Something other than white space follows a delimiter on its line.
    BadDelimiter,
}

impl Error {
    /// The status to answer with.
    pub fn status(self) -> u16 {
        match self {
            Self::TooManyParts | Self::PartHeadTooLarge => 413,
            _ => 400,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::MissingBoundary => "multipart body without a boundary",
            Self::BadBoundary => "malformed multipart boundary",
            Self::TooManyParts => "too many parts in a multipart body",
            Self::PartHeadTooLarge => "head of a multipart part too large",
            Self::BadPartHead => "malformed head of a multipart part",
            Self::BadDelimiter => "malformed multipart delimiter",
        })
    }
}

impl std::error::Error for Error {}

/// What the parser found.
#[derive(Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// A part begins.
    PartBegin(&'a PartHead),
    /// Bytes of the part's content, never empty.
    Data(&'a [u8]),
    /// The part is complete.
    PartEnd,
    /// The input is used up.
    NeedMore,
    /// The closing delimiter was seen; what follows is epilogue and swallowed.
    End,
}

/// How a body ended, see [`Multipart::finish`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// With the closing delimiter.
    Complete,
    /// Between parts, or before the first.
    NoDelimiter,
    /// Within a part, whose `PartEnd` was not reported.
    InPart {
        /// Whether content is missing: its delimiter was not seen. PHP takes such a field with what it has, short of
        /// what may have been the delimiter's start, and reports such a file as partial (`UPLOAD_ERR_PARTIAL`).
        cut: bool,
    },
}

/// Longest boundary. RFC 2046 section 5.1.1 says 70; PHP takes any, and some senders make use of that.
const MAX_BOUNDARY: usize = 200;

/// White space after a delimiter on its line (RFC 2046's transport padding), in bytes.
const MAX_PADDING: usize = 64;

/// The boundary that a `multipart/form-data` content type names.
pub fn boundary(content_type: &[u8]) -> Result<&[u8], Error> {
    for parameter in content_type.split(|&b| b == b';').skip(1) {
        let Some(equals) = memchr::memchr(b'=', parameter) else { continue };
        if !trim_ows(&parameter[..equals]).eq_ignore_ascii_case(b"boundary") {
            continue;
        }
        let value = trim_ows(&parameter[equals + 1..]);
        let value = match value {
            [b'"', rest @ ..] => &rest[..memchr::memchr(b'"', rest).ok_or(Error::BadBoundary)?],
            // A list is no boundary; PHP stops at the comma, too.
            _ => trim_ows(&value[..memchr::memchr(b',', value).unwrap_or(value.len())]),
        };
        return if is_boundary(value) { Ok(value) } else { Err(Error::BadBoundary) };
    }
    Err(Error::MissingBoundary)
}

fn is_boundary(bytes: &[u8]) -> bool {
    !bytes.is_empty()
        && bytes.len() <= MAX_BOUNDARY
        && bytes.last() != Some(&b' ')
        && bytes.iter().all(|&b| (0x20..0x7f).contains(&b))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Preamble,
    Head,
    /// In a part's content; `skip` when nobody gets to see it.
    Data {
        skip: bool,
    },
    /// The closing delimiter is read, `End` not yet reported.
    Closing,
    End,
}

/// A delimiter being read. `start` is where in the pattern it began: 0 with CR LF, 1 with a lone LF, 2 at the start of
/// the body, where none is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Held {
    Nothing,
    /// `pattern[start..matched]` is read.
    Delimiter {
        start: usize,
        matched: usize,
    },
    /// The delimiter and a `-`.
    Dash {
        start: usize,
    },
    /// The delimiter and a CR.
    Cr {
        start: usize,
    },
    /// The delimiter and white space: it can be nothing else any more.
    Padding {
        len: usize,
        cr: bool,
    },
}

/// An [`Event`] that borrows nothing yet.
enum Found {
    Begin,
    /// This range of the input.
    Content(Range<usize>),
    /// This range of the pattern.
    Held(Range<usize>),
    PartEnd,
    NeedMore,
    End,
}

enum Step {
    /// The byte belongs to what is held.
    Hold(Held),
    /// What is held was content: `pattern[range]`; the byte is not taken.
    Content(usize, usize),
    /// A delimiter is complete with this byte.
    Delimiter,
    /// The closing delimiter is complete with this byte.
    Close,
}

/// The parser of one body.
#[derive(Debug, Clone)]
pub struct Multipart {
    limits: Limits,
    /// CR LF, two dashes, the boundary, and room for the one byte after it.
    pattern: Vec<u8>,
    /// Finds the pattern without its CR.
    finder: Finder<'static>,
    state: State,
    held: Held,
    /// The head of the current part as received.
    head: Vec<u8>,
    /// Where the unfinished line of `head` starts.
    head_line: usize,
    part: PartHead,
    parts: usize,
    /// Files without a name are numbered, as PHP does.
    anonymous: usize,
}

impl Multipart {
    /// A parser for that boundary, see [`boundary`].
    pub fn new(boundary: &[u8], limits: Limits) -> Result<Self, Error> {
        if !is_boundary(boundary) {
            return Err(Error::BadBoundary);
        }
        let mut pattern = Vec::with_capacity(boundary.len() + 5);
        pattern.extend_from_slice(b"\r\n--");
        pattern.extend_from_slice(boundary);
        let finder = Finder::new(&pattern[1..]).into_owned();
        pattern.push(0);
        Ok(Self {
            limits,
            pattern,
            finder,
            state: State::Preamble,
            held: Held::Delimiter { start: 2, matched: 2 },
            head: Vec::new(),
            head_line: 0,
            part: PartHead::default(),
            parts: 0,
            anonymous: 0,
        })
    }

    /// Reads on. Returns how many bytes of the input are done with, and what was found. Call again with the rest until
    /// `NeedMore` or `End`, even when the rest is empty.
    ///
    /// After an error the parser MUST NOT be used again.
    pub fn feed<'a>(&'a mut self, input: &'a [u8]) -> Result<(usize, Event<'a>), Error> {
        let mut pos = 0;
        loop {
            let found = match self.state {
                State::Closing => {
                    self.state = State::End;
                    Some(Found::End)
                }
                State::End => {
                    pos = input.len();
                    Some(Found::End)
                }
                _ if pos >= input.len() => Some(Found::NeedMore),
                State::Head => self.read_head(input, &mut pos)?,
                _ if self.held == Held::Nothing => self.read_content(input, &mut pos),
                _ => self.read_delimiter(input[pos], &mut pos)?,
            };
            let event = match found {
                None => continue,
                Some(Found::Begin) => Event::PartBegin(&self.part),
                Some(Found::Content(range)) => Event::Data(&input[range]),
                Some(Found::Held(range)) => Event::Data(&self.pattern[range]),
                Some(Found::PartEnd) => Event::PartEnd,
                Some(Found::NeedMore) => Event::NeedMore,
                Some(Found::End) => Event::End,
            };
            return Ok((pos, event));
        }
    }

    /// The body is over: how did it end?
    pub fn finish(&self) -> Ending {
        match (self.state, self.held) {
            (State::End | State::Closing, _) => Ending::Complete,
            (State::Data { skip: false }, Held::Nothing) => Ending::InPart { cut: true },
            (State::Data { skip: false }, Held::Delimiter { matched, .. }) => {
                Ending::InPart { cut: matched < self.delimiter_len() }
            }
            (State::Data { skip: false }, _) => Ending::InPart { cut: false },
            _ => Ending::NoDelimiter,
        }
    }

    /// In a part whose content is reported.
    fn in_part(&self) -> bool {
        self.state == State::Data { skip: false }
    }

    fn read_head(&mut self, input: &[u8], pos: &mut usize) -> Result<Option<Found>, Error> {
        let (taken, complete) = self.head_bytes(&input[*pos..])?;
        *pos += taken;
        Ok(if complete && self.begin_part()? { Some(Found::Begin) } else { None })
    }

    /// Passes over what is surely content, then holds the byte that may begin a delimiter.
    fn read_content(&mut self, input: &[u8], pos: &mut usize) -> Option<Found> {
        let content = *pos..*pos + self.content_len(&input[*pos..]);
        *pos = content.end;
        if !content.is_empty() && self.in_part() {
            return Some(Found::Content(content));
        }
        if let Some(byte) = input.get(*pos) {
            let matched = if *byte == b'\r' { 1 } else { 2 };
            self.held = Held::Delimiter { start: matched - 1, matched };
            *pos += 1;
        }
        None
    }

    fn read_delimiter(&mut self, byte: u8, pos: &mut usize) -> Result<Option<Found>, Error> {
        let in_part = self.in_part();
        let step = self.step(byte)?;
        if let Step::Content(start, end) = step {
            self.held = Held::Nothing;
            return Ok((in_part && start < end).then_some(Found::Held(start..end)));
        }
        *pos += 1;
        self.held = Held::Nothing;
        match step {
            Step::Hold(held) => {
                self.held = held;
                return Ok(None);
            }
            Step::Close => self.state = State::Closing,
            _ => self.state = State::Head,
        }
        Ok(in_part.then_some(Found::PartEnd))
    }

    /// Length of the pattern proper.
    fn delimiter_len(&self) -> usize {
        self.pattern.len() - 1
    }

    /// How many bytes from the start of `rest` are surely content: up to a delimiter, whole or cut off by the end.
    fn content_len(&self, rest: &[u8]) -> usize {
        if let Some(lf) = self.finder.find(rest) {
            return if lf > 0 && rest[lf - 1] == b'\r' { lf - 1 } else { lf };
        }
        let mut from = rest.len().saturating_sub(self.delimiter_len());
        while let Some(found) = memchr::memchr2(b'\r', b'\n', &rest[from..]) {
            let at = from + found;
            let pattern = if rest[at] == b'\r' { &self.pattern[..] } else { &self.pattern[1..] };
            if pattern.starts_with(&rest[at..]) {
                return at;
            }
            from = at + 1;
        }
        rest.len()
    }

    /// Judges one byte while a delimiter may be under way.
    ///
    /// A boundary holds neither CR nor LF, so content that looked like a delimiter can hide the start of the real one
    /// only in the byte that broke it, which is not taken.
    fn step(&mut self, byte: u8) -> Result<Step, Error> {
        let whole = self.delimiter_len();
        let hold = |held| Ok(Step::Hold(held));
        match (self.held, byte) {
            (Held::Delimiter { start, matched }, _) if matched < whole => {
                if self.pattern[matched] == byte {
                    return hold(Held::Delimiter { start, matched: matched + 1 });
                }
                Ok(Step::Content(start, matched))
            }
            (Held::Delimiter { .. } | Held::Cr { .. } | Held::Padding { .. }, b'\n') => Ok(Step::Delimiter),
            (Held::Delimiter { start, .. }, b'-') => hold(Held::Dash { start }),
            (Held::Delimiter { start, .. }, b'\r') => hold(Held::Cr { start }),
            (Held::Delimiter { .. }, b' ' | b'\t') => hold(Held::Padding { len: 1, cr: false }),
            (Held::Delimiter { start, .. }, _) => Ok(Step::Content(start, whole)),
            (Held::Dash { .. }, b'-') => Ok(Step::Close),
            (Held::Dash { start }, _) => Ok(self.with_last(start, b'-')),
            (Held::Cr { start }, _) => Ok(self.with_last(start, b'\r')),
            (Held::Padding { len, cr: false }, b' ' | b'\t' | b'\r') if len < MAX_PADDING => {
                hold(Held::Padding { len: len + 1, cr: byte == b'\r' })
            }
            (Held::Padding { .. } | Held::Nothing, _) => Err(Error::BadDelimiter),
        }
    }

    /// The whole pattern and the byte after it were content.
    fn with_last(&mut self, start: usize, byte: u8) -> Step {
        let last = self.delimiter_len();
        self.pattern[last] = byte;
        Step::Content(start, last + 1)
    }

    /// Takes bytes of a part's head up to the end of a line; returns how many, and whether the head is complete.
    fn head_bytes(&mut self, input: &[u8]) -> Result<(usize, bool), Error> {
        let line_end = memchr::memchr(b'\n', input);
        let taken = line_end.map_or(input.len(), |lf| lf + 1);
        if self.head.len() + taken > self.limits.max_part_head {
            return Err(Error::PartHeadTooLarge);
        }
        self.head.extend_from_slice(&input[..taken]);
        if line_end.is_none() {
            return Ok((taken, false));
        }
        let complete = matches!(&self.head[self.head_line..], b"\r\n" | b"\n");
        self.head_line = self.head.len();
        Ok((taken, complete))
    }

    /// The head of a part is complete; returns whether the part is one to report.
    fn begin_part(&mut self) -> Result<bool, Error> {
        self.parts += 1;
        if self.parts > self.limits.max_parts {
            return Err(Error::TooManyParts);
        }
        if memchr::memchr(0, &self.head).is_some() {
            return Err(Error::BadPartHead);
        }
        let usable = self.part.read(&self.head, &mut self.anonymous);
        self.head.clear();
        self.head_line = 0;
        self.state = State::Data { skip: !usable };
        // An empty part's delimiter follows its head at once, and the head's last line end is the delimiter's.
        self.held = Held::Delimiter { start: 2, matched: 2 };
        Ok(usable)
    }
}

#[cfg(test)]
mod tests;
