//! Reading memory that is being written: whatever stands there, reading ends and nothing fails.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::layout::{Area, Finder};
use super::segment::NUM;
use super::{Cell, Column, Key, Keys, Kind, Layout, Mode, RowBuffer, Schema, Table};

const ROWS: u64 = 3000;

fn table(keys: Keys, layout: Layout) -> Table {
    let kinds = [
        Kind::Int { bytes: 2, signed: true },
        Kind::Text { longest: 100_000 },
        Kind::Dictionary { longest: 10, most: 50 },
        Kind::Text { longest: 20 },
    ];
    let columns = kinds.into_iter().enumerate().map(|(at, kind)| Column { name: format!("c{at}"), kind }).collect();
    Table::new(Schema { keys, layout, rows: ROWS, columns, indexes: Vec::new() }).unwrap()
}

fn with_key<T>(table: &Table, at: u64, run: impl FnOnce(Key<'_>) -> T) -> T {
    match table.schema().keys {
        Keys::Text { .. } => run(Key::Text(format!("a key of row {at}").as_bytes())),
        Keys::Ids { .. } => run(Key::Id(at)),
    }
}

/// The areas that readers look at, without what tells them that it is being written.
fn areas(table: &Table) -> Vec<Area> {
    let plan = &table.store.plan;
    let mut areas: Vec<Area> = plan.row_areas.iter().map(|(area, _)| *area).collect();
    for segment in 0..plan.partitions {
        areas.push(Area { offset: table.store.segment_at(segment) + NUM, bytes: 64 });
    }
    let found_by = match plan.finder {
        Finder::Texts { buckets, buckets_each, .. } => Area { offset: buckets, bytes: buckets_each },
        Finder::Ids { bits, blocks } => Area { offset: bits, bytes: blocks + 8 - bits },
    };
    areas.push(found_by);
    areas.push(Area { offset: table.store.heap(0).base, bytes: 4096 });
    areas
}

#[test]
fn reading_anything_ends() {
    for (keys, layout) in [
        (Keys::Text { longest: 100 }, Layout::Rows),
        (Keys::Text { longest: 100 }, Layout::Columns),
        (Keys::Ids { most: ROWS }, Layout::Columns),
    ] {
        let table = table(keys, layout);
        let mut state = 88_172_645_463_325_252u64;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        for at in 0..ROWS / 2 {
            let text = "t".repeat((at % 60) as usize);
            let cells = [(1, Cell::Text(text.as_bytes())), (3, Cell::Text(&text.as_bytes()[..(at % 20) as usize]))];
            with_key(&table, at, |key| table.set(key, &cells, Mode::Insert).unwrap());
        }
        let (areas, mut row) = (areas(&table), RowBuffer::new());
        for _ in 0..40 {
            for _ in 0..500 {
                let area = areas[next() as usize % areas.len()];
                let word = table.store.region().at::<AtomicU64>(area.offset + next() as usize % (area.bytes / 8) * 8);
                // Words that look right but for some bits are the more dangerous ones.
                let value = if next() & 1 == 0 { next() } else { word.load(Relaxed) ^ 1 << (next() & 63) };
                word.store(value, Relaxed);
            }
            for _ in 0..300 {
                with_key(&table, next() % ROWS, |key| {
                    table.get(key, &[0, 1, 2, 3], &mut row);
                    table.has(key);
                });
            }
            let mut at = 0;
            for _ in 0..20_000 {
                let Some(next) = table.next(at, &[0, 1, 2, 3], &mut row) else { break };
                assert!(next > at);
                at = next;
            }
        }
    }
}
