//! Patterns of names and paths, as several settings take them.

/// Whether a path fits a pattern, in which `*` stands for any characters. A pattern without `/` is one for the name.
pub fn fits(pattern: &str, names: &str) -> bool {
    let subject = match pattern.strip_prefix('/') {
        Some(_) => names,
        None if pattern.contains('/') => names,
        None => names.rsplit('/').next().unwrap_or_default(),
    };
    let mut pieces = pattern.trim_start_matches('/').split('*');
    let Some(mut rest) = subject.strip_prefix(pieces.next().unwrap_or_default()) else { return false };
    let mut pieces = pieces.peekable();
    let mut open = false;
    while let Some(piece) = pieces.next() {
        open = true;
        if pieces.peek().is_none() {
            return rest.ends_with(piece);
        }
        let Some(at) = rest.find(piece) else { return false };
        rest = &rest[at + piece.len()..];
    }
    open || rest.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_of_names_and_of_paths() {
        for (pattern, names) in [
            ("*", "a/b"),
            ("*.css", "x/a.css"),
            ("a.css", "x/a.css"),
            ("/x/*", "x/y/a"),
            ("x/*.js", "x/y.js"),
            ("*a*c", "abc"),
        ] {
            assert!(fits(pattern, names), "{pattern} {names}");
        }
        for (pattern, names) in [("*.css", "a.css.map"), ("a", "ab"), ("/a*", "x/a"), ("*b*b", "ab"), ("x/*", "y/x/a")]
        {
            assert!(!fits(pattern, names), "{pattern} {names}");
        }
    }
}
