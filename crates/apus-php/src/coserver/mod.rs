//! Servers that live in a coroutine: `Coroutine\Server` and `Coroutine\Http\Server`. They need no master process: a script
//! makes one, says what answers, and `start()` waits in its coroutine until `shutdown()`.
//!
//! [`stream`] accepts connections of bytes over the socket room; [`core`] runs `apus-net` for HTTP, with [`app`] between it
//! and PHP; [`listen`] binds for both, [`trouble`] reports what nobody catches.

mod app;
mod connection;
mod core;
mod http;
mod listen;
mod stream;
mod trouble;

use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};

use apus_net::{Control, Responder};
use apus_zend::class::Class;

use crate::server::current_control;

/// The classes of this room, parents first.
pub(crate) static ALL: &[&Class] = &[&connection::CONNECTION, &stream::SERVER, &http::SERVER];

/// Where session ids begin in a worker of an `Apus\Server`, whose own connections count from below: far above what those
/// reach, and small enough for programs that keep numbers as floats.
const BESIDE_A_WORKER: i64 = 1 << 52;

thread_local! {
    static CONTROLS: RefCell<Vec<Weak<Control>>> = const { RefCell::new(Vec::new()) };
    static SESSIONS: Cell<i64> = const { Cell::new(0) };
}

/// The next session id, unique in this process.
fn next_session() -> i64 {
    let next = SESSIONS.get() + 1;
    SESSIONS.set(next);
    if current_control().is_some() { BESIDE_A_WORKER + next } else { next }
}

/// Makes the connections of a server findable by their ids, as long as it lives.
fn enter(control: &Rc<Control>) {
    CONTROLS.with_borrow_mut(|controls| {
        controls.retain(|known| known.strong_count() > 0);
        controls.push(Rc::downgrade(control));
    });
}

/// The servers of this process whose connections may be asked for.
fn controls() -> Vec<Rc<Control>> {
    CONTROLS.with_borrow(|controls| controls.iter().filter_map(Weak::upgrade).collect())
}

/// A responder for the connection with that session id, if it belongs to a server in a coroutine and waits for an answer.
pub(crate) fn responder(id: i64) -> Option<Responder> {
    controls().iter().find_map(|control| control.responder(id))
}
