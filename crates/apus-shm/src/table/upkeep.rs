//! What concerns the table as a whole: emptying it, its indexes' modes, its figures, and its contents as bytes.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::keys::BUCKETS;
use super::layout::{Area, BLOCK_BITS, Finder};
use super::schema::{Memory, Stats};
use super::segment::{AFTER, BEFORE, BUSY, EMPTYING, IDLE, KEPT, SEGMENT, in_order};
use super::store::{Everything, Store};
use super::{Table, TableError, hash};
use crate::Region;

/// Raised whenever the layout of a table's memory changes: a snapshot of another one is refused.
const LAYOUT_VERSION: u64 = 2;
const PAGE: usize = 4096;
/// Blocks of ids that are this near to each other are one range.
const NEAR: u32 = 16;

impl Table {
    /// Rows.
    pub fn len(&self) -> u64 {
        let store = &self.store;
        (0..store.plan.partitions).map(|at| store.look(at, || store.segment(at).num.load(Relaxed))).sum()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Rows that fit.
    pub fn capacity(&self) -> u64 {
        self.store.schema().rows
    }

    /// Removes all rows, at once for all who look, and gives their memory back. Dictionaries are emptied, too.
    pub fn clear(&self) {
        let store = &self.store;
        let everything = store.everything();
        store.mark(&everything);
        store.enter(EMPTYING);
        store.empty();
        store.unmark();
    }

    /// Counts.
    pub fn stats(&self) -> Stats {
        let store = &self.store;
        let mut stats = Stats { num: self.len(), total_slice_num: self.capacity(), ..Stats::default() };
        for segment in (0..store.plan.partitions).map(|segment| store.segment(segment)) {
            stats.conflict_count += segment.conflicts.load(Relaxed);
            stats.conflict_max_level = stats.conflict_max_level.max(segment.deepest.load(Relaxed));
            stats.insert_count += segment.inserts.load(Relaxed);
            stats.update_count += segment.updates.load(Relaxed);
            stats.delete_count += segment.removes.load(Relaxed);
        }
        stats.available_slice_num = stats.total_slice_num.saturating_sub(stats.num);
        stats
    }

    /// Memory that is kept for it, and memory that it takes.
    pub fn memory(&self) -> Memory {
        let store = &self.store;
        let pages = |bytes: usize| bytes.next_multiple_of(PAGE) as u64;
        let journals = store.plan.partitions * PAGE;
        let used: u64 = store.ranges().iter().map(|area| pages(area.bytes)).sum();
        Memory { reserved: store.region().size() as u64, used: used + pages(journals) }
    }

    /// Tells all processes that the table is not to be used any more. Its memory stays: whoever is using it goes on.
    pub fn give_up(&self) {
        self.store.head().given_up.store(1, Relaxed);
    }

    /// Whether a process has given the table up.
    #[inline]
    pub fn is_given_up(&self) -> bool {
        self.store.head().given_up.load(Relaxed) != 0
    }

    /// From now on, changes leave the ordered indexes alone, and queries fail, until
    /// [`build_indexes`](Self::build_indexes): for loading much at once.
    pub fn defer_indexes(&self) {
        let everything = self.store.everything();
        if !self.store.orders.is_empty() {
            // Writers will no longer move this segment's count: who is reading an index must notice now.
            self.store.orders_segment().open();
            self.store.head().deferred.store(1, Relaxed);
            self.store.orders_segment().close();
        }
        drop(everything);
    }

    /// Whether the ordered indexes are deferred.
    pub fn indexes_deferred(&self) -> bool {
        self.store.deferred()
    }

    /// Builds the ordered indexes from the rows, and keeps them up to date from then on. Whoever would change the table
    /// waits meanwhile; reading rows goes on.
    pub fn build_indexes(&self) -> Result<(), TableError> {
        let store = &self.store;
        let everything = store.everything();
        if store.orders.is_empty() {
            return Ok(());
        }
        // A death or an error in here leaves them deferred: nobody reads half an index.
        store.head().deferred.store(1, Relaxed);
        store.orders_segment().open();
        in_order();
        let built = store.orders.iter().try_for_each(|order| {
            order.clear(store.region());
            order.build(store)
        });
        in_order();
        if built.is_ok() {
            store.head().deferred.store(0, Relaxed);
        }
        store.orders_segment().close();
        drop(everything);
        built
    }
}

impl Store {
    /// Marks all segments busy. Until the first phase is entered, a death leaves everything as it was.
    fn mark(&self, _: &Everything<'_>) {
        self.head().torn.store(1, Relaxed);
        self.enter(BEFORE);
        for segment in (0..=self.plan.partitions).map(|segment| self.segment(segment)) {
            segment.open();
            in_order();
            segment.work.store(BUSY, Relaxed);
        }
    }

    fn enter(&self, phase: u64) {
        in_order();
        self.head().phase.store(phase, Relaxed);
        in_order();
    }

    /// What the segments hold is what they are to hold.
    fn unmark(&self) {
        self.enter(AFTER);
        self.head().torn.store(0, Relaxed);
        for segment in (0..=self.plan.partitions).map(|segment| self.segment(segment)) {
            segment.work.store(IDLE, Relaxed);
            in_order();
            segment.close();
        }
    }

    /// Empties all segments, which are busy.
    fn empty(&self) {
        for segment in 0..self.plan.partitions {
            self.empty_segment(segment);
        }
        self.empty_orders();
        self.head().count.store(0, Relaxed);
    }

    /// Empties a partition, with its lock. May be broken off and begun again.
    pub(super) fn empty_segment(&self, at: usize) {
        let segment = self.segment(at);
        let heap = self.heap(at);
        in_order();
        match self.plan.finder {
            Finder::Texts { buckets, buckets_each, .. } => {
                let base = buckets + at * buckets_each;
                self.region().release(base, buckets_each);
                let first: &[AtomicU64] = self.region().slice(base, BUCKETS as usize / 2);
                for word in first {
                    word.store(0, Relaxed);
                }
                for (area, stride) in &self.plan.row_areas {
                    self.region()
                        .release(area.offset + (at << self.plan.row_bits) * stride, stride << self.plan.row_bits);
                }
            }
            Finder::Ids { bits, blocks } => self.empty_ids(at, bits, blocks),
        }
        self.region().release(heap.base, (segment.heap_end.load(Relaxed) as usize).min(heap.bytes));
        in_order();
        let words = [&segment.num, &segment.end, &segment.free_row, &segment.buckets, &segment.heap_end];
        for word in words.into_iter().chain(&segment.free) {
            word.store(0, Relaxed);
        }
    }

    fn empty_ids(&self, at: usize, bits: usize, blocks: usize) {
        let mut next = 0;
        while let Some(block) = self.next_block(blocks, next) {
            next = block + 1;
            let first = (block as usize) << BLOCK_BITS;
            if self.segment_of(first as u32) != at {
                continue;
            }
            let count = (1 << BLOCK_BITS).min(self.rows_end() as usize - first);
            for word in self.region().slice::<AtomicU64>(bits + first / 8, count.div_ceil(64)) {
                word.store(0, Relaxed);
            }
            for (area, stride) in &self.plan.row_areas {
                self.region().release(area.offset + first * stride, count * stride);
            }
            let word = self.region().at::<AtomicU64>(blocks + (block >> 6) as usize * 8);
            in_order();
            word.fetch_and(!(1 << (block & 63)), Relaxed);
        }
    }

    /// Empties the indexes and the dictionaries, with the indexes' lock.
    pub(super) fn empty_orders(&self) {
        for (order, area) in self.orders.iter().zip(&self.plan.orders) {
            let used = order.used(self.region()).min(area.bytes);
            order.clear(self.region());
            self.region().release(area.offset + PAGE, used.saturating_sub(PAGE));
        }
        for dictionary in self.dictionaries.iter().flatten() {
            dictionary.clear(self.region());
        }
    }

    /// The bytes that make up the contents, as far as they are in use: all but locks, counts of changes, and journals.
    /// To be written in this order.
    pub(crate) fn ranges(&self) -> Vec<Area> {
        let plan = &self.plan;
        let mut ranges = vec![Area { offset: 0, bytes: 16 }];
        for segment in 0..plan.partitions {
            ranges.push(Area { offset: self.segment_at(segment) + KEPT, bytes: SEGMENT - KEPT });
        }
        match plan.finder {
            Finder::Texts { buckets, buckets_each, .. } => {
                for segment in 0..plan.partitions {
                    let end = self.segment(segment).end.load(Relaxed) as usize;
                    let count = BUCKETS + self.segment(segment).buckets.load(Relaxed);
                    ranges.push(Area { offset: buckets + segment * buckets_each, bytes: count as usize * 4 });
                    for (area, stride) in &plan.row_areas {
                        ranges.push(Area {
                            offset: area.offset + (segment << plan.row_bits) * stride,
                            bytes: end * stride,
                        });
                    }
                }
            }
            Finder::Ids { bits, blocks } => self.id_ranges(bits, blocks, &mut ranges),
        }
        for segment in 0..plan.partitions {
            ranges.push(Area {
                offset: self.heap(segment).base,
                bytes: self.segment(segment).heap_end.load(Relaxed) as usize,
            });
        }
        for (order, area) in self.orders.iter().zip(&plan.orders) {
            ranges.push(Area { offset: area.offset, bytes: order.used(self.region()) });
        }
        for dictionary in self.dictionaries.iter().flatten() {
            ranges.extend(dictionary.ranges(self.region()));
        }
        ranges.retain(|range| range.bytes > 0);
        ranges
    }

    /// The blocks of ids that were ever used; what lies between is left out when it is much.
    fn id_ranges(&self, bits: usize, blocks: usize, ranges: &mut Vec<Area>) {
        // Which blocks are used comes first: emptying what was half-written goes by it.
        let notes = ranges.len();
        ranges.push(Area { offset: blocks, bytes: 0 });
        let mut next = self.next_block(blocks, 0);
        while let Some(first) = next {
            let mut end = first + 1;
            next = self.next_block(blocks, end);
            while let Some(near) = next.filter(|near| *near <= end + NEAR) {
                end = near + 1;
                next = self.next_block(blocks, end);
            }
            ranges[notes].bytes = end.div_ceil(64) as usize * 8;
            let from = (first as usize) << BLOCK_BITS;
            let count = ((end as usize) << BLOCK_BITS).min(self.rows_end() as usize) - from;
            ranges.push(Area { offset: bits + from / 8, bytes: count.div_ceil(64) * 8 });
            for (area, stride) in &self.plan.row_areas {
                ranges.push(Area { offset: area.offset + from * stride, bytes: count * stride });
            }
        }
    }

    /// A number that only tables of the same layout have.
    pub(crate) fn fingerprint(&self) -> u64 {
        let text = format!("{LAYOUT_VERSION} {:?} {:?}", self.schema(), self.plan);
        hash::hash([0x6170_7573, LAYOUT_VERSION], text.as_bytes())
    }

    /// Runs `save` while nobody changes anything. Readers go on.
    pub(crate) fn freeze<T>(&self, save: impl FnOnce(&Self) -> T) -> T {
        let everything = self.everything();
        let saved = save(self);
        drop(everything);
        saved
    }

    /// Empties the table and runs `fill`, which writes what [`ranges`](Self::ranges) said at another time; nobody sees
    /// anything of it before it is complete. When `fill` fails, or dies, or what it wrote contradicts itself, the table
    /// is empty. `deferred` says whether the new contents' indexes are.
    pub(crate) fn replace(
        &self,
        deferred: bool,
        fill: impl FnOnce(&Region) -> Result<(), TableError>,
        contradiction: impl FnOnce(String) -> TableError,
    ) -> Result<(), TableError> {
        let everything = self.everything();
        self.mark(&everything);
        self.enter(EMPTYING);
        self.empty();
        let before = self.head().deferred.load(Relaxed);
        let filled = fill(self.region()).and_then(|()| {
            self.head().deferred.store(u64::from(deferred && !self.orders.is_empty()), Relaxed);
            self.check_contents().map_err(contradiction)
        });
        if filled.is_err() {
            self.empty();
            self.head().deferred.store(before, Relaxed);
        }
        self.head().count.store(self.len(), Relaxed);
        self.unmark();
        filled
    }
}
