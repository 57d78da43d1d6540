//! Processes are killed while they write to a table, at whatever instruction they happen to be. No reader ever sees
//! half a row, nobody waits for the dead, and afterwards everything in the table agrees with everything else.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "what is missing fails the test")]

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use apus_shm::map;
use apus_shm::table::{Cell, Column, Delta, Index, Key, Keys, Kind, Layout, Mode, RowBuffer, Schema, Table};

mod fork;
use fork::{Child, numbers};

const WRITERS: usize = 3;
const READERS: usize = 1;
/// Rows that the processes share.
const NAMES: usize = 60;
const FIT: u64 = 256;

/// A row's cells all follow from one number; those of a row that `add` made from 0.
struct Row {
    number: i64,
    text: Vec<u8>,
    word: String,
}

impl Row {
    fn of(number: i64) -> Self {
        if number == 0 {
            return Self { number, text: Vec::new(), word: String::new() };
        }
        let len = (number % 7 * 40) as usize;
        Self { number, text: format!("{number:<len$}").into_bytes(), word: format!("w{}", number % 50) }
    }

    fn cells(&self) -> [(usize, Cell<'_>); 5] {
        [
            (0, Cell::Int(self.number)),
            (1, Cell::Float(self.number as f64 / 3.0)),
            (2, Cell::Text(&self.text)),
            (3, Cell::Text(self.word.as_bytes())),
            (4, Cell::Int(self.number % 128)),
        ]
    }

    fn verify(row: &RowBuffer) {
        let Cell::Int(number) = row.cell(0) else { panic!("no integer") };
        for (at, cell) in Row::of(number).cells() {
            assert_eq!(row.cell(at), cell, "half a row: {row:?}");
        }
    }
}

const CELLS: [usize; 5] = [0, 1, 2, 3, 4];
/// A column for `add`, which no other agrees with.
const COUNT: usize = 5;

fn schema(texts: bool, layout: Layout, indexed: bool) -> Schema {
    let column = |(at, kind): (usize, Kind)| Column { name: format!("c{at}"), kind };
    let kinds = [
        Kind::Int { bytes: 8, signed: true },
        Kind::Float,
        Kind::Text { longest: 300 },
        Kind::Dictionary { longest: 8, most: 60 },
        Kind::Int { bytes: 1, signed: false },
        Kind::Int { bytes: 8, signed: true },
    ];
    let index = |name: &str, columns: &[usize]| Index { name: name.into(), columns: columns.to_vec() };
    Schema {
        keys: if texts { Keys::Text { longest: 64 } } else { Keys::Ids { most: 100_000 } },
        layout,
        rows: FIT,
        columns: kinds.into_iter().enumerate().map(column).collect(),
        indexes: if indexed { vec![index("number", &[0]), index("text", &[2, 4])] } else { Vec::new() },
    }
}

fn with_key<T>(texts: bool, number: usize, run: impl FnOnce(Key<'_>) -> T) -> T {
    if texts {
        let name = format!("{}{number}", "k".repeat(number % 25));
        run(Key::Text(name.as_bytes()))
    } else {
        run(Key::Id((number * 1201) as u64))
    }
}

/// Changes rows until it is killed, and counts that.
fn write(table: &Table, texts: bool, seed: u64, steps: &AtomicU64) {
    let (mut next, mut row) = (numbers(seed), RowBuffer::new());
    loop {
        let new = Row::of(next() as i64);
        with_key(texts, next() % NAMES, |key| match next() % 20 {
            0..12 => drop(table.set(key, &new.cells(), Mode::Upsert).unwrap()),
            12..15 => drop(table.remove(key).unwrap()),
            15 => {
                if table.take(key, &CELLS, &mut row).unwrap() {
                    Row::verify(&row);
                }
            }
            _ => drop(table.add(key, COUNT, Delta::Int(1)).unwrap()),
        });
        if next().is_multiple_of(2000) {
            table.clear();
        }
        steps.fetch_add(1, Relaxed);
    }
}

fn look(table: &Table, texts: bool, seed: u64, stop: &AtomicU64) {
    let (mut next, mut row) = (numbers(seed), RowBuffer::new());
    while stop.load(Relaxed) == 0 {
        for _ in 0..50 {
            if with_key(texts, next() % NAMES, |key| table.get(key, &CELLS, &mut row)) {
                Row::verify(&row);
            }
        }
        let mut at = 0;
        while let Some(next) = table.next(at, &CELLS, &mut row) {
            Row::verify(&row);
            at = next;
        }
        assert!(table.len() <= NAMES as u64);
    }
}

/// Waits until a counter has moved on by so much: the process lives and is not kept waiting.
fn moves_on(counter: &AtomicU64, by: u64) {
    let (from, until) = (counter.load(Relaxed), Instant::now() + Duration::from_secs(30));
    while counter.load(Relaxed) < from + by {
        assert!(Instant::now() < until, "a process hangs");
        std::thread::yield_now();
    }
}

fn kill_writers(kills: usize, texts: bool, layout: Layout, indexed: bool) {
    let table = Table::new(schema(texts, layout, indexed)).unwrap();
    let shared = map::<AtomicU64>(WRITERS + 1).unwrap();
    let (stop, steps) = shared.split_last().unwrap();
    let writer = |seed: usize, at: usize| Child::fork(|| write(&table, texts, seed as u64, &steps[at]));
    let mut readers: Vec<Child> =
        (0..READERS).map(|seed| Child::fork(|| look(&table, texts, seed as u64, stop))).collect();
    let mut writers: Vec<Child> = (0..WRITERS).map(|at| writer(1000 + at, at)).collect();
    let mut next = numbers(kills as u64);
    for kill in 0..kills {
        let at = next() % WRITERS;
        moves_on(&steps[at], 1 + next() as u64 % 30);
        for _ in 0..next() % 3000 {
            std::hint::spin_loop();
        }
        writers[at].kill();
        if kill % 10 == 0 {
            table.check().unwrap();
        }
        writers[at] = writer(2000 + kill, at);
    }
    for at in 0..WRITERS {
        moves_on(&steps[at], 1);
        writers[at].kill();
        table.check().unwrap();
    }
    stop.store(1, Relaxed);
    for reader in &mut readers {
        reader.finish(Duration::from_secs(30));
    }
    fits_again(&table, texts);
}

/// No room was lost: as many rows fit as at first, and the heap took no more than so few rows can.
fn fits_again(table: &Table, texts: bool) {
    assert!(table.memory().used < 4 << 20, "{:?}", table.memory());
    table.clear();
    let row = Row::of(12345);
    for at in 0..FIT as usize {
        let key = format!("row {at}");
        let key = if texts { Key::Text(key.as_bytes()) } else { Key::Id(at as u64 * 350) };
        assert_eq!(table.set(key, &row.cells(), Mode::Insert), Ok(true), "{at}");
    }
    let key = if texts { Key::Text(b"another") } else { Key::Id(1) };
    assert!(table.set(key, &row.cells(), Mode::Insert).is_err());
    table.check().unwrap();
}

#[test]
fn text_keys_rows() {
    kill_writers(60, true, Layout::Rows, false);
}

#[test]
fn text_keys_columns_with_indexes() {
    kill_writers(60, true, Layout::Columns, true);
}

#[test]
fn ids_columns() {
    kill_writers(60, false, Layout::Columns, false);
}

#[test]
fn ids_rows_with_indexes() {
    kill_writers(60, false, Layout::Rows, true);
}

/// What a killed process had added counts, but for the step at which it died: that one may or may not.
#[test]
fn sums_are_exact() {
    let table = Table::new(schema(true, Layout::Rows, false)).unwrap();
    let added = map::<AtomicU64>(WRITERS).unwrap();
    let adder = |seed: usize, at: usize| {
        Child::fork(|| {
            let mut next = numbers(seed as u64);
            loop {
                with_key(true, next() % 5, |key| table.add(key, COUNT, Delta::Int(1)).unwrap());
                added[at].fetch_add(1, Relaxed);
            }
        })
    };
    let mut adders: Vec<Child> = (0..WRITERS).map(|at| adder(at, at)).collect();
    let (mut next, kills) = (numbers(7), 100);
    for kill in 0..kills {
        let at = next() % WRITERS;
        moves_on(&added[at], 1 + next() as u64 % 100);
        adders[at].kill();
        adders[at] = adder(10 + kill, at);
    }
    adders.iter_mut().for_each(Child::kill);
    let (mut row, mut sum) = (RowBuffer::new(), 0);
    for at in 0..5 {
        assert!(with_key(true, at, |key| table.get(key, &[COUNT], &mut row)));
        let Cell::Int(count) = row.cell(0) else { panic!("no integer") };
        sum += count as u64;
    }
    let told: u64 = added.iter().map(|added| added.load(Relaxed)).sum();
    assert!((told..=told + (kills + WRITERS) as u64).contains(&sum), "{told} told, {sum} found");
}

#[test]
#[ignore = "takes minutes: thousands of deaths"]
fn thousands() {
    for (texts, indexed) in [(true, false), (true, true), (false, false), (false, true)] {
        for layout in [Layout::Rows, Layout::Columns] {
            kill_writers(1500, texts, layout, indexed);
        }
    }
}
