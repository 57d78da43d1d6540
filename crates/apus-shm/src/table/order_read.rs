//! Reading an ordered index, with the mutex or without it.
//!
//! Without it the nodes may change under the reader. So nothing here trusts what it reads: node numbers, counts and
//! levels are checked, the number of steps is bounded by what the caller asks for, and the caller throws the result
//! away when the table's sequence count has moved.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::order_change::{Path, ROOT};
use super::order_key::{Cells, IndexPlace, Spec};
use super::order_node::{DEPTH, Entry, Nodes, Torn};

/// Most questions are answered by few rows: their end is looked for among this many first.
const NEAR: usize = 16;

/// What to read of an index, and what has been read.
#[derive(Debug)]
pub(crate) struct Walk<'a> {
    /// Where it starts, in the index's order whatever the direction.
    pub(crate) from: &'a IndexPlace,
    /// Where it ends.
    pub(crate) to: &'a IndexPlace,
    /// From the end to the start.
    pub(crate) descending: bool,
    /// Entries that are passed over before the first one is taken.
    pub(crate) skip: u64,
    /// Entries passed over so far.
    pub(crate) skipped: u64,
    /// Rows that are taken at most.
    pub(crate) limit: usize,
    /// Whether to tell where to go on when the limit is reached.
    pub(crate) resume: bool,
    /// Leaves that are looked at, at most; then it tells where to go on.
    pub(crate) leaves: usize,
    /// The rows taken.
    pub(crate) rows: &'a mut Vec<u32>,
}

/// One index, to read.
pub(crate) struct Reader<'a, C> {
    pub(crate) nodes: Nodes<'a>,
    pub(crate) spec: &'a Spec,
    pub(crate) cells: &'a C,
}

impl<C: Cells> Reader<'_, C> {
    /// Reads. None: there is no more between the places, or as much as was wanted has been read. Otherwise the place to
    /// go on from.
    pub(crate) fn walk(&self, walk: &mut Walk<'_>) -> Result<Option<IndexPlace>, Torn> {
        let mut scratch = Vec::new();
        let start = if walk.descending { walk.to } else { walk.from };
        let Some(mut path) = self.seek(start, &mut scratch)? else {
            return Ok(None);
        };
        let (mut last, mut leaves) = (None, 0);
        loop {
            let (node, at) = path.step(path.depth - 1);
            let words = self.nodes.words(node)?;
            let (low, high, ended) = if walk.descending {
                let low = self.first_not_before(&path, words, walk.from, at, &mut scratch)?;
                (low, at, low > 0)
            } else {
                let count = self.nodes.count(words, 0)?;
                let high = self.end_in_leaf(&path, words, walk.to, at, &mut scratch)?;
                (at, high, high < count)
            };
            let taken = Self::take(walk, words, low, high);
            if taken > 0 {
                let at = if walk.descending { high - taken } else { low + taken - 1 };
                last = Some(Nodes::row(words, at));
            }
            if walk.limit == 0 && walk.resume {
                return Ok(last.map(|row| self.place_of(row, walk.descending)));
            }
            if ended || walk.limit == 0 {
                return Ok(None);
            }
            leaves += 1;
            let more = if walk.descending { self.previous_leaf(&mut path)? } else { self.next_leaf(&mut path)? };
            if !more {
                return Ok(None);
            }
            // Without an entry behind it there is no place to go on from: the next leaf has one.
            if leaves >= walk.leaves
                && let Some(row) = last
            {
                return Ok(Some(self.place_of(row, walk.descending)));
            }
            if leaves > walk.leaves + 2 {
                return Err(Torn);
            }
        }
    }

    /// Where to go on behind a row.
    fn place_of(&self, row: u32, descending: bool) -> IndexPlace {
        IndexPlace::Entry { key: self.spec.key(self.cells, row), row, after: !descending }
    }

    /// Passes over or takes the rows of a leaf from `low` to before `high`; tells how many of them.
    fn take(walk: &mut Walk<'_>, words: &[AtomicU64], low: usize, high: usize) -> usize {
        let len = high.saturating_sub(low);
        let skip = (walk.skip - walk.skipped).min(len as u64) as usize;
        walk.skipped += skip as u64;
        let take = (len - skip).min(walk.limit);
        walk.limit -= take;
        if walk.descending {
            walk.rows.extend((high - skip - take..high - skip).rev().map(|at| Nodes::row(words, at)));
        } else {
            Nodes::copy_rows(words, low + skip, low + skip + take, walk.rows);
        }
        skip + take
    }

    /// The way to the first entry that is not before the place: perhaps one behind the last of a leaf. None: the tree
    /// is empty.
    fn seek(&self, place: &IndexPlace, scratch: &mut Vec<u8>) -> Result<Option<Path>, Torn> {
        let root = self.nodes.header()[ROOT].load(Relaxed);
        let (mut node, depth) = (root as u32, (root >> 32) as usize);
        if node == 0 {
            return Ok(None);
        }
        if depth == 0 || depth > DEPTH {
            return Err(Torn);
        }
        let mut path = Path::new();
        for level in (1..depth).rev() {
            let words = self.nodes.words(node)?;
            let is_before = |entry: &Entry| place.is_behind(self.spec, self.cells, entry.head, entry.row, scratch);
            let at = self.nodes.last_before(words, level, is_before)?;
            path.push(node, at);
            node = self.nodes.entry(words, at).child;
        }
        let words = self.nodes.words(node)?;
        let high = self.nodes.count(words, 0)?;
        let at = self.search(words, place, 0, high, scratch);
        path.push(node, at);
        Ok(Some(path))
    }

    /// The first entry of a leaf from `low` on that is not before the place; `high` if all are.
    fn search(&self, words: &[AtomicU64], place: &IndexPlace, low: usize, high: usize, scratch: &mut Vec<u8>) -> usize {
        place.search(self.spec, self.cells, |at| Nodes::row(words, at), (low, high), scratch)
    }

    /// The same for the end of what is read, which is near `at` most likely. A leaf that ends before the place, as its
    /// neighbour's key tells, is not looked into.
    fn end_in_leaf(
        &self,
        path: &Path,
        words: &[AtomicU64],
        place: &IndexPlace,
        at: usize,
        scratch: &mut Vec<u8>,
    ) -> Result<usize, Torn> {
        let count = self.nodes.count(words, 0)?;
        if let Some(above) = (path.depth - 1).checked_sub(1) {
            let (node, taken) = path.step(above);
            let parent = self.nodes.words(node)?;
            if taken + 1 < self.nodes.count(parent, 1)? {
                let next = self.nodes.entry(parent, taken + 1);
                if place.is_behind(self.spec, self.cells, next.head, next.row, scratch) {
                    return Ok(count);
                }
            }
        }
        let near = count.min(at + NEAR);
        let found = self.search(words, place, at, near, scratch);
        Ok(if found < near { found } else { self.search(words, place, near, count, scratch) })
    }

    /// The first entry of a leaf that is not before the place, at `high` at most; looked for from there.
    fn first_not_before(
        &self,
        path: &Path,
        words: &[AtomicU64],
        place: &IndexPlace,
        high: usize,
        scratch: &mut Vec<u8>,
    ) -> Result<usize, Torn> {
        if high > self.nodes.count(words, 0)? {
            return Err(Torn);
        }
        if let Some(above) = (path.depth - 1).checked_sub(1) {
            let (node, taken) = path.step(above);
            let parent = self.nodes.words(node)?;
            if taken > 0 && taken < self.nodes.count(parent, 1)? {
                let first = self.nodes.entry(parent, taken);
                if !place.is_behind(self.spec, self.cells, first.head, first.row, scratch) {
                    return Ok(0);
                }
            }
        }
        let near = high.saturating_sub(NEAR);
        let found = self.search(words, place, near, high, scratch);
        Ok(if found > near { found } else { self.search(words, place, 0, near, scratch) })
    }

    /// To the first place of the next leaf.
    fn next_leaf(&self, path: &mut Path) -> Result<bool, Torn> {
        self.turn(path, |at, count| (at + 1 < count).then_some(at + 1), |_| 0)
    }

    /// To behind the last entry of the leaf before.
    fn previous_leaf(&self, path: &mut Path) -> Result<bool, Torn> {
        if !self.turn(path, |at, _| at.checked_sub(1), |count| count - 1)? {
            return Ok(false);
        }
        let (leaf, at) = path.step(path.depth - 1);
        path.set(path.depth - 1, leaf, at + 1);
        Ok(true)
    }

    /// Up to the nearest node with another entry in the direction, and down again.
    fn turn(
        &self,
        path: &mut Path,
        beside: impl Fn(usize, usize) -> Option<usize>,
        first: impl Fn(usize) -> usize,
    ) -> Result<bool, Torn> {
        for step in (0..path.depth - 1).rev() {
            let (node, at) = path.step(step);
            let words = self.nodes.words(node)?;
            let Some(at) = beside(at, self.nodes.count(words, path.depth - 1 - step)?) else {
                continue;
            };
            path.set(step, node, at);
            let mut child = self.nodes.entry(words, at).child;
            for below in step + 1..path.depth {
                let words = self.nodes.words(child)?;
                let at = first(self.nodes.count(words, path.depth - 1 - below)?);
                path.set(below, child, at);
                if below + 1 < path.depth {
                    child = self.nodes.entry(words, at).child;
                }
            }
            return Ok(true);
        }
        Ok(false)
    }
}
