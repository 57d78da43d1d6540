//! What the methods of tables do with one row.

use std::mem::MaybeUninit;

use apus_shm::table::{COLUMNS_MOST, Cell, Delta, Key, Kind, Mode, RowBuffer};
use apus_zend::row::{Elements, Shape, Unknown};
use apus_zend::value::{ArrayView, View};
use apus_zend::{Array, Call, Raise, Value};

use super::table::{Live, TableObject, throw};
use super::table_convert::{Texts, cell, raise, shown, whole};
use crate::exception::code;

/// Cells of a row that is to be written, without an allocation.
struct Cells<'a> {
    room: [MaybeUninit<(usize, Cell<'a>)>; COLUMNS_MOST],
    count: usize,
}

impl<'a> Cells<'a> {
    #[inline]
    fn new() -> Self {
        Self { room: [const { MaybeUninit::uninit() }; COLUMNS_MOST], count: 0 }
    }

    /// Takes the cells of an array. Filled in place: moving four kilobytes takes longer than all the rest.
    #[inline]
    fn fill(
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
    fn as_slice(&self) -> &[(usize, Cell<'a>)] {
        // SAFETY: `fill` wrote the first `count`, of the very type behind MaybeUninit.
        unsafe { std::slice::from_raw_parts(self.room.as_ptr().cast(), self.count) }
    }
}

impl TableObject {
    /// The row that argument `index` names, for a look: what no row can be named is not found.
    #[inline]
    pub(super) fn key<'a>(&self, call: &'a Call, index: usize) -> Result<Key<'a>, Raise> {
        if self.has_ids() {
            // A negative one is beyond every id.
            Ok(Key::Id(call.int(index, 0)? as u64))
        } else {
            call.bytes(index).map(Key::Text)
        }
    }

    /// The row that argument `index` names, for a change.
    #[inline]
    pub(super) fn changed_key<'a>(&self, call: &'a Call, index: usize) -> Result<Key<'a>, Raise> {
        let key = self.key(call, index)?;
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

fn write(call: &Call, mode: Mode) -> Result<(), Raise> {
    call.expect(2, 2)?;
    let table = call.this::<TableObject>()?;
    let key = table.changed_key(call, 0)?;
    let given = call.array(1)?;
    let live = table.live()?;
    let texts = Texts::default();
    let mut elements = Elements::new();
    let mut cells = Cells::new();
    cells.fill(&live, given, &mut elements, &texts)?;
    call.ret(live.table.set(key, cells.as_slice(), mode).map_err(raise)?)
}

pub(super) fn set(call: &Call) -> Result<(), Raise> {
    write(call, Mode::Upsert)
}

pub(super) fn insert(call: &Call) -> Result<(), Raise> {
    write(call, Mode::Insert)
}

pub(super) fn update(call: &Call) -> Result<(), Raise> {
    write(call, Mode::Update)
}

pub(super) fn get(call: &Call) -> Result<(), Raise> {
    let table = call.this::<TableObject>()?;
    let key = table.key(call, 0)?;
    let field = if call.count() > 1 { call.opt_bytes(1)? } else { None };
    let live = table.live()?;
    let mut buffer = live.buffer.borrow_mut();
    let Some(field) = field else {
        if !live.table.get(key, &live.all, &mut buffer) {
            return call.ret(false);
        }
        return call.ret(row_array(&live.shape, &buffer)?);
    };
    let column = live.column(field)?;
    if !live.table.get(key, &[column], &mut buffer) {
        return call.ret(false);
    }
    call.ret(shown(buffer.cell(0)).value()?)
}

pub(super) fn getdel(call: &Call) -> Result<(), Raise> {
    let table = call.this::<TableObject>()?;
    let key = table.key(call, 0)?;
    let live = table.live()?;
    let mut buffer = live.buffer.borrow_mut();
    if !live.table.take(key, &live.all, &mut buffer).map_err(raise)? {
        return call.ret(false);
    }
    call.ret(row_array(&live.shape, &buffer)?)
}

pub(super) fn del(call: &Call) -> Result<(), Raise> {
    let table = call.this::<TableObject>()?;
    let key = table.key(call, 0)?;
    let removed = table.live()?.table.remove(key).map_err(raise)?;
    call.ret(removed)
}

pub(super) fn exists(call: &Call) -> Result<(), Raise> {
    let table = call.this::<TableObject>()?;
    let key = table.key(call, 0)?;
    let found = table.live()?.table.has(key);
    call.ret(found)
}

/// The number that argument 2 asks to add.
fn delta(call: &Call, sign: i64) -> Result<Delta, Raise> {
    match call.view(2) {
        _ if call.count() < 3 => Ok(Delta::Int(sign)),
        View::Int(value) => match value.checked_mul(sign) {
            Some(value) => Ok(Delta::Int(value)),
            None => Err(call.value_error(2, "must be greater than PHP_INT_MIN")),
        },
        View::Float(value) => Ok(Delta::Float(value * sign as f64)),
        View::Bool(value) => Ok(Delta::Int(sign * i64::from(value))),
        View::Str(bytes) => match apus_zend::row::text_number(bytes) {
            Some(apus_zend::row::Cell::Int(value)) if value != i64::MIN => Ok(Delta::Int(value * sign)),
            Some(apus_zend::row::Cell::Float(value)) => Ok(Delta::Float(value * sign as f64)),
            _ => Err(call.type_error(2, "of type int|float")),
        },
        _ => Err(call.type_error(2, "of type int|float")),
    }
}

fn add(call: &Call, sign: i64) -> Result<(), Raise> {
    call.expect(2, 3)?;
    let table = call.this::<TableObject>()?;
    let key = table.changed_key(call, 0)?;
    let name = call.bytes(1)?;
    let delta = delta(call, sign)?;
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
    call.ret(shown(live.table.add(key, column, delta).map_err(raise)?).value()?)
}

pub(super) fn incr(call: &Call) -> Result<(), Raise> {
    add(call, 1)
}

pub(super) fn decr(call: &Call) -> Result<(), Raise> {
    add(call, -1)
}

pub(super) fn cmpset(call: &Call) -> Result<(), Raise> {
    let table = call.this::<TableObject>()?;
    let key = table.changed_key(call, 0)?;
    let name = call.bytes(1)?;
    let live = table.live()?;
    let column = live.column(name)?;
    let described = &live.columns[column];
    let texts = Texts::default();
    let expected = cell(described, call.view(2), &texts)?;
    let new = cell(described, call.view(3), &texts)?;
    call.ret(live.table.compare_set(key, column, expected, new).map_err(raise)?)
}

pub(super) fn clear(call: &Call) -> Result<(), Raise> {
    call.this::<TableObject>()?.live()?.table.clear();
    Ok(())
}

pub(super) fn count(call: &Call) -> Result<(), Raise> {
    let rows = call.this::<TableObject>()?.live_if_any().map_or(0, |live| live.table.len());
    call.ret(rows as i64)
}

pub(super) fn get_size(call: &Call) -> Result<(), Raise> {
    call.ret(call.this::<TableObject>()?.rows() as i64)
}

pub(super) fn get_memory_size(call: &Call) -> Result<(), Raise> {
    let used = call.this::<TableObject>()?.live_if_any().map_or(0, |live| live.table.memory().used);
    call.ret(used as i64)
}

pub(super) fn stats(call: &Call) -> Result<(), Raise> {
    let table = call.this::<TableObject>()?;
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
    call.ret(array)
}
