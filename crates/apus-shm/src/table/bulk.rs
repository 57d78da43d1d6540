//! Loading many rows from a stream: what the formats have in common.
//!
//! The source and the progress callback are called with no lock held: they may take long and may do anything. A row
//! that is loaded is there for all at once; rows loaded before an error, or before the callback ended it, stay.

use std::io::Read;

use super::schema::{Cell, Key, Keys, Mode};
use super::{Table, TableError};

/// Rows from one call of the progress callback to the next.
const PROGRESS: u64 = 1 << 14;
/// Bytes that are read at a time.
const CHUNK: usize = 1 << 18;
/// Longest row of a source, in bytes, unless told otherwise.
pub const ROW_LONGEST: usize = 16 << 20;

/// What was loaded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Loaded {
    /// Rows.
    pub rows: u64,
    /// Bytes of the source that they took, and what stood around them.
    pub bytes: u64,
    /// The progress callback ended it.
    pub stopped: bool,
}

/// What a name of the source stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Part {
    /// The row's key.
    pub(super) key: bool,
    /// A column.
    pub(super) column: Option<usize>,
}

/// A value of the source.
#[derive(Debug, Clone, Copy)]
pub(super) enum Field<'a> {
    Cell(Cell<'a>),
    /// A text that lies in the scratch, up to this place.
    Copied(usize, usize),
}

/// A load under way.
pub(super) struct Load<'a, P> {
    table: &'a Table,
    key: &'a str,
    mode: Mode,
    progress: P,
    pub(super) loaded: Loaded,
}

impl<'a, P: FnMut(u64, u64) -> bool> Load<'a, P> {
    pub(super) fn new(table: &'a Table, key: &'a str, mode: Mode, progress: P) -> Self {
        Self { table, key, mode, progress, loaded: Loaded::default() }
    }

    /// What a name stands for. None: nothing.
    pub(super) fn part(&self, name: &str) -> Option<Part> {
        let part = Part { key: name == self.key, column: self.table.schema().column(name) };
        (part != Part::default()).then_some(part)
    }

    /// The name of the key in the source.
    pub(super) fn key_name(&self) -> &'a str {
        self.key
    }

    /// The table.
    pub(super) fn table(&self) -> &'a Table {
        self.table
    }

    /// Sets a row. `place` says where it stands in the source.
    pub(super) fn row(
        &mut self,
        key: Cell<'_>,
        cells: &[(usize, Cell<'_>)],
        place: impl Fn() -> String,
    ) -> Result<(), TableError> {
        let mut digits = [0; 20];
        let key = match (self.table.schema().keys, key) {
            (Keys::Ids { .. }, Cell::Int(id)) if id >= 0 => Key::Id(id as u64),
            (Keys::Text { .. }, Cell::Text(text)) => Key::Text(text),
            (Keys::Text { .. }, Cell::Int(id)) => Key::Text(decimal(id, &mut digits)),
            (Keys::Ids { .. }, _) => return Err(self.error(&place(), "its key must be an integer from 0 on")),
            (Keys::Text { .. }, Cell::Float(_)) => {
                return Err(self.error(&place(), "its key must be a text or an integer"));
            }
        };
        match self.table.set(key, cells, self.mode) {
            Ok(true) => {}
            Ok(false) => {
                let why = if self.mode == Mode::Insert {
                    "a row of this key is there"
                } else {
                    "no row of this key is there"
                };
                return Err(self.error(&place(), why));
            }
            Err(error) => return Err(self.error(&place(), &error.to_string())),
        }
        self.loaded.rows += 1;
        Ok(())
    }

    /// Calls back when it is time to. False: it is to end here.
    pub(super) fn goes_on(&mut self, bytes: u64) -> bool {
        self.loaded.bytes = bytes;
        if self.loaded.rows.is_multiple_of(PROGRESS)
            && self.loaded.rows > 0
            && !(self.progress)(self.loaded.rows, bytes)
        {
            self.loaded.stopped = true;
        }
        !self.loaded.stopped
    }

    /// All has been read.
    pub(super) fn end(mut self, bytes: u64) -> Loaded {
        self.loaded.bytes = bytes;
        if !self.loaded.stopped && !self.loaded.rows.is_multiple_of(PROGRESS) || self.loaded.rows == 0 {
            (self.progress)(self.loaded.rows, bytes);
        }
        self.loaded
    }

    /// An error that says where it is.
    pub(super) fn error(&self, place: &str, why: &str) -> TableError {
        TableError::File(format!("row {}, {place}: {why}", self.loaded.rows + 1))
    }
}

/// The bytes of a source that are in memory: `buffer[start..end]`.
pub(super) struct Source<R> {
    reader: R,
    pub(super) buffer: Vec<u8>,
    pub(super) start: usize,
    pub(super) end: usize,
    /// Where `start` is in the source.
    pub(super) offset: u64,
    /// Longest row, in bytes.
    pub(super) longest: usize,
}

impl<R: Read> Source<R> {
    pub(super) fn new(reader: R, longest: usize) -> Self {
        Self { reader, buffer: vec![0; CHUNK], start: 0, end: 0, offset: 0, longest }
    }

    /// What is in memory.
    pub(super) fn rest(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    pub(super) fn pass(&mut self, bytes: usize) {
        self.start += bytes;
        self.offset += bytes as u64;
    }

    /// Reads more behind what there is. False: there is no more.
    pub(super) fn more(&mut self) -> Result<bool, TableError> {
        if self.end == self.buffer.len() {
            if self.start > 0 {
                self.buffer.copy_within(self.start..self.end, 0);
                (self.start, self.end) = (0, self.end - self.start);
            }
            if self.end > self.buffer.len() / 2 {
                self.buffer.resize(self.buffer.len() * 2, 0);
            }
        }
        loop {
            match self.reader.read(&mut self.buffer[self.end..]) {
                Ok(bytes) => {
                    self.end += bytes;
                    return Ok(bytes > 0);
                }
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => {
                    let at = self.offset + (self.end - self.start) as u64;
                    return Err(TableError::File(format!("reading failed at byte {at}: {error}")));
                }
            }
        }
    }
}

/// An integer in digits.
fn decimal(value: i64, buffer: &mut [u8; 20]) -> &[u8] {
    let mut rest = value.unsigned_abs();
    let mut at = buffer.len();
    loop {
        at -= 1;
        buffer[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if value < 0 {
        at -= 1;
        buffer[at] = b'-';
    }
    &buffer[at..]
}
