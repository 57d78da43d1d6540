//! Snapshots: what comes back is what was saved, whatever is torn or damaged is refused, and a saver that dies takes
//! nothing with it.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use apus_scratch::Folder;

use super::cells::NEXT;
use super::layout::Finder;
use super::order_tests::Dice;
use super::query_tests::{World, schema};
use super::store::Store;
use super::{Cell, Index, Key, KeyList, Keys, Kind, Layout, Mode, RowBuffer, Schema, SnapshotInfo, Table, Window};
use crate::region::map;

/// Where tests save a table.
fn file(folder: &Folder) -> PathBuf {
    folder.0.join("table")
}

const FORMS: [(Keys, Layout); 2] =
    [(Keys::Ids { most: 900 }, Layout::Columns), (Keys::Text { longest: 40 }, Layout::Rows)];

type Rows = Vec<(String, Vec<String>)>;

/// All rows, in any comparable form, in the order of the keys.
fn rows(table: &Table) -> Rows {
    let columns: Vec<usize> = (0..table.schema().columns.len()).collect();
    let (mut at, mut row, mut rows) = (0, RowBuffer::new(), Vec::new());
    while let Some(next) = table.next(at, &columns, &mut row) {
        rows.push((format!("{:?}", row.key()), row.cells().map(|cell| format!("{cell:?}")).collect()));
        at = next;
    }
    rows.sort();
    rows
}

#[test]
fn what_comes_back_is_what_was_saved() {
    let folder = Folder::new("whole");
    for (keys, layout) in FORMS {
        let mut dice = Dice(3);
        let mut world = World::new(keys, layout);
        (0..2500).for_each(|_| world.change(&mut dice));
        let saved = world.table.save(&file(&folder)).unwrap();
        assert_eq!(saved.rows, world.table.len());
        assert_eq!(saved.bytes, std::fs::metadata(file(&folder)).unwrap().len());
        let before = rows(&world.table);
        // Into another table, over what it has; then into the same one, which goes on from there.
        let other = Table::new(schema(keys, layout)).unwrap();
        let row = [(3, Cell::Text(b"a row that is to go")), (4, Cell::Text(b"and a text"))];
        world.with_key(5, |key| other.set(key, &row, Mode::Upsert)).unwrap();
        assert_eq!(other.restore(&file(&folder)).unwrap(), saved);
        other.check().unwrap();
        assert_eq!(rows(&other), before);
        let now = world.table;
        (0..50).for_each(|at| {
            let gone = format!("the key of row {at}");
            let key = if matches!(keys, Keys::Ids { .. }) { Key::Id(at) } else { Key::Text(gone.as_bytes()) };
            now.remove(key).unwrap();
        });
        assert_eq!(now.restore(&file(&folder)).unwrap().rows, saved.rows);
        world = World { table: now, ..world };
        world.ask_all(&mut dice);
        (0..500).for_each(|_| world.change(&mut dice));
        world.ask_all(&mut dice);
    }
}

/// Its hash is of another seed then, and may mean another partition.
#[test]
fn an_aim_is_taken_anew_when_the_contents_were_replaced() {
    let folder = Folder::new("aim");
    let (keys, layout) = FORMS[1];
    let made = || Table::new(schema(keys, layout)).unwrap();
    let key = |at: u32| format!("a key {at}");
    // A column that no index has: the way that takes one lock.
    let value = |at: u32| [(5, Cell::Int(i64::from(at % 100)))];
    let saved = made();
    (0..200).for_each(|at| assert!(saved.set(Key::Text(key(at).as_bytes()), &value(at), Mode::Insert).unwrap()));
    saved.save(&file(&folder)).unwrap();
    let table = made();
    for at in 0..200 {
        let key = key(at);
        let aim = table.aim(Key::Text(key.as_bytes()));
        table.restore(&file(&folder)).unwrap();
        assert!(table.set_at(&aim, &value(at + 1), Mode::Update).unwrap(), "{key}");
        assert!(!table.set_at(&aim, &value(at), Mode::Insert).unwrap(), "{key}");
        let mut row = RowBuffer::new();
        assert!(table.get(Key::Text(key.as_bytes()), &[5], &mut row));
        assert_eq!(row.cell(0), value(at + 1)[0].1);
        table.clear();
    }
    table.check().unwrap();
}

#[test]
fn deferred_indexes_come_back_deferred() {
    let folder = Folder::new("deferred");
    let (keys, layout) = FORMS[0];
    let table = Table::new(schema(keys, layout)).unwrap();
    table.defer_indexes();
    (0..300).for_each(|id| assert!(table.set(Key::Id(id), &[(0, Cell::Int(1))], Mode::Insert).unwrap()));
    table.save(&file(&folder)).unwrap();
    let other = Table::new(schema(keys, layout)).unwrap();
    other.restore(&file(&folder)).unwrap();
    assert!(other.indexes_deferred());
    other.build_indexes().unwrap();
    let mut found = KeyList::new();
    other.find(0, &[Cell::Int(1)], Window::default(), &mut found).unwrap();
    assert_eq!(found.len(), 300);
}

#[test]
fn ids_that_lie_far_apart_make_no_large_file() {
    let folder = Folder::new("far");
    let mut far = schema(Keys::Ids { most: u64::from(u32::MAX) }, Layout::Columns);
    far.rows = u64::from(u32::MAX);
    let table = Table::new(far.clone()).unwrap();
    let ids = [0, 77_777, 4_000_000_000, u64::from(u32::MAX) - 1];
    for id in ids {
        assert!(
            table.set(Key::Id(id), &[(0, Cell::Int(3)), (3, Cell::Text(b"a text of this row"))], Mode::Insert).unwrap()
        );
    }
    assert!(table.save(&file(&folder)).unwrap().bytes < 1 << 20);
    let other = Table::new(far).unwrap();
    assert_eq!(other.restore(&file(&folder)).unwrap().rows, 4);
    assert_eq!(rows(&other), rows(&table));
    let mut found = KeyList::new();
    other.build_indexes().unwrap();
    other.find(0, &[Cell::Int(3)], Window::default(), &mut found).unwrap();
    assert!(found.iter().eq(ids.map(Key::Id)));
    assert!(other.memory().used < 2 << 20, "{:?}", other.memory());
}

/// A small table with something in each of its parts, as a file, and the table.
fn small(folder: &Folder) -> (Table, Vec<u8>) {
    let mut small = schema(Keys::Text { longest: 20 }, Layout::Rows);
    small.rows = 4;
    small.columns[4].kind = Kind::Dictionary { longest: 8, most: 2 };
    let table = Table::new(small).unwrap();
    let cells = [(0, Cell::Int(7)), (3, Cell::Text(b"a text of the heap")), (4, Cell::Text(b"code"))];
    assert!(table.set(Key::Text(b"the only row's key"), &cells, Mode::Insert).unwrap());
    table.save(&file(folder)).unwrap();
    let bytes = std::fs::read(file(folder)).unwrap();
    (table, bytes)
}

/// Restoring these bytes fails and changes nothing. The message.
fn refused(table: &Table, before: &Rows, path: &Path, bytes: &[u8]) -> String {
    std::fs::write(path, bytes).unwrap();
    let error = table.restore(path).map(|_: SnapshotInfo| ()).unwrap_err().to_string();
    assert_eq!(&rows(table), before);
    error
}

#[test]
fn every_byte_counts() {
    let folder = Folder::new("bytes");
    let (table, bytes) = small(&folder);
    let before = rows(&table);
    // Pages of nothing but zeros hold no secret: one byte of 16 there, every one elsewhere.
    for at in (0..bytes.len()).filter(|at| {
        at % 16 == 5 || bytes[at.saturating_sub(40)..bytes.len().min(at + 40)].iter().any(|byte| *byte != 0)
    }) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1 << (at % 8);
        refused(&table, &before, &file(&folder), &damaged);
    }
    for len in (0..bytes.len()).rev().step_by(7).chain(0..200) {
        let error = refused(&table, &before, &file(&folder), &bytes[..len]);
        assert!(error.contains("cut short"), "{len} of {} bytes: {error}", bytes.len());
    }
    let longer = [bytes.as_slice(), b"!"].concat();
    assert!(refused(&table, &before, &file(&folder), &longer).contains("something follows"));
    assert!(refused(&table, &before, &file(&folder), b"{\"visits\": []} and so on").contains("no snapshot"));
    table.check().unwrap();
    std::fs::write(file(&folder), &bytes).unwrap();
    assert_eq!(table.restore(&file(&folder)).unwrap().rows, 1);
    assert_eq!(rows(&table), before);
}

/// What is wrong with a snapshot, and how it becomes so.
type Forgery<'a> = (&'a str, &'a dyn Fn(&Store));

#[test]
fn a_forged_file_with_right_checksums_is_refused() {
    let folder = Folder::new("forged");
    let Finder::Texts { buckets, buckets_each, heads, .. } = small(&folder).0.store.plan.finder else {
        panic!("the keys are texts");
    };
    let bucket_of_row = |store: &Store| {
        (0..store.plan.partitions * buckets_each / 4)
            .map(|at| buckets + at * 4)
            .find(|at| word32(store, *at) == 1)
            .unwrap()
    };
    let forgeries: [Forgery; 9] = [
        ("a chain that bites its tail", &|store| store_word32(store, heads + NEXT, 1)),
        ("a chain into nowhere", &|store| store_word32(store, heads + NEXT, 4_000_000)),
        ("a bucket of another row", &|store| store_word32(store, bucket_of_row(store), 3)),
        ("a row that is free and used", &|store| store.segment(0).free_row.store(1, Relaxed)),
        ("a wild count of buckets", &|store| store.segment(0).buckets.store(buckets_each as u64 / 4 + 1, Relaxed)),
        ("a wild count of rows", &|store| store.segment(0).end.store((1 << store.plan.row_bits) + 1, Relaxed)),
        ("a free block nowhere", &|store| store.segment(0).free[2].store(u64::MAX, Relaxed)),
        ("a free block that is its own successor", &|store| store.segment(0).free[0].store(1, Relaxed)),
        ("a heap beyond its blocks", &|store| {
            store.segment(0).heap_end.store(store.segment(0).heap_end.load(Relaxed) + 8, Relaxed);
        }),
    ];
    for (what, forge) in forgeries {
        let (table, _) = small(&folder);
        forge(&table.store);
        table.save(&file(&folder)).unwrap();
        let (fresh, _) = small(&Folder::new("fresh"));
        let refused = fresh.restore(&file(&folder)).map(|_: SnapshotInfo| ());
        let error = refused.expect_err(what).to_string();
        assert!(error.contains("contradicts itself"), "{what}: {error}");
        assert_eq!(rows(&fresh), Rows::new(), "{what}");
        fresh.check().unwrap();
        assert!(fresh.set(Key::Text(b"goes on"), &[(0, Cell::Int(1))], Mode::Insert).unwrap(), "{what}");
    }
}

fn word32(store: &Store, at: usize) -> u32 {
    store.region().at::<AtomicU32>(at).load(Relaxed)
}

fn store_word32(store: &Store, at: usize, value: u32) {
    store.region().at::<AtomicU32>(at).store(value, Relaxed);
}

#[test]
fn a_file_of_another_table_is_refused_by_name() {
    let folder = Folder::new("foreign");
    let own = schema(Keys::Ids { most: 900 }, Layout::Columns);
    Table::new(own.clone()).unwrap().save(&file(&folder)).unwrap();
    let refused = |change: &dyn Fn(&mut Schema)| {
        let mut other = own.clone();
        change(&mut other);
        Table::new(other).unwrap().restore(&file(&folder)).unwrap_err().to_string()
    };
    let says = |change: &dyn Fn(&mut Schema), what: &str| {
        let error = refused(change);
        assert!(error.ends_with(what), "{error}");
    };
    says(&|other| other.rows = 7, "the file has room for 900 rows; this table has room for 7 rows");
    says(&|other| other.layout = Layout::Rows, "the file has a layout by columns; this table has a layout by rows");
    says(&|other| other.keys = Keys::Ids { most: 901 }, "the file has ids below 900; this table has ids below 901");
    says(
        &|other| other.columns[1].kind = Kind::Int { bytes: 4, signed: false },
        "the file has column 2, \"at\", of signed integers of 4 bytes; this table has column 2, \"at\", of unsigned integers of 4 bytes",
    );
    says(
        &|other| other.columns[5].name = "a\"b".into(),
        "the file has column 6, \"plain\", of signed integers of 1 bytes; this table has column 6, \"a\\\"b\", of signed integers of 1 bytes",
    );
    says(&|other| other.indexes.truncate(4), "the file has index 5, \"at\", on \"at\"; this table has nothing more");
    says(
        &|other| other.indexes.push(Index { name: "more".into(), columns: vec![5, 0] }),
        "the file has nothing more; this table has index 6, \"more\", on \"plain\" and \"user\"",
    );
    let missing = Table::new(own).unwrap().restore(&folder.0.join("nothing here")).unwrap_err().to_string();
    assert!(missing.contains("nothing here: No such file"), "{missing}");
}

#[test]
fn what_cannot_be_saved_leaves_the_old_file() {
    let folder = Folder::new("unsaved");
    let (table, bytes) = small(&folder);
    let nowhere = folder.0.join("no folder").join("table");
    assert!(table.save(&nowhere).unwrap_err().to_string().contains("No such file"));
    assert!(table.save(Path::new("/")).is_err());
    // Somebody else is at it.
    let beside = std::fs::File::create(folder.0.join("table.saving")).unwrap();
    beside.lock().unwrap();
    assert!(table.save(&file(&folder)).unwrap_err().to_string().contains("somebody else is saving"));
    drop(beside);
    assert_eq!(std::fs::read(file(&folder)).unwrap(), bytes);
    table.save(&file(&folder)).unwrap();
    assert_eq!(std::fs::read_dir(&folder.0).unwrap().count(), 1, "something was left beside the file");
}

#[test]
fn a_saver_that_is_killed_leaves_a_whole_file() {
    let folder = Folder::new("killed");
    let counter = &map::<AtomicU64>(1).unwrap()[0];
    let (keys, layout) = FORMS[0];
    let table = Table::new(schema(keys, layout)).unwrap();
    (0..900).for_each(|id| assert!(table.set(Key::Id(id), &[(0, Cell::Int(0))], Mode::Insert).unwrap()));
    table.save(&file(&folder)).unwrap();
    let mut dice = Dice(8);
    for round in 1..=30i64 {
        counter.store(0, Relaxed);
        // SAFETY: the child works on shared memory and files alone, and ends by a signal.
        let child = unsafe { libc::fork() };
        if child == 0 {
            loop {
                // All rows have one number: a file that has two was put together from two tables.
                let changed =
                    (0..900).all(|id| table.set(Key::Id(id), &[(0, Cell::Int(round))], Mode::Update) == Ok(true));
                counter.fetch_add(u64::from(changed && table.save(&file(&folder)).is_ok()) + 1, Relaxed);
            }
        }
        let turns = dice.below(40_000);
        (0..turns).for_each(|_| std::hint::spin_loop());
        while counter.load(Relaxed) < turns % 3 {
            std::hint::spin_loop();
        }
        let mut status = 0;
        // SAFETY: the child just forked.
        unsafe {
            libc::kill(child, libc::SIGKILL);
            libc::waitpid(child, &raw mut status, 0);
        }
        assert!(libc::WIFSIGNALED(status));
        table.check().unwrap();
        let other = Table::new(schema(keys, layout)).unwrap();
        assert_eq!(other.restore(&file(&folder)).unwrap().rows, 900);
        other.check().unwrap();
        let mut users: Vec<_> = rows(&other).into_iter().map(|(_, cells)| cells[0].clone()).collect();
        users.sort();
        users.dedup();
        assert_eq!(users.len(), 1, "{users:?}");
    }
    table.save(&file(&folder)).unwrap();
    assert_eq!(std::fs::read_dir(&folder.0).unwrap().count(), 1, "something was left beside the file");
}

#[test]
fn links_are_followed_and_permissions_kept() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = Folder::new("target");
    let (file, link) = (file(&folder), folder.0.join("link"));
    let table = World::new(Keys::Ids { most: 900 }, Layout::Columns).table;
    table.save(&file).unwrap();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&file), 0o600);
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).unwrap();
    symlink(&file, &link).unwrap();
    table.save(&link).unwrap();
    assert!(link.is_symlink() && mode(&file) == 0o640);
    let error = table.save(Path::new("/dev/null")).unwrap_err().to_string();
    assert!(error.contains("no regular file"), "{error}");
    assert!(table.save(&folder.0).is_err());
}
