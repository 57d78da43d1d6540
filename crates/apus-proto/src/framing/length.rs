//! The length fields that `pack()` writes.

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
    pub(super) fn read(self, bytes: &[u8]) -> Option<i64> {
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
