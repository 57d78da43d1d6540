//! Fields that are there as lines of HTTP/1.1, as the heads of answers are.

use super::head::is_connection_specific;
use super::hpack::{Encoder, Indexing};
use crate::grammar::trim_ows;
use crate::scan::find;

/// Names longer than this are copied before they are made lower case.
const MAX_NAME: usize = 64;

/// Lines that are kept, at most, and the bytes of all of them: as much as the heads of a site have in common.
const KEPT: usize = 16;
const KEPT_BYTES: usize = 640;

/// Appends the fields of `lines`, each `Name: value CRLF`. Whoever wrote the lines has validated them; those that must
/// not be sent over HTTP/2 are left out.
pub fn encode_lines(encoder: &mut Encoder, lines: &[u8], out: &mut Vec<u8>) {
    let mut rest = lines;
    while !rest.is_empty() {
        let line;
        (line, rest) = split(rest);
        encode(encoder, line, out);
    }
}

/// Lines that were encoded before, and what they became: most lines of a head stood in the one before, too.
///
/// They belong to one encoder, and are good as long as its table does not change.
#[derive(Debug, Default)]
pub struct KnownLines {
    changes: u32,
    lines: Vec<u8>,
    block: Vec<u8>,
    /// Where each line ends, and what it became.
    ends: Vec<(u16, u16)>,
}

impl KnownLines {
    /// As [`encode_lines`]; the encoder is always the same one.
    pub fn encode(&mut self, encoder: &mut Encoder, lines: &[u8], out: &mut Vec<u8>) {
        self.fit(encoder);
        if lines == self.lines {
            return out.extend_from_slice(&self.block);
        }
        let (mut rest, mut next) = (lines, 0);
        while !rest.is_empty() {
            if let Some((at, len)) = self.find(rest, next) {
                out.extend_from_slice(&self.block[self.becomes(at)]);
                (rest, next) = (&rest[len..], at + 1);
                continue;
            }
            let line;
            (line, rest) = split(rest);
            let from = out.len();
            let keeps = encode(encoder, line, out);
            self.fit(encoder);
            if keeps {
                self.keep(line, &out[from..]);
                next = self.ends.len();
            }
        }
    }

    /// Bytes that they take.
    pub fn footprint(&self) -> usize {
        self.lines.capacity() + self.block.capacity() + self.ends.capacity() * size_of::<(u16, u16)>()
    }

    /// Forgets what was good for another table.
    fn fit(&mut self, encoder: &Encoder) {
        if self.changes != encoder.changes() {
            self.clear();
            self.changes = encoder.changes();
        }
    }

    fn clear(&mut self) {
        self.lines.clear();
        self.block.clear();
        self.ends.clear();
    }

    fn start(&self, at: usize) -> (usize, usize) {
        let (line, block) = at.checked_sub(1).map_or((0, 0), |before| self.ends[before]);
        (line.into(), block.into())
    }

    fn becomes(&self, at: usize) -> std::ops::Range<usize> {
        self.start(at).1..self.ends[at].1.into()
    }

    /// The line that `rest` begins with, and its length; the one at `next` is looked at first.
    fn find(&self, rest: &[u8], next: usize) -> Option<(usize, usize)> {
        (next..self.ends.len()).chain(0..next.min(self.ends.len())).find_map(|at| {
            let line = &self.lines[self.start(at).0..self.ends[at].0.into()];
            rest.starts_with(line).then_some((at, line.len()))
        })
    }

    fn keep(&mut self, line: &[u8], block: &[u8]) {
        // Without its end a line could be the beginning of another.
        if line.len().max(block.len()) > KEPT_BYTES / 4 || line.last() != Some(&b'\n') {
            return;
        }
        let full = self.lines.len() + line.len() > KEPT_BYTES || self.block.len() + block.len() > KEPT_BYTES;
        if full || self.ends.len() == KEPT {
            self.clear();
        }
        self.lines.extend_from_slice(line);
        self.block.extend_from_slice(block);
        self.ends.push((self.lines.len() as u16, self.block.len() as u16));
    }
}

/// The first line, with its end, and the others.
fn split(lines: &[u8]) -> (&[u8], &[u8]) {
    lines.split_at(find(b'\n', lines).map_or(lines.len(), |lf| lf + 1))
}

/// Appends the field of a line. Whether what it becomes may be kept: the same is appended for it as long as the table
/// does not change.
fn encode(encoder: &mut Encoder, line: &[u8], out: &mut Vec<u8>) -> bool {
    let Some(colon) = find(b':', line) else { return true };
    let (name, value) = (&line[..colon], trim_ows(line[colon + 1..].trim_ascii_end()));
    let mut short = [0; MAX_NAME];
    let long;
    let name = if let Some(room) = short.get_mut(..name.len()) {
        room.copy_from_slice(name);
        room.make_ascii_lowercase();
        &*room
    } else {
        long = name.to_ascii_lowercase();
        &long[..]
    };
    let indexing = indexing(name);
    // A secret is not kept here, either.
    is_connection_specific(name) || encoder.field(name, value, indexing, out) && indexing != Indexing::Never
}

/// What is secret, and what hardly ever has the same value twice.
fn indexing(name: &[u8]) -> Indexing {
    match name {
        b"set-cookie" | b"authorization" | b"proxy-authorization" | b"cookie" | b"www-authenticate" => Indexing::Never,
        b"content-length" | b"content-range" | b"etag" | b"last-modified" | b"location" | b"age" | b"x-request-id" => {
            Indexing::Without
        }
        _ => Indexing::Auto,
    }
}

#[cfg(test)]
mod tests {
    use super::super::hpack::{Decoder, Encoder, ListLimits};
    use super::KnownLines;

    /// What a peer makes of heads that are written one after the other.
    fn heard(heads: &[&str], sizes: &[usize]) -> Vec<Vec<String>> {
        let (mut encoder, mut known, mut decoder) = (Encoder::new(4096), KnownLines::default(), Decoder::default());
        let limits = ListLimits { max_list: 1 << 20, max_fields: 1000 };
        let one = |(at, head): (usize, &&str)| {
            if let Some(&size) = sizes.get(at) {
                decoder.set_limit(size);
                encoder.set_limit(size);
            }
            let (mut block, mut fields) = (Vec::new(), Vec::new());
            encoder.begin(&mut block);
            encoder.status(200, &mut block);
            known.encode(&mut encoder, head.as_bytes(), &mut block);
            let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
            let each = |field: super::super::hpack::Field<'_>| {
                fields.push(format!("{}: {}", text(field.name), text(field.value)));
            };
            decoder.decode(&block, &limits, each).unwrap();
            fields
        };
        heads.iter().enumerate().map(one).collect()
    }

    #[test]
    fn known_lines_say_what_was_said() {
        let page = "Content-Type: text/html\r\nServer: apus\r\nDate: one\r\nContent-Length: 5\r\n";
        let later = "Content-Type: text/html\r\nServer: apus\r\nDate: two\r\nContent-Length: 51\r\n";
        let other = "Server: apus\r\nX-Long: a value of its own\r\nConnection: close\r\nDate: two\r\nA: \r\nContent-Length: 5\r\n";
        let secret = "Set-Cookie: a=b\r\nSet-Cookie: a=bc\r\nSet-Cookie: a=b\r\nDate: two\r\nno line";
        let heads: Vec<&str> = [page, page, page, later, page, other, later, secret, later, page, "", other, secret]
            .into_iter()
            .cycle()
            .take(60)
            .collect();
        // The table is made smaller, none and larger on the way.
        for sizes in [&[][..], &[4096, 4096, 100, 100, 0, 0, 0, 4096]] {
            for (head, fields) in heads.iter().zip(heard(&heads, sizes)) {
                let lines = head.lines().filter(|line| line.contains(':') && !line.starts_with("Connection"));
                let wanted = lines.map(|line| {
                    let (name, value) = line.split_once(": ").unwrap_or((line, ""));
                    format!("{}: {value}", name.to_ascii_lowercase())
                });
                let wanted: Vec<String> = std::iter::once(":status: 200".into()).chain(wanted).collect();
                assert_eq!(fields, wanted);
            }
        }
    }

    #[test]
    fn little_is_kept() {
        let (mut encoder, mut known) = (Encoder::new(4096), KnownLines::default());
        for number in 0..2_000 {
            let head = format!("Content-Length: {number}\r\nETag: {}\r\n", "x".repeat(number));
            known.encode(&mut encoder, head.as_bytes(), &mut Vec::new());
            assert!(known.footprint() <= 4096, "{}", known.footprint());
        }
    }
}
