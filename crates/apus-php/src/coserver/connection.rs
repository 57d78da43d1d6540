//! `Apus\Coroutine\Server\Connection`.

use std::cell::RefCell;
use std::rc::Rc;

use apus_zend::arg::{Made, Me};
use apus_zend::object::Object;
use apus_zend::{Raise, Value, native};

use super::stream::Place;
use crate::socket::{SOCKET, as_socket, peer_close, peer_recv, peer_send};
use crate::wait::Timeout;

struct Connection {
    /// Its place among the connections of the server, until it is closed.
    place: RefCell<Option<Rc<Place>>>,
}

native!(Connection, "Apus\\Coroutine\\Server\\Connection");

/// The object of a connection that was accepted; `second`: of the class that code written for Swoole knows.
pub(super) fn object(socket: Object, place: Rc<Place>, second: bool) -> Result<Object, Raise> {
    let object = Object::new(CONNECTION.named(second), Connection { place: RefCell::new(Some(place)) })?;
    object.init_slot(slot::connection::SOCKET, socket.into());
    Ok(object)
}

fn construct(socket: Object) -> Result<Made<Connection, 1>, Raise> {
    let socket = as_socket(&socket.into()).ok_or_else(none)?;
    Ok(Made(Connection { place: RefCell::new(None) }, [(slot::connection::SOCKET, socket.into())]))
}

fn none() -> Raise {
    apus_zend::engine::throw_error("this connection has no socket")
}

/// The socket, with a reference of its own: others may let go of it while a method waits.
fn socket(connection: &Me<'_, Connection>) -> Result<Object, Raise> {
    as_socket(&connection.object.slot(slot::connection::SOCKET)).ok_or_else(none)
}

fn recv(connection: Me<'_, Connection>, timeout: Timeout) -> Result<Value, Raise> {
    peer_recv(&socket(&connection)?, timeout)
}

fn send(connection: Me<'_, Connection>, data: &[u8]) -> Result<Value, Raise> {
    peer_send(&socket(&connection)?, data)
}

fn close(connection: Me<'_, Connection>) -> Result<bool, Raise> {
    let closed = peer_close(&socket(&connection)?)?;
    drop(connection.place.take());
    Ok(closed)
}

fn export_socket(connection: Me<'_, Connection>) -> Result<Object, Raise> {
    socket(&connection)
}

apus_zend::stub!("coserver/connection");
