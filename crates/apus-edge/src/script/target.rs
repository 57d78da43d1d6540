//! From the path of a request to the one that scripts are looked for by, as a web server before PHP normalises it.

/// Bytes of a decoded path; a longer one names nothing.
const LONGEST: usize = 4096;
/// Bytes of one name, as file systems have it.
const LONGEST_NAME: usize = 255;

/// Decodes escapes once, joins slashes, and walks `.` and `..`; `None` for what climbs above the root, for an escape
/// that is none, for NUL, for what does not begin with a slash, and for what is too long. The result begins with a
/// slash, has no empty name and no dot segment.
pub(super) fn normalised(path: &[u8]) -> Option<Vec<u8>> {
    if path.first() != Some(&b'/') || path.len() > 3 * LONGEST {
        return None;
    }
    let decoded = decode(path)?;
    let mut names: Vec<&[u8]> = Vec::new();
    let mut directory = false;
    for name in decoded.split(|byte| *byte == b'/') {
        directory = matches!(name, b"" | b"." | b"..");
        match name {
            b"" | b"." => {}
            b".." => drop(names.pop()?),
            name => names.push(name),
        }
    }
    let mut whole = Vec::with_capacity(decoded.len());
    for name in &names {
        whole.push(b'/');
        whole.extend_from_slice(name);
    }
    if directory || names.is_empty() {
        whole.push(b'/');
    }
    (whole.len() <= LONGEST).then_some(whole)
}

fn decode(text: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let [byte, after @ ..] = rest {
        rest = after;
        let byte = if *byte == b'%' {
            let [high, low, after @ ..] = rest else { return None };
            let digit = |byte: u8| char::from(byte).to_digit(16);
            rest = after;
            (digit(*high)? * 16 + digit(*low)?) as u8
        } else {
            *byte
        };
        if byte == 0 {
            return None;
        }
        bytes.push(byte);
    }
    Some(bytes)
}

/// The names of a normalised path, without the slashes around them, if they may be looked for below the root: UTF-8
/// without control characters and backslashes.
pub(super) fn names(path: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(path).ok()?.trim_matches('/');
    let sound = !text.chars().any(|c| c.is_control() || c == '\\');
    (sound && text.split('/').all(|name| name.len() <= LONGEST_NAME)).then_some(text)
}

/// Whether a name in it is hidden: it begins with a dot, `/.well-known` apart.
pub(super) fn is_hidden(names: &str) -> bool {
    names.split('/').enumerate().any(|(at, name)| name.starts_with('.') && !(at == 0 && name == ".well-known"))
}

/// The paths that may be scripts, the shortest first, each with what follows it: every name that ends with `.php`.
pub(super) fn splits(path: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    let ends = (1..=path.len()).filter(|end| path.get(*end).is_none_or(|byte| *byte == b'/'));
    ends.map(|end| path.split_at(end)).filter(|(script, _)| is_script(script))
}

/// Whether a path's name is that of a script: something before `.php`.
pub(super) fn is_script(path: &[u8]) -> bool {
    path.strip_suffix(b".php").is_some_and(|before| before.last().is_some_and(|byte| *byte != b'/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_normalised_as_web_servers_do() {
        for (path, expected) in [
            ("/", "/"),
            ("//", "/"),
            ("/a//b", "/a/b"),
            ("/a/./b/", "/a/b/"),
            ("/a/../b", "/b"),
            ("/a/b/..", "/a/"),
            ("/a/.", "/a/"),
            ("/%61%2Fb", "/a/b"),
            ("/a%2f..%2fb.php", "/b.php"),
            ("/%252e%252e/a", "/%2e%2e/a"),
            ("/a%20b+c", "/a b+c"),
            ("/...", "/..."),
        ] {
            assert_eq!(normalised(path.as_bytes()).as_deref(), Some(expected.as_bytes()), "{path}");
        }
        for path in ["", "a", "*", "/..", "/a/../..", "/%2e%2e/a", "/a%00.php", "/a%", "/a%4", "/a%zz", "/..%2fa"] {
            assert_eq!(normalised(path.as_bytes()), None, "{path}");
        }
        assert_eq!(normalised(&b"/a".repeat(3000)), None);
        assert_eq!(normalised(&b"/.".repeat(9000)), None);
    }

    #[test]
    fn a_path_splits_at_every_script() {
        let all = |path: &'static str| -> Vec<(&str, &str)> {
            let text = |bytes| std::str::from_utf8(bytes).unwrap();
            splits(path.as_bytes()).map(|(script, rest)| (text(script), text(rest))).collect()
        };
        assert_eq!(all("/a.php"), [("/a.php", "")]);
        assert_eq!(all("/a.php/x"), [("/a.php", "/x")]);
        assert_eq!(all("/a.php/b.php/"), [("/a.php", "/b.php/"), ("/a.php/b.php", "/")]);
        assert_eq!(all("/a.phpx/b.PHP/c.php5"), []);
        assert_eq!(all("/.php/x"), []);
    }

    #[test]
    fn what_no_file_is_called_is_not_looked_for() {
        assert_eq!(names(b"/a/b/"), Some("a/b"));
        assert_eq!(names(b"/"), Some(""));
        for path in [&b"/\xff"[..], b"/a\nb", b"/a\\b", &[b'a'; 300]] {
            assert_eq!(names(path), None);
        }
        assert!(is_hidden(".git/x") && is_hidden("a/.env") && is_hidden("a/.well-known/x"));
        assert!(!is_hidden(".well-known/x") && !is_hidden("a.b/c.") && !is_hidden(""));
    }
}
