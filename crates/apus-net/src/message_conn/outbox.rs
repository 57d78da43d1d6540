//! Small messages of one turn of the reactor, which leave together at its end.
//!
//! Reading, PHP and sending in turn for each message evicts each other's code from the caches: measured with 64
//! connections that echo, sending at the end of the turn costs a tenth less CPU. It also makes several messages to one
//! message connection one write.
//!
//! A handler that takes long would keep back what others have answered. So the time between two messages is looked at:
//! after [`SLOW`] all leave at once. Nothing stays beyond the turn, and a message connection's messages keep their
//! order: a message connection with waiting output is never written to through the outbox, and whatever else is sent to
//! a message connection sends the outbox first.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::{Duration, Instant};

use super::MessageConn;

/// Longer messages are sent at once.
const SMALL: usize = 4096;
/// Bytes gathered at most.
const MOST: usize = 64 * 1024;
/// Time since the last message after which nothing is kept back.
const SLOW: Duration = Duration::from_micros(500);

/// What a turn has gathered.
#[derive(Default)]
struct Gathered {
    bytes: Vec<u8>,
    /// Each message connection with where its part of `bytes` ends.
    parts: Vec<(Rc<MessageConn>, usize)>,
}

/// The outbox of a worker.
#[derive(Default)]
pub(crate) struct Outbox {
    gathered: RefCell<Gathered>,
    /// When the turn began, or its last message came; none outside a turn.
    last: Cell<Option<Instant>>,
}

impl Outbox {
    /// A turn of the reactor begins. MUST be followed by [`end`](Self::end) before the loop goes on.
    pub(super) fn begin(&self) {
        self.last.set(Some(Instant::now()));
    }

    /// The turn is over.
    pub(super) fn end(&self) {
        self.last.set(None);
        self.send();
    }

    /// Takes a message, or says that it is to be sent at once.
    pub(crate) fn put(&self, message_conn: &Rc<MessageConn>, parts: [&[u8]; 2]) -> bool {
        let Some(last) = self.last.get() else { return false };
        if parts[0].len() + parts[1].len() > SMALL {
            self.send();
            return false;
        }
        let now = Instant::now();
        self.last.set(Some(now));
        let much = {
            let mut gathered = self.gathered.borrow_mut();
            gathered.bytes.extend_from_slice(parts[0]);
            gathered.bytes.extend_from_slice(parts[1]);
            let end = gathered.bytes.len();
            match gathered.parts.last_mut() {
                Some((last, to)) if Rc::ptr_eq(last, message_conn) => *to = end,
                _ => gathered.parts.push((Rc::clone(message_conn), end)),
            }
            end >= MOST
        };
        if much || now.duration_since(last) >= SLOW {
            self.send();
        }
        true
    }

    /// Sends what was gathered.
    pub(crate) fn send(&self) {
        if self.gathered.borrow().parts.is_empty() {
            return;
        }
        let mut gathered = self.gathered.take();
        let mut start = 0;
        for (message_conn, end) in gathered.parts.drain(..) {
            message_conn.send_gathered(&gathered.bytes[start..end]);
            start = end;
        }
        gathered.bytes.clear();
        // Sending calls no app, so nothing was gathered meanwhile.
        *self.gathered.borrow_mut() = gathered;
    }
}
