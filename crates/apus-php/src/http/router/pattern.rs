//! Patterns of paths: `/users/{id:\d+}/files/{path...}`.

use regex::bytes::{Regex, RegexBuilder};

/// Bytes of a pattern at most.
const LONGEST: usize = 2048;
/// Segments of a pattern at most.
const SEGMENTS: usize = 64;
/// What a compiled regular expression may take.
const REGEX_SIZE: usize = 256 * 1024;

/// One segment of a path.
#[derive(Debug)]
pub(super) enum Segment {
    /// This text.
    Literal(Box<[u8]>),
    /// A parameter, with text before and after it.
    Param(Param),
    /// The rest of the path, slashes included: the last segment.
    Rest,
}

/// A parameter within a segment.
#[derive(Debug)]
pub(super) struct Param {
    before: Box<[u8]>,
    after: Box<[u8]>,
    /// What its value must match as a whole.
    rule: Option<Rule>,
}

/// A regular expression that a value must match as a whole.
#[derive(Debug)]
struct Rule {
    regex: Regex,
    /// The same where it is a class of bytes and how many of them, as `\d+` and `[a-z0-9]{1,40}` are: quicker.
    run: Option<Run>,
}

/// So many bytes of some.
#[derive(Debug)]
struct Run {
    /// By byte: whether it is one of them.
    bytes: Box<[bool; 256]>,
    least: usize,
    most: usize,
}

impl Rule {
    fn fits(&self, value: &[u8]) -> bool {
        self.run.as_ref().map_or_else(|| self.regex.is_match(value), |run| run.fits(value))
    }
}

impl Run {
    /// What a rule stands for that is so simple. Which bytes are in its class the expression itself says.
    fn of(rule: &str) -> Option<Self> {
        let class_len = match rule.as_bytes() {
            [b'\\', b'd' | b'w', ..] => 2,
            [b'[', ..] => rule.find(']')? + 1,
            _ => return None,
        };
        let (class, often) = rule.split_at(class_len);
        let (least, most) = match often {
            "+" => (1, usize::MAX),
            "*" => (0, usize::MAX),
            "" => (1, 1),
            _ => often.strip_prefix('{')?.strip_suffix('}').and_then(range)?,
        };
        let inner = class.strip_prefix('[').map_or("", |inner| &inner[..inner.len() - 1]);
        if inner.contains('[') {
            return None;
        }
        let regex = whole(class).ok()?;
        let bytes = Box::new(std::array::from_fn(|byte| regex.is_match(&[byte as u8])));
        Some(Self { bytes, least, most })
    }

    fn fits(&self, value: &[u8]) -> bool {
        (self.least..=self.most).contains(&value.len()) && value.iter().all(|&byte| self.bytes[usize::from(byte)])
    }
}

/// `3`, `3,` and `3,5` between the braces of a repetition.
fn range(text: &str) -> Option<(usize, usize)> {
    let number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?;
    Some(match text.split_once(',') {
        None => (number(text)?, number(text)?),
        Some((least, "")) => (number(least)?, usize::MAX),
        Some((least, most)) => (number(least)?, number(most)?),
    })
}

impl PartialEq for Param {
    fn eq(&self, other: &Self) -> bool {
        let rule = |of: &Self| of.rule.as_ref().map(|rule| rule.regex.as_str().to_owned());
        self.before == other.before && self.after == other.after && rule(self) == rule(other)
    }
}

impl Param {
    /// The place of its value in a segment; a value is never empty.
    pub(super) fn find(&self, segment: &[u8]) -> Option<(usize, usize)> {
        let inner = segment.strip_prefix(&*self.before)?.strip_suffix(&*self.after)?;
        let fits = !inner.is_empty() && self.rule.as_ref().is_none_or(|rule| rule.fits(inner));
        fits.then_some((self.before.len(), self.before.len() + inner.len()))
    }

    /// How much it demands: of two that fit, the greater is taken.
    pub(super) fn rank(&self) -> (bool, usize) {
        (self.rule.is_some(), self.before.len() + self.after.len())
    }
}

/// A pattern that was taken apart.
#[derive(Debug)]
pub(super) struct Pattern {
    pub(super) segments: Vec<Segment>,
    /// The names of the parameters, in their order.
    pub(super) names: Vec<Box<[u8]>>,
}

impl Pattern {
    /// Takes a pattern apart; an error says what is wrong with it.
    pub(super) fn parse(text: &[u8]) -> Result<Self, String> {
        let text = std::str::from_utf8(text).map_err(|_| "must be UTF-8".to_owned())?;
        let path = text.strip_prefix('/').ok_or_else(|| format!("must begin with \"/\", \"{text}\" given"))?;
        if text.len() > LONGEST {
            return Err(format!("must be at most {LONGEST} bytes long, {} given", text.len()));
        }
        let mut this = Self { segments: Vec::new(), names: Vec::new() };
        for segment in split(path)? {
            if matches!(this.segments.last(), Some(Segment::Rest)) {
                return Err(format!("must end with {{name...}}, which stands for the rest of the path: \"{text}\""));
            }
            let segment = this.segment(segment)?;
            this.segments.push(segment);
        }
        if this.segments.len() > SEGMENTS {
            return Err(format!("must have at most {SEGMENTS} segments, {} given", this.segments.len()));
        }
        Ok(this)
    }

    fn segment(&mut self, text: &str) -> Result<Segment, String> {
        let Some(open) = text.find('{') else {
            return if text.contains('}') {
                Err(format!("has a }} without a {{ in \"{text}\""))
            } else {
                Ok(Segment::Literal(text.as_bytes().into()))
            };
        };
        // `split` has seen that each { has its }.
        let close = closing(text, open).unwrap_or(text.len() - 1);
        let (before, inner, after) = (&text[..open], &text[open + 1..close], &text[close + 1..]);
        if before.contains('}') || after.contains(['{', '}']) {
            return Err(format!("may have one parameter in each segment, \"{text}\" has more"));
        }
        if let Some(name) = inner.strip_suffix("...") {
            self.name(name)?;
            if !before.is_empty() || !after.is_empty() {
                return Err(format!("must have {{{inner}}} alone in its segment, not \"{text}\""));
            }
            return Ok(Segment::Rest);
        }
        let (name, rule) = inner.split_once(':').map_or((inner, None), |(name, rule)| (name, Some(rule)));
        self.name(name)?;
        let rule = rule.map(compile).transpose()?;
        Ok(Segment::Param(Param { before: before.as_bytes().into(), after: after.as_bytes().into(), rule }))
    }

    fn name(&mut self, name: &str) -> Result<(), String> {
        let begins = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        if !begins || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
            return Err(format!("must name its parameters by letters, digits and _, not \"{name}\""));
        }
        if self.names.iter().any(|known| **known == *name.as_bytes()) {
            return Err(format!("names two parameters \"{name}\""));
        }
        self.names.push(name.as_bytes().into());
        Ok(())
    }
}

/// The segments of a path without its first slash; slashes within braces separate nothing.
fn split(path: &str) -> Result<Vec<&str>, String> {
    let (mut all, mut begin, mut at) = (Vec::new(), 0, 0);
    let bytes = path.as_bytes();
    while at < bytes.len() {
        match bytes[at] {
            b'{' => at = closing(path, at).ok_or_else(|| format!("has a {{ without its }} in \"{}\"", &path[at..]))?,
            b'/' => {
                all.push(&path[begin..at]);
                begin = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    all.push(&path[begin..]);
    Ok(all)
}

/// Where the brace that opens at `open` is closed; a backslash takes the meaning of the next byte, as in `\{`.
fn closing(text: &str, open: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let (mut depth, mut at) = (0, open);
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 1,
            b'{' => depth += 1,
            b'}' if depth == 1 => return Some(at),
            b'}' => depth -= 1,
            _ => {}
        }
        at += 1;
    }
    None
}

/// Matching takes time in proportion to the value, whatever the expression.
fn compile(rule: &str) -> Result<Rule, String> {
    if rule.is_empty() {
        return Err("must have a regular expression after \":\"".to_owned());
    }
    // By itself first: one such as "a)(b" would be right only within the parentheses.
    build(rule)
        .and_then(|_| whole(rule))
        .map(|regex| Rule { regex, run: Run::of(rule) })
        .map_err(|error| format!("has a regular expression that is refused: {}", last_line(&error.to_string())))
}

fn build(text: &str) -> Result<Regex, regex::Error> {
    RegexBuilder::new(text).unicode(false).size_limit(REGEX_SIZE).build()
}

/// What matches no less than a whole value.
fn whole(rule: &str) -> Result<Regex, regex::Error> {
    build(&format!("^(?:{rule})$"))
}

/// The line of a message that says what is wrong; those before show where.
fn last_line(text: &str) -> &str {
    text.lines().last().unwrap_or(text).trim_start_matches("error: ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        Pattern::parse(text.as_bytes()).unwrap_err()
    }

    #[test]
    fn takes_patterns_apart() {
        let pattern = Pattern::parse(br"/users/{id:\d{1,3}}/file-{name}.txt/{rest...}").unwrap();
        assert_eq!(pattern.names, [&b"id"[..], b"name", b"rest"].map(Box::from));
        let [Segment::Literal(users), Segment::Param(id), Segment::Param(name), Segment::Rest] = &pattern.segments[..]
        else {
            panic!("{:?}", pattern.segments)
        };
        assert_eq!(**users, *b"users");
        assert_eq!((id.find(b"123"), id.find(b"1234"), id.find(b"")), (Some((0, 3)), None, None));
        assert_eq!(
            (name.find(b"file-a.txt"), name.find(b"file-.txt"), name.find(b"a.txt")),
            (Some((5, 6)), None, None)
        );
        assert!(id.rank() > name.rank());
    }

    #[test]
    fn the_root_is_one_empty_segment() {
        assert!(matches!(&Pattern::parse(b"/").unwrap().segments[..], [Segment::Literal(text)] if text.is_empty()));
        assert_eq!(Pattern::parse(b"/a/").unwrap().segments.len(), 2);
    }

    #[test]
    fn says_what_is_wrong() {
        assert!(error("users").contains("begin with \"/\""));
        assert!(error("/{id").contains("without its }"));
        assert!(error("/id}").contains("without a {"));
        assert!(error("/{a}{b}").contains("one parameter in each segment"));
        assert!(error("/{a}/{a}").contains("two parameters \"a\""));
        assert!(error("/{1}").contains("letters, digits and _"));
        assert!(error("/{}").contains("letters, digits and _"));
        assert!(error("/{a...}/b").contains("must end with"));
        assert!(error("/x{a...}").contains("alone in its segment"));
        assert!(error("/{a:}").contains("after \":\""));
        assert!(error("/{a:(}").contains("refused"), "{}", error("/{a:(}"));
        assert!(error("/{a:b)|(c}").contains("refused"));
        assert!(error(r"/{a:\w{1000}{1000}}").contains("refused"));
        assert!(error(&format!("/{}", "a".repeat(2048))).contains("2048 bytes"));
        assert!(error(&"/a".repeat(65)).contains("64 segments"));
        assert!(Pattern::parse(b"/\xff").is_err());
    }

    #[test]
    fn a_run_of_bytes_is_what_its_expression_says() {
        let values = [&b"7"[..], b"0123", b"a", b"aZ9_-", b"a]", b"]", b"^", b"a\n", b"\xff\xfe", b"....", b"a-b", b""];
        let simple = [
            r"\d+",
            r"\w+",
            r"\d*",
            r"\d",
            r"\d{4}",
            r"\d{2,}",
            r"\w{1,3}",
            "[a-z]+",
            "[^a-z]+",
            r"[\w-]+",
            "[^/]{1,5}",
            "[0-9a-f]{4}",
            r"[.\d]+",
            "[a-z^]+",
            "[]]+",
            "[^]]+",
            r"\d{0}",
            r"[\]a]+",
            "[a&&b]+",
        ];
        for rule in simple {
            let Ok(compiled) = compile(rule) else { panic!("{rule}") };
            for value in values {
                assert_eq!(compiled.fits(value), compiled.regex.is_match(value), "{rule} of {value:?}");
            }
        }
        for rule in &simple[..14] {
            assert!(Run::of(rule).is_some(), "{rule}");
        }
        for rule in
            [r"\d+?", "[a-z]+x", "[a[b]]+", r"\d{,3}", r"\d{a}", "a+", r"\d+\d+", "(?i)[a-z]+", r"\D+", "[a-z]+|b"]
        {
            assert!(Run::of(rule).is_none(), "{rule}");
        }
    }

    #[test]
    fn a_rule_matches_the_whole_value() {
        let pattern = Pattern::parse(b"/{a:b|c}").unwrap();
        let [Segment::Param(param)] = &pattern.segments[..] else { panic!() };
        assert!(param.find(b"b").is_some() && param.find(b"c").is_some());
        assert!(param.find(b"bc").is_none() && param.find(b"c\n").is_none());
    }
}
