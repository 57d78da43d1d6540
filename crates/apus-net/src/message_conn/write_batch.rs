//! Small messages of one turn, which leave together at its end. A turn is one of the reactor, or what somebody outside
//! does at one go ([`WriteTurn`]).
//!
//! Reading, PHP and sending in turn for each message evicts each other's code from the caches: measured with 64
//! connections that echo, sending at the end of the turn costs a tenth less CPU. It also makes several messages to one
//! message connection one write.
//!
//! A handler that takes long would keep back what others have answered. So the time between two messages is looked at:
//! after [`SLOW`] all leave at once. Nothing stays beyond the turn, and a message connection's messages keep their
//! order: a message connection with waiting output is never written to through the batch, and whatever else is sent to
//! a message connection sends the batch first.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::{Duration, Instant};

use apus_loop::LONG;

use super::MessageConn;

/// Longer messages are sent at once.
const SMALL: usize = 4096;
/// Bytes gathered at most.
const MOST: usize = 64 * 1024;
/// Time since the last message after which nothing is kept back.
const SLOW: Duration = Duration::from_micros(500);

/// Messages next to each other for one message connection.
struct Part {
    message_conn: Rc<MessageConn>,
    /// Where in the gathered bytes it lies.
    from: usize,
    to: usize,
}

/// What a turn has gathered.
#[derive(Default)]
struct Gathered {
    bytes: Vec<u8>,
    parts: Vec<Part>,
    /// A message connection has several parts.
    mixed: bool,
    /// Where several parts are put together.
    whole: Vec<u8>,
}

/// The write batch of a worker.
#[derive(Default)]
pub(crate) struct WriteBatch {
    gathered: RefCell<Gathered>,
    /// Turns that have begun and not ended.
    turns: Cell<u32>,
    /// When the turn began, or its last message came; none outside a turn.
    last: Cell<Option<Instant>>,
}

/// A turn, which ends when this is dropped. MUST NOT be held while anything is waited for.
#[must_use]
pub struct WriteTurn {
    batch: Rc<WriteBatch>,
    begun: Instant,
}

impl WriteTurn {
    pub(crate) fn new(batch: &Rc<WriteBatch>) -> Self {
        batch.turns.set(batch.turns.get() + 1);
        let begun = Instant::now();
        batch.last.set(Some(begun));
        Self { batch: Rc::clone(batch), begun }
    }

    /// Whether it was long already when its last message came.
    pub(crate) fn is_long(&self) -> bool {
        self.batch.last.get().is_some_and(|last| last.duration_since(self.begun) >= LONG)
    }
}

impl Drop for WriteTurn {
    fn drop(&mut self) {
        let batch = &self.batch;
        let left = batch.turns.get().saturating_sub(1);
        batch.turns.set(left);
        if left == 0 {
            batch.last.set(None);
            batch.send();
        }
    }
}

impl std::fmt::Debug for WriteTurn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WriteTurn").finish_non_exhaustive()
    }
}

impl WriteBatch {
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
            let from = gathered.bytes.len();
            gathered.bytes.extend_from_slice(parts[0]);
            gathered.bytes.extend_from_slice(parts[1]);
            let to = gathered.bytes.len();
            match gathered.parts.last_mut() {
                Some(last) if Rc::ptr_eq(&last.message_conn, message_conn) => last.to = to,
                _ => {
                    gathered.mixed |= message_conn.flags().batched;
                    message_conn.set_flags(|flags| flags.batched = true);
                    gathered.parts.push(Part { message_conn: Rc::clone(message_conn), from, to });
                }
            }
            to >= MOST
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
        gathered.send();
        // Sending calls no app, so nothing was gathered meanwhile.
        *self.gathered.borrow_mut() = gathered;
    }
}

impl Gathered {
    fn send(&mut self) {
        if self.mixed {
            // The sort is stable: the parts of one message connection keep their order.
            self.parts.sort_by_key(|part| Rc::as_ptr(&part.message_conn).addr());
        }
        for same in self.parts.chunk_by(|a, b| Rc::ptr_eq(&a.message_conn, &b.message_conn)) {
            let [first, rest @ ..] = same else { continue };
            first.message_conn.set_flags(|flags| flags.batched = false);
            if rest.is_empty() {
                first.message_conn.send_gathered(&self.bytes[first.from..first.to]);
                continue;
            }
            self.whole.clear();
            for part in same {
                self.whole.extend_from_slice(&self.bytes[part.from..part.to]);
            }
            first.message_conn.send_gathered(&self.whole);
        }
        self.parts.clear();
        self.bytes.clear();
        self.mixed = false;
    }
}
