//! The methods of `Apus\Client`, which works outside coroutines, too: there it blocks its process.

use std::future::poll_fn;

use apus_zend::arg::{Given, Made, Me, Want as _};
use apus_zend::value::{ArrayView, View};
use apus_zend::{Callable, Raise, Value, descriptor, native};

use super::client::slot;
use super::core::Sock;
use super::descriptor::recv as recv_raw;
use super::fault::{Fault, Outcome, Slots};
use super::object::{Direction, Extent, FilePath, Length, Port, answer, answer_part, bytes, count, done};
use super::peer::{self, ASYNC, Client, Layout, Peer};
use super::run::Session;
use super::{packet, stream};
use crate::exception;
use crate::swoole::{self, There};
use crate::wait::Timeout;

const LAYOUT: Layout = Layout {
    slots: Slots { code: slot::blocking::ERR_CODE, text: slot::blocking::ERR_MSG },
    fd: slot::blocking::SOCK,
    kind: slot::blocking::TYPE,
    setting: slot::blocking::SETTING,
    connected: None,
    blocking: true,
};

/// Behind an `Apus\Client`.
pub(super) struct BlockingClient(Peer);
native!(BlockingClient, "Apus\\Client");

pub(super) fn construct(kind: Given<i64>, later: bool, id: Value) -> Result<Made<BlockingClient, 2>, Raise> {
    if later || kind.value & ASYNC != 0 {
        return Err(exception::throw(
            exception::code::client::OPTION,
            "there is no asynchronous Client with callbacks: use Apus\\Coroutine\\Client in a coroutine",
        ));
    }
    let peer = Peer::new(kind.value).ok_or_else(|| super::client::unknown_type(kind))?;
    Ok(Made(BlockingClient(peer), [(LAYOUT.kind, Value::int(kind.value)), (slot::blocking::ID, id)]))
}

/// The same for code written for Swoole.
pub(super) fn construct_trusting(kind: Given<i64>, later: bool, id: Value) -> Result<Made<BlockingClient, 2>, Raise> {
    let made = construct(kind, later, id)?;
    made.0.0.given().trust();
    Ok(made)
}

fn of<'a>(client: &'a Me<'_, BlockingClient>) -> Client<'a> {
    (&client.object, LAYOUT, &client.0)
}

peer::shared_methods!(BlockingClient, "Client");

/// What a connection is kept as: the id that the client was given, or where it leads.
fn name_of(client: &Me<'_, BlockingClient>, host: &[u8], port: Port) -> Vec<u8> {
    let (id, kind) = (client.object.slot(slot::blocking::ID), client.object.slot(slot::blocking::TYPE));
    let kind = if let View::Int(kind) = kind.view() { kind } else { 0 };
    match id.view() {
        View::Str(id) if !id.is_empty() => [id, format!("|{kind}").as_bytes()].concat(),
        _ => [host, format!(":{}|{kind}", port.number).as_bytes()].concat(),
    }
}

pub(super) fn connect(
    client: Me<'_, BlockingClient>,
    host: &[u8],
    port: Port,
    timeout: Timeout,
    _flag: i64,
) -> Result<Value, Raise> {
    let taken_up = client.0.take_up(name_of(&client, host, port))?;
    client.object.set_slot(slot::blocking::REUSE, Value::bool(taken_up));
    client.object.set_slot(slot::blocking::REUSE_COUNT, Value::int(client.0.uses()));
    if taken_up {
        peer::show(&client.object, LAYOUT, &client.0);
        return answer(&client.object, LAYOUT.slots, Ok(()), done);
    }
    peer::connect_to(of(&client), peer::kind!("Client", "connect", Write, Connect), host, port, timeout)
}

/// `Swoole\Client::recv()`, to which no bytes are an empty text.
pub(super) fn recv_there(client: Me<'_, BlockingClient>, size: Given<i64>, flags: Given<i64>) -> Result<Value, Raise> {
    if size.value == 0 {
        return Value::string(b"");
    }
    recv(client, Length::want(size)?, flags)
}

pub(super) fn recv(client: Me<'_, BlockingClient>, Length(most): Length, flags: Given<i64>) -> Result<Value, Raise> {
    let flags = known(flags, libc::MSG_OOB | libc::MSG_PEEK | libc::MSG_DONTWAIT | libc::MSG_WAITALL)?;
    let tell = client.0.given().tell();
    let mut later = None;
    let outcome =
        peer::with(of(&client), peer::kind!("Client", "recv", Read, Read), Timeout::ZERO, |sock, session| {
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
    peer::after_receiving(of(&client));
    // There a socket that blocks says what the system says of its SO_RCVTIMEO.
    let outcome = outcome.map_err(|fault| match fault.code {
        libc::ETIMEDOUT if client.object.name_there().is_some() => Fault::errno(libc::EAGAIN),
        _ => fault,
    });
    answer_part(&client.object, LAYOUT.slots, (outcome, later), bytes)
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

/// Flags that are among those.
fn known(flags: Given<i64>, known: i32) -> Result<i32, Raise> {
    match i32::try_from(flags.value) {
        Ok(given) if given & !known == 0 => Ok(given),
        _ => Err(flags.must_be("a sum of this class's MSG_ constants")),
    }
}

pub(super) fn send(client: Me<'_, BlockingClient>, data: &[u8], flags: Given<i64>) -> Result<Value, Raise> {
    let flags = known(flags, libc::MSG_OOB | libc::MSG_DONTWAIT)?;
    let mut later = None;
    let outcome =
        peer::with(of(&client), peer::kind!("Client", "send", Write, Write), Timeout::ZERO, |sock, session| {
            if flags != 0 {
                return Ok(send_now(sock, data, flags));
            }
            let (outcome, fault) = stream::send_all(sock, session, data)?;
            later = fault;
            Ok(outcome)
        })?;
    answer_part(&client.object, LAYOUT.slots, (outcome, later), count)
}

fn send_now(sock: &Sock, data: &[u8], flags: i32) -> Outcome<usize> {
    if sock.is_secure() {
        return Err(Fault::new(libc::EOPNOTSUPP, "TLS has no flags: send without"));
    }
    let descriptor = sock.descriptor()?;
    Ok(descriptor.socket().send_with_flags(data, flags | libc::MSG_NOSIGNAL)?)
}

pub(super) fn shutdown(client: Me<'_, BlockingClient>, Direction(how): Direction) -> Result<Value, Raise> {
    answer(&client.object, LAYOUT.slots, client.0.sock().and_then(|sock| sock.shutdown(how)), done)
}

pub(super) fn enable_ssl(client: Me<'_, BlockingClient>, ready: Given<Option<Callable>>) -> Result<Value, Raise> {
    if ready.value.is_some() {
        let raise = ready.value_error("must be null: the handshake is done when enableSSL() returns");
        let said = "sync client not support `onSslReady` callback".to_owned();
        return Err(swoole::there(raise, There::Error(swoole::error_class(), said)));
    }
    peer::enable_ssl(of(&client), peer::kind!("Client", "enableSSL", Write, Connect))
}

/// A `Socket` of ext/sockets for the options of the connection, which stays the client's.
pub(super) fn get_socket(client: Me<'_, BlockingClient>) -> Result<Value, Raise> {
    let fd = match client.0.sock() {
        Ok(sock) => sock.fd(),
        Err(fault) => return answer(&client.object, LAYOUT.slots, Err::<(), _>(fault), done),
    };
    let stream = descriptor::stream_over(fd)?;
    if matches!(stream.view(), View::Null) {
        return Ok(Value::bool(false));
    }
    Callable::named("socket_import_stream")?.call(&[stream])
}

pub(super) fn close(client: Me<'_, BlockingClient>, force: bool) -> Result<Value, Raise> {
    if !force && client.0.leave() {
        peer::show(&client.object, LAYOUT, &client.0);
        return answer(&client.object, LAYOUT.slots, Ok(()), done);
    }
    peer::close(of(&client))
}
