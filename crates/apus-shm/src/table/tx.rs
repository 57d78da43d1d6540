//! A change of several words that happens whole or not at all, whatever kills the process.
//!
//! The journal holds what stood there before. A change notes the old value of a word, counts the entry, and writes the
//! word in place; its commit is one store, the count of entries becoming 0. Who takes the mutex after a death finds
//! entries counted and puts the old values back, last first: that can be begun anew at any point. So code inside a
//! change reads its own writes, and giving up midway (no memory, say) is the same as dying.
//!
//! Memory that was free before the change and that nobody can reach is written without the journal. Memory that the
//! change itself freed is not free in that sense.

use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering::Relaxed};

use super::TableError;
use super::segment::{JOURNAL, Segment, in_order};
use crate::Region;

/// In an entry, the logarithm of the word's bytes stands above the place.
const WIDTH_SHIFT: u32 = 56;

/// A change that is being applied. Dropping it before [`commit`](Self::commit) undoes it.
#[derive(Debug)]
pub(crate) struct Change<'a> {
    region: &'a Region,
    segment: &'a Segment,
    /// The segment of the ordered indexes, when this change holds that, too.
    orders: Option<&'a Segment>,
    journal: &'a [AtomicU64],
    logged: usize,
    full: bool,
    done: bool,
}

impl<'a> Change<'a> {
    /// Begins a change of a segment (and of the indexes). The caller holds the mutexes, and goes on holding them until
    /// this is dropped.
    #[inline]
    pub(super) fn begin(
        region: &'a Region,
        segment: &'a Segment,
        orders: Option<&'a Segment>,
        journal: &'a [AtomicU64],
    ) -> Self {
        if let Some(orders) = orders {
            orders.open();
        }
        segment.open();
        Self { region, segment, orders, journal, logged: 0, full: false, done: false }
    }

    /// The memory.
    pub(crate) fn region(&self) -> &'a Region {
        self.region
    }

    #[inline]
    fn log(&mut self, offset: usize, width: u64, old: u64) -> bool {
        if self.logged == JOURNAL {
            self.full = true;
            return false;
        }
        self.journal[2 * self.logged].store(offset as u64 | width << WIDTH_SHIFT, Relaxed);
        self.journal[2 * self.logged + 1].store(old, Relaxed);
        in_order();
        self.logged += 1;
        self.segment.logged.store(self.logged as u64, Relaxed);
        in_order();
        true
    }

    /// Writes a word of 8 bytes.
    #[inline]
    pub(crate) fn put(&mut self, offset: usize, value: u64) {
        let word = self.region.at::<AtomicU64>(offset);
        if self.log(offset, 3, word.load(Relaxed)) {
            word.store(value, Relaxed);
        }
    }

    /// Writes a word of 4 bytes.
    #[inline]
    pub(crate) fn put32(&mut self, offset: usize, value: u32) {
        let word = self.region.at::<AtomicU32>(offset);
        if self.log(offset, 2, word.load(Relaxed).into()) {
            word.store(value, Relaxed);
        }
    }

    /// Writes the low `width` bytes (1, 2, 4 or 8) of a value.
    #[inline]
    pub(crate) fn put_sized(&mut self, offset: usize, width: usize, value: u64) {
        match width {
            1 => {
                let word = self.region.at::<AtomicU8>(offset);
                if self.log(offset, 0, word.load(Relaxed).into()) {
                    word.store(value as u8, Relaxed);
                }
            }
            2 => {
                let word = self.region.at::<AtomicU16>(offset);
                if self.log(offset, 1, word.load(Relaxed).into()) {
                    word.store(value as u16, Relaxed);
                }
            }
            4 => self.put32(offset, value as u32),
            _ => self.put(offset, value),
        }
    }

    /// Makes it so. An error, and everything as it was before, when the journal was too short.
    #[inline]
    pub(super) fn commit(mut self) -> Result<(), TableError> {
        if self.full {
            return Err(TableError::NoMemory(format!("a change of more than {JOURNAL} words at once is not possible")));
        }
        in_order();
        self.segment.logged.store(0, Relaxed);
        in_order();
        self.done = true;
        Ok(())
    }
}

impl Drop for Change<'_> {
    #[inline]
    fn drop(&mut self) {
        if !self.done {
            undo(self.region, self.segment, self.journal);
        }
        self.segment.close();
        if let Some(orders) = self.orders {
            orders.close();
        }
    }
}

/// Puts back what a change that was not completed had written. Only with the segment's mutex.
pub(super) fn undo(region: &Region, segment: &Segment, journal: &[AtomicU64]) {
    let logged = segment.logged.load(Relaxed).min(JOURNAL as u64) as usize;
    for entry in journal[..2 * logged].chunks_exact(2).rev() {
        let (place, old) = (entry[0].load(Relaxed), entry[1].load(Relaxed));
        let offset = (place & ((1 << WIDTH_SHIFT) - 1)) as usize;
        store_sized(region, offset, 1 << (place >> WIDTH_SHIFT), old);
    }
    in_order();
    segment.logged.store(0, Relaxed);
    in_order();
}

/// Writes the low `width` bytes of a value, past the journal.
#[inline]
pub(super) fn store_sized(region: &Region, offset: usize, width: usize, value: u64) {
    #[cfg(test)]
    super::crash::step();
    match width {
        1 => region.at::<AtomicU8>(offset).store(value as u8, Relaxed),
        2 => region.at::<AtomicU16>(offset).store(value as u16, Relaxed),
        4 => region.at::<AtomicU32>(offset).store(value as u32, Relaxed),
        _ => region.at::<AtomicU64>(offset).store(value, Relaxed),
    }
}

/// Reads a word of `width` bytes.
#[inline]
pub(super) fn load_sized(region: &Region, offset: usize, width: usize) -> u64 {
    match width {
        1 => region.at::<AtomicU8>(offset).load(Relaxed).into(),
        2 => region.at::<AtomicU16>(offset).load(Relaxed).into(),
        4 => region.at::<AtomicU32>(offset).load(Relaxed).into(),
        _ => region.at::<AtomicU64>(offset).load(Relaxed),
    }
}
