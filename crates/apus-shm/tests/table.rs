//! Tables against a model, at their limits, and under threads.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "what is missing fails the test")]

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use apus_shm::map;
use apus_shm::table::{
    Cell, Column, Delta, Index, Key, Keys, Kind, Layout, Mode, RowBuffer, Schema, Table, TableError,
};

mod fork;
use fork::{Child, numbers};

fn column(name: &str, kind: Kind) -> Column {
    Column { name: name.into(), kind }
}

fn int(bytes: u8, signed: bool) -> Kind {
    Kind::Int { bytes, signed }
}

fn table(keys: Keys, layout: Layout, rows: u64, kinds: &[Kind], indexes: &[&[usize]]) -> Table {
    let columns = kinds.iter().enumerate().map(|(at, kind)| column(&format!("c{at}"), *kind)).collect();
    let indexes = indexes.iter().enumerate();
    let indexes = indexes.map(|(at, columns)| Index { name: format!("i{at}"), columns: columns.to_vec() }).collect();
    Table::new(Schema { keys, layout, rows, columns, indexes }).unwrap()
}

/// A value of its own, to keep in a model.
#[derive(Debug, Clone, PartialEq)]
enum Value {
    Int(i64),
    Float(f64),
    Text(Vec<u8>),
}

impl Value {
    fn cell(&self) -> Cell<'_> {
        match self {
            Value::Int(value) => Cell::Int(*value),
            Value::Float(value) => Cell::Float(*value),
            Value::Text(text) => Cell::Text(text),
        }
    }

    fn of(cell: Cell<'_>) -> Self {
        match cell {
            Cell::Int(value) => Value::Int(value),
            Cell::Float(value) => Value::Float(value),
            Cell::Text(text) => Value::Text(text.to_vec()),
        }
    }
}

const KINDS: [Kind; 6] = [
    Kind::Int { bytes: 8, signed: true },
    Kind::Text { longest: 3000 },
    Kind::Int { bytes: 2, signed: true },
    Kind::Float,
    Kind::Dictionary { longest: 8, most: 200 },
    Kind::Text { longest: 7 },
];
const ALL: [usize; 6] = [0, 1, 2, 3, 4, 5];

fn zeros() -> Vec<Value> {
    let empty = || Value::Text(Vec::new());
    vec![Value::Int(0), empty(), Value::Int(0), Value::Float(0.0), empty(), empty()]
}

fn some_value(column: usize, next: &mut impl FnMut() -> usize) -> Value {
    match column {
        0 => Value::Int((next() as i64 - (1 << 30)) << (next() % 33)),
        2 => Value::Int((next() % 65536) as i64 - 32768),
        3 => Value::Float(next() as f64 / 7.0),
        4 => Value::Text(format!("d{}", next() % 150).into_bytes()),
        1 => {
            let len = if next().is_multiple_of(8) { next() % 3001 } else { next() % 40 };
            Value::Text((0..len).map(|_| next() as u8).collect())
        }
        _ => Value::Text((0..next() % 8).map(|_| next() as u8).collect()),
    }
}

type Model = BTreeMap<Vec<u8>, Vec<Value>>;

fn key(bytes: &[u8], texts: bool) -> Key<'_> {
    if texts { Key::Text(bytes) } else { Key::Id(u32::from_be_bytes(bytes.try_into().unwrap()).into()) }
}

fn some_key(next: &mut impl FnMut() -> usize, texts: bool) -> Vec<u8> {
    let number = next() % 1500;
    if texts {
        format!("{}{number}", "k".repeat(number % 40)).into_bytes()
    } else {
        // Spread, so that several partitions and words have some.
        (number as u32 * 61).to_be_bytes().to_vec()
    }
}

fn read(table: &Table, key: Key<'_>, row: &mut RowBuffer) -> Option<Vec<Value>> {
    table.get(key, &ALL, row).then(|| row.cells().map(Value::of).collect())
}

fn change(table: &Table, model: &mut Model, name: &[u8], key: Key<'_>, next: &mut impl FnMut() -> usize) {
    let mut row = RowBuffer::new();
    match next() % 16 {
        0..7 => {
            let mode = [Mode::Upsert, Mode::Insert, Mode::Update][next() % 3];
            let columns: Vec<usize> = ALL.into_iter().filter(|_| !next().is_multiple_of(3)).collect();
            let values: Vec<_> = columns.iter().map(|column| (*column, some_value(*column, next))).collect();
            let cells: Vec<_> = values.iter().map(|(column, value)| (*column, value.cell())).collect();
            let there = model.contains_key(name);
            let done = mode == Mode::Upsert || (mode == Mode::Update) == there;
            assert_eq!(table.set(key, &cells, mode), Ok(done));
            if done {
                let row = model.entry(name.to_vec()).or_insert_with(zeros);
                for (column, value) in values {
                    row[column] = value;
                }
            }
        }
        7..9 => assert_eq!(table.remove(key), Ok(model.remove(name).is_some())),
        9 => {
            let gone = model.remove(name);
            assert_eq!(table.take(key, &ALL, &mut row), Ok(gone.is_some()));
            assert!(gone.is_none_or(|gone| row.cells().map(Value::of).eq(gone)));
        }
        10..12 => {
            let column = [0, 2][next() % 2];
            let delta = next() as i64 % 1000 - 500;
            let old = model.get(name).map_or(0, |row| if let Value::Int(old) = row[column] { old } else { 0 });
            let (least, greatest) = KINDS[column].bounds();
            let sum = old.checked_add(delta).filter(|sum| (least..=greatest).contains(sum));
            let added = table.add(key, column, Delta::Int(delta));
            assert_eq!(added.is_ok(), sum.is_some());
            if let Some(sum) = sum {
                assert_eq!(added, Ok(Cell::Int(sum)));
                model.entry(name.to_vec()).or_insert_with(zeros)[column] = Value::Int(sum);
            }
        }
        12..14 => {
            let column = next() % 6;
            let (new, other) = (some_value(column, next), some_value(column, next));
            let expected =
                model.get(name).filter(|_| next().is_multiple_of(2)).map_or(other, |row| row[column].clone());
            let same = model.get(name).is_some_and(|row| row[column] == expected);
            assert_eq!(table.compare_set(key, &[(column, expected.cell())], &[(column, new.cell())]), Ok(same));
            if same {
                model.get_mut(name).unwrap()[column] = new;
            }
        }
        _ => {
            assert_eq!(table.has(key), model.contains_key(name));
            assert_eq!(read(table, key, &mut row), model.get(name).cloned());
        }
    }
}

fn compare(table: &Table, model: &Model, texts: bool) {
    table.check().unwrap();
    assert_eq!(table.len(), model.len() as u64);
    let (mut at, mut row, mut found) = (0, RowBuffer::new(), Model::new());
    while let Some(next) = table.next(at, &ALL, &mut row) {
        let name = match row.key() {
            Key::Text(text) => text.to_vec(),
            Key::Id(id) => (id as u32).to_be_bytes().to_vec(),
        };
        assert!(found.insert(name, row.cells().map(Value::of).collect()).is_none());
        at = next;
    }
    assert_eq!(&found, model);
    for (name, values) in model {
        assert_eq!(read(table, key(name, texts), &mut row).as_ref(), Some(values));
    }
}

#[test]
fn a_table_is_what_the_model_is() {
    let indexes: [&[&[usize]]; 2] = [&[], &[&[0], &[1, 2], &[4, 3]]];
    for round in 0..8 {
        let texts = round & 1 == 0;
        let keys = if texts { Keys::Text { longest: 64 } } else { Keys::Ids { most: 100_000 } };
        let layout = if round & 2 == 0 { Layout::Rows } else { Layout::Columns };
        let table = table(keys, layout, 2000, &KINDS, indexes[usize::from(round & 4 != 0)]);
        let (mut model, mut next) = (Model::new(), numbers(round));
        for step in 1..=6000 {
            let name = some_key(&mut next, texts);
            change(&table, &mut model, &name, key(&name, texts), &mut next);
            match step % 2000 {
                0 => compare(&table, &model, texts),
                700 if next().is_multiple_of(2) => {
                    table.clear();
                    model.clear();
                    compare(&table, &model, texts);
                }
                900 => table.defer_indexes(),
                1500 => table.build_indexes().unwrap(),
                _ => {}
            }
        }
    }
}

#[test]
fn exactly_as_many_rows_fit_as_were_asked_for() {
    for rows in [1, 2, 63, 1000, 10_000] {
        let table =
            table(Keys::Text { longest: 32 }, Layout::Rows, rows, &[int(8, true), Kind::Text { longest: 40 }], &[]);
        let set = |at: u64, mode| {
            let text = format!("a text for row {at}");
            table.set(
                Key::Text(format!("key {at}").as_bytes()),
                &[(0, Cell::Int(at as i64)), (1, Cell::Text(text.as_bytes()))],
                mode,
            )
        };
        for at in 0..rows {
            assert_eq!(set(at, Mode::Upsert), Ok(true), "{at} of {rows}");
        }
        let used = table.memory().used;
        for at in rows..rows + 10 {
            assert_eq!(set(at, Mode::Insert), Err(TableError::Full { rows }));
            assert_eq!(table.add(Key::Text(b"other"), 0, Delta::Int(1)), Err(TableError::Full { rows }));
        }
        assert_eq!((table.len(), table.memory().used), (rows, used));
        assert_eq!(set(0, Mode::Update), Ok(true));
        table.check().unwrap();
        assert_eq!(table.remove(Key::Text(b"key 0")), Ok(true));
        assert_eq!(set(rows, Mode::Insert), Ok(true));
        assert_eq!(set(0, Mode::Insert), Err(TableError::Full { rows }));
        table.check().unwrap();
        let stats = table.stats();
        assert_eq!((stats.num, stats.available_slice_num, stats.total_slice_num), (rows, 0, rows));
        assert_eq!((stats.insert_count, stats.update_count, stats.delete_count), (rows + 1, 1, 1));
    }
    let table = table(Keys::Ids { most: 1000 }, Layout::Columns, 10, &[int(1, false)], &[]);
    for id in 0..10 {
        assert_eq!(table.set(Key::Id(999 - id * 3), &[], Mode::Insert), Ok(true));
    }
    assert_eq!(table.set(Key::Id(1), &[], Mode::Insert), Err(TableError::Full { rows: 10 }));
    table.check().unwrap();
}

#[test]
fn a_table_takes_memory_as_rows_come_and_gives_it_back() {
    let table = table(
        Keys::Text { longest: 32 },
        Layout::Rows,
        1 << 20,
        &[int(4, true), Kind::Text { longest: 60_000 }],
        &[&[0]],
    );
    let empty = table.memory();
    assert!(empty.used < 2 << 20 && empty.reserved > 60_000 << 20, "{empty:?}");
    let text = vec![b'x'; 1000];
    for at in 0..20_000u32 {
        table.set(Key::Text(&at.to_be_bytes()), &[(0, Cell::Int(7)), (1, Cell::Text(&text))], Mode::Insert).unwrap();
    }
    let full = table.memory();
    assert!((20_000_000..30_000_000).contains(&(full.used - empty.used)), "{full:?}");
    for round in 0..3 {
        for at in 0..20_000u32 {
            let text = vec![round; 990 + (at as usize & 1)];
            table.set(Key::Text(&at.to_be_bytes()), &[(1, Cell::Text(&text))], Mode::Update).unwrap();
        }
    }
    assert!(table.memory().used <= full.used + (1 << 20), "texts of the same size use the same blocks again");
    table.clear();
    assert!(table.memory().used <= empty.used + (1 << 20));
    table.check().unwrap();
}

fn one_cell(table: &Table, key: Key<'_>) -> Value {
    let mut row = RowBuffer::new();
    assert!(table.get(key, &[0], &mut row));
    Value::of(row.cell(0))
}

#[test]
fn integers_keep_to_their_bounds() {
    for (bytes, signed) in [1, 2, 4, 8].into_iter().flat_map(|bytes| [(bytes, false), (bytes, true)]) {
        let kind = int(bytes, signed);
        let table = table(Keys::Ids { most: 100 }, Layout::Columns, 100, &[kind, int(1, false)], &[&[0]]);
        let (least, greatest) = kind.bounds();
        let bits = 8 * u32::from(bytes) - u32::from(signed);
        assert_eq!(i128::from(greatest), (1i128 << bits.min(63)) - 1);
        assert_eq!(i128::from(least), if signed { -(1i128 << bits) } else { 0 });
        for (id, value) in [least, greatest, 0, greatest / 3, least / 3].into_iter().enumerate() {
            let key = Key::Id(id as u64 * 7);
            assert_eq!(table.set(key, &[(0, Cell::Int(value)), (1, Cell::Int(255))], Mode::Insert), Ok(true));
            assert_eq!(one_cell(&table, key), Value::Int(value));
        }
        for value in [i128::from(least) - 1, i128::from(greatest) + 1] {
            let Ok(cell) = i64::try_from(value) else { continue };
            let error = table.set(Key::Id(0), &[(1, Cell::Int(3)), (0, Cell::Int(cell))], Mode::Update);
            assert_eq!(error, Err(TableError::Range { column: "c0".into(), value, least, greatest }));
        }
        assert_eq!(one_cell(&table, Key::Id(0)), Value::Int(least));
        assert!(matches!(table.add(Key::Id(0), 0, Delta::Int(-1)), Err(TableError::Range { .. })));
        assert!(matches!(table.add(Key::Id(7), 0, Delta::Int(1)), Err(TableError::Range { .. })));
        assert_eq!(table.add(Key::Id(7), 0, Delta::Int(-1)), Ok(Cell::Int(greatest - 1)));
        assert!(matches!(table.add(Key::Id(55), 0, Delta::Int(i64::MIN)), Err(TableError::Range { .. })) || bytes == 8);
        table.check().unwrap();
    }
}

#[test]
fn texts_of_every_length() {
    let longest = 5000;
    let table = table(Keys::Text { longest: 1024 }, Layout::Rows, 100, &[Kind::Text { longest }], &[]);
    let text: Vec<u8> = (0..=longest).map(|at| (at % 251) as u8).collect();
    for len in (0..200).chain((200..=longest as usize).step_by(37)).chain([longest as usize]) {
        let name = &text[1..=1 + len % 1024];
        assert_eq!(table.set(Key::Text(b"one"), &[(0, Cell::Text(&text[..len]))], Mode::Upsert), Ok(true));
        assert_eq!(one_cell(&table, Key::Text(b"one")), Value::Text(text[..len].to_vec()));
        assert_eq!(table.set(Key::Text(name), &[(0, Cell::Text(&text[..len]))], Mode::Upsert), Ok(true));
        assert_eq!(one_cell(&table, Key::Text(name)), Value::Text(text[..len].to_vec()));
        assert_eq!(table.remove(Key::Text(name)), Ok(true));
    }
    table.check().unwrap();
    let error = table.set(Key::Text(b"one"), &[(0, Cell::Text(&text))], Mode::Upsert);
    assert_eq!(error, Err(TableError::TooLong { column: "c0".into(), len: 5001, longest }));
    assert_eq!(one_cell(&table, Key::Text(b"one")), Value::Text(text[..5000].to_vec()));
    for bad in [&b""[..], &text[..1025]] {
        assert!(matches!(table.set(Key::Text(bad), &[], Mode::Upsert), Err(TableError::Key(_))));
        assert!(!table.has(Key::Text(bad)) && table.remove(Key::Text(bad)) == Ok(false));
    }
    assert!(matches!(table.set(Key::Id(1), &[], Mode::Upsert), Err(TableError::Key(_))));
}

#[test]
fn wrong_values_change_nothing() {
    let table = table(Keys::Ids { most: 10 }, Layout::Rows, 10, &KINDS, &[&[3]]);
    let bad: [(usize, Cell<'_>); 7] = [
        (0, Cell::Text(b"1")),
        (0, Cell::Float(1.0)),
        (1, Cell::Int(1)),
        (3, Cell::Text(b"1")),
        (3, Cell::Float(f64::NAN)),
        (4, Cell::Float(1.0)),
        (6, Cell::Int(1)),
    ];
    for cell in bad {
        let error = table.set(Key::Id(1), &[(2, Cell::Int(5)), cell], Mode::Upsert).unwrap_err();
        assert!(matches!(error, TableError::Type { .. } | TableError::Column(_)), "{error}");
    }
    assert!(matches!(table.set(Key::Id(10), &[], Mode::Upsert), Err(TableError::Key(_))));
    assert_eq!(table.set(Key::Id(1), &[(3, Cell::Int(-3))], Mode::Upsert), Ok(true));
    assert_eq!(table.add(Key::Id(1), 3, Delta::Float(0.5)), Ok(Cell::Float(-2.5)));
    assert!(matches!(table.add(Key::Id(1), 1, Delta::Int(1)), Err(TableError::Type { .. })));
    assert!(matches!(table.add(Key::Id(1), 0, Delta::Float(1.0)), Err(TableError::Type { .. })));
    assert!(!table.get(Key::Id(1), &[6], &mut RowBuffer::new()));
    for text in 0..200 {
        let text = format!("t{text}");
        assert_eq!(table.set(Key::Id(1), &[(4, Cell::Text(text.as_bytes()))], Mode::Upsert), Ok(true));
    }
    let error = table.set(Key::Id(1), &[(4, Cell::Text(b"more"))], Mode::Upsert);
    assert_eq!(error, Err(TableError::DictionaryFull { column: "c4".into(), most: 200 }));
    table.check().unwrap();
}

#[test]
fn schemas_that_cannot_be_are_refused() {
    let good = || Schema {
        keys: Keys::Ids { most: 10 },
        layout: Layout::Rows,
        rows: 10,
        columns: vec![column("a", Kind::Float), column("b", Kind::Text { longest: 1 })],
        indexes: vec![Index { name: "i".into(), columns: vec![1, 0] }],
    };
    assert!(Table::new(good()).is_ok());
    let bad: [fn(&mut Schema); 14] = [
        |schema| schema.rows = 0,
        |schema| schema.rows = 11,
        |schema| schema.keys = Keys::Ids { most: 1 << 32 },
        |schema| schema.keys = Keys::Text { longest: 0 },
        |schema| schema.columns.clear(),
        |schema| schema.columns[1].name = "a".into(),
        |schema| schema.columns[1].name = "x".repeat(65),
        |schema| schema.columns[0].kind = Kind::Int { bytes: 3, signed: true },
        |schema| schema.columns[1].kind = Kind::Text { longest: 1 << 26 },
        |schema| schema.columns[1].kind = Kind::Dictionary { longest: 1, most: 0 },
        |schema| schema.indexes[0].columns = vec![2],
        |schema| schema.indexes[0].columns = vec![0, 0],
        |schema| schema.indexes[0].columns.clear(),
        |schema| schema.indexes[0].name.clear(),
    ];
    for (at, spoil) in bad.into_iter().enumerate() {
        let mut schema = good();
        spoil(&mut schema);
        assert!(matches!(Table::new(schema), Err(TableError::Schema(_))), "{at}");
    }
}

/// The greatest ids cost no memory but where they are.
#[test]
fn ids_may_be_far_apart() {
    let most = u64::from(u32::MAX);
    let table = table(Keys::Ids { most }, Layout::Columns, most, &[int(4, false), int(1, true)], &[]);
    let ids = [0, 1, 5_000_000, most - 1];
    for id in &ids[..3] {
        assert_eq!(table.set(Key::Id(*id), &[(0, Cell::Int(*id as i64))], Mode::Insert), Ok(true));
        assert_eq!(one_cell(&table, Key::Id(*id)), Value::Int(*id as i64));
    }
    assert!(!table.has(Key::Id(most - 1)));
    assert_eq!(table.set(Key::Id(ids[3]), &[(0, Cell::Int(i64::from(u32::MAX)))], Mode::Insert), Ok(true));
    assert_eq!(one_cell(&table, Key::Id(ids[3])), Value::Int(i64::from(u32::MAX)));
    let (mut at, mut row, mut found) = (0, RowBuffer::new(), Vec::new());
    while let Some(next) = table.next(at, &[], &mut row) {
        found.push(next - 1);
        at = next;
    }
    assert_eq!(found, ids);
    assert!(table.memory().used < 2 << 20, "{:?}", table.memory());
    table.check().unwrap();
    table.clear();
    assert!(table.next(0, &[], &mut row).is_none() && !ids.iter().any(|id| table.has(Key::Id(*id))));
}

/// Writers in threads add to counters; none is lost. Readers see rows whose two halves agree. Rows that stay are met
/// once by every walk.
#[test]
fn threads_write_and_read_at_once() {
    let kinds = [int(8, true), int(8, true), Kind::Text { longest: 100 }];
    for (indexes, layout) in [(&[][..], Layout::Rows), (&[&[0usize][..]][..], Layout::Columns)] {
        let table = table(Keys::Text { longest: 32 }, layout, 1000, &kinds, indexes);
        let name = |at: usize| format!("key number {at}").into_bytes();
        let text = |value: i64| format!("a text that says {value}").into_bytes();
        for at in 0..100 {
            table.set(Key::Text(&name(at)), &[(0, Cell::Int(0)), (2, Cell::Text(&text(0)))], Mode::Insert).unwrap();
        }
        let (done, rounds, writers) = (AtomicBool::new(false), 3000, 3);
        std::thread::scope(|scope| {
            let writers: Vec<_> = (0..writers)
                .map(|seed| {
                    let table = &table;
                    scope.spawn(move || {
                        let mut next = numbers(seed);
                        for value in 0..rounds {
                            let at = next() % 50;
                            let cells = [(0, Cell::Int(value)), (2, Cell::Text(&text(value)))];
                            table.set(Key::Text(&name(at)), &cells, Mode::Upsert).unwrap();
                            table.add(Key::Text(b"count"), 1, Delta::Int(1)).unwrap();
                            let own = name(1000 + next() % 100);
                            table.set(Key::Text(&own), &cells, Mode::Upsert).unwrap();
                            table.remove(Key::Text(&own)).unwrap();
                        }
                    })
                })
                .collect();
            for seed in 10..12 {
                let (table, done) = (&table, &done);
                scope.spawn(move || {
                    let (mut next, mut row) = (numbers(seed), RowBuffer::new());
                    while !done.load(Relaxed) {
                        assert!(table.get(Key::Text(&name(next() % 50)), &[0, 2], &mut row));
                        let Cell::Int(value) = row.cell(0) else { panic!("no integer") };
                        assert_eq!(row.cell(1), Cell::Text(&text(value)));
                        let (mut at, mut met) = (0, [0; 100]);
                        while let Some(next) = table.next(at, &[], &mut row) {
                            let Key::Text(key) = row.key() else { panic!("no text") };
                            let number = std::str::from_utf8(key).unwrap().rsplit(' ').next().unwrap().parse::<usize>();
                            if let Some(met) = number.ok().and_then(|number| met.get_mut(number)) {
                                *met += 1;
                            }
                            at = next;
                        }
                        assert_eq!(met, [1; 100]);
                    }
                });
            }
            for writer in writers {
                writer.join().unwrap();
            }
            done.store(true, Relaxed);
        });
        table.check().unwrap();
        let mut row = RowBuffer::new();
        assert!(table.get(Key::Text(b"count"), &[1], &mut row));
        assert_eq!(row.cell(0), Cell::Int(i64::from(rounds as i32) * i64::try_from(writers).unwrap()));
    }
}

/// Each of many keys is made by one process alone, though all try; with integer ids, processes load parts of a table,
/// whose indexes are built at the end.
#[test]
fn processes_make_rows_at_once() {
    let texts =
        table(Keys::Text { longest: 32 }, Layout::Rows, 3000, &[int(4, false), Kind::Text { longest: 50 }], &[]);
    let ids = table(Keys::Ids { most: 30_000 }, Layout::Columns, 30_000, &[int(4, false), int(4, false)], &[&[1]]);
    ids.defer_indexes();
    let made = &map::<AtomicU64>(1).unwrap()[0];
    let run = |own: u64| {
        for at in 0..3000u64 {
            // Each begins elsewhere.
            let at = (at + own * 750) % 3000;
            let text = format!("a text of {own}, for row {at}");
            let cells = [(0, Cell::Int(own as i64)), (1, Cell::Text(text.as_bytes()))];
            let done = texts.set(Key::Text(format!("row number {at}").as_bytes()), &cells, Mode::Insert).unwrap();
            made.fetch_add(u64::from(done), Relaxed);
        }
        for id in (own * 100..30_000).step_by(400).flat_map(|first| first..first + 100) {
            let cells = [(0, Cell::Int(id as i64)), (1, Cell::Int((id * 7919 % 30_000) as i64))];
            assert_eq!(ids.set(Key::Id(id), &cells, Mode::Insert), Ok(true));
        }
    };
    let mut processes: Vec<Child> = (0..4).map(|own| Child::fork(|| run(own))).collect();
    for process in &mut processes {
        process.finish(Duration::from_mins(1));
    }
    assert_eq!((made.load(Relaxed), texts.len(), ids.len()), (3000, 3000, 30_000));
    texts.check().unwrap();
    ids.build_indexes().unwrap();
    ids.check().unwrap();
}
