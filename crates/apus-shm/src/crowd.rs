//! How many of something each key has, over all processes: a process that was killed no longer counts.
//!
//! A key has a window of words by its hash, and in it one word for each process that has some of its: 32 bits of the
//! hash, 12 of the process, 20 that count. Who enters counts first and adds up then, so that two who come at once never
//! both take the last place; they may both be turned away. Everything is one compare-and-exchange, and what a process
//! has left behind is cleared by whoever buries it. Two keys share a count by chance in one of four billion.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};

use crate::region::Region;

/// Words in which a key is looked for.
const WINDOW: usize = 128;
const COUNT_BITS: u32 = 20;
const OWNER_BITS: u32 = 12;
const COUNTS: u64 = (1 << COUNT_BITS) - 1;
/// Keys and processes at most.
const MOST: usize = 1 << 26;

/// The counts. Make it before the processes that share it are forked.
#[derive(Debug)]
pub struct Crowd {
    region: Region,
    /// A power of two.
    words: usize,
    hasher: RandomState,
}

impl Crowd {
    /// Counts about as many keys, eight bytes each, twice over.
    ///
    /// # Errors
    /// When there is no memory.
    pub fn new(keys: usize) -> io::Result<Self> {
        let words = (keys.clamp(WINDOW, MOST) * 2).next_power_of_two();
        Ok(Self { region: Region::new(words * size_of::<AtomicU64>())?, words, hasher: RandomState::new() })
    }

    fn words(&self) -> &[AtomicU64] {
        self.region.slice(0, self.words)
    }

    /// The key's window, and what its words begin with.
    fn window(&self, key: &[u8]) -> (impl Iterator<Item = &AtomicU64> + Clone, u64) {
        let mut hasher = self.hasher.build_hasher();
        hasher.write(key);
        let hash = hasher.finish();
        let (start, words) = (hash as usize & (self.words - 1), self.words());
        // Never 0, which is a free word.
        let name = (hash >> 32).max(1) << 32;
        ((start..start + WINDOW).map(move |at| &words[at & (words.len() - 1)]), name)
    }

    /// Takes a place for a process unless the key has `most`. Where there is no room to count, it is let in.
    pub fn enter(&self, key: &[u8], owner: usize, most: u64) -> bool {
        let (window, name) = self.window(key);
        let own = name | owned(owner);
        if !add(window.clone(), own) {
            return true;
        }
        let all: u64 = window.map(|word| word.load(Acquire)).filter(|word| word >> 32 == name >> 32).map(count).sum();
        if all > most {
            self.leave(key, owner);
        }
        all <= most
    }

    /// Gives a place up that [`enter`](Self::enter) has given.
    pub fn leave(&self, key: &[u8], owner: usize) {
        let (mut window, name) = self.window(key);
        let own = name | owned(owner);
        if let Some(word) = window.find(|word| word.load(Acquire) & !COUNTS == own) {
            let less = |held: u64| Some(if count(held) > 1 { held - 1 } else { 0 });
            // Only its process changes a word that is taken.
            let _ = word.fetch_update(AcqRel, Acquire, less);
        }
    }

    /// Forgets a process that is gone.
    pub fn purge(&self, owner: usize) {
        for word in self.words() {
            let held = word.load(Acquire);
            if held != 0 && held & (owned(usize::MAX)) == owned(owner) {
                let _ = word.compare_exchange(held, 0, AcqRel, Relaxed);
            }
        }
    }
}

fn owned(owner: usize) -> u64 {
    (owner as u64 & ((1 << OWNER_BITS) - 1)) << COUNT_BITS
}

fn count(word: u64) -> u64 {
    word & COUNTS
}

/// Counts one in the word of its owner, or in a free one. False: there is none.
fn add<'w>(window: impl Iterator<Item = &'w AtomicU64> + Clone, own: u64) -> bool {
    loop {
        let found = window.clone().map(|word| (word, word.load(Acquire))).find(|(_, held)| held & !COUNTS == own);
        let free = || window.clone().find(|word| word.load(Acquire) == 0).map(|word| (word, 0));
        let Some((word, held)) = found.or_else(free) else { return false };
        if count(held) == COUNTS {
            return false;
        }
        let new = if held == 0 { own | 1 } else { held + 1 };
        if word.compare_exchange(held, new, AcqRel, Relaxed).is_ok() {
            return true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_has_so_many_over_all_processes() {
        let crowd = Crowd::new(1000).unwrap();
        assert!(crowd.enter(b"a", 1, 3) && crowd.enter(b"a", 2, 3) && crowd.enter(b"a", 1, 3));
        assert!(!crowd.enter(b"a", 1, 3) && !crowd.enter(b"a", 3, 3));
        assert!(crowd.enter(b"b", 1, 3));
        crowd.leave(b"a", 1);
        assert!(crowd.enter(b"a", 3, 3) && !crowd.enter(b"a", 2, 3));
        // Process 1 is killed with one of a and one of b.
        crowd.purge(1);
        assert!(crowd.enter(b"a", 2, 3) && !crowd.enter(b"a", 2, 3));
        assert!(crowd.enter(b"b", 2, 1) && !crowd.enter(b"b", 2, 1));
    }

    #[test]
    fn what_has_left_takes_no_room() {
        let crowd = Crowd::new(1).unwrap();
        for key in 0..10_000u32 {
            assert!(crowd.enter(&key.to_le_bytes(), 0, 1));
            assert!(!crowd.enter(&key.to_le_bytes(), 0, 1));
            crowd.leave(&key.to_le_bytes(), 0);
        }
        assert!(crowd.words().iter().all(|word| word.load(Acquire) == 0));
    }

    #[test]
    fn no_more_than_allowed_enter_at_once() {
        let crowd = Crowd::new(64).unwrap();
        let inside: usize = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4)
                .map(|owner| {
                    let crowd = &crowd;
                    scope.spawn(move || (0..1000).filter(|_| crowd.enter(b"k", owner, 100)).count())
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        // Those who come at once may turn each other away; afterwards there is room for exactly the rest.
        assert!(inside <= 100, "{inside}");
        assert_eq!((0..1000).filter(|_| crowd.enter(b"k", 0, 100)).count(), 100 - inside);
    }
}
