//! `Server::getLastError()`: why the last send failed.

use std::cell::Cell;

use apus_zend::class::{Const, Constant};
use apus_zend::{Call, Raise};

/// No connection has that session id.
pub(crate) const NOT_EXIST: i64 = 1005;
/// The connection is closed, or being closed.
pub(crate) const CLOSED: i64 = 1004;
/// As much output waits as is allowed.
pub(crate) const OVERFLOW: i64 = 1009;
/// The connection is not what the call needs: a WebSocket, or a stream.
pub(crate) const WRONG_KIND: i64 = 1006;
/// The other process takes no more messages now.
pub(crate) const QUEUE_FULL: i64 = 1210;
/// The message is larger than the other process takes.
pub(crate) const TOO_LARGE: i64 = 1203;

thread_local! {
    static LAST: Cell<i64> = const { Cell::new(0) };
}

/// Remembers why a call fails; gives `false`, what such a call returns.
pub(crate) fn fail(code: i64) -> bool {
    LAST.set(code);
    false
}

/// Forgets it, for a call whose result may look like a failure's.
pub(crate) fn clear() {
    LAST.set(0);
}

/// `Server::getLastError()`.
pub(super) fn get(call: &Call) -> Result<(), Raise> {
    call.expect(0, 0)?;
    call.ret(LAST.get())
}

/// The codes, as PHP constants.
pub(super) static CONSTANTS: [Constant; 6] = [
    Constant {
        name: "Apus\\ERROR_SESSION_NOT_EXIST",
        value: Const::Int(NOT_EXIST),
        doc: "No connection has that session id.",
    },
    Constant {
        name: "Apus\\ERROR_SESSION_CLOSED",
        value: Const::Int(CLOSED),
        doc: "The connection is closed, or being closed.",
    },
    Constant {
        name: "Apus\\ERROR_OUTPUT_BUFFER_OVERFLOW",
        value: Const::Int(OVERFLOW),
        doc: "As much output waits for the connection as buffer_output_size allows.",
    },
    Constant {
        name: "Apus\\ERROR_SESSION_INVALID",
        value: Const::Int(WRONG_KIND),
        doc: "The connection is not of the kind that the call needs.",
    },
    Constant {
        name: "Apus\\ERROR_QUEUE_FULL",
        value: Const::Int(QUEUE_FULL),
        doc: "The process that has the connection takes no more messages now.",
    },
    Constant {
        name: "Apus\\ERROR_DATA_TOO_LARGE",
        value: Const::Int(TOO_LARGE),
        doc: "The message is larger than the process that has the connection takes.",
    },
];
