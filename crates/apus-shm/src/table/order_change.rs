//! Changing an ordered index, in place: every word that changes goes through the change's journal, which puts all back
//! when the process that makes the change dies or fails.
//!
//! Invariant: an inner node's entry (but for its first) names exactly the smallest entry below its child. So every row
//! that is named anywhere is a row of the tree, and its cells can be read to compare whole texts.

use std::sync::atomic::Ordering::Relaxed;

use super::TableError;
use super::order_key::{Cells, IndexPlace, Spec};
use super::order_node::{DEPTH, Entry, LEAF, Leaf, Nodes, Torn};

/// Words of an index's header (node 0): the root and the levels.
pub(crate) const ROOT: usize = 0;
/// The free list's first node (upper half), and how many nodes were ever used, the header among them.
pub(crate) const ALLOCATION: usize = 1;
/// Entries.
pub(crate) const ENTRIES: usize = 2;

/// What notes the words that a change overwrites.
pub(crate) trait Journal {
    /// The word at this offset becomes `value`, now.
    fn put(&mut self, offset: usize, value: u64);
}

/// A way from the root to a leaf: nodes and which entry was taken, the root first; in the leaf, the place.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Path {
    steps: [(u32, u16); DEPTH],
    /// Levels.
    pub(crate) depth: usize,
}

impl Path {
    pub(crate) fn new() -> Self {
        Self { steps: [(0, 0); DEPTH], depth: 0 }
    }

    pub(crate) fn push(&mut self, node: u32, at: usize) {
        self.steps[self.depth] = (node, at as u16);
        self.depth += 1;
    }

    /// The node of a step and the entry taken there.
    pub(crate) fn step(&self, step: usize) -> (u32, usize) {
        (self.steps[step].0, usize::from(self.steps[step].1))
    }

    pub(crate) fn set(&mut self, step: usize, node: u32, at: usize) {
        self.steps[step] = (node, at as u16);
    }
}

/// Why an index cannot be changed. The caller undoes what was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The area is used up.
    Full,
    /// The system gives no memory to sort in.
    Memory,
    /// The tree is not what it must be: a defect.
    Broken,
}

impl From<Torn> for Fault {
    fn from(_: Torn) -> Self {
        Self::Broken
    }
}

impl From<Fault> for TableError {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Full => {
                Self::NoMemory("the room kept for an ordered index is used up: make the table larger".into())
            }
            Fault::Memory => Self::NoMemory("no memory to sort the rows in".into()),
            Fault::Broken => Self::State("an ordered index is damaged: build the indexes anew".into()),
        }
    }
}

type Made<T> = Result<T, Fault>;

/// A parent's entries, and the left ones of two pairs of neighbours in it.
type Neighbours = (Vec<Entry>, [Option<usize>; 2]);

/// The words of an index's root: node and levels.
pub(crate) fn root_word(root: u32, depth: usize) -> u64 {
    (depth as u64) << 32 | u64::from(root)
}

/// The word that says what is free.
pub(crate) fn allocation_word(free: u32, used: u32) -> u64 {
    u64::from(free) << 32 | u64::from(used)
}

/// An index and what is needed to change it. The holder of the table's mutex has it.
pub(crate) struct Editor<'a, C, J> {
    pub(crate) nodes: Nodes<'a>,
    pub(crate) spec: &'a Spec,
    pub(crate) cells: &'a C,
    pub(crate) journal: &'a mut J,
    pub(crate) scratch: Vec<u8>,
}

impl<C: Cells, J: Journal> Editor<'_, C, J> {
    /// Adds a row that is not in the tree; its cells are what they will be.
    pub(crate) fn insert(&mut self, row: u32) -> Made<()> {
        self.count_entries(1)?;
        let (root, _) = self.root()?;
        if root == 0 {
            let root = self.allocate()?;
            self.write_leaf(root, &[row])?;
            self.put_root(root, 1);
            return Ok(());
        }
        let key = self.spec.key(self.cells, row);
        let (path, mut leaf) = self.descend(&IndexPlace::Entry { key, row, after: false })?;
        let last = path.depth - 1;
        let (node, at) = path.step(last);
        leaf.insert(at, row);
        if leaf.rows().len() <= LEAF {
            return self.write_leaf(node, leaf.rows());
        }
        let (left, right) = leaf.rows().split_at(self.cut(&path, last, at, LEAF)?);
        let other = self.allocate()?;
        self.write_leaf(other, right)?;
        self.write_leaf(node, left)?;
        let head = self.head(right[0]);
        self.add_child(&path, last, Entry { head, row: right[0], child: other })
    }

    /// Takes a row out; its cells are still those that it was added with. False: it is not there.
    pub(crate) fn remove(&mut self, row: u32) -> Made<bool> {
        if self.root()?.0 == 0 {
            return Ok(false);
        }
        let key = self.spec.key(self.cells, row);
        let (path, mut leaf) = self.descend(&IndexPlace::Entry { key, row, after: true })?;
        let last = path.depth - 1;
        let (node, behind) = path.step(last);
        let Some(at) = behind.checked_sub(1).filter(|at| leaf.rows()[*at] == row) else {
            return Ok(false);
        };
        self.count_entries(-1)?;
        leaf.remove(at);
        if leaf.rows().is_empty() {
            self.release(node)?;
            self.remove_child(&path, last)?;
            return Ok(true);
        }
        let first = (at == 0).then(|| leaf.rows()[0]).map(|row| Entry { head: self.head(row), row, child: 0 });
        if !self.merge_leaf(&path, &leaf, first)? {
            self.write_leaf(node, leaf.rows())?;
            self.set_first(&path, last, first)?;
        }
        Ok(true)
    }

    fn head(&mut self, row: u32) -> u128 {
        self.spec.head(self.cells, row, &mut self.scratch)
    }

    fn header(&self, word: usize) -> u64 {
        self.nodes.header()[word].load(Relaxed)
    }

    fn put(&mut self, node: u32, word: usize, value: u64) {
        self.journal.put(self.nodes.offset(node, word), value);
    }

    fn root(&self) -> Made<(u32, usize)> {
        let word = self.header(ROOT);
        let depth = (word >> 32) as usize;
        if depth > DEPTH || (depth == 0) != (word as u32 == 0) { Err(Fault::Broken) } else { Ok((word as u32, depth)) }
    }

    fn put_root(&mut self, root: u32, depth: usize) {
        self.put(0, ROOT, root_word(root, depth));
    }

    fn count_entries(&mut self, change: i64) -> Made<()> {
        let entries = self.header(ENTRIES).checked_add_signed(change).ok_or(Fault::Broken)?;
        self.put(0, ENTRIES, entries);
        Ok(())
    }

    /// To the leaf where the place is, and the leaf.
    fn descend(&mut self, place: &IndexPlace) -> Made<(Path, Leaf)> {
        let mut path = Path::new();
        let (mut node, depth) = self.root()?;
        for level in (1..depth).rev() {
            let words = self.nodes.words(node)?;
            let is_before =
                |entry: &Entry| place.is_behind(self.spec, self.cells, entry.head, entry.row, &mut self.scratch);
            let at = self.nodes.last_before(words, level, is_before)?;
            path.push(node, at);
            node = self.nodes.entry(words, at).child;
        }
        let leaf = self.nodes.leaf(node)?;
        let rows = leaf.rows();
        let at = place.search(self.spec, self.cells, |at| rows[at], (0, rows.len()), &mut self.scratch);
        path.push(node, at);
        Ok((path, leaf))
    }

    /// Where the node of a step, with one entry too many (at `at`), is cut in two: in the middle; but at the end of the
    /// tree, where rows that come in order are put, as late as possible.
    fn cut(&self, path: &Path, cut: usize, at: usize, most: usize) -> Made<usize> {
        let mut at_the_end = at >= most;
        for step in 0..cut {
            let (node, taken) = path.step(step);
            at_the_end &= taken + 1 == self.nodes.count(self.nodes.words(node)?, path.depth - 1 - step)?;
        }
        Ok(if at_the_end { most } else { most.div_ceil(2) })
    }

    fn allocate(&mut self) -> Made<u32> {
        let word = self.header(ALLOCATION);
        let (free, used) = ((word >> 32) as u32, (word as u32).max(1));
        let (node, word) = if free != 0 {
            let next = (self.nodes.words(free)?[0].load(Relaxed) >> 32) as u32;
            (free, allocation_word(next, used))
        } else if used < self.nodes.most {
            (used, allocation_word(0, used + 1))
        } else {
            return Err(Fault::Full);
        };
        self.put(0, ALLOCATION, word);
        Ok(node)
    }

    fn release(&mut self, node: u32) -> Made<()> {
        self.nodes.words(node)?;
        let word = self.header(ALLOCATION);
        self.put(node, 0, word >> 32 << 32);
        self.put(0, ALLOCATION, allocation_word(node, word as u32));
        Ok(())
    }

    fn write_leaf(&mut self, node: u32, rows: &[u32]) -> Made<()> {
        self.nodes.write_leaf(node, rows, |offset, value| self.journal.put(offset, value))?;
        Ok(())
    }

    fn write_inner(&mut self, node: u32, level: usize, entries: &[Entry]) -> Made<()> {
        self.nodes.write_inner(node, level, entries, |offset, value| self.journal.put(offset, value))?;
        Ok(())
    }

    /// The node of a step was cut in two: `entry` is the second part.
    fn add_child(&mut self, path: &Path, step: usize, entry: Entry) -> Made<()> {
        let level = path.depth - step;
        let Some(above) = step.checked_sub(1) else {
            let (child, depth) = self.root()?;
            if depth == DEPTH {
                return Err(Fault::Full);
            }
            let root = self.allocate()?;
            self.write_inner(root, level, &[Entry { child, ..Entry::default() }, entry])?;
            self.put_root(root, depth + 1);
            return Ok(());
        };
        let (node, at) = path.step(above);
        let mut entries = self.nodes.inner(node, level)?;
        entries.insert(at + 1, entry);
        if entries.len() <= self.nodes.fan {
            return self.write_inner(node, level, &entries);
        }
        let cut = self.cut(path, above, at + 1, self.nodes.fan)?;
        let right = entries.split_off(cut);
        let other = self.allocate()?;
        self.write_inner(other, level, &right)?;
        self.write_inner(node, level, &entries)?;
        self.add_child(path, above, Entry { child: other, ..right[0] })
    }

    /// The smallest entry below the node of a step is another now.
    fn set_first(&mut self, path: &Path, step: usize, first: Option<Entry>) -> Made<()> {
        let Some(first) = first else {
            return Ok(());
        };
        // Up to where the way does not go through a node's first entry.
        let Some(above) = (0..step).rev().find(|above| path.step(*above).1 > 0) else {
            return Ok(());
        };
        let (node, at) = path.step(above);
        let level = path.depth - 1 - above;
        let mut entries = self.nodes.inner(node, level)?;
        let entry = entries.get_mut(at).ok_or(Fault::Broken)?;
        *entry = Entry { child: entry.child, ..first };
        self.write_inner(node, level, &entries)
    }

    /// The node of a step is gone.
    fn remove_child(&mut self, path: &Path, step: usize) -> Made<()> {
        let Some(above) = step.checked_sub(1) else {
            self.put_root(0, 0);
            return Ok(());
        };
        let (node, at) = path.step(above);
        let mut entries = self.nodes.inner(node, path.depth - step)?;
        if at >= entries.len() {
            return Err(Fault::Broken);
        }
        entries.remove(at);
        let first = if at == 0 { entries.first().copied() } else { None };
        self.settle(path, above, &entries, first)
    }

    /// The inner node of a step has these entries now; `first`: and its smallest is this.
    fn settle(&mut self, path: &Path, step: usize, entries: &[Entry], first: Option<Entry>) -> Made<()> {
        let (node, _) = path.step(step);
        let level = path.depth - 1 - step;
        if entries.is_empty() {
            self.release(node)?;
            return self.remove_child(path, step);
        }
        if step == 0 && entries.len() == 1 {
            self.release(node)?;
            self.put_root(entries[0].child, path.depth - 1);
            return Ok(());
        }
        if self.merge_inner(path, step, entries, first)? {
            return Ok(());
        }
        self.write_inner(node, level, entries)?;
        self.set_first(path, step, first)
    }

    /// Which neighbours a node of a step has under the same parent: the parent's entries, and the left ones of pairs to
    /// try.
    fn neighbours(&self, path: &Path, step: usize) -> Made<Option<Neighbours>> {
        let Some(above) = step.checked_sub(1) else {
            return Ok(None);
        };
        let (parent, at) = path.step(above);
        let entries = self.nodes.inner(parent, path.depth - step)?;
        let right = (at + 1 < entries.len()).then_some(at);
        Ok(Some((entries, [at.checked_sub(1), right])))
    }

    /// Puts a leaf that is less than half full and a neighbour into one, if that leaves a quarter free. False: it
    /// stays.
    fn merge_leaf(&mut self, path: &Path, leaf: &Leaf, first: Option<Entry>) -> Made<bool> {
        let step = path.depth - 1;
        let (node, _) = path.step(step);
        if leaf.rows().len() * 2 >= LEAF {
            return Ok(false);
        }
        let Some((mut entries, pairs)) = self.neighbours(path, step)? else {
            return Ok(false);
        };
        let (_, at) = path.step(step - 1);
        for left in pairs.into_iter().flatten() {
            let other = entries[if left == at { at + 1 } else { left }].child;
            let beside = self.nodes.leaf(other)?;
            if leaf.rows().len() + beside.rows().len() > LEAF * 3 / 4 {
                continue;
            }
            let (one, two) = if left == at { (leaf, &beside) } else { (&beside, leaf) };
            let rows = [one.rows(), two.rows()].concat();
            self.release(other)?;
            self.write_leaf(node, &rows)?;
            entries[left].child = node;
            self.merged(path, step - 1, entries, left, if left == at { first } else { None })?;
            return Ok(true);
        }
        Ok(false)
    }

    /// The same for an inner node.
    fn merge_inner(&mut self, path: &Path, step: usize, entries: &[Entry], first: Option<Entry>) -> Made<bool> {
        let (node, _) = path.step(step);
        let (level, fan) = (path.depth - 1 - step, self.nodes.fan);
        if entries.len() * 2 >= fan {
            return Ok(false);
        }
        let Some((mut above, pairs)) = self.neighbours(path, step)? else {
            return Ok(false);
        };
        let (_, at) = path.step(step - 1);
        for left in pairs.into_iter().flatten() {
            let other = above[if left == at { at + 1 } else { left }].child;
            let beside = self.nodes.inner(other, level)?;
            if entries.len() + beside.len() > fan * 3 / 4 {
                continue;
            }
            let (one, two) = if left == at { (entries, beside.as_slice()) } else { (beside.as_slice(), entries) };
            let mut both = [one, two].concat();
            // A node's first entry has its key in the node above alone; this node's may be new.
            let key = if left == at { above[left + 1] } else { first.unwrap_or(above[left + 1]) };
            both[one.len()] = Entry { child: two[0].child, ..key };
            self.release(other)?;
            self.write_inner(node, level, &both)?;
            above[left].child = node;
            self.merged(path, step - 1, above, left, if left == at { first } else { None })?;
            return Ok(true);
        }
        Ok(false)
    }

    /// The children `left` and `left + 1` of a step's node have become one. `first`: and its smallest entry is this.
    fn merged(
        &mut self,
        path: &Path,
        step: usize,
        mut entries: Vec<Entry>,
        left: usize,
        first: Option<Entry>,
    ) -> Made<()> {
        entries.remove(left + 1);
        if let Some(first) = first {
            entries[left] = Entry { child: entries[left].child, ..first };
        }
        let passed_up = if left == 0 { first } else { None };
        self.settle(path, step, &entries, passed_up)
    }
}
