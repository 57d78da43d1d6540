//! Questions to the ordered indexes of a table.
//!
//! Nothing is locked to answer one, unless writers are so busy that reading under the sequence count fails again and
//! again. A long answer is put together from sections, each of which is of one moment: rows that are there all the
//! while come once; one that comes, goes or moves meanwhile may be missing or, having moved, come twice.

use super::order::Order;
use super::order_key::{Form, IndexPlace};
use super::order_read::Walk;
use super::schema::{Cell, Key, RowBuffer};
use super::store::{Lanes, Store};
use super::{Table, TableError};

/// Leaves that a section reads at most: some thousands of rows.
const SECTION: usize = 64;
/// Leaves of a section that only counts.
const SECTION_COUNTING: usize = 1024;
/// Rows of a section whose cells are read, too.
const SECTION_ROWS: usize = 512;

/// Which rows: those whose first columns of the index lie between two lists of values, compared one after the other as
/// tuples are. A list may name fewer columns than the index has; an empty one means no bound. `[7]` to `[7]` is all
/// rows where the first column is 7; `[7, 10]` to `[7]` those of them with at least 10 in the second.
#[derive(Debug, Clone, Copy, Default)]
pub struct Bounds<'a> {
    /// The lower bound.
    pub from: &'a [Cell<'a>],
    /// The upper bound.
    pub to: &'a [Cell<'a>],
    /// Rows equal to the lower bound do not count.
    pub after: bool,
    /// Rows equal to the upper bound do not count.
    pub before: bool,
}

impl<'a> Bounds<'a> {
    /// Rows that have these values.
    pub fn equal(values: &'a [Cell<'a>]) -> Self {
        Self { from: values, to: values, after: false, before: false }
    }
}

/// Which of the rows found, and in which direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// Rows that are passed over.
    pub offset: u64,
    /// Rows that are taken, at most.
    pub limit: u64,
    /// From the greatest down.
    pub descending: bool,
}

impl Default for Window {
    fn default() -> Self {
        Self { offset: 0, limit: u64::MAX, descending: false }
    }
}

/// Keys of rows that were found. Reusing one makes asking free of allocation.
#[derive(Debug, Clone, Default)]
pub struct KeyList {
    ids: Vec<u64>,
    /// Texts, one after the other, and where each ends.
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl KeyList {
    /// An empty one.
    pub fn new() -> Self {
        Self::default()
    }

    /// Keys in it.
    pub fn len(&self) -> usize {
        self.ids.len() + self.ends.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Forgets them.
    pub fn clear(&mut self) {
        self.truncate(0);
    }

    /// One of them.
    pub fn get(&self, at: usize) -> Option<Key<'_>> {
        if let Some(id) = self.ids.get(at) {
            return Some(Key::Id(*id));
        }
        let end = *self.ends.get(at)?;
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        Some(Key::Text(&self.bytes[start..end]))
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = Key<'_>> {
        (0..self.len()).filter_map(|at| self.get(at))
    }

    fn truncate(&mut self, len: usize) {
        self.ids.truncate(len);
        self.ends.truncate(len);
        self.bytes.truncate(self.ends.last().copied().unwrap_or(0));
    }

    fn push(&mut self, key: Key<'_>) {
        match key {
            Key::Id(id) => self.ids.push(id),
            Key::Text(text) => {
                self.bytes.extend_from_slice(text);
                self.ends.push(self.bytes.len());
            }
        }
    }
}

/// A row that was found: its cells, in the order in which the columns were asked for.
#[derive(Debug, Clone, Copy)]
pub struct RowView<'a> {
    buffer: &'a RowBuffer,
    start: usize,
    len: usize,
}

impl<'a> RowView<'a> {
    /// A cell.
    ///
    /// # Panics
    /// When fewer columns were asked for.
    pub fn cell(&self, at: usize) -> Cell<'a> {
        assert!(at < self.len, "a row of {} cells", self.len);
        self.buffer.cell(self.start + at)
    }

    /// Cells.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether no column was asked for.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// All cells.
    pub fn cells(&self) -> impl ExactSizeIterator<Item = Cell<'a>> {
        let view = *self;
        (0..view.len).map(move |at| view.cell(at))
    }
}

/// A question under way.
struct Query<'a> {
    order: &'a Order,
    from: IndexPlace,
    to: IndexPlace,
    window: Window,
    skipped: u64,
}

/// A section: where to go on, if there is more, and how many rows have been passed over in all.
type Section = Result<(Option<IndexPlace>, u64), TableError>;

impl Query<'_> {
    /// Reads a section. `keep` puts down what it wants of the rows, and begins by throwing away what it kept of a try
    /// before; false: what it saw was wild.
    fn section(
        &self,
        store: &Store,
        leaves: usize,
        limit: u64,
        rows: &mut Vec<u32>,
        mut keep: impl FnMut(&Store, &[u32]) -> bool,
    ) -> Section {
        let most = usize::try_from(self.window.limit.min(limit)).unwrap_or(usize::MAX);
        let section = store.read(|store| {
            if store.deferred() {
                return Some(Err(deferred()));
            }
            rows.clear();
            let mut walk = Walk {
                from: &self.from,
                to: &self.to,
                descending: self.window.descending,
                skip: self.window.offset,
                skipped: self.skipped,
                limit: most,
                resume: limit < self.window.limit,
                leaves,
                rows,
            };
            let place = self.order.reader(store).walk(&mut walk).ok()?;
            let skipped = walk.skipped;
            keep(store, rows).then_some(Ok((place, skipped)))
        });
        section.unwrap_or_else(|| Err(damaged()))
    }

    /// Goes on from where a section ended. False: there is no more.
    fn advance(&mut self, (place, skipped): (Option<IndexPlace>, u64), taken: usize) -> bool {
        self.window.limit -= taken as u64;
        self.skipped = skipped;
        let Some(place) = place else { return false };
        if self.window.descending {
            self.to = place;
        } else {
            self.from = place;
        }
        self.window.limit > 0
    }
}

fn deferred() -> TableError {
    TableError::State("the indexes of the table are deferred: call buildIndexes() before asking them".into())
}

fn damaged() -> TableError {
    TableError::State("an ordered index is damaged: build the indexes anew".into())
}

impl Table {
    /// Keys of the rows that have these values in the index's first columns, in the index's order. They are added to
    /// `keys`.
    pub fn find(
        &self,
        index: usize,
        values: &[Cell<'_>],
        window: Window,
        keys: &mut KeyList,
    ) -> Result<(), TableError> {
        self.range(index, &Bounds::equal(values), window, keys)
    }

    /// Keys of the rows between two bounds, in the index's order. They are added to `keys`.
    pub fn range(
        &self,
        index: usize,
        bounds: &Bounds<'_>,
        window: Window,
        keys: &mut KeyList,
    ) -> Result<(), TableError> {
        let mut query = self.query(index, bounds, window)?;
        let (mut rows, mut buffer) = (Vec::new(), RowBuffer::new());
        let ids = !self.store.texts();
        while query.window.limit > 0 {
            let before = keys.len();
            let section = query.section(&self.store, SECTION, u64::MAX, &mut rows, |store, rows| {
                keys.truncate(before);
                if ids {
                    keys.ids.extend(rows.iter().map(|row| u64::from(*row)));
                    return true;
                }
                rows.iter().all(|row| {
                    buffer.clear();
                    let known = store.key_of(*row, &mut buffer);
                    if known {
                        keys.push(buffer.key());
                    }
                    known
                })
            })?;
            if !query.advance(section, rows.len()) {
                break;
            }
        }
        Ok(())
    }

    /// How many rows lie between two bounds.
    pub fn count_range(&self, index: usize, bounds: &Bounds<'_>) -> Result<u64, TableError> {
        let window = Window { offset: u64::MAX, ..Window::default() };
        let mut query = self.query(index, bounds, window)?;
        let mut rows = Vec::new();
        loop {
            let section = query.section(&self.store, SECTION_COUNTING, u64::MAX, &mut rows, |_, _| true)?;
            if !query.advance(section, 0) {
                return Ok(query.skipped);
            }
        }
    }

    /// Rows between two bounds: key and cells, of the same moment as the index that named them. `each` is called with
    /// no lock held; false ends it. Tells how many rows there were.
    pub fn select(
        &self,
        index: usize,
        bounds: &Bounds<'_>,
        window: Window,
        columns: &[usize],
        mut each: impl FnMut(Key<'_>, RowView<'_>) -> bool,
    ) -> Result<u64, TableError> {
        if let Some(column) = columns.iter().find(|column| **column >= self.schema().columns.len()) {
            return Err(TableError::Column(format!("the table has no column {column}")));
        }
        let mut query = self.query(index, bounds, window)?;
        let (mut rows, mut cells, mut keys, mut count) = (Vec::new(), RowBuffer::new(), KeyList::new(), 0);
        let mut lanes = Lanes::new();
        while query.window.limit > 0 {
            let section = query.section(&self.store, SECTION, SECTION_ROWS as u64, &mut rows, |store, rows| {
                keys.clear();
                cells.clear();
                lanes.clear();
                let read = rows.iter().all(|row| {
                    let known = lanes.enter(store, *row) && store.key_of(*row, &mut cells);
                    if known {
                        keys.push(cells.key());
                    }
                    known && store.read_row(*row, columns, &mut cells)
                });
                read && lanes.unmoved(store)
            })?;
            for (at, key) in keys.iter().enumerate() {
                count += 1;
                if !each(key, RowView { buffer: &cells, start: at * columns.len(), len: columns.len() }) {
                    return Ok(count);
                }
            }
            if !query.advance(section, rows.len()) {
                break;
            }
        }
        Ok(count)
    }

    fn query(&self, index: usize, bounds: &Bounds<'_>, window: Window) -> Result<Query<'_>, TableError> {
        let store = &self.store;
        let order = store.orders.get(index);
        let order = order.ok_or_else(|| TableError::Column(format!("the table has no index {index}")))?;
        let from = self.place(index, order, bounds.from, bounds.after && !bounds.from.is_empty())?;
        let to = self.place(index, order, bounds.to, !bounds.before || bounds.to.is_empty())?;
        Ok(Query { order, from, to, window, skipped: 0 })
    }

    fn place(&self, index: usize, order: &Order, values: &[Cell<'_>], after: bool) -> Result<IndexPlace, TableError> {
        let parts = order.spec.parts();
        if values.len() > parts.len() {
            return Err(TableError::Column(format!(
                "index \"{}\" has {} columns; {} values were given",
                self.schema().indexes[index].name,
                parts.len(),
                values.len()
            )));
        }
        IndexPlace::bound(&order.spec, values, after).map_err(|_| self.unlike(order, values))
    }

    /// Which value is not of its column's kind.
    fn unlike(&self, order: &Order, values: &[Cell<'_>]) -> TableError {
        let wrong = |form: Form, cell: &Cell<'_>| match (form, cell) {
            (Form::Int { .. } | Form::Float, Cell::Int(_)) | (Form::Text, Cell::Text(_)) => false,
            (Form::Float, Cell::Float(value)) => value.is_nan(),
            _ => true,
        };
        let parts = order.spec.parts().iter().zip(values);
        let (column, form, cell) = parts
            .map(|((column, form), cell)| (*column, *form, *cell))
            .find(|(_, form, cell)| wrong(*form, cell))
            .unwrap_or((order.spec.parts()[0].0, Form::Text, Cell::Int(0)));
        TableError::Type {
            column: self.schema().columns[column].name.clone(),
            holds: match form {
                Form::Int { .. } => "integers",
                Form::Float => "numbers",
                Form::Text => "texts",
            },
            got: match cell {
                Cell::Int(_) => "an integer",
                Cell::Float(value) if value.is_nan() => "NaN",
                Cell::Float(_) => "a float",
                Cell::Text(_) => "a text",
            },
        }
    }
}
