//! What `Swoole\Table` does in a way of its own: values are converted and cut as PHP does it, names that are no
//! column's are passed over, and a table has room for more rows than it was asked for.

use apus_shm::table::{Column, Kind};
use apus_zend::arg::{Given, OrFalse};
use apus_zend::row::Elements;
use apus_zend::value::{ArrayView, Key, View};
use apus_zend::{Array, Callable, Raise, Value};

use super::table::{self, Live, TableObject};
use super::table_convert::{Texts, raise};
use super::table_rows::{self as rows, Cells, RowKey};
use crate::swoole;

/// The fewest rows that a table has room for there.
const ROWS_LEAST: i64 = 64;

pub(super) fn construct_rows(asked: Given<i64>, proportion: Given<f64>) -> Result<TableObject, Raise> {
    let rounded = u64::try_from(asked.value).ok().and_then(u64::checked_next_power_of_two);
    let value = rounded.and_then(|rows| i64::try_from(rows).ok()).map_or(asked.value, |rows| rows.max(ROWS_LEAST));
    table::construct_rows(Given { value, ..asked }, proportion)
}

/// Integers have 8 bytes, whatever size is asked for.
pub(super) fn column(table: &TableObject, name: String, number: Given<i64>, size: Given<i64>) -> Result<bool, Raise> {
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

/// A value as its column can have it.
fn loosened(column: &Column, value: Value) -> Result<Value, Raise> {
    if fits(column, value.view()) {
        return Ok(value);
    }
    let longest = match column.kind {
        Kind::Int { .. } => return convert("intval", value),
        Kind::Float => return convert("floatval", value),
        Kind::Text { longest } | Kind::Dictionary { longest, .. } => longest as usize,
    };
    let text = convert("strval", value)?;
    match text.view() {
        View::Str(bytes) if bytes.len() > longest => {
            swoole::warning(&format!(
                "column[{}]: {} bytes are cut to the {longest} that it can have",
                column.name,
                bytes.len()
            ))?;
            Value::string(&bytes[..longest])
        }
        _ => Ok(text),
    }
}

/// A row as the table can have it.
fn loose(live: &Live, given: ArrayView<'_>) -> Result<Array, Raise> {
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
    given: ArrayView<'_>,
    write: impl FnOnce(ArrayView<'_>) -> Result<bool, Raise>,
) -> Result<bool, Raise> {
    let fits = all_fit(&*table.live()?, given);
    // Conversions and warnings run PHP code, which may destroy the table.
    let loose = if fits { None } else { Some(loose(&*table.shared()?, given)?) };
    match &loose {
        Some(row) => write(row.view()),
        None => write(given),
    }
}

pub(super) fn set(table: &TableObject, key: RowKey<'_>, row: ArrayView<'_>) -> Result<bool, Raise> {
    with_row(table, row, |row| rows::set(table, key, row))
}

pub(super) fn add(table: &TableObject, key: RowKey<'_>, row: ArrayView<'_>) -> Result<bool, Raise> {
    with_row(table, row, |row| rows::insert(table, key, row))
}

pub(super) fn update(table: &TableObject, key: RowKey<'_>, row: ArrayView<'_>) -> Result<bool, Raise> {
    with_row(table, row, |row| rows::update(table, key, row))
}

/// A column that is not there has no value, and is no mistake.
pub(super) fn get(table: &TableObject, key: RowKey<'_>, field: Option<&[u8]>) -> Result<Value, Raise> {
    match field {
        Some(field) if table.live()?.shape.column(field).is_none() => Ok(Value::bool(false)),
        field => rows::get(table, key, field),
    }
}

/// Of a table that is not there (any more) false.
pub(super) fn stats(table: &TableObject) -> Result<OrFalse<Array>, Raise> {
    let is_live = table.live_if_any().is_some();
    Ok(OrFalse(if is_live { Some(rows::stats(table)?) } else { None }))
}

pub(super) fn getdel(table: &TableObject, key: RowKey<'_>, field: Option<&[u8]>) -> Result<OrFalse<Value>, Raise> {
    let Some(field) = field else { return Ok(OrFalse(rows::getdel(table, key)?.0.map(Value::from))) };
    if table.live()?.shape.column(field).is_none() {
        return Ok(OrFalse(None));
    }
    let Some(row) = rows::getdel(table, key)?.0 else { return Ok(OrFalse(None)) };
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
    key: RowKey<'_>,
    expected: ArrayView<'_>,
    values: ArrayView<'_>,
) -> Result<bool, Raise> {
    compare(table, key, expected, Some(values))
}

pub(super) fn cmpdel(table: &TableObject, key: RowKey<'_>, expected: ArrayView<'_>) -> Result<bool, Raise> {
    compare(table, key, expected, None)
}

/// Sets or removes a row that has the values expected, in one step.
fn compare(
    table: &TableObject,
    key: RowKey<'_>,
    expected: ArrayView<'_>,
    values: Option<ArrayView<'_>>,
) -> Result<bool, Raise> {
    let key = table.expect_key(key)?;
    // Conversions and warnings run PHP code, which may destroy the table.
    let live = table.shared()?;
    if !expect_names(&live, expected)? {
        return Ok(false);
    }
    let texts = Texts::default();
    let (expected, values) = (loose(&live, expected)?, values.map(|values| loose(&live, values)).transpose()?);
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
