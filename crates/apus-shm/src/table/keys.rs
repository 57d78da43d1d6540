//! From keys to rows.
//!
//! Text keys: a hash table with chains through the rows' heads, one in each partition. It grows by linear hashing: an
//! insertion splits at most one bucket, so there is no moment at which everything moves, and memory follows the rows.
//! Integer ids: a bit a row.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use super::cells::{HASH, KEY, NEXT};
use super::layout::{BLOCK_BITS, Finder};
use super::schema::{Key, Keys};
use super::segment::{END, FREE_ROW, MORE_BUCKETS, NUM, Segment};
use super::store::{Store, Writer};
use super::tx::{self, Change};
use super::{TableError, hash};

/// Buckets that a partition starts with.
pub(super) const BUCKETS: u64 = 64;
/// A chain is never so long: a reader that goes on so far follows links that somebody is changing.
const CHAIN_MOST: u64 = 4096;

/// A key, and where its row must be if there is one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spot<'k> {
    pub(super) segment: usize,
    pub(super) key: Key<'k>,
    hash: u32,
    /// The seed that the hash was made with, as far as it takes to notice another one.
    seed: u64,
}

/// A key whose row is to be changed, on its way: what tells of the row is being fetched already.
#[derive(Debug, Clone, Copy)]
pub struct Aim<'k> {
    pub(super) key: Key<'k>,
    pub(super) spot: Option<Spot<'k>>,
}

/// A row that was found.
#[derive(Debug, Clone, Copy)]
pub(super) struct Found {
    pub(super) row: u32,
    /// Where the link to it stands; nothing for ids.
    link: usize,
}

impl Store {
    /// Where a key's row must be. None: no row can have this key.
    #[inline]
    pub(super) fn spot<'k>(&self, key: Key<'k>) -> Option<Spot<'k>> {
        match (key, self.schema().keys) {
            (Key::Text(text), Keys::Text { longest }) if (1..=longest as usize).contains(&text.len()) => {
                let seed = self.seed();
                let hash = hash::hash(seed, text);
                let segment = (hash >> 32) as usize & (self.plan.partitions - 1);
                Some(Spot { segment, key, hash: hash as u32, seed: seed[0] })
            }
            (Key::Id(id), Keys::Ids { most }) if id < most => {
                let segment = (id >> BLOCK_BITS) as usize & (self.plan.partitions - 1);
                Some(Spot { segment, key, hash: 0, seed: 0 })
            }
            _ => None,
        }
    }

    /// What is needed to change a key's row, with the lock and the bucket on their way to the processor.
    #[inline]
    pub(super) fn aim<'k>(&self, key: Key<'k>) -> Aim<'k> {
        let spot = self.spot(key);
        if let Some(spot) = &spot {
            self.region().fetch(self.segment_at(spot.segment));
            match self.plan.finder {
                Finder::Texts { .. } => {
                    if let Some(bucket) = self.bucket_at(spot.segment, spot.hash) {
                        self.region().fetch(bucket);
                    }
                }
                Finder::Ids { bits, .. } => {
                    if let Key::Id(id) = key {
                        self.region().fetch(bits + (id >> 6) as usize * 8);
                    }
                }
            }
        }
        Aim { key, spot }
    }

    /// The same of the first row of its bucket, before its partition is locked: it is held for less time then.
    #[inline]
    pub(super) fn fetch_row(&self, spot: &Spot<'_>) {
        if let Finder::Texts { heads, stride, .. } = self.plan.finder
            && let Some(bucket) = self.bucket_at(spot.segment, spot.hash)
            && let Some(row) = self.region().at::<AtomicU32>(bucket).load(Relaxed).checked_sub(1)
        {
            self.region().fetch(heads + row as usize * stride);
        }
    }

    /// Whether the table's contents were replaced by others, hashed otherwise, since the spot was found.
    #[inline]
    fn moved(&self, spot: &Spot<'_>) -> bool {
        matches!(spot.key, Key::Text(_)) && self.head().seed[0].load(Relaxed) != spot.seed
    }

    /// What a change of this key's row needs. None: no row can have this key.
    #[inline]
    pub(super) fn writer_of<'k>(&self, key: Key<'k>) -> Option<(Spot<'k>, Writer<'_>)> {
        self.writer_at(self.spot(key)?, Self::writer)
    }

    /// The same for a spot that was found already, of a kind.
    #[inline]
    pub(super) fn writer_at<'s, 'k>(
        &'s self,
        mut spot: Spot<'k>,
        kind: impl Fn(&'s Self, usize) -> Writer<'s>,
    ) -> Option<(Spot<'k>, Writer<'s>)> {
        loop {
            let writer = kind(self, spot.segment);
            if self.coded && self.head().torn.load(Relaxed) != 0 {
                drop(writer);
                drop(self.everything());
            } else if !self.moved(&spot) {
                return Some((spot, writer));
            }
            spot = self.spot(spot.key)?;
        }
    }

    /// Runs `look` with the row of a key, until nothing of its partition changed meanwhile. None: no row can have this
    /// key.
    #[inline]
    pub(super) fn look_at<T>(&self, key: Key<'_>, mut look: impl FnMut(Option<u32>) -> T) -> Option<T> {
        loop {
            let spot = self.spot(key)?;
            let seen = self.look(spot.segment, || look(self.find(&spot).map(|found| found.row)));
            if !self.moved(&spot) {
                return Some(seen);
            }
        }
    }

    /// The row of a key.
    #[inline]
    pub(super) fn find(&self, spot: &Spot<'_>) -> Option<Found> {
        match spot.key {
            Key::Id(id) => self.exists(id as u32).then_some(Found { row: id as u32, link: 0 }),
            Key::Text(text) => self.find_text(spot, text),
        }
    }

    /// The row of a key; holds only as the sequence count says.
    pub(crate) fn row_of(&self, key: Key<'_>) -> Option<u32> {
        self.find(&self.spot(key)?).map(|found| found.row)
    }

    #[inline]
    fn find_text(&self, spot: &Spot<'_>, text: &[u8]) -> Option<Found> {
        let Finder::Texts { heads, stride, .. } = self.plan.finder else { return None };
        let mut link = self.bucket_at(spot.segment, spot.hash)?;
        for _ in 0..CHAIN_MOST {
            let row = self.region().at::<AtomicU32>(link).load(Relaxed).checked_sub(1)?;
            if row >= self.rows_end() {
                return None;
            }
            let head = heads + row as usize * stride;
            let (_, hash, key) = self.head_words(head);
            if hash == spot.hash && self.same_text(spot.segment, key, text) {
                return Some(Found { row, link });
            }
            link = head + NEXT;
        }
        None
    }

    fn buckets(&self, segment: usize) -> u64 {
        BUCKETS + self.segment(segment).buckets.load(Relaxed).min(1 << 32)
    }

    /// Where the bucket of a hash stands. None: the count of buckets is wild.
    #[inline]
    fn bucket_at(&self, segment: usize, hash: u32) -> Option<usize> {
        let Finder::Texts { buckets, buckets_each, .. } = self.plan.finder else { return None };
        let at = bucket_of(self.buckets(segment), hash) as usize * 4;
        (at < buckets_each).then_some(buckets + segment * buckets_each + at)
    }

    /// Takes a row for a new key and makes it found. Its cells are still to be written (the row is reached by nobody
    /// until the change is complete).
    pub(super) fn link(&self, change: &mut Change<'_>, spot: &Spot<'_>) -> Result<u32, TableError> {
        let (segment, at) = (self.segment(spot.segment), self.segment_at(spot.segment));
        let num = segment.num.load(Relaxed);
        let row = match (spot.key, self.plan.finder) {
            (Key::Text(text), Finder::Texts { heads, stride, .. }) => {
                self.grow(change, spot.segment, num + 1);
                let row = self.take_row(change, spot.segment)?;
                let key = self.heap(spot.segment).store(change, text)?;
                let head = heads + row as usize * stride;
                let Some(bucket) = self.bucket_at(spot.segment, spot.hash) else { return Err(self.full()) };
                let next = self.region().at::<AtomicU32>(bucket).load(Relaxed);
                change.put32(head + NEXT, next);
                change.put(head + KEY, key);
                self.region().at::<AtomicU32>(head + HASH).store(spot.hash, Relaxed);
                change.put32(bucket, row + 1);
                self.count_conflicts(segment, next);
                row
            }
            (Key::Id(id), Finder::Ids { bits, blocks }) => {
                let row = id as u32;
                self.use_block(blocks, row >> BLOCK_BITS);
                self.flip(change, bits, row);
                row
            }
            _ => return Err(bad_key(spot.key, self.schema().keys)),
        };
        change.put(at + NUM, num + 1);
        Ok(row)
    }

    /// Notes that a block of ids is used. Past the journal: other partitions' blocks have bits in the same word, and
    /// one bit too many does no harm.
    fn use_block(&self, blocks: usize, block: u32) {
        let word = self.region().at::<AtomicU64>(blocks + (block >> 6) as usize * 8);
        let bit = 1 << (block & 63);
        if word.load(Relaxed) & bit == 0 {
            word.fetch_or(bit, Relaxed);
        }
    }

    fn flip(&self, change: &mut Change<'_>, bits: usize, row: u32) {
        let at = bits + (row >> 6) as usize * 8;
        let word = self.region().at::<AtomicU64>(at).load(Relaxed);
        change.put(at, word ^ 1 << (row & 63));
    }

    fn take_row(&self, change: &mut Change<'_>, segment: usize) -> Result<u32, TableError> {
        let (words, at) = (self.segment(segment), self.segment_at(segment));
        if let Some(row) = (words.free_row.load(Relaxed) as u32).checked_sub(1) {
            let next = self.row_head(row).map_or(0, |head| self.head_words(head).0);
            change.put(at + FREE_ROW, next.into());
            return Ok(row);
        }
        let end = words.end.load(Relaxed);
        if end >> self.plan.row_bits != 0 {
            return Err(self.full());
        }
        change.put(at + END, end + 1);
        Ok((segment as u32) << self.plan.row_bits | end as u32)
    }

    /// Removes a row and what its key had in the heap.
    pub(super) fn unlink(&self, change: &mut Change<'_>, spot: &Spot<'_>, found: Found) {
        let at = self.segment_at(spot.segment);
        let segment = self.segment(spot.segment);
        match self.plan.finder {
            Finder::Texts { heads, stride, .. } => {
                let head = heads + found.row as usize * stride;
                let (next, _, key) = self.head_words(head);
                change.put32(found.link, next);
                self.heap(spot.segment).free(change, key);
                change.put(head + KEY, 0);
                change.put32(head + NEXT, segment.free_row.load(Relaxed) as u32);
                change.put(at + FREE_ROW, u64::from(found.row) + 1);
            }
            Finder::Ids { bits, .. } => self.flip(change, bits, found.row),
        }
        change.put(at + NUM, segment.num.load(Relaxed) - 1);
    }

    /// Splits a bucket when there are more rows than buckets.
    fn grow(&self, change: &mut Change<'_>, segment: usize, rows: u64) {
        let Finder::Texts { buckets, buckets_each, heads, stride } = self.plan.finder else { return };
        let count = self.buckets(segment);
        if rows <= count || (count as usize) * 4 >= buckets_each {
            return;
        }
        let base = buckets + segment * buckets_each;
        let (low, high) = (base + (count as usize - (1 << count.ilog2())) * 4, base + count as usize * 4);
        let mut row = self.region().at::<AtomicU32>(low).load(Relaxed);
        // Beyond the last bucket nobody looks: its old value does not matter.
        tx::store_sized(self.region(), high, 4, 0);
        let (mut low_link, mut high_link) = (low, high);
        while row != 0 {
            let head = heads + (row as usize - 1) * stride;
            let (next, hash, _) = self.head_words(head);
            let link = if bucket_of(count + 1, hash) == count { &mut high_link } else { &mut low_link };
            self.relink(change, *link, row);
            *link = head + NEXT;
            row = next;
        }
        self.relink(change, low_link, 0);
        self.relink(change, high_link, 0);
        change.put(self.segment_at(segment) + MORE_BUCKETS, count + 1 - BUCKETS);
    }

    fn relink(&self, change: &mut Change<'_>, link: usize, row: u32) {
        if self.region().at::<AtomicU32>(link).load(Relaxed) != row {
            change.put32(link, row);
        }
    }

    fn count_conflicts(&self, segment: &Segment, next: u32) {
        let (mut row, mut depth) = (next, 0);
        while let Some(head) = row.checked_sub(1).and_then(|row| self.row_head(row)) {
            depth += 1;
            row = self.head_words(head).0;
        }
        if depth > 0 {
            Segment::bump(&segment.conflicts);
            segment.deepest.fetch_max(depth, Relaxed);
        }
    }

    /// The error when no row is left.
    #[cold]
    pub(super) fn full(&self) -> TableError {
        TableError::Full { rows: self.schema().rows }
    }
}

/// The bucket of a hash among `count`.
#[inline]
pub(super) fn bucket_of(count: u64, hash: u32) -> u64 {
    let level = count.ilog2();
    let wide = u64::from(hash) & ((2 << level) - 1);
    if wide < count { wide } else { wide & ((1 << level) - 1) }
}

/// Why no row can have this key.
#[cold]
pub(super) fn bad_key(key: Key<'_>, keys: Keys) -> TableError {
    TableError::Key(match (key, keys) {
        (Key::Text([]), Keys::Text { .. }) => "a key must not be empty".into(),
        (Key::Text(text), Keys::Text { longest }) => {
            format!("a key has at most {longest} bytes, this one has {}", text.len())
        }
        (Key::Id(id), Keys::Ids { most }) => format!("the greatest id of this table is {}, not {id}", most - 1),
        (Key::Text(_), Keys::Ids { .. }) => "this table's keys are integers".into(),
        (Key::Id(_), Keys::Text { .. }) => "this table's keys are texts".into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_split_moves_one_bucket_only() {
        for count in BUCKETS..1000 {
            let from = count - (1 << count.ilog2());
            for hash in (0..100_000u32).step_by(37) {
                let (before, after) = (bucket_of(count, hash), bucket_of(count + 1, hash));
                assert!(before < count && (after == before || (before == from && after == count)), "{count} {hash}");
            }
        }
    }
}
