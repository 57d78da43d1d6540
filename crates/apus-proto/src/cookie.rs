//! Cookies (RFC 6265): the Cookie field as PHP reads it, and the Set-Cookie field.

use std::borrow::Cow;
use std::fmt;

use crate::date;
use crate::query::{percent_decode, percent_encode};

/// Iterates over the pairs of a Cookie field; see [`pairs`].
#[derive(Debug, Clone)]
pub struct Cookies<'a> {
    rest: &'a [u8],
    left: usize,
    truncated: bool,
}

/// The cookies of one Cookie field, at most `max_vars` of them.
///
/// As PHP does: white space before a name is skipped, names are not decoded (a decoded name could fake a `__Host-`
/// prefix), values are percent-decoded with `+` kept. The same name may come twice: the more specific path stands
/// first, so of a plain name the caller keeps the first.
pub fn pairs(field: &[u8], max_vars: usize) -> Cookies<'_> {
    Cookies { rest: field, left: max_vars, truncated: false }
}

impl Cookies<'_> {
    /// Whether cookies beyond the limit were left out; known once the iterator has ended.
    pub fn truncated(&self) -> bool {
        self.truncated
    }
}

impl<'a> Iterator for Cookies<'a> {
    type Item = (&'a [u8], Cow<'a, [u8]>);

    fn next(&mut self) -> Option<Self::Item> {
        while !self.rest.is_empty() {
            let end = memchr::memchr(b';', self.rest).unwrap_or(self.rest.len());
            let piece = self.rest[..end].trim_ascii_start();
            let (name, value) = match memchr::memchr(b'=', piece) {
                Some(at) => (&piece[..at], &piece[at + 1..]),
                None => (piece, &[][..]),
            };
            if !name.is_empty() && self.left == 0 {
                self.truncated = true;
                self.rest = &[];
                return None;
            }
            self.rest = self.rest.get(end + 1..).unwrap_or_default();
            if !name.is_empty() {
                self.left -= 1;
                return Some((name, percent_decode(value)));
            }
        }
        None
    }
}

/// A cookie to set. Empty `path`, `domain`, `same_site` and `priority` are left out.
#[derive(Debug, Clone, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is an attribute of the cookie, on or off")]
pub struct SetCookie<'a> {
    /// The name: no control, no white space, none of `=,;`.
    pub name: &'a [u8],
    /// The value. Empty: the cookie is deleted.
    pub value: &'a [u8],
    /// Send `value` as it is, not percent-encoded; then it must hold no control, no white space, none of `,;`.
    pub raw: bool,
    /// When it expires, in seconds since 1970; 0: with the browser's session.
    pub expires: u64,
    /// The Path attribute.
    pub path: &'a [u8],
    /// The Domain attribute.
    pub domain: &'a [u8],
    /// The Secure attribute.
    pub secure: bool,
    /// The `HttpOnly` attribute.
    pub http_only: bool,
    /// The `SameSite` attribute: `Lax`, `Strict` or `None`, in any case.
    pub same_site: &'a [u8],
    /// The Priority attribute: `Low`, `Medium` or `High`, in any case.
    pub priority: &'a [u8],
    /// The Partitioned attribute; needs `secure`.
    pub partitioned: bool,
    /// As Swoole writes it: spaces become `+` and `~` is encoded, as in forms; dashes stand in the date; Partitioned is
    /// let pass without Secure.
    pub as_form: bool,
}

/// Why a cookie cannot be set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CookieError {
    /// The name is empty.
    EmptyName,
    /// The name holds a character it must not.
    Name,
    /// The raw value holds a character it must not.
    Value,
    /// The path holds a character it must not.
    Path,
    /// The domain holds a character it must not.
    Domain,
    /// `SameSite` is none of the three.
    SameSite,
    /// Priority is none of the three.
    Priority,
    /// `expires` lies beyond the year 9999.
    Expires,
    /// Partitioned without Secure.
    Partitioned,
}

impl fmt::Display for CookieError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::EmptyName => "the cookie name must not be empty",
            Self::Name => "the cookie name must not contain control characters, white space, '=', ',' or ';'",
            Self::Value => "the raw cookie value must not contain control characters, white space, ',' or ';'",
            Self::Path => "the cookie path must not contain control characters, white space, ',' or ';'",
            Self::Domain => "the cookie domain must not contain control characters, white space, ',' or ';'",
            Self::SameSite => "the cookie's SameSite must be Lax, Strict or None",
            Self::Priority => "the cookie's Priority must be Low, Medium or High",
            Self::Expires => "the cookie must not expire after the year 9999",
            Self::Partitioned => "a partitioned cookie must be secure, too",
        })
    }
}

impl std::error::Error for CookieError {}

impl SetCookie<'_> {
    /// Appends the value of the Set-Cookie field; nothing when it is refused. `now` is in seconds since 1970.
    pub fn write(&self, out: &mut Vec<u8>, now: u64) -> Result<(), CookieError> {
        let (same_site, priority) = self.check()?;
        out.extend_from_slice(self.name);
        out.push(b'=');
        if self.value.is_empty() {
            // A second after the epoch: a zero confuses some agents.
            out.extend_from_slice(b"deleted");
            self.write_expiry(out, 1, now);
        } else {
            if self.raw {
                out.extend_from_slice(self.value);
            } else {
                self.encode(out);
            }
            if self.expires > 0 {
                self.write_expiry(out, self.expires, now);
            }
        }
        let mut attribute = |name: &[u8], value: &[u8]| {
            if !value.is_empty() {
                out.extend_from_slice(name);
                out.extend_from_slice(value);
            }
        };
        attribute(b"; path=", self.path);
        attribute(b"; domain=", self.domain);
        attribute(b"; ", if self.secure { b"secure" } else { b"" });
        attribute(b"; ", if self.http_only { b"HttpOnly" } else { b"" });
        attribute(b"; SameSite=", same_site);
        attribute(b"; Priority=", priority);
        attribute(b"; ", if self.partitioned { b"Partitioned" } else { b"" });
        Ok(())
    }

    fn write_expiry(&self, out: &mut Vec<u8>, expires: u64, now: u64) {
        let mut date = date::imf_fixdate(expires);
        if self.as_form {
            // As in the first cookies: "Thu, 01-Jan-1970".
            (date[7], date[11]) = (b'-', b'-');
        }
        out.extend_from_slice(b"; expires=");
        out.extend_from_slice(&date);
        out.extend_from_slice(b"; Max-Age=");
        out.extend_from_slice(itoa::Buffer::new().format(expires.saturating_sub(now)).as_bytes());
    }

    fn encode(&self, out: &mut Vec<u8>) {
        if !self.as_form {
            return percent_encode(out, self.value);
        }
        for piece in self.value.split_inclusive(|byte| matches!(byte, b' ' | b'~')) {
            let (last, before) = match piece {
                [before @ .., b' '] => (&b"+"[..], before),
                [before @ .., b'~'] => (&b"%7E"[..], before),
                piece => (&b""[..], piece),
            };
            percent_encode(out, before);
            out.extend_from_slice(last);
        }
    }

    /// The checks; returns `SameSite` and Priority in their proper case.
    fn check(&self) -> Result<(&'static [u8], &'static [u8]), CookieError> {
        if self.name.is_empty() {
            return Err(CookieError::EmptyName);
        }
        if self.name.contains(&b'=') || !is_clean(self.name) {
            return Err(CookieError::Name);
        }
        if self.raw && !is_clean(self.value) {
            return Err(CookieError::Value);
        }
        if !is_clean(self.path) {
            return Err(CookieError::Path);
        }
        if !is_clean(self.domain) {
            return Err(CookieError::Domain);
        }
        if self.expires > date::MAX_SECONDS {
            return Err(CookieError::Expires);
        }
        if self.partitioned && !self.secure && !self.as_form {
            return Err(CookieError::Partitioned);
        }
        let same_site = one_of(self.same_site, [b"Lax", b"Strict", b"None"]).ok_or(CookieError::SameSite)?;
        let priority = one_of(self.priority, [b"Low", b"Medium", b"High"]).ok_or(CookieError::Priority)?;
        Ok((same_site, priority))
    }
}

/// No control, no white space, no separator: nothing that could end the attribute or the field.
fn is_clean(bytes: &[u8]) -> bool {
    bytes.iter().all(|&b| b > 0x20 && b != 0x7f && b != b',' && b != b';')
}

/// The choice that `value` names without regard to case; the empty one for the empty value.
fn one_of(value: &[u8], choices: [&'static [u8]; 3]) -> Option<&'static [u8]> {
    if value.is_empty() {
        return Some(b"");
    }
    choices.into_iter().find(|choice| choice.eq_ignore_ascii_case(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(field: &str) -> Vec<(String, String)> {
        pairs(field.as_bytes(), 100)
            .map(|(n, v)| (String::from_utf8(n.to_vec()).unwrap(), String::from_utf8(v.into_owned()).unwrap()))
            .collect()
    }

    fn expect(field: &str, pairs: &[(&str, &str)]) {
        let pairs: Vec<_> = pairs.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
        assert_eq!(read(field), pairs, "{field}");
    }

    #[test]
    fn field() {
        expect("", &[]);
        expect("a=1", &[("a", "1")]);
        expect("a=1; b=2;c=3;  d=4", &[("a", "1"), ("b", "2"), ("c", "3"), ("d", "4")]);
        expect("; ;=x;a", &[("a", "")]);
        expect("a=1=2", &[("a", "1=2")]);
        expect("a=1; a=2", &[("a", "1"), ("a", "2")]);
        expect("a=\"q\"; b=1,c=2", &[("a", "\"q\""), ("b", "1,c=2")]);
    }

    #[test]
    fn values_are_decoded_names_are_not() {
        expect("a=x%20y+z%3B", &[("a", "x y+z;")]);
        expect("__%48ost-a=1; a+b=2", &[("__%48ost-a", "1"), ("a+b", "2")]);
        expect("a=%zz%", &[("a", "%zz%")]);
    }

    #[test]
    fn limit() {
        let mut limited = pairs(b"a=1; b=2; c=3", 2);
        assert_eq!(limited.by_ref().count(), 2);
        assert!(limited.truncated());
        let mut exact = pairs(b"a=1; b=2; ", 2);
        assert_eq!(exact.by_ref().count(), 2);
        assert!(!exact.truncated());
    }

    fn write(cookie: &SetCookie<'_>) -> Result<String, CookieError> {
        let mut out = Vec::new();
        let result = cookie.write(&mut out, 1_000_000_000);
        assert!(result.is_ok() || out.is_empty(), "a refused cookie writes nothing");
        result.map(|()| String::from_utf8(out).unwrap())
    }

    #[test]
    fn every_attribute() {
        let cookie = SetCookie {
            name: b"id",
            value: b"a b;c",
            expires: 1_000_000_060,
            path: b"/x",
            domain: b"example.org",
            secure: true,
            http_only: true,
            same_site: b"lax",
            priority: b"HIGH",
            partitioned: true,
            ..SetCookie::default()
        };
        assert_eq!(
            write(&cookie).unwrap(),
            "id=a%20b%3Bc; expires=Sun, 09 Sep 2001 01:47:40 GMT; Max-Age=60; path=/x; domain=example.org; secure; \
             HttpOnly; SameSite=Lax; Priority=High; Partitioned"
        );
    }

    #[test]
    fn plain_raw_expired_and_deleted() {
        let plain = SetCookie { name: b"a", value: b"1", ..SetCookie::default() };
        assert_eq!(write(&plain).unwrap(), "a=1");
        let raw = SetCookie { name: b"a", value: b"%20\"=\xc3\xa9", raw: true, ..SetCookie::default() };
        assert_eq!(write(&raw).unwrap(), "a=%20\"=é");
        let past = SetCookie { name: b"a", value: b"1", expires: 5, ..SetCookie::default() };
        assert_eq!(write(&past).unwrap(), "a=1; expires=Thu, 01 Jan 1970 00:00:05 GMT; Max-Age=0");
        let deleted = SetCookie { name: b"a", path: b"/", ..SetCookie::default() };
        assert_eq!(write(&deleted).unwrap(), "a=deleted; expires=Thu, 01 Jan 1970 00:00:01 GMT; Max-Age=0; path=/");
    }

    #[test]
    fn what_could_break_out_is_refused() {
        let ok = SetCookie { name: b"a", value: b"1", ..SetCookie::default() };
        let refused = |cookie: SetCookie<'_>, error| assert_eq!(write(&cookie), Err(error));
        refused(SetCookie { name: b"", ..ok.clone() }, CookieError::EmptyName);
        for bad in [b"=", b",", b";", b" ", b"\t", b"\r", b"\n", b"\x0b", b"\x0c", b"\0", b"\x7f"] {
            refused(SetCookie { name: bad, ..ok.clone() }, CookieError::Name);
        }
        for bad in [b",", b";", b" ", b"\t", b"\r", b"\n", b"\x0b", b"\x0c", b"\0"] {
            refused(SetCookie { value: bad, raw: true, ..ok.clone() }, CookieError::Value);
            refused(SetCookie { path: bad, ..ok.clone() }, CookieError::Path);
            refused(SetCookie { domain: bad, ..ok.clone() }, CookieError::Domain);
            assert!(write(&SetCookie { value: bad, ..ok.clone() }).is_ok(), "an encoded value may hold anything");
        }
        refused(SetCookie { same_site: b"Lax; x", ..ok.clone() }, CookieError::SameSite);
        refused(SetCookie { priority: b"none", ..ok.clone() }, CookieError::Priority);
        refused(SetCookie { partitioned: true, ..ok.clone() }, CookieError::Partitioned);
        refused(SetCookie { expires: u64::MAX, ..ok }, CookieError::Expires);
    }
}
