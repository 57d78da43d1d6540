//! Integers and strings (RFC 7541 section 5).

use super::{HpackError, huffman};

/// No length, index or size that makes sense is larger.
const MOST: usize = 1 << 28;

/// What is left of a field block.
pub(super) struct Reader<'b> {
    pub(super) rest: &'b [u8],
}

/// A string as it stands in a block.
#[derive(Clone, Copy)]
pub(super) enum Text<'b> {
    Plain(&'b [u8]),
    Coded(&'b [u8]),
}

impl<'b> Reader<'b> {
    #[inline]
    fn byte(&mut self) -> Result<u8, HpackError> {
        let (&byte, rest) = self.rest.split_first().ok_or(HpackError::Truncated)?;
        self.rest = rest;
        Ok(byte)
    }

    /// An integer in the lowest `prefix` bits of the next byte, and in those after it where it does not fit.
    #[inline]
    pub(super) fn integer(&mut self, prefix: u32) -> Result<usize, HpackError> {
        let most = (1usize << prefix) - 1;
        let value = usize::from(self.byte()?) & most;
        if value < most { Ok(value) } else { self.long_integer(most) }
    }

    fn long_integer(&mut self, mut value: usize) -> Result<usize, HpackError> {
        for shift in (0..=28).step_by(7) {
            let byte = self.byte()?;
            value += usize::from(byte & 0x7f) << shift;
            if value > MOST {
                return Err(HpackError::Integer);
            }
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(HpackError::Integer)
    }

    #[inline]
    pub(super) fn text(&mut self) -> Result<Text<'b>, HpackError> {
        let coded = *self.rest.first().ok_or(HpackError::Truncated)? & 0x80 != 0;
        let len = self.integer(7)?;
        let (text, rest) = self.rest.split_at_checked(len).ok_or(HpackError::Truncated)?;
        self.rest = rest;
        Ok(if coded { Text::Coded(text) } else { Text::Plain(text) })
    }
}

/// Appends an integer whose first byte has `pattern` above the `prefix` lowest bits.
#[inline]
pub(super) fn write_integer(mut value: usize, prefix: u32, pattern: u8, out: &mut Vec<u8>) {
    let most = (1usize << prefix) - 1;
    if value < most {
        out.push(pattern | value as u8);
        return;
    }
    out.push(pattern | most as u8);
    value -= most;
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Appends a string, coded where that is shorter.
pub(super) fn write_text(text: &[u8], out: &mut Vec<u8>) {
    let coded = huffman::coded_len(text);
    if coded < text.len() {
        write_integer(coded, 7, 0x80, out);
        huffman::encode(text, out);
    } else {
        write_integer(text.len(), 7, 0, out);
        out.extend_from_slice(text);
    }
}
