//! Latencies in shared memory: a fixed set of counters, two to an octave of microseconds.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Buckets of a histogram: two an octave from 1 µs, so the last begins at 54 minutes.
pub const BUCKETS: usize = 64;

/// Counts of latencies. One thread records; any process reads.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Histogram {
    counts: [AtomicU64; BUCKETS],
    /// The sum of all latencies, in microseconds.
    sum: AtomicU64,
}

impl Histogram {
    /// Counts one latency. Only the slot's worker calls this, so that plain stores do.
    pub fn record(&self, micros: u64) {
        let bucket = &self.counts[bucket(micros)];
        bucket.store(bucket.load(Relaxed) + 1, Relaxed);
        self.sum.store(self.sum.load(Relaxed).wrapping_add(micros), Relaxed);
    }

    /// Adds the counts to `sums`.
    pub fn add_to(&self, sums: &mut [u64; BUCKETS]) {
        for (sum, count) in sums.iter_mut().zip(&self.counts) {
            *sum += count.load(Relaxed);
        }
    }

    /// The sum of all latencies, in microseconds.
    pub fn sum(&self) -> u64 {
        self.sum.load(Relaxed)
    }

    /// Adds what a process that is gone has counted.
    pub(crate) fn take_over(&self, other: &Self) {
        let pairs = self.counts.iter().zip(&other.counts).chain([(&self.sum, &other.sum)]);
        pairs.for_each(|(sum, count)| sum.store(sum.load(Relaxed).wrapping_add(count.load(Relaxed)), Relaxed));
    }

    pub(crate) fn clear(&self) {
        self.counts.iter().chain([&self.sum]).for_each(|count| count.store(0, Relaxed));
    }
}

/// The bucket of a latency: twice its binary logarithm, plus one in the upper half of the octave.
fn bucket(micros: u64) -> usize {
    if micros < 2 {
        return 0;
    }
    let octave = micros.ilog2();
    let upper = (micros >> (octave - 1)) & 1;
    (octave as usize * 2 + upper as usize).min(BUCKETS - 1)
}

/// The least latency of a bucket, in microseconds.
pub(crate) fn floor(bucket: usize) -> f64 {
    let octave = (1u64 << (bucket / 2)) as f64;
    if bucket == 0 { 0.0 } else { octave * if bucket.is_multiple_of(2) { 1.0 } else { 1.5 } }
}

/// The latency, in microseconds, that the share `q` (0 to 1) of all counts does not exceed, interpolated inside its
/// bucket; 0 without counts.
pub fn percentile(counts: &[u64; BUCKETS], q: f64) -> f64 {
    let total: u64 = counts.iter().sum();
    let rank = (total as f64 * q.clamp(0.0, 1.0)).max(1.0);
    let mut below = 0.0;
    for (i, count) in counts.iter().enumerate() {
        let count = *count as f64;
        if count > 0.0 && below + count >= rank {
            // Bucket 1 is never filled: 1 µs is bucket 0, 2 µs is bucket 2.
            let ceiling = if i == 0 { 2.0 } else { floor(i + 1) };
            return floor(i) + (ceiling - floor(i)) * (rank - below) / count;
        }
        below += count;
    }
    0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_cover_every_latency_in_order() {
        assert_eq!([0, 1, 2, 3, 4, 6, 8, u64::MAX].map(bucket), [0, 0, 2, 3, 4, 5, 6, 63]);
        for micros in 2..100_000u64 {
            let b = bucket(micros);
            assert!(floor(b) <= micros as f64 && (micros as f64) < floor(b + 1), "{micros} in {b}");
        }
    }

    #[test]
    fn percentiles_stay_within_half_an_octave() {
        let mut counts = [0; BUCKETS];
        for micros in 1..=10_000u64 {
            counts[bucket(micros)] += 1;
        }
        for (q, exact) in [(0.5, 5000.0), (0.99, 9900.0), (0.1, 1000.0)] {
            let estimate = percentile(&counts, q);
            assert!((estimate / exact - 1.0).abs() < 0.25, "p{q}: {estimate} for {exact}");
        }
        assert!(percentile(&counts, 1.0) >= percentile(&counts, 0.5));
    }

    #[test]
    fn no_counts_no_latency() {
        assert!(percentile(&[0; BUCKETS], 0.99).abs() < f64::EPSILON);
    }
}
