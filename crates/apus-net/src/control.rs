//! What a worker knows of its connections, and how it is told to drain.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::sync::Notify;

use crate::account::Account;
use crate::clock::Clock;
use crate::conn::{ConnInfo, Kill};
use crate::message_conn::{MessageConn, Reactor, Run, SharedDeflate};
use crate::pool::Pool;
use crate::registry::{Entry, Registry};
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

    /// Whether this worker has so many connections that others should take the next.
    fn is_crowded(&self) -> bool {
        false
    }

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
    /// When draining began (milliseconds of the worker's clock).
    draining: Cell<Option<u64>>,
    pub(crate) deflate: SharedDeflate,
    /// What waits for the sockets of message connections.
    reactor: std::cell::OnceCell<Rc<Reactor>>,
    /// Bytes of output that wait over all message connections.
    buffered: Cell<usize>,
    /// Senders that wait for `buffered` to fall.
    pub(crate) drained: WakerList,
    corked: Cell<bool>,
    /// Bytes of messages that handlers hold.
    pending: Cell<usize>,
    /// Memory that what clients have sent takes.
    pub(crate) account: Rc<Account>,
    /// Message connections that are not read until handlers end, or others take less memory.
    starved: RefCell<Vec<Rc<MessageConn>>>,
    /// Message connections that were written to while the worker was corked.
    dirty: RefCell<Vec<Rc<MessageConn>>>,
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
            draining: Cell::new(None),
            deflate: SharedDeflate::default(),
            reactor: std::cell::OnceCell::new(),
            buffered: Cell::new(0),
            drained: WakerList::default(),
            corked: Cell::new(false),
            pending: Cell::new(0),
            account: Rc::default(),
            starved: RefCell::default(),
            dirty: RefCell::default(),
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
        self.registry.borrow().find(id).map(|entry| Rc::clone(entry.info()))
    }

    /// A responder for the exchange that connection is in, if it waits for an answer.
    pub fn responder(&self, id: i64) -> Option<Responder> {
        let Entry::Http(conn) = self.registry.borrow().find(id)?.clone() else { return None };
        (!conn.exchange.has_ended()).then(|| Responder::new(conn))
    }

    /// A connection that exchanges messages.
    #[inline]
    pub fn message_conn(&self, id: i64) -> Option<Rc<MessageConn>> {
        match self.registry.borrow().find(id)? {
            Entry::MessageConn(message_conn) => Some(Rc::clone(message_conn)),
            Entry::Http(_) => None,
        }
    }

    /// Whether the connection is open: HTTP or a message connection.
    pub fn contains(&self, id: i64) -> bool {
        self.registry.borrow().find(id).is_some()
    }

    /// Every message connection.
    pub fn message_conns(&self) -> Vec<Rc<MessageConn>> {
        let registry = self.registry.borrow();
        registry
            .iter()
            .filter_map(
                |entry| if let Entry::MessageConn(message_conn) = entry { Some(Rc::clone(message_conn)) } else { None },
            )
            .collect()
    }

    /// Holds output of message connections back until [`uncork`](Self::uncork), so that many messages to one message
    /// connection leave in few writes. MUST be followed by `uncork` before the loop goes on.
    pub fn cork(&self) {
        self.corked.set(true);
    }

    /// Sends what was held back.
    pub fn uncork(&self) {
        self.corked.set(false);
        let dirty = self.dirty.take();
        for message_conn in &dirty {
            message_conn.set_flags(|flags| flags.dirty = false);
            message_conn.flush();
        }
    }

    /// Bytes of messages that handlers hold.
    pub(crate) fn pending(&self) -> usize {
        self.pending.get()
    }

    pub(crate) fn take_pending(&self, bytes: usize) {
        self.pending.set(self.pending.get() + bytes);
    }

    /// A handler is over: message connections that waited for it may be read on.
    pub(crate) fn give_pending(&self, bytes: usize) {
        self.pending.set(self.pending.get().saturating_sub(bytes));
        self.retry_starved();
    }

    /// Has the message connections that found no room look again.
    fn retry_starved(&self) {
        for message_conn in self.starved.take() {
            message_conn.set_flags(|flags| flags.starved = false);
            message_conn.wake_later();
        }
    }

    /// Bytes that what clients have sent takes, and the program has not finished with.
    pub fn incoming(&self) -> usize {
        self.account.used()
    }

    /// Has a message connection run again when a handler has ended.
    pub(crate) fn starve(&self, message_conn: &Rc<MessageConn>) {
        if !message_conn.flags().starved {
            message_conn.set_flags(|flags| flags.starved = true);
            self.starved.borrow_mut().push(Rc::clone(message_conn));
        }
    }

    /// Makes what message connections need while there are descriptors to be had.
    pub(crate) fn prepare_message_conns(&self) -> std::io::Result<()> {
        if self.reactor.get().is_none() {
            // There is one thread: nobody else can have made one.
            let _ = self.reactor.set(Reactor::start()?);
        }
        Ok(())
    }

    /// Runs a message connection from now on.
    pub(crate) fn run_message_conn(&self, message_conn: &Rc<MessageConn>, runner: Box<dyn Run>) -> std::io::Result<()> {
        self.prepare_message_conns()?;
        self.reactor.get().map_or(Ok(()), |reactor| reactor.attach(message_conn, runner))
    }

    /// Has a message connection run soon.
    pub(crate) fn wake_message_conn(&self, message_conn: &MessageConn) {
        if let Some(reactor) = self.reactor.get() {
            reactor.wake(message_conn);
        }
    }

    /// Lends the bytes that the message connection which runs may still inflate.
    pub(crate) fn with_inflate_budget<R>(&self, work: impl FnOnce(&mut usize) -> R) -> R {
        let mut budget = self.reactor.get().map_or(usize::MAX, |reactor| reactor.budget.get());
        let result = work(&mut budget);
        if let Some(reactor) = self.reactor.get() {
            reactor.budget.set(budget);
        }
        result
    }

    /// Has a message connection go on inflating after those that inflate less.
    pub(crate) fn fall_behind(&self, message_conn: &MessageConn) {
        if let Some(reactor) = self.reactor.get() {
            reactor.fall_behind(message_conn);
        }
    }

    /// Leaves a small message to the end of the reactor's turn; `false`: it is to be sent at once.
    #[inline]
    pub(crate) fn put_in_outbox(&self, message_conn: &Rc<MessageConn>, parts: [&[u8]; 2]) -> bool {
        self.reactor.get().is_some_and(|reactor| reactor.outbox.put(message_conn, parts))
    }

    /// Sends what the reactor's turn has gathered.
    pub(crate) fn send_outbox(&self) {
        if let Some(reactor) = self.reactor.get() {
            reactor.outbox.send();
        }
    }

    #[inline]
    pub(crate) fn is_corked(&self) -> bool {
        self.corked.get()
    }

    pub(crate) fn note_dirty(&self, message_conn: &Rc<MessageConn>) {
        self.dirty.borrow_mut().push(Rc::clone(message_conn));
    }

    /// Bytes of output that wait over all message connections.
    pub fn buffered(&self) -> usize {
        self.buffered.get()
    }

    pub(crate) fn buffer(&self, bytes: usize) {
        self.buffered.set(self.buffered.get() + bytes);
    }

    pub(crate) fn unbuffer(&self, bytes: usize) {
        if bytes > 0 {
            self.buffered.set(self.buffered.get().saturating_sub(bytes));
            self.drained.wake_all();
        }
    }

    /// Closes a connection: after the output that waits, or (`at_once`) without it. Inside the handler of its own
    /// request the answer that is being made comes first. Whether it was open.
    pub fn close(&self, id: i64, at_once: bool) -> bool {
        let found = self.registry.borrow().find(id).cloned();
        match found {
            None => return false,
            Some(Entry::MessageConn(message_conn)) if !at_once => {
                message_conn.close(apus_proto::websocket::close::NORMAL, "");
            }
            Some(Entry::Http(conn)) if !at_once && conn.is_answering_here() => conn.exchange.persist.set(false),
            Some(entry) => entry.kill(if at_once { Kill::Now } else { Kill::AfterOutput }),
        }
        true
    }

    /// Stops accepting. Idle connections close within two seconds (long enough for a request that is already on its
    /// way); the others close with their next answer.
    pub fn drain(&self) {
        if self.draining.get().is_none() {
            self.draining.set(Some(self.clock.now()));
            self.stop_accepting.notify_waiters();
            self.sweep();
        }
    }

    /// Whether [`drain`](Self::drain) was called.
    #[inline]
    pub fn is_draining(&self) -> bool {
        self.draining.get().is_some()
    }

    /// When draining began, in milliseconds of the worker's clock.
    pub(crate) fn draining_since(&self) -> u64 {
        self.draining.get().unwrap_or(0)
    }

    /// Drains, and closes every connection at once.
    pub fn abort(&self) {
        self.drain();
        let all: Vec<Entry> = self.registry.borrow().iter().cloned().collect();
        for entry in all {
            entry.kill(Kill::Now);
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
        for entry in self.registry.borrow().iter() {
            entry.sweep(now, draining);
        }
        self.account.sweep();
        self.retry_starved();
        self.account.trim(now, false);
        self.metrics.sample(&self.counters);
    }

    /// No connection is open.
    pub(crate) fn rest(&self) {
        self.account.trim(self.clock.now(), true);
    }

    #[inline]
    pub(crate) fn answered(&self, conn: &ConnInfo, status: u16, received_at: f64) {
        bump(&self.counters.answers);
        if status >= 500 {
            bump(&self.counters.errors);
        }
        self.metrics.answered(conn, status, received_at);
    }

    pub(crate) fn opened(&self, entry: Entry) {
        let info = Rc::clone(entry.info());
        bump(&self.counters.accepted);
        let first = {
            let mut registry = self.registry.borrow_mut();
            registry.insert(entry);
            registry.len() == 1
        };
        if first {
            self.busy.notify_one();
        }
        self.metrics.connected(&info);
    }

    pub(crate) fn closed(&self, info: &ConnInfo) {
        bump(&self.counters.closed);
        let last = {
            let mut registry = self.registry.borrow_mut();
            registry.remove(info.id);
            registry.len() == 0
        };
        self.metrics.closed(info);
        self.room.notify_waiters();
        if last {
            self.metrics.sample(&self.counters);
            self.idle.wake_all();
        }
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        if let Some(reactor) = self.reactor.get() {
            reactor.end();
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
