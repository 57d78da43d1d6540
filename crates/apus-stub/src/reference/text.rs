//! The parts of a docblock, and text as HTML.

use std::collections::BTreeMap;
use std::fmt::Write as _;

/// What a docblock says, part by part.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Text {
    /// Paragraphs of the description.
    pub(super) paragraphs: Vec<String>,
    /// Name (with its `$`), type and meaning.
    pub(super) params: Vec<(String, String, String)>,
    /// Type and meaning.
    pub(super) returns: Option<(String, String)>,
    /// Class and occasion.
    pub(super) throws: Vec<(String, String)>,
    /// Whether the caller waits.
    pub(super) waits: Option<String>,
    /// The version that it came with.
    pub(super) since: Option<String>,
}

impl Text {
    /// Takes a docblock apart, whose lines have no stars any more.
    pub(super) fn of(doc: &str) -> Self {
        let mut this = Self::default();
        for (at, part) in parts(doc).iter().enumerate() {
            let (tag, rest) = part.split_once(' ').unwrap_or((part, ""));
            match tag {
                "@param" => this.params.push(param(rest)),
                "@return" => this.returns = Some(first_word(rest)),
                "@throws" => this.throws.push(first_word(rest)),
                "@since" => this.since = Some(rest.to_owned()),
                _ if at > 0 && is_about_waiting(part) => this.waits = Some(part.clone()),
                _ => this.paragraphs.push(part.clone()),
            }
        }
        this
    }

    /// The first sentence.
    pub(super) fn summary(&self) -> &str {
        let first = self.paragraphs.first().map_or("", String::as_str);
        let end = first.find(". ").map_or(first.len(), |at| at + 1);
        &first[..end]
    }
}

fn is_about_waiting(text: &str) -> bool {
    text.starts_with("Waits") || text.starts_with("Does not wait")
}

/// Paragraphs and tags, each in one line.
fn parts(doc: &str) -> Vec<String> {
    let (mut all, mut ended) = (Vec::<String>::new(), true);
    for line in doc.lines().map(str::trim) {
        let begins = line.starts_with('@') || (is_about_waiting(line) && !all.is_empty());
        match all.last_mut() {
            _ if line.is_empty() => ended = true,
            Some(last) if !ended && !begins => {
                last.push(' ');
                last.push_str(line);
            }
            _ => {
                all.push(line.to_owned());
                ended = false;
            }
        }
    }
    all
}

fn first_word(text: &str) -> (String, String) {
    let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
    (word.to_owned(), rest.trim().to_owned())
}

/// `TYPE $name meaning`
fn param(text: &str) -> (String, String, String) {
    let at = text.find('$').unwrap_or(text.len());
    let (name, meaning) = first_word(&text[at..]);
    (name, text[..at].trim_end_matches(['.', '&']).trim().to_owned(), meaning)
}

/// Text as HTML shows it.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            _ => out.push(c),
        }
    }
    out
}

/// Where names lead to.
#[derive(Debug, Default)]
pub(super) struct Links(pub(super) BTreeMap<String, String>);

impl Links {
    /// The page of a class, by its full name.
    pub(super) fn page(&self, class: &str) -> Option<&str> {
        self.0.get(class.trim_start_matches('\\')).map(String::as_str)
    }

    /// Code or text, with names of classes as links.
    pub(super) fn linked(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == '\\';
        let mut rest = text;
        while let Some(begin) = rest.find(is_name) {
            out.push_str(&escape(&rest[..begin]));
            let end = rest[begin..].find(|c| !is_name(c)).map_or(rest.len(), |len| begin + len);
            let word = &rest[begin..end];
            match self.page(word).filter(|_| word.contains('\\')) {
                Some(page) => {
                    let shown = escape(word.trim_start_matches('\\'));
                    let _ = write!(out, "<a href=\"{page}\">{shown}</a>");
                }
                None => out.push_str(&escape(word)),
            }
            rest = &rest[end..];
        }
        out.push_str(&escape(rest));
        out
    }

    /// Prose: what stands between backticks is code.
    pub(super) fn prose(&self, text: &str) -> String {
        let mut out = String::new();
        for (at, part) in text.split('`').enumerate() {
            let shown = self.linked(part);
            let _ = if at % 2 == 1 { write!(out, "<code>{shown}</code>") } else { write!(out, "{shown}") };
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_docblocks_apart() {
        let text = Text::of(
            "Gets it, unless\nit is gone. Then not.\n\nMore.\n@param string|null $name what\nit is\n@param callable ...$rest\n\
             @return bool false when gone\n@throws \\ValueError when wrong\n@since 0.2.0\nWaits as\nothers do.",
        );
        assert_eq!(text.paragraphs, ["Gets it, unless it is gone. Then not.", "More."]);
        assert_eq!(text.summary(), "Gets it, unless it is gone.");
        assert_eq!(text.params[0], ("$name".into(), "string|null".into(), "what it is".into()));
        assert_eq!(text.params[1], ("$rest".into(), "callable".into(), String::new()));
        assert_eq!(text.returns, Some(("bool".into(), "false when gone".into())));
        assert_eq!(text.throws, [("\\ValueError".into(), "when wrong".into())]);
        assert_eq!(text.waits.as_deref(), Some("Waits as others do."));
        assert_eq!(text.since.as_deref(), Some("0.2.0"));
    }

    #[test]
    fn waiting_may_be_what_it_does() {
        let text = Text::of("Waits for it.\nDoes not wait.");
        assert_eq!((text.summary(), text.waits.as_deref()), ("Waits for it.", Some("Does not wait.")));
    }

    #[test]
    fn links_and_escapes() {
        let links = Links([("Apus\\A".to_owned(), "Apus.A.html".to_owned())].into());
        assert_eq!(links.linked("?\\Apus\\A $a<b"), "?<a href=\"Apus.A.html\">Apus\\A</a> $a&lt;b");
        assert_eq!(links.prose("as `x & Apus\\B` is"), "as <code>x &amp; Apus\\B</code> is");
    }
}
