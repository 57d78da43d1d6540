//! Range requests (RFC 9110 section 14): the Range and If-Range fields, and Content-Range.

use std::ops::Range;

use bytes::BufMut;

use crate::date;
use crate::grammar::{list_members, trim_ows};

/// What a Range field asks of a representation of known length.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ranges {
    /// Not understood, or more than is reasonable: answer 200 with everything.
    Ignore,
    /// Nothing of it exists: answer 416 with [`write_unsatisfied`].
    Unsatisfiable,
    /// Answer 206 with these, each within the length and not empty, in the order asked.
    Satisfiable(Vec<Range<u64>>),
}

/// Reads a Range field for a representation of `length` bytes. More than `max_ranges` specifiers, or ranges that
/// together exceed the whole (overlapping ones can multiply the answer, section 14.2), are ignored.
pub fn parse(field: &[u8], length: u64, max_ranges: usize) -> Ranges {
    let Some(set) = field.get(..6).filter(|unit| unit.eq_ignore_ascii_case(b"bytes=")).map(|_| &field[6..]) else {
        return Ranges::Ignore;
    };
    let mut ranges = Vec::new();
    let mut total = 0u64;
    let mut count = 0;
    for member in list_members(set) {
        count += 1;
        let Some(range) = specifier(member, length) else { return Ranges::Ignore };
        if count > max_ranges {
            return Ranges::Ignore;
        }
        if !range.is_empty() {
            total = total.saturating_add(range.end - range.start);
            ranges.push(range);
        }
    }
    match (count, ranges.len()) {
        (0, _) => Ranges::Ignore,
        (_, 0) => Ranges::Unsatisfiable,
        _ if total > length => Ranges::Ignore,
        _ => Ranges::Satisfiable(ranges),
    }
}

/// `first-last`, `first-` or `-suffix`; empty when it lies outside, `None` when malformed.
fn specifier(member: &[u8], length: u64) -> Option<Range<u64>> {
    let dash = memchr::memchr(b'-', member)?;
    let (first, last) = (&member[..dash], &member[dash + 1..]);
    if first.is_empty() {
        let suffix = position(last)?;
        return Some(length.saturating_sub(suffix)..length);
    }
    let first = position(first)?;
    let end = if last.is_empty() {
        length
    } else {
        let last = position(last)?;
        if last < first {
            return None;
        }
        last.saturating_add(1).min(length)
    };
    Some(first.min(end)..end)
}

/// Digits; a number too large for a u64 stands for "beyond any end".
fn position(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    Some(
        digits
            .iter()
            .try_fold(0u64, |sum, digit| sum.checked_mul(10)?.checked_add(u64::from(digit - b'0')))
            .unwrap_or(u64::MAX),
    )
}

/// Whether Range applies in spite of If-Range (section 13.1.5): the validator matches strongly. `etag` is the current
/// entity tag with its quotes, `modified` the modification time in seconds since 1970.
pub fn if_range_matches(field: &[u8], etag: Option<&[u8]>, modified: Option<u64>, now: u64) -> bool {
    let field = trim_ows(field);
    match field {
        [b'"', ..] => etag == Some(field),
        // A weak tag never matches strongly.
        [b'W', b'/', ..] => false,
        // Exact equality, and a date young enough to change again within its second is weak (section 8.8.2.2).
        _ => date::parse_http_date(field, now).is_some_and(|at| Some(at) == modified && at + 60 <= now),
    }
}

/// Writes the value of a 206's Content-Range: `bytes first-last/length`. `range` MUST NOT be empty.
pub fn write_content_range(out: &mut impl BufMut, range: &Range<u64>, length: u64) {
    let mut number = itoa::Buffer::new();
    out.put_slice(b"bytes ");
    out.put_slice(number.format(range.start).as_bytes());
    out.put_u8(b'-');
    out.put_slice(number.format(range.end.saturating_sub(1)).as_bytes());
    out.put_u8(b'/');
    out.put_slice(number.format(length).as_bytes());
}

/// Writes the value of a 416's Content-Range: `bytes */length`.
pub fn write_unsatisfied(out: &mut impl BufMut, length: u64) {
    out.put_slice(b"bytes */");
    out.put_slice(itoa::Buffer::new().format(length).as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(field: &str, expected: Range<u64>) {
        assert_eq!(parse(field.as_bytes(), 1000, 8), Ranges::Satisfiable(vec![expected]), "{field}");
    }

    #[test]
    fn single() {
        one("bytes=0-0", 0..1);
        one("bytes=0-499", 0..500);
        one("bytes=500-", 500..1000);
        one("bytes=-1", 999..1000);
        one("bytes=-5000", 0..1000);
        one("bytes=999-99999999999999999999999999", 999..1000);
        one("BYTES= 1-2 ", 1..3);
        one("bytes=5000-, 1-2", 1..3);
    }

    #[test]
    fn several() {
        assert_eq!(parse(b"bytes=0-1,,5-6, -2", 1000, 8), Ranges::Satisfiable(vec![0..2, 5..7, 998..1000]));
        assert_eq!(parse(b"bytes=0-0,1-1,2-2", 1000, 2), Ranges::Ignore);
        assert_eq!(parse(b"bytes=0-,0-,0-", 1000, 8), Ranges::Ignore, "overlapping ranges multiply the answer");
    }

    #[test]
    fn unsatisfiable() {
        for field in ["bytes=1000-", "bytes=1000-2000", "bytes=-0", "bytes=18446744073709551615-18446744073709551615"] {
            assert_eq!(parse(field.as_bytes(), 1000, 8), Ranges::Unsatisfiable, "{field}");
        }
        assert_eq!(parse(b"bytes=0-", 0, 8), Ranges::Unsatisfiable);
        assert_eq!(parse(b"bytes=-5", 0, 8), Ranges::Unsatisfiable);
    }

    #[test]
    fn malformed_is_ignored() {
        for field in [
            "",
            "bytes",
            "bytes=",
            "bytes=,",
            "bytes=-",
            "bytes=a-b",
            "bytes=2-1",
            "bytes=1",
            "items=0-1",
            "bytes=1-2-3",
            "bytes=+1-2",
            "bytes =0-1",
            "bytes=0x1-2",
        ] {
            assert_eq!(parse(field.as_bytes(), 1000, 8), Ranges::Ignore, "{field}");
        }
    }

    #[test]
    fn if_range() {
        let now = 1_000_000_000;
        assert!(if_range_matches(b"\"x\"", Some(b"\"x\""), None, now));
        assert!(!if_range_matches(b"\"y\"", Some(b"\"x\""), None, now));
        assert!(!if_range_matches(b"W/\"x\"", Some(b"W/\"x\""), None, now));
        let date = date::imf_fixdate(now - 100);
        assert!(if_range_matches(&date, None, Some(now - 100), now));
        assert!(!if_range_matches(&date, None, Some(now - 99), now));
        assert!(!if_range_matches(&date::imf_fixdate(now - 1), None, Some(now - 1), now));
        assert!(!if_range_matches(b"nonsense", Some(b"\"x\""), Some(now), now));
    }

    #[test]
    fn content_range() {
        let mut out = Vec::new();
        write_content_range(&mut out, &(0..500), 1234);
        out.push(b' ');
        write_unsatisfied(&mut out, 7);
        assert_eq!(out, b"bytes 0-499/1234 bytes */7");
    }
}
