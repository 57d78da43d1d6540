//! How long to wait before a process that keeps ending is started again.

use std::time::Duration;

/// The wait after the first early death; it doubles with each.
pub(crate) const FIRST_DELAY: Duration = Duration::from_millis(100);
/// The longest wait between two tries.
pub(crate) const LONGEST_DELAY: Duration = Duration::from_secs(10);
/// A process that lived this long did not die of its start.
pub(crate) const SETTLED: Duration = Duration::from_secs(10);
/// Nor did one that served and lived this long: something that came later killed it, and the clients want the next one
/// at once.
pub(crate) const SERVED: Duration = Duration::from_secs(1);
/// The longest wait before a process that left by itself, without an error, is started again.
pub(crate) const CLEAN_DELAY: Duration = Duration::from_secs(1);

/// The ends in a row of the processes of one place, each soon after its start.
#[derive(Debug, Default)]
pub struct BackOff {
    early: u32,
    hasty: bool,
}

/// The longest wait of the hasty, from the second early death on.
const HASTY: Duration = Duration::from_millis(100);

impl BackOff {
    /// `hasty`: the next start is at once after the first early death, and soon after each further one.
    pub(crate) fn new(hasty: bool) -> Self {
        Self { early: 0, hasty }
    }

    /// Counts a death that nobody asked for; how long to wait before the next start, and how many early ones there were
    /// in a row.
    pub fn death(&mut self, served: bool, lived: Duration) -> (Duration, u32) {
        let early = lived < if served { SERVED } else { SETTLED };
        self.early = if early { self.early.saturating_add(1) } else { 0 };
        let delay = match self.early {
            0 => Duration::ZERO,
            1 if self.hasty => Duration::ZERO,
            _ if self.hasty => HASTY,
            n => FIRST_DELAY.saturating_mul(1 << (n - 1).min(16)).min(LONGEST_DELAY),
        };
        (delay, self.early)
    }

    /// Counts the end of a process that left by itself, without an error; how long to wait before the next start.
    pub fn exit(&mut self, lived: Duration) -> Duration {
        self.death(true, lived).0.min(CLEAN_DELAY)
    }

    /// An end that was asked for.
    pub fn forget(&mut self) {
        self.early = 0;
    }
}
