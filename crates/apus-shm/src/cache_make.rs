//! Who makes a value that is not in the cache: one process at a time for each key.
//!
//! A producer enters the key's hash and its own token (`process_registry.rs`) into its partition's list, under the
//! partition's mutex; the token is stored last, so that a producer killed in between has entered nothing. Who finds a
//! living producer waits and looks again; a dead one is replaced. Keys of equal hash (64 bits, keyed) are taken for one
//! here, which makes one of them wait for nothing.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use crate::cache::Cache;
use crate::process_registry::{ProcessRegistry, ProcessToken};

/// What became of an attempt to be the producer.
#[derive(Debug)]
pub enum Claim<'a> {
    /// This process is to make the value. Others may when this is dropped.
    Mine(Making<'a>),
    /// Another one does it; `here`: this very process, in another coroutine.
    Taken {
        /// Whether the producer is this process.
        here: bool,
    },
    /// As many values are being made as can be kept track of: make it, and others may, too.
    Untracked,
}

/// The right to make a value.
#[derive(Debug)]
pub struct Making<'a> {
    cache: &'a Cache,
    hash: u64,
    me: ProcessToken,
}

impl Cache {
    /// Attempts to become the producer of a key's value.
    pub fn claim(&self, key: &[u8]) -> Claim<'_> {
        let Some(me) = self.registry.me() else { return Claim::Untracked };
        let hash = self.hash(key);
        let part = self.part(hash);
        let _held = part.lock();
        let mut free = None;
        for producer in part.producers() {
            let Some(owner) = ProcessToken::of(producer.owner.load(Acquire)) else {
                free = free.or(Some(producer));
                continue;
            };
            if producer.hash.load(Relaxed) != hash {
                continue;
            }
            if self.registry.living(owner).is_some() {
                return Claim::Taken { here: owner == me };
            }
            producer.owner.store(me.word(), Release);
            return Claim::Mine(Making { cache: self, hash, me });
        }
        let dead = || {
            let is_dead = |word| ProcessToken::of(word).is_none_or(|owner| self.registry.living(owner).is_none());
            part.producers().iter().find(|producer| is_dead(producer.owner.load(Relaxed)))
        };
        let Some(producer) = free.or_else(dead) else { return Claim::Untracked };
        producer.owner.store(0, Release);
        producer.hash.store(hash, Relaxed);
        producer.owner.store(me.word(), Release);
        Claim::Mine(Making { cache: self, hash, me })
    }

    /// Whether somebody is entered as the producer of a key's value; perhaps a dead one. Takes no lock.
    pub fn is_being_made(&self, key: &[u8]) -> bool {
        let hash = self.hash(key);
        let entered = |producer: &crate::cache_part::Producer| {
            producer.owner.load(Acquire) != 0 && producer.hash.load(Relaxed) == hash
        };
        self.part(hash).producers().iter().any(entered)
    }
}

impl Drop for Making<'_> {
    fn drop(&mut self) {
        // In a child forked meanwhile, the value is the parent's to make.
        if ProcessRegistry::existing_me() != Some(self.me) {
            return;
        }
        let part = self.cache.part(self.hash);
        let _held = part.lock();
        for producer in part.producers() {
            if producer.hash.load(Relaxed) == self.hash && producer.owner.load(Relaxed) == self.me.word() {
                producer.owner.store(0, Release);
                return;
            }
        }
    }
}
