//! How fast connections may be begun: so many a second, as many at once after a pause.

use std::cell::Cell;
use std::time::{Duration, Instant};

/// A bucket that fills by the clock; one whose rate is zero is never empty.
#[derive(Debug)]
pub(crate) struct Pace {
    rate: u32,
    left: Cell<f64>,
    at: Cell<Instant>,
}

impl Pace {
    pub(crate) fn new(rate: u32) -> Self {
        Self { rate, left: Cell::new(f64::from(rate)), at: Cell::new(Instant::now()) }
    }

    /// Whether another may begin now; if not, how long until then.
    #[inline]
    pub(crate) fn ask(&self) -> Result<(), Duration> {
        if self.rate == 0 { Ok(()) } else { self.look(Instant::now()) }
    }

    fn look(&self, now: Instant) -> Result<(), Duration> {
        let rate = f64::from(self.rate);
        let passed = now.saturating_duration_since(self.at.replace(now)).as_secs_f64();
        let left = (self.left.get() + passed * rate).min(rate);
        self.left.set(left);
        if left >= 1.0 { Ok(()) } else { Err(Duration::from_secs_f64((1.0 - left) / rate)) }
    }

    /// One has begun.
    #[inline]
    pub(crate) fn take(&self) {
        self.left.set(self.left.get() - 1.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_many_a_second_and_as_many_at_once() {
        let (pace, start) = (Pace::new(4), Instant::now());
        let taken = |at: f64| {
            let now = start + Duration::from_secs_f64(at);
            std::iter::from_fn(|| pace.look(now).ok().map(|()| pace.take())).count()
        };
        assert_eq!([taken(0.0), taken(0.1), taken(0.5), taken(1.0), taken(60.0)], [4, 0, 2, 2, 4]);
        let wait = pace.look(start + Duration::from_secs(60)).unwrap_err();
        assert!((wait.as_secs_f64() - 0.25).abs() < 0.001, "{wait:?}");
        assert!(Pace::new(0).ask().is_ok());
    }
}
