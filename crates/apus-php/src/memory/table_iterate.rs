//! `foreach` over a table.
//!
//! An object has one cursor, as the peer's has: loops over the same object inside each other share it. The row on which
//! it stands is a copy that `rewind()` and `next()` took in one step, so what others write or remove meanwhile does not
//! tear it.

use std::cell::{Cell, RefCell};

use apus_shm::table::{Key, RowBuffer};
use apus_zend::{Array, Raise, Value};

use super::table::{Live, TableObject};
use super::table_rows::row_array;

/// Where a loop stands.
#[derive(Default)]
pub(super) struct Cursor {
    place: Cell<u64>,
    valid: Cell<bool>,
    row: RefCell<RowBuffer>,
}

impl Cursor {
    /// Goes to the first row at or behind the place.
    fn step(&self, live: &Live) {
        let found = live.table.next(self.place.get(), &live.all, &mut self.row.borrow_mut());
        self.valid.set(found.is_some());
        self.place.set(found.unwrap_or(u64::MAX));
    }

    /// Stands on no row.
    pub(super) fn end(&self) {
        self.valid.set(false);
        self.place.set(u64::MAX);
    }
}

/// A key as PHP's value.
pub(super) fn key_value(key: Key<'_>) -> Result<Value, Raise> {
    match key {
        Key::Id(id) => Ok(Value::int(id as i64)),
        Key::Text(bytes) => Value::string(bytes),
    }
}

pub(super) fn rewind(table: &TableObject) -> Result<(), Raise> {
    let live = table.live()?;
    table.cursor.place.set(0);
    table.cursor.step(&live);
    Ok(())
}

pub(super) fn next(table: &TableObject) -> Result<(), Raise> {
    let live = table.live()?;
    if table.cursor.valid.get() {
        table.cursor.step(&live);
    }
    Ok(())
}

pub(super) fn valid(table: &TableObject) -> bool {
    table.cursor.valid.get()
}

pub(super) fn current(table: &TableObject) -> Result<Option<Array>, Raise> {
    if !table.cursor.valid.get() {
        return Ok(None);
    }
    let live = table.live()?;
    row_array(&live.shape, &table.cursor.row.borrow()).map(Some)
}

pub(super) fn key(table: &TableObject) -> Result<Option<Value>, Raise> {
    if !table.cursor.valid.get() {
        return Ok(None);
    }
    key_value(table.cursor.row.borrow().key()).map(Some)
}
