//! The memory of a table, its locks, and how it is read while others write.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::TableError;
use super::dictionary::Dictionary;
use super::heap::Heap;
pub(crate) use super::layout::ColumnPlace;
use super::layout::{Finder, PARTITIONS_MOST, Plan};
use super::order::Order;
use super::schema::{Column, Keys, Schema};
use super::segment::{BUSY, EMPTYING, Head, IDLE, JOURNAL, JOURNAL_BYTES, SEGMENT, Segment};
use super::tx::{self, Change};
use crate::{Guard, Region, RobustMutex};

/// A reader that finds a change under way this often takes the mutex.
const TRIES: usize = 64;

/// The memory of a table. Reading it is always sound; what was read holds only when the sequence count says so
/// afterwards.
#[derive(Debug)]
pub(crate) struct Store {
    region: Region,
    schema: Schema,
    pub(super) plan: Plan,
    pub(super) orders: Vec<Order>,
    pub(super) dictionaries: Vec<Option<Dictionary>>,
    /// Whether there is a dictionary.
    pub(super) coded: bool,
    /// As many rows fit as there are ids: nothing needs to be counted.
    pub(super) every_id_fits: bool,
}

/// What a writer holds: its partition, and the indexes' segment when they are kept up to date and may change.
#[derive(Debug)]
pub(super) struct Writer<'a> {
    store: &'a Store,
    pub(super) segment: usize,
    // Dropped in this order: the partition first.
    _partition: Guard<'a>,
    orders: Option<Guard<'a>>,
}

/// All locks.
#[derive(Debug)]
pub(super) struct Everything<'a> {
    _partitions: Vec<Guard<'a>>,
    _orders: Guard<'a>,
}

impl Store {
    pub(super) fn new(schema: Schema) -> Result<Self, TableError> {
        schema.check()?;
        let no_memory = |bytes: usize, error: std::io::Error| {
            TableError::NoMemory(format!(
                "no address space of {bytes} bytes for the table ({error}): make it for fewer rows or shorter texts"
            ))
        };
        let plan = Plan::new(&schema)?;
        let region = Region::new(plan.bytes).map_err(|error| no_memory(plan.bytes, error))?;
        for segment in 0..=plan.partitions {
            let mutex = region.at::<RobustMutex>(plan.segments + segment * SEGMENT);
            mutex.init().map_err(|error| no_memory(SEGMENT, error))?;
        }
        let mut dictionaries = Vec::new();
        for (column, area) in schema.columns.iter().zip(&plan.dictionaries) {
            dictionaries.push(match area {
                Some(area) => {
                    Some(Dictionary::of(&region, *area, column).map_err(|error| no_memory(area.bytes, error))?)
                }
                None => None,
            });
        }
        let orders = schema.indexes.iter().zip(&plan.orders);
        let orders = orders.map(|(index, area)| Order::new(index, &schema.columns, area.offset, area.bytes)).collect();
        let coded = dictionaries.iter().any(Option::is_some);
        let every_id_fits = schema.keys == Keys::Ids { most: schema.rows };
        let store = Self { region, schema, plan, orders, dictionaries, coded, every_id_fits };
        store.reseed();
        Ok(store)
    }

    /// Takes a seed for the hash from the system's randomness, by way of the standard library's.
    fn reseed(&self) {
        use std::hash::{BuildHasher, RandomState};
        for (at, word) in self.head().seed.iter().enumerate() {
            word.store(RandomState::new().hash_one(at), Relaxed);
        }
    }

    /// The memory.
    #[inline]
    pub(crate) fn region(&self) -> &Region {
        &self.region
    }

    /// What the table was made from.
    pub(crate) fn schema(&self) -> &Schema {
        &self.schema
    }

    /// A column's description.
    pub(super) fn describe(&self, column: usize) -> &Column {
        &self.schema.columns[column]
    }

    /// Where a column's cells lie.
    ///
    /// # Panics
    /// When there is no such column.
    #[inline]
    pub(crate) fn column(&self, column: usize) -> &ColumnPlace {
        &self.plan.places[column]
    }

    /// Row numbers lie below.
    #[inline]
    pub(crate) fn rows_end(&self) -> u32 {
        self.plan.rows_end
    }

    #[inline]
    pub(super) fn head(&self) -> &Head {
        self.region.at(0)
    }

    /// Where a segment lies. The segment after the partitions' is that of the indexes.
    #[inline]
    pub(super) fn segment_at(&self, segment: usize) -> usize {
        self.plan.segments + segment * SEGMENT
    }

    #[inline]
    pub(super) fn segment(&self, segment: usize) -> &Segment {
        self.region.at(self.segment_at(segment))
    }

    #[inline]
    pub(super) fn orders_segment(&self) -> &Segment {
        self.segment(self.plan.partitions)
    }

    #[inline]
    fn journal(&self, segment: usize) -> &[AtomicU64] {
        self.region.slice(self.plan.journals + segment * JOURNAL_BYTES, 2 * JOURNAL)
    }

    #[inline]
    pub(super) fn heap(&self, segment: usize) -> Heap<'_> {
        Heap {
            segment: self.segment(segment),
            segment_at: self.segment_at(segment),
            base: self.plan.heaps + segment * self.plan.heap_each,
            bytes: self.plan.heap_each,
        }
    }

    /// Whether the ordered indexes are not kept up to date: they must not be read, then.
    #[inline]
    pub(crate) fn deferred(&self) -> bool {
        self.head().deferred.load(Relaxed) != 0
    }

    /// Whether writers keep ordered indexes up to date.
    #[inline]
    fn ordered(&self) -> bool {
        !self.orders.is_empty() && !self.deferred()
    }

    /// The seed of the hash. It changes only when the whole contents are replaced.
    #[inline]
    pub(super) fn seed(&self) -> [u64; 2] {
        let [first, second] = &self.head().seed;
        [first.load(Relaxed), second.load(Relaxed)]
    }

    // Locks.

    #[inline]
    fn lock_segment(&self, segment: usize) -> Guard<'_> {
        self.segment(segment).mutex.lock(|| self.repair(segment))
    }

    pub(super) fn lock_orders(&self) -> Guard<'_> {
        let segment = self.orders_segment();
        segment.mutex.lock(|| {
            // Who held this may have died in a change of any partition, whose journal has the indexes' words, too.
            for segment in 0..self.plan.partitions {
                drop(self.lock_segment(segment));
            }
            if self.must_empty(segment) {
                self.empty_orders();
            }
            self.head().torn.store(0, Relaxed);
            segment.work.store(IDLE, Relaxed);
            segment.close();
        })
    }

    /// After a death, with the segment's mutex: undoes or completes what the dead had begun.
    #[cold]
    fn repair(&self, at: usize) {
        let segment = self.segment(at);
        self.head().suspect.store(1, Relaxed);
        tx::undo(&self.region, segment, self.journal(at));
        if self.must_empty(segment) {
            self.empty_segment(at);
        }
        segment.work.store(IDLE, Relaxed);
        segment.close();
    }

    fn must_empty(&self, segment: &Segment) -> bool {
        segment.work.load(Relaxed) == BUSY && self.head().phase.load(Relaxed) == EMPTYING
    }

    /// What a change of a row needs that changes no cell of an index: such changes of different partitions do not wait
    /// for each other. Who reads cells by way of an index looks at the counts of their partitions, too ([`Lanes`]).
    #[inline]
    pub(super) fn light_writer(&self, segment: usize) -> Writer<'_> {
        Writer { store: self, segment, _partition: self.lock_segment(segment), orders: None }
    }

    /// What a change of a row in this partition needs.
    #[inline]
    pub(super) fn writer(&self, segment: usize) -> Writer<'_> {
        loop {
            let ordered = self.ordered();
            let orders = ordered.then(|| self.lock_orders());
            let partition = self.lock_segment(segment);
            // Who switches holds all locks, so from here on it stays as it is.
            if self.ordered() == ordered {
                return Writer { store: self, segment, _partition: partition, orders };
            }
        }
    }

    /// All locks: nobody writes.
    pub(super) fn everything(&self) -> Everything<'_> {
        let orders = self.lock_orders();
        let partitions = (0..self.plan.partitions).map(|segment| self.lock_segment(segment)).collect();
        Everything { _partitions: partitions, _orders: orders }
    }

    // Reading.

    /// Runs `look` until nothing of the partition changed meanwhile; after some tries, with the mutex.
    #[inline]
    pub(super) fn look<T>(&self, segment: usize, mut look: impl FnMut() -> T) -> T {
        let guarded = self.segment(segment);
        for _ in 0..TRIES {
            if let Some(now) = guarded.still() {
                let seen = look();
                if guarded.unmoved(now) {
                    return seen;
                }
            }
            std::hint::spin_loop();
        }
        self.look_locked(segment, &mut look)
    }

    #[cold]
    fn look_locked<T>(&self, segment: usize, look: &mut dyn FnMut() -> T) -> T {
        let _guard = self.lock_segment(segment);
        look()
    }

    /// Runs `look` until no index changed meanwhile; after some tries, with all mutexes. For tables whose indexes are
    /// kept up to date: who makes or removes rows or changes cells of an index moves that segment's count. What else
    /// `look` reads it guards by [`Lanes`]. None from it means that what it saw was wild.
    pub(crate) fn read<T>(&self, mut look: impl FnMut(&Self) -> Option<T>) -> Option<T> {
        let guarded = self.orders_segment();
        for _ in 0..TRIES {
            if let Some(now) = guarded.still() {
                let seen = look(self);
                if guarded.unmoved(now) && seen.is_some() {
                    return seen;
                }
            }
            std::hint::spin_loop();
        }
        let _guard = self.everything();
        look(self)
    }

    pub(super) fn texts(&self) -> bool {
        matches!(self.plan.finder, Finder::Texts { .. })
    }
}

impl<'a> Writer<'a> {
    /// Begins a change of several words.
    #[inline]
    pub(super) fn change(&self) -> Change<'a> {
        let store = self.store;
        let orders = self.orders.as_ref().map(|_| store.orders_segment());
        Change::begin(&store.region, store.segment(self.segment), orders, store.journal(self.segment))
    }

    /// Whether the ordered indexes are to be kept up to date.
    #[inline]
    pub(super) fn ordered(&self) -> bool {
        self.orders.is_some()
    }

    /// A change of one word, which no index knows: whoever comes after a death sees the old value or the new one, so it
    /// needs no journal. The count is odd meanwhile, so that nobody takes this word from before and another one from
    /// after, though that lies in another partition.
    #[inline]
    pub(super) fn put_one(&self, offset: usize, width: usize, value: u64) {
        let segment = self.store.segment(self.segment);
        segment.open();
        tx::store_sized(&self.store.region, offset, width, value);
        segment.close();
    }
}

/// The partitions of which somebody reads cells, and their counts before the first of them. All that was read is of
/// one moment if none has moved in the end: that of the first look at the last of them.
#[derive(Debug)]
pub(super) struct Lanes {
    /// A bit a partition.
    seen: u64,
    counts: [u64; PARTITIONS_MOST as usize],
}

impl Lanes {
    /// None so far.
    pub(super) fn new() -> Self {
        Self { seen: 0, counts: [0; PARTITIONS_MOST as usize] }
    }

    /// Forgets them.
    pub(super) fn clear(&mut self) {
        self.seen = 0;
    }

    /// A cell of this row will be read. False: somebody is changing its partition.
    #[inline]
    pub(super) fn enter(&mut self, store: &Store, row: u32) -> bool {
        let segment = store.segment_of(row);
        if self.seen >> segment & 1 != 0 {
            return true;
        }
        let Some(now) = store.segment(segment).still() else { return false };
        self.counts[segment] = now;
        self.seen |= 1 << segment;
        true
    }

    /// Whether all that was read since is of one moment.
    pub(super) fn unmoved(&self, store: &Store) -> bool {
        let mut left = self.seen;
        while left != 0 {
            let segment = left.trailing_zeros() as usize;
            if !store.segment(segment).unmoved(self.counts[segment]) {
                return false;
            }
            left &= left - 1;
        }
        true
    }
}
