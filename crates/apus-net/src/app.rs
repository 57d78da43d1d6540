//! The seam between the network and whatever answers: a Rust program, or PHP.
//!
//! `apus-net` calls an [`App`]; it knows nothing of PHP. A Rust `App` alone runs it (tests, the floor benchmark).

use std::future::Future;
use std::rc::Rc;

use crate::info::ConnInfo;
use crate::message_conn::{Message, MessageConn};
use crate::request::Request;
use crate::response::Responder;

/// What answers the events of a worker's connections.
///
/// Everything runs on the worker's one thread. Every method is called outside any borrow of the connection, so an
/// implementation may call back into [`Responder`] and [`crate::Control`] at once.
pub trait App: 'static {
    /// The handling of one request. `Unpin` and owned, so that a connection whose answer is complete can hand a
    /// handler that is still running to the runtime and read the next request.
    type Handling: Future<Output = ()> + Unpin + 'static;

    /// One request has arrived: its head, and its whole body unless the port streams bodies.
    ///
    /// MAY answer at once, later, or from elsewhere: the [`Responder`] is shared. The connection polls the returned
    /// future on its own task (no spawn for a request). A `Responder` dropped unanswered answers 500.
    fn on_request(self: &Rc<Self>, request: Request, response: Responder) -> Self::Handling;

    /// A WebSocket handshake came to a port for WebSockets. Accept it with [`Responder::upgrade`], or answer in another
    /// way. An invalid handshake fails there with what [`Responder::refuse_upgrade`] takes.
    fn on_upgrade(self: &Rc<Self>, request: Request, response: Responder) -> Self::Handling {
        self.on_request(request, response)
    }

    /// A message came over a message connection. `None` when it is handled, else what goes on with it: up to
    /// `Config::concurrency` such futures a message connection; then it is not read until one is over.
    fn on_message(self: &Rc<Self>, _message_conn: &Rc<MessageConn>, _message: Message<'_>) -> Option<Self::Handling> {
        None
    }

    /// As much output waits for a message connection as its high watermark says (`full`), or no longer. MUST NOT wait.
    fn on_pressure(self: &Rc<Self>, _message_conn: &Rc<MessageConn>, _full: bool) {}

    /// The length of the message that `bytes` begin with, on a stream whose framing asks for it: 0 when more bytes are
    /// needed to tell, negative when they make no sense. MUST NOT wait.
    fn package_length(self: &Rc<Self>, _message_conn: &Rc<MessageConn>, _bytes: &[u8]) -> i64 {
        -1
    }

    /// A connection was accepted. MUST NOT wait.
    fn on_connect(self: &Rc<Self>, _conn: &ConnInfo) {}

    /// A connection is gone. Called once for each `on_connect`. MUST NOT wait.
    fn on_close(self: &Rc<Self>, _conn: &ConnInfo) {}
}
