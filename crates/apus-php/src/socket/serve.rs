//! What `Coroutine\Server` needs of sockets: one that listens, and what is done with the connections that it takes.

use std::future::{Future, poll_fn};
use std::io;
use std::os::fd::OwnedFd;
use std::rc::Rc;

use apus_client::tls;
use apus_zend::object::Object;
use apus_zend::value::{ArrayView, View};
use apus_zend::{Raise, Value};
use socket2::Socket;

use super::connect;
use super::core::Sock;
use super::descriptor::{Pace, Way};
use super::fault::{Fault, Outcome};
use super::methods::{FD, SLOTS, SocketObject, fill};
use super::run::{Caller, Kind, Session, Span};
use super::settings::{Given, merged};
use super::{methods, packet, stream};
use crate::exception;
use crate::runtime::State;
use crate::wait::Timeout;

const ACCEPT: Kind = Kind { name: "Coroutine\\Server::start()", way: Way::Read, span: Span::Read };
const RECV: Kind = Kind { name: "Coroutine\\Server\\Connection::recv()", way: Way::Read, span: Span::Read };
const SEND: Kind = Kind { name: "Coroutine\\Server\\Connection::send()", way: Way::Write, span: Span::Write };

/// A socket that listens, and the settings of the connections that come.
pub(crate) struct Listening {
    sock: Rc<Sock>,
    given: Given,
}

/// What came of waiting for a connection.
pub(crate) enum Accepted {
    /// An `Apus\Coroutine\Socket`.
    Connection(Object),
    /// The socket was closed, or the wait broken off.
    Stopped,
    /// The system has no descriptor or no memory for it: the same would happen again at once.
    Exhausted(String),
    /// The socket is of no use any more: the errno and its text.
    Failed(i32, String),
}

impl Listening {
    /// Over a stream socket that listens.
    pub(crate) fn new(fd: OwnedFd) -> io::Result<Self> {
        let socket = Socket::from(fd);
        let domain = i32::from(socket.local_addr()?.domain());
        let sock = Sock::adopt(socket, domain, libc::SOCK_STREAM, 0)?;
        Ok(Self { sock: Rc::new(sock), given: Given::default() })
    }

    /// The address family.
    pub(crate) fn domain(&self) -> i32 {
        self.sock.domain
    }

    /// Settings of the connections that will come; all, or none.
    pub(crate) fn set(&self, given: ArrayView<'_>) -> Result<(), Raise> {
        self.given.take(given, false)
    }

    /// Looks whether TLS can be spoken as the settings say. Blocks while it reads their files.
    pub(crate) fn prepare_tls(&self) -> Result<(), Raise> {
        self.given.install(&self.sock)?;
        let prepared = tls::prepare(&self.sock.plan.borrow().options, true);
        prepared.map_err(|error| {
            exception::throw(exception::code::server::OPTION, &format!("TLS: {}", Fault::from(error).text()))
        })
    }

    /// Begins to take connections. Throws outside coroutines, and while another coroutine does so.
    pub(crate) fn begin(&self) -> Result<Accepting<'_>, Raise> {
        let caller = Caller::find(ACCEPT.name, false)?;
        // No limit of time: a listener's is the connections', where settings name one.
        Ok(Accepting { listening: self, session: Session::begin(&self.sock, caller, ACCEPT, Timeout::NEVER)? })
    }

    /// Closes it; whoever waits for a connection is told.
    pub(crate) fn close(&self) -> bool {
        self.sock.close(libc::ECANCELED)
    }
}

/// A coroutine that takes connections.
pub(crate) struct Accepting<'a> {
    listening: &'a Listening,
    session: Session<'a>,
}

impl Accepting<'_> {
    /// Waits for the next connection; `second`: its socket is of the class that code written for Swoole knows.
    pub(crate) fn next(&self, second: bool) -> Result<Accepted, Raise> {
        let Listening { sock, given } = self.listening;
        loop {
            let fault = match self.session.run(poll_fn(|cx| sock.poll_accept(cx)))? {
                Ok(peer) => return connection(&Rc::new(peer), given.clone(), second).map(Accepted::Connection),
                Err(fault) => fault,
            };
            match fault.code {
                libc::ECANCELED => return Ok(Accepted::Stopped),
                libc::EMFILE | libc::ENFILE | libc::ENOBUFS | libc::ENOMEM => {
                    return Ok(Accepted::Exhausted(fault.text().to_owned()));
                }
                libc::EBADF | libc::EINVAL | libc::ENOTSOCK | libc::EOPNOTSUPP => {
                    return Ok(Accepted::Failed(fault.code, fault.text().to_owned()));
                }
                // The connection died in the queue, or its network's error is reported here (accept(2)).
                _ => {}
            }
        }
    }
}

/// Shakes hands on a connection that was accepted, in the loop of `state` and in no coroutine; why it could not.
pub(crate) fn shake(state: &State, socket: &Object) -> Result<impl Future<Output = Result<(), String>> + use<>, Raise> {
    let sock = Rc::clone(&payload(socket)?.sock);
    let pace = Pace::Loop(std::ptr::from_ref(state).addr());
    Ok(async move {
        if let Ok(descriptor) = sock.descriptor() {
            descriptor.set_pace(pace);
        }
        connect::shake(&sock, pace).await.map_err(|fault| fault.text().to_owned())
    })
}

/// A `Coroutine\Socket` over a connection that was accepted, with the settings of the one that listens.
pub(super) fn connection(sock: &Rc<Sock>, given: Given, second: bool) -> Result<Object, Raise> {
    given.install(sock)?;
    let object = Object::new(super::SOCKET.named(second), SocketObject { sock: Rc::clone(sock), given })?;
    fill(&object, sock);
    Ok(object)
}

/// A `Coroutine\Socket` over a connected descriptor; `kind` says whether it carries bytes (`SOCK_STREAM`) or messages.
pub(crate) fn over(fd: OwnedFd, domain: i32, kind: i32, second: bool) -> io::Result<Result<Object, Raise>> {
    let sock = Rc::new(Sock::adopt(Socket::from(fd), domain, kind, 0)?);
    Ok(methods::wrap(&sock, second))
}

/// What `$setting` shows after another array of settings.
pub(crate) fn merged_settings(before: &Value, given: ArrayView<'_>) -> Result<Value, Raise> {
    merged(before, given).map(Value::from)
}

/// The `Apus\Coroutine\Socket` that a value is, constructed.
pub(crate) fn as_socket(value: &Value) -> Option<Object> {
    value.object().filter(|object| object.is(&super::SOCKET) && object.payload::<SocketObject>().is_some())
}

/// What `$fd` says.
pub(crate) fn descriptor_of(socket: &Object) -> i64 {
    match socket.slot(super::methods::slot::socket::FD).view() {
        View::Int(fd) => fd,
        _ => -1,
    }
}

fn payload(socket: &Object) -> Result<&SocketObject, Raise> {
    // `as_socket` lets only such objects in.
    socket.payload::<SocketObject>().ok_or_else(|| apus_zend::engine::throw_error("this connection has no socket"))
}

/// Tells the socket object how it went; what it gave, or false.
fn told<T>(
    socket: &Object,
    outcome: Outcome<T>,
    value: impl FnOnce(T) -> Result<Value, Raise>,
) -> Result<Value, Raise> {
    SLOTS.report(socket, &outcome)?;
    outcome.map_or_else(|_| Ok(Value::bool(false)), value)
}

/// The next message of a connection by its framing, or some bytes: `''` at the end, false on failure.
pub(crate) fn peer_recv(socket: &Object, timeout: Timeout) -> Result<Value, Raise> {
    let SocketObject { sock, given } = payload(socket)?;
    let (sock, tell) = (Rc::clone(sock), given.tell());
    let session = Session::begin(&sock, Caller::find(RECV.name, false)?, RECV, timeout)?;
    let outcome = packet::recv_packet(&sock, &session, tell.as_deref())?;
    if sock.is_closed() {
        // The framing was broken.
        socket.set_slot(FD, Value::int(-1));
    }
    told(socket, outcome, |bytes| Value::string(&bytes))
}

/// Sends all: how many bytes were taken, false when none were.
pub(crate) fn peer_send(socket: &Object, data: &[u8]) -> Result<Value, Raise> {
    let sock = Rc::clone(&payload(socket)?.sock);
    let session = Session::begin(&sock, Caller::find(SEND.name, false)?, SEND, Timeout::ZERO)?;
    let (outcome, later): (_, Option<Fault>) = stream::send_all(&sock, &session, data)?;
    if let Some(fault) = later {
        SLOTS.report(socket, &Err::<(), _>(fault))?;
        return Ok(outcome.map_or_else(|_| Value::bool(false), |sent| Value::int(sent as i64)));
    }
    told(socket, outcome, |sent| Ok(Value::int(sent as i64)))
}

/// Closes a connection. `false`: it was closed already.
pub(crate) fn peer_close(socket: &Object) -> Result<bool, Raise> {
    let closed = payload(socket)?.sock.close(libc::ECANCELED);
    socket.set_slot(FD, Value::int(-1));
    Ok(closed)
}
