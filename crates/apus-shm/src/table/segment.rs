//! A segment: what one mutex and one sequence count guard. Every partition of a table has one; one more guards the
//! ordered indexes.
//!
//! Locks are taken in this order: the segment of the indexes, partitions by rising number, the mutex of a dictionary.

use std::mem::offset_of;
use std::sync::atomic::{AtomicU64, Ordering::Acquire, Ordering::Relaxed, Ordering::Release, compiler_fence, fence};

use super::heap::CLASSES;
use crate::{RobustMutex, Shared};

/// Bytes that go from core to core at once.
const LINE: usize = 64;
/// Bytes from one segment to the next.
pub(super) const SEGMENT: usize = 1024;
/// Changes that one transaction can hold: far more than one row of 128 columns and 16 indexes needs.
pub(super) const JOURNAL: usize = 1 << 16;
/// Bytes of a journal: a place and an old value each.
pub(super) const JOURNAL_BYTES: usize = JOURNAL * 16;

/// Values of [`Segment::work`]. Nothing beyond a transaction is under way.
pub(super) const IDLE: u64 = 0;
/// The whole table is being emptied or replaced: whoever comes after a death looks at [`Head::phase`].
pub(super) const BUSY: u64 = 1;

/// Values of [`Head::phase`]. Busy segments are as they were.
pub(super) const BEFORE: u64 = 0;
/// What busy segments hold is half-done: it is to be emptied.
pub(super) const EMPTYING: u64 = 1;
/// Busy segments hold the new contents.
pub(super) const AFTER: u64 = 2;

/// One segment. `num` and everything below `heap_end`, it included, change through the journal.
#[derive(Debug)]
#[repr(C, align(1024))]
pub(super) struct Segment {
    // The first line is all that a change of one cell writes beside the cell: it goes from core to core whole.
    pub(super) mutex: RobustMutex,
    /// Odd while a change is being applied.
    pub(super) sequence: AtomicU64,
    /// Changes of rows since the table was made, for `stats()` only.
    pub(super) updates: AtomicU64,
    /// Entries of the journal that count: more than none means that a change was begun and not completed.
    pub(super) logged: AtomicU64,
    /// [`IDLE`] or [`BUSY`].
    pub(super) work: AtomicU64,
    /// Rows.
    pub(super) num: AtomicU64,
    /// With text keys: rows, counted from the partition's first, that were ever used lie below.
    pub(super) end: AtomicU64,
    /// The first free row below `end`, plus 1.
    pub(super) free_row: AtomicU64,
    /// Buckets beyond the first [`BUCKETS`](super::keys::BUCKETS).
    pub(super) buckets: AtomicU64,
    /// Bytes of the heap that were ever used lie below.
    pub(super) heap_end: AtomicU64,
    /// Counts for `stats()` only.
    pub(super) inserts: AtomicU64,
    pub(super) removes: AtomicU64,
    pub(super) conflicts: AtomicU64,
    pub(super) deepest: AtomicU64,
    /// The first free block of each size, as its place in words plus 1.
    pub(super) free: [AtomicU64; CLASSES],
}

// SAFETY: atomics and a mutex; all-zero is an unlocked mutex, an empty journal, and an empty partition.
unsafe impl Shared for Segment {}

const _: () = assert!(size_of::<Segment>() == SEGMENT);
const _: () = assert!(offset_of!(Segment, logged) < LINE);

/// What there is once a table, at the start of its region.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Head {
    /// The seed of the key hash.
    pub(super) seed: [AtomicU64; 2],
    /// Rows of all partitions, and those about to be made: the limit is held here.
    pub(super) count: AtomicU64,
    /// A process died inside a change: `count` may be too great until it is counted again.
    pub(super) suspect: AtomicU64,
    /// Not 0: the ordered indexes are not kept up to date and must not be read.
    pub(super) deferred: AtomicU64,
    /// Not 0: a process has given the table up for all.
    pub(super) given_up: AtomicU64,
    /// How far emptying or replacing the whole table has come: one word for all segments, so that all of them go the
    /// same way after a death.
    pub(super) phase: AtomicU64,
    /// Not 0: the dictionaries may be half-emptied or half-written; who locks the indexes' segment after the death that
    /// left it so puts that right.
    pub(super) torn: AtomicU64,
}

// SAFETY: atomics; all-zero is an empty table.
unsafe impl Shared for Head {}

/// Words of a segment that changes name by their offset in it.
pub(super) const NUM: usize = offset_of!(Segment, num);
pub(super) const END: usize = offset_of!(Segment, end);
pub(super) const FREE_ROW: usize = offset_of!(Segment, free_row);
pub(super) const MORE_BUCKETS: usize = offset_of!(Segment, buckets);
pub(super) const HEAP_END: usize = offset_of!(Segment, heap_end);
pub(super) const FREE: usize = offset_of!(Segment, free);
/// From here to the end of a segment lies what a snapshot holds of it.
pub(super) const KEPT: usize = NUM;

impl Segment {
    /// From here on readers see that a change is being applied. Only with the mutex.
    #[inline]
    pub(super) fn open(&self) {
        self.sequence.store(self.sequence.load(Relaxed) | 1, Relaxed);
        fence(Release);
    }

    /// The change is complete.
    #[inline]
    pub(super) fn close(&self) {
        #[cfg(test)]
        super::crash::step();
        let now = self.sequence.load(Relaxed);
        self.sequence.store((now | 1).wrapping_add(1), Release);
    }

    /// Adds to a count that only the holder of the mutex changes.
    #[inline]
    pub(super) fn bump(count: &AtomicU64) {
        count.store(count.load(Relaxed).wrapping_add(1), Relaxed);
    }

    /// Whether the sequence count stands still at an even number: the number.
    #[inline]
    pub(super) fn still(&self) -> Option<u64> {
        let now = self.sequence.load(Acquire);
        (now & 1 == 0).then_some(now)
    }

    /// Whether nothing changed since [`still`](Self::still).
    #[inline]
    pub(super) fn unmoved(&self, since: u64) -> bool {
        fence(Acquire);
        self.sequence.load(Relaxed) == since
    }
}

/// Keeps the compiler from moving a store over it. Death cuts a process's stores in the order of its program, and the
/// kernel sees to it that all before the cut are visible to who takes the mutex next: so the processor needs no barrier
/// for this.
#[inline]
pub(super) fn in_order() {
    compiler_fence(std::sync::atomic::Ordering::SeqCst);
    #[cfg(test)]
    super::crash::step();
}
