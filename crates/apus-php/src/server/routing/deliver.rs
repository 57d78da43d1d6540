//! Messages of other processes on their last step: into the message connections of this one.
//!
//! A message connection whose bound is reached takes nothing where `send_policy` is to wait. Its messages then stay
//! here, in their order, until it takes them. Senders see in the table of connections that it is full, and hold back;
//! what is on its way already is what comes here, no more than the rings hold. It is bounded all the same, and not a
//! part of `max_buffered_bytes`: a connection for which too much has come is closed.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, VecDeque};
use std::rc::Rc;

use apus_net::{Broadcast, Delivery, MessageConn};
use apus_process::log::{Level, Repeats};
use bytes::Bytes;

use super::super::metrics;
use super::Routing;
use super::record::{How, Step};

/// Peers that read slowly can cause as many of these as they like.
static SLOW: Repeats = Repeats::new(Level::Warning, "connections closed because they read too slowly");

/// A program can send as many of these as it likes.
static MISPLACED: Repeats = Repeats::new(Level::Warning, "frames of other processes dropped where they may not stand");

/// Bytes that are held for all message connections together: as many as `max_buffered_bytes`, within these bounds.
const MAX_HELD: [u64; 2] = [16 << 20, 64 << 20];
/// What a held message counts beside its bytes.
const OVERHEAD: usize = 64;

enum Item {
    Frame(How, Bytes),
    Bytes(Bytes),
    Close(u16, String),
}

impl Item {
    fn weight(&self) -> usize {
        OVERHEAD
            + match self {
                Self::Frame(_, bytes) | Self::Bytes(bytes) => bytes.len(),
                Self::Close(_, reason) => reason.len(),
            }
    }

    fn send(&self, message_conn: &Rc<MessageConn>) -> Delivery {
        match self {
            Self::Frame(how, payload) => push(message_conn, *how, payload),
            Self::Bytes(payload) => message_conn.send(payload),
            Self::Close(code, reason) => {
                message_conn.close(*code, reason);
                Delivery::Sent
            }
        }
    }
}

/// Sends a frame of another process. Only here it turns out that it may not follow those before it.
fn push(message_conn: &Rc<MessageConn>, how: How, payload: &[u8]) -> Delivery {
    let delivery = message_conn.push(how.opcode, how.fin, how.compress, payload);
    if let Delivery::Misplaced(rule) = delivery {
        let fd = message_conn.info().id();
        MISPLACED.tell(format_args!("a frame that another process sent to connection {fd} is dropped: {rule}"));
    }
    delivery
}

/// What message connections could not take yet.
pub(super) struct Deferred {
    of: RefCell<HashMap<i64, VecDeque<Item>>>,
    held: Cell<usize>,
    limit: usize,
}

impl Deferred {
    pub(super) fn new(max_buffered: u64) -> Self {
        let limit = max_buffered.clamp(MAX_HELD[0], MAX_HELD[1]) as usize;
        Self { of: RefCell::default(), held: Cell::new(0), limit }
    }

    pub(super) fn has(&self, fd: i64) -> bool {
        self.held.get() > 0 && self.of.borrow().contains_key(&fd)
    }

    /// Whether it is the first for that message connection. `None`: there is no room for it.
    fn keep(&self, fd: i64, item: Item) -> Option<bool> {
        let held = self.held.get() + item.weight();
        if held > self.limit {
            return None;
        }
        self.held.set(held);
        let mut of = self.of.borrow_mut();
        let first = !of.contains_key(&fd);
        of.entry(fd).or_default().push_back(item);
        Some(first)
    }

    fn next(&self, fd: i64) -> Option<Item> {
        let item = self.of.borrow_mut().get_mut(&fd)?.pop_front()?;
        self.held.set(self.held.get() - item.weight());
        Some(item)
    }

    fn put_back(&self, fd: i64, item: Item) {
        self.held.set(self.held.get() + item.weight());
        if let Some(items) = self.of.borrow_mut().get_mut(&fd) {
            items.push_front(item);
        }
    }

    fn forget(&self, fd: i64) {
        let items = self.of.borrow_mut().remove(&fd).unwrap_or_default();
        self.held.set(self.held.get() - items.iter().map(Item::weight).sum::<usize>());
    }
}

impl Routing {
    pub(super) fn deliver_frame(self: &Rc<Self>, fd: i64, how: How, payload: &[u8]) {
        let Some(message_conn) = self.control.message_conn(fd).filter(|message_conn| message_conn.is_websocket())
        else {
            return;
        };
        if self.late.has(fd) || push(&message_conn, how, payload) == Delivery::Full {
            self.hold(&message_conn, Item::Frame(how, Bytes::copy_from_slice(payload)));
        }
    }

    pub(super) fn deliver_bytes(self: &Rc<Self>, fd: i64, payload: &[u8]) {
        // Code written for Swoole sends frames that it has packed, and parts of answers.
        let found = self.control.message_conn(fd);
        let Some(message_conn) = found.filter(|message_conn| self.core.second || !message_conn.is_websocket()) else {
            if self.core.second {
                let _ = self.control.send_raw(fd, payload);
            }
            return;
        };
        if self.late.has(fd) || message_conn.send(payload) == Delivery::Full {
            self.hold(&message_conn, Item::Bytes(Bytes::copy_from_slice(payload)));
        }
    }

    pub(super) fn deliver_close(self: &Rc<Self>, fd: i64, reset: bool, code: u16, reason: &[u8]) {
        let reason = String::from_utf8_lossy(reason);
        match self.control.message_conn(fd) {
            Some(message_conn) if !reset && self.late.has(fd) => {
                self.hold(&message_conn, Item::Close(code, reason.into_owned()));
            }
            Some(message_conn) if !reset => {
                message_conn.close(code, &reason);
            }
            _ => {
                self.control.close(fd, reset);
            }
        }
    }

    pub(super) fn deliver_step(&self, fd: i64, step: Step) {
        let Some(message_conn) = self.control.message_conn(fd) else { return };
        step.turn(&message_conn);
    }

    /// Keeps a message until the message connection takes it.
    fn hold(self: &Rc<Self>, message_conn: &Rc<MessageConn>, item: Item) {
        let fd = message_conn.info().id();
        match self.late.keep(fd, item) {
            Some(true) => {
                metrics::show(&self.worker, message_conn.info(), true);
                self.state.spawn(Rc::clone(self).hand_over(Rc::clone(message_conn)));
            }
            Some(false) => {}
            None => {
                SLOW.tell(format_args!(
                    "connection {fd} is closed: it reads too slowly, and {} MiB from other workers wait already",
                    self.late.limit >> 20
                ));
                self.control.close(fd, true);
            }
        }
    }

    /// Gives a message connection what is held for it, as it takes it.
    async fn hand_over(self: Rc<Self>, message_conn: Rc<MessageConn>) {
        let fd = message_conn.info().id();
        while message_conn.writable().await.is_ok() {
            while let Some(item) = self.late.next(fd) {
                if item.send(&message_conn) == Delivery::Full {
                    self.late.put_back(fd, item);
                    break;
                }
            }
            if self.late.of.borrow().get(&fd).is_none_or(VecDeque::is_empty) {
                break;
            }
        }
        self.late.forget(fd);
        metrics::show(&self.worker, message_conn.info(), message_conn.is_full());
    }

    /// Sends one message to many connections: how many took it. One whose bound is reached does not get it, for the
    /// others must not wait for it.
    pub(super) fn reach(&self, fds: &[i64], how: How, payload: Bytes) -> usize {
        let message = Broadcast::new(how.opcode, payload, fds.len());
        let took = |fd: &&i64| {
            let message_conn = self.control.message_conn(**fd).filter(|_| !self.late.has(**fd));
            message_conn.is_some_and(|message_conn| {
                matches!(message_conn.send_shared(&message), Delivery::Sent | Delivery::Buffered)
            })
        };
        fds.iter().filter(took).count()
    }
}
