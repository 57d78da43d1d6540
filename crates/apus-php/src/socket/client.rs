//! The methods of `Apus\Coroutine\Client`.

use std::cell::RefCell;
use std::rc::Rc;

use apus_zend::arg::{Given, Made, Me, Variable};
use apus_zend::object::Object;
use apus_zend::value::ArrayView;
use apus_zend::{Raise, Value, native};

use super::address::parts;
use super::core::{Limits, Sock};
use super::fault::{Slots, whole_or_end};
use super::object::{Extent, FilePath, Length, Port, answer, answer_part, bytes, count};
use super::peer::{self, ASYNC, Client, Layout, Peer};
use super::{blocking, client, packet, stream};
use crate::wait::Timeout;

const LAYOUT: Layout = Layout {
    slots: Slots { code: slot::client::ERR_CODE, text: slot::client::ERR_MSG },
    fd: slot::client::FD,
    kind: slot::client::TYPE,
    setting: slot::client::SETTING,
    connected: Some(slot::client::CONNECTED),
    blocking: false,
};

/// Behind an `Apus\Coroutine\Client`.
pub(super) struct ClientObject {
    peer: Peer,
    exported: RefCell<Option<(Rc<Sock>, Object)>>,
}
native!(ClientObject, "Apus\\Coroutine\\Client");

/// What a constructor says of a type that there is not.
pub(super) fn unknown_type(kind: Given<i64>) -> Raise {
    kind.value_error(&format!(
        "must be Apus\\SOCK_TCP, SOCK_TCP6, SOCK_UDP, SOCK_UDP6, UNIX_STREAM or UNIX_DGRAM, of streams with Apus\\SSL if wanted, {} given",
        kind.value
    ))
}

pub(super) fn construct(kind: Given<i64>) -> Result<Made<ClientObject, 1>, Raise> {
    let peer = Peer::new(kind.value & !ASYNC).ok_or_else(|| unknown_type(kind))?;
    Ok(Made(ClientObject { peer, exported: RefCell::new(None) }, [(LAYOUT.kind, Value::int(kind.value))]))
}

/// The same for code written for Swoole.
pub(super) fn construct_trusting(kind: Given<i64>) -> Result<Made<ClientObject, 1>, Raise> {
    let made = construct(kind)?;
    made.0.peer.given().trust();
    Ok(made)
}

fn of<'a>(client: &'a Me<'_, ClientObject>) -> Client<'a> {
    (&client.object, LAYOUT, &client.peer)
}

peer::shared_methods!(ClientObject, "Coroutine\\Client");

pub(super) fn connect(
    client: Me<'_, ClientObject>,
    host: &[u8],
    port: Port,
    timeout: Timeout,
    _flag: i64,
) -> Result<Value, Raise> {
    peer::connect_to(of(&client), peer::kind!("Coroutine\\Client", "connect", Write, Connect), host, port, timeout)
}

pub(super) fn recv(client: Me<'_, ClientObject>, timeout: Timeout) -> Result<Value, Raise> {
    let tell = client.peer.given().tell();
    let outcome =
        peer::with(of(&client), peer::kind!("Coroutine\\Client", "recv", Read, Read), timeout, |sock, session| {
            packet::recv_packet(sock, session, tell.as_deref())
        })?;
    peer::after_receiving(of(&client));
    let outcome = whole_or_end(outcome, client.object.is_second(&CLIENT));
    answer(&client.object, LAYOUT.slots, outcome, bytes)
}

pub(super) fn peek(client: Me<'_, ClientObject>, Length(most): Length) -> Result<Value, Raise> {
    answer(&client.object, LAYOUT.slots, client.peer.sock().and_then(|sock| sock.peek(most)), bytes)
}

pub(super) fn send(client: Me<'_, ClientObject>, data: &[u8], timeout: Timeout) -> Result<Value, Raise> {
    let mut later = None;
    let outcome =
        peer::with(of(&client), peer::kind!("Coroutine\\Client", "send", Write, Write), timeout, |sock, session| {
            let (outcome, fault) = stream::send_all(sock, session, data)?;
            later = fault;
            Ok(outcome)
        })?;
    answer_part(&client.object, LAYOUT.slots, (outcome, later), count)
}

pub(super) fn recvfrom(
    client: Me<'_, ClientObject>,
    Length(most): Length,
    address: Variable<'_>,
    port: Variable<'_>,
) -> Result<Value, Raise> {
    let outcome = match peer::recv_from(of(&client), peer::kind!("Coroutine\\Client", "recvfrom", Read, Read), most)? {
        Ok((data, from)) => {
            let (host, number) = parts(&from);
            address.assign(Value::string(&host)?)?;
            port.assign(Value::int(i64::from(number)))?;
            Ok(data)
        }
        Err(fault) => Err(fault),
    };
    answer(&client.object, LAYOUT.slots, outcome, bytes)
}

pub(super) fn enable_ssl(client: Me<'_, ClientObject>) -> Result<Value, Raise> {
    peer::enable_ssl(of(&client), peer::kind!("Coroutine\\Client", "enableSSL", Write, Connect))
}

pub(super) fn close(client: Me<'_, ClientObject>) -> Result<Value, Raise> {
    let _exported = client.exported.take();
    client.object.set_slot(slot::client::SOCKET, Value::null());
    peer::close(of(&client))
}

pub(super) fn export_socket(client: Me<'_, ClientObject>) -> Result<Value, Raise> {
    let outcome = peer::export(&client.peer, &client.exported, client.object.is_second(&CLIENT))?;
    if let Ok(socket) = &outcome {
        client.object.set_slot(slot::client::SOCKET, socket.share().into());
    }
    answer(&client.object, LAYOUT.slots, outcome, |socket| Ok(socket.into()))
}

/// `connect()` of code written for Swoole, which finds the socket in `$socket` from then on.
pub(super) fn connect_shown(
    client: Me<'_, ClientObject>,
    host: &[u8],
    port: Port,
    timeout: Timeout,
    _flag: i64,
) -> Result<Value, Raise> {
    let kind = peer::kind!("Coroutine\\Client", "connect", Write, Connect);
    let connected = peer::connect_to(of(&client), kind, host, port, timeout)?;
    // What it may take to connect, it may take for anything.
    if !timeout.is_zero()
        && let Ok(sock) = client.peer.sock()
    {
        let each = Some(timeout);
        sock.limits.set(Limits { read: each, write: each, ..sock.limits.get() });
    }
    if let Ok(socket) = peer::export(&client.peer, &client.exported, true)? {
        client.object.set_slot(slot::client::SOCKET, socket.into());
    }
    Ok(connected)
}

apus_zend::stub!("socket/client_table");
