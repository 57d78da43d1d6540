//! What the methods of tables do with one row.

use std::mem::MaybeUninit;

use apus_shm::table::{COLUMNS_MOST, Cell, Delta, Key, Kind, Mode, RowBuffer};
use apus_zend::arg::{Any, Given, OrFalse, Want};
use apus_zend::row::{Elements, Shape, Unknown};
use apus_zend::value::{ArrayView, View};
use apus_zend::{Array, Raise, Value};

use super::table::{Live, TableObject, throw};
use super::table_convert::{Texts, cell, raise, shown, whole};
use crate::exception::code;
use crate::swoole::{self, There};

/// Cells of a row that is to be written, without an allocation.
pub(super) struct Cells<'a> {
    room: [MaybeUninit<(usize, Cell<'a>)>; COLUMNS_MOST],
    count: usize,
}

impl<'a> Cells<'a> {
    #[inline]
    pub(super) fn new() -> Self {
        Self { room: [const { MaybeUninit::uninit() }; COLUMNS_MOST], count: 0 }
    }

    /// Takes the cells of an array. Filled in place: moving four kilobytes takes longer than all the rest.
    #[inline]
    pub(super) fn fill(
        &mut self,
        live: &Live,
        given: ArrayView<'a>,
        elements: &'a mut Elements,
        texts: &'a Texts,
    ) -> Result<(), Raise> {
        let elements = live.shape.read(given, elements).map_err(|key| match key {
            Unknown::Name(name) => live.no_column(&format!("\"{}\"", String::from_utf8_lossy(name))),
            Unknown::Index(number) => live.no_column(&format!("{}", number as i64)),
        })?;
        for (slot, element) in self.room.iter_mut().zip(elements) {
            let column = element.column();
            let view = element.view();
            slot.write((column, cell(&live.columns[column], view, texts)?));
            self.count += 1;
        }
        Ok(())
    }

    #[inline]
    pub(super) fn as_slice(&self) -> &[(usize, Cell<'a>)] {
        // SAFETY: `fill` wrote the first `count`, of the very type behind MaybeUninit.
        unsafe { std::slice::from_raw_parts(self.room.as_ptr().cast(), self.count) }
    }
}

/// The key of a row, as the class has them.
#[derive(Clone, Copy)]
pub(super) struct RowKey<'a>(pub(super) Key<'a>);

impl<'a> Want<&'a [u8]> for RowKey<'a> {
    #[inline]
    fn want(given: Given<&'a [u8]>) -> Result<Self, Raise> {
        Ok(Self(Key::Text(given.value)))
    }
}

impl Want<i64> for RowKey<'_> {
    #[inline]
    fn want(given: Given<i64>) -> Result<Self, Raise> {
        // A negative one is beyond every id.
        Ok(Self(Key::Id(given.value as u64)))
    }
}

impl TableObject {
    /// The key of a row that is to be changed: one that no row can have is refused; for a look it is not found.
    #[inline]
    pub(super) fn expect_key<'a>(&self, RowKey(key): RowKey<'a>) -> Result<Key<'a>, Raise> {
        match key {
            Key::Id(id) if id > self.greatest_id() => Err(self.bad_id(id as i64)),
            key => Ok(key),
        }
    }

    #[cold]
    fn bad_id(&self, id: i64) -> Raise {
        throw(code::table::KEY, &format!("ids of this table go from 0 to {}; {id} is none", self.greatest_id()))
    }
}

/// A row in the buffer as an array.
#[inline]
pub(super) fn row_array(shape: &Shape, buffer: &RowBuffer) -> Result<Array, Raise> {
    shape.row(buffer.cells().map(shown))
}

fn write(table: &TableObject, key: RowKey<'_>, row: ArrayView<'_>, mode: Mode) -> Result<bool, Raise> {
    let key = table.expect_key(key)?;
    let live = table.live()?;
    let aim = live.table.aim(key);
    let texts = Texts::default();
    let mut elements = Elements::new();
    let mut cells = Cells::new();
    cells.fill(&live, row, &mut elements, &texts)?;
    live.table.set_at(&aim, cells.as_slice(), mode).map_err(raise)
}

pub(super) fn set(table: &TableObject, key: RowKey<'_>, row: ArrayView<'_>) -> Result<bool, Raise> {
    write(table, key, row, Mode::Upsert)
}

pub(super) fn insert(table: &TableObject, key: RowKey<'_>, row: ArrayView<'_>) -> Result<bool, Raise> {
    write(table, key, row, Mode::Insert)
}

pub(super) fn update(table: &TableObject, key: RowKey<'_>, row: ArrayView<'_>) -> Result<bool, Raise> {
    write(table, key, row, Mode::Update)
}

pub(super) fn get(table: &TableObject, RowKey(key): RowKey<'_>, field: Option<&[u8]>) -> Result<Value, Raise> {
    let live = table.live()?;
    let mut buffer = live.buffer.borrow_mut();
    let Some(field) = field else {
        if !live.table.get(key, &live.all, &mut buffer) {
            return Ok(Value::bool(false));
        }
        return row_array(&live.shape, &buffer).map(Value::from);
    };
    let column = live.column(field)?;
    if !live.table.get(key, &[column], &mut buffer) {
        return Ok(Value::bool(false));
    }
    shown(buffer.cell(0)).value()
}

pub(super) fn getdel(table: &TableObject, RowKey(key): RowKey<'_>) -> Result<OrFalse<Array>, Raise> {
    let live = table.live()?;
    let mut buffer = live.buffer.borrow_mut();
    if !live.table.take(key, &live.all, &mut buffer).map_err(raise)? {
        return Ok(OrFalse(None));
    }
    row_array(&live.shape, &buffer).map(|row| OrFalse(Some(row)))
}

pub(super) fn del(table: &TableObject, RowKey(key): RowKey<'_>) -> Result<bool, Raise> {
    table.live()?.table.remove(key).map_err(raise)
}

pub(super) fn exists(table: &TableObject, RowKey(key): RowKey<'_>) -> Result<bool, Raise> {
    Ok(table.live()?.table.has(key))
}

/// The number that an argument asks to add.
fn delta(by: Any<'_>, sign: i64) -> Result<Delta, Raise> {
    match by.view() {
        _ if !by.is_passed() => Ok(Delta::Int(sign)),
        View::Int(value) => match value.checked_mul(sign) {
            Some(value) => Ok(Delta::Int(value)),
            None => Err(by.value_error("must be greater than PHP_INT_MIN")),
        },
        View::Float(value) => Ok(Delta::Float(value * sign as f64)),
        View::Bool(value) => Ok(Delta::Int(sign * i64::from(value))),
        View::Str(bytes) => match apus_zend::row::text_number(bytes) {
            Some(apus_zend::row::Cell::Int(value)) if value != i64::MIN => Ok(Delta::Int(value * sign)),
            Some(apus_zend::row::Cell::Float(value)) => Ok(Delta::Float(value * sign as f64)),
            _ => Err(by.type_error("of type int|float")),
        },
        _ => Err(by.type_error("of type int|float")),
    }
}

pub(super) fn add(table: &TableObject, key: RowKey<'_>, name: &[u8], delta: Delta) -> Result<Value, Raise> {
    let key = table.expect_key(key)?;
    let live = table.live()?;
    let column = live.column(name)?;
    let described = &live.columns[column];
    let delta = match (described.kind, delta) {
        (Kind::Int { .. }, Delta::Float(value)) => Delta::Int(whole(value).ok_or_else(|| {
            throw(
                code::table::TYPE,
                &format!("column \"{}\" holds integers: {value:?} cannot be added to one", described.name),
            )
        })?),
        (_, delta) => delta,
    };
    shown(live.table.add(key, column, delta).map_err(raise)?).value()
}

/// What is said there of texts that cannot be added to.
pub(super) fn text_there(raise: Raise, what: &str) -> Raise {
    swoole::there_of(raise, |message| {
        let is_text = message.contains(" holds texts");
        is_text.then(|| There::Text(format!("can't execute '{what}' on a string type column")))
    })
}

pub(super) fn incr(table: &TableObject, key: RowKey<'_>, column: &[u8], by: Any<'_>) -> Result<Value, Raise> {
    add(table, key, column, delta(by, 1)?).map_err(|raise| text_there(raise, "incr"))
}

pub(super) fn decr(table: &TableObject, key: RowKey<'_>, column: &[u8], by: Any<'_>) -> Result<Value, Raise> {
    add(table, key, column, delta(by, -1)?).map_err(|raise| text_there(raise, "decr"))
}

pub(super) fn cmpset(
    table: &TableObject,
    key: RowKey<'_>,
    column: &[u8],
    expected: View<'_>,
    new: View<'_>,
) -> Result<bool, Raise> {
    let key = table.expect_key(key)?;
    let live = table.live()?;
    let column = live.column(column)?;
    let described = &live.columns[column];
    let texts = Texts::default();
    let expected = cell(described, expected, &texts)?;
    let new = cell(described, new, &texts)?;
    live.table.compare_set(key, &[(column, expected)], &[(column, new)]).map_err(raise)
}

pub(super) fn clear(table: &TableObject) -> Result<(), Raise> {
    table.live()?.table.clear();
    Ok(())
}

pub(super) fn count(table: &TableObject) -> u64 {
    table.live_if_any().map_or(0, |live| live.table.len())
}

pub(super) fn get_size(table: &TableObject) -> u64 {
    table.rows()
}

pub(super) fn get_memory_size(table: &TableObject) -> i64 {
    table.live_if_any().map_or(0, |live| live.table.memory().used as i64)
}

pub(super) fn stats(table: &TableObject) -> Result<Array, Raise> {
    let live = table.live()?;
    let (stats, memory) = (live.table.stats(), live.table.memory());
    let facts = [
        ("num", stats.num),
        ("conflict_count", stats.conflict_count),
        ("conflict_max_level", stats.conflict_max_level),
        ("insert_count", stats.insert_count),
        ("update_count", stats.update_count),
        ("delete_count", stats.delete_count),
        ("available_slice_num", stats.available_slice_num),
        ("total_slice_num", stats.total_slice_num),
        ("memory_reserved", memory.reserved),
        ("memory_used", memory.used),
    ];
    let mut array = Array::new(facts.len())?;
    for (name, value) in facts {
        array.set(name.as_bytes(), Value::int(value as i64))?;
    }
    Ok(array)
}
