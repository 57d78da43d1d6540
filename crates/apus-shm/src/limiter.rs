//! A rate limiter that processes share: the generic cell rate algorithm, one atomic word a key.
//!
//! # The algorithm
//!
//! For each key one moment is kept: when a bucket that leaks at the rate would be empty, were all that was allowed
//! poured into it (the theoretical arrival time of GCRA). A unit moves it by the time that the rate gives to one; it is
//! allowed when the moment then lies no further ahead than a burst of units. So there is no window at whose edge twice
//! the rate gets through, and nothing to clean up: a moment that has passed is the same as no moment.
//!
//! # The table
//!
//! A key belongs to a set of eight words, one cache line, by its hash. A word is 24 bits of the hash and 40 bits of the
//! moment, in ticks since the limiter was made; 0: free. What finds no word of its own takes a free one, else the one
//! whose moment is the oldest. Everything is one compare-and-exchange: nothing is ever half-done, whoever is killed at
//! whatever instruction, and there is no lock.
//!
//! # What this costs in exactness
//!
//! Two keys of one set with the same 24 bits share a limit: one pair in two million. When a set is full of keys that
//! are all limited at the moment, the oldest of them is forgotten, and allowed a burst anew. Two processes that meet a
//! new key at the same instant may enter it twice; the first word counts from then on. The moment is read around the
//! circle of 2^40 ticks, of which the longest burst is a quarter at most: a key that returns after just so long may
//! find its bucket filled by chance.
//!
//! # Contention
//!
//! A word is judged by a clock that was read after it, in each round of the exchange: judged by one that was read
//! before, a word that another processor has moved meanwhile lies further ahead than any burst, which is what long ago
//! looks like, too. Clocks of processors may still differ a little: what lies no more than [`SKEW`] beyond a burst is a
//! full bucket.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};
use std::time::Duration;

use crate::clock::now;
use crate::region::Region;

/// Words of a set.
const SET: usize = 8;
/// Keys at most.
pub const LIMITER_KEYS_MOST: usize = 1 << 30;
const MOMENT_BITS: u32 = 40;
const MOMENTS: u64 = (1 << MOMENT_BITS) - 1;
/// A unit is at least so many ticks, so that rounding changes the rate by less than a thousandth, unless a tick would
/// be below a nanosecond.
const TICKS_A_UNIT: u64 = 1024;
/// The longest burst in ticks, where that leaves a unit enough of them.
const TICKS_A_BURST: u64 = 1 << 22;

/// How far the clocks of two processors may be apart, in nanoseconds; generously.
const SKEW: u64 = 1_000_000_000;

/// What a limiter says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verdict {
    /// Whether it is within the limit.
    pub allowed: bool,
    /// Units that are allowed at once from now on.
    pub remaining: u64,
    /// How long to wait until it would be allowed; zero when it is. `None`: it never is, being more than a burst.
    pub retry_after: Option<Duration>,
    /// How long until a whole burst is allowed.
    pub reset: Duration,
}

/// The limiter. Make it before the processes that share it are forked.
#[derive(Debug)]
pub struct Limiter {
    region: Region,
    /// A power of two.
    sets: usize,
    hasher: RandomState,
    /// When tick 0 was, and how many nanoseconds a tick has.
    start: u64,
    tick: u64,
    /// Ticks of a unit.
    unit: u64,
    burst: u64,
    /// Ticks of [`SKEW`].
    skew: u64,
}

impl Limiter {
    /// Allows `rate` units in `per` on the average, and `burst` (1 or more) at once. Keeps about `keys` keys, eight
    /// bytes each.
    ///
    /// `None`: a unit is not between a nanosecond and the 2^40th part of what 64 bits of nanoseconds hold, or a burst
    /// lasts too long.
    pub fn new(keys: usize, rate: f64, per: Duration, burst: u64) -> Option<io::Result<Self>> {
        let unit = per.as_nanos() as f64 / rate;
        let burst_ns = unit * burst as f64;
        // A hundred years.
        if !(unit >= 1.0 && burst_ns <= 3.2e18) || burst == 0 {
            return None;
        }
        let fine = unit / TICKS_A_UNIT as f64;
        let tick = fine.min(burst_ns / TICKS_A_BURST as f64).max(1.0) as u64;
        let unit = (unit / tick as f64).round().max(1.0) as u64;
        // The rest of the circle, but for the skew of clocks, is the past.
        if unit.checked_mul(burst).is_none_or(|ticks| ticks > MOMENTS / 4) {
            return None;
        }
        let sets = keys.clamp(1, LIMITER_KEYS_MOST).div_ceil(SET).next_power_of_two();
        let made = Region::new(sets * SET * size_of::<AtomicU64>()).map(|region| Self {
            region,
            sets,
            hasher: RandomState::new(),
            start: now(),
            tick,
            unit,
            burst,
            skew: (SKEW / tick).max(1),
        });
        Some(made)
    }

    /// Keys that it keeps.
    pub fn keys(&self) -> usize {
        self.sets * SET
    }

    /// The key's set, and its part of a word.
    fn place(&self, key: &[u8]) -> (&[AtomicU64], u64) {
        let mut hasher = self.hasher.build_hasher();
        hasher.write(key);
        let hash = hasher.finish();
        let at = (hash as usize & (self.sets - 1)) * SET * size_of::<AtomicU64>();
        // Never 0, which is a free word.
        let name = (hash >> MOMENT_BITS).max(1) << MOMENT_BITS;
        (self.region.slice(at, SET), name)
    }

    fn moment(&self) -> u64 {
        now().saturating_sub(self.start) / self.tick
    }

    /// Ticks of a whole burst.
    fn whole(&self) -> u64 {
        self.unit * self.burst
    }

    /// How full a word's bucket is at `moment`, in ticks; what cannot have come of a burst has passed long ago.
    fn ahead(&self, word: u64, moment: u64) -> u64 {
        let ahead = word.wrapping_sub(moment) & MOMENTS;
        if ahead <= self.whole() + self.skew { ahead.min(self.whole()) } else { 0 }
    }

    fn find(set: &[AtomicU64], name: u64) -> Option<(&AtomicU64, u64)> {
        set.iter().map(|word| (word, word.load(Acquire))).find(|(_, word)| word & !MOMENTS == name)
    }

    /// The word that a new key takes: a free one, else the oldest.
    fn victim<'a>(&self, set: &'a [AtomicU64], moment: u64) -> (&'a AtomicU64, u64) {
        let age = |word: u64| if word == 0 { 0 } else { 1 + self.ahead(word, moment) };
        let words = set.iter().map(|word| (word, word.load(Acquire)));
        words.min_by_key(|(_, word)| age(*word)).unwrap_or((&set[0], 0))
    }

    /// Takes `cost` units if they are within the limit.
    pub fn allow(&self, key: &[u8], cost: u64) -> bool {
        self.take(key, cost, || self.moment())
    }

    fn take(&self, key: &[u8], cost: u64, clock: impl Fn() -> u64) -> bool {
        let (set, name) = self.place(key);
        let Some(more) = self.unit.checked_mul(cost).filter(|_| cost <= self.burst) else { return false };
        loop {
            let found = Self::find(set, name);
            let moment = clock();
            let ahead = found.map_or(0, |(_, word)| self.ahead(word, moment)) + more;
            if ahead > self.whole() {
                return false;
            }
            let (place, word) = found.unwrap_or_else(|| self.victim(set, moment));
            let new = name | (moment.wrapping_add(ahead) & MOMENTS);
            // Whoever reads the new word reads the clock after us.
            if place.compare_exchange(word, new, AcqRel, Relaxed).is_ok() {
                return true;
            }
        }
    }

    /// What [`allow`](Self::allow) would say, and how the key stands. Takes nothing.
    pub fn check(&self, key: &[u8], cost: u64) -> Verdict {
        self.look(key, cost, || self.moment())
    }

    fn look(&self, key: &[u8], cost: u64, clock: impl Fn() -> u64) -> Verdict {
        let (set, name) = self.place(key);
        let found = Self::find(set, name);
        let moment = clock();
        let ahead = found.map_or(0, |(_, word)| self.ahead(word, moment));
        let whole = self.whole();
        let wait = self.unit.checked_mul(cost).filter(|_| cost <= self.burst);
        let wait = wait.map(|more| (ahead + more).saturating_sub(whole));
        let time = |ticks: u64| Duration::from_nanos(ticks.saturating_mul(self.tick));
        Verdict {
            allowed: wait == Some(0),
            remaining: (whole - ahead) / self.unit,
            retry_after: wait.map(time),
            reset: time(ahead),
        }
    }

    /// Forgets a key: a whole burst is allowed again.
    pub fn reset(&self, key: &[u8]) {
        let (set, name) = self.place(key);
        while let Some((place, word)) = Self::find(set, name) {
            // Meanwhile changed, it is looked for again.
            let _ = place.compare_exchange(word, 0, Relaxed, Relaxed);
        }
    }
}

#[cfg(test)]
#[path = "limiter_tests.rs"]
mod tests;
