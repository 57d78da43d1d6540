//! The methods of `Apus\Coroutine\Client`.

use std::cell::RefCell;
use std::rc::Rc;

use apus_zend::object::Object;
use apus_zend::{Call, Raise, Value, native};

use super::address::parts;
use super::core::Sock;
use super::descriptor::Way;
use super::fault::Slots;
use super::object::{answer, answer_part, bytes, count, done, length, this};
use super::peer::{self, ASYNC, Layout, Peer};
use super::run::{Kind, Span};
use super::{packet, stream};
use crate::wait::seconds;

const SOCKET: u32 = 3;
const LAYOUT: Layout =
    Layout { slots: Slots { code: 0, text: 1 }, fd: 2, kind: 4, setting: 5, connected: Some(6), blocking: false };

/// Behind an `Apus\Coroutine\Client`.
pub(super) struct ClientObject {
    peer: Peer,
    exported: RefCell<Option<(Rc<Sock>, Object)>>,
}
native!(ClientObject, "Apus\\Coroutine\\Client");

macro_rules! kind {
    ($name:literal, $way:ident, $span:ident) => {
        Kind { name: concat!("Coroutine\\Client::", $name, "()"), way: Way::$way, span: Span::$span }
    };
}

/// What a constructor says of a type that there is not.
pub(super) fn unknown_type(call: &Call, kind: i64) -> Raise {
    call.value_error(
        0,
        &format!(
            "must be Apus\\SOCK_TCP, SOCK_TCP6, SOCK_UDP, SOCK_UDP6, UNIX_STREAM or UNIX_DGRAM, of streams with Apus\\SSL if wanted, {kind} given"
        ),
    )
}

pub(super) fn construct(call: &Call) -> Result<(), Raise> {
    let kind = call.int(0, 0)?;
    let peer = Peer::new(kind & !ASYNC).ok_or_else(|| unknown_type(call, kind))?;
    call.construct(ClientObject { peer, exported: RefCell::new(None) })?;
    this(call)?.set_slot(LAYOUT.kind, Value::int(kind));
    Ok(())
}

fn me(call: &Call) -> Result<&Peer, Raise> {
    Ok(&call.this::<ClientObject>()?.peer)
}

pub(super) fn set(call: &Call) -> Result<(), Raise> {
    peer::set(call, LAYOUT, me(call)?)
}

pub(super) fn connect(call: &Call) -> Result<(), Raise> {
    peer::connect_to(call, LAYOUT, me(call)?, kind!("connect", Write, Connect), 0.0)
}

pub(super) fn recv(call: &Call) -> Result<(), Raise> {
    let timeout = seconds(call, 0, 0.0)?;
    let me = me(call)?;
    let tell = me.given().tell();
    let outcome = peer::with(LAYOUT, me, kind!("recv", Read, Read), timeout, |sock, session| {
        packet::recv_packet(sock, session, tell.as_deref())
    })?;
    peer::after_receiving(call, LAYOUT, me)?;
    answer(call, LAYOUT.slots, outcome, bytes)
}

pub(super) fn peek(call: &Call) -> Result<(), Raise> {
    let most = length(call, 0, 65_535)?;
    answer(call, LAYOUT.slots, me(call)?.sock().and_then(|sock| sock.peek(most)), bytes)
}

pub(super) fn send(call: &Call) -> Result<(), Raise> {
    let (data, timeout) = (call.bytes(0)?, seconds(call, 1, 0.0)?);
    let mut later = None;
    let outcome = peer::with(LAYOUT, me(call)?, kind!("send", Write, Write), timeout, |sock, session| {
        let (outcome, fault) = stream::send_all(sock, session, data)?;
        later = fault;
        Ok(outcome)
    })?;
    answer_part(call, LAYOUT.slots, (outcome, later), count)
}

pub(super) fn sendfile(call: &Call) -> Result<(), Raise> {
    let (path, offset, length) = super::methods::file_arguments(call)?;
    let outcome = peer::with(LAYOUT, me(call)?, kind!("sendfile", Write, Write), 0.0, |sock, session| {
        stream::send_file(sock, session, path, offset, length)
    })?;
    answer(call, LAYOUT.slots, outcome, done)
}

pub(super) fn sendto(call: &Call) -> Result<(), Raise> {
    peer::sendto(call, LAYOUT, me(call)?, kind!("sendto", Write, Write))
}

pub(super) fn recvfrom(call: &Call) -> Result<(), Raise> {
    let most = length(call, 0, 0)?;
    let outcome = peer::recv_from(LAYOUT, me(call)?, kind!("recvfrom", Read, Read), most)?;
    let outcome = match outcome {
        Ok((data, from)) => {
            let (host, port) = parts(&from);
            call.assign(1, Value::string(&host)?)?;
            call.assign(2, Value::int(i64::from(port)))?;
            Ok(data)
        }
        Err(fault) => Err(fault),
    };
    answer(call, LAYOUT.slots, outcome, bytes)
}

pub(super) fn enable_ssl(call: &Call) -> Result<(), Raise> {
    peer::enable_ssl(call, LAYOUT, me(call)?, kind!("enableSSL", Write, Connect))
}

pub(super) fn peer_cert(call: &Call) -> Result<(), Raise> {
    peer::peer_cert(call, LAYOUT, me(call)?)
}

pub(super) fn verify_cert(call: &Call) -> Result<(), Raise> {
    peer::verify_cert(call, LAYOUT, me(call)?)
}

pub(super) fn is_connected(call: &Call) -> Result<(), Raise> {
    peer::is_connected(call, me(call)?)
}

pub(super) fn getsockname(call: &Call) -> Result<(), Raise> {
    peer::name(call, LAYOUT, me(call)?, false)
}

pub(super) fn getpeername(call: &Call) -> Result<(), Raise> {
    peer::name(call, LAYOUT, me(call)?, true)
}

pub(super) fn close(call: &Call) -> Result<(), Raise> {
    let client = call.this::<ClientObject>()?;
    let _exported = client.exported.take();
    this(call)?.set_slot(SOCKET, Value::null());
    peer::close(call, LAYOUT, &client.peer)
}

pub(super) fn export_socket(call: &Call) -> Result<(), Raise> {
    let client = call.this::<ClientObject>()?;
    let outcome = peer::export(&client.peer, &client.exported)?;
    if let Ok(socket) = &outcome {
        this(call)?.set_slot(SOCKET, socket.share().into());
    }
    answer(call, LAYOUT.slots, outcome, |socket| Ok(socket.into()))
}
