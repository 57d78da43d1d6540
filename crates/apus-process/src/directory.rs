//! Who may hold a name: for each of many hash buckets, which processes have something in it.
//!
//! A process that binds a user or subscribes a topic adds the name's hash; others ask which processes a message for
//! that name must go to. The answer is a superset: two names may share a bucket, and the asked process says what it
//! really has.
//!
//! How many names a process has in a bucket is its own business and lives in its own memory. Shared is one bit a bucket
//! and slot, set before the first name is in and cleared after the last is out. Bits of one bucket stand side by side,
//! so a look-up reads one cache line for up to 512 slots, and a set bit needs no undoing when its owner is killed: the
//! master clears a dead process's bits before its slot is used again.

use std::cell::RefCell;
use std::collections::HashMap;
use std::io;
use std::sync::atomic::{
    AtomicU64,
    Ordering::{Acquire, Relaxed, SeqCst},
};

use crate::bits::Bits;
use crate::ipc::IpcRings;
use apus_shm as shm;

/// Buckets: with this many, 65,536 names on a worker give a message for a name that is not there one needless receiver
/// in 1.6, and 1,000 names one in 66.
const BUCKETS: usize = 65_536;

/// The shared bits.
#[derive(Debug)]
pub(crate) struct Register {
    /// `words` words a bucket.
    bits: &'static [AtomicU64],
    words: usize,
}

impl Register {
    /// Maps a register for `slots` processes: 512 KiB for each 64 of them.
    pub(crate) fn new(slots: usize) -> io::Result<&'static Self> {
        let words = slots.div_ceil(64);
        Ok(Box::leak(Box::new(Self { bits: shm::map(BUCKETS * words)?, words })))
    }

    /// Clears what a dead process left. Only the master calls this, before the slot is used again.
    pub(crate) fn clear(&self, slot: usize) {
        let bit = 1u64 << (slot % 64);
        for word in self.bits.iter().skip(slot / 64).step_by(self.words) {
            // Looked at first: an untouched line stays shared.
            if word.load(Relaxed) & bit != 0 {
                word.fetch_and(!bit, SeqCst);
            }
        }
    }

    fn bucket(&self, bucket: usize) -> &'static [AtomicU64] {
        &self.bits[bucket * self.words..][..self.words]
    }
}

/// A process's view of a register: it adds and removes its own names, and finds who may have others.
#[derive(Debug)]
pub struct Directory {
    register: &'static Register,
    office: &'static IpcRings,
    slot: usize,
    /// Names of this process in each bucket that has one.
    counts: RefCell<HashMap<u16, u32>>,
}

impl Directory {
    pub(crate) fn new(register: &'static Register, office: &'static IpcRings, slot: usize) -> Self {
        Self { register, office, slot, counts: RefCell::default() }
    }

    /// This process has one more name with this hash. Once this has returned, every process that asks finds it.
    ///
    /// Any bits of the hash may be the good ones: it is mixed here. All processes must hash alike, so not with
    /// `RandomState`.
    pub fn add(&self, hash: u64) {
        let bucket = bucket_of(hash);
        let mut counts = self.counts.borrow_mut();
        let count = counts.entry(bucket).or_insert(0);
        *count += 1;
        if *count == 1 {
            self.word(bucket).fetch_or(self.bit(), SeqCst);
        }
    }

    /// One less. Removing what was not added changes nothing.
    pub fn remove(&self, hash: u64) {
        let bucket = bucket_of(hash);
        let mut counts = self.counts.borrow_mut();
        let Some(count) = counts.get_mut(&bucket) else { return };
        *count -= 1;
        if *count == 0 {
            counts.remove(&bucket);
            self.word(bucket).fetch_and(!self.bit(), SeqCst);
        }
    }

    /// The slots of live processes that may have a name with this hash, this process's own among them.
    pub fn slots(&self, hash: u64) -> impl Iterator<Item = usize> {
        let words = self.register.bucket(usize::from(bucket_of(hash)));
        let office = self.office;
        let set =
            words.iter().enumerate().flat_map(|(at, word)| Bits(word.load(Acquire)).map(move |bit| at * 64 + bit));
        set.filter(move |slot| office.is_live(*slot))
    }

    fn word(&self, bucket: u16) -> &AtomicU64 {
        &self.register.bucket(usize::from(bucket))[self.slot / 64]
    }

    fn bit(&self) -> u64 {
        1 << (self.slot % 64)
    }
}

/// The upper half of a multiplication by 2^64 divided by the golden ratio: every bit of the hash counts.
fn bucket_of(hash: u64) -> u16 {
    (hash.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slots(directory: &Directory, hash: u64) -> Vec<usize> {
        directory.slots(hash).collect()
    }

    #[test]
    fn names_are_found_until_the_last_is_removed() {
        let office = IpcRings::new(130, 8192).unwrap();
        let register = Register::new(130).unwrap();
        let ends = [0, 70, 129].map(|slot| {
            office.open(slot);
            Directory::new(register, office, slot)
        });
        for directory in &ends {
            directory.add(5);
        }
        ends[1].add(5);
        ends[2].add(u64::MAX);
        assert_eq!(slots(&ends[0], 5), [0, 70, 129]);
        assert_eq!(slots(&ends[0], u64::MAX), [129]);
        ends[1].remove(5);
        ends[0].remove(5);
        ends[0].remove(5);
        assert_eq!(slots(&ends[2], 5), [70, 129]);
        ends[1].remove(5);
        assert_eq!(slots(&ends[2], 5), [129]);
    }

    #[test]
    fn a_dead_process_is_not_asked_and_leaves_nothing_to_its_successor() {
        let office = IpcRings::new(3, 8192).unwrap();
        let register = Register::new(3).unwrap();
        let (alive, dead) = (Directory::new(register, office, 0), Directory::new(register, office, 1));
        office.open(0);
        office.open(1);
        (0..1000).for_each(|hash| dead.add(hash));
        alive.add(10);
        office.close(1);
        assert_eq!(slots(&alive, 10), [0]);
        register.clear(1);
        office.open(1);
        assert!((0..1000).all(|hash| !slots(&alive, hash).contains(&1)));
    }

    #[test]
    fn small_hashes_spread_over_the_buckets() {
        let seen: std::collections::HashSet<u16> = (0..10_000).map(bucket_of).collect();
        assert!(seen.len() > 8000, "{}", seen.len());
    }
}
