//! A connection: what its task, the responders and the sweep share.
//!
//! Invariant: no `RefCell` of this module stays borrowed across a call to an `App`, to a waker that is not a runtime's,
//! or across an await.

mod io;
mod muxed;
mod output;
mod peer;
mod site;
mod timer;
mod tunnel;

use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;

use apus_loop::{Bell, Key, Loop};

use crate::body::{BodyStream, Source};
use crate::exchange::Exchange;
use crate::info::ConnInfo;
use crate::kill::Kill;
use crate::message_conn::{Handshake, MessageConn, MessageConns, Refusal};
use crate::output::OutputQueue;
use crate::port::Port;
use crate::registry::Registry;
use crate::wake::WakerList;
use crate::wire::Wire;
use crate::worker::CLIENT_LEFT;

use io::{Driving, Readiness};
pub(crate) use muxed::Mux;
pub(crate) use timer::{Expired, Timer};

/// Reads of a connection before others have their turn.
const READS: u32 = 128;

/// The connections of a worker that speak HTTP, and those that were upgraded.
pub(crate) struct Conns {
    pub(crate) registry: RefCell<Registry<Conn>>,
    pub(crate) messages: Rc<MessageConns>,
    /// What watches their sockets, and polls what they leave to it.
    pub(crate) events: Rc<Loop>,
    /// What runs them.
    driving: OnceCell<Rc<Driving>>,
}

impl Conns {
    pub(crate) fn new(events: &Rc<Loop>) -> Self {
        let messages = Rc::new(MessageConns::new(events));
        Self { registry: RefCell::default(), messages, events: Rc::clone(events), driving: OnceCell::new() }
    }
}

/// The shared part of a connection. The socket is closed when its task ends, whoever still holds this.
pub(crate) struct Conn {
    pub(crate) info: Rc<ConnInfo>,
    pub(crate) port: Rc<Port>,
    pub(crate) conns: Rc<Conns>,
    pub(crate) io: RefCell<Option<Wire>>,
    ready: Cell<Readiness>,
    /// Its key in the loop, and its waker; none of a stream.
    key: Cell<Option<Key>>,
    bell: OnceCell<Bell>,
    /// Reads before others have their turn.
    reads: Cell<u32>,
    pub(crate) out: RefCell<OutputQueue>,
    pub(crate) exchange: Exchange,
    /// The number of the host that the current request is for; see [`Self::site`].
    pub(crate) host: Cell<u16>,
    pub(crate) stream: RefCell<Option<Rc<BodyStream>>>,
    /// What makes this a stream of another connection; none on a connection of its own.
    muxed: Option<Box<muxed::MuxedStream>>,
    /// The streams that the connection carries, where it speaks HTTP/2.
    mux: OnceCell<Rc<Mux>>,
    /// The WebSocket handshake that the request of this exchange is.
    pub(crate) handshake: RefCell<Option<Result<Handshake, Refusal>>>,
    /// What the connection became.
    became: RefCell<Option<Rc<MessageConn>>>,
    /// The task is being polled: it will look at everything before it waits.
    pub(crate) in_poll: Cell<bool>,
    /// More requests are already read: their answers leave together.
    pub(crate) pipelined: Cell<bool>,
    pub(crate) kill: Cell<Kill>,
    /// Reading or writing failed for good, or the connection was closed here.
    pub(crate) broken: Cell<bool>,
    /// Tasks waiting for the peer to leave.
    pub(crate) gone: WakerList,
    /// Tasks waiting for output to drain.
    pub(crate) drained: WakerList,
    pub(crate) timer: Cell<Timer>,
    pub(crate) expired: Cell<Option<Expired>>,
    /// Bytes of the body in the current window of its minimum rate.
    pub(crate) body_bytes: Cell<u64>,
    /// Unread input keeps the socket readable, so only the sweep can notice that the peer left.
    pub(crate) watch_in_sweep: Cell<bool>,
}

impl Drop for Conn {
    fn drop(&mut self) {
        // One that never ran.
        if let Some(wire) = self.io.get_mut().as_ref() {
            wire.unwatch(&self.conns.events);
        }
    }
}

impl Source for Conn {
    /// The task serves streams only between polls of the handler, so a reader inside the handler is served in the same
    /// turn.
    fn want_body(&self) {
        self.wake_task();
    }
}

impl Conn {
    pub(crate) fn new(info: Rc<ConnInfo>, port: Rc<Port>, conns: Rc<Conns>, io: Wire) -> Self {
        Self::with(info, port, conns, Some(io))
    }

    fn with(info: Rc<ConnInfo>, port: Rc<Port>, conns: Rc<Conns>, io: Option<Wire>) -> Self {
        let now = port.worker.clock.now();
        Self {
            info,
            port,
            conns,
            io: RefCell::new(io),
            ready: Cell::default(),
            key: Cell::new(None),
            bell: OnceCell::new(),
            reads: Cell::new(0),
            out: RefCell::new(OutputQueue::default()),
            exchange: Exchange::default(),
            host: Cell::new(0),
            stream: RefCell::new(None),
            muxed: None,
            mux: OnceCell::new(),
            handshake: RefCell::new(None),
            became: RefCell::new(None),
            in_poll: Cell::new(false),
            pipelined: Cell::new(false),
            kill: Cell::new(Kill::No),
            broken: Cell::new(false),
            gone: WakerList::default(),
            drained: WakerList::default(),
            timer: Cell::new(Timer::Fresh { since: now }),
            expired: Cell::new(None),
            body_bytes: Cell::new(0),
            watch_in_sweep: Cell::new(false),
        }
    }

    /// A turn of its task begins.
    #[inline]
    pub(crate) fn begin_turn(&self) {
        self.in_poll.set(true);
        self.reads.set(READS);
    }

    /// Has the task look again, unless it is looking already.
    pub(crate) fn wake_task(&self) {
        if !self.in_poll.get() {
            self.wake_later();
        }
    }

    /// Has the task polled again, even if it is being polled now.
    pub(crate) fn wake_later(&self) {
        if self.muxed.is_some() {
            self.touch();
        } else {
            self.conns.wake(self);
        }
    }

    /// The connection speaks HTTP/2 from now on.
    pub(crate) fn carry(&self, mux: &Rc<Mux>) {
        let _ = self.mux.set(Rc::clone(mux));
    }

    /// Asks the task to end the connection.
    pub(crate) fn kill(&self, kill: Kill) {
        if matches!(self.kill.get(), Kill::No | Kill::AfterOutput) {
            self.kill.set(kill);
        }
        self.wake_later();
    }

    /// Whether the code that runs is called by the handler of this connection's request, which is not yet answered:
    /// handlers are polled by the connection's own task.
    pub(crate) fn is_answering_here(&self) -> bool {
        self.in_poll.get() && self.exchange.is_answerable()
    }

    /// The connection became a message connection: the task hands over to the message connection's.
    pub(crate) fn upgraded(&self, message_conn: &Rc<MessageConn>) {
        *self.became.borrow_mut() = Some(Rc::clone(message_conn));
        *self.handshake.borrow_mut() = None;
        self.answered(101);
    }

    /// The answer is complete: sent, or queued.
    #[inline]
    pub(crate) fn answered(&self, status: u16) {
        if self.exchange.end(true) {
            // A handler that was cancelled because its client left has not failed.
            let status = if status >= 500 && self.is_gone() { CLIENT_LEFT } else { status };
            self.port.worker.answered(&self.info, &self.exchange, self.host.get(), status);
            self.wake_task();
        }
    }

    /// There will be no answer, or no more of it.
    pub(crate) fn lose_answer(&self) {
        if self.exchange.end(false) {
            self.port.worker.lost(&self.info, &self.exchange, self.host.get());
            self.wake_task();
        }
    }

    /// A handshake that was answered in another way is over.
    #[inline]
    pub(crate) fn forget_handshake(&self) {
        if self.handshake.borrow().is_some() {
            *self.handshake.borrow_mut() = None;
        }
    }

    pub(crate) fn take_message_conn(&self) -> Option<Rc<MessageConn>> {
        self.became.borrow_mut().take()
    }

    /// The peer will send nothing more.
    pub(crate) fn peer_closed(&self) {
        // What becomes of a stream does not become of its connection.
        if self.muxed.is_some() || !self.info.gone.replace(true) {
            self.gone.wake_all();
        }
    }

    /// The connection is of no use any more: output is dropped, everyone who waits is woken.
    pub(crate) fn break_off(&self) {
        if self.broken.replace(true) {
            return;
        }
        let mut out = self.out.borrow_mut();
        out.give_up(&self.port.worker);
        self.count_output(&mut out);
        drop(out);
        self.peer_closed();
        self.drained.wake_all();
        self.wake_task();
    }

    /// Whether the peer is known to have left, or to want no answer any more.
    pub(crate) fn is_gone(&self) -> bool {
        self.broken.get() || self.info.is_gone()
    }

    /// Whether responders can still reach the peer.
    #[inline]
    pub(crate) fn is_usable(&self) -> bool {
        !self.broken.get()
    }
}
