//! `Apus\last_error()` and `Server::getLastError()`: why the last call that returned false failed, as an errno or one
//! of these codes.

use std::cell::Cell;

use apus_zend::{Call, Raise};

/// No connection has that session id.
pub const NOT_EXIST: i64 = 1005;
/// The connection is closed, or being closed.
pub const CLOSED: i64 = 1004;
/// As much output waits as is allowed.
pub const OVERFLOW: i64 = 1009;
/// The connection is not what the call needs: a WebSocket, or a stream.
pub const WRONG_KIND: i64 = 1006;
/// The other process takes no more messages now.
pub const QUEUE_FULL: i64 = 506;
/// The message is larger than the other process takes.
pub const TOO_LARGE: i64 = 1203;

thread_local! {
    static LAST: Cell<i64> = const { Cell::new(0) };
}

/// Remembers why a call fails; gives `false`, what such a call returns.
pub fn fail(code: i64) -> bool {
    LAST.set(code);
    false
}

/// Gives it another number, where it is that one.
pub fn rename(code: i64, other: i64) {
    if LAST.get() == code {
        LAST.set(other);
    }
}

/// Forgets it, for a call whose result may look like a failure's.
pub fn clear() {
    LAST.set(0);
}

/// `Apus\last_error()`, `Server::getLastError()`.
pub fn get(call: &Call) -> Result<(), Raise> {
    call.ret(LAST.get())
}
