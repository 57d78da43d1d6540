//! The tree beside a sorted set, in plain memory: every kind of key, random changes, undone changes, all forms of
//! reading.

use std::cell::RefCell;
use std::cmp::Ordering;
use std::collections::{BTreeSet, HashSet};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::order::Order;
use super::order_change::{ALLOCATION, ENTRIES, Editor, Journal, ROOT};
use super::order_key::{Cells, IndexPlace};
use super::order_node::{LEAF, NODE, Nodes};
use super::order_read::{Reader, Walk};
use super::schema::{Cell, Column, Index, Kind};
use crate::region::Region;

/// A value of a row.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Held {
    Int(i64),
    Float(f64),
    Text(Vec<u8>),
}

impl Held {
    pub(super) fn cell(&self) -> Cell<'_> {
        match self {
            Self::Int(value) => Cell::Int(*value),
            Self::Float(value) => Cell::Float(*value),
            Self::Text(text) => Cell::Text(text),
        }
    }
}

impl Eq for Held {}

impl PartialOrd for Held {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Held {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Int(one), Self::Int(two)) => one.cmp(two),
            (Self::Float(one), Self::Float(two)) => one.partial_cmp(two).unwrap(),
            (Self::Text(one), Self::Text(two)) => one.cmp(two),
            _ => panic!("a column has one type"),
        }
    }
}

/// Numbers that look random, the same ones in every run.
pub(super) struct Dice(pub(super) u64);

impl Dice {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    pub(super) fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    /// A value of a column, out of few enough that many rows have the same.
    pub(super) fn value(&mut self, kind: Kind) -> Held {
        match kind {
            Kind::Int { .. } => {
                let (least, greatest) = kind.bounds();
                match self.below(20) {
                    0 => Held::Int(least),
                    1 => Held::Int(greatest),
                    _ => Held::Int((self.below(200) as i64 - 100).clamp(least, greatest)),
                }
            }
            Kind::Float => Held::Float(match self.below(20) {
                0 => f64::NEG_INFINITY,
                1 => f64::INFINITY,
                2 => -0.0,
                _ => (self.below(300) as f64 - 150.0) / 7.0,
            }),
            Kind::Text { .. } | Kind::Dictionary { .. } => Held::Text(match self.below(4) {
                // Longer than a head, and the same to there.
                0 => format!("the same beginning of all, {}", self.below(500)).into_bytes(),
                1 => b"\0a\0".repeat(self.below(9) as usize),
                2 => b"aaaaaaaaaaaaaaaaaaaaaaaaaaaa"[..self.below(28) as usize].to_vec(),
                _ => format!("{}", self.below(500)).into_bytes(),
            }),
        }
    }
}

/// Notes what stood where, so that it can be put back.
struct Undo<'a>(&'a Region, Vec<(usize, u64)>);

impl Journal for Undo<'_> {
    fn put(&mut self, offset: usize, value: u64) {
        let word = self.0.at::<AtomicU64>(offset);
        self.1.push((offset, word.load(Relaxed)));
        word.store(value, Relaxed);
    }
}

/// Rows outside of shared memory.
struct Rows(RefCell<Vec<Vec<Held>>>);

impl Cells for Rows {
    fn bits(&self, row: u32, column: usize) -> u64 {
        match self.0.borrow()[row as usize][column] {
            Held::Int(value) => value as u64,
            Held::Float(value) => value.to_bits(),
            Held::Text(_) => panic!("a text has no bits"),
        }
    }

    fn text(&self, row: u32, column: usize, into: &mut Vec<u8>) {
        let Held::Text(text) = &self.0.borrow()[row as usize][column] else { panic!("not a text") };
        into.extend_from_slice(text);
    }
}

struct World {
    region: Region,
    order: Order,
    rows: Rows,
    kinds: Vec<Kind>,
    model: BTreeSet<(Vec<Held>, u32)>,
}

impl World {
    fn new(kinds: &[Kind], rows: usize) -> Self {
        let columns: Vec<_> = kinds.iter().map(|kind| Column { name: "c".into(), kind: *kind }).collect();
        let index = Index { name: "i".into(), columns: (0..kinds.len()).collect() };
        let bytes = Order::area_bytes(rows as u64) as usize;
        let region = Region::new(bytes + 4096).unwrap();
        let order = Order::new(&index, &columns, 4096, bytes);
        let rows = Rows(RefCell::new(vec![Vec::new(); rows]));
        Self { region, order, rows, kinds: kinds.to_vec(), model: BTreeSet::new() }
    }

    fn edit<T>(&self, journal: &mut Undo<'_>, edit: impl FnOnce(&mut Editor<'_, Rows, Undo<'_>>) -> T) -> T {
        let nodes = self.order.nodes(&self.region);
        edit(&mut Editor { nodes, spec: &self.order.spec, cells: &self.rows, journal, scratch: Vec::new() })
    }

    /// Gives a row a value, or takes it away; now and then that is given up midway.
    fn change(&mut self, row: u32, new: Option<Vec<Held>>, undone: bool) {
        let region = &self.region;
        let mut journal = Undo(region, Vec::new());
        let old = std::mem::take(&mut self.rows.0.borrow_mut()[row as usize]);
        if !old.is_empty() {
            self.rows.0.borrow_mut()[row as usize].clone_from(&old);
            assert_eq!(self.edit(&mut journal, |editor| editor.remove(row)), Ok(true));
            assert_eq!(self.edit(&mut journal, |editor| editor.remove(row)), Ok(false));
        }
        if let Some(new) = &new {
            self.rows.0.borrow_mut()[row as usize].clone_from(new);
            assert_eq!(self.edit(&mut journal, |editor| editor.insert(row)), Ok(()));
        }
        if undone {
            for (offset, value) in journal.1.iter().rev() {
                region.at::<AtomicU64>(*offset).store(*value, Relaxed);
            }
            self.rows.0.borrow_mut()[row as usize] = old;
            return;
        }
        if !old.is_empty() {
            self.model.remove(&(old, row));
        }
        self.rows.0.borrow_mut()[row as usize] = new.clone().unwrap_or_default();
        self.model.extend(new.map(|new| (new, row)));
    }

    fn random(&self, dice: &mut Dice) -> Vec<Held> {
        self.kinds.iter().map(|kind| dice.value(*kind)).collect()
    }

    fn walk(
        &self,
        from: &IndexPlace,
        to: &IndexPlace,
        descending: bool,
        skip: u64,
        limit: usize,
        leaves: usize,
    ) -> Vec<u32> {
        let reader = Reader { nodes: self.order.nodes(&self.region), spec: &self.order.spec, cells: &self.rows };
        let mut rows = Vec::new();
        let (mut from, mut to, mut skipped, mut left) = (from.clone(), to.clone(), 0, limit);
        loop {
            let (from_now, to_now) = (from.clone(), to.clone());
            let mut part = Vec::new();
            // Every other section ends by its limit.
            let limit = if leaves.is_multiple_of(2) { left } else { left.min(150) };
            let resume = limit < left;
            let mut walk = Walk {
                from: &from_now,
                to: &to_now,
                descending,
                skip,
                skipped,
                limit,
                resume,
                leaves,
                rows: &mut part,
            };
            let place = reader.walk(&mut walk).unwrap();
            skipped = walk.skipped;
            left -= part.len();
            rows.append(&mut part);
            match place {
                Some(place) => *(if descending { &mut to } else { &mut from }) = place,
                None => return rows,
            }
        }
    }

    fn bound(&self, values: &[Held], after: bool) -> IndexPlace {
        let cells: Vec<_> = values.iter().map(Held::cell).collect();
        IndexPlace::bound(&self.order.spec, &cells, after).unwrap()
    }

    /// All forms of reading beside the model.
    fn compare(&self, dice: &mut Dice) {
        let (one, two) = (self.random(dice), self.random(dice));
        let len = dice.below(self.kinds.len() as u64 + 1) as usize;
        let (from, to) = (&one[..len], if dice.below(2) == 0 { &one[..len] } else { &two[..len] });
        let (from_after, to_after) = (dice.below(2) == 0, dice.below(2) == 0);
        let before = |key: &[Held], bound: &[Held], after: bool| match key[..bound.len()].cmp(bound) {
            Ordering::Less => true,
            Ordering::Equal => after,
            Ordering::Greater => false,
        };
        let mut want: Vec<u32> = self
            .model
            .iter()
            .filter(|(key, _)| !before(key, from, from_after) && before(key, to, to_after))
            .map(|(_, row)| *row)
            .collect();
        let (from, to) = (self.bound(from, from_after), self.bound(to, to_after));
        let leaves = 1 + dice.below(4) as usize;
        assert_eq!(self.walk(&from, &to, false, 0, usize::MAX, leaves), want);
        assert_eq!(self.walk(&from, &to, true, 0, usize::MAX, leaves), want.iter().rev().copied().collect::<Vec<_>>());
        let (skip, limit) = (dice.below(want.len() as u64 + 3), dice.below(want.len() as u64 + 3) as usize);
        let window = |want: &[u32]| want.iter().skip(skip as usize).take(limit).copied().collect::<Vec<_>>();
        assert_eq!(self.walk(&from, &to, false, skip, limit, leaves), window(&want));
        want.reverse();
        assert_eq!(self.walk(&from, &to, true, skip, limit, leaves), window(&want));
    }

    /// The tree's own rules: order, keys of inner nodes, nodes that are half full on the average, none lost.
    fn check(&self) {
        let nodes = self.order.nodes(&self.region);
        let header = |word: usize| nodes.header()[word].load(Relaxed);
        let (root, depth) = (header(ROOT) as u32, (header(ROOT) >> 32) as usize);
        let mut seen = HashSet::from([0]);
        let mut rows = Vec::new();
        if root != 0 {
            self.check_node(nodes, root, depth - 1, &mut seen, &mut rows);
        }
        let model: Vec<u32> = self.model.iter().map(|(_, row)| *row).collect();
        assert_eq!(rows, model);
        assert_eq!(header(ENTRIES), model.len() as u64);
        let leaves = seen.len();
        assert!(leaves < 8 + rows.len() * 4 / LEAF, "{leaves} nodes for {} rows", rows.len());
        let (mut free, used) = ((header(ALLOCATION) >> 32) as u32, (header(ALLOCATION) as u32).max(1));
        while free != 0 {
            assert!(seen.insert(free), "node {free} is used twice");
            free = (nodes.words(free).unwrap()[0].load(Relaxed) >> 32) as u32;
        }
        assert_eq!(seen.len(), used as usize, "nodes are lost");
    }

    fn check_node(&self, nodes: Nodes<'_>, node: u32, level: usize, seen: &mut HashSet<u32>, rows: &mut Vec<u32>) {
        assert!(seen.insert(node), "node {node} is used twice");
        if level == 0 {
            rows.extend_from_slice(nodes.leaf(node).unwrap().rows());
            return;
        }
        for (at, entry) in nodes.inner(node, level).unwrap().iter().enumerate() {
            let first = rows.len();
            self.check_node(nodes, entry.child, level - 1, seen, rows);
            if at > 0 {
                assert_eq!(entry.row, rows[first]);
                let head = self.order.spec.head(&self.rows, entry.row, &mut Vec::new());
                assert_eq!(entry.head, if self.order.spec.wide() { head } else { head >> 64 << 64 });
            }
        }
    }

    fn run(&mut self, seed: u64, changes: Range<u32>, remove_percent: u64) {
        let mut dice = Dice(seed);
        for change in changes {
            let row = dice.below(self.rows.0.borrow().len() as u64) as u32;
            let new = (dice.below(100) >= remove_percent).then(|| self.random(&mut dice));
            self.change(row, new, dice.below(10) == 0);
            if change % 512 == 0 {
                self.check();
                self.compare(&mut dice);
            }
        }
        self.check();
        (0..30).for_each(|_| self.compare(&mut dice));
    }
}

const fn int(bytes: u8, signed: bool) -> Kind {
    Kind::Int { bytes, signed }
}

const TEXT: Kind = Kind::Text { longest: 100 };

#[test]
fn like_a_sorted_set_whatever_the_key() {
    let kinds: [&[Kind]; 9] = [
        &[int(4, false), int(4, true)],
        &[int(8, true), int(8, false)],
        &[int(1, false)],
        &[int(2, true), int(1, true)],
        &[Kind::Float],
        &[Kind::Float, int(4, true)],
        &[TEXT],
        &[TEXT, TEXT],
        &[int(8, true), TEXT],
    ];
    for (seed, kinds) in kinds.into_iter().enumerate() {
        let mut world = World::new(kinds, 3000);
        world.run(seed as u64, 0..6000, 10);
        // Down to a few rows, and to none.
        world.run(seed as u64 + 100, 0..9000, 90);
        for row in 0..3000 {
            world.change(row, None, false);
        }
        world.check();
        assert_eq!(world.order.entries(&world.region), 0);
        world.run(seed as u64 + 200, 0..500, 20);
    }
}

#[test]
fn rows_that_come_in_order_fill_their_leaves() {
    let mut world = World::new(&[int(4, false)], 60_000);
    for row in 0..60_000 {
        world.change(row, Some(vec![Held::Int(i64::from(row / 3))]), false);
    }
    world.check();
    let used = world.order.used(&world.region) - NODE;
    assert!((used as f64) < 60_000.0 * 4.4, "{used} bytes");
}

#[test]
fn rows_that_come_in_any_order_take_less_than_seven_bytes() {
    let mut world = World::new(&[int(4, false), int(4, true)], 40_000);
    let mut dice = Dice(5);
    for row in 0..40_000 {
        let value = vec![Held::Int(dice.below(10_000) as i64), Held::Int(i64::from(dice.next() as i32))];
        world.change(row, Some(value), false);
    }
    world.check();
    let used = world.order.used(&world.region) - NODE;
    assert!((used as f64) < 40_000.0 * 7.0, "{used} bytes");
}

/// Any row number is answered with some cell, as a table does.
struct Wild;

impl Cells for Wild {
    fn bits(&self, row: u32, column: usize) -> u64 {
        u64::from(row) * 7 + column as u64
    }

    fn text(&self, _: u32, _: usize, _: &mut Vec<u8>) {}
}

#[test]
fn reading_wild_memory_ends() {
    let mut world = World::new(&[int(4, false), int(4, true)], 5000);
    let mut dice = Dice(9);
    for row in 0..5000 {
        let value = world.random(&mut dice);
        world.change(row, Some(value), false);
    }
    let words: &[AtomicU64] = world.region.slice(4096, world.order.used(&world.region) / 8);
    let whole: Vec<u64> = words.iter().map(|word| word.load(Relaxed)).collect();
    let (mut torn, mut ended) = (0, 0);
    for _ in 0..3000 {
        words.iter().zip(&whole).for_each(|(word, value)| word.store(*value, Relaxed));
        for _ in 0..3 {
            let word = &words[dice.below(words.len() as u64) as usize];
            word.store(if dice.below(2) == 0 { dice.next() } else { dice.below(60) << 32 | dice.below(60) }, Relaxed);
        }
        if dice.below(3) == 0 {
            words[ROOT].store((1 + dice.below(4)) << 32 | (1 + dice.below(50)), Relaxed);
        }
        let reader = Reader { nodes: world.order.nodes(&world.region), spec: &world.order.spec, cells: &Wild };
        let (from, to) = (&world.bound(&[], false), &world.bound(&[], true));
        let mut rows = Vec::new();
        let descending = dice.below(2) == 0;
        let mut walk = Walk {
            from,
            to,
            descending,
            skip: 0,
            skipped: 0,
            limit: usize::MAX,
            resume: false,
            leaves: 50,
            rows: &mut rows,
        };
        *(if reader.walk(&mut walk).is_err() { &mut torn } else { &mut ended }) += 1;
        assert!(rows.len() <= 53 * LEAF);
    }
    assert!(torn > 100 && ended > 100, "{torn} {ended}");
}
