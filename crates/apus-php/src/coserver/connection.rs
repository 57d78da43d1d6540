//! `Apus\Coroutine\Server\Connection`.

use std::cell::RefCell;
use std::rc::Rc;

use apus_zend::class::{Class, Method, Property};
use apus_zend::object::Object;
use apus_zend::{Call, Raise, handler, native};

use super::stream::Place;
use crate::exception::entry;
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
    call.expect(1, 1)?;
    let given = call.value(0);
    let Some(socket) = as_socket(&given) else {
        return Err(call.type_error(0, "of type Apus\\Coroutine\\Socket"));
    };
    call.construct(Connection { place: RefCell::new(None) })?;
    this(call)?.set_slot(SOCKET, socket.into());
    Ok(())
}

fn this(call: &Call) -> Result<Object, Raise> {
    // SAFETY: $this is alive during the call.
    Ok(unsafe { Object::share_raw(call.this_object()?) })
}

/// The socket, with a reference of its own: others may let go of it while a method waits.
fn socket(call: &Call) -> Result<Object, Raise> {
    let this = call.this::<Connection>().and(this(call))?;
    as_socket(&this.slot(SOCKET)).ok_or_else(|| apus_zend::engine::throw_error("this connection has no socket"))
}

fn recv(call: &Call) -> Result<(), Raise> {
    call.expect(0, 1)?;
    let timeout = seconds(call, 0, 0.0)?;
    call.ret(peer_recv(&socket(call)?, timeout)?)
}

fn send(call: &Call) -> Result<(), Raise> {
    call.expect(1, 1)?;
    let data = call.bytes(0)?;
    call.ret(peer_send(&socket(call)?, data)?)
}

fn close(call: &Call) -> Result<(), Raise> {
    call.expect(0, 0)?;
    let closed = peer_close(&socket(call)?)?;
    drop(call.this::<Connection>()?.place.take());
    call.ret(closed)
}

fn export_socket(call: &Call) -> Result<(), Raise> {
    call.expect(0, 0)?;
    call.ret(socket(call)?)
}

/// `Apus\Coroutine\Server\Connection`.
pub(super) static CONNECTION: Class = Class {
    name: "Apus\\Coroutine\\Server\\Connection",
    modifiers: "",
    extends: "",
    implements: &[],
    doc: "A connection that an Apus\\Coroutine\\Server accepted. It is closed by close(), or when nobody holds it or its socket any\n\
          more. One coroutine may read while another one writes. Why a method failed is told by errCode and errMsg of exportSocket().\n\
          @since 0.1.0",
    constants: &[],
    properties: &[Property { decl: "protected ?Apus\\Coroutine\\Socket $socket = null", doc: "The socket." }],
    methods: &[
        Method {
            decl: "public function __construct(Apus\\Coroutine\\Socket $conn)",
            doc: "A connection over a socket that is connected.\nDoes not wait.\n@since 0.1.0",
            handler: Some(handler!(construct)),
        },
        Method {
            decl: "public function recv(float $timeout = 0): string|false",
            doc: "The next message by the server's framing settings (open_length_check, open_eof_check), whole; without them some bytes,\n\
                  at most 65536, as soon as there are any. A peer that breaks the framing, or sends more than package_max_length\n\
                  (default 2 MiB), is disconnected.\n\
                  @param float $timeout seconds; 0 for the settings read_timeout and socket_timeout (none), negative for no limit\n\
                  @return string|false '' when the peer has ended its side; false on failure: ETIMEDOUT, ECANCELED, ECONNRESET …\n\
                  @throws Apus\\Coroutine\\ConflictException when another coroutine reads\n\
                  @throws Apus\\Coroutine\\CanceledException when cancelled with an exception\nWaits.\n@since 0.1.0",
            handler: Some(handler!(recv)),
        },
        Method {
            decl: "public function send(string $data): int|false",
            doc: "Sends all of $data.\n\
                  @return int|false how many bytes were taken: fewer than all when the connection broke meanwhile; false when none were\n\
                  @throws Apus\\Coroutine\\ConflictException when another coroutine writes\n\
                  @throws Apus\\Coroutine\\CanceledException when cancelled with an exception\nWaits.\n@since 0.1.0",
            handler: Some(handler!(send)),
        },
        Method {
            decl: "public function close(): bool",
            doc: "Closes the connection; a recv() that waits returns false.\n\
                  @return bool false when it was closed already\nDoes not wait.\n@since 0.1.0",
            handler: Some(handler!(close)),
        },
        Method {
            decl: "public function exportSocket(): Apus\\Coroutine\\Socket",
            doc: "The socket, for everything that this class does not have.\nDoes not wait.\n@since 0.1.0",
            handler: Some(handler!(export_socket)),
        },
    ],
    native: true,
    lazy: None,
    entry: entry!(),
};
