//! PHP's values as cells, and what goes wrong with them as exceptions.

use std::cell::RefCell;

use apus_shm::table::{Cell, Column, Kind, TableError};
use apus_zend::row::{self, number_text, text_number};
use apus_zend::value::View;
use apus_zend::{PhpString, Raise, Value};

use super::table::throw;
use crate::exception::code;
use crate::swoole::{self, There};

/// What is wrong with a text that is no key.
const EMPTY_KEY: &str = "a key must not be empty";
/// Floats whose whole part is exact as an integer lie below this, 2 to the 63rd.
const WHOLE_BOUND: f64 = 9_223_372_036_854_775_808.0;

/// Throws what the shared part refused.
#[cold]
pub(super) fn raise(error: TableError) -> Raise {
    let code = match error {
        TableError::Full { .. } | TableError::DictionaryFull { .. } => code::table::FULL,
        TableError::TooLong { .. } => code::table::TOO_LONG,
        TableError::Key(_) => code::table::KEY,
        TableError::Column(_) | TableError::Schema(_) => code::table::COLUMN,
        TableError::Range { .. } => code::table::RANGE,
        TableError::Type { .. } => code::table::TYPE,
        TableError::State(_) => code::table::STATE,
        TableError::NoMemory(_) => code::table::NO_MEMORY,
        TableError::File(_) => code::table::FILE,
    };
    let empty = matches!(error, TableError::Key(_)).then(|| error.to_string()).filter(|text| text == EMPTY_KEY);
    let raise = throw(code, &error.to_string());
    if empty.is_none() {
        return raise;
    }
    swoole::there(raise, There::Text("key must not be empty".to_owned()))
}

/// Texts that were made of numbers; they live as long as the cells that point to them.
#[derive(Default)]
pub(super) struct Texts(RefCell<Vec<PhpString>>);

impl Texts {
    fn keep(&self, text: PhpString) -> &[u8] {
        let bytes = std::ptr::from_ref(text.as_bytes());
        self.0.borrow_mut().push(text);
        // SAFETY: a string's bytes stay where they are; it is never taken out again and is freed with self, which the
        // result borrows.
        unsafe { &*bytes }
    }
}

fn named(view: View<'_>) -> String {
    match view {
        View::Null => "null".to_owned(),
        View::Bool(value) => value.to_string(),
        View::Int(value) => value.to_string(),
        View::Float(value) => format!("{value:?}"),
        View::Str(bytes) if bytes.len() <= 40 => format!("\"{}\"", String::from_utf8_lossy(bytes)),
        View::Str(bytes) => format!("a text of {} bytes", bytes.len()),
        View::Array(_) => "an array".to_owned(),
        View::Object(_) => "an object".to_owned(),
        View::Other => "a resource".to_owned(),
    }
}

#[cold]
fn refuse(column: &Column, view: View<'_>) -> Raise {
    let (holds, advice) = match column.kind {
        Kind::Int { .. } => ("integers", "convert it with (int)"),
        Kind::Float => ("floats", "convert it with (float)"),
        Kind::Text { .. } | Kind::Dictionary { .. } => ("strings", "convert it with (string), or json_encode()"),
    };
    throw(code::table::TYPE, &format!("column \"{}\" holds {holds}, not {}: {advice}", column.name, named(view)))
}

/// A float without a fraction as an integer.
pub(super) fn whole(value: f64) -> Option<i64> {
    // The fraction of NaN is NaN.
    (value.fract() == 0.0 && (-WHOLE_BOUND..WHOLE_BOUND).contains(&value)).then_some(value as i64)
}

/// A PHP value as a cell of a column: what PHP's own conversions make of it where nothing is lost, an exception where
/// something would be.
#[inline]
pub(super) fn cell<'a>(column: &Column, view: View<'a>, texts: &'a Texts) -> Result<Cell<'a>, Raise> {
    match (column.kind, view) {
        (Kind::Int { .. } | Kind::Float, View::Int(value)) => Ok(Cell::Int(value)),
        (Kind::Text { .. } | Kind::Dictionary { .. }, View::Str(bytes)) => Ok(Cell::Text(bytes)),
        (Kind::Float, View::Float(value)) => Ok(Cell::Float(value)),
        _ => converted(column, view, texts),
    }
}

fn converted<'a>(column: &Column, view: View<'a>, texts: &'a Texts) -> Result<Cell<'a>, Raise> {
    let found = match (column.kind, view) {
        (Kind::Int { .. } | Kind::Float, View::Null) => Some(Cell::Int(0)),
        (Kind::Int { .. } | Kind::Float, View::Bool(value)) => Some(Cell::Int(i64::from(value))),
        (Kind::Int { .. }, View::Float(value)) => whole(value).map(Cell::Int),
        (Kind::Int { .. }, View::Str(bytes)) => match text_number(bytes) {
            Some(row::Cell::Int(value)) => Some(Cell::Int(value)),
            Some(row::Cell::Float(value)) => whole(value).map(Cell::Int),
            _ => None,
        },
        (Kind::Float, View::Str(bytes)) => match text_number(bytes) {
            Some(row::Cell::Int(value)) => Some(Cell::Int(value)),
            Some(row::Cell::Float(value)) => Some(Cell::Float(value)),
            _ => None,
        },
        (Kind::Text { .. } | Kind::Dictionary { .. }, View::Null | View::Bool(false)) => Some(Cell::Text(b"")),
        (Kind::Text { .. } | Kind::Dictionary { .. }, View::Bool(true)) => Some(Cell::Text(b"1")),
        (Kind::Text { .. } | Kind::Dictionary { .. }, View::Int(value)) => {
            Some(Cell::Text(texts.keep(number_text(&Value::int(value))?)))
        }
        (Kind::Text { .. } | Kind::Dictionary { .. }, View::Float(value)) => {
            Some(Cell::Text(texts.keep(number_text(&Value::float(value))?)))
        }
        _ => None,
    };
    found.ok_or_else(|| beyond(column, view).unwrap_or_else(|| refuse(column, view)))
}

/// For a whole number that no integer of PHP's can be: what `(int)` makes of it would be another number.
#[cold]
fn beyond(column: &Column, view: View<'_>) -> Option<Raise> {
    let number = match view {
        View::Float(value) => value,
        View::Str(bytes) => match text_number(bytes) {
            Some(row::Cell::Float(value)) => value,
            _ => return None,
        },
        _ => return None,
    };
    let beyond = matches!(column.kind, Kind::Int { .. }) && number.fract() == 0.0;
    beyond.then(|| {
        let text = format!("column \"{}\": {} is beyond the integers that PHP has", column.name, named(view));
        throw(code::table::RANGE, &text)
    })
}

/// A cell as PHP's side names it.
#[inline]
pub(super) fn shown(cell: Cell<'_>) -> row::Cell<'_> {
    match cell {
        Cell::Int(value) => row::Cell::Int(value),
        Cell::Float(value) => row::Cell::Float(value),
        Cell::Text(bytes) => row::Cell::Text(bytes),
    }
}
