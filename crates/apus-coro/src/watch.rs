//! A clock that is cheap enough to be read at every switch.

use std::time::Instant;

/// Measures how long a slice (from entering a task to its next wait) took.
pub(crate) struct SliceClock {
    start: Instant,
}

impl SliceClock {
    /// Starts measuring.
    pub(crate) fn start() -> Self {
        Self { start: Instant::now() }
    }

    /// Whole milliseconds since the start.
    pub(crate) fn elapsed_ms(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}
