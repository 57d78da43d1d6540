//! Latencies in fixed buckets: 64 for each power of two, so a value is known to less than 1.6 %.

use std::fmt::Write;

const BITS: u32 = 6;
const STEPS: u64 = 1 << BITS;
const BUCKETS: usize = (64 - BITS as usize + 1) << BITS;

#[derive(Clone)]
pub struct Histogram {
    counts: Vec<u64>,
    total: u64,
    sum: u64,
    max: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self { counts: vec![0; BUCKETS], total: 0, sum: 0, max: 0 }
    }
}

impl Histogram {
    pub fn record(&mut self, value: u64) {
        self.counts[bucket(value)] += 1;
        self.total += 1;
        self.sum += value;
        self.max = self.max.max(value);
    }

    /// The greatest value of the bucket that the quantile falls into, but no more than the greatest recorded.
    pub fn quantile(&self, share: f64) -> u64 {
        let wanted = ((self.total as f64 * share).ceil() as u64).max(1);
        let mut seen = 0;
        for (index, count) in self.counts.iter().enumerate() {
            seen += count;
            if seen >= wanted {
                return highest(index).min(self.max);
            }
        }
        self.max
    }

    pub fn json(&self) -> String {
        let mean = self.sum.checked_div(self.total).unwrap_or(0);
        let (p50, p99, p999) = (self.quantile(0.5), self.quantile(0.99), self.quantile(0.999));
        format!(
            "{{\"count\":{},\"mean_ns\":{mean},\"p50_ns\":{p50},\"p99_ns\":{p99},\"p999_ns\":{p999},\"max_ns\":{}}}",
            self.total, self.max
        )
    }

    /// One line for another process: the sum, the greatest, then `bucket:count` of each bucket that is not empty.
    pub fn to_line(&self) -> String {
        let mut line = format!("{} {}", self.sum, self.max);
        for (index, count) in self.counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            // Writing to a String cannot fail.
            let _ = write!(line, " {index}:{count}");
        }
        line
    }

    /// Adds what another process wrote with `to_line`.
    pub fn absorb(&mut self, line: &str) -> Option<()> {
        let mut words = line.split(' ');
        self.sum += words.next()?.parse::<u64>().ok()?;
        self.max = self.max.max(words.next()?.parse().ok()?);
        for word in words {
            let (index, count) = word.split_once(':')?;
            let count: u64 = count.parse().ok()?;
            *self.counts.get_mut(index.parse::<usize>().ok()?)? += count;
            self.total += count;
        }
        Some(())
    }
}

fn bucket(value: u64) -> usize {
    let shift = (64 - value.leading_zeros()).saturating_sub(BITS + 1);
    ((u64::from(shift) << BITS) + (value >> shift)) as usize
}

fn highest(index: usize) -> u64 {
    let index = index as u64;
    if index < 2 * STEPS {
        return index;
    }
    let shift = (index >> BITS) - 1;
    let first = (index - (shift << BITS)) << shift;
    first + ((1 << shift) - 1)
}

#[cfg(test)]
mod tests {
    use super::{BUCKETS, Histogram, bucket, highest};

    #[test]
    fn buckets_are_narrow_and_in_order() {
        for value in [0, 1, 63, 64, 127, 128, 129, 1000, 123_456, 987_654_321, u64::MAX / 2, u64::MAX] {
            let index = bucket(value);
            assert!(index < BUCKETS, "{value}");
            assert!(highest(index) >= value, "{value}");
            assert!(highest(index) - value <= value / 64, "{value} and {}", highest(index));
            assert!(index == 0 || highest(index - 1) < value, "{value}");
        }
    }

    #[test]
    fn quantiles_of_a_thousand() {
        let mut hist = Histogram::default();
        (1..=1000).for_each(|value| hist.record(value * 1000));
        for (share, value) in [(0.5, 500_000.0), (0.99, 990_000.0), (0.999, 999_000.0)] {
            let found = hist.quantile(share) as f64;
            assert!((found / value - 1.0).abs() < 0.016, "{share}: {found}");
        }
        assert_eq!(hist.quantile(1.0), 1_000_000);
        assert!(hist.json().starts_with("{\"count\":1000,\"mean_ns\":500500,"), "{}", hist.json());
    }

    #[test]
    fn lines_add_up() {
        let (mut one, mut other, mut all) = (Histogram::default(), Histogram::default(), Histogram::default());
        for value in [5, 70, 70, 90_000] {
            one.record(value);
            all.record(value);
        }
        for value in [70, 4_000_000_000] {
            other.record(value);
            all.record(value);
        }
        one.absorb(&other.to_line()).unwrap();
        assert_eq!(one.json(), all.json());
        assert_eq!(one.to_line(), all.to_line());
        assert!(one.absorb("1 2 99999999:1").is_none());
        assert_eq!(Histogram::default().quantile(0.5), 0);
    }
}
