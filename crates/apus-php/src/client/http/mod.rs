//! `Apus\Coroutine\Http\Client`.

mod class;
mod execute;
mod functions;
mod plain;
mod request;
mod shown;
mod websocket;

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use apus_client::connect::Endpoint;
use apus_client::http::{Connection, Finished};
use apus_client::types::HeaderValue;
use apus_client::websocket::WebSocket;
use apus_client::wire::Facts;
use apus_options::client::http::Settings;
use apus_zend::native;
use apus_zend::object::Object;
use apus_zend::{Call, Raise};
use tokio::sync::{Notify, oneshot};
use tokio::task::JoinHandle;

use super::busy::Busy;
use super::cookies::Written;

pub(super) use class::CLIENT_CLASS;
use class::slot::client_class as slot;
pub(super) use execute::sleep;
pub(crate) use functions::FUNCTIONS;
pub(super) use functions::PROXY;
pub(super) use plain::merge_settings;

/// The class in messages.
pub(super) const NAME: &str = "Apus\\Coroutine\\Http\\Client";

/// A request whose answer `recv()` will fetch. Dropped, it is broken off.
struct Deferred {
    running: JoinHandle<()>,
    answer: oneshot::Receiver<Finished>,
}

impl Drop for Deferred {
    fn drop(&mut self) {
        self.running.abort();
    }
}

/// What is behind a client object.
pub(super) struct HttpClient {
    endpoint: Endpoint,
    settings: RefCell<Settings>,
    defer: Cell<bool>,
    authorization: RefCell<Option<HeaderValue>>,
    cookies: Written,
    connection: RefCell<Option<Connection>>,
    facts: RefCell<Option<Rc<Facts>>>,
    /// What `$socket` is, and of which connection.
    shown: RefCell<Option<(Rc<Facts>, Object)>>,
    deferred: RefCell<Option<Deferred>>,
    websocket: RefCell<Option<Rc<WebSocket>>>,
    /// Whether the client has ever spoken WebSocket.
    was_websocket: Cell<bool>,
    /// Who makes a request, or receives from a WebSocket.
    reading: Busy,
    /// Who sends to a WebSocket.
    writing: Busy,
    closing: Rc<Notify>,
    head: RefCell<String>,
}

native!(HttpClient, "Apus\\Coroutine\\Http\\Client");

impl HttpClient {
    fn new(endpoint: Endpoint) -> Self {
        Self {
            endpoint,
            settings: RefCell::new(Settings::default()),
            defer: Cell::new(false),
            authorization: RefCell::new(None),
            cookies: Written::default(),
            connection: RefCell::new(None),
            facts: RefCell::new(None),
            shown: RefCell::new(None),
            deferred: RefCell::new(None),
            websocket: RefCell::new(None),
            was_websocket: Cell::new(false),
            reading: Busy::default(),
            writing: Busy::default(),
            closing: Rc::new(Notify::new()),
            head: RefCell::new(String::new()),
        }
    }

    /// Whether there is, or is being made, a connection.
    fn is_connected(&self) -> bool {
        self.websocket.borrow().is_some()
            || self.deferred.borrow().is_some()
            || self.reading.is_taken()
            || self.connection.borrow().as_ref().is_some_and(Connection::is_open)
    }

    /// Gives up whatever there is of a connection; whoever waits on it is told.
    fn drop_connection(&self) {
        drop(self.deferred.borrow_mut().take());
        drop(self.websocket.borrow_mut().take());
        drop(self.connection.borrow_mut().take());
        self.end_shown();
        self.closing.notify_waiters();
    }
}

/// The object that a method was called on.
fn this(call: &Call) -> Result<Object, Raise> {
    call.object()
}
