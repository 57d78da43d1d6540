//! From values to the words of cells: everything that can be wrong with a value is found here, before anything is
//! locked or changed.

use super::TableError;
use super::heap;
use super::schema::{COLUMNS_MOST, Cell, Column, Kind};
use super::store::Store;

/// Cells of a row that need no allocation.
const FEW: usize = 8;

/// A value on its way into a cell.
#[derive(Debug, Clone, Copy)]
pub(super) struct Coded<'a> {
    pub(super) column: usize,
    /// The cell's word, unless `long` says that it is still to be made.
    pub(super) word: u64,
    /// A text that needs a block of the heap or a code of a dictionary.
    pub(super) long: Option<&'a [u8]>,
}

/// The values of a row, each column once: the last one given counts.
#[derive(Debug)]
pub(super) struct Encoded<'a> {
    few: [Coded<'a>; FEW],
    count: usize,
    many: Vec<Coded<'a>>,
}

impl<'a> Encoded<'a> {
    /// None yet.
    #[inline]
    pub(super) fn empty() -> Self {
        Self { few: [Coded { column: 0, word: 0, long: None }; FEW], count: 0, many: Vec::new() }
    }

    /// Checks values and takes them. Texts of dictionaries have no code yet.
    #[inline]
    pub(super) fn take(&mut self, store: &Store, cells: &[(usize, Cell<'a>)]) -> Result<(), TableError> {
        for &(column, cell) in cells {
            if column >= store.plan.places.len() {
                return Err(no_column(column));
            }
            let (word, long) = encode(store, column, cell)?;
            self.push(Coded { column, word, long });
        }
        Ok(())
    }

    #[inline]
    fn push(&mut self, coded: Coded<'a>) {
        if let Some(same) = self.all_mut().iter_mut().find(|other| other.column == coded.column) {
            *same = coded;
            return;
        }
        if self.count < FEW {
            self.few[self.count] = coded;
            self.count += 1;
            return;
        }
        if self.many.is_empty() {
            self.many.reserve(COLUMNS_MOST);
            self.many.extend_from_slice(&self.few);
        }
        self.many.push(coded);
    }

    #[inline]
    pub(super) fn all(&self) -> &[Coded<'a>] {
        if self.many.is_empty() { &self.few[..self.count] } else { &self.many }
    }

    #[inline]
    pub(super) fn all_mut(&mut self) -> &mut [Coded<'a>] {
        if self.many.is_empty() { &mut self.few[..self.count] } else { &mut self.many }
    }

    /// Keeps what the condition says.
    #[inline]
    pub(super) fn retain(&mut self, mut keep: impl FnMut(&mut Coded<'a>) -> bool) {
        if !self.many.is_empty() {
            self.many.retain_mut(keep);
            if self.many.is_empty() {
                self.count = 0;
            }
            return;
        }
        let mut kept = 0;
        for at in 0..self.count {
            if keep(&mut self.few[at]) {
                self.few[kept] = self.few[at];
                kept += 1;
            }
        }
        self.count = kept;
    }

    /// Gives texts of dictionaries their codes. With the partition's lock, so that no code goes out of use meanwhile.
    #[inline]
    pub(super) fn code(&mut self, store: &Store) -> Result<(), TableError> {
        if !store.coded {
            return Ok(());
        }
        for coded in self.all_mut() {
            if let (Some(text), Some(dictionary)) = (coded.long, &store.dictionaries[coded.column]) {
                let code = if text.is_empty() { Some(0) } else { dictionary.code(store.region(), text) };
                coded.word = code.ok_or_else(|| dictionary_full(store.describe(coded.column)))?.into();
                coded.long = None;
            }
        }
        Ok(())
    }
}

#[inline]
fn encode<'a>(store: &Store, column: usize, cell: Cell<'a>) -> Result<(u64, Option<&'a [u8]>), TableError> {
    let kind = store.plan.places[column].kind;
    match (kind, cell) {
        (Kind::Int { .. }, Cell::Int(value)) => {
            let (least, greatest) = kind.bounds();
            if value < least || value > greatest {
                return Err(out_of_range(store.describe(column), value.into()));
            }
            Ok((truncated(value, kind.width()), None))
        }
        (Kind::Float, Cell::Float(value)) if value.is_nan() && store.indexed(column) => {
            Err(wrong_type(store.describe(column), "NaN, which has no place in an index"))
        }
        (Kind::Float, Cell::Float(value)) => Ok((value.to_bits(), None)),
        (Kind::Float, Cell::Int(value)) => Ok(((value as f64).to_bits(), None)),
        (Kind::Text { longest }, Cell::Text(text)) => {
            check_len(store, column, text, longest)?;
            Ok(heap::inline(text).map_or((0, Some(text)), |word| (word, None)))
        }
        (Kind::Dictionary { longest, .. }, Cell::Text(text)) => {
            check_len(store, column, text, longest)?;
            Ok((0, Some(text)))
        }
        (_, cell) => Err(wrong_type(store.describe(column), name_of(cell))),
    }
}

/// A value's low bytes: what its cell reads as, zero-extended.
#[inline]
pub(super) fn truncated(value: i64, width: usize) -> u64 {
    value as u64 & (u64::MAX >> (64 - 8 * width))
}

#[inline]
fn check_len(store: &Store, column: usize, text: &[u8], longest: u32) -> Result<(), TableError> {
    if text.len() <= longest as usize {
        return Ok(());
    }
    Err(TableError::TooLong { column: store.describe(column).name.clone(), len: text.len(), longest })
}

fn name_of(cell: Cell<'_>) -> &'static str {
    match cell {
        Cell::Int(_) => "an integer",
        Cell::Float(_) => "a float",
        Cell::Text(_) => "a text",
    }
}

/// The error for a value of the wrong kind.
#[cold]
pub(super) fn wrong_type(column: &Column, got: &'static str) -> TableError {
    let holds = match column.kind {
        Kind::Int { .. } => "integers",
        Kind::Float => "floats",
        Kind::Text { .. } | Kind::Dictionary { .. } => "texts",
    };
    TableError::Type { column: column.name.clone(), holds, got }
}

/// The error for an integer that does not fit.
#[cold]
pub(super) fn out_of_range(column: &Column, value: i128) -> TableError {
    let (least, greatest) = column.kind.bounds();
    TableError::Range { column: column.name.clone(), value, least, greatest }
}

#[cold]
pub(super) fn no_column(column: usize) -> TableError {
    TableError::Column(format!("there is no column number {column}"))
}

#[cold]
fn dictionary_full(column: &Column) -> TableError {
    let most = if let Kind::Dictionary { most, .. } = column.kind { most } else { 0 };
    TableError::DictionaryFull { column: column.name.clone(), most }
}
