//! What `Swoole\Table` does in a way of its own: values are converted and cut as PHP does it, names that are no
//! column's are passed over, and a table has room for more rows than it was asked for.

use apus_process::log;
use apus_shm::table::{Column, Delta, Key as TableKey, Kind};
use apus_zend::arg::{Any, Given, OrFalse, Want};
use apus_zend::row::Elements;
use apus_zend::value::{ArrayView, Key, View};
use apus_zend::{Array, Callable, Raise, Value};

use super::table::{self, Live, TableObject, throw};
use super::table_convert::{Texts, raise};
use super::table_rows::{self as rows, Cells, RowKey};
use crate::exception::code;
use crate::swoole::{self, There};

/// The fewest rows that a table has room for there.
const ROWS_LEAST: i64 = 64;
/// The longest key there, in bytes.
const KEY_LONGEST: usize = 63;

/// The key of a row, as code written for Swoole may have them.
#[derive(Clone, Copy)]
pub(super) struct KeyThere<'a>(&'a [u8]);

impl<'a> KeyThere<'a> {
    fn row(self) -> RowKey<'a> {
        RowKey(TableKey::Text(self.0))
    }
}

impl<'a> Want<&'a [u8]> for KeyThere<'a> {
    fn want(given: Given<&'a [u8]>) -> Result<Self, Raise> {
        let wrong = match given.value.len() {
            0 => "key must not be empty".to_owned(),
            1..=KEY_LONGEST => return Ok(Self(given.value)),
            _ => format!("key length exceeds the limit of {KEY_LONGEST} bytes"),
        };
        Err(swoole::there(throw(code::table::KEY, &wrong), There::Text(wrong)))
    }
}

/// While this lives, the table cannot be destroyed: PHP code that converts a value may try to.
struct Converting<'a>(&'a TableObject);

impl<'a> Converting<'a> {
    fn of(table: &'a TableObject) -> Self {
        table.converting.set(table.converting.get() + 1);
        Self(table)
    }
}

impl Drop for Converting<'_> {
    fn drop(&mut self) {
        self.0.converting.set(self.0.converting.get() - 1);
    }
}

pub(super) fn construct_rows(asked: Given<i64>, proportion: Given<f64>) -> Result<TableObject, Raise> {
    let rounded = u64::try_from(asked.value).ok().and_then(u64::checked_next_power_of_two);
    let value = rounded.and_then(|rows| i64::try_from(rows).ok()).map_or(asked.value, |rows| rows.max(ROWS_LEAST));
    table::construct_rows(Given { value, ..asked }, proportion)
}

/// Integers have 8 bytes, whatever size is asked for.
pub(super) fn column(table: &TableObject, name: String, number: Given<i64>, size: Given<i64>) -> Result<bool, Raise> {
    if table.live_if_any().is_none() && table.has_column(&name) {
        log::warning(format_args!("Table::add_column(): column[{name}] already exists"));
        return Ok(false);
    }
    let value = if number.value == table::TYPE_INT { 8 } else { size.value };
    table::column(table, name, number, Given { value, ..size })
}

/// Whether a value can be stored as it is.
fn fits(column: &Column, view: View<'_>) -> bool {
    match view {
        View::Int(_) | View::Bool(_) | View::Null => true,
        View::Float(_) => !matches!(column.kind, Kind::Int { .. }),
        View::Str(text) => match column.kind {
            Kind::Text { longest } | Kind::Dictionary { longest, .. } => text.len() <= longest as usize,
            _ => false,
        },
        _ => false,
    }
}

/// What PHP's own conversion makes of a value.
fn convert(function: &str, value: Value) -> Result<Value, Raise> {
    Callable::named(function)?.call(&[value])
}

/// The longest text that a column can have.
fn longest(column: &Column) -> Option<usize> {
    match column.kind {
        Kind::Text { longest } | Kind::Dictionary { longest, .. } => Some(longest as usize),
        Kind::Int { .. } | Kind::Float => None,
    }
}

/// A value of the kind that its column has; a text may be too long for it.
fn loosened(column: &Column, value: Value) -> Result<Value, Raise> {
    if fits(column, value.view()) {
        return Ok(value);
    }
    match column.kind {
        Kind::Int { .. } => convert("intval", value),
        Kind::Float => convert("floatval", value),
        Kind::Text { .. } | Kind::Dictionary { .. } => convert("strval", value),
    }
}

/// The texts of a row cut to what the columns can have, of which the log tells.
fn cut(live: &Live, key: KeyThere<'_>, row: &mut Array) -> Result<(), Raise> {
    for column in &live.columns {
        let Some(most) = longest(column) else { continue };
        let name = column.name.as_bytes();
        let found = row.view().iter().find(|(key, _)| matches!(key, Key::Str(found) if *found == name));
        let Some(View::Str(text)) = found.map(|(_, value)| value.view()).filter(|view| is_longer(*view, most)) else {
            continue;
        };
        let kept = Value::string(&text[..most])?;
        let key = String::from_utf8_lossy(key.0);
        log::warning(format_args!("table_marshal_values(): [key={key},field={}]string value is too long", column.name));
        row.set(name, kept)?;
    }
    Ok(())
}

fn is_longer(view: View<'_>, most: usize) -> bool {
    matches!(view, View::Str(text) if text.len() > most)
}

/// Whether no text of a row is longer than its column's can be.
fn none_too_long(live: &Live, row: ArrayView<'_>) -> bool {
    row.iter().all(|(key, value)| match key {
        Key::Str(name) => live
            .shape
            .column(name)
            .and_then(|column| longest(&live.columns[column]))
            .is_none_or(|most| !is_longer(value.view(), most)),
        Key::Index(_) => true,
    })
}

/// A row with the columns of the table alone, of their kinds. Runs PHP code.
fn loose(table: &TableObject, live: &Live, given: ArrayView<'_>) -> Result<Array, Raise> {
    let _converting = Converting::of(table);
    let mut row = Array::new(given.len())?;
    for (key, value) in given.iter() {
        if let Key::Str(name) = key
            && let Some(column) = live.shape.column(name)
        {
            row.set(name, loosened(&live.columns[column], value.value())?)?;
        }
    }
    Ok(row)
}

/// Whether a row can be stored as it is.
fn all_fit(live: &Live, given: ArrayView<'_>) -> bool {
    given.iter().all(|(key, value)| match key {
        Key::Str(name) => live.shape.column(name).is_some_and(|column| fits(&live.columns[column], value.view())),
        Key::Index(_) => false,
    })
}

/// Calls `write` with a row as the table can have it.
fn with_row(
    table: &TableObject,
    key: KeyThere<'_>,
    given: ArrayView<'_>,
    write: impl FnOnce(RowKey<'_>, ArrayView<'_>) -> Result<bool, Raise>,
) -> Result<bool, Raise> {
    let fits = all_fit(&*table.live()?, given);
    if fits {
        return write(key.row(), given);
    }
    let live = table.shared()?;
    let mut row = loose(table, &live, given)?;
    cut(&live, key, &mut row)?;
    write(key.row(), row.view())
}

pub(super) fn set(table: &TableObject, key: KeyThere<'_>, row: ArrayView<'_>) -> Result<bool, Raise> {
    with_row(table, key, row, |key, row| rows::set(table, key, row))
}

pub(super) fn add(table: &TableObject, key: KeyThere<'_>, row: ArrayView<'_>) -> Result<bool, Raise> {
    with_row(table, key, row, |key, row| rows::insert(table, key, row))
}

pub(super) fn update(table: &TableObject, key: KeyThere<'_>, row: ArrayView<'_>) -> Result<bool, Raise> {
    with_row(table, key, row, |key, row| rows::update(table, key, row))
}

/// A column that is not there has no value, and is no mistake.
pub(super) fn get(table: &TableObject, key: KeyThere<'_>, field: Option<&[u8]>) -> Result<Value, Raise> {
    match field {
        Some(field) if table.live()?.shape.column(field).is_none() => Ok(Value::bool(false)),
        field => rows::get(table, key.row(), field),
    }
}

pub(super) fn del(table: &TableObject, key: KeyThere<'_>) -> Result<bool, Raise> {
    rows::del(table, key.row())
}

pub(super) fn exists(table: &TableObject, key: KeyThere<'_>) -> Result<bool, Raise> {
    rows::exists(table, key.row())
}

/// How many rows there are, whatever `$mode` says.
pub(super) fn count(table: &TableObject, _mode: i64) -> u64 {
    rows::count(table)
}

/// Adds what PHP's own conversion makes of `by`.
fn add_number(table: &TableObject, key: KeyThere<'_>, name: &[u8], by: Any<'_>, sign: i64) -> Result<Value, Raise> {
    let what = if sign > 0 { "incr" } else { "decr" };
    let live = table.shared()?;
    let column = live.column(name)?;
    let convert_to = match live.columns[column].kind {
        Kind::Float => "floatval",
        _ => "intval",
    };
    let number = match by.view() {
        _ if !by.is_passed() => Value::int(1),
        View::Int(value) => Value::int(value),
        _ => {
            let _converting = Converting::of(table);
            convert(convert_to, by.value())?
        }
    };
    let delta = match number.view() {
        View::Float(value) => Delta::Float(value * sign as f64),
        View::Int(value) => Delta::Int(value.wrapping_mul(sign)),
        _ => Delta::Int(0),
    };
    rows::add(table, key.row(), name, delta).map_err(|raise| rows::text_there(raise, what))
}

pub(super) fn incr(table: &TableObject, key: KeyThere<'_>, column: &[u8], by: Any<'_>) -> Result<Value, Raise> {
    add_number(table, key, column, by, 1)
}

pub(super) fn decr(table: &TableObject, key: KeyThere<'_>, column: &[u8], by: Any<'_>) -> Result<Value, Raise> {
    add_number(table, key, column, by, -1)
}

/// Of a table that is not there (any more) false.
pub(super) fn stats(table: &TableObject) -> Result<OrFalse<Array>, Raise> {
    let is_live = table.live_if_any().is_some();
    Ok(OrFalse(if is_live { Some(rows::stats(table)?) } else { None }))
}

pub(super) fn getdel(table: &TableObject, key: KeyThere<'_>, field: Option<&[u8]>) -> Result<OrFalse<Value>, Raise> {
    let Some(field) = field else { return Ok(OrFalse(rows::getdel(table, key.row())?.0.map(Value::from))) };
    if table.live()?.shape.column(field).is_none() {
        return Ok(OrFalse(None));
    }
    let Some(row) = rows::getdel(table, key.row())?.0 else { return Ok(OrFalse(None)) };
    let name = String::from_utf8_lossy(field);
    Ok(OrFalse(
        row.view()
            .iter()
            .find(|(key, _)| matches!(key, Key::Str(found) if *found == name.as_bytes()))
            .map(|(_, value)| value.value()),
    ))
}

/// Refuses what names no value that a row could be compared with.
fn expect_names(live: &Live, expected: ArrayView<'_>) -> Result<bool, Raise> {
    let wrong = expected.iter().find_map(|(key, _)| match key {
        Key::Str(name) if live.shape.column(name).is_some() => None,
        Key::Str(name) => Some(format!("column[{}] does not exist", String::from_utf8_lossy(name))),
        Key::Index(_) => Some("expected values must use column names".to_owned()),
    });
    let wrong = if expected.is_empty() { Some("expected values must not be empty".to_owned()) } else { wrong };
    match wrong {
        Some(wrong) => swoole::warning(&wrong).map(|()| false),
        None => Ok(true),
    }
}

pub(super) fn cmpset(
    table: &TableObject,
    key: KeyThere<'_>,
    expected: ArrayView<'_>,
    values: ArrayView<'_>,
) -> Result<bool, Raise> {
    compare(table, key, expected, Some(values))
}

pub(super) fn cmpdel(table: &TableObject, key: KeyThere<'_>, expected: ArrayView<'_>) -> Result<bool, Raise> {
    compare(table, key, expected, None)
}

/// Sets or removes a row that has the values expected, in one step.
fn compare(
    table: &TableObject,
    key: KeyThere<'_>,
    expected: ArrayView<'_>,
    values: Option<ArrayView<'_>>,
) -> Result<bool, Raise> {
    // Conversions and warnings run PHP code, which may destroy the table.
    let live = table.shared()?;
    if !expect_names(&live, expected)? {
        return Ok(false);
    }
    let texts = Texts::default();
    let expected = loose(table, &live, expected)?;
    let values = match values {
        Some(values) => {
            let mut row = loose(table, &live, values)?;
            cut(&live, key, &mut row)?;
            Some(row)
        }
        None => None,
    };
    // No row has a longer text than its column can have.
    if !none_too_long(&live, expected.view()) {
        return Ok(false);
    }
    let key = table.expect_key(key.row())?;
    let (mut expected_elements, mut elements) = (Elements::new(), Elements::new());
    let (mut expected_cells, mut cells) = (Cells::new(), Cells::new());
    expected_cells.fill(&live, expected.view(), &mut expected_elements, &texts)?;
    match &values {
        Some(values) => {
            cells.fill(&live, values.view(), &mut elements, &texts)?;
            live.table.compare_set(key, expected_cells.as_slice(), cells.as_slice()).map_err(raise)
        }
        None => live.table.compare_remove(key, expected_cells.as_slice()).map_err(raise),
    }
}
