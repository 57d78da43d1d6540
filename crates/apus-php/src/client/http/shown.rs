//! `$socket` of clients of code written for Swoole: the connection as a `Swoole\Coroutine\Socket`, which tells its
//! descriptor and its ends, and closes it. Of TLS there is none: it would read what is encrypted. A stream of events
//! without a length is read from it.

use std::os::fd::{BorrowedFd, OwnedFd};
use std::rc::Rc;

use apus_client::http::{Connection, Incoming, pour};
use apus_client::wire::Facts;
use apus_zend::object::Object;
use apus_zend::{Raise, Value};

use super::{CLIENT_CLASS, HttpClient, slot};
use crate::runtime::State;
use crate::socket::{close_copy, is_copy_closed, socket_of};

impl HttpClient {
    /// The connection has ended, and what `$socket` is of it.
    pub(super) fn end_shown(&self) {
        if let Some((_, socket)) = self.shown.take() {
            close_copy(&socket);
        }
    }

    /// Gives up a connection that the program has closed by `$socket`.
    pub(super) fn heed_shown(&self) {
        let closed = self.shown.borrow().as_ref().is_some_and(|(_, socket)| is_copy_closed(socket));
        if closed {
            self.drop_connection();
        }
    }

    /// Has `$socket` be where the events of a stream come from.
    pub(super) fn show_events(&self, object: &Object, connection: Connection, events: Incoming) -> Result<(), Raise> {
        let facts = Rc::clone(connection.facts());
        let Ok((fd, pouring)) = pour(connection, events) else { return self.show_copy(object, None, None) };
        drop(State::get()?.spawn(pouring));
        self.show_copy(object, Some(facts), Some(fd))
    }

    /// Has `$socket` be what the connection is now: of one that is open a copy of its descriptor.
    pub(super) fn show(&self, object: &Object) -> Result<(), Raise> {
        if !object.is_second(&CLIENT_CLASS) {
            return Ok(());
        }
        let open =
            self.websocket.borrow().is_some() || self.connection.borrow().as_ref().is_some_and(Connection::is_open);
        let facts = self.facts.borrow().clone().filter(|_| open);
        let same = match (&*self.shown.borrow(), &facts) {
            (Some((known, _)), Some(facts)) => Rc::ptr_eq(known, facts),
            (None, None) => true,
            _ => false,
        };
        if same {
            return Ok(());
        }
        let copy = facts.as_ref().and_then(|facts| copy_of(facts));
        self.show_copy(object, facts, copy)
    }

    /// Has `$socket` be this copy of a connection's descriptor, or null.
    pub(super) fn show_copy(&self, object: &Object, of: Option<Rc<Facts>>, copy: Option<OwnedFd>) -> Result<(), Raise> {
        self.end_shown();
        let socket = copy.map_or(Ok(None), |copy| socket_of(copy, true))?;
        object.set_slot(slot::SOCKET, socket.as_ref().map_or_else(Value::null, |socket| socket.share().into()));
        self.shown.replace(of.zip(socket));
        Ok(())
    }
}

/// A descriptor of its own for a connection that is open now, unless TLS is spoken over it.
pub(super) fn copy_of(facts: &Facts) -> Option<OwnedFd> {
    if facts.tls {
        return None;
    }
    // SAFETY: the connection is open, and nobody closes it during the call.
    unsafe { BorrowedFd::borrow_raw(facts.fd) }.try_clone_to_owned().ok()
}
