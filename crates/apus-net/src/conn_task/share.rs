//! What one connection may begin before others have their turn.

use crate::clock::Clock;

/// Seconds after which no further request of the connection is begun: handlers may take long each.
const SLICE: f64 = 0.0005;

/// Requests that a connection began in its turn.
#[derive(Default)]
pub(super) struct Share {
    begun: u32,
    /// The wall clock when the first of them began, in seconds since 1970.
    since: f64,
    used: bool,
}

impl Share {
    /// A turn begins.
    #[inline]
    pub(super) fn renew(&mut self) {
        self.begun = 0;
        self.used = false;
    }

    /// A request begins, `at` by the wall clock.
    #[inline]
    pub(super) fn count(&mut self, at: f64) {
        if self.begun == 0 {
            self.since = at;
        }
        self.begun += 1;
    }

    /// Whether `most` requests have begun, or fewer that took longer than others should wait. To be asked when there is
    /// more to begin: it reads the clock.
    #[inline]
    pub(super) fn look(&mut self, most: u32, clock: &Clock) -> bool {
        self.used = self.begun >= most || (self.begun > 0 && clock.wall() - self.since > SLICE);
        self.used
    }

    /// Whether so long has passed since `begun`, by the wall clock, that others should have their turn, whatever came.
    pub(super) fn is_over(begun: f64, clock: &Clock) -> bool {
        clock.wall() - begun > SLICE
    }

    /// Whether it was used up when that was last looked at.
    #[inline]
    pub(super) fn is_used(&self) -> bool {
        self.used
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_many_requests_or_as_many_as_a_slice_holds() {
        let clock = Clock::new();
        let mut share = Share::default();
        for _ in 0..3 {
            assert!(!share.look(3, &clock));
            share.count(clock.wall());
        }
        assert!(share.look(3, &clock) && share.is_used());
        share.renew();
        assert!(!share.is_used() && !share.look(3, &clock));
        share.count(clock.wall() - 1.0);
        assert!(share.look(3, &clock), "one that took long is enough");
    }
}
