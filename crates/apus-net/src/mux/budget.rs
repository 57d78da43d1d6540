//! What a peer may make us do for nothing: frames that need an answer, streams that are broken off.

/// A number of such things, which comes back with time, and with what is useful.
#[derive(Debug)]
pub(crate) struct Budget {
    left: u32,
    most: u32,
    per_second: u32,
    /// Until when the time has been counted, in milliseconds.
    counted: u64,
}

impl Budget {
    pub(crate) fn new(most: u32, per_second: u32, now: u64) -> Self {
        Self { left: most, most, per_second, counted: now }
    }

    /// Whether there was enough left.
    #[must_use]
    pub(crate) fn spend(&mut self, count: u32, now: u64) -> bool {
        if self.left < count {
            self.count_time(now);
        }
        let left = self.left.checked_sub(count);
        self.left = left.unwrap_or(0);
        left.is_some()
    }

    pub(crate) fn earn(&mut self, count: u32) {
        self.left = self.left.saturating_add(count).min(self.most);
    }

    fn count_time(&mut self, now: u64) {
        let passed = now.saturating_sub(self.counted);
        let earned = passed.saturating_mul(self.per_second.into()) / 1000;
        if earned > 0 {
            self.counted = now;
            self.earn(u32::try_from(earned).unwrap_or(u32::MAX));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Budget;

    #[test]
    fn it_comes_back_with_time() {
        let mut budget = Budget::new(10, 5, 1000);
        assert!(budget.spend(10, 1000));
        assert!(!budget.spend(1, 1100));
        assert!(budget.spend(2, 1500));
        assert!(!budget.spend(1, 1500));
        assert!(budget.spend(10, 60_000));
        assert!(!budget.spend(1, 60_000));
        budget.earn(1);
        assert!(budget.spend(1, 60_000));
    }
}
