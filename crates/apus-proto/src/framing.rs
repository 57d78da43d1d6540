//! Messages inside a stream of bytes: each preceded by its length, or ended by a marker.
//!
//! [`Framing::next`] looks at what has been read and says how long the first message is, or how much is missing. A length
//! is judged as soon as it is there, so nobody reads towards a message that is over the limit.

use std::fmt;

/// The longest end marker.
pub const MAX_END: usize = 64;
/// The furthest that a length field may lie from the start of its message.
pub const MAX_OFFSET: usize = 65_536;

/// How a length is written: PHP's `pack()` letters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LengthType {
    /// `c`: signed, 1 byte.
    I8,
    /// `C`: 1 byte.
    U8,
    /// `s`: signed, 2 bytes, the machine's order.
    I16,
    /// `S`: 2 bytes, the machine's order.
    U16,
    /// `n`: 2 bytes, big end first.
    U16Be,
    /// `v`: 2 bytes, little end first.
    U16Le,
    /// `l`: signed, 4 bytes, the machine's order.
    I32,
    /// `L`: 4 bytes, the machine's order.
    U32,
    /// `N`: 4 bytes, big end first.
    U32Be,
    /// `V`: 4 bytes, little end first.
    U32Le,
    /// `q`: signed, 8 bytes, the machine's order.
    I64,
    /// `Q`: 8 bytes, the machine's order.
    U64,
    /// `J`: 8 bytes, big end first.
    U64Be,
    /// `P`: 8 bytes, little end first.
    U64Le,
}

impl LengthType {
    /// The letters, for messages to people.
    pub const LETTERS: &'static str = "c C s S n v l L N V q Q J P";

    /// The type that a letter of `pack()` names.
    pub fn of_letter(letter: &str) -> Option<Self> {
        Some(match letter {
            "c" => Self::I8,
            "C" => Self::U8,
            "s" => Self::I16,
            "S" => Self::U16,
            "n" => Self::U16Be,
            "v" => Self::U16Le,
            "l" => Self::I32,
            "L" => Self::U32,
            "N" => Self::U32Be,
            "V" => Self::U32Le,
            "q" => Self::I64,
            "Q" => Self::U64,
            "J" => Self::U64Be,
            "P" => Self::U64Le,
            _ => return None,
        })
    }

    /// How many bytes it takes.
    pub fn width(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 | Self::U16Be | Self::U16Le => 2,
            Self::I32 | Self::U32 | Self::U32Be | Self::U32Le => 4,
            Self::I64 | Self::U64 | Self::U64Be | Self::U64Le => 8,
        }
    }

    /// The length at the start of `bytes`; `None` when they are too few. What is over `i64::MAX` becomes `i64::MAX`.
    fn read(self, bytes: &[u8]) -> Option<i64> {
        let large = |length: u64| i64::try_from(length).unwrap_or(i64::MAX);
        Some(match self {
            Self::I8 => i64::from(i8::from_ne_bytes(*bytes.first_chunk()?)),
            Self::U8 => i64::from(*bytes.first()?),
            Self::I16 => i64::from(i16::from_ne_bytes(*bytes.first_chunk()?)),
            Self::U16 => i64::from(u16::from_ne_bytes(*bytes.first_chunk()?)),
            Self::U16Be => i64::from(u16::from_be_bytes(*bytes.first_chunk()?)),
            Self::U16Le => i64::from(u16::from_le_bytes(*bytes.first_chunk()?)),
            Self::I32 => i64::from(i32::from_ne_bytes(*bytes.first_chunk()?)),
            Self::U32 => i64::from(u32::from_ne_bytes(*bytes.first_chunk()?)),
            Self::U32Be => i64::from(u32::from_be_bytes(*bytes.first_chunk()?)),
            Self::U32Le => i64::from(u32::from_le_bytes(*bytes.first_chunk()?)),
            Self::I64 => i64::from_ne_bytes(*bytes.first_chunk()?),
            Self::U64 => large(u64::from_ne_bytes(*bytes.first_chunk()?)),
            Self::U64Be => large(u64::from_be_bytes(*bytes.first_chunk()?)),
            Self::U64Le => large(u64::from_le_bytes(*bytes.first_chunk()?)),
        })
    }
}

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
    /// Somebody else tells the length of the whole message: see [`Framing::judge`].
    Asked,
}

/// A rule and a limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Framing {
    rule: Rule,
    max: usize,
}

/// What the bytes read so far hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Next {
    /// The first message, this long, all of it.
    Message(usize),
    /// Not all of it: at least this many bytes, never 0, have to follow. What is buffered and this are within the limit.
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
        }
    }
}

impl Framing {
    /// A framing, or why there can be none.
    pub fn new(rule: Rule, max: usize) -> Result<Self, String> {
        match &rule {
            Rule::Length { kind, offset, body_offset } => {
                if *offset > MAX_OFFSET || *body_offset > MAX_OFFSET {
                    return Err(format!("package_length_offset and package_body_offset must be at most {MAX_OFFSET}"));
                }
                if offset + kind.width() > max {
                    return Err(format!(
                        "package_max_length must be at least {}, where the length field ends",
                        offset + kind.width()
                    ));
                }
            }
            Rule::End(end) if end.is_empty() || end.len() > MAX_END => {
                return Err(format!("package_eof must have 1 to {MAX_END} bytes"));
            }
            Rule::End(end) if end.len() > max => {
                return Err("package_max_length must be at least the length of package_eof".to_owned());
            }
            Rule::End(_) | Rule::Asked => {}
        }
        if max == 0 {
            return Err("package_max_length must be at least 1 byte".to_owned());
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

    /// What the first message in `bytes` is. `searched` is 0 at the start of a message and is kept between calls: how far
    /// the bytes were looked at.
    pub fn next(&self, bytes: &[u8], searched: &mut usize) -> Result<Next, FramingError> {
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
            Rule::End(end) => self.find_end(end, bytes, searched),
            Rule::Asked => self.judge(0, bytes.len()),
        }
    }

    /// The same for a length that was told: 0 when more bytes are needed to tell, negative when the bytes are wrong.
    pub fn judge(&self, total: i64, have: usize) -> Result<Next, FramingError> {
        match u64::try_from(total) {
            Err(_) => Err(FramingError::Impossible { length: total, least: 1 }),
            Ok(0) if have >= self.max => Err(FramingError::Endless { max: self.max }),
            Ok(0) => Ok(Next::More(1)),
            Ok(total) => self.complete(total, have),
        }
    }

    fn complete(&self, total: u64, have: usize) -> Result<Next, FramingError> {
        match usize::try_from(total) {
            Ok(total) if total <= self.max => {
                Ok(if total <= have { Next::Message(total) } else { Next::More(total - have) })
            }
            _ => Err(FramingError::TooLong { length: total, max: self.max }),
        }
    }

    fn find_end(&self, end: &[u8], bytes: &[u8], searched: &mut usize) -> Result<Next, FramingError> {
        // A marker may have begun in what was searched.
        let from = searched.saturating_sub(end.len() - 1).min(bytes.len());
        let within = &bytes[from..bytes.len().min(self.max)];
        if let Some(at) = memchr::memmem::find(within, end) {
            *searched = 0;
            return Ok(Next::Message(from + at + end.len()));
        }
        *searched = bytes.len();
        if bytes.len() >= self.max {
            return Err(FramingError::Endless { max: self.max });
        }
        Ok(Next::More(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn length(letter: &str, offset: usize, body_offset: usize, max: usize) -> Framing {
        let kind = LengthType::of_letter(letter).unwrap();
        Framing::new(Rule::Length { kind, offset, body_offset }, max).unwrap()
    }

    fn once(framing: &Framing, bytes: &[u8]) -> Result<Next, FramingError> {
        framing.next(bytes, &mut 0)
    }

    #[test]
    fn every_letter_reads_what_pack_writes() {
        let cases: [(&str, &[u8], i64); 14] = [
            ("c", &[0x7f], 127),
            ("C", &[0xff], 255),
            ("s", &(-2_i16).to_ne_bytes(), -2),
            ("S", &65_535_u16.to_ne_bytes(), 65_535),
            ("n", &[1, 2], 258),
            ("v", &[1, 2], 513),
            ("l", &(-7_i32).to_ne_bytes(), -7),
            ("L", &u32::MAX.to_ne_bytes(), 4_294_967_295),
            ("N", &[0, 0, 1, 0], 256),
            ("V", &[0, 1, 0, 0], 256),
            ("q", &(-1_i64).to_ne_bytes(), -1),
            ("Q", &u64::MAX.to_ne_bytes(), i64::MAX),
            ("J", &[0, 0, 0, 0, 0, 0, 1, 0], 256),
            ("P", &[0, 1, 0, 0, 0, 0, 0, 0], 256),
        ];
        for (letter, bytes, value) in cases {
            let kind = LengthType::of_letter(letter).unwrap();
            assert_eq!(kind.width(), bytes.len(), "{letter}");
            assert_eq!(kind.read(bytes), Some(value), "{letter}");
            assert_eq!(kind.read(&bytes[..bytes.len() - 1]), None, "{letter}");
        }
        assert_eq!(LengthType::of_letter("x"), None);
        assert_eq!(LengthType::of_letter("NN"), None);
    }

    #[test]
    fn a_message_is_found_however_it_is_cut() {
        let framing = length("N", 2, 6, 100);
        let message = [b"hd".as_slice(), &5_u32.to_be_bytes(), b"hello"].concat();
        for cut in 0..message.len() {
            let missing = if cut < 6 { 6 - cut } else { message.len() - cut };
            assert_eq!(once(&framing, &message[..cut]), Ok(Next::More(missing)), "{cut}");
        }
        assert_eq!(once(&framing, &message), Ok(Next::Message(11)));
        assert_eq!(once(&framing, &[message.as_slice(), b"next"].concat()), Ok(Next::Message(11)));
    }

    #[test]
    fn lengths_are_judged_before_anything_is_read_for_them() {
        let framing = length("N", 0, 4, 100);
        assert_eq!(once(&framing, &96_u32.to_be_bytes()), Ok(Next::More(96)));
        assert_eq!(once(&framing, &97_u32.to_be_bytes()), Err(FramingError::TooLong { length: 101, max: 100 }));
        assert_eq!(once(&framing, &[0; 4]), Ok(Next::Message(4)));
        let signed = length("s", 0, 2, 100);
        assert!(matches!(once(&signed, &(-1_i16).to_ne_bytes()), Err(FramingError::Impossible { length: 1, .. })));
        let huge = length("Q", 0, 8, 100);
        assert!(matches!(once(&huge, &[0xff; 8]), Err(FramingError::TooLong { .. })));
    }

    #[test]
    fn a_length_that_counts_everything_counts_itself() {
        let framing = length("n", 0, 0, 100);
        assert_eq!(once(&framing, &[0, 5, b'a', b'b', b'c']), Ok(Next::Message(5)));
        assert_eq!(once(&framing, &[0, 0]), Err(FramingError::Impossible { length: 0, least: 2 }));
        assert_eq!(once(&framing, &[0, 1]), Err(FramingError::Impossible { length: 1, least: 2 }));
        assert_eq!(once(&framing, &[0, 2]), Ok(Next::Message(2)));
    }

    #[test]
    fn an_end_marker_is_found_across_cuts_and_within_the_limit() {
        let framing = Framing::new(Rule::End(b"\r\n".to_vec()), 8).unwrap();
        let mut searched = 0;
        assert_eq!(framing.next(b"ab\r", &mut searched), Ok(Next::More(1)));
        assert_eq!(framing.next(b"ab\r\nc", &mut searched), Ok(Next::Message(4)));
        assert_eq!(searched, 0);
        assert_eq!(once(&framing, b"\r\n"), Ok(Next::Message(2)));
        assert_eq!(once(&framing, b"abcdef\r\n"), Ok(Next::Message(8)));
        assert_eq!(once(&framing, b"abcdefg\r\n"), Err(FramingError::Endless { max: 8 }));
        assert_eq!(once(&framing, b"abcdefg"), Ok(Next::More(1)));
    }

    #[test]
    fn a_length_that_is_told_has_the_same_limits() {
        let framing = Framing::new(Rule::Asked, 10).unwrap();
        assert_eq!(framing.judge(0, 3), Ok(Next::More(1)));
        assert_eq!(framing.judge(0, 10), Err(FramingError::Endless { max: 10 }));
        assert_eq!(framing.judge(4, 3), Ok(Next::More(1)));
        assert_eq!(framing.judge(4, 5), Ok(Next::Message(4)));
        assert_eq!(framing.judge(11, 5), Err(FramingError::TooLong { length: 11, max: 10 }));
        assert_eq!(framing.judge(-1, 5), Err(FramingError::Impossible { length: -1, least: 1 }));
    }

    #[test]
    fn rules_that_could_never_work_are_refused() {
        let kind = LengthType::U32Be;
        assert!(Framing::new(Rule::Length { kind, offset: 0, body_offset: 4 }, 3).is_err());
        assert!(Framing::new(Rule::Length { kind, offset: MAX_OFFSET + 1, body_offset: 4 }, 1 << 20).is_err());
        assert!(Framing::new(Rule::End(Vec::new()), 10).is_err());
        assert!(Framing::new(Rule::End(vec![b'x'; MAX_END + 1]), 1000).is_err());
        assert!(Framing::new(Rule::Asked, 0).is_err());
    }

    /// What [`Next::More`] asks for never exceeds the limit, and a found message lies within the bytes.
    #[test]
    fn answers_hold_their_promises_for_arbitrary_bytes() {
        let framings =
            [length("n", 0, 2, 64), length("l", 3, 0, 64), Framing::new(Rule::End(b"\x01\x02".to_vec()), 64).unwrap()];
        let mut seed = 0x9e37_79b9_u32;
        for round in 0..20_000_usize {
            let bytes: Vec<u8> = (0..round % 70)
                .map(|_| {
                    seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    (seed >> 24) as u8 & if round % 2 == 0 { 0x03 } else { 0xff }
                })
                .collect();
            for framing in &framings {
                match once(framing, &bytes) {
                    Ok(Next::Message(n)) => assert!(n > 0 && n <= bytes.len() && n <= framing.max()),
                    Ok(Next::More(n)) => assert!(n > 0 && bytes.len().saturating_add(n) <= framing.max()),
                    Err(_) => {}
                }
            }
        }
    }
}
