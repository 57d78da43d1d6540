//! The head of a response while PHP code puts it together.

use std::cell::RefCell;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};

use apus_net::ResponseHead;
use apus_net::proto::grammar::is_token_byte;
use apus_net::proto::http1::response::{is_field_name, is_field_value};

/// What became of a field.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Set {
    /// It will be sent.
    Taken,
    /// The server sets this field by itself.
    Ours,
    /// The name or value holds bytes that RFC 9110 section 5 forbids.
    Invalid,
}

/// A line of `ResponseHead::lines`.
struct Line {
    end: u32,
    name_len: u16,
    /// The server has nothing to do with the field, and no line before this one has its name.
    alone: bool,
}

/// A response head under construction: `lines` is what will be sent, `index` finds the lines of a name again.
#[derive(Default)]
pub(super) struct Head {
    pub(super) wire: ResponseHead,
    index: Vec<Line>,
    /// The lines of the response that had this memory before: a handler mostly sets the same fields every time.
    last: (Vec<u8>, Vec<Line>),
    /// `wire.lines` and `index` differ from how `last` begins.
    differs: bool,
}

/// A head that a response has, in memory that earlier ones used.
pub(super) struct Borrowed(ManuallyDrop<Box<Head>>);

thread_local! {
    /// Heads of earlier responses, empty.
    #[expect(clippy::vec_box, reason = "a head moves as one pointer")]
    static SPARE: RefCell<Vec<Box<Head>>> = const { RefCell::new(Vec::new()) };
}

/// Spare heads kept at most.
const SPARES: usize = 64;
/// Heads that grew beyond this many bytes are not kept.
const SPARE_BYTES: usize = 4096;

impl Borrowed {
    /// An empty head.
    pub(super) fn take() -> Self {
        Self(ManuallyDrop::new(SPARE.with(|spare| spare.borrow_mut().pop()).unwrap_or_else(|| Box::new(Head::roomy()))))
    }
}

impl Deref for Borrowed {
    type Target = Head;

    fn deref(&self) -> &Head {
        &self.0
    }
}

impl DerefMut for Borrowed {
    fn deref_mut(&mut self) -> &mut Head {
        &mut self.0
    }
}

impl Drop for Borrowed {
    fn drop(&mut self) {
        // SAFETY: taken once, here; the value is gone afterwards.
        let mut head = unsafe { ManuallyDrop::take(&mut self.0) };
        if head.wire.lines.capacity() > SPARE_BYTES {
            return;
        }
        head.clear();
        // At the end of the thread there is no list any more: the head is freed.
        let _ = SPARE.try_with(|spare| {
            let mut spare = spare.borrow_mut();
            if spare.len() < SPARES {
                spare.push(head);
            }
        });
    }
}

impl Head {
    fn roomy() -> Self {
        let mut head = Self { wire: ResponseHead::new(200), index: Vec::with_capacity(4), ..Self::default() };
        head.wire.lines.reserve(256);
        head
    }

    fn clear(&mut self) {
        let mut lines = std::mem::take(&mut self.wire.lines);
        if self.differs {
            std::mem::swap(&mut lines, &mut self.last.0);
            std::mem::swap(&mut self.index, &mut self.last.1);
            self.differs = false;
        }
        lines.clear();
        self.index.clear();
        self.wire = ResponseHead { lines, ..ResponseHead::new(200) };
    }

    /// Sets a field that was set at the same place in `last`, with the same bytes: it was found valid then. `false`:
    /// it was not.
    #[inline]
    fn set_again(&mut self, name: &[u8], value: &[u8]) -> bool {
        if self.differs {
            return false;
        }
        let Some(&Line { end, name_len, alone: true }) = self.last.1.get(self.index.len()) else { return false };
        let Some(bytes) = self.last.0.get(self.wire.lines.len()..end as usize) else { return false };
        let same = usize::from(name_len) == name.len()
            && bytes.len() == name.len() + value.len() + 4
            && bytes.starts_with(name)
            && bytes[name.len() + 2..].starts_with(value);
        if same {
            self.wire.has_content_type |= name == b"Content-Type";
            self.wire.lines.extend_from_slice(bytes);
            self.index.push(Line { end, name_len, alone: true });
        }
        same
    }

    /// Replaces all lines of `name` by one; changes nothing when it is invalid.
    pub(super) fn set_one(&mut self, name: &[u8], value: &[u8], format: bool) -> Set {
        if self.set_again(name, value) {
            return Set::Taken;
        }
        let usual = name == b"Content-Type";
        if !format || !(usual || is_ordinary(name)) {
            return self.set(name, std::iter::once(value), format);
        }
        let value = value.trim_ascii();
        if !is_field_value(value) {
            return Set::Invalid;
        }
        if !self.index.is_empty() {
            self.remove(name);
        }
        let start = self.wire.lines.len();
        self.wire.lines.reserve(name.len() + value.len() + 4);
        if usual {
            self.wire.has_content_type = true;
            self.wire.lines.extend_from_slice(b"Content-Type: ");
        } else if self.write_name(name) {
            self.wire.lines.extend_from_slice(b": ");
        } else {
            self.wire.lines.truncate(start);
            return Set::Invalid;
        }
        self.wire.lines.extend_from_slice(value);
        self.wire.lines.extend_from_slice(b"\r\n");
        self.pushed(name, true);
        Set::Taken
    }

    /// Appends a name as [`format_name`] has it. Whether it is one.
    #[inline]
    fn write_name(&mut self, name: &[u8]) -> bool {
        let (mut valid, mut case) = (!name.is_empty(), &FORMATTED[0]);
        self.wire.lines.extend(name.iter().map(|&byte| {
            let formatted = case[usize::from(byte)];
            valid &= formatted != 0;
            case = &FORMATTED[usize::from(byte != b'-')];
            formatted
        }));
        valid
    }

    /// Replaces all lines of `name` by one for each value; changes nothing when one is invalid.
    pub(super) fn set<'a>(&mut self, name: &[u8], values: impl Iterator<Item = &'a [u8]> + Clone, format: bool) -> Set {
        if !is_name(name) || !values.clone().all(|value| is_valid(name, value.trim_ascii())) {
            return Set::Invalid;
        }
        if !values.clone().all(|value| is_heard(name, value.trim_ascii())) {
            return Set::Ours;
        }
        self.remove(name);
        for value in values {
            self.put(name, value.trim_ascii(), format);
        }
        Set::Taken
    }

    /// The program wants no Content-Length.
    pub(super) fn tell_no_length(&mut self) {
        self.remove(b"content-length");
        self.wire.untold_length = true;
    }

    /// Adds one line.
    pub(super) fn add(&mut self, name: &[u8], value: &[u8], format: bool) -> Set {
        let value = value.trim_ascii();
        if !is_name(name) || !is_valid(name, value) {
            return Set::Invalid;
        }
        if !is_heard(name, value) {
            return Set::Ours;
        }
        self.put(name, value, format);
        Set::Taken
    }

    /// Adds one line that was found valid.
    fn put(&mut self, name: &[u8], value: &[u8], format: bool) {
        // Nearly every answer has it, and nearly always written like that.
        let usual = name == b"Content-Type";
        if usual {
            self.wire.has_content_type = true;
        } else if self.special(name, value) {
            return;
        }
        let start = self.wire.lines.len();
        self.wire.push_field(name, value);
        if format && !usual {
            format_name(&mut self.wire.lines[start..start + name.len()]);
        }
        self.pushed(name, false);
    }

    /// A line was put behind the others.
    fn pushed(&mut self, name: &[u8], alone: bool) {
        self.differs = true;
        self.index.push(Line { end: self.wire.lines.len() as u32, name_len: name.len() as u16, alone });
    }

    /// Notes fields that the server has to know of. `true`: it sends the line by itself.
    fn special(&mut self, name: &[u8], value: &[u8]) -> bool {
        match name.len() {
            4 if name.eq_ignore_ascii_case(b"date") => self.wire.has_date = true,
            6 if name.eq_ignore_ascii_case(b"server") => self.wire.has_server = true,
            12 if name.eq_ignore_ascii_case(b"content-type") => self.wire.has_content_type = true,
            14 if name.eq_ignore_ascii_case(b"content-length") => {
                self.wire.content_length = length(value);
                let padded = value.len() > 1 && value[0] == b'0';
                self.wire.length_digits = if padded { u8::try_from(value.len()).unwrap_or(u8::MAX) } else { 0 };
                self.wire.untold_length = false;
                return true;
            }
            16 if name.eq_ignore_ascii_case(b"content-encoding") && value.eq_ignore_ascii_case(b"identity") => {
                // RFC 9110 section 8.4.1: not sent; the program wants the body as it is.
                self.wire.plain = true;
                return true;
            }
            10 if name.eq_ignore_ascii_case(b"connection") => {
                self.wire.close |= value.eq_ignore_ascii_case(b"close");
                self.wire.tell_keep_alive |= value.eq_ignore_ascii_case(b"keep-alive");
                return true;
            }
            _ => {}
        }
        false
    }

    /// The opposite of [`Head::special`]: as if the field had never been set.
    fn forget_special(&mut self, name: &[u8]) {
        match name.len() {
            4 if self.wire.has_date && name.eq_ignore_ascii_case(b"date") => self.wire.has_date = false,
            6 if self.wire.has_server && name.eq_ignore_ascii_case(b"server") => self.wire.has_server = false,
            12 if self.wire.has_content_type && name.eq_ignore_ascii_case(b"content-type") => {
                self.wire.has_content_type = false;
            }
            16 if self.wire.plain && name.eq_ignore_ascii_case(b"content-encoding") => self.wire.plain = false,
            14 if (self.wire.content_length.is_some() || self.wire.untold_length)
                && name.eq_ignore_ascii_case(b"content-length") =>
            {
                self.wire.content_length = None;
                (self.wire.length_digits, self.wire.untold_length) = (0, false);
            }
            10 if (self.wire.close || self.wire.tell_keep_alive) && name.eq_ignore_ascii_case(b"connection") => {
                self.wire.close = false;
                self.wire.tell_keep_alive = false;
            }
            _ => {}
        }
    }

    fn remove(&mut self, name: &[u8]) {
        self.forget_special(name);
        let mut start = 0;
        let mut at = 0;
        while at < self.index.len() {
            let (end, len) = (self.index[at].end as usize, usize::from(self.index[at].name_len));
            if len == name.len() && self.wire.lines[start..start + len].eq_ignore_ascii_case(name) {
                self.differs = true;
                self.wire.lines.drain(start..end);
                self.index.remove(at);
                for line in &mut self.index[at..] {
                    line.end -= (end - start) as u32;
                }
            } else {
                start = end;
                at += 1;
            }
        }
    }

    /// The lines so far: name, value.
    pub(super) fn lines(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        let mut start = 0;
        self.index.iter().map(move |line| {
            let bytes = &self.wire.lines[start..line.end as usize];
            start = line.end as usize;
            let name = usize::from(line.name_len);
            (&bytes[..name], bytes[name + 1..].trim_ascii())
        })
    }
}

/// The bytes that a Content-Length announces: digits only (RFC 9110 section 8.6).
fn length(value: &[u8]) -> Option<u64> {
    let digits = value.iter().all(u8::is_ascii_digit);
    std::str::from_utf8(value).ok().filter(|_| digits).and_then(|text| text.parse().ok())
}

/// Whether it is a field name, of a length that the index can hold.
fn is_name(name: &[u8]) -> bool {
    is_field_name(name) && u16::try_from(name.len()).is_ok()
}

fn is_valid(name: &[u8], value: &[u8]) -> bool {
    is_field_value(value) && (!name.eq_ignore_ascii_case(b"content-length") || length(value).is_some())
}

/// Whether the program has a say in this field: the server frames messages by itself, and of Connection hears "close"
/// and "keep-alive".
fn is_heard(name: &[u8], value: &[u8]) -> bool {
    match name.len() {
        10 if name.eq_ignore_ascii_case(b"connection") => {
            value.eq_ignore_ascii_case(b"close") || value.eq_ignore_ascii_case(b"keep-alive")
        }
        10 => !name.eq_ignore_ascii_case(b"keep-alive"),
        17 => !name.eq_ignore_ascii_case(b"transfer-encoding"),
        _ => true,
    }
}

/// Whether a field is one that the server has nothing to do with: see [`Head::special`], [`is_valid`] and [`is_heard`].
/// Such a name is of a length that the index can hold, and need not be one.
fn is_ordinary(name: &[u8]) -> bool {
    let first = name.first().map_or(0, |byte| byte | 0x20);
    !matches!((first, name.len()), (b'd', 4) | (b's', 6) | (b'c' | b'k', 10) | (b'c', 12 | 14 | 16) | (b't', 17))
        && u16::try_from(name.len()).is_ok()
}

/// What [`format_name`] makes of each byte, first where a word begins; 0 for what no name has.
static FORMATTED: [[u8; 256]; 2] = formatted();

const fn formatted() -> [[u8; 256]; 2] {
    let mut table = [[0; 256]; 2];
    let mut byte = 0;
    while byte < 256 {
        if is_token_byte(byte as u8) {
            table[0][byte] = (byte as u8).to_ascii_uppercase();
            table[1][byte] = (byte as u8).to_ascii_lowercase();
        }
        byte += 1;
    }
    table
}

/// `content-type` becomes `Content-Type`.
fn format_name(name: &mut [u8]) {
    let mut start = true;
    for byte in name {
        *byte = if start { byte.to_ascii_uppercase() } else { byte.to_ascii_lowercase() };
        start = *byte == b'-';
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(head: &mut Head, name: &str, value: &str) -> Set {
        head.set_one(name.as_bytes(), value.as_bytes(), true)
    }

    #[test]
    fn the_short_way_sets_what_the_long_one_does() {
        let names = [
            "x-a",
            "X-B",
            "content-type",
            "Content-Type",
            "CONTENT-TYPE",
            "date",
            "set-cookie",
            "x--y",
            "-",
            "",
            "é",
            "a b",
            "X-",
        ];
        for first in names {
            for second in names {
                for value in ["", " v ", "a\tb", "a\rb", "12"] {
                    let (mut short, mut long) = (Borrowed::take(), Borrowed::take());
                    for name in [first, second] {
                        let set = long.set(name.as_bytes(), std::iter::once(value.as_bytes()), true);
                        assert_eq!(one(&mut short, name, value), set, "{name}");
                    }
                    assert_eq!(format!("{:?}", short.wire), format!("{:?}", long.wire), "{first} {second}");
                    assert!(short.lines().eq(long.lines()));
                }
            }
        }
    }

    #[test]
    fn a_field_replaces_earlier_lines_of_its_name() {
        let mut head = Borrowed::take();
        assert_eq!(head.set(b"x-a", [&b"1"[..], b"2"].into_iter(), true), Set::Taken);
        assert_eq!(one(&mut head, "x-b", "3"), Set::Taken);
        assert_eq!(one(&mut head, "X-A", "4"), Set::Taken);
        assert_eq!(head.wire.lines, b"X-B: 3\r\nX-A: 4\r\n");
        assert_eq!(head.lines().collect::<Vec<_>>(), [(&b"X-B"[..], &b"3"[..]), (b"X-A", b"4")]);
    }

    #[test]
    fn memory_that_was_used_sets_what_fresh_memory_sets() {
        type Field = (&'static [u8], &'static [u8], bool);
        let fields: [Field; 8] = [
            (b"X-A", b"1", true),
            (b"X-A", b" 1", true),
            (b"x-a", b"1", true),
            (b"x-a", b"1", false),
            (b"X", b"A: 1", true),
            (b"Content-Type", b"text/x", true),
            (b"Connection", b"close", true),
            (b"X-A:", b"1", true),
        ];
        let mut used = Head::roomy();
        // All sequences of three, in an order in which each follows many others in the same memory.
        for round in 0..fields.len().pow(3) * 7 {
            let mut fresh = Head::roomy();
            let chosen = round * 13;
            for at in [chosen, chosen / 8, chosen / 64] {
                let (name, value, format) = fields[at % fields.len()];
                let added = round % 5 == 4 && at == chosen / 8;
                let set = |head: &mut Head| {
                    if added { head.add(name, value, format) } else { head.set_one(name, value, format) }
                };
                assert_eq!(set(&mut used), set(&mut fresh), "{}", name.escape_ascii());
            }
            assert_eq!(format!("{:?}", used.wire), format!("{:?}", fresh.wire), "{round}");
            assert!(used.lines().eq(fresh.lines()));
            used.clear();
        }
    }

    #[test]
    fn names_are_sent_as_given_without_format() {
        let mut head = Borrowed::take();
        head.set(b"x-lower", std::iter::once(&b"1"[..]), false);
        assert_eq!(head.wire.lines, b"x-lower: 1\r\n");
    }

    #[test]
    fn response_splitting_is_refused() {
        let mut head = Borrowed::take();
        assert_eq!(one(&mut head, "x", "a\r\nEvil: 1"), Set::Invalid);
        assert_eq!(one(&mut head, "x y", "a"), Set::Invalid);
        assert_eq!(one(&mut head, "", "a"), Set::Invalid);
        assert!(head.wire.lines.is_empty());
    }

    #[test]
    fn what_is_refused_leaves_the_earlier_lines() {
        let mut head = Borrowed::take();
        assert_eq!(one(&mut head, "X-A", "1"), Set::Taken);
        assert_eq!(head.set(b"X-A", [&b"2"[..], b"3\r\n4"].into_iter(), true), Set::Invalid);
        assert_eq!(one(&mut head, "Content-Length", "5"), Set::Taken);
        assert_eq!(one(&mut head, "Content-Length", "+6"), Set::Invalid);
        assert_eq!((head.wire.lines.as_slice(), head.wire.content_length), (&b"X-A: 1\r\n"[..], Some(5)));
    }

    #[test]
    fn a_length_is_kept_as_it_was_written() {
        let mut head = Borrowed::take();
        let of = |head: &Head| (head.wire.content_length, head.wire.length_digits, head.wire.untold_length);
        for (text, length, digits) in [("007", 7, 3), ("0", 0, 0), ("70", 70, 0)] {
            head.tell_no_length();
            assert_eq!(of(&head), (None, 0, true));
            assert_eq!(one(&mut head, "Content-Length", text), Set::Taken);
            assert_eq!(of(&head), (Some(length), digits, false));
        }
        assert_eq!(one(&mut head, "Content-Length", ""), Set::Invalid);
    }

    #[test]
    fn framing_belongs_to_the_server() {
        let mut head = Borrowed::take();
        assert_eq!(one(&mut head, "Transfer-Encoding", "chunked"), Set::Ours);
        assert_eq!(one(&mut head, "Connection", "upgrade"), Set::Ours);
        assert_eq!(one(&mut head, "Connection", "Keep-Alive"), Set::Taken);
        assert!(head.wire.tell_keep_alive && !head.wire.close);
        assert_eq!(one(&mut head, "Connection", "close"), Set::Taken);
        assert_eq!(one(&mut head, "Connection", "upgrade"), Set::Ours);
        assert_eq!(one(&mut head, "Content-Length", "12"), Set::Taken);
        assert_eq!(one(&mut head, "Content-Length", "-1"), Set::Invalid);
        assert!(head.wire.close && head.wire.lines.is_empty());
    }

    #[test]
    fn a_field_that_was_taken_away_was_never_set() {
        let mut head = Borrowed::take();
        for (name, value) in [
            ("Connection", "close"),
            ("connection", "keep-alive"),
            ("date", "never"),
            ("SERVER", "mine"),
            ("Content-Type", "text/x"),
            ("Content-Length", "7"),
            ("Content-Length", "007"),
            ("Content-Encoding", "Identity"),
            ("Content-Encoding", "br"),
            ("X-Other", "1"),
        ] {
            assert_eq!(one(&mut head, name, value), Set::Taken);
            assert_eq!(head.set(name.as_bytes(), std::iter::empty(), true), Set::Taken);
        }
        let (wire, fresh) = (&head.wire, &Borrowed::take().wire);
        assert_eq!(format!("{wire:?}"), format!("{fresh:?}"));
        assert_eq!(one(&mut head, "Connection", "close"), Set::Taken);
        assert_eq!(one(&mut head, "Connection", "keep-alive"), Set::Taken);
        assert!(head.wire.tell_keep_alive && !head.wire.close, "the last rules");
    }
}
