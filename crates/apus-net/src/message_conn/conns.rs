//! The message connections of a worker, and what they share: their reactor, their memory for compression, what is
//! written together, and the messages that handlers hold.

use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;

use apus_loop::Loop;

use super::MessageConn;
use super::deflate::Shared as SharedDeflate;
use super::reactor::Reactor;
use super::write_batch::WriteBatch;
use crate::registry::Registry;
use crate::runners::Run;

/// The message connections of a worker.
pub(crate) struct MessageConns {
    /// What watches their sockets, and polls what they leave to it.
    pub(crate) events: Rc<Loop>,
    pub(crate) registry: RefCell<Registry<MessageConn>>,
    pub(super) deflate: SharedDeflate,
    /// What runs them.
    reactor: OnceCell<Rc<Reactor>>,
    /// What is written together.
    pub(crate) batch: Rc<WriteBatch>,
    /// Bytes of messages that handlers hold.
    pending: Cell<usize>,
    /// Those that are not read until handlers end, or others take less memory.
    starved: RefCell<Vec<Rc<MessageConn>>>,
}

impl MessageConns {
    pub(crate) fn new(events: &Rc<Loop>) -> Self {
        Self {
            events: Rc::clone(events),
            registry: RefCell::default(),
            deflate: SharedDeflate::default(),
            reactor: OnceCell::new(),
            batch: Rc::default(),
            pending: Cell::new(0),
            starved: RefCell::default(),
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
    pub(crate) fn retry_starved(&self) {
        for message_conn in self.starved.take() {
            message_conn.set_flags(|flags| flags.starved = false);
            message_conn.wake_later();
        }
    }

    /// Has a message connection run again when a handler has ended.
    pub(crate) fn starve(&self, message_conn: &Rc<MessageConn>) {
        if !message_conn.flags().starved {
            message_conn.set_flags(|flags| flags.starved = true);
            self.starved.borrow_mut().push(Rc::clone(message_conn));
        }
    }

    /// Makes what message connections need.
    pub(crate) fn prepare(&self) -> std::io::Result<()> {
        if self.reactor.get().is_none() {
            // There is one thread: nobody else can have made one.
            let _ = self.reactor.set(Reactor::start(&self.events, &self.batch)?);
        }
        Ok(())
    }

    /// Runs a message connection from now on.
    pub(crate) fn run(&self, message_conn: &Rc<MessageConn>, runner: Box<dyn Run>) -> std::io::Result<()> {
        self.prepare()?;
        self.reactor.get().map_or(Ok(()), |reactor| reactor.attach(message_conn, runner))
    }

    /// Has a message connection run soon.
    pub(crate) fn wake(&self, message_conn: &MessageConn) {
        if let Some(reactor) = self.reactor.get() {
            reactor.wake(message_conn);
        }
    }

    /// What is owed to message connections: see [`Reactor::owe`].
    pub(super) fn reactor(&self) -> Option<&Rc<Reactor>> {
        self.reactor.get()
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
}

impl Drop for MessageConns {
    fn drop(&mut self) {
        if let Some(reactor) = self.reactor.get() {
            reactor.remove();
        }
    }
}
