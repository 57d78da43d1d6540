//! Queries over the ordered indexes of tables, and reading many rows at once.

use apus_shm::table::{Bounds, Cell, Key, Window};
use apus_zend::arg::{Any, Given, Want};
use apus_zend::row::{go_on, list_of_ints};
use apus_zend::value::{ArrayView, View};
use apus_zend::{Array, Raise, Value};

use super::table::{Live, TableObject, names, throw};
use super::table_convert::{Texts, cell, raise, shown};
use super::table_iterate::key_value;
use super::table_rows::row_array;
use crate::exception::code;

/// Values of the first columns of an index.
type Values<'a> = Vec<Cell<'a>>;

/// A part of an index: its bounds, values of the first columns; an empty list is open.
#[derive(Default)]
struct Part<'a> {
    from: Values<'a>,
    to: Values<'a>,
    /// The bound itself is left out.
    after: bool,
    before: bool,
}

impl Part<'_> {
    fn bounds(&self) -> Bounds<'_> {
        Bounds { from: &self.from, to: &self.to, after: self.after, before: self.before }
    }
}

/// The values in an argument for the columns of an index: none for null, one, or those of an array.
fn values<'a>(given: Any<'a>, live: &Live, index: usize, texts: &'a Texts) -> Result<Values<'a>, Raise> {
    let columns = &live.indexes[index].columns;
    let list = match given.view() {
        View::Null => return Ok(Vec::new()),
        View::Array(list) => list,
        one => return Ok(vec![cell(&live.columns[columns[0]], one, texts)?]),
    };
    let mut items: Vec<View<'a>> = list.iter().map(|(_, item)| item.view()).collect();
    // [7, null] is [7]: the bound of the second column is open.
    if items.len() > 1 && matches!(items.last(), Some(View::Null)) {
        items.pop();
    }
    if items.len() > columns.len() {
        let text =
            format!("must hold no more values than the index has columns ({}); {} given", columns.len(), items.len());
        return Err(given.value_error(&text));
    }
    items.into_iter().zip(columns).map(|(item, column)| cell(&live.columns[*column], item, texts)).collect()
}

/// The part of an index between two bounds.
fn part<'a>(
    (lower, upper): (Any<'a>, Any<'a>),
    exclusive: bool,
    live: &Live,
    index: usize,
    texts: &'a Texts,
) -> Result<Part<'a>, Raise> {
    let mut from = values(lower, live, index, texts)?;
    let mut to = values(upper, live, index, texts)?;
    let depth = from.len().max(to.len()).saturating_sub(1);
    if from.iter().zip(&to).take(depth).any(|(from, to)| from != to) {
        return Err(upper.value_error(
            "must have the same value of the first column as $from: the rows of several are asked for one by one",
        ));
    }
    let (after, before) = (exclusive && from.len() > depth, exclusive && to.len() > depth);
    // The values before the last one of the longer list hold for both.
    if from.len() < depth {
        from = to[..depth].to_vec();
    }
    if to.len() < depth {
        to = from[..depth].to_vec();
    }
    Ok(Part { from, to, after, before })
}

/// A number of rows.
#[derive(Clone, Copy)]
pub(super) struct Rows(u64);

impl Want<i64> for Rows {
    fn want(given: Given<i64>) -> Result<Self, Raise> {
        given.number("0 or more").map(Self)
    }
}

/// The window of rows that a call asks for.
fn window(limit: Rows, offset: Rows, descending: bool) -> Window {
    Window { limit: limit.0, offset: offset.0, descending }
}

/// The keys of rows as a list.
fn key_list(table: &TableObject, live: &Live, part: &Part<'_>, index: usize, window: Window) -> Result<Array, Raise> {
    let mut keys = live.keys.borrow_mut();
    keys.clear();
    live.table.range(index, &part.bounds(), window, &mut keys).map_err(raise)?;
    if table.has_ids() {
        let ids: Vec<i64> = keys.iter().map(|key| if let Key::Id(id) = key { id as i64 } else { 0 }).collect();
        return list_of_ints(&ids);
    }
    let mut list = Array::new(keys.len())?;
    for key in keys.iter() {
        list.push(key_value(key)?)?;
        go_on()?;
    }
    Ok(list)
}

pub(super) fn find(
    table: &TableObject,
    name: &[u8],
    value: Any<'_>,
    limit: Rows,
    offset: Rows,
    descending: bool,
) -> Result<Array, Raise> {
    let live = table.live()?;
    let index = live.index(name)?;
    let texts = Texts::default();
    let mut prefix = values(value, &live, index, &texts)?;
    if matches!(value.view(), View::Null) {
        prefix.push(cell(&live.columns[live.indexes[index].columns[0]], View::Null, &texts)?);
    }
    let part = Part { from: prefix.clone(), to: prefix, after: false, before: false };
    key_list(table, &live, &part, index, window(limit, offset, descending))
}

/// What `look` finds between two values of an index.
fn between<T>(
    table: &TableObject,
    name: &[u8],
    ends: (Any<'_>, Any<'_>),
    exclusive: bool,
    look: impl FnOnce(&Live, usize, &Part<'_>) -> Result<T, Raise>,
) -> Result<T, Raise> {
    let live = table.live()?;
    let index = live.index(name)?;
    let texts = Texts::default();
    let part = part(ends, exclusive, &live, index, &texts)?;
    look(&live, index, &part)
}

#[expect(clippy::too_many_arguments, reason = "those of the PHP method")]
pub(super) fn range(
    table: &TableObject,
    name: &[u8],
    from: Any<'_>,
    to: Any<'_>,
    limit: Rows,
    offset: Rows,
    descending: bool,
    exclusive: bool,
) -> Result<Array, Raise> {
    between(table, name, (from, to), exclusive, |live, index, part| {
        key_list(table, live, part, index, window(limit, offset, descending))
    })
}

pub(super) fn count_range(
    table: &TableObject,
    name: &[u8],
    from: Any<'_>,
    to: Any<'_>,
    exclusive: bool,
) -> Result<u64, Raise> {
    between(table, name, (from, to), exclusive, |live, index, part| {
        live.table.count_range(index, &part.bounds()).map_err(raise)
    })
}

/// The columns that an argument asks for; null: all.
fn columns(given: Given<Option<ArrayView<'_>>>, live: &Live) -> Result<Option<Vec<usize>>, Raise> {
    let Some(list) = given.value else { return Ok(None) };
    let mut numbers = Vec::new();
    for name in names(View::Array(list), |text| given.content_error(text))? {
        let column = live.column(name)?;
        if !numbers.contains(&column) {
            numbers.push(column);
        }
    }
    if numbers.is_empty() {
        return Err(given.value_error("must name at least one column, or be null for all"));
    }
    Ok(Some(numbers))
}

/// `$rows[$key] = $row`.
fn put(rows: &mut Array, key: Key<'_>, row: Array) -> Result<(), Raise> {
    match key {
        Key::Id(id) => rows.set_index(id, row.into()),
        Key::Text(bytes) => rows.set(bytes, row.into()),
    }
}

fn element_key<'a>(
    table: &TableObject,
    view: View<'a>,
    spare: &'a mut Option<apus_zend::PhpString>,
) -> Result<Key<'a>, Raise> {
    match (table.has_ids(), view) {
        (true, View::Int(id)) => Ok(Key::Id(id as u64)),
        (true, View::Str(text)) => match apus_zend::row::text_number(text) {
            Some(apus_zend::row::Cell::Int(id)) => Ok(Key::Id(id as u64)),
            _ => Err(throw(code::table::KEY, "fetch() takes ids: integers, but a text is among them")),
        },
        (false, View::Str(text)) => Ok(Key::Text(text)),
        (false, View::Int(number)) => {
            let text = spare.insert(apus_zend::row::number_text(&Value::int(number))?);
            Ok(Key::Text(text.as_bytes()))
        }
        _ => Err(throw(code::table::KEY, "fetch() takes a list of keys, but something else is among them")),
    }
}

pub(super) fn fetch(
    table: &TableObject,
    keys: ArrayView<'_>,
    wanted: Given<Option<ArrayView<'_>>>,
) -> Result<Array, Raise> {
    let live = table.live()?;
    let wanted = columns(wanted, &live)?;
    let shape = wanted.as_deref().map(|wanted| live.shape_of(wanted)).transpose()?;
    let (shape, wanted) = (shape.as_deref().unwrap_or(&live.shape), wanted.as_deref().unwrap_or(&live.all));
    let mut rows = Array::new(keys.len())?;
    let mut buffer = live.buffer.borrow_mut();
    for (_, item) in keys.iter() {
        let mut spare = None;
        let key = element_key(table, item.view(), &mut spare)?;
        if live.table.get(key, wanted, &mut buffer) {
            put(&mut rows, key, row_array(shape, &buffer)?)?;
        }
    }
    Ok(rows)
}

#[expect(clippy::too_many_arguments, reason = "those of the PHP method")]
pub(super) fn select(
    table: &TableObject,
    name: &[u8],
    from: Any<'_>,
    to: Any<'_>,
    wanted: Given<Option<ArrayView<'_>>>,
    limit: Rows,
    offset: Rows,
    descending: bool,
    exclusive: bool,
) -> Result<Array, Raise> {
    let live = table.live()?;
    let index = live.index(name)?;
    let wanted = columns(wanted, &live)?;
    let shape = wanted.as_deref().map(|wanted| live.shape_of(wanted)).transpose()?;
    let (shape, wanted) = (shape.as_deref().unwrap_or(&live.shape), wanted.as_deref().unwrap_or(&live.all));
    let texts = Texts::default();
    let part = part((from, to), exclusive, &live, index, &texts)?;
    let mut rows = Array::new(8)?;
    let mut done = Ok(());
    live.table
        .select(index, &part.bounds(), window(limit, offset, descending), wanted, |key, row| {
            done = shape.row(row.cells().map(shown)).and_then(|row| put(&mut rows, key, row));
            done.is_ok()
        })
        .map_err(raise)?;
    done?;
    Ok(rows)
}
