//! `Apus\WebSocket\Server`.

use std::rc::Rc;

use apus_net::proto::websocket::{Opcode, close};
use apus_net::{Delivery, MessageConn};
use apus_zend::{Call, Raise};

use super::core::{ServerHandle, ServerKind};
use super::routing::{self, Forwarded};
use super::{class, current_control};
use crate::client::frame::{self, Outgoing};
use crate::{connections, last_error};

pub(super) const SENT: i64 = 1;
pub(super) const BUFFERED: i64 = 2;
pub(super) const DROPPED: i64 = 0;
pub(super) const GONE: i64 = -1;

fn construct(call: &Call) -> Result<(), Raise> {
    class::construct(call, ServerKind::WebSocket)
}

/// A WebSocket of this worker.
fn local(fd: i64) -> Option<Rc<MessageConn>> {
    current_control()?.message_conn(fd).filter(|message_conn| message_conn.is_websocket())
}

/// Notes why a message was lost; whether it was not.
pub(crate) fn delivered(delivery: Delivery) -> bool {
    match delivery {
        Delivery::Sent | Delivery::Buffered => true,
        Delivery::Full | Delivery::Dropped | Delivery::Misplaced(_) => last_error::fail(last_error::OVERFLOW),
        Delivery::Gone => last_error::fail(last_error::CLOSED),
    }
}

fn number(delivery: Delivery) -> i64 {
    match delivery {
        Delivery::Sent => SENT,
        Delivery::Buffered => BUFFERED,
        Delivery::Full | Delivery::Dropped | Delivery::Misplaced(_) => DROPPED,
        Delivery::Gone => GONE,
    }
}

/// Sends to whichever worker's connection: what `tryPush()` answers, with the reason for failure noted.
fn deliver(call: &Call, patient: bool) -> Result<i64, Raise> {
    call.expect(2, 4)?;
    let fd = call.int(0, 0)?;
    let frame = Outgoing::from_call(call, 1)?;
    let closes = (frame.opcode == Opcode::Close).then(|| frame.close_parts());
    let Some(message_conn) = local(fd) else {
        let handed = match closes {
            Some((code, reason)) => routing::close_at(fd, false, code, reason)?,
            None => routing::push_to(fd, &frame, patient)?,
        };
        return Ok(far_number(handed));
    };
    let delivery = match closes {
        Some((code, reason)) if message_conn.close(code, reason) => Delivery::Sent,
        Some(_) => Delivery::Gone,
        None => connections::push(&message_conn, &frame, patient)?,
    };
    delivered(delivery);
    Ok(number(delivery))
}

fn far_number(handed: Forwarded) -> i64 {
    handed.told();
    match handed {
        Forwarded::Done => BUFFERED,
        Forwarded::Overflow | Forwarded::QueueFull | Forwarded::TooLarge => DROPPED,
        Forwarded::NotExist | Forwarded::WrongKind => GONE,
    }
}

fn push(call: &Call) -> Result<(), Raise> {
    let became = deliver(call, true)?;
    call.ret(became > DROPPED)
}

fn try_push(call: &Call) -> Result<(), Raise> {
    let became = deliver(call, false)?;
    call.ret(became)
}

fn disconnect(call: &Call) -> Result<(), Raise> {
    let (fd, code, reason) = (call.int(0, 0)?, call.int(1, i64::from(close::NORMAL))?, call.bytes(2)?);
    // Says what is wrong with code or reason.
    frame::close_payload(code, reason)?;
    let (code, reason) = (u16::try_from(code).unwrap_or(close::NORMAL), String::from_utf8_lossy(reason));
    match local(fd) {
        Some(message_conn) => call.ret(message_conn.close(code, &reason) || last_error::fail(last_error::CLOSED)),
        None => call.ret(routing::close_at(fd, false, code, &reason)?.told()),
    }
}

fn is_established(call: &Call) -> Result<(), Raise> {
    let fd = call.int(0, 0)?;
    if let Some(message_conn) = local(fd) {
        return call.ret(message_conn.is_established());
    }
    let worker = call.this::<ServerHandle>()?.0.worker("isEstablished()")?;
    call.ret(worker.connections.get(fd).is_some_and(|entry| entry.websocket))
}

fn ping(call: &Call) -> Result<(), Raise> {
    let (fd, data) = (call.int(0, 0)?, call.bytes(1)?);
    let frame = Outgoing::ping(data)?;
    match local(fd) {
        Some(message_conn) => call.ret(delivered(connections::push(&message_conn, &frame, false)?)),
        None => call.ret(routing::push_to(fd, &frame, false)?.told()),
    }
}

apus_zend::stub!("server/websocket");
