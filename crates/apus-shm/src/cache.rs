//! A cache that processes share: bounded bytes, values of any length, ends by time, and one producer a value.
//!
//! `cache_part.rs` says how a partition works and what death does to it, `cache_make.rs` who makes a value.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use crate::cache_part::{Found, Layout, Part, Stored};
use crate::clock::now;
use crate::process_registry::ProcessRegistry;
use crate::region::{Region, Shared};

/// Bytes of a ring that are worth a partition of their own.
const WORTH_A_PARTITION: usize = 4 << 20;
const PARTITIONS_MOST: usize = 64;
/// The smallest cache.
pub const CACHE_LEAST: usize = 64 << 10;
/// The largest cache: places in a ring are counted in 32 bits, by eight bytes.
pub const CACHE_MOST: usize = 1 << 40;
/// Bytes of a key at most.
pub const CACHE_KEY_MOST: usize = 1024;
/// Lines of counters: as many processors count at once without meeting.
const COUNTERS: usize = 64;

/// Why a value was not stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CacheError {
    /// Key and value together are longer than half of a partition.
    #[error("{given} bytes with the key, and this cache takes entries of at most {longest} bytes")]
    TooLarge {
        /// Bytes of the entry.
        given: usize,
        /// What fits.
        longest: usize,
    },
    /// A key is empty or longer than [`CACHE_KEY_MOST`].
    #[error("keys have 1 to 1024 bytes, {given} given")]
    Key {
        /// Bytes of the key.
        given: usize,
    },
    /// What is there is no integer.
    #[error("what is stored there is no integer")]
    NoInteger,
    /// The sum does not fit.
    #[error("the sum leaves the range of integers")]
    Overflow,
}

/// What the cache has done since it was made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CacheStats {
    /// Entries, with those that have run out and lie there still.
    pub entries: u64,
    /// Bytes that they take.
    pub used: u64,
    /// Bytes that all entries together may take.
    pub bytes: u64,
    /// Bytes of the longest entry.
    pub longest: u64,
    /// Reads that found something.
    pub hits: u64,
    /// Reads that found nothing.
    pub misses: u64,
    /// Entries that made room for others before their time.
    pub evictions: u64,
    /// Entries that made room after their time.
    pub expired: u64,
    /// Partitions that were emptied because a process was killed while it wrote there.
    pub emptied: u64,
}

#[derive(Debug)]
#[repr(C, align(64))]
struct Counters {
    hits: AtomicU64,
    misses: AtomicU64,
}

// SAFETY: atomics only; zero is valid.
unsafe impl Shared for Counters {}

/// The cache. Make it before the processes that share it are forked.
#[derive(Debug)]
pub struct Cache {
    region: Region,
    layout: Layout,
    /// A power of two.
    partitions: usize,
    /// Keyed at random: clients may choose keys.
    hasher: RandomState,
    pub(crate) registry: &'static ProcessRegistry,
}

impl Cache {
    /// A cache whose entries take `bytes` bytes together; memory is taken as it fills.
    pub fn new(bytes: usize) -> io::Result<Self> {
        let bytes = bytes.clamp(CACHE_LEAST, CACHE_MOST);
        let partitions = (bytes / WORTH_A_PARTITION).clamp(1, PARTITIONS_MOST);
        let partitions = if partitions.is_power_of_two() { partitions } else { partitions.next_power_of_two() / 2 };
        let layout = Layout::new(bytes.div_ceil(partitions));
        let registry = ProcessRegistry::table()?;
        let region = Region::new(Self::first() + partitions * layout.whole)?;
        let this = Self { region, layout, partitions, hasher: RandomState::new(), registry };
        for part in this.parts() {
            part.init()?;
        }
        Ok(this)
    }

    /// Where the partitions begin.
    fn first() -> usize {
        (COUNTERS * size_of::<Counters>()).next_multiple_of(4096)
    }

    fn counters(&self) -> &Counters {
        // SAFETY: asks for a number; a failure is negative and counts in the first line.
        let cpu = unsafe { libc::sched_getcpu() };
        self.region.at(usize::try_from(cpu).unwrap_or(0) % COUNTERS * size_of::<Counters>())
    }

    pub(crate) fn hash(&self, key: &[u8]) -> u64 {
        let mut hasher = self.hasher.build_hasher();
        hasher.write(key);
        hasher.finish()
    }

    fn nth(&self, number: usize) -> Part<'_> {
        Part { region: &self.region, base: Self::first() + number * self.layout.whole, layout: self.layout }
    }

    fn parts(&self) -> impl Iterator<Item = Part<'_>> {
        (0..self.partitions).map(|number| self.nth(number))
    }

    pub(crate) fn part(&self, hash: u64) -> Part<'_> {
        // The low bits choose the bucket.
        self.nth((hash >> 48) as usize & (self.partitions - 1))
    }

    /// Bytes of the longest entry: key and value, each to the next multiple of eight, and 40.
    pub fn longest(&self) -> usize {
        self.layout.ring / 2
    }

    fn check(&self, key: &[u8], value: usize) -> Result<(), CacheError> {
        if !(1..=CACHE_KEY_MOST).contains(&key.len()) {
            return Err(CacheError::Key { given: key.len() });
        }
        let given = Part::size_of(key.len(), value);
        if given <= self.longest() { Ok(()) } else { Err(CacheError::TooLarge { given, longest: self.longest() }) }
    }

    /// The value of a key; bytes are appended to `into`.
    pub fn get(&self, key: &[u8], into: &mut Vec<u8>) -> Option<Found> {
        let found = self.peek(key, into);
        let counters = self.counters();
        if found.is_some() { &counters.hits } else { &counters.misses }.fetch_add(1, Relaxed);
        found
    }

    /// The same without being counted.
    pub fn peek(&self, key: &[u8], into: &mut Vec<u8>) -> Option<Found> {
        let hash = self.hash(key);
        self.part(hash).get(hash, key, now(), Some(into))
    }

    /// Whether a key is there; not counted.
    pub fn has(&self, key: &[u8]) -> bool {
        let hash = self.hash(key);
        self.part(hash).get(hash, key, now(), None).is_some()
    }

    /// Stores a value. `ttl`: how long it is to be found; `None`: until others need the room. False: with `only_new`,
    /// the key is there already.
    pub fn set(
        &self,
        key: &[u8],
        value: Stored<'_>,
        ttl: Option<Duration>,
        only_new: bool,
    ) -> Result<bool, CacheError> {
        self.check(key, if let Stored::Bytes(bytes) = value { bytes.len() } else { size_of::<i64>() })?;
        let (hash, now) = (self.hash(key), now());
        let part = self.part(hash);
        let _held = part.lock();
        Ok(part.put(hash, key, value, end(now, ttl), now, only_new))
    }

    /// Removes a key. False: it was not there.
    pub fn remove(&self, key: &[u8]) -> bool {
        let hash = self.hash(key);
        let part = self.part(hash);
        let _held = part.lock();
        part.remove(hash, key, now())
    }

    /// Gives a key another end. False: it is not there.
    pub fn touch(&self, key: &[u8], ttl: Option<Duration>) -> bool {
        let (hash, now) = (self.hash(key), now());
        let part = self.part(hash);
        let _held = part.lock();
        part.touch(hash, key, end(now, ttl), now)
    }

    /// Adds to an integer in one step; one that is not there begins at 0, and `ttl` is its.
    pub fn add(&self, key: &[u8], delta: i64, ttl: Option<Duration>) -> Result<i64, CacheError> {
        self.check(key, size_of::<i64>())?;
        let (hash, now) = (self.hash(key), now());
        let part = self.part(hash);
        let _held = part.lock();
        let Some((old, at)) = part.number(hash, key, now).map_err(|()| CacheError::NoInteger)? else {
            part.put(hash, key, Stored::Int(delta), end(now, ttl), now, false);
            return Ok(delta);
        };
        let new = old.checked_add(delta).ok_or(CacheError::Overflow)?;
        part.set_number(at, new);
        Ok(new)
    }

    /// Forgets everything, and gives the memory back.
    pub fn clear(&self) {
        for part in self.parts() {
            let _held = part.lock();
            part.empty();
        }
    }

    /// What it has done; counters of different partitions are of slightly different moments.
    pub fn stats(&self) -> CacheStats {
        let mut stats = CacheStats {
            bytes: (self.partitions * self.layout.ring) as u64,
            longest: self.longest() as u64,
            ..CacheStats::default()
        };
        for part in self.parts() {
            let _held = part.lock();
            let head = part.head();
            stats.entries += head.entries.load(Relaxed);
            stats.used += head.used.load(Relaxed);
            stats.evictions += head.evicted.load(Relaxed);
            stats.expired += head.expired.load(Relaxed);
            stats.emptied += head.emptied.load(Relaxed);
        }
        for line in self.region.slice::<Counters>(0, COUNTERS) {
            stats.hits += line.hits.load(Relaxed);
            stats.misses += line.misses.load(Relaxed);
        }
        stats
    }
}

/// When an entry with this time to live ends; 0: never.
fn end(now: u64, ttl: Option<Duration>) -> u64 {
    ttl.map_or(0, |ttl| now.saturating_add(u64::try_from(ttl.as_nanos()).unwrap_or(u64::MAX)).max(1))
}

#[cfg(test)]
#[path = "cache_tests.rs"]
mod tests;
