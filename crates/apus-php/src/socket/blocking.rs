//! The methods of `Apus\Client`, which works outside coroutines, too: there it blocks its process.

use std::future::poll_fn;

use apus_zend::{Call, Raise, Value, native};

use super::core::Sock;
use super::descriptor::{Way, recv as recv_raw};
use super::fault::{Fault, Outcome, Slots};
use super::object::{answer, answer_part, bytes, count, done, length, this};
use super::peer::{self, ASYNC, Layout, Peer};
use super::run::{Kind, Session, Span};
use super::{packet, stream};
use crate::exception::{self};

const ID: u32 = 5;
const LAYOUT: Layout =
    Layout { slots: Slots { code: 0, text: 7 }, fd: 1, kind: 4, setting: 6, connected: None, blocking: true };
/// How long connecting and each later operation may take when nobody says.
const TIMEOUT: f64 = 0.5;

/// Behind an `Apus\Client`.
pub(super) struct BlockingClient(Peer);
native!(BlockingClient, "Apus\\Client");

macro_rules! kind {
    ($name:literal, $way:ident, $span:ident) => {
        Kind { name: concat!("Client::", $name, "()"), way: Way::$way, span: Span::$span }
    };
}

pub(super) fn construct(call: &Call) -> Result<(), Raise> {
    let (kind, later, id) = (call.int(0, 0)?, call.bool(1, false)?, call.bytes(2)?);
    if later || kind & ASYNC != 0 {
        return Err(exception::throw(
            exception::code::client::OPTION,
            "there is no asynchronous Client with callbacks: use Apus\\Coroutine\\Client in a coroutine",
        ));
    }
    let peer = Peer::new(kind).ok_or_else(|| super::client::unknown_type(call, kind))?;
    call.construct(BlockingClient(peer))?;
    let object = this(call)?;
    object.set_slot(LAYOUT.kind, Value::int(kind));
    object.set_slot(ID, Value::string(id)?);
    Ok(())
}

fn me(call: &Call) -> Result<&Peer, Raise> {
    Ok(&call.this::<BlockingClient>()?.0)
}

pub(super) fn set(call: &Call) -> Result<(), Raise> {
    peer::set(call, LAYOUT, me(call)?)
}

pub(super) fn connect(call: &Call) -> Result<(), Raise> {
    peer::connect_to(call, LAYOUT, me(call)?, kind!("connect", Write, Connect), TIMEOUT)
}

pub(super) fn recv(call: &Call) -> Result<(), Raise> {
    let most = length(call, 0, 65_536)?;
    let flags = flags(call, 1, libc::MSG_OOB | libc::MSG_PEEK | libc::MSG_DONTWAIT | libc::MSG_WAITALL)?;
    let me = me(call)?;
    let tell = me.given().tell();
    let mut later = None;
    let outcome = peer::with(LAYOUT, me, kind!("recv", Read, Read), 0.0, |sock, session| {
        if flags == 0 && sock.framing.borrow().is_some() {
            return packet::recv_packet(sock, session, tell.as_deref());
        }
        if flags == libc::MSG_WAITALL {
            let (outcome, fault) = stream::recv_all(sock, session, most)?;
            later = fault;
            return Ok(outcome);
        }
        recv_by_flags(sock, session, most, flags)
    })?;
    peer::after_receiving(call, LAYOUT, me)?;
    answer_part(call, LAYOUT.slots, (outcome, later), bytes)
}

fn recv_by_flags(sock: &Sock, session: &Session<'_>, most: usize, flags: i32) -> Result<Outcome<Vec<u8>>, Raise> {
    if flags & libc::MSG_OOB != 0 {
        if sock.is_secure() {
            return Ok(Err(Fault::new(libc::EOPNOTSUPP, "TLS has no out-of-band data")));
        }
        let mut byte = [0];
        let read = sock.descriptor().and_then(|d| Ok(recv_raw(d.socket(), &mut byte, libc::MSG_OOB)?));
        return Ok(read.map(|n| byte[..n].to_vec()));
    }
    if flags & libc::MSG_PEEK != 0 {
        return look(sock, session, most, flags);
    }
    if flags & libc::MSG_DONTWAIT != 0 {
        return Ok(peer::recv_now(sock, most));
    }
    stream::recv(sock, session, most)
}

/// What comes next, left where it is: all that was asked for with `MSG_WAITALL`.
fn look(sock: &Sock, session: &Session<'_>, most: usize, flags: i32) -> Result<Outcome<Vec<u8>>, Raise> {
    if flags & libc::MSG_DONTWAIT != 0 {
        return Ok(sock.peek(most));
    }
    let enough = if flags & libc::MSG_WAITALL != 0 { most } else { 1 };
    while sock.with_ahead(|bytes, _| bytes.len()) < enough {
        match session.run(poll_fn(|cx| sock.poll_fill(cx)))? {
            Ok(0) => break,
            Ok(_) => {}
            Err(fault) => return Ok(Err(fault)),
        }
    }
    Ok(Ok(sock.with_ahead(|bytes, _| bytes[..most.min(bytes.len())].to_vec())))
}

fn flags(call: &Call, index: usize, known: i32) -> Result<i32, Raise> {
    let given = call.int(index, 0)?;
    match i32::try_from(given) {
        Ok(flags) if flags & !known == 0 => Ok(flags),
        _ => Err(call.value_error(index, &format!("must be a sum of this class's MSG_ constants, {given} given"))),
    }
}

pub(super) fn send(call: &Call) -> Result<(), Raise> {
    let data = call.bytes(0)?;
    let flags = flags(call, 1, libc::MSG_OOB | libc::MSG_DONTWAIT)?;
    let mut later = None;
    let outcome = peer::with(LAYOUT, me(call)?, kind!("send", Write, Write), 0.0, |sock, session| {
        if flags != 0 {
            return Ok(send_now(sock, data, flags));
        }
        let (outcome, fault) = stream::send_all(sock, session, data)?;
        later = fault;
        Ok(outcome)
    })?;
    answer_part(call, LAYOUT.slots, (outcome, later), count)
}

fn send_now(sock: &Sock, data: &[u8], flags: i32) -> Outcome<usize> {
    if sock.is_secure() {
        return Err(Fault::new(libc::EOPNOTSUPP, "TLS has no flags: send without"));
    }
    let descriptor = sock.descriptor()?;
    Ok(descriptor.socket().send_with_flags(data, flags | libc::MSG_NOSIGNAL)?)
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

pub(super) fn shutdown(call: &Call) -> Result<(), Raise> {
    let how = super::methods::direction(call, 2)?;
    answer(call, LAYOUT.slots, me(call)?.sock().and_then(|sock| sock.shutdown(how)), done)
}

pub(super) fn enable_ssl(call: &Call) -> Result<(), Raise> {
    if call.count() == 1 && !matches!(call.view(0), apus_zend::value::View::Null) {
        return Err(call.value_error(0, "must be null: the handshake is done when enableSSL() returns"));
    }
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
    peer::close(call, LAYOUT, me(call)?)
}
