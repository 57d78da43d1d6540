//! A number in shared memory that one process writes.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A number that one worker writes and every process reads. Stores need no locked instruction: there is one writer.
#[derive(Debug, Default)]
#[repr(transparent)]
pub struct Counter(AtomicU64);

impl Counter {
    /// The number.
    pub fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }

    /// Sets it.
    pub fn set(&self, n: u64) {
        self.0.store(n, Relaxed);
    }

    /// Adds to it.
    pub fn add(&self, n: u64) {
        self.set(self.get().wrapping_add(n));
    }

    /// Takes from it, down to zero.
    pub fn sub(&self, n: u64) {
        self.set(self.get().saturating_sub(n));
    }

    /// Raises it to `n` when that is more.
    pub fn raise(&self, n: u64) {
        if n > self.get() {
            self.set(n);
        }
    }
}
