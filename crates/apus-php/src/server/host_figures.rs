//! What is counted of each host's answers, over all workers: there are counters for hosts that are configured, and one
//! for all other names, whatever clients ask for.

use std::io;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use apus_process::{Family, Text};
use apus_shm::{OTHER, Series};

use super::host::HostCore;

/// The words of a host: answers by the first digit of their status, then latencies, then the sum of these.
const CLASSES: usize = 5;
/// The first bound is 2^6 µs, the last one 2^26 µs, which is 67 s.
const FIRST_OCTAVE: u32 = 6;
const BOUNDS: usize = 21;
const SUM: usize = CLASSES + BOUNDS + 1;
const WORDS: usize = SUM + 1;

/// The counters.
#[derive(Debug)]
pub(super) struct HostFigures {
    series: Series,
    /// The slot of each host by its number; of 0 that of all other names.
    slots: Vec<usize>,
    names: Vec<String>,
}

impl HostFigures {
    /// `None` for a server that has no hosts: nothing is counted then. Made before the fork.
    pub(super) fn new(hosts: &[Rc<HostCore>]) -> io::Result<Option<Rc<Self>>> {
        if hosts.is_empty() {
            return Ok(None);
        }
        let names: Vec<_> = hosts.iter().map(|host| host.names.first().cloned().unwrap_or_default()).collect();
        let names: Vec<_> = std::iter::once(OTHER.to_owned()).chain(names).collect();
        let series = Series::new(1, WORDS, names.len())?;
        let slots = names.iter().map(|name| series.find(&[name.as_bytes()]).slot).collect();
        Ok(Some(Rc::new(Self { series, slots, names })))
    }

    /// Counts an answer.
    #[inline]
    pub(super) fn count(&self, host: u16, status: u16, micros: u64) {
        let Some(slot) = self.slots.get(usize::from(host)) else { return };
        let words = self.series.words(*slot);
        let class = (usize::from(status) / 100).clamp(1, CLASSES) - 1;
        words[class].fetch_add(1, Relaxed);
        words[CLASSES + bucket(micros)].fetch_add(1, Relaxed);
        words[SUM].fetch_add(micros, Relaxed);
    }

    fn hosts(&self) -> impl Iterator<Item = (&str, &[AtomicU64])> {
        self.names.iter().zip(&self.slots).map(|(name, slot)| (name.as_str(), self.series.words(*slot)))
    }

    /// Writes them.
    pub(super) fn write(&self, text: &mut Text) {
        text.family(Family::Counter, "apus_http_host_requests", "Answers by host and class of status codes.");
        for (host, words) in self.hosts() {
            for (class, count) in words[..CLASSES].iter().enumerate() {
                let code = format!("{}xx", class + 1);
                text.sample(&[("host", host), ("code", &code)], count.load(Relaxed) as f64);
            }
        }
        let (name, help) = ("apus_http_host_request_duration_seconds", "The same time by host.");
        text.family(Family::Histogram, name, help);
        for (host, words) in self.hosts() {
            let mut below = 0;
            let buckets: Vec<_> = (0..=BOUNDS)
                .map(|at| {
                    below += words[CLASSES + at].load(Relaxed);
                    ((1u64 << (FIRST_OCTAVE as usize + at)) as f64 / 1e6, below)
                })
                .collect();
            let sum = words[SUM].load(Relaxed) as f64 / 1e6;
            text.histogram(&[("host", host)], buckets.into_iter().take(BOUNDS), below, sum);
        }
    }
}

/// The bucket of a latency; the last one is for what lies above all bounds.
fn bucket(micros: u64) -> usize {
    let octaves = (micros.max(1).ilog2() + 1).saturating_sub(FIRST_OCTAVE) as usize;
    octaves.min(BOUNDS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latencies_are_below_the_bounds_of_their_buckets() {
        let bound = |at: usize| 1u64 << (FIRST_OCTAVE as usize + at);
        for micros in (0..100).chain([127, 128, 1000, 1 << 20, (1 << 26) - 1]) {
            let at = bucket(micros);
            assert!(micros < bound(at) && (at == 0 || micros >= bound(at - 1)), "{micros}");
        }
        assert_eq!((bucket(1 << 26), bucket(u64::MAX)), (BOUNDS, BOUNDS));
    }
}
