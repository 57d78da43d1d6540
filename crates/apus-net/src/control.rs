//! A worker's connections from outside: found, counted, closed, drained.

use std::future::poll_fn;
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;

use apus_loop::Loop;

use crate::conn::{Conn, Conns};
use crate::info::ConnInfo;
use crate::kill::Kill;
use crate::message_conn::{Delivery, MessageConn, MessageConns, WriteTurn};
use crate::response::Responder;
use crate::worker::{Counters, Metrics, Worker};

/// A worker's connections: counted, found by session id, closed, drained.
pub struct Control {
    pub(crate) worker: Rc<Worker>,
    pub(crate) conns: Rc<Conns>,
}

impl Control {
    /// For a worker that mirrors its counters elsewhere, or [`NoMetrics`](crate::NoMetrics); `events` is its thread's.
    pub fn new(metrics: Rc<dyn Metrics>, events: &Rc<Loop>) -> Rc<Self> {
        Rc::new(Self { worker: Worker::new(metrics), conns: Rc::new(Conns::new(events)) })
    }

    fn messages(&self) -> &MessageConns {
        &self.conns.messages
    }

    /// The totals.
    pub fn counters(&self) -> &Counters {
        &self.worker.counters
    }

    /// Connections open now.
    pub fn connections(&self) -> usize {
        self.worker.connections()
    }

    /// Session ids of the open connections, in no order.
    pub fn ids(&self) -> Vec<i64> {
        let (http, messages) = (self.conns.registry.borrow(), self.messages().registry.borrow());
        http.ids().chain(messages.ids()).collect()
    }

    fn http(&self, id: i64) -> Option<Rc<Conn>> {
        self.conns.registry.borrow().find(id).cloned()
    }

    /// An open connection.
    pub fn info(&self, id: i64) -> Option<Rc<ConnInfo>> {
        let message_conn = self.message_conn(id).map(|message_conn| Rc::clone(message_conn.info()));
        message_conn.or_else(|| self.http(id).map(|conn| Rc::clone(&conn.info)))
    }

    /// A responder for the exchange that connection is in, if it waits for an answer.
    pub fn responder(&self, id: i64) -> Option<Responder> {
        self.http(id).filter(|conn| conn.exchange.is_answerable()).map(Responder::new)
    }

    /// Sends bytes as they are over a connection of HTTP/1.1, between its answers or in the middle of one: the caller
    /// knows what the client makes of them. `None`: it is none.
    pub fn send_raw(&self, id: i64, data: &[u8]) -> Option<Delivery> {
        self.http(id)?.send_raw(data)
    }

    /// A connection that exchanges messages.
    #[inline]
    pub fn message_conn(&self, id: i64) -> Option<Rc<MessageConn>> {
        self.messages().registry.borrow().find(id).cloned()
    }

    /// Whether the connection is open: HTTP or a message connection.
    pub fn contains(&self, id: i64) -> bool {
        self.messages().registry.borrow().find(id).is_some() || self.conns.registry.borrow().find(id).is_some()
    }

    /// Every message connection.
    pub fn message_conns(&self) -> Vec<Rc<MessageConn>> {
        self.messages().registry.borrow().iter().cloned().collect()
    }

    /// Has small messages to message connections leave together when the turn ends that begins here, those to one of
    /// them in one write.
    pub fn write_turn(&self) -> WriteTurn {
        WriteTurn::new(&self.messages().batch)
    }

    /// Bytes that what clients have sent takes, and the program has not finished with.
    pub fn incoming(&self) -> usize {
        self.worker.account.used()
    }

    /// Bytes of output that wait in memory over all connections.
    pub fn buffered(&self) -> usize {
        self.worker.output_bytes()
    }

    /// Closes a connection: after the output that waits, or (`at_once`) without it. Inside the handler of its own
    /// request the answer that is being made comes first. Whether it was open.
    pub fn close(&self, id: i64, at_once: bool) -> bool {
        let kill = if at_once { Kill::Now } else { Kill::AfterOutput };
        if let Some(message_conn) = self.message_conn(id) {
            if !at_once {
                return message_conn.close(apus_proto::websocket::close::NORMAL, "");
            }
            message_conn.kill(kill);
            return true;
        }
        let Some(conn) = self.http(id) else { return false };
        if !at_once && conn.is_answering_here() {
            conn.exchange.persist.set(false);
        } else {
            conn.kill(kill);
        }
        true
    }

    /// Closes a connection after the output that waits; inside the handler of its own request at once, which gets no
    /// answer then. Whether it was open.
    pub fn close_unanswered(&self, id: i64) -> bool {
        match self.http(id).filter(|conn| conn.is_answering_here()) {
            Some(conn) => {
                conn.kill(Kill::Now);
                true
            }
            None => self.close(id, false),
        }
    }

    /// Stops accepting. Idle connections close within two seconds (long enough for a request that is already on its
    /// way); the others close with their next answer.
    pub fn drain(self: &Rc<Self>) {
        if !self.worker.begin_draining() {
            return;
        }
        if !self.worker.accepts() {
            return self.sweep();
        }
        // Who is told to come again must not come to this worker: its listeners take a last look first.
        let (accepts_no_more, control) = (self.accepts_no_more(), Rc::clone(self));
        self.conns.events.spawn(async move {
            accepts_no_more.await;
            control.sweep();
        });
    }

    /// Closes the connections that wait for a further request, without the time that [`drain`](Self::drain) gives them.
    pub fn end_idle(&self) {
        for conn in self.conns.registry.borrow().iter() {
            conn.end_if_idle();
        }
    }

    /// Whether [`drain`](Self::drain) was called.
    #[inline]
    pub fn is_draining(&self) -> bool {
        self.worker.is_draining()
    }

    /// Ready when the worker drains and its listeners have taken their last connections.
    pub fn accepts_no_more(self: &Rc<Self>) -> impl Future<Output = ()> + use<> {
        let worker = Rc::clone(&self.worker);
        poll_fn(move |cx| {
            if worker.is_draining() && !worker.accepts() {
                return Poll::Ready(());
            }
            worker.none_accepts.register(cx.waker());
            Poll::Pending
        })
    }

    /// Drains, and closes every connection at once.
    pub fn abort(self: &Rc<Self>) {
        self.drain();
        for message_conn in self.message_conns() {
            message_conn.kill(Kill::Now);
        }
        let http: Vec<Rc<Conn>> = self.conns.registry.borrow().iter().cloned().collect();
        for conn in http {
            conn.kill(Kill::Now);
        }
    }

    /// Ready when no connection is open.
    pub fn idle(self: &Rc<Self>) -> impl Future<Output = ()> + use<> {
        let worker = Rc::clone(&self.worker);
        poll_fn(move |cx| {
            if worker.connections() == 0 {
                return Poll::Ready(());
            }
            worker.idle.register(cx.waker());
            Poll::Pending
        })
    }

    /// For tests: from now on only [`advance`](Self::advance) moves the clock of the deadlines.
    #[doc(hidden)]
    pub fn stop_clock(&self) {
        self.worker.clock.stop();
    }

    /// For tests: moves a stopped clock and looks at all deadlines.
    #[doc(hidden)]
    pub fn advance(&self, time: Duration) {
        self.worker.clock.advance(u64::try_from(time.as_millis()).unwrap_or(u64::MAX));
        self.sweep();
    }

    /// Looks at every connection's deadlines.
    pub(crate) fn sweep(&self) {
        let worker = &self.worker;
        let (now, draining) = (worker.clock.now(), worker.is_draining() && !worker.accepts());
        for conn in self.conns.registry.borrow().iter() {
            conn.sweep(now, draining);
        }
        for message_conn in self.messages().registry.borrow().iter() {
            message_conn.sweep(now, draining);
        }
        worker.account.sweep();
        self.messages().retry_starved();
        worker.account.trim(now, false);
        worker.metrics.sample(&worker.counters);
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
