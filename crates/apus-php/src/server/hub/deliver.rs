//! Messages of other processes on their last step: into the links of this one.
//!
//! A link whose bound is reached takes nothing where `send_policy` is to wait. Its messages then stay here, in their order, until
//! it takes them. Senders see in the table of connections that it is full, and hold back; what is on its way already is what
//! comes here, no more than the rings hold. It is bounded all the same, and not a part of `max_buffered_bytes`: a connection for
//! which too much has come is closed.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, VecDeque};
use std::rc::Rc;

use apus_net::{Broadcast, Delivery, Link};
use apus_process::log::{Level, Repeats};
use bytes::Bytes;

use super::super::metrics;
use super::Hub;
use super::record::{How, Step};

/// Peers that read slowly can cause as many of these as they like.
static SLOW: Repeats = Repeats::new(Level::Warning, "connections closed because they read too slowly");

/// A program can send as many of these as it likes.
static MISPLACED: Repeats = Repeats::new(Level::Warning, "frames of other processes dropped where they may not stand");

/// Bytes that are held for all links together: as many as `max_buffered_bytes`, within these bounds.
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

    fn send(&self, link: &Rc<Link>) -> Delivery {
        match self {
            Self::Frame(how, payload) => push(link, *how, payload),
            Self::Bytes(payload) => link.send(payload),
            Self::Close(code, reason) => {
                link.close(*code, reason);
                Delivery::Sent
            }
        }
    }
}

/// Sends a frame of another process. Only here it turns out that it may not follow those before it.
fn push(link: &Rc<Link>, how: How, payload: &[u8]) -> Delivery {
    let delivery = link.push(how.opcode, how.fin, how.compress, payload);
    if let Delivery::Misplaced(rule) = delivery {
        let fd = link.info().id();
        MISPLACED.tell(format_args!("a frame that another process sent to connection {fd} is dropped: {rule}"));
    }
    delivery
}

/// What links could not take yet.
pub(super) struct Late {
    of: RefCell<HashMap<i64, VecDeque<Item>>>,
    held: Cell<usize>,
    limit: usize,
}

impl Late {
    pub(super) fn new(max_buffered: u64) -> Self {
        let limit = max_buffered.clamp(MAX_HELD[0], MAX_HELD[1]) as usize;
        Self { of: RefCell::default(), held: Cell::new(0), limit }
    }

    pub(super) fn has(&self, fd: i64) -> bool {
        self.held.get() > 0 && self.of.borrow().contains_key(&fd)
    }

    /// Whether it is the first for that link. `None`: there is no room for it.
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

impl Hub {
    pub(super) fn deliver_frame(self: &Rc<Self>, fd: i64, how: How, payload: &[u8]) {
        let Some(link) = self.control.link(fd).filter(|link| link.is_websocket()) else { return };
        if self.late.has(fd) || push(&link, how, payload) == Delivery::Full {
            self.hold(&link, Item::Frame(how, Bytes::copy_from_slice(payload)));
        }
    }

    pub(super) fn deliver_bytes(self: &Rc<Self>, fd: i64, payload: &[u8]) {
        let Some(link) = self.control.link(fd).filter(|link| !link.is_websocket()) else { return };
        if self.late.has(fd) || link.send(payload) == Delivery::Full {
            self.hold(&link, Item::Bytes(Bytes::copy_from_slice(payload)));
        }
    }

    pub(super) fn deliver_close(self: &Rc<Self>, fd: i64, reset: bool, code: u16, reason: &[u8]) {
        let reason = String::from_utf8_lossy(reason);
        match self.control.link(fd) {
            Some(link) if !reset && self.late.has(fd) => self.hold(&link, Item::Close(code, reason.into_owned())),
            Some(link) if !reset => {
                link.close(code, &reason);
            }
            _ => {
                self.control.close(fd, reset);
            }
        }
    }

    pub(super) fn deliver_step(&self, fd: i64, step: Step) {
        let Some(link) = self.control.link(fd) else { return };
        step.turn(&link);
    }

    /// Keeps a message until the link takes it.
    fn hold(self: &Rc<Self>, link: &Rc<Link>, item: Item) {
        let fd = link.info().id();
        match self.late.keep(fd, item) {
            Some(true) => {
                metrics::show(&self.worker, link.info(), true);
                self.state.spawn(Rc::clone(self).hand_over(Rc::clone(link)));
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

    /// Gives a link what is held for it, as it takes it.
    async fn hand_over(self: Rc<Self>, link: Rc<Link>) {
        let fd = link.info().id();
        while link.writable().await.is_ok() {
            while let Some(item) = self.late.next(fd) {
                if item.send(&link) == Delivery::Full {
                    self.late.put_back(fd, item);
                    break;
                }
            }
            if self.late.of.borrow().get(&fd).is_none_or(VecDeque::is_empty) {
                break;
            }
        }
        self.late.forget(fd);
        metrics::show(&self.worker, link.info(), link.is_full());
    }

    /// Sends one message to many connections: how many took it. One whose bound is reached does not get it, for the others must
    /// not wait for it.
    pub(super) fn reach(&self, fds: &[i64], how: How, payload: Bytes) -> usize {
        let message = Broadcast::new(how.opcode, payload);
        let took = |fd: &&i64| {
            let link = self.control.link(**fd).filter(|_| !self.late.has(**fd));
            link.is_some_and(|link| matches!(link.send_shared(&message), Delivery::Sent | Delivery::Buffered))
        };
        fds.iter().filter(took).count()
    }
}
