//! Changes of cells that no index has: they wait for no index, and who reads by way of an index sees them of one
//! moment.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::channel;
use std::time::Duration;

use super::layout::BLOCK_BITS;
use super::{Bounds, Cell, Column, Delta, Index, Key, Keys, Kind, Layout, Mode, Schema, Table, Window};

/// Two rows of different partitions, both 7 in the indexed column.
const ROWS: [Key<'static>; 2] = [Key::Id(1), Key::Id(1 | 1 << BLOCK_BITS)];

fn table() -> Table {
    let column = |name: &str| Column { name: name.into(), kind: Kind::Int { bytes: 8, signed: true } };
    let most = 2 << BLOCK_BITS;
    let table = Table::new(Schema {
        keys: Keys::Ids { most },
        layout: Layout::Columns,
        rows: most,
        columns: ["group", "first", "second"].map(column).to_vec(),
        indexes: vec![Index { name: "group".into(), columns: vec![0] }],
    });
    let table = table.unwrap();
    for key in ROWS {
        table.set(key, &[(0, Cell::Int(7))], Mode::Insert).unwrap();
    }
    table
}

fn cells(table: &Table, columns: &[usize]) -> Vec<i64> {
    let (mut seen, seven) = (Vec::new(), [Cell::Int(7)]);
    let rows = table.select(0, &Bounds::equal(&seven), Window::default(), columns, |_, row| {
        seen.extend(row.cells().map(|cell| if let Cell::Int(value) = cell { value } else { i64::MIN }));
        true
    });
    assert_eq!(rows, Ok(2));
    seen
}

#[test]
fn they_wait_for_no_index() {
    let table = table();
    let indexes = table.store.lock_orders();
    let (done, wait) = channel();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let both = [(0, Cell::Int(7)), (1, Cell::Int(1)), (2, Cell::Int(2))];
            assert_eq!(table.set(ROWS[0], &both, Mode::Upsert), Ok(true));
            assert_eq!(table.set(ROWS[1], &[(1, Cell::Int(3))], Mode::Update), Ok(true));
            assert_eq!(table.add(ROWS[1], 2, Delta::Int(4)), Ok(Cell::Int(4)));
            done.send(()).unwrap();
        });
        let waited = wait.recv_timeout(Duration::from_secs(20));
        drop(indexes);
        assert!(waited.is_ok(), "they waited for the lock of the indexes");
    });
    assert_eq!(cells(&table, &[1, 2]), [1, 2, 3, 4]);
}

#[test]
fn who_reads_by_an_index_sees_one_moment() {
    let table = table();
    let ended = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for value in 1..=200_000 {
                // One word, then several, in one partition and after it in the other.
                for key in ROWS {
                    let both = [(1, Cell::Int(value)), (2, Cell::Int(-value))];
                    let few = if value % 2 == 0 { &both[..1] } else { &both[..] };
                    table.set(key, few, Mode::Update).unwrap();
                }
            }
            ended.store(true, Relaxed);
        });
        while !ended.load(Relaxed) {
            let seen = cells(&table, &[1]);
            let (one, two) = (seen[0], seen[1]);
            assert!(one == two || one == two + 1, "{one} in the row that is written first, {two} in the other");
        }
    });
}

#[test]
fn a_change_of_an_index_is_none_of_them() {
    let table = table();
    let other = [(0, Cell::Int(8)), (1, Cell::Int(5))];
    assert_eq!(table.set(ROWS[0], &other, Mode::Upsert), Ok(true));
    assert_eq!(table.set(ROWS[0], &other[..1], Mode::Upsert), Ok(true));
    let count = |value| table.count_range(0, &Bounds::equal(&[Cell::Int(value)]));
    assert_eq!((count(7), count(8)), (Ok(1), Ok(1)));
    assert_eq!(table.set(Key::Id(9), &[(1, Cell::Int(5))], Mode::Update), Ok(false));
    assert_eq!(table.set(Key::Id(9), &[(1, Cell::Int(5))], Mode::Upsert), Ok(true));
    assert_eq!(count(0), Ok(1));
}
