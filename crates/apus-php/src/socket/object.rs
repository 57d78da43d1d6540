//! What the methods of the three classes share: the object, its socket, its error properties.

use std::rc::Rc;

use apus_zend::object::Object;
use apus_zend::{Call, Raise, Value};

use super::core::Sock;
use super::fault::{Outcome, Slots};

/// `$this`, with a reference of its own: others may let go of it while a method waits.
pub(super) fn this(call: &Call) -> Result<Object, Raise> {
    call.object()
}

/// Tells the object how it went, and returns what the method gives then, or false.
pub(super) fn answer<T>(
    call: &Call,
    slots: Slots,
    outcome: Outcome<T>,
    value: impl FnOnce(T) -> Result<Value, Raise>,
) -> Result<(), Raise> {
    slots.report(&this(call)?, &outcome)?;
    match outcome {
        Ok(given) => call.ret(value(given)?),
        Err(_) => call.ret(false),
    }
}

/// The same for an operation that may have done a part before it failed: the part is returned, the failure told.
pub(super) fn answer_part<T>(
    call: &Call,
    slots: Slots,
    (outcome, later): (Outcome<T>, Option<super::fault::Fault>),
    value: impl FnOnce(T) -> Result<Value, Raise>,
) -> Result<(), Raise> {
    if let Some(fault) = later {
        slots.report(&this(call)?, &Err::<(), _>(fault))?;
        return match outcome {
            Ok(part) => call.ret(value(part)?),
            Err(_) => call.ret(false),
        };
    }
    answer(call, slots, outcome, value)
}

pub(super) fn bytes(bytes: Vec<u8>) -> Result<Value, Raise> {
    Value::string(&bytes)
}

#[allow(clippy::unnecessary_wraps, reason = "as above")]
pub(super) fn count(n: usize) -> Result<Value, Raise> {
    Ok(Value::int(n as i64))
}

#[allow(clippy::unnecessary_wraps, reason = "as above")]
pub(super) fn done<T>(_: T) -> Result<Value, Raise> {
    Ok(Value::bool(true))
}

/// A port number argument.
pub(super) fn port(call: &Call, index: usize) -> Result<u16, Raise> {
    let port = call.int(index, 0)?;
    u16::try_from(port)
        .map_err(|_| call.value_error(index, &format!("must be a port between 0 and 65535, {port} given")))
}

/// A number of bytes argument.
pub(super) fn length(call: &Call, index: usize, default: i64) -> Result<usize, Raise> {
    let length = call.int(index, default)?;
    match usize::try_from(length) {
        Ok(length) if length > 0 => Ok(length),
        _ => Err(call.value_error(index, &format!("must be 1 or more bytes, {length} given"))),
    }
}

/// The peer's address, or the own one.
pub(super) fn name_of(sock: &Rc<Sock>, peer: bool) -> Outcome<socket2::SockAddr> {
    let descriptor = sock.descriptor()?;
    let socket = descriptor.socket();
    Ok(if peer { socket.peer_addr()? } else { socket.local_addr()? })
}
