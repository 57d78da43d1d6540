//! Nodes of an ordered index: 512 bytes each, numbered from 1, in an area of the table's region.
//!
//! Word 0 of a node: how many entries (bits 0..16) and its level (16..24; leaves are 0). Of a free node: the next of
//! the free list, in the upper half.
//!
//! A leaf holds 126 row numbers and no key: keys are read from the rows. An inner node holds a key's first 8 or 16
//! bytes, a row and a child an entry: the smallest entry below that child. Entry 0's key is never looked at.
//!
//! Who reads without the mutex may follow a node number that is wild by now: everything is checked against the area,
//! and what comes of it is thrown away when the sequence count has moved.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::region::Region;

/// Bytes of a node.
pub(crate) const NODE: usize = 512;
/// Row numbers that a leaf holds.
pub(crate) const LEAF: usize = 126;
/// Most levels. A tree of 2^32 rows with nodes a quarter full has fewer than 14.
pub(crate) const DEPTH: usize = 16;
const WORDS: usize = NODE / 8;
/// Entries of an inner node whose keys have 8 bytes, and 16.
pub(crate) const NARROW: usize = 31;
pub(crate) const WIDE: usize = 21;

/// What was read cannot be: the tree changed meanwhile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Torn;

/// An entry of an inner node: the smallest key below `child`, and its row.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Entry {
    /// First 16 bytes of the key, the first byte highest.
    pub(crate) head: u128,
    pub(crate) row: u32,
    pub(crate) child: u32,
}

/// A leaf's rows, copied out to be changed. Room for one more than fits.
#[derive(Debug, Clone)]
pub(crate) struct Leaf {
    rows: [u32; LEAF + 2],
    count: usize,
}

impl Leaf {
    pub(crate) fn rows(&self) -> &[u32] {
        &self.rows[..self.count]
    }

    pub(crate) fn insert(&mut self, at: usize, row: u32) {
        self.rows.copy_within(at..self.count, at + 1);
        self.rows[at] = row;
        self.count += 1;
    }

    pub(crate) fn remove(&mut self, at: usize) {
        self.rows.copy_within(at + 1..self.count, at);
        self.count -= 1;
    }
}

/// The nodes of one index: where they lie and how an inner node is laid out.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Nodes<'a> {
    region: &'a Region,
    /// Offset of the area; node n lies n * 512 bytes behind. Node 0 is the index's own header.
    base: usize,
    /// Nodes that the area has room for, the header among them.
    pub(crate) most: u32,
    /// Entries an inner node holds: [`NARROW`] or [`WIDE`].
    pub(crate) fan: usize,
}

impl<'a> Nodes<'a> {
    pub(crate) fn new(region: &'a Region, base: usize, most: u32, wide: bool) -> Self {
        Self { region, base, most, fan: if wide { WIDE } else { NARROW } }
    }

    /// Offset of a word of a node, for the journal.
    #[inline]
    pub(crate) fn offset(&self, node: u32, word: usize) -> usize {
        self.base + node as usize * NODE + word * 8
    }

    /// The words of a node.
    #[inline]
    pub(crate) fn words(&self, node: u32) -> Result<&'a [AtomicU64], Torn> {
        if node == 0 || node >= self.most {
            return Err(Torn);
        }
        Ok(self.region.slice(self.offset(node, 0), WORDS))
    }

    /// The words of the header.
    #[inline]
    pub(crate) fn header(&self) -> &'a [AtomicU64] {
        self.region.slice(self.base, WORDS)
    }

    /// Which word of an inner node names a child.
    #[inline]
    pub(crate) fn child_word(&self, at: usize) -> usize {
        WORDS - self.fan + at
    }

    /// How many entries a node of this level has.
    #[inline]
    pub(crate) fn count(&self, words: &[AtomicU64], level: usize) -> Result<usize, Torn> {
        let word = words[0].load(Relaxed);
        let count = usize::from(word as u16);
        let most = if level == 0 { LEAF } else { self.fan };
        if count == 0 || count > most || (word >> 16 & 0xff) as usize != level { Err(Torn) } else { Ok(count) }
    }

    /// Of an inner node's entries the last that lies before a place; the first, if none does.
    #[inline]
    pub(crate) fn last_before(
        &self,
        words: &[AtomicU64],
        level: usize,
        mut is_before: impl FnMut(&Entry) -> bool,
    ) -> Result<usize, Torn> {
        let (mut low, mut high) = (1, self.count(words, level)?);
        while low < high {
            let middle = usize::midpoint(low, high);
            if is_before(&self.entry(words, middle)) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        Ok(low - 1)
    }

    /// A row of a leaf.
    #[inline]
    pub(crate) fn row(words: &[AtomicU64], at: usize) -> u32 {
        (words[1 + at / 2].load(Relaxed) >> (at % 2 * 32)) as u32
    }

    /// An entry of an inner node.
    #[inline]
    pub(crate) fn entry(&self, words: &[AtomicU64], at: usize) -> Entry {
        let head = if self.fan == NARROW {
            u128::from(words[1 + at].load(Relaxed)) << 64
        } else {
            u128::from(words[1 + at * 2].load(Relaxed)) << 64 | u128::from(words[2 + at * 2].load(Relaxed))
        };
        let link = words[self.child_word(at)].load(Relaxed);
        Entry { head, row: (link >> 32) as u32, child: link as u32 }
    }

    /// Copies a leaf's rows behind `rows`.
    pub(crate) fn copy_rows(words: &[AtomicU64], from: usize, to: usize, rows: &mut Vec<u32>) {
        rows.extend((from..to).map(|at| Self::row(words, at)));
    }

    /// A leaf, to be changed.
    pub(crate) fn leaf(&self, node: u32) -> Result<Leaf, Torn> {
        let words = self.words(node)?;
        let count = self.count(words, 0)?;
        let mut leaf = Leaf { rows: [0; LEAF + 2], count };
        for (pair, word) in leaf.rows.chunks_exact_mut(2).zip(&words[1..=count.div_ceil(2)]) {
            let word = word.load(Relaxed);
            (pair[0], pair[1]) = (word as u32, (word >> 32) as u32);
        }
        Ok(leaf)
    }

    /// An inner node's entries, to be changed.
    pub(crate) fn inner(&self, node: u32, level: usize) -> Result<Vec<Entry>, Torn> {
        let words = self.words(node)?;
        let count = self.count(words, level)?;
        let mut entries = Vec::with_capacity(count + 1);
        entries.extend((0..count).map(|at| self.entry(words, at)));
        Ok(entries)
    }

    /// Gives the words that differ when a node is to be a leaf with these rows.
    pub(crate) fn write_leaf(&self, node: u32, rows: &[u32], mut put: impl FnMut(usize, u64)) -> Result<(), Torn> {
        let words = self.words(node)?;
        let mut word = |at: usize, value: u64| {
            if words[at].load(Relaxed) != value {
                put(self.offset(node, at), value);
            }
        };
        word(0, rows.len() as u64);
        for (at, pair) in rows.chunks(2).enumerate() {
            word(at + 1, u64::from(pair[0]) | u64::from(*pair.get(1).unwrap_or(&0)) << 32);
        }
        Ok(())
    }

    /// Gives the words that differ when a node is to be an inner one with these entries.
    pub(crate) fn write_inner(
        &self,
        node: u32,
        level: usize,
        entries: &[Entry],
        mut put: impl FnMut(usize, u64),
    ) -> Result<(), Torn> {
        let words = self.words(node)?;
        let mut word = |at: usize, value: u64| {
            if words[at].load(Relaxed) != value {
                put(self.offset(node, at), value);
            }
        };
        word(0, (level as u64) << 16 | entries.len() as u64);
        for (at, entry) in entries.iter().enumerate() {
            if self.fan == NARROW {
                word(1 + at, (entry.head >> 64) as u64);
            } else {
                word(1 + at * 2, (entry.head >> 64) as u64);
                word(2 + at * 2, entry.head as u64);
            }
            word(self.child_word(at), u64::from(entry.row) << 32 | u64::from(entry.child));
        }
        Ok(())
    }
}
