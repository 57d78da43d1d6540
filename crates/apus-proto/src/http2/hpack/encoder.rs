//! Fields to field blocks (RFC 7541 section 6).

use super::integer::{write_integer, write_text};
use super::static_table;
use super::table::{DEFAULT_TABLE, Name, OVERHEAD, Table};

/// Fields remembered that were sent once.
const SEEN: usize = 32;

/// Whether a field may be put into the table of the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Indexing {
    /// As [`Encoder::field`] sees fit.
    Auto,
    /// It is different each time.
    Without,
    /// It is secret, and no intermediary may index it (RFC 7541 section 7.1.3).
    Never,
}

/// The writing side of a connection.
///
/// A field goes into the table when it is sent the second time: one that never comes again would only push out those
/// that do.
#[derive(Debug)]
pub struct Encoder {
    table: Table,
    /// The most that we use of what the peer allows.
    most: usize,
    /// The size that the peer has yet to be told, and the smallest one on the way there.
    resized: Option<(usize, usize)>,
    /// A hash of each field that was sent and is not in the table, at a place that the hash tells.
    seen: [u32; SEEN],
    changes: u32,
}

impl Encoder {
    /// An encoder whose table takes at most so many bytes, as RFC 7541 counts.
    pub fn new(most: usize) -> Self {
        let resized = (most < DEFAULT_TABLE).then_some((most, most));
        Self { table: Table::new(most.min(DEFAULT_TABLE)), most, resized, seen: [0; SEEN], changes: 0 }
    }

    /// The peer's `SETTINGS_HEADER_TABLE_SIZE`.
    pub fn set_limit(&mut self, limit: usize) {
        let size = limit.min(self.most);
        let (told, lowest) = self.resized.unwrap_or((self.table.max(), usize::MAX));
        if size != told || self.resized.is_some() {
            self.resized = Some((size, lowest.min(size)));
        }
    }

    /// Bytes that the tables take.
    pub fn footprint(&self) -> usize {
        self.table.footprint()
    }

    /// A number that is another one whenever the table is.
    pub fn changes(&self) -> u32 {
        self.changes
    }

    /// Begins a block: has to be called before its first field.
    pub fn begin(&mut self, out: &mut Vec<u8>) {
        let Some((size, lowest)) = self.resized.take() else { return };
        self.changes = self.changes.wrapping_add(1);
        if lowest < size {
            self.table.resize(lowest);
            write_integer(lowest, 5, 0x20, out);
        }
        self.table.resize(size);
        write_integer(size, 5, 0x20, out);
    }

    /// Appends `:status`.
    pub fn status(&mut self, status: u16, out: &mut Vec<u8>) {
        if status == 200 {
            return out.push(0x80 | static_table::STATUS_200);
        }
        let mut digits = itoa::Buffer::new();
        self.field(b":status", digits.format(status).as_bytes(), Indexing::Auto, out);
    }

    /// Appends a field. The name is in lower case. Tells whether the same is appended for it as long as the table does
    /// not [change](Self::changes).
    pub fn field(&mut self, name: &[u8], value: &[u8], indexing: Indexing, out: &mut Vec<u8>) -> bool {
        let first = static_table::name(name);
        if indexing == Indexing::Never {
            literal(first.map(usize::from), 0x10, 4, name, value, out);
            return true;
        }
        if let Some(index) = first.and_then(|first| static_table::value(first, value)) {
            write_integer(usize::from(index), 7, 0x80, out);
            return true;
        }
        let (whole, same_name) = self.table.find(name, value);
        if let Some(index) = whole {
            write_integer(index, 7, 0x80, out);
            return true;
        }
        let index = first.map(usize::from).or(same_name);
        let fits = (name.len() + value.len() + OVERHEAD) * 4 <= self.table.max();
        if indexing == Indexing::Auto && fits && self.was_seen(name, value) {
            literal(index, 0x40, 6, name, value, out);
            // The index was found in the table just now, so that this cannot fail.
            let _ = self.table.insert(index.map_or(Name::Text(name), Name::Index), value);
            self.changes = self.changes.wrapping_add(1);
            return false;
        }
        literal(index, 0, 4, name, value, out);
        // One that fits is entered when it comes again.
        indexing == Indexing::Without || !fits
    }

    /// Whether the field was sent before, lately; it is remembered if not.
    fn was_seen(&mut self, name: &[u8], value: &[u8]) -> bool {
        let hash = hash(name, value);
        let seen = &mut self.seen[hash as usize % SEEN];
        let known = *seen == hash;
        *seen = hash;
        known
    }
}

/// Of a few bytes of the field: a field that is taken for another is indexed too early, and nothing else comes of it.
fn hash(name: &[u8], value: &[u8]) -> u32 {
    let ends = |text: &[u8]| {
        let mut word = [0; 8];
        let len = text.len().min(8);
        word[..len].copy_from_slice(&text[..len]);
        let first = u64::from_le_bytes(word);
        word[..len].copy_from_slice(&text[text.len() - len..]);
        first.rotate_left(29) ^ u64::from_le_bytes(word) ^ text.len() as u64
    };
    let mixed = (ends(name).rotate_left(17) ^ ends(value)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> 32) as u32 | 1 << 31
}

fn literal(index: Option<usize>, pattern: u8, prefix: u32, name: &[u8], value: &[u8], out: &mut Vec<u8>) {
    write_integer(index.unwrap_or(0), prefix, pattern, out);
    if index.is_none() {
        write_text(name, out);
    }
    write_text(value, out);
}
