//! How much output may wait, and how long.

use super::{OutputQueue, Sent, Sink};
use crate::config::Config;
use crate::pool::Pool;
use crate::worker::Worker;

/// A stretch of time in which a peer has to take its least.
#[derive(Debug, Clone, Copy)]
pub(super) struct Window {
    /// When it began (milliseconds of the worker's clock).
    since: u64,
    /// Bytes that the peer had acknowledged by then, counted from an arbitrary point.
    taken: i64,
}

/// Whether no more may be queued for a peer for which so many bytes wait: it has reached its own bound, or all the
/// connections of the worker have theirs. A connection with nothing of its own waiting does not suffer for the others.
pub(crate) fn is_over_bound(waiting: usize, config: &Config, worker: &Worker) -> bool {
    waiting >= config.max_output || (waiting > 0 && worker.output_bytes() >= config.max_buffered)
}

/// Whether a connection counts as full that was, or was not: between the watermarks it stays what it is.
pub(crate) fn is_full(was: bool, waiting: usize, config: &Config) -> bool {
    if was { waiting > config.low_watermark } else { waiting >= config.high_watermark }
}

impl OutputQueue {
    /// Lets `work` send, and counts what the sink took and what is left.
    #[inline]
    pub(crate) fn counting<R>(&mut self, worker: &Worker, work: impl FnOnce(&mut Self, &Pool) -> R) -> R {
        let before = self.written;
        let result = work(self, &worker.pool);
        let bytes_out = &worker.counters.bytes_out;
        bytes_out.set(bytes_out.get() + (self.written - before));
        self.count(worker);
        result
    }

    /// Sends what waits, and counts it.
    #[inline]
    pub(crate) fn flush(&mut self, sink: &mut impl Sink, worker: &Worker) -> std::io::Result<Sent> {
        self.counting(worker, |queue, pool| queue.send(sink, pool))
    }

    /// Has the worker know how much waits here.
    #[inline]
    pub(crate) fn count(&mut self, worker: &Worker) {
        let bytes = self.bytes();
        if bytes != self.counted {
            worker.count_output(self.counted, bytes);
            self.counted = bytes;
        }
    }

    /// Forgets what waits, also in the worker's count.
    pub(crate) fn give_up(&mut self, worker: &Worker) {
        self.discard(&worker.pool);
        self.count(worker);
    }

    /// Whether the peer took too little during a whole window of `send_timeout`. `in_flight`: bytes that the kernel has
    /// and the peer has not acknowledged.
    ///
    /// Progress is counted in bytes the peer acknowledged: the kernel reports a socket writable only when a third of
    /// its buffer is free, which a slow but honest client may need longer for. What the kernel has may have been sent
    /// past this queue, so the count may begin below zero.
    pub(crate) fn is_stalled(&mut self, now: u64, config: &Config, in_flight: impl FnOnce() -> u64) -> bool {
        if self.is_empty() || config.send_timeout == 0 {
            self.window = None;
            return false;
        }
        if self.window.is_some_and(|window| now.saturating_sub(window.since) < config.send_timeout) {
            return false;
        }
        let taken = self.written.cast_signed().saturating_sub_unsigned(in_flight());
        let before = self.window.replace(Window { since: now, taken });
        let least = (config.min_rate.saturating_mul(config.send_timeout) / 1_000).max(1);
        before.is_some_and(|window| taken.saturating_sub(window.taken) < least.cast_signed())
    }
}
