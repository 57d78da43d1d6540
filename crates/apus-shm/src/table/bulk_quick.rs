//! The quick way through a row of JSON: one that has the members of the row before, in the same order, with integers of
//! at most 18 digits and texts without escapes. Nearly all rows of real sources are so. What is not so, is cut off, or
//! is wrong, is left to the full parser, which also finds the words for what is wrong.

use super::bulk::Part;
use super::schema::Cell;

/// Digits of an integer that cannot overflow.
const DIGITS: usize = 18;

/// Parses the row that `bytes` begin with: its key, and its length. `cells` gets its cells.
pub(super) fn row<'a>(
    bytes: &'a [u8],
    names: &[(String, Part)],
    cells: &mut Vec<(usize, Cell<'a>)>,
) -> Option<(Cell<'a>, usize)> {
    let mut at = 1;
    let mut key = None;
    for (number, (name, part)) in names.iter().enumerate() {
        if number > 0 {
            at = token(bytes, at, b',')?;
        }
        at = token(bytes, at, b'"')?;
        let end = at + name.len();
        if bytes.get(at..end)? != name.as_bytes() || *bytes.get(end)? != b'"' {
            return None;
        }
        at = token(bytes, end + 1, b':')?;
        while *bytes.get(at)? == b' ' {
            at += 1;
        }
        let (cell, behind) = if bytes[at] == b'"' { text(bytes, at + 1)? } else { integer(bytes, at)? };
        at = behind;
        if part.key {
            key = Some(cell);
        }
        if let Some(column) = part.column {
            cells.push((column, cell));
        }
    }
    Some((key?, token(bytes, at, b'}')?))
}

/// Passes over white space and this byte.
#[inline]
fn token(bytes: &[u8], mut at: usize, byte: u8) -> Option<usize> {
    while matches!(bytes.get(at)?, b' ' | b'\n' | b'\r' | b'\t') {
        at += 1;
    }
    (bytes[at] == byte).then_some(at + 1)
}

#[inline]
fn integer(bytes: &[u8], at: usize) -> Option<(Cell<'_>, usize)> {
    let negative = bytes[at] == b'-';
    let start = at + usize::from(negative);
    let mut end = start;
    let mut value = 0i64;
    while let Some(digit) = bytes.get(end).map(|byte| byte.wrapping_sub(b'0')).filter(|digit| *digit < 10) {
        if end - start == DIGITS {
            return None;
        }
        value = value * 10 + i64::from(digit);
        end += 1;
    }
    let ends = matches!(bytes.get(end)?, b',' | b'}' | b' ' | b'\n' | b'\r' | b'\t');
    // 01 is no number of JSON, and -0 is a float to the full parser.
    let plain = end > start && (bytes[start] != b'0' || (end == start + 1 && !negative));
    (ends && plain).then_some((Cell::Int(if negative { -value } else { value }), end))
}

#[inline]
fn text(bytes: &[u8], start: usize) -> Option<(Cell<'_>, usize)> {
    let mut ascii = true;
    for (at, byte) in bytes[start..].iter().enumerate() {
        match byte {
            b'"' => {
                let text = &bytes[start..start + at];
                let valid = ascii || std::str::from_utf8(text).is_ok();
                return valid.then_some((Cell::Text(text), start + at + 1));
            }
            b'\\' | 0..0x20 => return None,
            _ => ascii &= byte.is_ascii(),
        }
    }
    None
}
