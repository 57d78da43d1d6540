//! Conditional requests and requests for ranges (RFC 9110 sections 13 and 14), without a file: validators in, a verdict
//! out.

use crate::date::parse_http_date;
use crate::grammar::trim_ows;

/// Ranges of one request that are looked at; one that asks for more gets the whole.
pub const MAX_RANGES: usize = 32;

/// What tells one state of a representation from another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Validators<'a> {
    /// The entity tag with its quotes; a weak one begins with `W/`. Empty for none.
    pub etag: &'a [u8],
    /// Seconds since 1970 of the last change; 0 for unknown.
    pub modified: u64,
}

/// The fields of a request that make it conditional, or ask for ranges.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Conditions<'a> {
    if_match: Vec<&'a [u8]>,
    if_none_match: Vec<&'a [u8]>,
    if_modified_since: Option<&'a [u8]>,
    if_unmodified_since: Option<&'a [u8]>,
    if_range: Option<&'a [u8]>,
    range: Option<&'a [u8]>,
    lenient: bool,
}

/// Some bytes of a representation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// Offset of the first byte.
    pub first: u64,
    /// How many bytes, at least one.
    pub len: u64,
}

/// How a request is to be answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// With all of it: 200.
    Whole,
    /// 304.
    NotModified,
    /// 412.
    Failed,
    /// With these bytes, in the order asked for: 206. Never empty.
    Parts(Vec<Part>),
    /// 416.
    Unsatisfiable,
}

impl<'a> Conditions<'a> {
    /// Takes the fields that matter out of a request's.
    pub fn read(fields: impl Iterator<Item = (&'a [u8], &'a [u8])>) -> Self {
        let mut conditions = Self::default();
        for (name, value) in fields {
            conditions.note(name, value);
        }
        conditions
    }

    /// Whether it is answered as code written for Swoole knows it: HEAD has ranges, too; an If-Range that is neither a
    /// tag nor a date says nothing; and of what is no range there is nothing.
    #[must_use]
    pub fn lenient(mut self, lenient: bool) -> Self {
        self.lenient = lenient;
        self
    }

    /// The same, to whoever answers.
    pub fn is_lenient(&self) -> bool {
        self.lenient
    }

    fn note(&mut self, name: &[u8], value: &'a [u8]) {
        let slot = match name.len() {
            5 if name.eq_ignore_ascii_case(b"range") => &mut self.range,
            8 if name.eq_ignore_ascii_case(b"if-match") => return self.if_match.push(value),
            8 if name.eq_ignore_ascii_case(b"if-range") => &mut self.if_range,
            13 if name.eq_ignore_ascii_case(b"if-none-match") => return self.if_none_match.push(value),
            17 if name.eq_ignore_ascii_case(b"if-modified-since") => &mut self.if_modified_since,
            19 if name.eq_ignore_ascii_case(b"if-unmodified-since") => &mut self.if_unmodified_since,
            _ => return,
        };
        // These fields are no lists: one that came twice says nothing that could be relied on.
        *slot = if slot.is_some() { Some(b"") } else { Some(value) };
    }

    /// How a GET (`reads`, and `ranges`), HEAD (`reads`) or other request for a representation of `len` bytes is to be
    /// answered, at `now` (seconds since 1970).
    pub fn verdict(&self, reads: bool, ranges: bool, current: &Validators<'_>, len: u64, now: u64) -> Verdict {
        let date = |value: Option<&[u8]>| value.and_then(|text| parse_http_date(text, now));
        // RFC 9110 section 13.2.2, in its order.
        if !self.if_match.is_empty() {
            if !any_matches(&self.if_match, current.etag, Comparison::Strong) {
                return Verdict::Failed;
            }
        } else if let Some(date) = date(self.if_unmodified_since)
            && current.modified > date
        {
            return Verdict::Failed;
        }
        if !self.if_none_match.is_empty() {
            if any_matches(&self.if_none_match, current.etag, Comparison::Weak) {
                return if reads { Verdict::NotModified } else { Verdict::Failed };
            }
        } else if reads
            && let Some(date) = date(self.if_modified_since)
            && current.modified != 0
            && current.modified <= date
        {
            return Verdict::NotModified;
        }
        match self.range {
            Some(range) if (ranges || reads && self.lenient) && self.range_holds(current, now) => {
                parts(range, len, self.lenient)
            }
            _ => Verdict::Whole,
        }
    }

    /// Section 13.1.5: the range counts only for the representation that the client has a part of.
    fn range_holds(&self, current: &Validators<'_>, now: u64) -> bool {
        let Some(value) = self.if_range else { return true };
        if value.starts_with(b"\"") || value.starts_with(b"W/") {
            return same_tag(value, current.etag, Comparison::Strong);
        }
        if self.lenient {
            return parse_http_date(value, now).is_none_or(|date| date == current.modified);
        }
        // A date is a strong validator only where the representation cannot have changed twice in that second.
        parse_http_date(value, now).is_some_and(|date| date == current.modified && current.modified < now)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Comparison {
    Strong,
    Weak,
}

/// Section 8.8.3.2.
fn same_tag(a: &[u8], b: &[u8], comparison: Comparison) -> bool {
    match (opaque(a, comparison), opaque(b, comparison)) {
        (Some(a), Some(b)) => a == b && !a.is_empty(),
        _ => false,
    }
}

/// What is compared of a tag; `None` for one that equals none.
fn opaque(tag: &[u8], comparison: Comparison) -> Option<&[u8]> {
    match tag.strip_prefix(b"W/") {
        Some(rest) => (comparison == Comparison::Weak).then_some(rest),
        None => Some(tag),
    }
}

/// Whether a list of entity tags, or `*`, has the current one. What cannot be read ends the list.
fn any_matches(lines: &[&[u8]], current: &[u8], comparison: Comparison) -> bool {
    lines.iter().any(|line| {
        let mut rest = trim_ows(line);
        // There is a representation, or nobody would ask.
        if rest == b"*" {
            return true;
        }
        while let Some((tag, after)) = next_tag(rest) {
            if same_tag(tag, current, comparison) {
                return true;
            }
            rest = after;
        }
        false
    })
}

/// The first entity tag of a list, and what follows it. A tag may have commas inside its quotes.
fn next_tag(list: &[u8]) -> Option<(&[u8], &[u8])> {
    let start = list.iter().position(|byte| !matches!(byte, b' ' | b'\t' | b','))?;
    let tag = &list[start..];
    let quote = if tag.starts_with(b"W/") { 2 } else { 0 };
    if tag.get(quote) != Some(&b'"') {
        return None;
    }
    let end = quote + 1 + tag[quote + 1..].iter().position(|byte| *byte == b'"')? + 1;
    Some(tag.split_at(end))
}

/// Reads a Range field for a representation of `len` bytes (section 14.2). What is no valid list of byte ranges is
/// ignored, as is one that asks for more than there is.
fn parts(range: &[u8], len: u64, lenient: bool) -> Verdict {
    let says = |list: &&[u8]| lenient || list.iter().any(u8::is_ascii_digit);
    let Some(list) = byte_ranges(range).filter(says) else { return Verdict::Whole };
    let malformed = if lenient { Verdict::Unsatisfiable } else { Verdict::Whole };
    let mut parts = Vec::new();
    for (at, spec) in list.split(|byte| *byte == b',').map(trim_ows).filter(|spec| !spec.is_empty()).enumerate() {
        if at == MAX_RANGES {
            return Verdict::Whole;
        }
        match part(spec, len) {
            Ok(part) => parts.extend(part),
            Err(Malformed) => return malformed,
        }
    }
    if parts.is_empty() {
        // An empty representation has no bytes that a Content-Range could name.
        return if len == 0 { Verdict::Whole } else { Verdict::Unsatisfiable };
    }
    let asked = parts.iter().fold(0u64, |sum, part| sum.saturating_add(part.len));
    if asked > len { Verdict::Whole } else { Verdict::Parts(parts) }
}

fn byte_ranges(range: &[u8]) -> Option<&[u8]> {
    let (unit, list) = range.split_at_checked(6)?;
    unit.eq_ignore_ascii_case(b"bytes=").then_some(list)
}

/// What is no range.
struct Malformed;

/// One range; `None` when it names no byte that is there.
fn part(spec: &[u8], len: u64) -> Result<Option<Part>, Malformed> {
    let dash = spec.iter().position(|byte| *byte == b'-').ok_or(Malformed)?;
    let (first, last) = (&spec[..dash], &spec[dash + 1..]);
    if first.is_empty() {
        let take = number(last).ok_or(Malformed)?.min(len);
        return Ok((take > 0).then_some(Part { first: len - take, len: take }));
    }
    let first = number(first).ok_or(Malformed)?;
    let last = if last.is_empty() { u64::MAX } else { number(last).ok_or(Malformed)? };
    if last < first {
        return Err(Malformed);
    }
    Ok((first < len).then(|| Part { first, len: last.min(len - 1) - first + 1 }))
}

/// Digits; what is too large counts as the largest number there is.
fn number(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    Some(digits.iter().fold(0u64, |sum, digit| sum.saturating_mul(10).saturating_add(u64::from(digit - b'0'))))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1994-11-06 08:49:37.
    const MODIFIED: u64 = 784_111_777;
    const DATE: &str = "Sun, 06 Nov 1994 08:49:37 GMT";
    const BEFORE: &str = "Sun, 06 Nov 1994 08:49:36 GMT";
    const NOW: u64 = 1_700_000_000;

    fn verdict_at(fields: &[(&str, &str)], method: &str, len: u64, now: u64) -> Verdict {
        let fields = fields.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes()));
        let current = Validators { etag: b"\"abc\"", modified: MODIFIED };
        let (reads, ranges) = (matches!(method, "GET" | "HEAD"), method == "GET");
        Conditions::read(fields).verdict(reads, ranges, &current, len, now)
    }

    fn get(fields: &[(&str, &str)]) -> Verdict {
        verdict_at(fields, "GET", 100, NOW)
    }

    fn ranges(range: &str) -> Verdict {
        get(&[("range", range)])
    }

    fn parts_of(list: &[(u64, u64)]) -> Verdict {
        Verdict::Parts(list.iter().map(|&(first, len)| Part { first, len }).collect())
    }

    #[test]
    fn tags_decide_before_dates() {
        for (fields, expected) in [
            (&[("if-none-match", "\"abc\"")][..], Verdict::NotModified),
            (&[("If-None-Match", "W/\"abc\"")], Verdict::NotModified),
            (&[("if-none-match", "\"x,y\", \"abc\"")], Verdict::NotModified),
            (&[("if-none-match", "\"x\""), ("if-none-match", "\"abc\"")], Verdict::NotModified),
            (&[("if-none-match", "*")], Verdict::NotModified),
            (&[("if-none-match", "\"x\""), ("if-modified-since", DATE)], Verdict::Whole),
            (&[("if-none-match", "abc")], Verdict::Whole),
            (&[("if-none-match", "")], Verdict::Whole),
            (&[("if-none-match", "\"abc")], Verdict::Whole),
            (&[("if-match", "\"abc\"")], Verdict::Whole),
            (&[("if-match", "W/\"abc\"")], Verdict::Failed),
            (&[("if-match", "\"x\"")], Verdict::Failed),
            (&[("if-match", "\"abc\""), ("if-unmodified-since", BEFORE)], Verdict::Whole),
            (&[("if-match", "\"abc\""), ("if-none-match", "\"abc\"")], Verdict::NotModified),
        ] {
            assert_eq!(get(fields), expected, "{fields:?}");
        }
        assert_eq!(verdict_at(&[("if-none-match", "*")], "DELETE", 100, NOW), Verdict::Failed);
    }

    #[test]
    fn dates_count_where_there_are_no_tags() {
        for (fields, expected) in [
            (&[("if-modified-since", DATE)][..], Verdict::NotModified),
            (&[("if-modified-since", BEFORE)], Verdict::Whole),
            (&[("if-modified-since", "yesterday")], Verdict::Whole),
            (&[("if-modified-since", DATE), ("if-modified-since", DATE)], Verdict::Whole),
            (&[("if-unmodified-since", DATE)], Verdict::Whole),
            (&[("if-unmodified-since", BEFORE)], Verdict::Failed),
        ] {
            assert_eq!(get(fields), expected, "{fields:?}");
        }
        assert_eq!(verdict_at(&[("if-modified-since", DATE)], "POST", 100, NOW), Verdict::Whole);
    }

    #[test]
    fn ranges_are_cut_to_what_is_there() {
        assert_eq!(ranges("bytes=0-0"), parts_of(&[(0, 1)]));
        assert_eq!(ranges("BYTES=10-"), parts_of(&[(10, 90)]));
        assert_eq!(ranges("bytes=-10"), parts_of(&[(90, 10)]));
        assert_eq!(ranges("bytes=-1000"), parts_of(&[(0, 100)]));
        assert_eq!(ranges("bytes=90-99999999999999999999999"), parts_of(&[(90, 10)]));
        assert_eq!(ranges("bytes=50-60, 0-9 ,-5"), parts_of(&[(50, 11), (0, 10), (95, 5)]));
        assert_eq!(ranges("bytes=200-300,5-5"), parts_of(&[(5, 1)]));
        assert_eq!(ranges("bytes=100-"), Verdict::Unsatisfiable);
        assert_eq!(ranges("bytes=-0"), Verdict::Unsatisfiable);
        for ignored in ["bytes=5-4", "bytes=", "bytes=a-b", "bytes=1", "items=0-1", "bytes 0-1", "bytes=0-0;1-1", "-1"]
        {
            assert_eq!(ranges(ignored), Verdict::Whole, "{ignored}");
        }
    }

    #[test]
    fn what_asks_for_more_than_there_is_gets_the_whole() {
        assert_eq!(ranges("bytes=0-,0-,0-"), Verdict::Whole);
        let many = format!("bytes={}", vec!["0-0"; MAX_RANGES + 1].join(","));
        assert_eq!(ranges(&many), Verdict::Whole);
        assert_eq!(verdict_at(&[("range", "bytes=-5")], "GET", 0, NOW), Verdict::Whole);
        assert_eq!(verdict_at(&[("range", "bytes=0-1")], "HEAD", 100, NOW), Verdict::Whole);
    }

    #[test]
    fn a_range_holds_for_the_same_representation_only() {
        let with = |if_range| get(&[("range", "bytes=0-0"), ("if-range", if_range)]);
        assert_eq!(with("\"abc\""), parts_of(&[(0, 1)]));
        assert_eq!(with(DATE), parts_of(&[(0, 1)]));
        for other in ["\"x\"", "W/\"abc\"", BEFORE, "abc", ""] {
            assert_eq!(with(other), Verdict::Whole, "{other}");
        }
        // Changed in this very second: it may change again.
        let fields = [("range", "bytes=0-0"), ("if-range", DATE)];
        assert_eq!(verdict_at(&fields, "GET", 100, MODIFIED), Verdict::Whole);
    }
}
