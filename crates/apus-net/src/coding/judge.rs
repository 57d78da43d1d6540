//! Whether an answer is coded, by its head and what the request accepts.

use apus_proto::coding::{Accepted, Coding};
use apus_proto::http1::response;

use super::Compression;
use crate::answer::ResponseHead;

/// The type of an answer that names none.
const DEFAULT_TYPE: &[u8] = b"text/html";

/// What becomes of an answer, and what its head says of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Coded {
    /// It depends on Accept-Encoding.
    pub(crate) varies: bool,
    /// Its coding.
    pub(crate) coding: Option<Coding>,
    /// Where in the lines a strong entity tag stands, which is a weak one of what is coded; 0 for none.
    pub(crate) tag_at: u32,
    /// The lines say themselves that it depends on Accept-Encoding.
    told: bool,
}

/// What the lines of a head say.
#[derive(Default)]
struct Lines<'a> {
    kind: Option<&'a [u8]>,
    tag_at: u32,
    told: bool,
    /// It is coded already, a part, or must stay as it is.
    fixed: bool,
}

/// Judges an answer to a client that accepts these codings.
pub(crate) fn judge(config: &Compression, accepted: Accepted, head: &ResponseHead) -> Coded {
    let status = head.final_status();
    if head.plain || status == 206 || !response::status_has_body(status) {
        return Coded::default();
    }
    let lines = Lines::of(&head.lines);
    if lines.fixed || !config.fits(lines.kind.unwrap_or(DEFAULT_TYPE)) {
        return Coded::default();
    }
    let coding = accepted.by_preference().next();
    Coded { varies: true, coding, tag_at: lines.tag_at, told: lines.told }
}

impl Coded {
    /// The same answer as it is.
    pub(crate) fn uncoded(self) -> Self {
        Self { coding: None, ..self }
    }

    /// Writes the lines of a head.
    pub(crate) fn write(self, out: &mut Vec<u8>, lines: &[u8]) {
        let tag_at = self.tag_at as usize;
        match self.coding {
            Some(_) if tag_at > 0 => {
                // RFC 9110 section 8.8.3: the bytes are others, what they mean is the same.
                out.extend_from_slice(&lines[..tag_at]);
                out.extend_from_slice(b"W/");
                out.extend_from_slice(&lines[tag_at..]);
            }
            _ => out.extend_from_slice(lines),
        }
        if let Some(coding) = self.coding {
            response::write_field(out, b"Content-Encoding", coding.name().as_bytes());
        }
        if self.varies && !self.told {
            out.extend_from_slice(b"Vary: Accept-Encoding\r\n");
        }
    }
}

impl<'a> Lines<'a> {
    fn of(lines: &'a [u8]) -> Self {
        let mut read = Self::default();
        let mut at = 0;
        for line in lines.split_inclusive(|byte| *byte == b'\n') {
            let start = at;
            at += line.len();
            let Some(colon) = line.iter().position(|byte| *byte == b':') else { continue };
            let name = &line[..colon];
            if !matches!(name.len(), 4 | 12 | 13 | 16) {
                continue;
            }
            let value = line[colon + 1..].trim_ascii();
            let is = |expected: &[u8]| name.eq_ignore_ascii_case(expected);
            let says = |word: &[u8]| {
                value.split(|byte| *byte == b',').any(|member| member.trim_ascii().eq_ignore_ascii_case(word))
            };
            match name.len() {
                4 if is(b"etag") && value.starts_with(b"\"") => {
                    let space = line[colon + 1..].len() - line[colon + 1..].trim_ascii_start().len();
                    read.tag_at = (start + colon + 1 + space) as u32;
                }
                4 if is(b"vary") => read.told |= says(b"accept-encoding") || says(b"*"),
                12 if is(b"content-type") => read.kind = Some(value),
                13 if is(b"content-range") => read.fixed = true,
                // RFC 9111 section 5.2.2.6.
                13 if is(b"cache-control") => read.fixed |= says(b"no-transform"),
                16 if is(b"content-encoding") => read.fixed = true,
                _ => {}
            }
        }
        read
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_say_what_is_to_be_done() {
        let read = Lines::of(b"X-A: 1\r\nETag: \"a\"\r\nVary: Cookie, accept-encoding\r\nContent-Type: a/b\r\n");
        assert_eq!((read.kind, read.tag_at, read.told, read.fixed), (Some(&b"a/b"[..]), 14, true, false));
        for fixed in ["Content-Encoding: br", "content-range: bytes 0-1/2", "Cache-Control: public, No-Transform"] {
            assert!(Lines::of(format!("{fixed}\r\n").as_bytes()).fixed, "{fixed}");
        }
        assert_eq!(Lines::of(b"ETag: W/\"a\"\r\n").tag_at, 0);
    }

    #[test]
    fn a_coded_answer_has_a_weak_tag() {
        let lines = b"ETag: \"a\"\r\nX-B: 2\r\n";
        let coded = Coded { varies: true, coding: Some(Coding::Gzip), tag_at: Lines::of(lines).tag_at, told: false };
        let mut out = Vec::new();
        coded.write(&mut out, lines);
        let expected = b"ETag: W/\"a\"\r\nX-B: 2\r\nContent-Encoding: gzip\r\nVary: Accept-Encoding\r\n";
        assert_eq!(out.escape_ascii().to_string(), expected.escape_ascii().to_string());
        let mut out = Vec::new();
        coded.uncoded().write(&mut out, lines);
        assert_eq!(out, b"ETag: \"a\"\r\nX-B: 2\r\nVary: Accept-Encoding\r\n");
    }

    #[test]
    fn types_may_be_chosen() {
        let mut config = Compression { level: 1, min_length: 20, types: Vec::new(), told: 0 };
        assert!(config.fits(b"text/html; charset=UTF-8") && config.fits(b"Application/JSON"));
        assert!(!config.fits(b"image/png") && !config.fits(b"text/event-stream"));
        config.types = vec!["text/*".to_owned(), "x/y".to_owned()];
        assert!(config.fits(b"text/event-stream") && config.fits(b"X/Y;a=b") && !config.fits(b"application/json"));
    }
}
