//! `Apus\Metrics\Histogram`.

use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use apus_process::Family;
use apus_shm::add_float;
use apus_zend::arg::{Given, Rest};
use apus_zend::value::ArrayView;
use apus_zend::{Raise, native};

use super::{Metric, declare, finite};

pub(super) struct Histogram(Rc<Metric>);

native!(Histogram, "Apus\\Metrics\\Histogram");

pub(super) fn construct(
    name: Given<&[u8]>,
    help: &[u8],
    labels: Given<Option<ArrayView<'_>>>,
    buckets: Given<Option<ArrayView<'_>>>,
    series: Given<i64>,
) -> Result<Histogram, Raise> {
    let bounds = declare::bounds(&buckets)?;
    declare::declare(Family::Histogram, &name, help, &labels, &series, bounds).map(Histogram)
}

pub(super) fn observe(histogram: &Histogram, value: Given<f64>, labels: Rest<'_>) -> Result<(), Raise> {
    let value = finite(&value)?;
    histogram.0.with(labels, |metric, labels| {
        let bounds = &metric.declared.bounds;
        let words = metric.words(labels);
        // The bucket behind the last bound is for what lies above all.
        let bucket = bounds.partition_point(|bound| *bound < value);
        words[bucket].fetch_add(1, Relaxed);
        add_float(&words[bounds.len() + 1], value);
    })
}

/// How many values there are, and their sum.
pub(super) fn totals(words: &[AtomicU64]) -> (u64, f64) {
    let Some((sum, counts)) = words.split_last() else { return (0, 0.0) };
    (counts.iter().map(|count| count.load(Relaxed)).sum(), f64::from_bits(sum.load(Relaxed)))
}

pub(super) fn count(histogram: &Histogram, labels: Rest<'_>) -> Result<u64, Raise> {
    histogram.0.with(labels, |metric, labels| metric.peek(labels).map_or(0, |words| totals(words).0))
}

pub(super) fn sum(histogram: &Histogram, labels: Rest<'_>) -> Result<f64, Raise> {
    histogram.0.with(labels, |metric, labels| metric.peek(labels).map_or(0.0, |words| totals(words).1))
}
