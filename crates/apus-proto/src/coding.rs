//! Content codings and what a client accepts of them (RFC 9110 section 12.5.3).

use crate::grammar::{list_members, trim_ows};

/// A content coding, the preferred one first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Coding {
    /// Zstandard (RFC 8878).
    Zstd,
    /// Brotli (RFC 7932).
    Brotli,
    /// gzip (RFC 1952).
    Gzip,
    /// deflate: the zlib format (RFC 1950).
    Deflate,
}

impl Coding {
    /// All of them, the preferred one first.
    pub const ALL: [Self; 4] = [Self::Zstd, Self::Brotli, Self::Gzip, Self::Deflate];

    /// The coding that a field names, by any of its names (RFC 9110 section 8.4.1).
    pub fn named(name: &[u8]) -> Option<Self> {
        Self::ALL.into_iter().find(|coding| {
            name.eq_ignore_ascii_case(coding.name().as_bytes())
                || *coding == Self::Gzip && name.eq_ignore_ascii_case(b"x-gzip")
        })
    }

    /// As Content-Encoding names it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Zstd => "zstd",
            Self::Brotli => "br",
            Self::Gzip => "gzip",
            Self::Deflate => "deflate",
        }
    }

    /// The extension of a file in this coding, with its dot; deflate has none.
    pub fn extension(self) -> Option<&'static str> {
        match self {
            Self::Zstd => Some(".zst"),
            Self::Brotli => Some(".br"),
            Self::Gzip => Some(".gz"),
            Self::Deflate => None,
        }
    }
}

/// The codings that a client accepts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Accepted {
    /// By `Coding as usize`: its quality in thousandths, 0 for not at all.
    quality: [u16; 4],
}

impl Accepted {
    /// Reads the lines of Accept-Encoding. Without any, none is accepted: a client that does not ask may not know them.
    pub fn read<'a>(lines: impl Iterator<Item = &'a [u8]>) -> Self {
        let (mut named, mut others) = ([None; 4], 0);
        for member in lines.flat_map(list_members) {
            let mut pieces = member.split(|byte| *byte == b';').map(trim_ows);
            let name = pieces.next().unwrap_or_default();
            let quality = pieces.find_map(quality).unwrap_or(1000);
            if name == b"*" {
                others = quality;
                continue;
            }
            if let Some(coding) = Coding::named(name) {
                named[coding as usize] = Some(quality);
            }
        }
        Self { quality: named.map(|quality| quality.unwrap_or(others)) }
    }

    /// Those that are accepted, the one the client likes best first.
    pub fn by_preference(self) -> impl Iterator<Item = Coding> {
        let mut codings = Coding::ALL;
        // Stable: among equals our own order rules.
        codings.sort_by_key(|coding| std::cmp::Reverse(self.quality[*coding as usize]));
        codings.into_iter().filter(move |coding| self.quality[*coding as usize] > 0)
    }
}

/// Media types besides texts, JSON and XML of which content becomes much smaller.
const COMPRESSIBLE: [&[u8]; 10] = [
    b"application/json",
    b"application/javascript",
    b"application/xml",
    b"application/wasm",
    b"application/vnd.ms-fontobject",
    b"font/ttf",
    b"font/otf",
    b"image/bmp",
    b"image/x-icon",
    b"image/vnd.microsoft.icon",
];

/// Whether content of a media type becomes much smaller by a coding.
pub fn is_compressible(kind: &[u8]) -> bool {
    let kind = trim_ows(kind.split(|byte| *byte == b';').next().unwrap_or_default());
    let ends = |end: &[u8]| kind.len() > end.len() && kind[kind.len() - end.len()..].eq_ignore_ascii_case(end);
    kind.get(..5).is_some_and(|start| start.eq_ignore_ascii_case(b"text/"))
        || ends(b"+json")
        || ends(b"+xml")
        || COMPRESSIBLE.iter().any(|known| kind.eq_ignore_ascii_case(known))
}

/// `q=0.5` in thousandths; `None` for another parameter. One that cannot be read is 0: the coding is not used.
fn quality(parameter: &[u8]) -> Option<u16> {
    let [b'q' | b'Q', b'=', value @ ..] = parameter else { return None };
    let (whole, digits) = match value {
        [b'0'] => (0, &[][..]),
        [b'1'] => (1000, &[][..]),
        [b'0', b'.', digits @ ..] => (0, digits),
        [b'1', b'.', digits @ ..] if digits.iter().all(|digit| *digit == b'0') => (1000, digits),
        _ => return Some(0),
    };
    if digits.len() > 3 || !digits.iter().all(u8::is_ascii_digit) {
        return Some(0);
    }
    let scaled = digits.iter().chain(b"000").take(3).fold(0, |sum, digit| sum * 10 + u16::from(digit - b'0'));
    Some(if whole == 1000 { 1000 } else { scaled })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn preferred(lines: &[&str]) -> Vec<&'static str> {
        Accepted::read(lines.iter().map(|line| line.as_bytes())).by_preference().map(Coding::name).collect()
    }

    #[test]
    fn pictures_are_compressed_already() {
        for kind in ["text/css; charset=UTF-8", "image/svg+xml", "Application/JSON", "application/ld+json"] {
            assert!(is_compressible(kind.as_bytes()), "{kind}");
        }
        for kind in ["image/png", "application/zip", "+json", "", "text"] {
            assert!(!is_compressible(kind.as_bytes()), "{kind}");
        }
    }

    #[test]
    fn qualities_rule_and_our_order_among_equals() {
        for (line, expected) in [
            ("gzip, deflate, br, zstd", &["zstd", "br", "gzip", "deflate"][..]),
            ("gzip, deflate", &["gzip", "deflate"]),
            ("deflate, gzip;q=0.5", &["deflate", "gzip"]),
            ("X-GZIP", &["gzip"]),
            ("gzip;q=1.0, br;q=0.5", &["gzip", "br"]),
            ("br;q=0, *", &["zstd", "gzip", "deflate"]),
            ("*;q=0.1, gzip;q=0.001", &["zstd", "br", "deflate", "gzip"]),
            ("gzip ; q=0.000", &[]),
            ("gzip;q=2, br;q=x, zstd;q=0.1234", &[]),
            ("identity", &[]),
            ("", &[]),
        ] {
            assert_eq!(preferred(&[line]), expected, "{line}");
        }
        assert_eq!(preferred(&["gzip", "br"]), ["br", "gzip"]);
        assert_eq!(preferred(&[]), [""; 0]);
    }
}
