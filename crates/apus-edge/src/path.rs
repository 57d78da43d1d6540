//! From the path of a request to the name of a file below a root: decoded once, and refused where it could mean two
//! things.

use std::fmt::Write;

/// Bytes of a decoded path; a longer one names no file.
const LONGEST: usize = 4096;
/// Bytes of one name, as file systems have it.
const LONGEST_NAME: usize = 255;

/// The decoded path of a request: no empty name, no `.` and `..`, nothing hidden.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Decoded {
    /// Names with `/` between them, none before and behind; empty for the root.
    pub(crate) names: String,
    /// Whether it ended with `/`: it names a directory.
    pub(crate) directory: bool,
}

impl Decoded {
    /// Decodes the path of a target; `None` for what no file is served for: dot segments and hidden names (however they
    /// are written), empty segments, encoded slashes, backslashes, control characters, what is no UTF-8.
    pub(crate) fn read(path: &[u8]) -> Option<Self> {
        let path = path.strip_prefix(b"/")?;
        let text = String::from_utf8(percent_decode(path)?).ok()?;
        if text.len() > LONGEST || has_control(&text) {
            return None;
        }
        let (names, directory) = match text.strip_suffix('/') {
            Some(names) => (names, true),
            None => (&text[..], text.is_empty()),
        };
        let sound = |(at, name): (usize, &str)| {
            !name.is_empty()
                && name.len() <= LONGEST_NAME
                && (!name.starts_with('.') || at == 0 && name == ".well-known")
        };
        (names.is_empty() && !text.starts_with('/') || names.split('/').enumerate().all(sound))
            .then(|| Self { names: names.to_owned(), directory })
    }

    /// The path as a URL has it, with what need not be encoded left as it is.
    pub(crate) fn encoded(names: &str) -> String {
        let mut text = String::with_capacity(names.len());
        for byte in names.bytes() {
            if byte.is_ascii_alphanumeric() || b"-._~/!$&'()*+,;=:@".contains(&byte) {
                text.push(char::from(byte));
            } else {
                // Writing to a String cannot fail.
                let _ = write!(text, "%{byte:02X}");
            }
        }
        text
    }

    /// Whether it lies below one of the prefixes, which end at a name's end. No prefix is every path's.
    pub(crate) fn lies_in(&self, prefixes: &[String]) -> bool {
        prefixes.is_empty()
            || prefixes.iter().any(|prefix| {
                let prefix = prefix.trim_matches('/');
                self.names
                    .strip_prefix(prefix)
                    .is_some_and(|rest| prefix.is_empty() || rest.is_empty() || rest.starts_with('/'))
            })
    }
}

/// Whether there is a control character, or a backslash.
fn has_control(text: &str) -> bool {
    let plain = |byte: &u8| matches!(byte, b' '..=b'~') && *byte != b'\\';
    !text.as_bytes().iter().fold(true, |all, byte| all & plain(byte))
        && text.chars().any(|c| c.is_control() || c == '\\')
}

/// `None` for an escape that is none, and for one that stands for `/` or NUL.
fn percent_decode(text: &[u8]) -> Option<Vec<u8>> {
    if !text.contains(&b'%') {
        return Some(text.to_vec());
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let [byte, after @ ..] = rest {
        rest = after;
        if *byte != b'%' {
            bytes.push(*byte);
            continue;
        }
        let [high, low, after @ ..] = rest else { return None };
        let digit = |byte: u8| char::from(byte).to_digit(16);
        let byte = (digit(*high)? * 16 + digit(*low)?) as u8;
        if byte == b'/' || byte == 0 {
            return None;
        }
        bytes.push(byte);
        rest = after;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(path: &str) -> Option<(String, bool)> {
        Decoded::read(path.as_bytes()).map(|decoded| (decoded.names, decoded.directory))
    }

    #[test]
    fn names_are_decoded_once() {
        for (path, names, directory) in [
            ("/", "", true),
            ("/a", "a", false),
            ("/a/b.css", "a/b.css", false),
            ("/a/", "a", true),
            ("/a%20b/%C3%A9", "a b/é", false),
            ("/%2541", "%41", false),
            ("/.well-known/acme-challenge/x", ".well-known/acme-challenge/x", false),
            ("/a...b/c..", "a...b/c..", false),
        ] {
            assert_eq!(read(path), Some((names.to_owned(), directory)), "{path}");
        }
    }

    #[test]
    fn what_could_lead_elsewhere_is_refused() {
        for path in [
            "",
            "a",
            "*",
            "//",
            "//a",
            "/a//b",
            "/a//",
            "/.",
            "/..",
            "/../a",
            "/a/../b",
            "/a/..",
            "/a/./b",
            "/%2e%2e/a",
            "/.%2e/a",
            "/a%2fb",
            "/a%2Fb",
            "/..%2f",
            "/a%00",
            "/a%0a",
            "/a%7f",
            "/a\\b",
            "/a%5cb",
            "/.git/config",
            "/a/.env",
            "/a/.well-known/x",
            "/%2egit",
            "/a%",
            "/a%4",
            "/a%zz",
            "/%c0%ae%c0%ae/a",
            "/%ff",
            "/%e0%80%af",
        ] {
            assert_eq!(read(path), None, "{path}");
        }
        assert_eq!(read(&format!("/{}", "a".repeat(256))), None);
        assert_eq!(read(&"/a".repeat(3000)), None);
    }

    #[test]
    fn prefixes_end_at_a_name() {
        let lies = |path: &str, prefixes: &[&str]| {
            let prefixes: Vec<String> = prefixes.iter().map(|prefix| (*prefix).to_owned()).collect();
            Decoded::read(path.as_bytes()).is_some_and(|decoded| decoded.lies_in(&prefixes))
        };
        assert!(lies("/x", &[]) && lies("/x", &["/"]));
        assert!(lies("/static/a", &["/static"]) && lies("/static", &["/static/"]) && lies("/b/c", &["/a", "/b"]));
        assert!(!lies("/statics", &["/static"]) && !lies("/a", &["/static"]));
    }

    #[test]
    fn what_is_encoded_is_decoded_to_the_same() {
        let names = "a b/é%?#&/ü\"<>";
        let encoded = Decoded::encoded(names);
        assert_eq!(encoded, "a%20b/%C3%A9%25%3F%23&/%C3%BC%22%3C%3E");
        assert_eq!(read(&format!("/{encoded}")), Some((names.to_owned(), false)));
    }
}
