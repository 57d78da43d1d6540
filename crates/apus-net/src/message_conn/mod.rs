//! Message connections: connections that exchange messages instead of requests and answers. A WebSocket is one after
//! its handshake, a connection of a stream port from the start.
//!
//! A message connection has a small task and object of its own, so that thousands of idle ones take little memory: no
//! HTTP state, no buffer, no coroutine. Invariant: no `RefCell` of this module stays borrowed across a call to an
//! `App`, to a waker that is not a runtime's, or across an await.

mod carrier;
mod conns;
mod deadline;
mod deflate;
mod drained;
mod handshake;
mod io;
mod message;
mod reactor;
mod recv;
mod send;
mod write_batch;

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use apus_loop::Key;
use apus_proto::websocket::{Opcode, close, encode_close};
use bytes::BytesMut;

use crate::account::Holder;
use crate::info::ConnInfo;
use crate::kill::Kill;
use crate::output::OutputQueue;
use crate::port::Port;
use crate::wake::WakerList;
use crate::worker::Worker;

pub(crate) use carrier::{Carrier, Tunnel};
pub(crate) use conns::MessageConns;
pub(crate) use deflate::Agreed;
pub(crate) use handshake::{Handshake, has_token};
pub use handshake::{Refusal, Upgrade};
pub use message::{Kind, Message, OwnedMessage};
pub use recv::Recv;
pub use send::{Broadcast, Delivery};
pub use write_batch::WriteTurn;

/// Where a message connection stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    Open,
    /// Our close frame is on its way; the peer's is awaited (milliseconds of the worker's clock).
    CloseSent {
        since: u64,
    },
    /// Nothing more is read or accepted: what waits is sent, then the connection ends.
    Ending {
        since: u64,
    },
    Closed,
}

/// What the message connection speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Protocol {
    Stream,
    WebSocket,
}

/// Switches of a message connection, each of which is off for most.
#[derive(Debug, Default, Clone, Copy)]
#[allow(clippy::struct_excessive_bools, reason = "independent switches in one cell")]
pub(crate) struct Flags {
    /// TLS has begun: what was read before and not yet handled came too late.
    pub(crate) sealed: bool,
    /// The program stopped reading.
    pub(crate) paused: bool,
    /// The worker leaves: nothing more is read.
    pub(crate) leaving: bool,
    /// The heartbeat leaves it alone.
    pub(crate) protected: bool,
    /// As much output waits as the high watermark says.
    pub(crate) full: bool,
    /// What the program was last told of it.
    pub(crate) full_told: bool,
    /// The write batch has something for it.
    pub(crate) batched: bool,
    /// The reactor owes it a message that many get; nothing waits in its queue.
    pub(crate) owed: bool,
    /// The program takes messages itself with `recv`.
    pub(crate) pull: bool,
    /// The peer will send nothing more.
    pub(crate) eof: bool,
    /// Both sides have said goodbye: the end needs no waiting.
    pub(crate) parted: bool,
    /// It stands in the list of message connections that wait for handlers to end.
    pub(crate) starved: bool,
    /// Its runner runs: it will look at everything before it waits.
    pub(crate) running: bool,
    /// It is in the reactor's line of message connections that inflate more than others should wait for.
    pub(crate) behind: bool,
    /// It is in the reactor's list of message connections to run.
    pub(crate) queued: bool,
    /// A message that is sent in fragments has begun and not ended.
    pub(crate) fragments: bool,
    /// The socket may have something to read.
    pub(crate) readable: bool,
    /// The peer closed its side, or the connection broke: reading will tell, however little it brings.
    pub(crate) hung_up: bool,
}

/// What only message connections have that use it.
#[derive(Default)]
pub(crate) struct Extra {
    /// Messages that `recv` has not taken.
    pub(crate) inbox: std::collections::VecDeque<OwnedMessage>,
    pub(crate) deflate: Option<deflate::Agreed>,
    /// The message that is sent in fragments.
    pub(crate) sequence: apus_proto::websocket::Sequence,
}

/// A connection that exchanges messages. What carries it is closed when it ends, whoever still holds this.
pub struct MessageConn {
    pub(crate) info: Rc<ConnInfo>,
    pub(crate) port: Rc<Port>,
    pub(crate) conns: Rc<MessageConns>,
    io: RefCell<Option<Carrier>>,
    /// Its key in the loop; none before it is run there.
    pub(crate) key: Cell<Option<Key>>,
    out: RefCell<Option<Box<OutputQueue>>>,
    extra: RefCell<Option<Box<Extra>>>,
    /// Tasks waiting for output to drain, for a message, or for the end.
    waiters: WakerList,
    pub(crate) stage: Cell<Stage>,
    pub(crate) kill: Cell<Kill>,
    flags: Cell<Flags>,
    pub(crate) protocol: Protocol,
    /// Handlers of messages that have not returned.
    pub(crate) handlers: Cell<u16>,
    /// Bytes of the messages that they hold.
    pub(crate) pending: Cell<usize>,
    /// When bytes last came (milliseconds of the worker's clock).
    pub(crate) seen: Cell<u64>,
    /// When a ping that nothing answered was sent; 0 for none.
    pinged: Cell<u64>,
}

impl MessageConn {
    pub(crate) fn new(
        info: Rc<ConnInfo>,
        port: Rc<Port>,
        conns: Rc<MessageConns>,
        carrier: Carrier,
        protocol: Protocol,
    ) -> Self {
        let now = port.worker.clock.now();
        Self {
            info,
            port,
            conns,
            io: RefCell::new(Some(carrier)),
            key: Cell::new(None),
            out: RefCell::new(None),
            extra: RefCell::new(None),
            waiters: WakerList::default(),
            stage: Cell::new(Stage::Open),
            kill: Cell::new(Kill::No),
            flags: Cell::new(Flags { readable: true, ..Flags::default() }),
            protocol,
            handlers: Cell::new(0),
            pending: Cell::new(0),
            seen: Cell::new(now),
            pinged: Cell::new(0),
        }
    }

    /// What is known of the connection.
    #[inline]
    pub fn info(&self) -> &Rc<ConnInfo> {
        &self.info
    }

    /// Whether it is a WebSocket; else a plain stream.
    #[inline]
    pub fn is_websocket(&self) -> bool {
        self.protocol == Protocol::WebSocket
    }

    /// Whether messages can be exchanged: no close was sent or received.
    #[inline]
    pub fn is_established(&self) -> bool {
        self.stage.get() == Stage::Open && self.kill.get() == Kill::No
    }

    /// Whether the port shows close frames to the program.
    pub fn shows_closes(&self) -> bool {
        self.port.config.show_closes
    }

    /// Bytes of output that wait in memory.
    pub fn buffered(&self) -> usize {
        self.out.borrow().as_ref().map_or(0, |waiting| waiting.bytes())
    }

    /// Whether as much output waits as `buffer_high_watermark` says.
    pub fn is_full(&self) -> bool {
        self.flags.get().full
    }

    /// Stops reading; what was read already is still handled.
    pub fn pause(&self) {
        self.set_flags(|flags| flags.paused = true);
    }

    /// Reads again.
    pub fn resume(&self) {
        self.set_flags(|flags| flags.paused = false);
        self.wake_task();
    }

    /// Whether the heartbeat leaves it alone.
    pub fn protect(&self, on: bool) {
        self.set_flags(|flags| flags.protected = on);
    }

    /// Milliseconds since bytes last came, exact to the sweep's period.
    pub fn idle(&self) -> u64 {
        self.worker().clock.now().saturating_sub(self.seen.get())
    }

    /// Ends the message connection: a WebSocket with a closing handshake (RFC 6455 section 7), a stream after what
    /// waits to be sent. Whether it was open.
    pub fn close(self: &Rc<Self>, code: u16, reason: &str) -> bool {
        if self.stage.get() != Stage::Open {
            return false;
        }
        let since = self.worker().clock.now();
        if self.is_websocket() {
            let mut frame = BytesMut::new();
            encode_close(&mut frame, code, reason, None);
            let _ = self.transmit([&frame, &[]]);
            self.stage.set(Stage::CloseSent { since });
        } else {
            self.stage.set(Stage::Ending { since });
        }
        self.waiters.wake_all();
        self.wake_task();
        true
    }

    /// Sends a control frame, unless so much waits already that the peer plainly does not read: then the message
    /// connection ends.
    pub(crate) fn control_frame(self: &Rc<Self>, opcode: Opcode, payload: &[u8]) {
        if self.is_over_bound() {
            return self.kill(Kill::Reset);
        }
        let mut frame = BytesMut::new();
        apus_proto::websocket::encode(&mut frame, opcode, true, false, payload, None);
        let _ = self.transmit([&frame, &[]]);
    }

    /// Asks the task to end the connection without ceremony.
    pub(crate) fn kill(&self, kill: Kill) {
        if self.kill.get() == Kill::No {
            self.kill.set(kill);
        }
        self.wake_later();
    }

    /// The number of the host that its handshake was for, from 1 on; 0 where it was the port's own.
    #[inline]
    pub fn host_number(&self) -> u16 {
        self.port.number
    }

    #[inline]
    pub(crate) fn worker(&self) -> &Worker {
        &self.port.worker
    }

    #[inline]
    pub(crate) fn flags(&self) -> Flags {
        self.flags.get()
    }

    #[inline]
    pub(crate) fn set_flags(&self, change: impl FnOnce(&mut Flags)) {
        let mut flags = self.flags.get();
        change(&mut flags);
        self.flags.set(flags);
    }

    pub(crate) fn set_pull(&self) {
        self.set_flags(|flags| flags.pull = true);
    }

    /// The rarely used part, made at need.
    pub(crate) fn with_extra<R>(&self, work: impl FnOnce(&mut Extra) -> R) -> R {
        work(self.extra.borrow_mut().get_or_insert_default())
    }

    /// Has the runner look again, unless it is looking already.
    #[inline]
    pub(crate) fn wake_task(&self) {
        if !self.flags.get().running {
            self.wake_later();
        }
    }

    pub(crate) fn wake_later(&self) {
        self.conns.wake(self);
    }

    /// Nothing more is read or accepted; what waits is sent.
    pub(crate) fn end_now(&self) {
        self.stage.set(Stage::Ending { since: self.worker().clock.now() });
        self.waiters.wake_all();
    }

    /// The connection is over: everyone who waits is woken, output is dropped, the socket closed.
    pub(crate) fn finish(&self) {
        self.stage.set(Stage::Closed);
        self.info.open.set(false);
        self.info.gone.set(true);
        let waiting = self.out.borrow_mut().take();
        if let Some(mut waiting) = waiting {
            waiting.give_up(self.worker());
        }
        let io = self.io.borrow_mut().take();
        if let Some(carrier) = io {
            if let Some(wire) = carrier.wire() {
                wire.unwatch(&self.conns.events);
            }
            carrier.close(self.kill.get());
        }
        self.waiters.wake_all();
    }
}

impl Drop for MessageConn {
    fn drop(&mut self) {
        // One that never ran.
        if let Some(wire) = self.io.get_mut().as_ref().and_then(Carrier::wire) {
            wire.unwatch(&self.conns.events);
        }
    }
}

impl Holder for MessageConn {
    fn give_up(self: Rc<Self>) {
        self.worker().metrics.refused(&self.info, "too much memory is taken by messages that are not complete");
        if self.is_websocket() {
            self.close(close::TRY_AGAIN_LATER, "the server is busy");
        }
        self.kill(Kill::Now);
    }
}

impl std::fmt::Debug for MessageConn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MessageConn")
            .field("id", &self.info.id())
            .field("protocol", &self.protocol)
            .field("stage", &self.stage.get())
            .finish_non_exhaustive()
    }
}
