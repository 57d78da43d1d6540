//! Making, changing, reading and removing rows.

use std::sync::atomic::Ordering::Relaxed;

use super::cells::signed;
use super::encode::{Coded, Encoded, no_column, out_of_range, truncated, wrong_type};
use super::heap;
use super::keys::{Aim, Found, Spot, bad_key};
use super::schema::{Cell, Delta, Key, Kind, Mode, RowBuffer};
use super::segment::Segment;
use super::store::{Store, Writer};
use super::tx::{self, Change};
use super::{Table, TableError};

/// What came of a change, when no error did.
enum Outcome {
    Done(bool),
    /// The count of rows says full, but a process died: it is to be counted again.
    CountAgain,
}

/// Memory of blocks that a change freed, to be given back when it is complete.
type Released = Vec<(usize, usize)>;

impl Table {
    /// Sets cells of a row; a new row's other cells are 0 or empty. False: with [`Mode::Insert`], the row is there
    /// already; with [`Mode::Update`], it is not there.
    pub fn set(&self, key: Key<'_>, cells: &[(usize, Cell<'_>)], mode: Mode) -> Result<bool, TableError> {
        self.set_at(&self.aim(key), cells, mode)
    }

    /// Begins to look for a key's row, which takes its time in memory, before its cells are known.
    #[inline]
    pub fn aim<'k>(&self, key: Key<'k>) -> Aim<'k> {
        self.store.aim(key)
    }

    /// The same as [`set`](Self::set).
    pub fn set_at(&self, aim: &Aim<'_>, cells: &[(usize, Cell<'_>)], mode: Mode) -> Result<bool, TableError> {
        let store = &self.store;
        let mut encoded = Encoded::empty();
        encoded.take(store, cells)?;
        let bad = || bad_key(aim.key, store.schema().keys);
        let spot = aim.spot.ok_or_else(bad)?;
        store.fetch_row(&spot);
        if mode != Mode::Insert && store.update_lightly(spot, &mut encoded)? {
            return Ok(true);
        }
        loop {
            let (spot, writer) = store.writer_at(spot, Store::writer).ok_or_else(bad)?;
            let outcome = match store.find(&spot) {
                Some(_) if mode == Mode::Insert => Outcome::Done(false),
                None if mode == Mode::Update => Outcome::Done(false),
                Some(found) => {
                    encoded.code(store)?;
                    store.update(&writer, found.row, &mut encoded)?;
                    Outcome::Done(true)
                }
                None => {
                    encoded.code(store)?;
                    store.insert(&writer, &spot, encoded.all())?
                }
            };
            drop(writer);
            match outcome {
                Outcome::Done(done) => return Ok(done),
                Outcome::CountAgain => store.count_again(),
            }
        }
    }

    /// Reads cells of a row, all of one moment. False: there is no such row (or column).
    #[inline]
    pub fn get(&self, key: Key<'_>, columns: &[usize], row: &mut RowBuffer) -> bool {
        let store = &self.store;
        let read = store.look_at(key, |found| {
            row.clear();
            found.is_some_and(|found| store.read_row(found, columns, row))
        });
        read == Some(true)
    }

    /// Whether there is such a row.
    #[inline]
    pub fn has(&self, key: Key<'_>) -> bool {
        self.store.look_at(key, |found| found.is_some()) == Some(true)
    }

    /// Removes a row. False: there was none.
    pub fn remove(&self, key: Key<'_>) -> Result<bool, TableError> {
        self.remove_reading(key, &[], None)
    }

    /// Reads cells of a row and removes it, in one step. False: there was none.
    pub fn take(&self, key: Key<'_>, columns: &[usize], row: &mut RowBuffer) -> Result<bool, TableError> {
        row.clear();
        self.remove_reading(key, columns, Some(row))
    }

    fn remove_reading(&self, key: Key<'_>, columns: &[usize], row: Option<&mut RowBuffer>) -> Result<bool, TableError> {
        let store = &self.store;
        if let Some(column) = columns.iter().find(|column| **column >= store.plan.places.len()) {
            return Err(no_column(*column));
        }
        let Some((spot, writer)) = store.writer_of(key) else { return Ok(false) };
        let Some(found) = store.find(&spot) else { return Ok(false) };
        if let Some(row) = row {
            store.read_row(found.row, columns, row);
        }
        store.remove(&writer, &spot, found)?;
        Ok(true)
    }

    /// Adds to a cell and gives its new value. Makes the row when it is not there. An integer that no longer fits its
    /// column is an error.
    pub fn add(&self, key: Key<'_>, column: usize, delta: Delta) -> Result<Cell<'static>, TableError> {
        let store = &self.store;
        let Some(place) = store.plan.places.get(column) else { return Err(no_column(column)) };
        let light = !store.indexed(column);
        let bad = || bad_key(key, store.schema().keys);
        let at = store.aim(key).spot.ok_or_else(bad)?;
        store.fetch_row(&at);
        loop {
            let there = light && store.find(&at).is_some();
            let writer =
                if there { store.writer_at(at, Store::light_writer) } else { store.writer_at(at, Store::writer) };
            let (spot, writer) = writer.ok_or_else(bad)?;
            let found = store.find(&spot);
            let word = found.map_or(0, |found| store.raw(found.row, column));
            let (word, cell) = sum(store, column, word, delta)?;
            if there && found.is_none() {
                continue;
            }
            if let Some(found) = found {
                if writer.ordered() && !light {
                    store.change_row(&writer, found.row, &mut [Coded { column, word, long: None }])?;
                } else {
                    writer.put_one(place.offset(found.row), place.width, word);
                }
                Segment::bump(&store.segment(spot.segment).updates);
                return Ok(cell);
            }
            let outcome = store.insert(&writer, &spot, &[Coded { column, word, long: None }])?;
            drop(writer);
            match outcome {
                Outcome::Done(_) => return Ok(cell),
                Outcome::CountAgain => store.count_again(),
            }
        }
    }

    /// Sets cells if these have the values expected. False: one has another, or there is no such row.
    pub fn compare_set(
        &self,
        key: Key<'_>,
        expected: &[(usize, Cell<'_>)],
        new: &[(usize, Cell<'_>)],
    ) -> Result<bool, TableError> {
        let store = &self.store;
        let mut encoded = Encoded::empty();
        encoded.take(store, new)?;
        let Some((spot, writer)) = store.writer_of(key) else { return Err(bad_key(key, store.schema().keys)) };
        let Some(found) = store.find(&spot) else { return Ok(false) };
        let same = has_values(store, found, expected);
        if same {
            encoded.code(store)?;
            store.update(&writer, found.row, &mut encoded)?;
        }
        Ok(same)
    }

    /// Removes a row if its cells have the values expected. False: one has another, or there is no such row.
    pub fn compare_remove(&self, key: Key<'_>, expected: &[(usize, Cell<'_>)]) -> Result<bool, TableError> {
        let store = &self.store;
        let Some((spot, writer)) = store.writer_of(key) else { return Ok(false) };
        let Some(found) = store.find(&spot) else { return Ok(false) };
        let same = has_values(store, found, expected);
        if same {
            store.remove(&writer, &spot, found)?;
        }
        Ok(same)
    }
}

/// Whether cells of a row have these values; the row cannot change meanwhile. Floats are compared by their bits: NaN
/// is what it was, and 0.0 is not -0.0.
fn has_values(store: &Store, found: Found, expected: &[(usize, Cell<'_>)]) -> bool {
    let mut seen = RowBuffer::new();
    expected.iter().all(|(column, expected)| {
        seen.clear();
        store.read_row(found.row, &[*column], &mut seen);
        match (seen.cell(0), *expected) {
            (Cell::Float(value), Cell::Int(other)) => value.to_bits() == (other as f64).to_bits(),
            (Cell::Float(value), Cell::Float(other)) => value.to_bits() == other.to_bits(),
            (value, other) => value == other,
        }
    })
}

fn sum(store: &Store, column: usize, word: u64, delta: Delta) -> Result<(u64, Cell<'static>), TableError> {
    let kind = store.plan.places[column].kind;
    match (kind, delta) {
        (Kind::Int { .. }, Delta::Int(delta)) => {
            let value = signed(kind, word);
            let (least, greatest) = kind.bounds();
            match value.checked_add(delta).filter(|sum| (least..=greatest).contains(sum)) {
                Some(sum) => Ok((truncated(sum, kind.width()), Cell::Int(sum))),
                None => Err(out_of_range(store.describe(column), i128::from(value) + i128::from(delta))),
            }
        }
        (Kind::Float, delta) => {
            let delta = match delta {
                Delta::Int(delta) => delta as f64,
                Delta::Float(delta) => delta,
            };
            let sum = f64::from_bits(word) + delta;
            if sum.is_nan() && store.indexed(column) {
                return Err(wrong_type(store.describe(column), "NaN, which has no place in an index"));
            }
            Ok((sum.to_bits(), Cell::Float(sum)))
        }
        (_, Delta::Int(_)) => Err(wrong_type(store.describe(column), "an integer to add")),
        (_, Delta::Float(_)) => Err(wrong_type(store.describe(column), "a float to add")),
    }
}

impl Store {
    /// Whether an index has this column.
    #[inline]
    pub(super) fn indexed(&self, column: usize) -> bool {
        self.schema().indexes.iter().any(|index| index.columns.contains(&column))
    }

    /// Changes cells of a row that is there, with the lock of its partition alone. False: nothing was done, because it
    /// is not there, or a cell of an index would change.
    #[inline]
    fn update_lightly(&self, spot: Spot<'_>, encoded: &mut Encoded<'_>) -> Result<bool, TableError> {
        if self.orders.is_empty() {
            return Ok(false);
        }
        let other = encoded.all().iter().any(|coded| !self.indexed(coded.column));
        if !other || self.find(&spot).is_none() {
            return Ok(false);
        }
        let Some((spot, writer)) = self.writer_at(spot, Self::light_writer) else { return Ok(false) };
        let Some(found) = self.find(&spot) else { return Ok(false) };
        let indexed = |coded: &&Coded<'_>| self.indexed(coded.column);
        if encoded.all().iter().filter(indexed).any(|coded| self.differs(spot.segment, found.row, coded)) {
            return Ok(false);
        }
        // Cells of indexes are as they were: codes are given to the others.
        encoded.retain(|coded| !self.indexed(coded.column));
        encoded.code(self)?;
        self.update(&writer, found.row, encoded)?;
        Ok(true)
    }

    /// Whether a cell would be another. A text of a dictionary that has no code yet is.
    #[inline]
    fn differs(&self, segment: usize, row: u32, coded: &Coded<'_>) -> bool {
        let old = self.raw(row, coded.column);
        match coded.long {
            Some(text) => {
                !matches!(self.column(coded.column).kind, Kind::Text { .. }) || !self.same_text(segment, old, text)
            }
            None => old != coded.word,
        }
    }

    /// Changes a row's cells; what is as it was is left alone.
    fn update(&self, writer: &Writer<'_>, row: u32, encoded: &mut Encoded<'_>) -> Result<(), TableError> {
        encoded.retain(|coded| self.differs(writer.segment, row, coded));
        Segment::bump(&self.segment(writer.segment).updates);
        match encoded.all_mut() {
            [] => Ok(()),
            [one] if self.is_plain(writer, row, one) => {
                let place = self.column(one.column);
                writer.put_one(place.offset(row), place.width, one.word);
                Ok(())
            }
            all => self.change_row(writer, row, all),
        }
    }

    /// Whether changing this cell is writing one word and nothing else.
    fn is_plain(&self, writer: &Writer<'_>, row: u32, coded: &Coded<'_>) -> bool {
        let block = |word| matches!(heap::parse(word), Some(heap::Text::Block(..)));
        let text = matches!(self.column(coded.column).kind, Kind::Text { .. });
        coded.long.is_none()
            && !(writer.ordered() && self.indexed(coded.column))
            && !(text && block(self.raw(row, coded.column)))
    }

    fn change_row(&self, writer: &Writer<'_>, row: u32, cells: &mut [Coded<'_>]) -> Result<(), TableError> {
        let mut released = Released::new();
        let mut change = writer.change();
        // A bit an index.
        let mut touched = 0u32;
        for (at, index) in self.schema().indexes.iter().enumerate().filter(|_| writer.ordered()) {
            if cells.iter().any(|coded| index.columns.contains(&coded.column)) {
                touched |= 1 << at;
                self.orders[at].remove(self, &mut change, row)?;
            }
        }
        self.write_cells(&mut change, writer.segment, row, cells, &mut released)?;
        for (at, order) in self.orders.iter().enumerate() {
            if touched >> at & 1 != 0 {
                order.insert(self, &mut change, row)?;
            }
        }
        change.commit()?;
        self.release(&released);
        Ok(())
    }

    /// Writes cells of a row that is there. New texts are stored before old ones are freed: memory freed by this change
    /// is not free before its end.
    fn write_cells(
        &self,
        change: &mut Change<'_>,
        segment: usize,
        row: u32,
        cells: &mut [Coded<'_>],
        released: &mut Released,
    ) -> Result<(), TableError> {
        let heap = self.heap(segment);
        for coded in &mut *cells {
            if let Some(text) = coded.long.take() {
                coded.word = heap.store(change, text)?;
            }
        }
        for coded in &*cells {
            let place = self.column(coded.column);
            let old = self.raw(row, coded.column);
            change.put_sized(place.offset(row), place.width, coded.word);
            if matches!(place.kind, Kind::Text { .. }) {
                released.extend(heap.free(change, old));
            }
        }
        Ok(())
    }

    fn insert(&self, writer: &Writer<'_>, spot: &Spot<'_>, cells: &[Coded<'_>]) -> Result<Outcome, TableError> {
        if !self.count_one() {
            return if self.head().suspect.load(Relaxed) == 0 { Err(self.full()) } else { Ok(Outcome::CountAgain) };
        }
        let made = self.make_row(writer, spot, cells);
        if made.is_err() {
            self.uncount_one();
        }
        made.map(|()| Outcome::Done(true))
    }

    fn make_row(&self, writer: &Writer<'_>, spot: &Spot<'_>, cells: &[Coded<'_>]) -> Result<(), TableError> {
        let mut change = writer.change();
        let row = self.link(&mut change, spot)?;
        // Nobody reaches the row's cells before the change is complete, so they need no journal.
        for place in &self.plan.places {
            tx::store_sized(self.region(), place.offset(row), place.width, 0);
        }
        for coded in cells {
            let place = self.column(coded.column);
            let word = match coded.long {
                Some(text) => self.heap(spot.segment).store(&mut change, text)?,
                None => coded.word,
            };
            tx::store_sized(self.region(), place.offset(row), place.width, word);
        }
        if writer.ordered() {
            for order in &self.orders {
                order.insert(self, &mut change, row)?;
            }
        }
        change.commit()?;
        Segment::bump(&self.segment(spot.segment).inserts);
        Ok(())
    }

    fn remove(&self, writer: &Writer<'_>, spot: &Spot<'_>, found: Found) -> Result<(), TableError> {
        let mut released = Released::new();
        let mut change = writer.change();
        if writer.ordered() {
            for order in &self.orders {
                order.remove(self, &mut change, found.row)?;
            }
        }
        let heap = self.heap(spot.segment);
        for (column, place) in self.plan.places.iter().enumerate() {
            if matches!(place.kind, Kind::Text { .. }) {
                released.extend(heap.free(&mut change, self.raw(found.row, column)));
            }
        }
        self.unlink(&mut change, spot, found);
        change.commit()?;
        self.release(&released);
        self.uncount_one();
        Segment::bump(&self.segment(spot.segment).removes);
        Ok(())
    }

    /// Gives the memory of freed blocks back. With the lock still held: the next change may use the blocks again.
    fn release(&self, blocks: &[(usize, usize)]) {
        for (offset, len) in blocks {
            self.region().release(*offset, *len);
        }
    }

    /// Counts a row that is about to be made. False: the table is full.
    #[inline]
    fn count_one(&self) -> bool {
        let rows = self.schema().rows;
        self.every_id_fits
            || self.head().count.fetch_update(Relaxed, Relaxed, |count| (count < rows).then_some(count + 1)).is_ok()
    }

    #[inline]
    fn uncount_one(&self) {
        if !self.every_id_fits {
            self.head().count.fetch_sub(1, Relaxed);
        }
    }

    /// Counts all rows anew. Only who died between counting a row and making it (or removing it and counting that) left
    /// the count wrong, and too great.
    #[cold]
    pub(super) fn count_again(&self) {
        let everything = self.everything();
        self.head().count.store(self.len(), Relaxed);
        self.head().suspect.store(0, Relaxed);
        drop(everything);
    }

    /// Rows. Holds with all locks.
    pub(crate) fn len(&self) -> u64 {
        (0..self.plan.partitions).map(|segment| self.segment(segment).num.load(Relaxed)).sum()
    }
}
