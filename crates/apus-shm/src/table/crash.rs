//! Dying at every step of every change: a child process ends, locks held, at its n-th step, for each n until the change
//! is complete.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::{Cell, Column, Delta, Index, Key, Keys, Kind, Layout, Mode, RowBuffer, Schema, Table, TableError};

/// Steps until this process dies; 0: it lives.
static STEPS: AtomicU64 = AtomicU64::new(0);

/// A step of a change: the process may end here.
pub(super) fn step() {
    if STEPS.load(Relaxed) != 0 && STEPS.fetch_sub(1, Relaxed) == 1 {
        // SAFETY: ends this process at once; nothing of it runs any more, as after a signal.
        unsafe { libc::_exit(9) };
    }
}

/// Runs `change` in a child that dies at the given step. Whether it died.
fn dies_at(step: u64, change: impl FnOnce()) -> bool {
    // SAFETY: the child works on the table's shared memory alone, and ends by _exit.
    let child = unsafe { libc::fork() };
    if child == 0 {
        STEPS.store(step, Relaxed);
        let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(change)).is_ok();
        // SAFETY: ends this process without running anything of the parent's.
        unsafe { libc::_exit((!done).into()) }
    }
    let mut status = 0;
    // SAFETY: the child just forked.
    unsafe { libc::waitpid(child, &raw mut status, 0) };
    assert!(libc::WIFEXITED(status));
    match libc::WEXITSTATUS(status) {
        0 => false,
        9 => true,
        other => panic!("the child failed with {other}"),
    }
}

/// Dies at every step of a change in turn. Afterwards the table must be whole, and either as before or as after; `undo`
/// makes it as before.
pub(super) fn everywhere(name: &str, table: &Table, change: impl Fn(), undo: impl Fn()) {
    let before = contents(table);
    let mut died = 0;
    loop {
        let dead = dies_at(died + 1, &change);
        let now = contents(table);
        table.check().unwrap_or_else(|what| panic!("{name}, step {died}: {what}"));
        if !dead {
            undo();
            table.check().unwrap();
            assert_eq!(contents(table), before, "{name}: undone");
            break;
        }
        died += 1;
        if now != before {
            undo();
            assert_eq!(contents(table), before, "{name}, step {died}: neither as before nor as after");
        }
    }
    assert!(died > 0, "{name} has no steps");
}

type Row = (Vec<u8>, Vec<String>);

/// All rows, by key; also read by key.
pub(super) fn contents(table: &Table) -> Vec<Row> {
    let columns: Vec<usize> = (0..table.schema().columns.len()).collect();
    let (mut rows, mut row, mut other) = (Vec::new(), RowBuffer::new(), RowBuffer::new());
    let mut at = 0;
    while let Some(next) = table.next(at, &columns, &mut row) {
        assert!(table.get(row.key(), &columns, &mut other));
        let cells = row.cells().map(shown).collect();
        assert!(row.cells().eq(other.cells()));
        let key = match row.key() {
            Key::Text(text) => text.to_vec(),
            Key::Id(id) => id.to_be_bytes().to_vec(),
        };
        rows.push((key, cells));
        at = next;
    }
    rows.sort();
    assert_eq!(rows.len() as u64, table.len());
    rows
}

fn shown(cell: Cell<'_>) -> String {
    match cell {
        Cell::Text(text) => String::from_utf8_lossy(text).into_owned(),
        other => format!("{other:?}"),
    }
}

fn schema(keys: Keys, layout: Layout, indexed: bool) -> Schema {
    let column = |name: &str, kind| Column { name: name.into(), kind };
    let index = |name: &str, columns: &[usize]| Index { name: name.into(), columns: columns.to_vec() };
    Schema {
        keys,
        layout,
        // One partition with text keys, so that it has more rows than buckets at first.
        rows: 110,
        columns: vec![
            column("a", Kind::Int { bytes: 4, signed: true }),
            column("b", Kind::Float),
            column("t", Kind::Text { longest: 200_000 }),
            column("d", Kind::Dictionary { longest: 20, most: 300 }),
            column("e", Kind::Int { bytes: 1, signed: false }),
        ],
        indexes: if indexed { vec![index("a", &[0]), index("ta", &[2, 0])] } else { Vec::new() },
    }
}

fn every_change(table: &Table, key: impl Fn(u64) -> Vec<u8>) {
    let texts = matches!(table.schema().keys, Keys::Text { .. });
    let key_of = |bytes: &'_ [u8]| Key::Id(u64::from_be_bytes(bytes.try_into().unwrap_or_default()));
    let with = |at: u64, run: &dyn Fn(Key<'_>)| {
        let bytes = key(at);
        run(if texts { Key::Text(&bytes) } else { key_of(&bytes) });
    };
    let set = |at: u64, a: i64, text: &[u8], d: &[u8]| {
        let cells = [
            (0, Cell::Int(a)),
            (1, Cell::Float(a as f64 / 2.0)),
            (2, Cell::Text(text)),
            (3, Cell::Text(d)),
            (4, Cell::Int(a & 0xff)),
        ];
        with(at, &|key| assert!(table.set(key, &cells, Mode::Upsert).unwrap()));
    };
    let long = vec![b'x'; 66_000];
    let rows = 66;
    for at in 0..rows {
        set(at, at as i64 * 7 % 100, &long[..(at as usize * 3) % 50], format!("d{}", at % 9).as_bytes());
    }
    table.check().unwrap();
    let remove = |at: u64| with(at, &|key| assert!(table.remove(key).unwrap()));
    everywhere("insert", table, || set(rows, 3, b"a text of some length", b"d1"), || remove(rows));
    everywhere("insert, short", table, || set(rows + 1, 3, b"", b""), || remove(rows + 1));
    set(3, 33, b"what was there before", b"d2");
    let back = || set(3, 33, b"what was there before", b"d2");
    everywhere("change all", table, || set(3, -34, b"what is there now, which is longer", b"d3"), back);
    everywhere("change to short", table, || set(3, 35, b"now", b"d4"), back);
    everywhere("change to long", table, || set(3, 33, &long, b"d2"), back);
    everywhere("remove", table, || remove(3), back);
    let add = |by: i64| with(3, &|key| assert!(table.add(key, 0, Delta::Int(by)).is_ok()));
    everywhere(
        "add",
        table,
        || add(5),
        || {
            if read(table, &key(3), texts) != 33 {
                add(-5);
            }
        },
    );
    let swap = |from: i64, to: i64| {
        with(3, &|key| {
            table.compare_set(key, &[(0, Cell::Int(from))], &[(0, Cell::Int(to))]).unwrap();
        });
    };
    everywhere("compare and set", table, || swap(33, 44), || swap(44, 33));
}

fn read(table: &Table, key: &[u8], texts: bool) -> i64 {
    let mut row = RowBuffer::new();
    let key = if texts { Key::Text(key) } else { Key::Id(u64::from_be_bytes(key.try_into().unwrap())) };
    assert!(table.get(key, &[0], &mut row));
    let Cell::Int(value) = row.cell(0) else { panic!("not an integer") };
    value
}

#[test]
fn rows_with_text_keys_survive_any_death() {
    for (layout, indexed) in [(Layout::Rows, false), (Layout::Columns, true)] {
        let table = Table::new(schema(Keys::Text { longest: 1024 }, layout, indexed)).unwrap();
        every_change(&table, |at| format!("key {at}{}", "-".repeat(at as usize % 30)).into_bytes());
    }
}

#[test]
fn rows_with_ids_survive_any_death() {
    for (layout, indexed) in [(Layout::Columns, false), (Layout::Rows, true)] {
        let table = Table::new(schema(Keys::Ids { most: 4000 }, layout, indexed)).unwrap();
        every_change(&table, |at| (at * 19).to_be_bytes().to_vec());
    }
}

#[test]
fn a_table_is_emptied_whole_or_not_at_all() {
    for (keys, indexed) in [(Keys::Text { longest: 64 }, true), (Keys::Ids { most: 4000 }, false)] {
        let table = Table::new(schema(keys, Layout::Rows, indexed)).unwrap();
        let fill = || {
            for at in 0..90u64 {
                let text = format!("a text of row {at}");
                let key =
                    if keys == (Keys::Ids { most: 4000 }) { Key::Id(at * 13) } else { Key::Text(text.as_bytes()) };
                let cells = [(0, Cell::Int(at as i64)), (2, Cell::Text(text.as_bytes())), (3, Cell::Text(b"same"))];
                assert!(table.set(key, &cells, Mode::Upsert).unwrap());
            }
        };
        fill();
        everywhere(
            "clear",
            &table,
            || table.clear(),
            || {
                assert!(table.is_empty());
                fill();
            },
        );
    }
}

/// Dictionaries belong to no partition: a death while they are emptied must not cost rows that are made after it.
#[test]
fn dictionaries_are_emptied_before_they_are_used_again() {
    let make = || Table::new(schema(Keys::Ids { most: 4000 }, Layout::Columns, false)).unwrap();
    let mut row = RowBuffer::new();
    for died in 1.. {
        let table = make();
        let set = |id: u64, text: &[u8]| table.set(Key::Id(id), &[(3, Cell::Text(text))], Mode::Upsert).unwrap();
        for id in 0..20 {
            set(id * 200, format!("text {id}").as_bytes());
        }
        let dead = dies_at(died, || table.clear());
        set(5, b"made after it");
        table.check().unwrap();
        set(6, b"another");
        assert!(table.get(Key::Id(5), &[3], &mut row));
        assert_eq!(row.cell(0), Cell::Text(b"made after it"), "step {died}");
        if !dead {
            assert_eq!(table.len(), 2);
            break;
        }
    }
}

/// What a table holds, as bytes.
fn copied(table: &Table) -> Vec<(usize, Vec<u8>)> {
    table.store.freeze(|store| {
        let area = |area: super::layout::Area| {
            let mut bytes = Vec::new();
            store.region().copy_out(area.offset, area.bytes, &mut bytes);
            (area.offset, bytes)
        };
        store.ranges().into_iter().map(area).collect()
    })
}

#[test]
pub(super) fn contents_are_replaced_whole_or_lost_whole() {
    for (keys, indexed) in [(Keys::Text { longest: 64 }, true), (Keys::Ids { most: 4000 }, false)] {
        let schema = schema(keys, Layout::Columns, indexed);
        let (table, other) = (Table::new(schema.clone()).unwrap(), Table::new(schema).unwrap());
        let fill = |table: &Table, rows: u64| {
            for at in 0..rows {
                let text = format!("a text of row {at} of {rows}");
                let key =
                    if keys == (Keys::Ids { most: 4000 }) { Key::Id(at * 13) } else { Key::Text(text.as_bytes()) };
                let cells = [
                    (0, Cell::Int(at as i64)),
                    (2, Cell::Text(text.as_bytes())),
                    (3, Cell::Text(&text.as_bytes()[14..])),
                ];
                assert!(table.set(key, &cells, Mode::Upsert).unwrap());
            }
        };
        fill(&table, 60);
        fill(&other, 90);
        let (bytes, there) = (copied(&other), contents(&other));
        assert_eq!(table.store.fingerprint(), other.store.fingerprint());
        let replace = || {
            let fill = |region: &crate::Region| {
                for (offset, bytes) in &bytes {
                    step();
                    region.copy_in(*offset, bytes);
                }
                Ok(())
            };
            table.store.replace(false, fill, TableError::File).unwrap();
        };
        everywhere("replace", &table, replace, || {
            let now = contents(&table);
            assert!(now.is_empty() || now == there);
            table.clear();
            fill(&table, 60);
        });
    }
}

/// A death between counting a row and making it leaves the count too great: the last rows fit all the same.
#[test]
fn the_count_is_made_good() {
    let mut schema = schema(Keys::Text { longest: 64 }, Layout::Rows, false);
    schema.rows = 10;
    let table = Table::new(schema).unwrap();
    let set = |at: u64| table.set(Key::Text(&at.to_be_bytes()), &[(0, Cell::Int(1))], Mode::Insert);
    for died in 1.. {
        if !dies_at(died, || assert!(set(100 + died).unwrap())) {
            break;
        }
        table.remove(Key::Text(&(100 + died).to_be_bytes())).unwrap();
    }
    table.clear();
    dies_at(1, || drop(set(99)));
    dies_at(3, || drop(set(98)));
    for at in 0..10 {
        assert_eq!(set(at), Ok(true), "{at}");
    }
    assert!(set(10).is_err());
    table.check().unwrap();
}
