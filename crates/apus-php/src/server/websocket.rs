//! `Apus\WebSocket\Server`.

use std::rc::Rc;

use apus_net::proto::websocket::{Opcode, close};
use apus_net::{Delivery, MessageConn};
use apus_zend::Raise;
use apus_zend::arg::Any;

use super::class::Constructed;
use super::core::{ServerHandle, ServerKind};
use super::routing::{self, Forwarded};
use super::{class, current_control};
use crate::client::frame::{self, Outgoing};
use crate::{connections, last_error};

pub(super) const SENT: i64 = 1;
pub(super) const BUFFERED: i64 = 2;
pub(super) const DROPPED: i64 = 0;
pub(super) const GONE: i64 = -1;

fn construct(host: String, port: i64, mode: i64, kind: i64) -> Result<Constructed, Raise> {
    class::construct(ServerKind::WebSocket, &host, port, mode, kind)
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
fn deliver(fd: i64, frame: &Outgoing<'_>, patient: bool) -> Result<i64, Raise> {
    let closes = (frame.opcode == Opcode::Close).then(|| frame.close_parts());
    let Some(message_conn) = local(fd) else {
        let handed = match closes {
            Some((code, reason)) => routing::close_at(fd, false, code, reason)?,
            None => routing::push_to(fd, frame, patient)?,
        };
        return Ok(far_number(handed));
    };
    let delivery = match closes {
        Some((code, reason)) if message_conn.close(code, reason) => Delivery::Sent,
        Some(_) => Delivery::Gone,
        None => connections::push(&message_conn, frame, patient)?,
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

fn push(_: &ServerHandle, fd: i64, data: Any<'_>, opcode: i64, flags: i64) -> Result<bool, Raise> {
    Ok(deliver(fd, &Outgoing::of(data, opcode, flags)?, true)? > DROPPED)
}

fn try_push(_: &ServerHandle, fd: i64, data: Any<'_>, opcode: i64, flags: i64) -> Result<i64, Raise> {
    deliver(fd, &Outgoing::of(data, opcode, flags)?, false)
}

fn disconnect(_: &ServerHandle, fd: i64, code: i64, reason: &[u8]) -> Result<bool, Raise> {
    // Says what is wrong with code or reason.
    frame::close_payload(code, reason)?;
    let (code, reason) = (u16::try_from(code).unwrap_or(close::NORMAL), String::from_utf8_lossy(reason));
    match local(fd) {
        Some(message_conn) => Ok(message_conn.close(code, &reason) || last_error::fail(last_error::CLOSED)),
        None => Ok(routing::close_at(fd, false, code, &reason)?.told()),
    }
}

fn is_established(server: &ServerHandle, fd: i64) -> Result<bool, Raise> {
    if let Some(message_conn) = local(fd) {
        return Ok(message_conn.is_established());
    }
    let worker = server.worker("isEstablished()")?;
    Ok(worker.connections.get(fd).is_some_and(|entry| entry.websocket))
}

fn ping(_: &ServerHandle, fd: i64, data: &[u8]) -> Result<bool, Raise> {
    let frame = Outgoing::ping(data)?;
    match local(fd) {
        Some(message_conn) => Ok(delivered(connections::push(&message_conn, &frame, false)?)),
        None => Ok(routing::push_to(fd, &frame, false)?.told()),
    }
}

apus_zend::stub!("server/websocket");
