//! `Apus\Table` and `Apus\ColumnTable`: what an object holds, how it is described and created.
//!
//! Both classes are this one: they differ in what names a row (a text, an integer) and in how cells lie in memory.
//! Everything that is shared lives in `apus_shm::table`; an object is this process's view of it, which a forked process
//! inherits.

use std::cell::{Cell, Ref, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use apus_shm::table::{
    Column, IDS_MOST, Index, KeyList, Keys, Kind, Layout, ROWS_MOST, RowBuffer, Schema, TEXT_LONGEST, Table,
};
use apus_zend::arg::{Any, Given, Me};
use apus_zend::engine::{self, ClassEntry};
use apus_zend::row::Shape;
use apus_zend::value::View;
use apus_zend::{Raise, Value, native};

use super::table_convert::raise;
use super::table_iterate::Cursor;
use super::{bulk, figures, table, table_iterate, table_query, table_rows, table_second};
use crate::exception::{self, Code, code};
use crate::swoole::{self, There};

/// Longest text key, in bytes.
pub(super) const KEY_LONGEST: u32 = 1024;
/// Different texts of a column of `TYPE_DICTIONARY`, besides the empty one.
const DICTIONARY_MOST: u32 = 65_535;
/// The same of `TYPE_DICTIONARY32`.
const DICTIONARY32_MOST: u32 = (1 << 24) - 1;
/// What is said there of a table that was destroyed.
const GONE_THERE: &str = "must call constructor first";
/// Sets of columns whose shapes are kept for the next query.
const SHAPES_KEPT: usize = 16;

/// The types of columns.
pub(super) const TYPE_INT: i64 = 1;
pub(super) const TYPE_FLOAT: i64 = 2;
pub(super) const TYPE_STRING: i64 = 3;
pub(super) const TYPE_UINT8: i64 = 16;
pub(super) const TYPE_INT8: i64 = 17;
pub(super) const TYPE_UINT16: i64 = 18;
pub(super) const TYPE_INT16: i64 = 19;
pub(super) const TYPE_UINT32: i64 = 20;
pub(super) const TYPE_INT32: i64 = 21;
pub(super) const TYPE_UINT64: i64 = 22;
pub(super) const TYPE_INT64: i64 = 23;
pub(super) const TYPE_DICTIONARY: i64 = 32;
pub(super) const TYPE_DICTIONARY32: i64 = 33;

/// A table that was created.
pub(super) struct Live {
    pub(super) table: Arc<Table>,
    /// The names of all columns.
    pub(super) shape: Shape,
    pub(super) columns: Vec<Column>,
    pub(super) indexes: Vec<Index>,
    /// The numbers of all columns.
    pub(super) all: Vec<usize>,
    /// Where rows are read into.
    pub(super) buffer: RefCell<RowBuffer>,
    /// Where keys are found into.
    pub(super) keys: RefCell<KeyList>,
    shapes: RefCell<Vec<(Vec<usize>, Rc<Shape>)>>,
}

impl Live {
    /// Whether code written for Swoole has destroyed it in any process.
    #[inline]
    fn is_given_up(&self) -> bool {
        swoole::is_on() && self.table.is_given_up()
    }

    /// The number of a column, or an exception.
    pub(super) fn column(&self, name: &[u8]) -> Result<usize, Raise> {
        self.shape.column(name).ok_or_else(|| {
            let name = String::from_utf8_lossy(name);
            let raise = self.no_column(&format!("\"{name}\""));
            swoole::there(raise, There::Text(format!("column[{name}] does not exist")))
        })
    }

    /// Throws for a name that is no column's.
    #[cold]
    pub(super) fn no_column(&self, name: &str) -> Raise {
        let names: Vec<_> = self.columns.iter().map(|column| column.name.as_str()).collect();
        throw(code::table::COLUMN, &format!("the table has no column {name}; it has: {}", names.join(", ")))
    }

    /// The number of an index, or an exception.
    pub(super) fn index(&self, name: &[u8]) -> Result<usize, Raise> {
        self.indexes.iter().position(|index| index.name.as_bytes() == name).ok_or_else(|| {
            let names: Vec<_> = self.indexes.iter().map(|index| index.name.as_str()).collect();
            let name = String::from_utf8_lossy(name);
            let has = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
            throw(code::table::COLUMN, &format!("the table has no index \"{name}\"; it has: {has}"))
        })
    }

    /// The shape of rows with these columns only.
    pub(super) fn shape_of(&self, columns: &[usize]) -> Result<Rc<Shape>, Raise> {
        let mut shapes = self.shapes.borrow_mut();
        if let Some((_, shape)) = shapes.iter().find(|(kept, _)| kept == columns) {
            return Ok(Rc::clone(shape));
        }
        let shape = Rc::new(Shape::new(columns.iter().map(|column| self.columns[*column].name.as_bytes()))?);
        if shapes.len() >= SHAPES_KEPT {
            shapes.remove(0);
        }
        shapes.push((columns.to_vec(), Rc::clone(&shape)));
        Ok(shape)
    }
}

/// The state of an object.
pub(super) struct TableObject {
    keys: Keys,
    rows: u64,
    columns: RefCell<Vec<Column>>,
    indexes: RefCell<Vec<Index>>,
    live: RefCell<Option<Rc<Live>>>,
    destroyed: Cell<bool>,
    /// Conversions of values that are under way, which run PHP code and need the table to stay.
    pub(super) converting: Cell<u32>,
    pub(super) cursor: Cursor,
}

native!(TableObject, "Apus\\Table");

impl TableObject {
    fn new(keys: Keys, rows: u64) -> Self {
        Self {
            keys,
            rows,
            columns: RefCell::default(),
            indexes: RefCell::default(),
            live: RefCell::default(),
            destroyed: Cell::new(false),
            converting: Cell::new(0),
            cursor: Cursor::default(),
        }
    }

    /// Whether rows are named by integers.
    pub(super) fn has_ids(&self) -> bool {
        matches!(self.keys, Keys::Ids { .. })
    }

    /// The greatest id.
    pub(super) fn greatest_id(&self) -> u64 {
        match self.keys {
            Keys::Ids { most } => most - 1,
            Keys::Text { .. } => 0,
        }
    }

    /// What `create()` made. The borrow must end before PHP code can run.
    #[inline]
    pub(super) fn live(&self) -> Result<Ref<'_, Live>, Raise> {
        Ref::filter_map(self.live.borrow(), Option::as_deref)
            .ok()
            .filter(|live| !live.is_given_up())
            .ok_or_else(|| self.not_live())
    }

    /// The same, where there is nothing to say before `create()`.
    pub(super) fn live_if_any(&self) -> Option<Ref<'_, Live>> {
        Ref::filter_map(self.live.borrow(), Option::as_deref).ok()
    }

    /// Rows that fit.
    pub(super) fn rows(&self) -> u64 {
        self.rows
    }

    /// The same for calls in which PHP code may run.
    pub(super) fn shared(&self) -> Result<Rc<Live>, Raise> {
        let live = self.live.borrow().as_ref().map(Rc::clone);
        live.filter(|live| !live.is_given_up()).ok_or_else(|| self.not_live())
    }

    #[cold]
    fn not_live(&self) -> Raise {
        let why = if self.destroyed.get() {
            "destroy() was called"
        } else {
            "call create() first, after the columns are described"
        };
        let raise = throw(code::table::STATE, &format!("the table does not exist: {why}"));
        let text = if self.destroyed.get() { GONE_THERE } else { "table is not created or has been destroyed" };
        swoole::there(raise, There::Error(ClassEntry::error(), text.to_owned()))
    }

    /// Throws unless columns and indexes may still be described.
    fn expect_draft(&self, what: &str) -> Result<(), Raise> {
        if self.live.borrow().is_none() && !self.destroyed.get() {
            return Ok(());
        }
        let after = if self.destroyed.get() {
            "destroy(): make another object"
        } else {
            "create(): a table keeps what it was made with"
        };
        let raise = throw(code::table::STATE, &format!("{what} was called after {after}"));
        Err(swoole::there(
            raise,
            if self.destroyed.get() {
                There::Error(ClassEntry::error(), GONE_THERE.to_owned())
            } else {
                There::Text("unable to add column after table has been created".to_owned())
            },
        ))
    }
}

/// Throws a `TableException` with the code that its constant `code` has.
#[cold]
pub(super) fn throw(code: Code, text: &str) -> Raise {
    exception::throw(code, text)
}

pub(super) fn construct_rows(rows: Given<i64>, proportion: Given<f64>) -> Result<TableObject, Raise> {
    let fits = u64::try_from(rows.value).ok().filter(|rows| (1..=ROWS_MOST).contains(rows));
    let Some(fits) = fits else {
        return Err(rows.must_be(&format!("1 to {ROWS_MOST} rows")));
    };
    if !proportion.value.is_finite() || proportion.value < 0.0 {
        return Err(proportion.value_error(&format!("must be 0 or more, {:?} given", proportion.value)));
    }
    Ok(TableObject::new(Keys::Text { longest: KEY_LONGEST }, fits))
}

pub(super) fn construct_ids(greatest: Given<i64>) -> Result<TableObject, Raise> {
    match u64::try_from(greatest.value).ok().filter(|greatest| *greatest < IDS_MOST) {
        Some(greatest) => Ok(TableObject::new(Keys::Ids { most: greatest + 1 }, greatest + 1)),
        None => Err(greatest.value_error(&format!("must be 0 to {}, {} given", IDS_MOST - 1, greatest.value))),
    }
}

const fn int(bytes: u8, signed: bool) -> Kind {
    Kind::Int { bytes, signed }
}

/// What a column of a type holds.
fn kind(rows: u64, number: Given<i64>, size: Given<i64>) -> Result<Kind, Raise> {
    let longest = || match u32::try_from(size.value).ok().filter(|size| (1..=TEXT_LONGEST).contains(size)) {
        Some(longest) => Ok(longest),
        None => Err(size.value_error(&format!(
            "must be the bytes of the longest text, 1 to {TEXT_LONGEST}, for this type; {} given",
            size.value
        ))),
    };
    Ok(match number.value {
        TYPE_INT => int(if matches!(size.value, 1 | 2 | 4) { size.value as u8 } else { 8 }, true),
        TYPE_FLOAT => Kind::Float,
        TYPE_STRING => Kind::Text { longest: longest()? },
        TYPE_UINT8 => int(1, false),
        TYPE_INT8 => int(1, true),
        TYPE_UINT16 => int(2, false),
        TYPE_INT16 => int(2, true),
        TYPE_UINT32 => int(4, false),
        TYPE_INT32 => int(4, true),
        TYPE_UINT64 => int(8, false),
        TYPE_INT64 => int(8, true),
        TYPE_DICTIONARY => Kind::Dictionary { longest: longest()?, most: DICTIONARY_MOST },
        TYPE_DICTIONARY32 => {
            let most = rows.clamp(u64::from(DICTIONARY_MOST) + 1, u64::from(DICTIONARY32_MOST)) as u32;
            Kind::Dictionary { longest: longest()?, most }
        }
        _ => {
            return Err(number.must_be("one of the TYPE_ constants of the class"));
        }
    })
}

pub(super) fn column(table: &TableObject, name: String, number: Given<i64>, size: Given<i64>) -> Result<bool, Raise> {
    table.expect_draft("column()")?;
    let kind = kind(table.rows, number, size)?;
    // As a key of an array, a number would not be found under its text.
    if name.is_empty() || name.parse::<i64>().is_ok() {
        return Err(throw(code::table::COLUMN, &format!("\"{name}\" cannot name a column: use a word")));
    }
    if table.has_column(&name) {
        return Err(throw(code::table::COLUMN, &format!("the table has a column \"{name}\" already")));
    }
    let column = Column { name, kind };
    let schema = table.schema_of(vec![column.clone()], Vec::new());
    schema.check().map_err(raise)?;
    table.columns.borrow_mut().push(column);
    Ok(true)
}

/// The names in a value that is one name or a list of names; `wrong` makes the error.
pub(super) fn names<'a>(given: View<'a>, wrong: impl Fn(&str) -> Raise) -> Result<Vec<&'a [u8]>, Raise> {
    let text = |view: View<'a>| match view {
        View::Str(name) => Ok(name),
        _ => Err(wrong("must hold names only: a string, or an array of strings")),
    };
    match given {
        View::Array(list) => list.iter().map(|(_, item)| text(item.view())).collect(),
        one => Ok(vec![text(one)?]),
    }
}

pub(super) fn index(table: &TableObject, name: String, columns: Any<'_>) -> Result<bool, Raise> {
    table.expect_draft("index()")?;
    let mut numbers = Vec::new();
    for column in names(columns.view(), |text| columns.content_error(text))? {
        let found = table.columns.borrow().iter().position(|known| known.name.as_bytes() == column);
        let column = String::from_utf8_lossy(column);
        numbers.push(found.ok_or_else(|| {
            throw(
                code::table::COLUMN,
                &format!("index \"{name}\": there is no column \"{column}\"; describe columns before indexes"),
            )
        })?);
    }
    let mut indexes = table.indexes.borrow().clone();
    indexes.push(Index { name, columns: numbers });
    table.schema_of(table.columns.borrow().clone(), indexes.clone()).check().map_err(raise)?;
    *table.indexes.borrow_mut() = indexes;
    Ok(true)
}

impl TableObject {
    /// Whether a column of this name is described.
    pub(super) fn has_column(&self, name: &str) -> bool {
        self.columns.borrow().iter().any(|column| column.name == name)
    }

    fn schema_of(&self, columns: Vec<Column>, indexes: Vec<Index>) -> Schema {
        let layout = if self.has_ids() { Layout::Columns } else { Layout::Rows };
        Schema { keys: self.keys, layout, rows: self.rows, columns, indexes }
    }
}

pub(super) fn create(this: Me<'_, TableObject>) -> Result<bool, Raise> {
    this.expect_draft("create()")?;
    crate::mistakes::making_table();
    let (columns, indexes) = (this.columns.borrow().clone(), this.indexes.borrow().clone());
    let schema = this.schema_of(columns.clone(), indexes.clone());
    let shape = Shape::new(columns.iter().map(|column| column.name.as_bytes()))?;
    let table = Arc::new(Table::new(schema).map_err(raise)?);
    figures::made(&table);
    let all = (0..columns.len()).collect();
    this.object.set_slot(slot::table::SIZE, Value::int(table.capacity() as i64));
    this.object.set_slot(slot::table::MEMORY_SIZE, Value::int(table.memory().used as i64));
    let live = Live {
        table,
        shape,
        columns,
        indexes,
        all,
        buffer: RefCell::default(),
        keys: RefCell::default(),
        shapes: RefCell::default(),
    };
    *this.live.borrow_mut() = Some(Rc::new(live));
    Ok(true)
}

/// The same in code written for Swoole: no process finds it any more.
pub(super) fn destroy_for_all(table: &TableObject) -> Result<bool, Raise> {
    let live = table.shared()?;
    let destroyed = destroy(table)?;
    live.table.give_up();
    Ok(destroyed)
}

pub(super) fn destroy(table: &TableObject) -> Result<bool, Raise> {
    drop(table.live()?);
    if table.converting.get() > 0 {
        return Err(engine::throw_error("Cannot destroy Swoole\\Table during value conversion"));
    }
    table.destroyed.set(true);
    let live = table.live.borrow_mut().take();
    table.cursor.end();
    drop(live);
    Ok(true)
}

apus_zend::stub!("memory/table");
