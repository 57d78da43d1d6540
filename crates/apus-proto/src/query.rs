//! `application/x-www-form-urlencoded`: query strings and simple forms, as flat pairs.
//!
//! The rules are PHP's: empty pieces are skipped, a piece without `=` has the empty value, a broken `%` escape stays as
//! it is. Names are given decoded but otherwise as sent; turning `a[b]` into arrays, dots into underscores and cutting
//! a name at a NUL is the caller's.

use std::borrow::Cow;

/// A name and its value, decoded.
pub type Pair<'a> = (Cow<'a, [u8]>, Cow<'a, [u8]>);

/// Iterates over the pairs of a query string or a form body; see [`pairs`].
#[derive(Debug, Clone)]
pub struct Pairs<'a> {
    rest: &'a [u8],
    left: usize,
    truncated: bool,
}

/// The pairs of `input`, at most `max_vars` of them (PHP's `max_input_vars`).
pub fn pairs(input: &[u8], max_vars: usize) -> Pairs<'_> {
    Pairs { rest: input, left: max_vars, truncated: false }
}

impl Pairs<'_> {
    /// Whether pairs beyond the limit were left out; known once the iterator has ended.
    pub fn truncated(&self) -> bool {
        self.truncated
    }
}

impl<'a> Iterator for Pairs<'a> {
    type Item = Pair<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.rest.is_empty() {
            let end = memchr::memchr(b'&', self.rest).unwrap_or(self.rest.len());
            let piece = &self.rest[..end];
            let (name, value) = match memchr::memchr(b'=', piece) {
                Some(at) => (&piece[..at], &piece[at + 1..]),
                None => (piece, &[][..]),
            };
            if name.is_empty() {
                self.rest = self.rest.get(end + 1..).unwrap_or_default();
                continue;
            }
            if self.left == 0 {
                self.truncated = true;
                self.rest = &[];
                return None;
            }
            self.left -= 1;
            self.rest = self.rest.get(end + 1..).unwrap_or_default();
            return Some((form_decode(name), form_decode(value)));
        }
        None
    }
}

/// Decodes `%XX` and `+`; borrows when there is nothing to decode.
pub fn form_decode(input: &[u8]) -> Cow<'_, [u8]> {
    match memchr::memchr2(b'%', b'+', input) {
        Some(first) => Cow::Owned(decode_from(input, first, true)),
        None => Cow::Borrowed(input),
    }
}

/// Decodes `%XX` only (RFC 3986 section 2.1); borrows when there is nothing to decode.
pub fn percent_decode(input: &[u8]) -> Cow<'_, [u8]> {
    match memchr::memchr(b'%', input) {
        Some(first) => Cow::Owned(decode_from(input, first, false)),
        None => Cow::Borrowed(input),
    }
}

fn decode_from(input: &[u8], first: usize, plus: bool) -> Vec<u8> {
    let mut out = Vec::with_capacity(input.len());
    out.extend_from_slice(&input[..first]);
    let mut rest = &input[first..];
    while let [byte, tail @ ..] = rest {
        rest = tail;
        match (byte, tail) {
            (b'+', _) if plus => out.push(b' '),
            (b'%', [high, low, after @ ..]) => match (hex(*high), hex(*low)) {
                (Some(high), Some(low)) => {
                    out.push(high << 4 | low);
                    rest = after;
                }
                _ => out.push(b'%'),
            },
            _ => out.push(*byte),
        }
    }
    out
}

fn hex(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        b'A'..=b'F' => Some(digit - b'A' + 10),
        _ => None,
    }
}

/// Appends `input` with everything but the unreserved characters of RFC 3986 section 2.3 percent-encoded.
pub fn percent_encode(out: &mut Vec<u8>, input: &[u8]) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    for &byte in input {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~') {
            out.push(byte);
        } else {
            out.extend_from_slice(&[b'%', DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(input: &str) -> Vec<(String, String)> {
        pairs(input.as_bytes(), 1000)
            .map(|(n, v)| (String::from_utf8(n.into_owned()).unwrap(), String::from_utf8(v.into_owned()).unwrap()))
            .collect()
    }

    fn expect(input: &str, pairs: &[(&str, &str)]) {
        let pairs: Vec<_> = pairs.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
        assert_eq!(all(input), pairs, "{input}");
    }

    #[test]
    fn pieces() {
        expect("", &[]);
        expect("a=1&b=2", &[("a", "1"), ("b", "2")]);
        expect("a", &[("a", "")]);
        expect("a=", &[("a", "")]);
        expect("=1&a=2", &[("a", "2")]);
        expect("&&a=1&&b=2&", &[("a", "1"), ("b", "2")]);
        expect("a=b=c", &[("a", "b=c")]);
        expect("a=1;b=2", &[("a", "1;b=2")]);
        expect("a[]=1&a[x]=2", &[("a[]", "1"), ("a[x]", "2")]);
        expect("a=1&a=2", &[("a", "1"), ("a", "2")]);
    }

    #[test]
    fn escapes() {
        expect("a+b=c+d", &[("a b", "c d")]);
        expect("a%20b=%41%6a%6A", &[("a b", "Ajj")]);
        expect("a=%", &[("a", "%")]);
        expect("a=%4", &[("a", "%4")]);
        expect("a=%zz%41", &[("a", "%zzA")]);
        expect("a=%%41", &[("a", "%A")]);
        expect("a=%2541", &[("a", "%41")]);
        expect("a%3Db=c%26d", &[("a=b", "c&d")]);
        expect("x=%00%C3%A9", &[("x", "\0é")]);
    }

    #[test]
    fn borrows_what_needs_no_decoding() {
        let (name, value) = pairs(b"plain=text", 1).next().unwrap();
        assert!(matches!(name, Cow::Borrowed(_)) && matches!(value, Cow::Borrowed(_)));
    }

    #[test]
    fn limit() {
        let mut limited = pairs(b"a=1&&b=2&c=3", 2);
        assert_eq!(limited.by_ref().count(), 2);
        assert!(limited.truncated());
        let mut exact = pairs(b"a=1&b=2&&", 2);
        assert_eq!(exact.by_ref().count(), 2);
        assert!(!exact.truncated());
    }

    #[test]
    fn plus_is_literal_outside_forms() {
        assert_eq!(&*percent_decode(b"a+b%20c"), b"a+b c");
    }

    #[test]
    fn encoding_round_trips() {
        let every: Vec<u8> = (0..=255).collect();
        let mut encoded = Vec::new();
        percent_encode(&mut encoded, &every);
        assert!(encoded.iter().all(u8::is_ascii_graphic));
        assert_eq!(&*percent_decode(&encoded), &every[..]);
        assert_eq!(&*form_decode(&encoded), &every[..]);
    }
}
