//! Tables with indexes beside a map: random changes, all forms of questions, loads with deferred indexes, and processes
//! that are killed in the middle.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::crash::everywhere;
use super::order_tests::{Dice, Held};
use super::{
    Bounds, Cell, Column, Delta, Index, Key, KeyList, Keys, Kind, Layout, Mode, RowBuffer, Schema, Table, TableError,
    Window,
};
use crate::region::map;

const KEYS: u64 = 900;

pub(super) fn schema(keys: Keys, layout: Layout) -> Schema {
    let column = |name: &str, kind| Column { name: name.into(), kind };
    let index = |name: &str, columns: &[usize]| Index { name: name.into(), columns: columns.to_vec() };
    Schema {
        keys,
        layout,
        rows: KEYS,
        columns: vec![
            column("user", Kind::Int { bytes: 4, signed: false }),
            column("at", Kind::Int { bytes: 4, signed: true }),
            column("score", Kind::Float),
            column("name", Kind::Text { longest: 60 }),
            column("country", Kind::Dictionary { longest: 60, most: 5000 }),
            column("plain", Kind::Int { bytes: 1, signed: true }),
        ],
        indexes: vec![
            index("user", &[0, 1]),
            index("name", &[3]),
            index("score", &[2, 3]),
            index("country", &[4, 0]),
            index("at", &[1]),
        ],
    }
}

pub(super) struct World {
    pub(super) table: Table,
    pub(super) model: BTreeMap<u64, Vec<Held>>,
}

impl World {
    pub(super) fn new(keys: Keys, layout: Layout) -> Self {
        Self { table: Table::new(schema(keys, layout)).unwrap(), model: BTreeMap::new() }
    }

    pub(super) fn with_key<T>(&self, at: u64, run: impl FnOnce(Key<'_>) -> T) -> T {
        match self.table.schema().keys {
            Keys::Ids { .. } => run(Key::Id(at)),
            Keys::Text { .. } => run(Key::Text(format!("the key of row {at}").as_bytes())),
        }
    }

    fn number_of(key: Key<'_>) -> u64 {
        match key {
            Key::Id(id) => id,
            Key::Text(text) => std::str::from_utf8(text).unwrap().rsplit(' ').next().unwrap().parse().unwrap(),
        }
    }

    fn values(&self, dice: &mut Dice) -> Vec<Held> {
        self.table.schema().columns.iter().map(|column| dice.value(column.kind)).collect()
    }

    /// A random change, of the table and (when it is kept) the model.
    pub(super) fn change(&mut self, dice: &mut Dice) {
        let at = dice.below(KEYS);
        let values = self.values(dice);
        let kind = dice.below(10);
        let mut cells: Vec<_> = values.iter().map(Held::cell).enumerate().collect();
        if (4..8).contains(&kind) {
            cells.retain(|_| dice.below(2) == 0);
        }
        let old = self.model.get(&at).cloned();
        let default =
            || vec![Held::Int(0), Held::Int(0), Held::Float(0.0), Held::Text(vec![]), Held::Text(vec![]), Held::Int(0)];
        match kind {
            0..6 => {
                let mode = [Mode::Upsert, Mode::Insert, Mode::Update][dice.below(3) as usize];
                let done = self.with_key(at, |key| self.table.set(key, &cells, mode)).unwrap();
                assert_eq!(done, !matches!((mode, &old), (Mode::Insert, Some(_)) | (Mode::Update, None)));
                if done {
                    let row = self.model.entry(at).or_insert_with(default);
                    for (column, _) in &cells {
                        row[*column] = values[*column].clone();
                    }
                }
            }
            6 | 7 => {
                let by = dice.below(50) as i64;
                match self.with_key(at, |key| self.table.add(key, 1, Delta::Int(by))) {
                    Ok(_) => {
                        let Held::Int(value) = &mut self.model.entry(at).or_insert_with(default)[1] else { panic!() };
                        *value += by;
                    }
                    Err(error) => assert!(matches!(error, TableError::Range { .. })),
                }
            }
            _ => {
                assert_eq!(self.with_key(at, |key| self.table.remove(key)).unwrap(), old.is_some());
                self.model.remove(&at);
            }
        }
    }

    fn bounds(&self, index: usize, dice: &mut Dice) -> (Vec<Held>, Vec<Held>) {
        let columns = &self.table.schema().indexes[index].columns;
        let one: Vec<_> = columns.iter().map(|column| dice.value(self.table.schema().columns[*column].kind)).collect();
        let mut two = one.clone();
        for (value, column) in two.iter_mut().zip(columns) {
            if dice.below(3) == 0 {
                *value = dice.value(self.table.schema().columns[*column].kind);
            }
        }
        let len = |dice: &mut Dice| dice.below(columns.len() as u64 + 1) as usize;
        (one[..len(dice)].to_vec(), two[..len(dice)].to_vec())
    }

    /// A question of each form to an index, beside the model.
    fn ask(&self, index: usize, dice: &mut Dice) {
        let (from, to) = self.bounds(index, dice);
        let (after, before) = (dice.below(2) == 0, dice.below(2) == 0);
        let columns = &self.table.schema().indexes[index].columns;
        let key_of = |row: &[Held]| columns.iter().map(|column| row[*column].clone()).collect::<Vec<_>>();
        let inside = |row: &[Held]| {
            let key = key_of(row);
            let low = key[..from.len()].cmp(&from);
            let high = key[..to.len()].cmp(&to);
            (low == Ordering::Greater || low == Ordering::Equal && (!after || from.is_empty()))
                && (high == Ordering::Less || high == Ordering::Equal && (!before || to.is_empty()))
        };
        let mut want: Vec<_> =
            self.model.iter().filter(|(_, row)| inside(row)).map(|(at, row)| (key_of(row), *at)).collect();
        want.sort();
        let (from, to): (Vec<_>, Vec<_>) = (from.iter().map(Held::cell).collect(), to.iter().map(Held::cell).collect());
        let bounds = Bounds { from: &from, to: &to, after, before };
        assert_eq!(self.table.count_range(index, &bounds).unwrap(), want.len() as u64);
        for descending in [false, true] {
            if descending {
                want.reverse();
            }
            let some = |dice: &mut Dice| if dice.below(3) == 0 { dice.below(want.len() as u64 + 3) } else { 0 };
            let window = Window { offset: some(dice), limit: some(dice).wrapping_sub(1), descending };
            let share = want.iter().skip(window.offset as usize).take(window.limit.try_into().unwrap());
            let share: Vec<_> = share.cloned().collect();
            let mut keys = KeyList::new();
            self.table.range(index, &bounds, window, &mut keys).unwrap();
            let found: Vec<_> = keys.iter().map(Self::number_of).collect();
            self.same(&found, &share, want.len(), &key_of);
            let mut found = Vec::new();
            let all: Vec<usize> = (0..self.table.schema().columns.len()).collect();
            let each = |key: Key<'_>, row: super::RowView<'_>| {
                let at = Self::number_of(key);
                assert!(self.model[&at].iter().map(Held::cell).eq(row.cells()), "row {at}");
                found.push(at);
                true
            };
            let count = self.table.select(index, &bounds, window, &all, each).unwrap();
            assert_eq!(count, found.len() as u64);
            self.same(&found, &share, want.len(), &key_of);
        }
    }

    /// Rows with equal values are in the order of their numbers, which are the ids; those of rows with text keys nobody
    /// knows.
    fn same(&self, found: &[u64], want: &[(Vec<Held>, u64)], all: usize, key_of: &impl Fn(&[Held]) -> Vec<Held>) {
        if matches!(self.table.schema().keys, Keys::Ids { .. }) {
            assert!(found.iter().eq(want.iter().map(|(_, at)| at)));
            return;
        }
        assert!(found.iter().map(|at| key_of(&self.model[at])).eq(want.iter().map(|(key, _)| key.clone())));
        let mut sorted = found.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(sorted.len(), found.len(), "a row came twice");
        if want.len() == all {
            let mut want: Vec<_> = want.iter().map(|(_, at)| *at).collect();
            want.sort_unstable();
            assert_eq!(sorted, want);
        }
    }

    pub(super) fn ask_all(&self, dice: &mut Dice) {
        self.table.check().unwrap();
        assert_eq!(self.table.len(), self.model.len() as u64);
        for index in 0..self.table.schema().indexes.len() {
            self.ask(index, dice);
        }
    }

    /// What the table holds now, as the model.
    fn learn(&mut self) {
        self.model.clear();
        let columns: Vec<usize> = (0..self.table.schema().columns.len()).collect();
        let (mut at, mut row) = (0, RowBuffer::new());
        while let Some(next) = self.table.next(at, &columns, &mut row) {
            let values = row.cells().map(|cell| match cell {
                Cell::Int(value) => Held::Int(value),
                Cell::Float(value) => Held::Float(value),
                Cell::Text(text) => Held::Text(text.to_vec()),
            });
            self.model.insert(Self::number_of(row.key()), values.collect());
            at = next;
        }
    }
}

const FORMS: [(Keys, Layout); 3] = [
    (Keys::Ids { most: KEYS }, Layout::Columns),
    (Keys::Text { longest: 40 }, Layout::Rows),
    (Keys::Text { longest: 40 }, Layout::Columns),
];

#[test]
fn answers_are_those_of_a_map() {
    for (seed, (keys, layout)) in FORMS.into_iter().enumerate() {
        let mut world = World::new(keys, layout);
        let mut dice = Dice(seed as u64);
        for round in 0..4000 {
            world.change(&mut dice);
            if round % 100 == 0 {
                world.ask_all(&mut dice);
            }
        }
        (0..10).for_each(|_| world.ask_all(&mut dice));
    }
}

#[test]
fn indexes_that_were_deferred_are_built_whatever_memory_there_is() {
    for (seed, (keys, layout)) in FORMS.into_iter().enumerate() {
        let mut world = World::new(keys, layout);
        let mut dice = Dice(seed as u64 + 50);
        for round in 0..4 {
            world.table.defer_indexes();
            (0..1500).for_each(|_| world.change(&mut dice));
            let mut none = KeyList::new();
            let refused = world.table.find(0, &[Cell::Int(1)], Window::default(), &mut none);
            assert!(matches!(refused, Err(TableError::State(_))));
            world.table.build_indexes().unwrap();
            world.ask_all(&mut dice);
            // From a few rows a time to all at once.
            for order in &world.table.store.orders {
                order.build_within(&world.table.store, [300, 2000, 20_000, 1 << 20][round]).unwrap();
            }
            world.ask_all(&mut dice);
            (0..300).for_each(|_| world.change(&mut dice));
            world.ask_all(&mut dice);
        }
    }
}

#[test]
fn long_texts_that_begin_alike_are_built_in_order() {
    let column = |name: &str| Column { name: name.into(), kind: Kind::Text { longest: 1000 } };
    let table = Table::new(Schema {
        keys: Keys::Ids { most: 900 },
        layout: Layout::Columns,
        rows: 900,
        columns: vec![column("a")],
        indexes: vec![Index { name: "a".into(), columns: vec![0] }],
    })
    .unwrap();
    let mut dice = Dice(12);
    let mut want = Vec::new();
    for id in 0..900u64 {
        let (letter, len) = ([b'a', 0][dice.below(2) as usize], [0, 13, 40, 100, 300, 900][dice.below(6) as usize]);
        let text = [vec![letter; len], format!("{}", dice.below(20)).into_bytes()].concat();
        assert!(table.set(Key::Id(id), &[(0, Cell::Text(&text))], Mode::Insert).unwrap());
        want.push((text, id));
    }
    want.sort();
    for budget in [2000, 1 << 20] {
        table.store.orders[0].build_within(&table.store, budget).unwrap();
        table.check().unwrap();
        let mut found = KeyList::new();
        table.range(0, &Bounds::default(), Window::default(), &mut found).unwrap();
        assert!(found.iter().eq(want.iter().map(|(_, id)| Key::Id(*id))));
    }
}

#[test]
fn wrong_questions_say_what_is_wrong() {
    let world = World::new(FORMS[0].0, FORMS[0].1);
    let find = |index, cells: &[Cell<'_>]| {
        world.table.find(index, cells, Window::default(), &mut KeyList::new()).unwrap_err().to_string()
    };
    assert_eq!(find(9, &[]), "the table has no index 9");
    assert_eq!(find(1, &[Cell::Text(b"a"), Cell::Int(1)]), "index \"name\" has 1 columns; 2 values were given");
    assert_eq!(find(0, &[Cell::Text(b"a")]), "column \"user\" holds integers, not a text");
    assert_eq!(find(2, &[Cell::Float(f64::NAN)]), "column \"score\" holds numbers, not NaN");
    assert_eq!(find(1, &[Cell::Float(1.0)]), "column \"name\" holds texts, not a float");
    let select = world.table.select(0, &Bounds::default(), Window::default(), &[77], |_, _| true);
    assert_eq!(select.unwrap_err().to_string(), "the table has no column 77");
    let cells = [(2, Cell::Float(f64::NAN))];
    assert!(matches!(world.table.set(Key::Id(1), &cells, Mode::Upsert), Err(TableError::Type { .. })));
}

#[test]
fn a_value_that_no_row_can_have_is_before_or_behind_all() {
    let world = World::new(FORMS[0].0, FORMS[0].1);
    for (id, user) in [(1, 0), (2, 5), (3, 4_294_967_295)] {
        assert!(world.table.set(Key::Id(id), &[(0, Cell::Int(user))], Mode::Upsert).unwrap());
    }
    let count = |from: i64, to: i64| {
        let bounds = Bounds { from: &[Cell::Int(from)], to: &[Cell::Int(to)], after: false, before: false };
        world.table.count_range(0, &bounds).unwrap()
    };
    assert_eq!(count(-1, 4_294_967_296), 3);
    assert_eq!(count(i64::MIN, -1), 0);
    assert_eq!(count(4_294_967_296, i64::MAX), 0);
    assert_eq!(count(-7, 5), 2);
    assert_eq!(world.table.count_range(0, &Bounds::equal(&[Cell::Int(-1)])).unwrap(), 0);
    // The limits of the range are reached with two columns, too.
    let bounds = Bounds {
        from: &[Cell::Int(5), Cell::Int(i64::MIN)],
        to: &[Cell::Int(5), Cell::Int(i64::MAX)],
        ..Bounds::default()
    };
    assert_eq!(world.table.count_range(0, &bounds).unwrap(), 1);
}

/// Runs `work` in a child, kills it when it has counted up `steps` times, and waits for its end.
fn killed_after(counter: &AtomicU64, steps: u64, mut work: impl FnMut()) {
    counter.store(0, Relaxed);
    // SAFETY: the child works on shared memory alone, and ends by a signal or _exit.
    let child = unsafe { libc::fork() };
    if child == 0 {
        loop {
            if std::panic::catch_unwind(std::panic::AssertUnwindSafe(&mut work)).is_err() {
                counter.store(u64::MAX, Relaxed);
                // SAFETY: ends this process without running anything of the parent's.
                unsafe { libc::_exit(1) };
            }
            counter.fetch_add(1, Relaxed);
        }
    }
    while counter.load(Relaxed) < steps {
        std::hint::spin_loop();
    }
    let mut status = 0;
    // SAFETY: the child just forked.
    unsafe {
        libc::kill(child, libc::SIGKILL);
        libc::waitpid(child, &raw mut status, 0);
    }
    assert!(libc::WIFSIGNALED(status), "the child failed");
}

#[test]
fn a_process_killed_within_a_change_leaves_a_whole_table() {
    let counter = &map::<AtomicU64>(1).unwrap()[0];
    for (seed, (keys, layout)) in FORMS.into_iter().enumerate() {
        let mut world = World::new(keys, layout);
        let mut dice = Dice(seed as u64 + 77);
        (0..600).for_each(|_| world.change(&mut dice));
        for round in 0..80 {
            let steps = dice.below(60);
            let mut child = Dice(dice.next());
            // The child's model knows nothing of rows that others made: it must not be compared.
            killed_after(counter, steps, || change_blindly(&world, &mut child));
            world.learn();
            world.table.check().unwrap_or_else(|what| panic!("round {round}: {what}"));
            if round % 10 == 0 {
                world.ask_all(&mut dice);
            }
        }
    }
}

#[test]
fn a_build_that_is_broken_off_leaves_the_indexes_deferred() {
    let counter = &map::<AtomicU64>(1).unwrap()[0];
    let mut world = World::new(FORMS[1].0, FORMS[1].1);
    let mut dice = Dice(31);
    (0..1500).for_each(|_| world.change(&mut dice));
    let mut deferred = 0;
    for _ in 0..60 {
        killed_after(counter, dice.below(3), || world.table.build_indexes().unwrap());
        deferred += u32::from(world.table.indexes_deferred());
        world.table.check().unwrap();
        let found = world.table.count_range(0, &Bounds::default());
        if world.table.indexes_deferred() {
            assert!(matches!(found, Err(TableError::State(_))));
            world.table.build_indexes().unwrap();
        }
        world.ask_all(&mut dice);
        world.change(&mut dice);
    }
    assert!(deferred > 0, "no build was ever broken off");
}

fn change_blindly(world: &World, dice: &mut Dice) {
    let at = dice.below(KEYS);
    let values = world.values(dice);
    let cells: Vec<_> = values.iter().map(Held::cell).enumerate().collect();
    world.with_key(at, |key| match dice.below(4) {
        0 => drop(world.table.remove(key).unwrap()),
        1 => drop(world.table.set(key, &cells[..2], Mode::Update).unwrap()),
        _ => drop(world.table.set(key, &cells, Mode::Upsert).unwrap()),
    });
}

/// A row's user is in its name: what is read while others write must be of one moment, in order, and of the range that
/// was asked for.
#[test]
fn readers_see_whole_rows_in_order_while_writers_come_and_die() {
    let counter = &map::<AtomicU64>(1).unwrap()[0];
    let world = World::new(FORMS[0].0, FORMS[0].1);
    let set = |id: u64, user: u64| {
        let name = format!("name of user {user}");
        let cells = [(0, Cell::Int(user as i64)), (1, Cell::Int(id as i64)), (3, Cell::Text(name.as_bytes()))];
        world.table.set(Key::Id(id), &cells, Mode::Upsert).unwrap();
    };
    (0..KEYS).for_each(|id| set(id, id % 7));
    for round in 0..25 {
        let mut dice = Dice(round);
        counter.store(0, Relaxed);
        // SAFETY: the child works on shared memory alone, and ends by a signal.
        let writer = unsafe { libc::fork() };
        if writer == 0 {
            loop {
                set(dice.below(KEYS), dice.below(7));
                counter.fetch_add(1, Relaxed);
            }
        }
        let mut reads = 0;
        while counter.load(Relaxed) < 400 || reads < 20 {
            let user = dice.below(7);
            let (from, to) = ([Cell::Int(user as i64)], [Cell::Int(user as i64), Cell::Int(800)]);
            let bounds = Bounds { from: &from, to: &to, ..Bounds::default() };
            let mut last = None;
            let each = |key: Key<'_>, row: super::RowView<'_>| {
                let name = format!("name of user {user}");
                assert_eq!([row.cell(0), row.cell(1)], [Cell::Int(user as i64), Cell::Text(name.as_bytes())]);
                let Key::Id(id) = key else { panic!("not an id") };
                assert!(id <= 800 && last.replace(id).is_none_or(|last| last < id), "{id} after {last:?}");
                true
            };
            world.table.select(0, &bounds, Window::default(), &[0, 3], each).unwrap();
            assert_eq!(world.table.count_range(0, &Bounds::default()).unwrap(), KEYS);
            reads += 1;
        }
        let mut status = 0;
        // SAFETY: the child just forked.
        unsafe {
            libc::kill(writer, libc::SIGKILL);
            libc::waitpid(writer, &raw mut status, 0);
        }
        assert!(libc::WIFSIGNALED(status), "the writer failed");
        world.table.check().unwrap();
    }
}

/// Two numbers of 8 bytes, so that an inner node holds few.
fn deep() -> Table {
    let column = |name: &str| Column { name: name.into(), kind: Kind::Int { bytes: 8, signed: true } };
    Table::new(Schema {
        keys: Keys::Ids { most: 6000 },
        layout: Layout::Columns,
        rows: 6000,
        columns: vec![column("a"), column("b")],
        indexes: vec![Index { name: "both".into(), columns: vec![0, 1] }],
    })
    .unwrap()
}

#[test]
fn splits_and_merges_survive_any_death() {
    let set = |table: &Table, id: u64, value: i64| {
        assert!(table.set(Key::Id(id), &[(0, Cell::Int(value)), (1, Cell::Int(1))], Mode::Upsert).unwrap());
    };
    let remove = |table: &Table, id: u64| assert!(table.remove(Key::Id(id)).unwrap());
    let table = deep();
    (0..126).for_each(|id| set(&table, id, id as i64 * 2));
    everywhere("split a root", &table, || set(&table, 500, 77), || remove(&table, 500));
    everywhere("begin a leaf at the end", &table, || set(&table, 501, 1000), || remove(&table, 501));
    (127..132).for_each(|id| set(&table, id, id as i64 * 2));
    (0..37).for_each(|id| remove(&table, id));
    everywhere(
        "merge",
        &table,
        || (37..41).for_each(|id| remove(&table, id)),
        || {
            (37..41).filter(|id| !table.has(Key::Id(*id))).for_each(|id| set(&table, id, id as i64 * 2));
        },
    );
    // Each leaf and the root are full, as rows that come in order leave them.
    let table = deep();
    (0..126 * 21).for_each(|id| set(&table, id, id as i64 * 2));
    everywhere("split all levels", &table, || set(&table, 5000, 777), || remove(&table, 5000));
    everywhere("move from leaf to leaf", &table, || set(&table, 126, 9), || set(&table, 126, 252));
}
