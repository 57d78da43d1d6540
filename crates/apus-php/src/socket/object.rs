//! What the methods of the three classes share: the object, its socket, its error properties.

use std::ffi::OsStr;
use std::net::Shutdown;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use std::rc::Rc;

use apus_zend::arg::{Given, Want};
use apus_zend::call::value_error;
use apus_zend::object::Object;
use apus_zend::{Raise, Value};

use super::core::Sock;
use super::fault::{Fault, Outcome, Slots};
use crate::swoole::{self, There};

/// Tells the object how it went, and makes what the method gives then, or false.
pub(super) fn answer<T>(
    object: &Object,
    slots: Slots,
    outcome: Outcome<T>,
    value: impl FnOnce(T) -> Result<Value, Raise>,
) -> Result<Value, Raise> {
    slots.report(object, &outcome)?;
    outcome.map_or_else(|_| Ok(Value::bool(false)), value)
}

/// The same for an operation that may have done a part before it failed: the part is returned, the failure told.
pub(super) fn answer_part<T>(
    object: &Object,
    slots: Slots,
    (outcome, later): (Outcome<T>, Option<Fault>),
    value: impl FnOnce(T) -> Result<Value, Raise>,
) -> Result<Value, Raise> {
    let Some(fault) = later else { return answer(object, slots, outcome, value) };
    slots.report(object, &Err::<(), _>(fault))?;
    outcome.map_or_else(|_| Ok(Value::bool(false)), value)
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
#[derive(Clone, Copy)]
pub(super) struct Port {
    index: usize,
    pub(super) number: u16,
}

impl Want<i64> for Port {
    fn want(given: Given<i64>) -> Result<Self, Raise> {
        Ok(Self { index: given.index, number: given.number("a port between 0 and 65535")? })
    }
}

impl Port {
    /// The port of something to connect to; 0 is none.
    pub(super) fn expect(self) -> Result<u16, Raise> {
        if self.number == 0 {
            let raise = value_error(self.index, "must be the port to connect to, 1 to 65535");
            return Err(swoole::there(raise, There::Text("Invalid port argument[0]".to_owned())));
        }
        Ok(self.number)
    }
}

/// A number of bytes argument.
#[derive(Clone, Copy)]
pub(super) struct Length(pub(super) usize);

impl Want<i64> for Length {
    fn want(given: Given<i64>) -> Result<Self, Raise> {
        given
            .number_where(|length| *length > 0, "1 or more bytes")
            .map(Self)
            .map_err(|raise| swoole::there(raise, There::Text("length must be greater than 0".to_owned())))
    }
}

/// The same of code written for Swoole, to which every number that is none means the default.
#[derive(Clone, Copy)]
pub(super) struct AnyLength(Length);

impl AnyLength {
    /// The bytes, or as many as the default of `length` says.
    const DEFAULT: usize = 65_536;

    pub(super) fn length(self) -> Length {
        self.0
    }
}

impl Want<i64> for AnyLength {
    fn want(given: Given<i64>) -> Result<Self, Raise> {
        let asked = usize::try_from(given.value).ok().filter(|asked| *asked > 0);
        Ok(Self(Length(asked.unwrap_or(Self::DEFAULT))))
    }
}

/// A part of a file: an offset, or a length.
#[derive(Clone, Copy)]
pub(super) struct Extent(pub(super) u64);

impl Want<i64> for Extent {
    fn want(given: Given<i64>) -> Result<Self, Raise> {
        given.number("0 or more").map(Self)
    }
}

/// The path of a file.
pub(super) struct FilePath(pub(super) PathBuf);

impl Want<&[u8]> for FilePath {
    fn want(given: Given<&[u8]>) -> Result<Self, Raise> {
        Ok(Self(PathBuf::from(OsStr::from_bytes(given.value))))
    }
}

/// What `SHUT_RD`, `SHUT_WR` and `SHUT_RDWR` mean.
pub(super) struct Direction(pub(super) Shutdown);

impl Want<i64> for Direction {
    fn want(given: Given<i64>) -> Result<Self, Raise> {
        Ok(Self(match given.value {
            0 => Shutdown::Read,
            1 => Shutdown::Write,
            2 => Shutdown::Both,
            _ => return Err(given.must_be("0 (reading), 1 (writing) or 2 (both)")),
        }))
    }
}

/// The peer's address, or the own one.
pub(super) fn name_of(sock: &Rc<Sock>, peer: bool) -> Outcome<socket2::SockAddr> {
    let descriptor = sock.descriptor()?;
    let socket = descriptor.socket();
    Ok(if peer { socket.peer_addr()? } else { socket.local_addr()? })
}
