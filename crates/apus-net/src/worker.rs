//! What the connections of a worker share, whatever they speak: its counters, its clock, its memory, and whether it
//! drains. It knows no connection.

use std::cell::Cell;
use std::io;
use std::rc::Rc;

use tokio::sync::Notify;

use crate::account::Account;
use crate::clock::Clock;
use crate::exchange::Exchange;
use crate::info::ConnInfo;
use crate::method::Method;
use crate::note::note_unread;
use crate::pool::Pool;
use crate::wake::WakerList;

/// While the worker drains, an idle connection gets this long to bring one more request, so that a request that is
/// already on its way is answered and not met by a reset. Milliseconds.
pub(crate) const DRAIN_GRACE: u64 = 2_000;
/// What logs say of requests whose clients did not wait for the answer.
pub(crate) const CLIENT_LEFT: u16 = 499;

/// Totals of a worker since it began.
#[derive(Debug, Default)]
pub struct Counters {
    /// Connections accepted.
    pub accepted: Cell<u64>,
    /// Connections closed.
    pub closed: Cell<u64>,
    /// Requests handed to the app.
    pub requests: Cell<u64>,
    /// Answers that are complete.
    pub answers: Cell<u64>,
    /// Requests handed to the app whose exchange ended without a complete answer.
    pub lost: Cell<u64>,
    /// Answers with a status of 500 or more.
    pub errors: Cell<u64>,
    /// Requests refused before the app saw them (400, 408, 413, …).
    pub refused: Cell<u64>,
    /// Bytes read.
    pub bytes_in: Cell<u64>,
    /// Bytes sent.
    pub bytes_out: Cell<u64>,
    /// TLS handshakes that agreed on new keys.
    pub tls_full: Cell<u64>,
    /// TLS handshakes that resumed an earlier session.
    pub tls_resumed: Cell<u64>,
    /// Connections that ended before their TLS handshake was over.
    pub tls_failed: Cell<u64>,
    /// Streams of HTTP/2 that clients opened.
    pub http2_streams: Cell<u64>,
    /// Streams of HTTP/2 that clients broke off.
    pub http2_resets_received: Cell<u64>,
    /// Streams of HTTP/2 that were broken off here.
    pub http2_resets_sent: Cell<u64>,
}

/// An answer, as far as it came.
#[derive(Debug, Clone, Copy)]
pub struct Answered<'a> {
    /// The request's method.
    pub method: Method,
    /// The number of the host that it was for, in the order of `Config::hosts`, from 1; 0 for none of them.
    pub host: u16,
    /// The status code; 499 where the client left first.
    pub status: u16,
    /// When the request's head was complete, in seconds since 1970.
    pub received_at: f64,
    /// Bytes of the body.
    pub sent: u64,
    /// What was noted of the request (`Config::noted`), else nothing.
    pub noted: &'a [u8],
}

/// Connections that make no difference between workers while many wait.
const SLACK: u64 = 8;

/// How many connections a worker has beside those that accept from the same sockets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Standing {
    /// Its own.
    pub own: u64,
    /// The mean of all that serve.
    pub mean: u64,
    /// How many serve; 0 or 1 for one that is alone.
    pub workers: u64,
}

impl Standing {
    /// How far from the mean is as good as at it.
    fn margin(self) -> u64 {
        self.mean / 8 + 1
    }

    /// Whether it has clearly more than its share.
    pub(crate) fn is_far_ahead(self) -> bool {
        self.workers > 1 && self.own > self.mean + self.margin()
    }

    /// How many connections it takes before the others come first. Who lacks some takes more, but not many more: they
    /// may all be short ones, by which it never gets its share.
    pub(crate) fn at_once(self) -> u32 {
        if self.workers <= 1 {
            u32::MAX
        } else if self.is_far_ahead() {
            2
        } else if self.own + self.margin() < self.mean {
            8
        } else {
            4
        }
    }

    /// How many of so few connections that wait are its own to take, whatever it has.
    pub(crate) fn part_of_few(self, waiting: usize) -> usize {
        waiting.div_ceil(usize::try_from(self.workers).unwrap_or(1).max(1))
    }

    /// How many of so many connections that wait are its own to take.
    pub(crate) fn part_of(self, waiting: usize) -> usize {
        if self.workers <= 1 {
            return waiting;
        }
        let fair = self.mean + waiting as u64 / self.workers + SLACK;
        usize::try_from(fair.saturating_sub(self.own)).map_or(waiting, |part| part.min(waiting))
    }
}

/// What the worker around this crate wants to hear, and hands out. MUST NOT wait, and MUST NOT call back into the
/// connection it is told of.
pub trait Metrics {
    /// The session id of a new connection: unique on the server, not only in this worker.
    fn next_session(&self) -> i64;

    /// Whether another connection may be accepted now. When not, it stays in the listening queue and this is asked
    /// again when a connection closes, and a few times a second.
    fn may_accept(&self) -> bool {
        true
    }

    /// A connection was accepted.
    fn connected(&self, _conn: &ConnInfo) {}

    /// A connection is closed.
    fn closed(&self, _conn: &ConnInfo) {}

    /// A connection became a WebSocket.
    fn upgraded(&self, _conn: &ConnInfo) {}

    /// As much output waits for a message connection as its high watermark says (`full`), or no longer.
    fn pressure(&self, _conn: &ConnInfo, _full: bool) {}

    /// A message connection ends because its peer broke the protocol.
    fn refused(&self, _conn: &ConnInfo, _why: &str) {}

    /// A connection's peer did not come to speak TLS, for this reason.
    fn unsealed(&self, _conn: &ConnInfo, _why: &io::Error) {}

    /// How many connections this worker has beside the others that accept from the same sockets.
    fn standing(&self) -> Standing {
        Standing::default()
    }

    /// A request is about to be handed to the app.
    fn request(&self, _conn: &ConnInfo) {}

    /// An answer is complete.
    fn answered(&self, _conn: &ConnInfo, _answer: &Answered<'_>) {}

    /// The exchange of a request that was handed to the app ended without a complete answer.
    fn lost(&self, _conn: &ConnInfo, _answer: &Answered<'_>) {}

    /// A request was refused before the app saw it.
    fn rejected(&self, _conn: &ConnInfo, _answer: &Answered<'_>) {}

    /// A few times a second while connections are open, and once when the last is closed.
    fn sample(&self, _counters: &Counters) {}

    /// Something an operator should know, once an occasion.
    fn warn(&self, message: &str) {
        eprintln!("{message}");
    }
}

/// Counts nothing; session ids are 1, 2, 3, …
#[derive(Debug, Default)]
pub struct NoMetrics(Cell<i64>);

impl Metrics for NoMetrics {
    fn next_session(&self) -> i64 {
        self.0.set(self.0.get() + 1);
        self.0.get()
    }
}

/// A listener may take connections while it has one of these.
pub(crate) struct Accepting(Rc<Worker>);

impl Accepting {
    pub(crate) fn new(worker: &Rc<Worker>) -> Self {
        worker.accepting.set(worker.accepting.get() + 1);
        Self(Rc::clone(worker))
    }
}

impl Drop for Accepting {
    fn drop(&mut self) {
        self.0.accepting.set(self.0.accepting.get() - 1);
        if !self.0.accepts() {
            self.0.none_accepts.wake_all();
        }
    }
}

/// What the connections of a worker share.
pub(crate) struct Worker {
    pub(crate) metrics: Rc<dyn Metrics>,
    pub(crate) counters: Counters,
    pub(crate) clock: Clock,
    pub(crate) pool: Pool,
    /// Memory that what clients have sent takes.
    pub(crate) account: Rc<Account>,
    /// Connections that are open.
    open: Cell<usize>,
    /// Bytes of output that wait in memory over all connections.
    output_bytes: Cell<usize>,
    /// Writers that wait for `output_bytes` to fall.
    pub(crate) output_fell: WakerList,
    /// When draining began (milliseconds of the worker's clock).
    draining: Cell<Option<u64>>,
    /// Wakes listeners when draining begins.
    pub(crate) stop_accepting: Notify,
    /// Listeners that may still take a connection.
    accepting: Cell<usize>,
    /// Tasks waiting until none does.
    pub(crate) none_accepts: WakerList,
    /// Wakes listeners when there is room for a connection again.
    pub(crate) room: Notify,
    /// Wakes the sweep when the first connection opens.
    pub(crate) busy: Notify,
    /// Tasks waiting until no connection is open.
    pub(crate) idle: WakerList,
}

impl Worker {
    pub(crate) fn new(metrics: Rc<dyn Metrics>) -> Rc<Self> {
        Rc::new(Self {
            metrics,
            counters: Counters::default(),
            clock: Clock::new(),
            pool: Pool::default(),
            account: Rc::default(),
            open: Cell::new(0),
            output_bytes: Cell::new(0),
            output_fell: WakerList::default(),
            draining: Cell::new(None),
            stop_accepting: Notify::new(),
            accepting: Cell::new(0),
            none_accepts: WakerList::default(),
            room: Notify::new(),
            busy: Notify::new(),
            idle: WakerList::default(),
        })
    }

    /// Connections that are open.
    pub(crate) fn connections(&self) -> usize {
        self.open.get()
    }

    /// Bytes of output that wait in memory over all connections.
    pub(crate) fn output_bytes(&self) -> usize {
        self.output_bytes.get()
    }

    /// The output of a connection that waits was so much, and is so much.
    pub(crate) fn count_output(&self, before: usize, after: usize) {
        self.output_bytes.set((self.output_bytes.get() + after).saturating_sub(before));
        if after < before {
            self.output_fell.wake_all();
        }
    }

    /// Has listeners end, once. Whether draining began with this call.
    pub(crate) fn begin_draining(&self) -> bool {
        if self.is_draining() {
            return false;
        }
        self.draining.set(Some(self.clock.now()));
        self.stop_accepting.notify_waiters();
        true
    }

    #[inline]
    pub(crate) fn is_draining(&self) -> bool {
        self.draining.get().is_some()
    }

    /// Whether a listener may still take a connection.
    pub(crate) fn accepts(&self) -> bool {
        self.accepting.get() > 0
    }

    /// When draining began, in milliseconds of the worker's clock.
    pub(crate) fn draining_since(&self) -> u64 {
        self.draining.get().unwrap_or(0)
    }

    /// No connection is open.
    pub(crate) fn rest(&self) {
        self.account.trim(self.clock.now(), true);
    }

    #[inline]
    pub(crate) fn answered(&self, conn: &ConnInfo, exchange: &Exchange, host: u16, status: u16) {
        bump(&self.counters.answers);
        if status >= 500 {
            bump(&self.counters.errors);
        }
        self.metrics.answered(conn, &Answered { host, ..answer(exchange, status, &exchange.entry.borrow()) });
    }

    /// The exchange of a request that was handed to the app ended without a complete answer.
    pub(crate) fn lost(&self, conn: &ConnInfo, exchange: &Exchange, host: u16) {
        bump(&self.counters.lost);
        self.metrics.lost(conn, &Answered { host, ..answer(exchange, CLIENT_LEFT, &exchange.entry.borrow()) });
    }

    /// A request is refused that the app never sees; `noting` is the host that it was for, where that is logged.
    pub(crate) fn refused(&self, conn: &ConnInfo, exchange: &Exchange, status: u16, noting: Option<u16>) {
        bump(&self.counters.refused);
        if let Some(host) = noting {
            let mut noted = exchange.entry.borrow_mut();
            note_unread(&mut noted, conn);
            exchange.entry_of.set(None);
            // Its head may never have been complete.
            let refused = Answered { host, received_at: self.clock.wall(), ..answer(exchange, status, &noted) };
            self.metrics.rejected(conn, &refused);
        }
    }

    /// A request that was noted is sent elsewhere, and the app never sees it.
    pub(crate) fn redirected(&self, conn: &ConnInfo, exchange: &Exchange, host: u16, status: u16) {
        self.metrics.rejected(conn, &Answered { host, ..answer(exchange, status, &exchange.entry.borrow()) });
    }

    /// Reading failed: where that is because of TLS, it is told.
    #[cold]
    pub(crate) fn unsealed(&self, conn: &ConnInfo, error: &io::Error) {
        if conn.tls().is_none() && matches!(error.kind(), io::ErrorKind::InvalidData | io::ErrorKind::Unsupported) {
            self.metrics.unsealed(conn, error);
        }
    }

    /// A connection was accepted.
    pub(crate) fn opened(&self, info: &ConnInfo) {
        bump(&self.counters.accepted);
        let before = self.open.get();
        self.open.set(before + 1);
        if before == 0 {
            self.busy.notify_one();
        }
        self.metrics.connected(info);
    }

    /// A connection is gone.
    pub(crate) fn closed(&self, info: &ConnInfo) {
        bump(&self.counters.closed);
        if info.tls_begun.get() && info.tls.get().is_none() {
            bump(&self.counters.tls_failed);
        }
        let left = self.open.get().saturating_sub(1);
        self.open.set(left);
        info.leave();
        self.metrics.closed(info);
        self.room.notify_waiters();
        if left == 0 {
            self.metrics.sample(&self.counters);
            self.idle.wake_all();
        }
    }
}

#[inline]
fn answer<'a>(exchange: &Exchange, status: u16, noted: &'a [u8]) -> Answered<'a> {
    let (method, received_at, sent) = (exchange.method.get(), exchange.received_at.get(), exchange.sent.get());
    Answered { method, host: 0, status, received_at, sent, noted }
}

#[inline]
pub(crate) fn bump(counter: &Cell<u64>) {
    counter.set(counter.get() + 1);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_known_by_the_mean() {
        let standing = |own, mean, workers| Standing { own, mean, workers };
        assert!(!standing(5, 0, 1).is_far_ahead());
        let cases = [standing(5, 0, 1), standing(1, 0, 2), standing(2, 0, 2), standing(69, 80, 4), standing(68, 80, 4)];
        assert_eq!(cases.map(Standing::at_once), [u32::MAX, 4, 2, 4, 8]);
        assert!(!standing(1, 0, 2).is_far_ahead() && standing(2, 0, 2).is_far_ahead());
        assert!(!standing(91, 80, 4).is_far_ahead() && standing(92, 80, 4).is_far_ahead());
        assert_eq!([standing(0, 0, 0).part_of(100), standing(7, 0, 1).part_of(100)], [100; 2]);
        let parts = [standing(0, 0, 4), standing(20, 20, 4), standing(50, 20, 4), standing(53, 20, 4)];
        assert_eq!(parts.map(|standing| standing.part_of(100)), [33, 33, 3, 0]);
        assert_eq!(standing(0, 1000, 4).part_of(100), 100);
        assert_eq!([standing(0, 0, 0).part_of_few(9), standing(50, 20, 4).part_of_few(9)], [9, 3]);
    }
}
