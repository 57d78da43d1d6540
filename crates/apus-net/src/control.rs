//! What a worker knows of its connections, and how it is told to drain.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::sync::Notify;

use crate::clock::Clock;
use crate::conn::{Conn, ConnInfo, Kill};
use crate::pool::Pool;
use crate::registry::Registry;
use crate::response::Responder;
use crate::wake::WakerList;

/// Totals of a worker since it began.
#[derive(Debug, Default)]
pub struct Counters {
    /// Connections accepted.
    pub accepted: Cell<u64>,
    /// Connections closed.
    pub closed: Cell<u64>,
    /// Requests handed to the app.
    pub requests: Cell<u64>,
    /// Answers that ended.
    pub answers: Cell<u64>,
    /// Answers with a status of 500 or more.
    pub errors: Cell<u64>,
    /// Requests refused before the app saw them (400, 408, 413, …).
    pub refused: Cell<u64>,
    /// Bytes read.
    pub bytes_in: Cell<u64>,
    /// Bytes sent.
    pub bytes_out: Cell<u64>,
}

/// What the worker around this crate wants to hear, and hands out. MUST NOT wait, and MUST NOT call back into the
/// connection it is told of.
pub trait Metrics {
    /// The session id of a new connection: unique on the server, not only in this worker.
    fn next_session(&self) -> i64;

    /// Whether another connection may be accepted now. When not, it stays in the listening queue and this is asked again
    /// when a connection closes, and a few times a second.
    fn may_accept(&self) -> bool {
        true
    }

    /// A connection was accepted.
    fn connected(&self, _conn: &ConnInfo) {}

    /// A connection is closed.
    fn closed(&self, _conn: &ConnInfo) {}

    /// A request is about to be handed to the app.
    fn request(&self, _conn: &ConnInfo) {}

    /// An answer has ended. `received_at` is when its request's head was complete, in seconds since 1970.
    fn answered(&self, _conn: &ConnInfo, _status: u16, _received_at: f64) {}

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

/// A worker's connections: counted, found by session id, closed, drained.
pub struct Control {
    pub(crate) metrics: Rc<dyn Metrics>,
    pub(crate) counters: Counters,
    pub(crate) clock: Clock,
    pub(crate) pool: Pool,
    pub(crate) registry: RefCell<Registry>,
    draining: Cell<bool>,
    /// Wakes listeners when draining begins.
    pub(crate) stop_accepting: Notify,
    /// Wakes listeners when there is room for a connection again.
    pub(crate) room: Notify,
    /// Wakes the sweep when the first connection opens.
    pub(crate) busy: Notify,
    idle: WakerList,
}

impl Control {
    /// For a worker that mirrors its counters elsewhere, or [`NoMetrics`].
    pub fn new(metrics: Rc<dyn Metrics>) -> Rc<Self> {
        Rc::new(Self {
            metrics,
            counters: Counters::default(),
            clock: Clock::new(),
            pool: Pool::default(),
            registry: RefCell::new(Registry::default()),
            draining: Cell::new(false),
            stop_accepting: Notify::new(),
            room: Notify::new(),
            busy: Notify::new(),
            idle: WakerList::default(),
        })
    }

    /// The totals.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Connections open now.
    pub fn connections(&self) -> usize {
        self.registry.borrow().len()
    }

    /// Session ids of the open connections, in no order.
    pub fn ids(&self) -> Vec<i64> {
        self.registry.borrow().ids()
    }

    /// An open connection.
    pub fn info(&self, id: i64) -> Option<Rc<ConnInfo>> {
        self.registry.borrow().find(id).map(|conn| Rc::clone(&conn.info))
    }

    /// A responder for the exchange that connection is in, if it waits for an answer.
    pub fn responder(&self, id: i64) -> Option<Responder> {
        let conn = self.registry.borrow().find(id)?;
        (!conn.exchange.has_ended()).then(|| Responder::new(conn))
    }

    /// Closes a connection: after the output that waits, or (`at_once`) without it. Whether it was open.
    pub fn close(&self, id: i64, at_once: bool) -> bool {
        let found = self.registry.borrow().find(id);
        found.is_some_and(|conn| {
            conn.kill(if at_once { Kill::Now } else { Kill::AfterOutput });
            true
        })
    }

    /// Stops accepting. Idle connections close within two seconds (long enough for a request that is already on its way);
    /// the others close with their next answer.
    pub fn drain(&self) {
        if !self.draining.replace(true) {
            self.stop_accepting.notify_waiters();
            self.sweep();
        }
    }

    /// Whether [`drain`](Self::drain) was called.
    #[inline]
    pub fn is_draining(&self) -> bool {
        self.draining.get()
    }

    /// Drains, and closes every connection at once.
    pub fn abort(&self) {
        self.drain();
        let all: Vec<Rc<Conn>> = self.registry.borrow().iter().cloned().collect();
        for conn in all {
            conn.kill(Kill::Now);
        }
    }

    /// Ready when no connection is open.
    pub fn idle(self: &Rc<Self>) -> Idle {
        Idle(Rc::clone(self))
    }

    /// For tests: from now on only [`advance`](Self::advance) moves the clock of the deadlines.
    #[doc(hidden)]
    pub fn stop_clock(&self) {
        self.clock.stop();
    }

    /// For tests: moves a stopped clock and looks at all deadlines.
    #[doc(hidden)]
    pub fn advance(&self, time: Duration) {
        self.clock.advance(u64::try_from(time.as_millis()).unwrap_or(u64::MAX));
        self.sweep();
    }

    /// Looks at every connection's deadlines.
    pub(crate) fn sweep(&self) {
        let now = self.clock.now();
        let draining = self.is_draining();
        for conn in self.registry.borrow().iter() {
            conn.sweep(now, draining);
        }
        self.metrics.sample(&self.counters);
    }

    #[inline]
    pub(crate) fn answered(&self, conn: &ConnInfo, status: u16, received_at: f64) {
        bump(&self.counters.answers);
        if status >= 500 {
            bump(&self.counters.errors);
        }
        self.metrics.answered(conn, status, received_at);
    }

    pub(crate) fn opened(&self, conn: &Rc<Conn>) {
        bump(&self.counters.accepted);
        let first = {
            let mut registry = self.registry.borrow_mut();
            registry.insert(conn);
            registry.len() == 1
        };
        if first {
            self.busy.notify_one();
        }
        self.metrics.connected(&conn.info);
    }

    pub(crate) fn closed(&self, conn: &Conn) {
        bump(&self.counters.closed);
        let last = {
            let mut registry = self.registry.borrow_mut();
            registry.remove(conn.info.id);
            registry.len() == 0
        };
        self.metrics.closed(&conn.info);
        self.room.notify_waiters();
        if last {
            self.metrics.sample(&self.counters);
            self.idle.wake_all();
        }
    }
}

impl std::fmt::Debug for Control {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Control")
            .field("connections", &self.connections())
            .field("draining", &self.is_draining())
            .finish_non_exhaustive()
    }
}

#[inline]
pub(crate) fn bump(counter: &Cell<u64>) {
    counter.set(counter.get() + 1);
}

/// Future of [`Control::idle`].
pub struct Idle(Rc<Control>);

impl Future for Idle {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.0.connections() == 0 {
            return Poll::Ready(());
        }
        self.0.idle.register(cx.waker());
        Poll::Pending
    }
}
