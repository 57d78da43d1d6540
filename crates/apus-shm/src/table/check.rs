//! Looks whether everything in a table agrees with everything else: of what came from a file, in tests, and for finding
//! out what happened to a table. It believes nothing that it reads.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use super::cells::KEY;
use super::heap::{self, CLASSES, Text, WORD, class_bytes, class_of};
use super::keys::{BUCKETS, bucket_of};
use super::layout::{BLOCK_BITS, Finder};
use super::schema::{Key, Kind, RowBuffer};
use super::segment::IDLE;
use super::store::Store;
use super::{Table, hash};

type Checked = Result<(), String>;

fn agree(condition: bool, otherwise: impl FnOnce() -> String) -> Checked {
    if condition { Ok(()) } else { Err(otherwise()) }
}

impl Table {
    /// Walks the whole table with all its locks held and says what does not agree, if anything: rows against keys, free
    /// rows, the heap's blocks, counts, indexes.
    pub fn check(&self) -> Result<(), String> {
        let store = &self.store;
        let everything = store.everything();
        for at in 0..store.plan.partitions {
            store.check_quiet(at).map_err(|what| format!("partition {at}: {what}"))?;
        }
        let (count, rows) = (store.head().count.load(Relaxed), store.len());
        let suspect = store.head().suspect.load(Relaxed) != 0;
        agree(store.every_id_fits || count == rows || (suspect && count > rows), || {
            format!("{count} rows are counted, there are {rows}")
        })?;
        store.check_contents()?;
        drop(everything);
        Ok(())
    }
}

/// Rows of a partition that were seen.
struct Seen {
    first: u64,
    rows: Vec<bool>,
    count: u64,
}

impl Seen {
    /// Of the `end` rows from `first` on.
    fn new(first: u64, end: u64) -> Self {
        Self { first, rows: vec![false; end as usize], count: 0 }
    }

    /// Whether the row is one of them.
    fn holds(&self, row: u32) -> bool {
        u64::from(row).checked_sub(self.first).is_some_and(|at| at < self.rows.len() as u64)
    }

    /// Whether a row that is one of them had not been seen.
    fn insert(&mut self, row: u32) -> bool {
        let new = !std::mem::replace(&mut self.rows[(u64::from(row) - self.first) as usize], true);
        self.count += u64::from(new);
        new
    }
}

impl Store {
    fn check_quiet(&self, at: usize) -> Checked {
        let segment = self.segment(at);
        agree(segment.still().is_some(), || "a change is under way".into())?;
        agree(segment.logged.load(Relaxed) == 0, || "the journal is not empty".into())?;
        agree(segment.work.load(Relaxed) == IDLE, || "work is under way".into())
    }

    /// Whether the rows and indexes agree, wherever they came from. The caller holds all locks.
    pub(super) fn check_contents(&self) -> Checked {
        for at in 0..self.plan.partitions {
            self.check_segment(at).map_err(|what| format!("partition {at}: {what}"))?;
        }
        if !self.deferred() {
            for (at, order) in self.orders.iter().enumerate() {
                order.check(self).map_err(|what| format!("index {at}: {what}"))?;
            }
        }
        Ok(())
    }

    fn check_segment(&self, at: usize) -> Checked {
        let segment = self.segment(at);
        let rows = match self.plan.finder {
            Finder::Texts { .. } => self.check_chains(at)?,
            Finder::Ids { bits, blocks } => self.check_bits(at, bits, blocks),
        };
        let num = segment.num.load(Relaxed);
        agree(rows.len() as u64 == num, || format!("{num} rows are counted, {} are found", rows.len()))?;
        self.check_heap(at, &rows)
    }

    fn check_chains(&self, at: usize) -> Result<Vec<u32>, String> {
        let Finder::Texts { buckets, buckets_each, heads, stride } = self.plan.finder else { return Ok(Vec::new()) };
        let segment = self.segment(at);
        let end = segment.end.load(Relaxed);
        let (first, most) = ((at as u64) << self.plan.row_bits, 1u64 << self.plan.row_bits);
        agree(end <= most, || format!("rows end at {end}, there is room for {most}"))?;
        let more = segment.buckets.load(Relaxed);
        let room = (buckets_each as u64 / 4).saturating_sub(BUCKETS);
        agree(more <= room, || format!("{more} buckets more than {BUCKETS}, there is room for {room}"))?;
        let count = BUCKETS + more;
        let mut seen = Seen::new(first, end);
        let mut rows = Vec::new();
        for bucket in 0..count {
            let mut link = buckets + at * buckets_each + bucket as usize * 4;
            while let Some(row) = self.region().at::<AtomicU32>(link).load(Relaxed).checked_sub(1) {
                agree(seen.holds(row), || format!("row {row} is not of this partition"))?;
                agree(seen.insert(row), || format!("row {row} is reached twice"))?;
                self.check_key(at, row, bucket, count)?;
                rows.push(row);
                link = heads + row as usize * stride;
            }
        }
        let mut free = segment.free_row.load(Relaxed) as u32;
        while let Some(row) = free.checked_sub(1) {
            agree(seen.holds(row), || format!("free row {row} is not of this partition"))?;
            agree(seen.insert(row), || format!("row {row} is free and used, or free twice"))?;
            let (next, _, key) = self.head_words(heads + row as usize * stride);
            agree(key == 0, || format!("free row {row} has a key"))?;
            free = next;
        }
        agree(seen.count == end, || format!("{} rows are used or free, of {end}", seen.count))?;
        Ok(rows)
    }

    fn check_key(&self, at: usize, row: u32, bucket: u64, count: u64) -> Checked {
        let mut buffer = RowBuffer::new();
        agree(self.key_of(row, &mut buffer), || format!("row {row} has no key"))?;
        let Key::Text(text) = buffer.key() else { return Err(format!("row {row} has an id")) };
        let hash = hash::hash(self.seed(), text);
        let own = (hash >> 32) as usize & (self.plan.partitions - 1);
        agree(own == at && bucket_of(count, hash as u32) == bucket, || {
            format!("row {row} has a key of partition {own}, and lies in bucket {bucket} of {count}")
        })?;
        let found = self.row_of(buffer.key());
        agree(found == Some(row), || format!("the key of row {row} finds {found:?}"))
    }

    fn check_bits(&self, at: usize, bits: usize, blocks: usize) -> Vec<u32> {
        let mut rows = Vec::new();
        let mut next = 0;
        while let Some(block) = self.next_block(blocks, next) {
            next = block + 1;
            let first = u64::from(block) << BLOCK_BITS;
            for row in first..(first + (1 << BLOCK_BITS)).min(self.rows_end().into()) {
                let word = self.region().at::<AtomicU64>(bits + (row / 64) as usize * WORD).load(Relaxed);
                if self.segment_of(row as u32) == at && word >> (row % 64) & 1 != 0 {
                    rows.push(row as u32);
                }
            }
        }
        rows
    }

    /// The blocks of rows and the free ones cover what was ever used of the heap, once.
    fn check_heap(&self, at: usize, rows: &[u32]) -> Checked {
        let heap = self.heap(at);
        let mut blocks = Vec::new();
        let mut note = |word: u64, what: &str, row: u32| match heap::parse(word) {
            Some(Text::Block(at, len)) if class_of(len) < CLASSES => {
                blocks.push((at, class_bytes(class_of(len))));
                Ok(())
            }
            Some(Text::Inline(..)) => Ok(()),
            _ => Err(format!("{what} of row {row} is no text: {word:#x}")),
        };
        for &row in rows {
            if let Some(head) = self.row_head(row) {
                note(self.region().at::<AtomicU64>(head + KEY).load(Relaxed), "the key", row)?;
            }
            for (column, place) in self.plan.places.iter().enumerate() {
                if matches!(place.kind, Kind::Text { .. }) {
                    note(self.raw(row, column), "a cell", row)?;
                }
            }
        }
        for class in 0..CLASSES {
            let mut next = heap.segment.free[class].load(Relaxed);
            while next != 0 {
                let at = (next as usize - 1).saturating_mul(WORD);
                agree(at < heap.bytes && blocks.len() <= heap.bytes / WORD, || format!("free block at {at}"))?;
                blocks.push((at, class_bytes(class)));
                next = self.region().at::<AtomicU64>(heap.base + at).load(Relaxed);
            }
        }
        blocks.sort_unstable();
        let mut end = 0;
        for (at, bytes) in blocks {
            agree(at == end, || format!("the heap's blocks do not follow each other: {at} after {end}"))?;
            end = at + bytes;
        }
        let used = heap.segment.heap_end.load(Relaxed);
        agree(used <= heap.bytes as u64, || format!("{used} bytes of the heap are used, of {}", heap.bytes))?;
        agree(used == end as u64, || format!("{used} bytes of the heap are used, blocks end at {end}"))
    }
}
