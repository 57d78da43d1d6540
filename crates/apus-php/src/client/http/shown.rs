//! `$socket` of clients of code written for Swoole: the connection as a `Swoole\Coroutine\Socket`, which tells its
//! descriptor and its ends, and closes it. Of TLS there is none: it would read what is encrypted. A stream of events
//! without a length is read from it.

use std::os::fd::BorrowedFd;
use std::rc::Rc;

use apus_client::http::{Connection, Incoming, pour};
use apus_zend::object::Object;
use apus_zend::{Raise, Value};

use super::{CLIENT_CLASS, HttpClient, slot};
use crate::runtime::State;
use crate::socket::{close_copy, copy_of, is_copy_closed, socket_of};

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
        self.end_shown();
        let facts = Rc::clone(connection.facts());
        let Ok((fd, pouring)) = pour(connection, events) else { return Ok(()) };
        let socket = socket_of(fd, true)?;
        object.set_slot(slot::SOCKET, socket.as_ref().map_or_else(Value::null, |socket| socket.share().into()));
        drop(State::get()?.spawn(pouring));
        self.shown.replace(socket.map(|socket| (facts, socket)));
        Ok(())
    }

    /// Has `$socket` be what the connection is now.
    pub(super) fn show(&self, object: &Object) -> Result<(), Raise> {
        if !object.is_second(&CLIENT_CLASS) {
            return Ok(());
        }
        let facts = self.facts.borrow().clone().filter(|facts| !facts.tls);
        let same = match (&*self.shown.borrow(), &facts) {
            (Some((known, _)), Some(facts)) => Rc::ptr_eq(known, facts),
            (None, None) => true,
            _ => false,
        };
        if same {
            return Ok(());
        }
        self.end_shown();
        let socket = facts.as_ref().map_or(Ok(None), |facts| {
            // SAFETY: the connection that the facts are of is open, and nobody closes it during the call.
            copy_of(unsafe { BorrowedFd::borrow_raw(facts.fd) }, true)
        })?;
        object.set_slot(slot::SOCKET, socket.as_ref().map_or_else(Value::null, |socket| socket.share().into()));
        if let (Some(facts), Some(socket)) = (facts, socket) {
            self.shown.replace(Some((facts, socket)));
        }
        Ok(())
    }
}
