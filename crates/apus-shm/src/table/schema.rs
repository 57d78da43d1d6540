//! What a table is made of, and the values that go in and come out.

use std::ops::Range;

use super::TableError;

/// Most columns of a table.
pub const COLUMNS_MOST: usize = 128;
/// Longest name of a column or an index, in bytes.
pub const NAME_LONGEST: usize = 64;
/// Most ordered indexes of a table.
pub const INDEXES_MOST: usize = 16;
/// Most columns of an index.
pub const INDEX_COLUMNS_MOST: usize = 2;
/// Most rows of a table with text keys.
pub const ROWS_MOST: u64 = 1 << 30;
/// Most ids of a table with integer ids.
pub const IDS_MOST: u64 = u32::MAX as u64;
/// Longest text of a cell, in bytes: the length has 26 bits in a reference to the heap.
pub const TEXT_LONGEST: u32 = (1 << 26) - 1;
/// Longest key, in bytes.
pub const KEY_LONGEST: u32 = 65_535;

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// An integer of 1, 2, 4 or 8 bytes. Unsigned ones of 8 bytes go up to `i64::MAX`.
    Int {
        /// 1, 2, 4 or 8.
        bytes: u8,
        /// Whether it goes below zero.
        signed: bool,
    },
    /// A double.
    Float,
    /// Bytes, stored by their length.
    Text {
        /// Most bytes.
        longest: u32,
    },
    /// Bytes out of few different ones: a row holds a code, each text is stored once.
    Dictionary {
        /// Most bytes of one text.
        longest: u32,
        /// Most different texts, the empty one not counted.
        most: u32,
    },
}

impl Kind {
    /// Bytes of a cell.
    pub fn width(self) -> usize {
        match self {
            Kind::Int { bytes, .. } => usize::from(bytes),
            Kind::Float | Kind::Text { .. } => 8,
            Kind::Dictionary { most, .. } if most <= 0xff => 1,
            Kind::Dictionary { most, .. } if most <= 0xffff => 2,
            Kind::Dictionary { .. } => 4,
        }
    }

    /// The least and the greatest integer of the column.
    pub fn bounds(self) -> (i64, i64) {
        match self {
            Kind::Int { bytes, signed: true } => {
                let greatest = i64::MAX >> (64 - 8 * u32::from(bytes));
                (-greatest - 1, greatest)
            }
            Kind::Int { bytes: 8, .. } => (0, i64::MAX),
            Kind::Int { bytes, .. } => (0, (1 << (8 * u32::from(bytes))) - 1),
            Kind::Float | Kind::Text { .. } | Kind::Dictionary { .. } => (0, 0),
        }
    }
}

/// A column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Its name, unique in the table.
    pub name: String,
    /// What it holds.
    pub kind: Kind,
}

/// How rows are named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keys {
    /// By texts of 1 to `longest` bytes.
    Text {
        /// Most bytes of a key.
        longest: u32,
    },
    /// By integers from 0 on.
    Ids {
        /// The greatest id, plus 1.
        most: u64,
    },
}

/// How cells lie in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// One record a row: a row costs one or two cache lines.
    Rows,
    /// One array a column: no padding, and scans of a column are dense.
    Columns,
}

/// An ordered index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Index {
    /// Its name, unique among the indexes.
    pub name: String,
    /// One or two columns, by number: rows are ordered by the first, then the second, then the row's number.
    pub columns: Vec<usize>,
}

/// What a table is made from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schema {
    /// How rows are named.
    pub keys: Keys,
    /// How cells lie in memory.
    pub layout: Layout,
    /// Rows that fit, exactly.
    pub rows: u64,
    /// The columns.
    pub columns: Vec<Column>,
    /// The ordered indexes.
    pub indexes: Vec<Index>,
}

impl Schema {
    /// A column's number.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }

    /// An index's number.
    pub fn index(&self, name: &str) -> Option<usize> {
        self.indexes.iter().position(|index| index.name == name)
    }

    /// Says what is wrong with it, if anything.
    pub fn check(&self) -> Result<(), TableError> {
        let bad = |text: String| Err(TableError::Schema(text));
        match self.keys {
            Keys::Text { longest } if !(1..=KEY_LONGEST).contains(&longest) => {
                return bad(format!("the longest key must have 1 to {KEY_LONGEST} bytes, not {longest}"));
            }
            Keys::Ids { most } if !(1..=IDS_MOST).contains(&most) => {
                return bad(format!("the greatest id must be 0 to {}, not {}", IDS_MOST - 1, i128::from(most) - 1));
            }
            Keys::Text { .. } if !(1..=ROWS_MOST).contains(&self.rows) => {
                return bad(format!("a table has 1 to {ROWS_MOST} rows, not {}", self.rows));
            }
            Keys::Ids { most } if !(1..=most).contains(&self.rows) => {
                return bad(format!("a table with ids below {most} has 1 to {most} rows, not {}", self.rows));
            }
            Keys::Text { .. } | Keys::Ids { .. } => {}
        }
        if self.columns.is_empty() || self.columns.len() > COLUMNS_MOST {
            return bad(format!("a table has 1 to {COLUMNS_MOST} columns, not {}", self.columns.len()));
        }
        for (at, column) in self.columns.iter().enumerate() {
            check_name("column", &column.name, self.column(&column.name) == Some(at))?;
            check_kind(column)?;
        }
        self.check_texts()?;
        self.check_indexes()
    }

    /// A row's texts and its key are read into one buffer, whose places have 32 bits.
    fn check_texts(&self) -> Result<(), TableError> {
        let texts = self.columns.iter().map(|column| match column.kind {
            Kind::Text { longest } | Kind::Dictionary { longest, .. } => u64::from(longest),
            Kind::Int { .. } | Kind::Float => 0,
        });
        let sum = texts.sum::<u64>() + u64::from(KEY_LONGEST);
        if sum > u64::from(u32::MAX) {
            return Err(TableError::Schema(format!("the texts of a row could have {sum} bytes; 4 GiB is the most")));
        }
        Ok(())
    }

    fn check_indexes(&self) -> Result<(), TableError> {
        let bad = |text: String| Err(TableError::Schema(text));
        if self.indexes.len() > INDEXES_MOST {
            return bad(format!("a table has at most {INDEXES_MOST} indexes, not {}", self.indexes.len()));
        }
        for (at, index) in self.indexes.iter().enumerate() {
            let name = &index.name;
            check_name("index", name, self.index(name) == Some(at))?;
            if index.columns.is_empty() || index.columns.len() > INDEX_COLUMNS_MOST {
                return bad(format!("index \"{name}\" has {} columns; 1 or 2 are possible", index.columns.len()));
            }
            if index.columns.iter().any(|column| *column >= self.columns.len()) {
                return bad(format!("index \"{name}\" names a column that is not there"));
            }
            if index.columns.len() == 2 && index.columns[0] == index.columns[1] {
                return bad(format!("index \"{name}\" names a column twice"));
            }
        }
        Ok(())
    }
}

fn check_name(what: &str, name: &str, only: bool) -> Result<(), TableError> {
    let wrong = match name.len() {
        _ if name.bytes().any(|byte| byte.is_ascii_control()) => "a name holds no control characters".to_owned(),
        1..=NAME_LONGEST if only => return Ok(()),
        1..=NAME_LONGEST => "there is one of that name already".to_owned(),
        given => format!("a name has 1 to {NAME_LONGEST} bytes, not {given}"),
    };
    Err(TableError::Schema(format!("{what} \"{}\": {wrong}", name.escape_debug())))
}

fn check_kind(column: &Column) -> Result<(), TableError> {
    let name = &column.name;
    let texts = 1..=TEXT_LONGEST;
    match column.kind {
        Kind::Int { bytes, .. } if !matches!(bytes, 1 | 2 | 4 | 8) => {
            Err(TableError::Schema(format!("column \"{name}\": an integer has 1, 2, 4 or 8 bytes, not {bytes}")))
        }
        Kind::Text { longest } | Kind::Dictionary { longest, .. } if !texts.contains(&longest) => {
            Err(TableError::Schema(format!(
                "column \"{name}\": the longest text must have 1 to {TEXT_LONGEST} bytes, not {longest}"
            )))
        }
        Kind::Dictionary { most: 0, .. } => {
            Err(TableError::Schema(format!("column \"{name}\": a dictionary needs room for at least one text")))
        }
        Kind::Int { .. } | Kind::Float | Kind::Text { .. } | Kind::Dictionary { .. } => Ok(()),
    }
}

/// Names a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Key<'a> {
    /// By its id.
    Id(u64),
    /// By its text.
    Text(&'a [u8]),
}

/// A value of a cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Cell<'a> {
    /// An integer; a column of floats takes it, too.
    Int(i64),
    /// A double.
    Float(f64),
    /// Bytes, for text and dictionary columns.
    Text(&'a [u8]),
}

/// What `add` adds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Delta {
    /// To integers and doubles.
    Int(i64),
    /// To doubles only.
    Float(f64),
}

/// What `set` does with a row that is there, or is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Makes it or changes it.
    Upsert,
    /// Makes it only.
    Insert,
    /// Changes it only.
    Update,
}

/// A cell in a buffer. A text is a range of the buffer's bytes.
#[derive(Debug, Clone, Copy)]
enum Slot {
    Int(i64),
    Float(f64),
    Text { start: u32, len: u32 },
}

/// Where a row is read into. Reusing one makes reading free of allocation.
#[derive(Debug, Clone, Default)]
pub struct RowBuffer {
    slots: Vec<Slot>,
    key: Option<u64>,
    key_text: Range<usize>,
    pub(crate) bytes: Vec<u8>,
}

impl RowBuffer {
    /// An empty one.
    pub fn new() -> Self {
        Self::default()
    }

    /// Cells in it.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// A cell, counted in the order in which the columns were asked for.
    ///
    /// # Panics
    /// When there are not so many.
    #[inline]
    pub fn cell(&self, at: usize) -> Cell<'_> {
        match self.slots[at] {
            Slot::Int(value) => Cell::Int(value),
            Slot::Float(value) => Cell::Float(value),
            Slot::Text { start, len } => Cell::Text(&self.bytes[start as usize..][..len as usize]),
        }
    }

    /// All cells.
    pub fn cells(&self) -> impl ExactSizeIterator<Item = Cell<'_>> {
        (0..self.slots.len()).map(|at| self.cell(at))
    }

    /// The row's key: only iteration and queries fill it in.
    pub fn key(&self) -> Key<'_> {
        match self.key {
            Some(id) => Key::Id(id),
            None => Key::Text(&self.bytes[self.key_text.clone()]),
        }
    }

    #[inline]
    pub(crate) fn clear(&mut self) {
        self.slots.clear();
        self.bytes.clear();
        self.key = None;
        self.key_text = 0..0;
    }

    #[inline]
    pub(crate) fn push_int(&mut self, value: i64) {
        self.slots.push(Slot::Int(value));
    }

    #[inline]
    pub(crate) fn push_float(&mut self, value: f64) {
        self.slots.push(Slot::Float(value));
    }

    /// The bytes from `start` on are a text.
    #[inline]
    pub(crate) fn push_text(&mut self, start: usize) {
        // Both fit: see `Schema::check`.
        self.slots.push(Slot::Text { start: start as u32, len: (self.bytes.len() - start) as u32 });
    }

    #[inline]
    pub(crate) fn set_id(&mut self, id: u64) {
        self.key = Some(id);
    }

    /// The bytes from `start` on are the key.
    #[inline]
    pub(crate) fn set_key_text(&mut self, start: usize) {
        self.key = None;
        self.key_text = start..self.bytes.len();
    }
}

/// Counts that a table keeps, under the names that Swoole gives them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stats {
    /// Rows.
    pub num: u64,
    /// Rows made while another key had the same bucket.
    pub conflict_count: u64,
    /// The most rows that were met in one bucket.
    pub conflict_max_level: u64,
    /// Rows made.
    pub insert_count: u64,
    /// Rows changed.
    pub update_count: u64,
    /// Rows removed.
    pub delete_count: u64,
    /// Rows that still fit.
    pub available_slice_num: u64,
    /// Rows that fit in all.
    pub total_slice_num: u64,
}

/// Memory of a table, in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Memory {
    /// Address space kept for it.
    pub reserved: u64,
    /// Memory that it has taken, give or take a page for each part.
    pub used: u64,
}
