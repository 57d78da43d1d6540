//! Members that several classes declare alike: a `trait` of the stubs, which `use` in a class writes out. Nobody else
//! sees it.
//!
//! ```php
//! trait Rows
//! {
//!     public function exists(Key $key): bool {}
//! }
//!
//! class Table
//! {
//!     // @rust let Key = string
//!     use Rows;
//! }
//! ```
//!
//! The words that `let` names are replaced where they stand alone. A trait is written from the first column, its
//! members four columns in; any file may use it.

use std::collections::HashMap;

use crate::parse::Error;

/// A line, and which one of its file it was.
type Line = (String, usize);

/// The text of a file without its traits, and the number of the line that each of its lines came from: of a trait's,
/// where it is used.
pub(crate) struct Expanded {
    pub(crate) text: String,
    pub(crate) lines: Vec<usize>,
}

/// The traits of all files.
#[derive(Default)]
pub(crate) struct Traits(HashMap<String, Vec<String>>);

impl Traits {
    /// Takes the traits out of a file.
    pub(crate) fn take(&mut self, text: &str) -> Result<Vec<Line>, Error> {
        let mut kept: Vec<Line> = Vec::new();
        let mut lines = text.lines().zip(1..);
        while let Some((line, number)) = lines.next() {
            let Some(name) = line.strip_prefix("trait ") else {
                kept.push((line.to_owned(), number));
                continue;
            };
            drop_docblock(&mut kept);
            if lines.next().is_none_or(|(line, _)| line != "{") {
                return Err(Error { line: number, text: "a trait opens on a line of its own: {".to_owned() });
            }
            let mut body = Vec::new();
            loop {
                match lines.next() {
                    Some(("}", _)) => break,
                    Some((line, _)) => body.push(line.to_owned()),
                    None => return Err(Error { line: number, text: format!("the trait {name} does not end") }),
                }
            }
            self.0.insert(name.trim().to_owned(), body);
        }
        Ok(kept)
    }

    /// Writes out what the classes of a file use.
    pub(crate) fn expand(&self, lines: Vec<Line>) -> Result<Expanded, Error> {
        let mut words: Vec<(String, String)> = Vec::new();
        let mut out = Expanded { text: String::new(), lines: Vec::new() };
        let mut push = |text: &str, number: usize| {
            out.text.push_str(text);
            out.text.push('\n');
            out.lines.push(number);
        };
        for (line, number) in lines {
            if let Some(word) = line.trim_start().strip_prefix("// @rust let ") {
                let (word, value) = word
                    .split_once(" = ")
                    .ok_or_else(|| Error { line: number, text: "let takes NAME = what it stands for".to_owned() })?;
                words.push((word.to_owned(), value.to_owned()));
            } else if let Some(name) = line.strip_prefix("    use ").and_then(|rest| rest.strip_suffix(';')) {
                let body = self.0.get(name).ok_or_else(|| Error { line: number, text: format!("no trait {name}") })?;
                for line in body {
                    push(&replaced(line, &words), number);
                }
            } else {
                if line == "}" {
                    words.clear();
                }
                push(&line, number);
            }
        }
        Ok(out)
    }
}

/// Drops the docblock that the lines end with: a trait's is for those who read the stub.
fn drop_docblock(kept: &mut Vec<Line>) {
    if kept.last().is_some_and(|(line, _)| line.trim_end().ends_with("*/"))
        && let Some(from) = kept.iter().rposition(|(line, _)| line.starts_with("/**"))
    {
        kept.truncate(from);
    }
}

/// The line with each of the words replaced where it stands alone.
fn replaced(line: &str, words: &[(String, String)]) -> String {
    let part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut out = String::new();
    let mut rest = line;
    while !rest.is_empty() {
        let end = rest.find(|c| !part(c)).unwrap_or(rest.len());
        if end > 0 {
            let word = &rest[..end];
            out.push_str(words.iter().find(|(name, _)| name == word).map_or(word, |(_, value)| value));
            rest = &rest[end..];
        }
        let gap = rest.find(part).unwrap_or(rest.len());
        out.push_str(&rest[..gap]);
        rest = &rest[gap..];
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_out_what_classes_use() {
        let text = "<?php\n\n/**\n * Rows.\n */\ntrait Rows\n{\n    /** By Key. */\n    public function f(Key $key, Keys $k): Key {}\n}\n\n\
                    class A\n{\n    // @rust let Key = string\n    use Rows;\n}\n\nclass B\n{\n    use Rows;\n}\n";
        let mut traits = Traits::default();
        let kept = traits.take(text).unwrap();
        let made = traits.expand(kept).unwrap();
        assert_eq!(
            made.text,
            "<?php\n\n\nclass A\n{\n    /** By string. */\n    public function f(string $key, Keys $k): string {}\n}\n\n\
             class B\n{\n    /** By Key. */\n    public function f(Key $key, Keys $k): Key {}\n}\n"
        );
        assert_eq!(made.lines[6], 15, "the place of a member of a trait is where it is used");
        assert_eq!(made.lines[3], 12);
        assert_eq!(made.lines.len(), made.text.lines().count());
    }

    #[test]
    fn names_the_line_of_what_is_wrong() {
        let mut traits = Traits::default();
        assert_eq!(traits.take("<?php\ntrait A\n{\n").unwrap_err().line, 2);
        let kept = traits.take("<?php\nclass A\n{\n    use Nothing;\n}\n").unwrap();
        assert_eq!(traits.expand(kept).err().map(|error| error.line), Some(4));
    }
}
