//! The worker's time: a coarse clock for deadlines, and wall-clock seconds for `Date`.

use std::cell::Cell;
use std::time::{Duration, Instant};

use crate::sys;

/// The wall clock in seconds since 1970.
#[inline]
pub fn wall() -> f64 {
    seconds(sys::wall_clock())
}

#[inline]
fn seconds((whole, nanos): (u64, u32)) -> f64 {
    whole as f64 + f64::from(nanos) / 1e9
}

/// Deadlines read `now`, which the sweep moves on; nothing reads the kernel's clock for a deadline of one request.
pub(crate) struct Clock {
    start: Instant,
    /// Milliseconds since `start`, as of the last refresh.
    now: Cell<u64>,
    /// Seconds since 1970, as of the last request or refresh.
    seconds: Cell<u64>,
    /// The wall clock as of the last reading, in seconds since 1970.
    coarse: Cell<f64>,
    /// Only `advance` moves `now` (tests).
    manual: Cell<bool>,
}

impl Clock {
    pub(crate) fn new() -> Self {
        let clock = Self {
            start: Instant::now(),
            now: Cell::new(0),
            seconds: Cell::new(0),
            coarse: Cell::new(0.0),
            manual: Cell::new(false),
        };
        clock.refresh();
        clock
    }

    /// The time until it has run for a whole number of periods.
    pub(crate) fn until_next(&self, period: Duration) -> Duration {
        let over = self.start.elapsed().as_nanos() % period.as_nanos().max(1);
        period.saturating_sub(Duration::from_nanos(over as u64))
    }

    /// Milliseconds, as of the last refresh.
    #[inline]
    pub(crate) fn now(&self) -> u64 {
        self.now.get()
    }

    /// Seconds since 1970 for `Date`.
    #[inline]
    pub(crate) fn seconds(&self) -> u64 {
        self.seconds.get()
    }

    /// The wall clock in seconds since 1970; keeps `seconds` right on the way.
    #[inline]
    pub(crate) fn wall(&self) -> f64 {
        let now = sys::wall_clock();
        self.seconds.set(now.0);
        self.coarse.set(seconds(now));
        self.coarse.get()
    }

    /// The wall clock as of the last reading, in seconds since 1970.
    #[inline]
    pub(crate) fn coarse(&self) -> f64 {
        self.coarse.get()
    }

    pub(crate) fn refresh(&self) {
        self.wall();
        if !self.manual.get() {
            self.now.set(u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX));
        }
    }

    pub(crate) fn stop(&self) {
        self.manual.set(true);
    }

    pub(crate) fn is_manual(&self) -> bool {
        self.manual.get()
    }

    pub(crate) fn advance(&self, milliseconds: u64) {
        self.now.set(self.now.get() + milliseconds);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_whole_period_is_less_than_one_away() {
        let (clock, period) = (Clock::new(), Duration::from_millis(250));
        let next = clock.until_next(period);
        assert!(!next.is_zero() && next <= period, "{next:?}");
    }
}
