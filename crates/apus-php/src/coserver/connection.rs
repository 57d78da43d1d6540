//! `Apus\Coroutine\Server\Connection`.

use std::cell::RefCell;
use std::rc::Rc;

use apus_zend::object::Object;
use apus_zend::{Call, Raise, native};

use super::stream::Place;
use crate::socket::{as_socket, peer_close, peer_recv, peer_send};
use crate::wait::seconds;

/// The number of the declared property.
const SOCKET: u32 = 0;

struct Connection {
    /// Its place among the connections of the server, until it is closed.
    place: RefCell<Option<Rc<Place>>>,
}

native!(Connection, "Apus\\Coroutine\\Server\\Connection");

/// The object of a connection that was accepted.
pub(super) fn object(socket: Object, place: Rc<Place>) -> Result<Object, Raise> {
    let object = Object::new(CONNECTION.get(), Connection { place: RefCell::new(Some(place)) })?;
    object.init_slot(SOCKET, socket.into());
    Ok(object)
}

fn construct(call: &Call) -> Result<(), Raise> {
    let given = call.value(0);
    let Some(socket) = as_socket(&given) else {
        return Err(call.type_error(0, "of type Apus\\Coroutine\\Socket"));
    };
    call.construct(Connection { place: RefCell::new(None) })?;
    this(call)?.set_slot(SOCKET, socket.into());
    Ok(())
}

fn this(call: &Call) -> Result<Object, Raise> {
    call.object()
}

/// The socket, with a reference of its own: others may let go of it while a method waits.
fn socket(call: &Call) -> Result<Object, Raise> {
    let this = call.this::<Connection>().and(this(call))?;
    as_socket(&this.slot(SOCKET)).ok_or_else(|| apus_zend::engine::throw_error("this connection has no socket"))
}

fn recv(call: &Call) -> Result<(), Raise> {
    let timeout = seconds(call, 0, 0.0)?;
    call.ret(peer_recv(&socket(call)?, timeout)?)
}

fn send(call: &Call) -> Result<(), Raise> {
    let data = call.bytes(0)?;
    call.ret(peer_send(&socket(call)?, data)?)
}

fn close(call: &Call) -> Result<(), Raise> {
    let closed = peer_close(&socket(call)?)?;
    drop(call.this::<Connection>()?.place.take());
    call.ret(closed)
}

fn export_socket(call: &Call) -> Result<(), Raise> {
    call.ret(socket(call)?)
}

apus_zend::stub!("coserver/connection");
