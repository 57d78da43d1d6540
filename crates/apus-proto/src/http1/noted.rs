//! Fields of a request that a server acts upon beyond framing: whether there are any is known once the head is read.

/// Which of them a head has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Noted(u8);

impl Noted {
    /// None of them.
    pub const NONE: Self = Self(0);
    /// What makes a request conditional, or one for ranges (RFC 9110 sections 13 and 14).
    pub const CONDITIONAL: Self = Self(1);
    /// Accept-Encoding.
    pub const ACCEPT_ENCODING: Self = Self(2);
    /// Content-Encoding.
    pub const CONTENT_ENCODING: Self = Self(4);
    /// What a proxy tells of its client (RFC 7239).
    pub const FORWARDED: Self = Self(8);

    /// What a field of that name is, in whatever case it is written.
    pub fn of(name: &[u8]) -> Self {
        let is = |expected: &[u8]| name.eq_ignore_ascii_case(expected);
        match name.len() {
            5 if is(b"range") => Self::CONDITIONAL,
            8 if is(b"if-match") || is(b"if-range") => Self::CONDITIONAL,
            9 if is(b"forwarded") || is(b"x-real-ip") => Self::FORWARDED,
            13 if is(b"if-none-match") => Self::CONDITIONAL,
            15 if is(b"accept-encoding") => Self::ACCEPT_ENCODING,
            15 if is(b"x-forwarded-for") => Self::FORWARDED,
            16 if is(b"content-encoding") => Self::CONTENT_ENCODING,
            16 if is(b"x-forwarded-host") => Self::FORWARDED,
            17 if is(b"if-modified-since") => Self::CONDITIONAL,
            17 if is(b"x-forwarded-proto") => Self::FORWARDED,
            19 if is(b"if-unmodified-since") => Self::CONDITIONAL,
            _ => Self::NONE,
        }
    }

    /// Whether there are none.
    #[inline]
    pub fn is_none(self) -> bool {
        self == Self::NONE
    }

    /// Whether any of `others` is there.
    #[inline]
    pub fn has(self, others: Self) -> bool {
        self.0 & others.0 != 0
    }
}

impl std::ops::BitOrAssign for Noted {
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

/// By length (modulo 32) of a name: a bit for each first letter that a name of [`super::head`] or of [`Noted`] has.
static FIRST_LETTERS: [u32; 32] = {
    let mut letters = [0; 32];
    let names: [&[u8]; 18] = [
        b"host",
        b"expect",
        b"upgrade",
        b"connection",
        b"content-length",
        b"transfer-encoding",
        b"range",
        b"if-match",
        b"if-none-match",
        b"if-modified-since",
        b"if-unmodified-since",
        b"accept-encoding",
        b"content-encoding",
        b"forwarded",
        b"x-real-ip",
        b"x-forwarded-for",
        b"x-forwarded-host",
        b"x-forwarded-proto",
    ];
    let mut at = 0;
    while at < names.len() {
        letters[names[at].len()] |= 1 << (names[at][0] & 31);
        at += 1;
    }
    letters
};

/// Whether a name, which is not empty, may be one that decides framing or connection, or is noted: most are not.
#[inline]
pub(super) fn is_noted(name: &[u8]) -> bool {
    // A longer name is looked at as a shorter one, which costs nothing but time.
    FIRST_LETTERS[name.len() % 32] >> (name[0] & 31) & 1 != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_noted_is_looked_at() {
        let noted = ["Range", "If-Match", "if-range", "FORWARDED", "X-Real-IP", "If-None-Match", "Accept-Encoding"];
        let more =
            ["X-Forwarded-For", "Content-Encoding", "X-Forwarded-Host", "If-Modified-Since", "x-forwarded-proto"];
        for name in noted.into_iter().chain(more).chain(["If-Unmodified-Since"]) {
            assert!(!Noted::of(name.as_bytes()).is_none() && is_noted(name.as_bytes()), "{name}");
        }
        for name in ["Host", "Accept-Language", "User-Agent", "Cookie", "X-Forwarded-Foo"] {
            assert!(Noted::of(name.as_bytes()).is_none(), "{name}");
        }
        for name in ["User-Agent", "Accept", "Cookie", "Referer", "Priority", "Sec-Fetch-Mode"] {
            assert!(!is_noted(name.as_bytes()), "{name}");
        }
    }
}
