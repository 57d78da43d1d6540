//! Messages inside a stream of bytes: each preceded by its length, ended by a marker, of one length, or of a protocol
//! that tells where its messages end.
//!
//! [`Framing::next`] looks at what has been read and says how long the first message is, or how much is missing. A
//! length is judged as soon as it is there, so nobody reads towards a message that is over the limit.

mod length;
mod mqtt;
mod redis;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_protocols;

use std::fmt;

pub use length::LengthType;
pub use redis::{MAX_ARGUMENTS, MAX_INLINE};

/// The longest end marker.
pub const MAX_END: usize = 64;
/// The furthest that a length field may lie from the start of its message.
pub const MAX_OFFSET: usize = 65_536;

/// Where a message ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rule {
    /// A field says how many bytes follow the first `body_offset` ones.
    Length {
        /// How the field is written.
        kind: LengthType,
        /// Where it lies in the message.
        offset: usize,
        /// What the length does not count: 0 when it counts the whole message.
        body_offset: usize,
    },
    /// A marker ends it, and belongs to it.
    End(Vec<u8>),
    /// A marker is the last of what was read: there may be several messages before it.
    Check(Vec<u8>),
    /// Every message has so many bytes.
    Fixed(usize),
    /// LF ends it, with or without a CR before; [`Framing::payload`] is without both.
    Line,
    /// MQTT control packets (version 5, section 2.1): type, then the remaining length in 1 to 4 bytes.
    Mqtt,
    /// Redis requests: arrays of bulk strings, or one line.
    Redis,
    /// Somebody else tells the length of the whole message: see [`Framing::judge`].
    Asked,
}

/// A rule and a limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Framing {
    rule: Rule,
    max: usize,
}

/// How far the first message was looked at, so that bytes that trickle in are looked at once. The default is the start
/// of a message; a found message sets it back to that.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Scan {
    /// Bytes that need no second look.
    at: usize,
    /// Parts of the message that have still to come after `at`, where it announced how many it has.
    open: usize,
}

/// What the bytes read so far hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Next {
    /// The first message, this long, all of it.
    Message(usize),
    /// Not all of it: at least this many bytes, never 0, have to follow. What is buffered and this are within the
    /// limit.
    More(usize),
}

/// Why the stream cannot be read on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FramingError {
    /// The message is longer than the limit.
    TooLong {
        /// Its whole length in bytes, as far as it is known.
        length: u64,
        /// The limit in bytes.
        max: usize,
    },
    /// The length is one that no message can have.
    Impossible {
        /// The whole length that it makes.
        length: i64,
        /// What a message has at least.
        least: usize,
    },
    /// No end was found within the limit.
    Endless {
        /// The limit in bytes.
        max: usize,
    },
    /// The bytes are none of the protocol's: what is wrong, as the end of "the peer sends …".
    Malformed(&'static str),
}

impl std::error::Error for FramingError {}

impl fmt::Display for FramingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong { length, max } => {
                write!(f, "the peer sends a message of {length} bytes, package_max_length allows {max}")
            }
            Self::Impossible { length, least } => write!(
                f,
                "the peer sends a message whose length would be {length} bytes, but it has {least} at least (see package_length_offset, \
                 package_body_offset)"
            ),
            Self::Endless { max } => {
                write!(f, "the peer sends {max} bytes (package_max_length) in which no message ends")
            }
            Self::Malformed(what) => write!(f, "the peer sends {what}"),
        }
    }
}

impl Framing {
    /// A framing, or why there can be none.
    ///
    /// # Errors
    /// When the rule is outside its limits, or no message that follows it is within `max`.
    pub fn new(rule: Rule, max: usize) -> Result<Self, String> {
        let least = match &rule {
            Rule::Length { kind, offset, body_offset } => {
                if *offset > MAX_OFFSET || *body_offset > MAX_OFFSET {
                    return Err(format!("package_length_offset and package_body_offset must be at most {MAX_OFFSET}"));
                }
                let head = offset + kind.width();
                if head > max {
                    return Err(format!("package_max_length must be at least {head}, where the length field ends"));
                }
                head
            }
            Rule::End(end) | Rule::Check(end) => {
                if end.is_empty() || end.len() > MAX_END {
                    return Err(format!("package_eof must have 1 to {MAX_END} bytes"));
                }
                end.len()
            }
            Rule::Fixed(0) => return Err("package_fixed_length must be at least 1 byte".to_owned()),
            Rule::Fixed(length) => *length,
            Rule::Mqtt => mqtt::MAX_HEAD,
            Rule::Line | Rule::Redis | Rule::Asked => 1,
        };
        if max < least {
            return Err(format!("package_max_length must be at least {least}, the least that a message needs"));
        }
        Ok(Self { rule, max })
    }

    /// The limit of a whole message, bytes.
    pub fn max(&self) -> usize {
        self.max
    }

    /// Its rule.
    pub fn rule(&self) -> &Rule {
        &self.rule
    }

    /// What a program is given of a whole message: all of it, or the line without its end.
    pub fn payload<'a>(&self, message: &'a [u8]) -> &'a [u8] {
        if self.rule != Rule::Line {
            return message;
        }
        let line = message.strip_suffix(b"\n").unwrap_or(message);
        line.strip_suffix(b"\r").unwrap_or(line)
    }

    /// What the first message in `bytes` is. `scan` is [`Scan::default`] at the start of a message and is kept between
    /// calls, while bytes are only added.
    ///
    /// # Errors
    /// When the stream cannot be read on: see [`FramingError`].
    pub fn next(&self, bytes: &[u8], scan: &mut Scan) -> Result<Next, FramingError> {
        match &self.rule {
            Rule::Length { kind, offset, body_offset } => {
                let head = offset + kind.width();
                let Some(length) = bytes.get(*offset..).and_then(|field| kind.read(field)) else {
                    return Ok(Next::More(head - bytes.len()));
                };
                let total = length.saturating_add(*body_offset as i64);
                // The field itself is part of the message.
                if length < 0 || total < head as i64 {
                    return Err(FramingError::Impossible { length: total, least: head });
                }
                self.complete(total as u64, bytes.len())
            }
            Rule::End(end) => self.find_end(end, bytes, scan),
            Rule::Check(end) => self.check_end(end, bytes),
            Rule::Fixed(length) => self.complete(*length as u64, bytes.len()),
            Rule::Line => self.find_end(b"\n", bytes, scan),
            Rule::Mqtt => match mqtt::total(bytes)? {
                Some(total) => self.complete(total, bytes.len()),
                None => Ok(Next::More(1)),
            },
            Rule::Redis => redis::next(bytes, scan, self.max),
            Rule::Asked => self.judge(0, bytes.len()),
        }
    }

    /// The same for a length that was told: 0 when more bytes are needed to tell, negative when the bytes are wrong.
    ///
    /// # Errors
    /// When the length is negative or over the limit, or nothing was told within the limit.
    pub fn judge(&self, total: i64, have: usize) -> Result<Next, FramingError> {
        match u64::try_from(total) {
            Err(_) => Err(FramingError::Impossible { length: total, least: 1 }),
            Ok(0) if have >= self.max => Err(FramingError::Endless { max: self.max }),
            Ok(0) => Ok(Next::More(1)),
            Ok(total) => self.complete(total, have),
        }
    }

    /// The same for a [`Rule::Asked`]: `tell` is given the bytes, and asked again while it says 0, but not once it
    /// knows.
    ///
    /// # Errors
    /// As [`judge`](Self::judge).
    pub fn ask(&self, bytes: &[u8], scan: &mut Scan, tell: impl FnOnce(&[u8]) -> i64) -> Result<Next, FramingError> {
        let total = if scan.at == 0 { tell(bytes) } else { scan.at as i64 };
        let next = self.judge(total, bytes.len())?;
        // What was judged lies within `max`.
        let known = if next == Next::Message(total as usize) { 0 } else { total as usize };
        *scan = Scan { at: known, open: 0 };
        Ok(next)
    }

    fn complete(&self, total: u64, have: usize) -> Result<Next, FramingError> {
        match usize::try_from(total) {
            Ok(total) if total <= self.max => {
                Ok(if total <= have { Next::Message(total) } else { Next::More(total - have) })
            }
            _ => Err(FramingError::TooLong { length: total, max: self.max }),
        }
    }

    fn find_end(&self, end: &[u8], bytes: &[u8], scan: &mut Scan) -> Result<Next, FramingError> {
        // A marker may have begun in what was searched.
        let from = scan.at.saturating_sub(end.len() - 1).min(bytes.len());
        let within = &bytes[from..bytes.len().min(self.max).max(from)];
        if let Some(at) = memchr::memmem::find(within, end) {
            *scan = Scan::default();
            return Ok(Next::Message(from + at + end.len()));
        }
        scan.at = bytes.len();
        if bytes.len() >= self.max {
            return Err(FramingError::Endless { max: self.max });
        }
        Ok(Next::More(1))
    }

    /// All of `bytes` when they end with the marker; beyond the limit, what ends with the last marker within it.
    fn check_end(&self, end: &[u8], bytes: &[u8]) -> Result<Next, FramingError> {
        if bytes.len() <= self.max && bytes.ends_with(end) {
            return Ok(Next::Message(bytes.len()));
        }
        if bytes.len() < self.max {
            return Ok(Next::More(1));
        }
        match memchr::memmem::rfind(&bytes[..self.max], end) {
            Some(at) => Ok(Next::Message(at + end.len())),
            None => Err(FramingError::Endless { max: self.max }),
        }
    }
}
