//! Answers to requests whose connections other processes have.
//!
//! Where the code that answers cannot wait for room in a ring, its answers stand in a queue here until the ring takes
//! them; under the names of Swoole what `send()` sends does, too. Where a client does not take what came for it, that
//! stands in a queue of its connection, within a bound: a client for which too much has come is cut off.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, VecDeque};
use std::rc::{Rc, Weak};
use std::time::Duration;

use apus_net::SendError;
use apus_process::log::{Level, Repeats};
use apus_shm::ForkEpoch;
use apus_zend::Raise;

use super::outbox::PostOutcome;
use super::record::Order;
use super::remote::Forwarded;
use super::{Patience, Routing};
use crate::connections::{self, Carrier};
use crate::http::Reply;

/// Clients that read slowly can cause as many of these as they like.
static SLOW: Repeats = Repeats::new(Level::Warning, "answers cut because their clients read too slowly");

/// Bytes that wait for clients: as many as `max_buffered_bytes`, within these bounds.
const MAX_HELD: [u64; 2] = [16 << 20, 64 << 20];

/// How long a process that ends waits for those that take its answers, and how often it looks.
const LIMIT: Duration = Duration::from_secs(2);
const LOOK: Duration = Duration::from_millis(2);

/// What another process is to get.
enum Unsent {
    /// A step of an answer.
    Reply(Vec<u8>),
    /// Bytes for a stream connection.
    Bytes(Vec<u8>),
}

impl Unsent {
    fn bytes(&self) -> &[u8] {
        match self {
            Self::Reply(bytes) | Self::Bytes(bytes) => bytes,
        }
    }

    fn order(&self, fd: i64) -> Order<'_> {
        match self {
            Self::Reply(reply) => Order::Reply { fd, reply },
            Self::Bytes(payload) => Order::Send { fd, payload },
        }
    }
}

/// Steps of answers that wait, of this process for others and of others for clients of this one.
pub(super) struct Replies {
    /// For others, in their order, and their bytes.
    unsent: RefCell<VecDeque<(i64, Unsent)>>,
    unsent_bytes: Cell<usize>,
    /// By the connection that does not take them.
    held: RefCell<HashMap<i64, VecDeque<Vec<u8>>>>,
    bytes: Cell<usize>,
    limit: usize,
}

impl Replies {
    pub(super) fn new(max_buffered: u64) -> Self {
        let limit = max_buffered.clamp(MAX_HELD[0], MAX_HELD[1]) as usize;
        Self {
            unsent: RefCell::default(),
            unsent_bytes: Cell::new(0),
            held: RefCell::default(),
            bytes: Cell::new(0),
            limit,
        }
    }

    /// Whether there was room.
    fn keep(&self, fd: i64, reply: &[u8]) -> bool {
        let bytes = self.bytes.get() + reply.len();
        if bytes > self.limit {
            return false;
        }
        self.bytes.set(bytes);
        self.held.borrow_mut().entry(fd).or_default().push_back(reply.to_vec());
        true
    }

    fn next(&self, fd: i64) -> Option<Vec<u8>> {
        let reply = self.held.borrow_mut().get_mut(&fd)?.pop_front()?;
        self.bytes.set(self.bytes.get() - reply.len());
        Some(reply)
    }

    fn put_back(&self, fd: i64, reply: Vec<u8>) {
        self.bytes.set(self.bytes.get() + reply.len());
        self.held.borrow_mut().entry(fd).or_default().push_front(reply);
    }

    fn forget(&self, fd: i64) {
        let replies = self.held.borrow_mut().remove(&fd).unwrap_or_default();
        self.bytes.set(self.bytes.get() - replies.iter().map(Vec::len).sum::<usize>());
    }
}

/// What responses of this process know of the routing.
pub(super) struct Outgoing(pub(super) Weak<Routing>);

impl Carrier for Outgoing {
    fn has(&self, id: i64) -> bool {
        let entry = self.0.upgrade().and_then(|routing| routing.elsewhere(id));
        entry.is_some_and(|entry| !entry.websocket)
    }

    fn carry(&self, id: i64, reply: Vec<u8>) -> Result<bool, Raise> {
        let routing = self.0.upgrade().filter(|routing| routing.only.is_none_or(ForkEpoch::is_now));
        match routing {
            Some(routing) => routing.carry(id, reply),
            None => Ok(Forwarded::NotExist.told()),
        }
    }
}

impl Routing {
    fn carry(self: &Rc<Self>, fd: i64, reply: Vec<u8>) -> Result<bool, Raise> {
        const WHAT: &str = "Response::write() or end()";
        let Some(entry) = self.elsewhere(fd) else { return Ok(Forwarded::NotExist.told()) };
        let order = Order::Reply { fd, reply: &reply };
        if self.patience(true) != Patience::None && self.replies.unsent.borrow().is_empty() {
            return Ok(self.post(WHAT, entry.slot, &order, true)?.told());
        }
        Ok(self.post_or_keep(entry.slot, fd, Unsent::Reply(reply)).told())
    }

    /// Bytes for a stream connection of another process, from code that cannot wait until they are taken.
    pub(super) fn send_sometime(self: &Rc<Self>, slot: usize, fd: i64, payload: &[u8]) -> Forwarded {
        self.post_or_keep(slot, fd, Unsent::Bytes(payload.to_vec()))
    }

    fn post_or_keep(self: &Rc<Self>, slot: usize, fd: i64, unsent: Unsent) -> Forwarded {
        let first = self.replies.unsent.borrow().is_empty();
        let order = unsent.order(fd);
        if first && self.outbox.is_short(&order) && !self.elsewhere(fd).is_some_and(|entry| entry.full) {
            let posted = self.outbox.post_now(slot, &order);
            if posted != PostOutcome::Full {
                return posted.into();
            }
        }
        let bytes = self.replies.unsent_bytes.get() + unsent.bytes().len();
        if bytes > self.replies.limit {
            return Forwarded::QueueFull;
        }
        self.replies.unsent_bytes.set(bytes);
        self.replies.unsent.borrow_mut().push_back((fd, unsent));
        if first {
            self.state.spawn(Rc::clone(self).send_unsent());
        }
        Forwarded::Done
    }

    /// Sends what waits in this process, one after the other; what is being sent stands in the queue, empty, until it
    /// is sent.
    async fn send_unsent(self: Rc<Self>) {
        loop {
            let next = self.replies.unsent.borrow_mut().front_mut().map(|(fd, unsent)| {
                let left = Unsent::Reply(Vec::new());
                (*fd, std::mem::replace(unsent, left))
            });
            let Some((fd, unsent)) = next else { return };
            // What cannot be sent has no connection any more, or is longer than is taken.
            match (&unsent, self.elsewhere(fd)) {
                (Unsent::Reply(_), Some(entry)) => drop(self.outbox.post(entry.slot, &unsent.order(fd)).await),
                (Unsent::Bytes(_), Some(_)) => drop(self.hand_when_clear(fd, &unsent.order(fd)).await),
                (_, None) => {}
            }
            self.replies.unsent_bytes.set(self.replies.unsent_bytes.get() - unsent.bytes().len());
            self.replies.unsent.borrow_mut().pop_front();
        }
    }

    /// Ready when others have what this process answers their clients; who takes nothing is waited for only so long.
    pub(super) async fn replies_sent(&self) {
        let sent = async {
            while !self.replies.unsent.borrow().is_empty() {
                tokio::time::sleep(LOOK).await;
            }
        };
        let _ = tokio::time::timeout(LIMIT, sent).await;
    }

    /// A step of an answer for a client of this process.
    pub(super) fn deliver_reply(self: &Rc<Self>, fd: i64, bytes: &[u8]) {
        let waits = self.replies.held.borrow().contains_key(&fd);
        if !waits && Self::reply(fd, bytes) {
            return;
        }
        if !self.replies.keep(fd, bytes) {
            self.cut(fd);
        } else if !waits {
            self.state.spawn(Rc::clone(self).hand_replies(fd));
        }
    }

    /// `false`: its client has to read first.
    fn reply(fd: i64, bytes: &[u8]) -> bool {
        let (Some(reply), Some(responder)) = (Reply::decode(bytes), connections::responder(fd)) else { return true };
        let full = matches!(reply.perform(&responder), Err(SendError::Full));
        // Whoever has the response goes on with it, or nobody does: this one is no reason to end it.
        responder.detach();
        !full
    }

    fn cut(&self, fd: i64) {
        SLOW.tell(format_args!(
            "the answer on connection {fd} is cut: its client reads too slowly, and {} MiB from other processes wait already",
            self.replies.limit >> 20
        ));
        self.replies.forget(fd);
        self.control.close(fd, true);
    }

    /// Gives a client what waits for it, as it reads.
    async fn hand_replies(self: Rc<Self>, fd: i64) {
        while let Some(responder) = connections::responder(fd) {
            let writable = responder.writable();
            responder.detach();
            if writable.await.is_err() {
                break;
            }
            while let Some(reply) = self.replies.next(fd) {
                if !Self::reply(fd, &reply) {
                    self.replies.put_back(fd, reply);
                    break;
                }
            }
            if self.replies.held.borrow().get(&fd).is_none_or(VecDeque::is_empty) {
                break;
            }
        }
        self.replies.forget(fd);
    }
}
