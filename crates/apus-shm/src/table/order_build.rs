//! Building an ordered index at once: row numbers are sorted by key and packed into leaves, with some room left in each
//! for what comes later.
//!
//! Sorting takes memory of this process for a time; it is bounded by going over the rows several times, one range of
//! keys a time.

use std::cmp::Ordering;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::TableError;
use super::order::Order;
use super::order_change::{ALLOCATION, ENTRIES, Fault, ROOT, allocation_word, root_word};
use super::order_key::{HEAD, Spec, head_of};
use super::order_node::{DEPTH, Entry, LEAF, NODE, Nodes};
use super::store::Store;

/// Bytes that sorting takes, about.
const BUDGET: usize = 96 << 20;
/// Bytes up to which keys that begin alike are sorted part by part.
const ALIKE: usize = 8 * HEAD;
/// Rows that are looked at to cut the keys into ranges of about the same size, a range.
const SAMPLE: u64 = 512;
/// Rows of a leaf that is built: one of 16 places stays free.
const FILL: usize = LEAF * 15 / 16;

/// A row and its key's head, as small as it can be.
trait Item: Copy {
    fn new(head: u128, row: u32) -> Self;
    fn head(self) -> u128;
    fn row(self) -> u32;
}

/// With a head of 8 bytes.
#[derive(Clone, Copy)]
struct Narrow([u32; 3]);

impl Item for Narrow {
    fn new(head: u128, row: u32) -> Self {
        Self([(head >> 96) as u32, (head >> 64) as u32, row])
    }

    #[inline]
    fn head(self) -> u128 {
        u128::from(self.0[0]) << 96 | u128::from(self.0[1]) << 64
    }

    #[inline]
    fn row(self) -> u32 {
        self.0[2]
    }
}

#[derive(Clone, Copy)]
struct Wide([u64; 2], u32);

impl Item for Wide {
    fn new(head: u128, row: u32) -> Self {
        Self([(head >> 64) as u64, head as u64], row)
    }

    #[inline]
    fn head(self) -> u128 {
        u128::from(self.0[0]) << 64 | u128::from(self.0[1])
    }

    #[inline]
    fn row(self) -> u32 {
        self.1
    }
}

impl Order {
    /// Builds it from the rows of the table. The caller holds all locks, and nobody reads the index: a death midway
    /// must leave it so.
    pub(crate) fn build(&self, store: &Store) -> Result<(), TableError> {
        self.build_within(store, BUDGET)
    }

    /// With so many bytes to sort in, about.
    pub(super) fn build_within(&self, store: &Store, budget: usize) -> Result<(), TableError> {
        let before = self.used(store.region());
        self.clear(store.region());
        let (root, depth, entries, used) =
            if self.spec.wide() { self.pack::<Wide>(store, budget)? } else { self.pack::<Narrow>(store, budget)? };
        let nodes = self.nodes(store.region());
        let header = nodes.header();
        header[ALLOCATION].store(allocation_word(0, used), Relaxed);
        header[ENTRIES].store(entries, Relaxed);
        header[ROOT].store(root_word(root, depth), Relaxed);
        store.region().release(nodes.offset(used, 0), before.saturating_sub(used as usize * NODE));
        Ok(())
    }

    fn pack<I: Item>(&self, store: &Store, budget: usize) -> Result<(u32, usize, u64, u32), TableError> {
        let sorter = Sorter::<I> { store, spec: &self.spec, items: Vec::new(), texts: Default::default() };
        let mut packer = Packer::new(store, self.nodes(store.region()));
        sorter.run(budget, |item| packer.add(item.head(), item.row()))?;
        Ok(packer.finish()?)
    }
}

/// Goes over the rows in the order of their keys.
struct Sorter<'a, I> {
    store: &'a Store,
    spec: &'a Spec,
    items: Vec<I>,
    texts: (Vec<u8>, Vec<u8>),
}

impl<I: Item> Sorter<'_, I> {
    fn run(mut self, budget: usize, mut each: impl FnMut(I) -> Result<(), Fault>) -> Result<(), Fault> {
        let rows = self.store.len();
        let ranges = (rows.saturating_mul(size_of::<I>() as u64)).div_ceil(budget.max(1) as u64).clamp(1, 1 << 16);
        let cuts = self.cuts(rows, ranges);
        // Some more than a range's share: the cuts are estimates.
        let share = (rows / ranges) as usize;
        self.items.try_reserve_exact(share + share / 16 + 16).map_err(|_| Fault::Memory)?;
        for range in 0..=cuts.len() {
            let (from, to) = (range.checked_sub(1).map(|at| cuts[at]), cuts.get(range).copied());
            self.collect(from, to)?;
            self.sort();
            for item in &self.items {
                each(*item)?;
            }
        }
        Ok(())
    }

    /// The first entries of all ranges but the first.
    fn cuts(&mut self, rows: u64, ranges: u64) -> Vec<I> {
        if ranges <= 1 {
            return Vec::new();
        }
        let step = (rows / (ranges * SAMPLE)).max(1);
        let (mut next, mut left) = (0, 0);
        while let Some(row) = self.store.next_existing(next) {
            if left == 0 {
                let head = self.spec.head(self.store, row, &mut self.texts.0);
                self.items.push(I::new(head, row));
                left = step;
            }
            left -= 1;
            next = row + 1;
        }
        self.sort();
        let share = (self.items.len() / ranges as usize).max(1);
        self.items.iter().skip(share).step_by(share).take(ranges as usize - 1).copied().collect()
    }

    /// The rows whose entries are not before `from` and before `to`.
    fn collect(&mut self, from: Option<I>, to: Option<I>) -> Result<(), Fault> {
        self.items.clear();
        let (spec, store, texts) = (self.spec, self.store, &mut self.texts);
        let mut next = 0;
        while let Some(row) = store.next_existing(next) {
            next = row + 1;
            let item = I::new(spec.head(store, row, &mut texts.0), row);
            let before = |cut: I, texts: &mut _| compare(spec, store, item, cut, texts) == Ordering::Less;
            if from.is_some_and(|from| before(from, texts)) || to.is_some_and(|to| !before(to, texts)) {
                continue;
            }
            if self.items.len() == self.items.capacity() {
                self.items.try_reserve_exact(self.items.len() / 8 + 1024).map_err(|_| Fault::Memory)?;
            }
            self.items.push(item);
        }
        Ok(())
    }

    fn sort(&mut self) {
        self.items.sort_unstable_by_key(|item| (item.head(), item.row()));
        if self.spec.exact() {
            return;
        }
        // Entries whose keys are the same up to so many bytes. A list and no recursion: keys may be long.
        let mut alike = Vec::new();
        runs(0, self.items.iter().map(|item| item.head()), |range| alike.push((range, HEAD)));
        while let Some((range, known)) = alike.pop() {
            self.sort_alike(range, known, &mut alike);
        }
    }

    /// Sorts entries by the next bytes of their keys. Each key is read once for that, where comparing entries would
    /// read two for each comparison; but long keys must not be read for every 16 bytes of them.
    fn sort_alike(&mut self, range: Range<usize>, known: usize, alike: &mut Vec<(Range<usize>, usize)>) {
        let items = &mut self.items[range.clone()];
        if known > ALIKE {
            let (spec, store, texts) = (self.spec, self.store, &mut self.texts);
            items.sort_unstable_by(|one, two| compare(spec, store, *one, *two, texts));
            return;
        }
        let text = &mut self.texts.0;
        let mut more = false;
        let mut next: Vec<(u128, u32)> = Vec::with_capacity(items.len());
        for item in &*items {
            self.spec.whole(self.store, item.row(), text);
            more |= text.len() > known + HEAD;
            next.push((head_of(text.get(known..).unwrap_or_default()), item.row()));
        }
        next.sort_unstable();
        let head = items[0].head();
        for (item, (_, row)) in items.iter_mut().zip(&next) {
            *item = I::new(head, *row);
        }
        if more {
            runs(range.start, next.iter().map(|next| next.0), |range| alike.push((range, known + HEAD)));
        }
    }
}

/// The ranges of two and more values in succession that are the same; the first value is number `first`.
fn runs(first: usize, values: impl Iterator<Item = u128>, mut each: impl FnMut(Range<usize>)) {
    let (mut start, mut end, mut last) = (first, first, None);
    for value in values {
        if last != Some(value) {
            if end - start > 1 {
                each(start..end);
            }
            (start, last) = (end, Some(value));
        }
        end += 1;
    }
    if end - start > 1 {
        each(start..end);
    }
}

/// Two entries, in the order of the index.
#[inline]
fn compare<I: Item>(spec: &Spec, store: &Store, one: I, two: I, texts: &mut (Vec<u8>, Vec<u8>)) -> Ordering {
    let ordering = one.head().cmp(&two.head());
    if ordering == Ordering::Equal && !spec.exact() && one.row() != two.row() {
        spec.whole(store, one.row(), &mut texts.0);
        spec.whole(store, two.row(), &mut texts.1);
        return texts.0.cmp(&texts.1).then(one.row().cmp(&two.row()));
    }
    ordering.then(one.row().cmp(&two.row()))
}

/// Makes nodes of entries that come in order.
struct Packer<'a> {
    store: &'a Store,
    nodes: Nodes<'a>,
    leaf: Vec<u32>,
    /// The head of the leaf's first.
    head: u128,
    /// Entries of the inner node in the making, by level; the first level is 1.
    levels: Vec<Vec<Entry>>,
    used: u32,
    entries: u64,
}

impl<'a> Packer<'a> {
    fn new(store: &'a Store, nodes: Nodes<'a>) -> Self {
        Self { store, nodes, leaf: Vec::with_capacity(LEAF), head: 0, levels: Vec::new(), used: 1, entries: 0 }
    }

    #[inline]
    fn add(&mut self, head: u128, row: u32) -> Result<(), Fault> {
        if self.leaf.len() == FILL {
            self.end_leaf()?;
        }
        if self.leaf.is_empty() {
            self.head = head;
        }
        self.leaf.push(row);
        self.entries += 1;
        Ok(())
    }

    fn allocate(&mut self) -> Result<u32, Fault> {
        if self.used >= self.nodes.most {
            return Err(Fault::Full);
        }
        self.used += 1;
        Ok(self.used - 1)
    }

    fn end_leaf(&mut self) -> Result<(), Fault> {
        let child = self.allocate()?;
        let region = self.store.region();
        self.nodes
            .write_leaf(child, &self.leaf, |offset, value| region.at::<AtomicU64>(offset).store(value, Relaxed))?;
        let entry = Entry { head: self.head, row: self.leaf[0], child };
        self.leaf.clear();
        self.push(1, entry)
    }

    fn push(&mut self, level: usize, entry: Entry) -> Result<(), Fault> {
        if level >= DEPTH {
            return Err(Fault::Full);
        }
        if self.levels.len() < level {
            self.levels.push(Vec::new());
        }
        if self.levels[level - 1].len() == self.nodes.fan - 2 {
            self.end_inner(level)?;
        }
        self.levels[level - 1].push(entry);
        Ok(())
    }

    fn end_inner(&mut self, level: usize) -> Result<(), Fault> {
        let child = self.allocate()?;
        let entries = std::mem::take(&mut self.levels[level - 1]);
        let region = self.store.region();
        self.nodes.write_inner(child, level, &entries, |offset, value| {
            region.at::<AtomicU64>(offset).store(value, Relaxed);
        })?;
        self.push(level + 1, Entry { child, ..entries[0] })
    }

    /// The root, the levels, the entries, and the nodes used.
    fn finish(mut self) -> Result<(u32, usize, u64, u32), Fault> {
        if !self.leaf.is_empty() {
            self.end_leaf()?;
        }
        let mut level = 1;
        while level <= self.levels.len() {
            if level == self.levels.len() && self.levels[level - 1].len() == 1 {
                return Ok((self.levels[level - 1][0].child, level, self.entries, self.used));
            }
            self.end_inner(level)?;
            level += 1;
        }
        Ok((0, 0, 0, self.used))
    }
}
