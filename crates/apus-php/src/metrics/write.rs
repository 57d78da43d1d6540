//! What the program's own metrics say, as text for Prometheus and for `/status`.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use apus_process::{Family, MetricSnapshot, SeriesSnapshot, Text};

use super::histogram::totals;
use super::{MADE, Metric};

/// Writes all metrics that this program has made. Locks nothing.
pub(crate) fn write(text: &mut Text) {
    MADE.with_borrow(|made| made.iter().for_each(|metric| family(metric, text)));
}

fn family(metric: &Metric, text: &mut Text) {
    let declared = &metric.declared;
    text.family(declared.kind, &declared.name, &declared.help);
    for (values, words) in metric.series.all() {
        let labels: Vec<_> =
            declared.labels.iter().map(String::as_str).zip(values.iter().map(String::as_str)).collect();
        if declared.kind == Family::Histogram {
            // The total is made of the same reads as the buckets: it is at least as large as each.
            let counts = below(words, declared.bounds.len());
            let (bounds, total) = (declared.bounds.iter().copied(), counts.last().copied().unwrap_or(0));
            text.histogram(&labels, bounds.zip(counts), total, totals(words).1);
        } else {
            text.sample(&labels, float(&words[0]));
        }
    }
}

fn float(word: &AtomicU64) -> f64 {
    f64::from_bits(word.load(Relaxed))
}

/// How many values are at most as large as each bound, and how many there are.
fn below(words: &[AtomicU64], bounds: usize) -> Vec<u64> {
    let mut sum = 0;
    let counts = words.iter().take(bounds + 1).map(|count| {
        sum += count.load(Relaxed);
        sum
    });
    counts.collect()
}

/// The same for `/status`.
pub(crate) fn status() -> Vec<MetricSnapshot> {
    MADE.with_borrow(|made| made.iter().map(|metric| snapshot(metric)).collect())
}

fn snapshot(metric: &Metric) -> MetricSnapshot {
    let declared = &metric.declared;
    let series = metric.series.all().into_iter().map(|(values, words)| {
        let labels = declared.labels.iter().cloned().zip(values).collect();
        if declared.kind == Family::Histogram {
            let (count, sum) = totals(words);
            return SeriesSnapshot { labels, count: Some(count), sum: Some(sum), value: None };
        }
        SeriesSnapshot { labels, value: Some(float(&words[0])), ..SeriesSnapshot::default() }
    });
    MetricSnapshot { name: declared.name.clone(), kind: declared.kind.word().to_owned(), series: series.collect() }
}
