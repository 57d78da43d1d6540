//! The connections of this process, whichever kind of server has them: found by their ids, and sent to.

use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};

use apus_coro::Wait;
use apus_net::{Control, Delivery, MessageConn, Responder};
use apus_zend::Raise;

use crate::client::frame::{self, Outgoing};
use crate::runtime::State;
use crate::wait::{may_wait, wait};

/// Where the ids of servers in coroutines begin in a worker, whose own connections count from below: far above what
/// those reach, and small enough for programs that keep numbers as floats.
const BESIDE_A_WORKER: i64 = 1 << 52;

thread_local! {
    static WORKER: RefCell<Option<Rc<Control>>> = const { RefCell::new(None) };
    static CARRIER: RefCell<Option<Rc<dyn Carrier>>> = const { RefCell::new(None) };
    static IN_COROUTINES: RefCell<Vec<Weak<Control>>> = const { RefCell::new(Vec::new()) };
    static LAST_ID: Cell<i64> = const { Cell::new(0) };
}

/// The connections of this worker, while it serves.
pub(crate) fn current_control() -> Option<Rc<Control>> {
    WORKER.with(|control| control.borrow().clone())
}

/// This process serves as a worker, or does no more.
pub(crate) fn set_control(control: Option<Rc<Control>>) {
    WORKER.with(|slot| *slot.borrow_mut() = control);
}

/// Makes the connections of a server in a coroutine findable by their ids, as long as it lives.
pub(crate) fn add(control: &Rc<Control>) {
    IN_COROUTINES.with_borrow_mut(|controls| {
        controls.retain(|known| known.strong_count() > 0);
        controls.push(Rc::downgrade(control));
    });
}

/// An id for a connection of a server in a coroutine, unique in this process.
pub(crate) fn next_id() -> i64 {
    let next = LAST_ID.get() + 1;
    LAST_ID.set(next);
    if current_control().is_some() { BESIDE_A_WORKER + next } else { next }
}

/// A responder for the connection with that id, if it waits for an answer.
pub(crate) fn responder(id: i64) -> Option<Responder> {
    let in_coroutines = || {
        let controls: Vec<_> =
            IN_COROUTINES.with_borrow(|controls| controls.iter().filter_map(Weak::upgrade).collect());
        controls.iter().find_map(|control| control.responder(id))
    };
    current_control().and_then(|control| control.responder(id)).or_else(in_coroutines)
}

/// Takes answers to the processes that have the connections of requests.
pub(crate) trait Carrier {
    /// Whether another process has that connection.
    fn has(&self, id: i64) -> bool;
    /// Hands a step of an answer to that process, in the order of the calls. Whether it takes it; else the last error
    /// tells why not.
    fn carry(&self, id: i64, reply: Vec<u8>) -> Result<bool, Raise>;
}

/// This process takes answers to others, or does so no more.
pub(crate) fn set_carrier(carrier: Option<Rc<dyn Carrier>>) {
    CARRIER.with(|slot| *slot.borrow_mut() = carrier);
}

/// What takes answers to the process that has a connection, where another one has it.
pub(crate) fn carrier(id: i64) -> Option<Rc<dyn Carrier>> {
    CARRIER.with(|slot| slot.borrow().clone()).filter(|carrier| carrier.has(id))
}

/// Waits until there is room in a message connection's output. Otherwise what became of the message; a program that
/// cannot wait loses it.
pub(crate) fn room(message_conn: &Rc<MessageConn>, what: &'static str) -> Result<Option<Delivery>, Raise> {
    let state = State::get()?;
    if !may_wait(&state) {
        return Ok(Some(Delivery::Dropped));
    }
    Ok(match wait(&state, Wait::Outside(what), message_conn.writable())? {
        Some(Ok(())) => None,
        Some(Err(_)) => Some(Delivery::Gone),
        None => Some(Delivery::Dropped),
    })
}

/// Sends a frame over a message connection, where `send_policy` says so once there is room. A program that cannot wait
/// loses the message then.
pub(crate) fn push(message_conn: &Rc<MessageConn>, frame: &Outgoing<'_>, patient: bool) -> Result<Delivery, Raise> {
    loop {
        let delivery = message_conn.push(frame.opcode, frame.fin, frame.compress, &frame.payload);
        match delivery {
            Delivery::Full => {}
            Delivery::Misplaced(rule) => return Err(frame::misplaced(rule)),
            delivery => return Ok(delivery),
        }
        if !patient {
            return Ok(Delivery::Dropped);
        }
        if let Some(lost) = room(message_conn, "WebSocket\\Server::push()")? {
            return Ok(lost);
        }
    }
}
