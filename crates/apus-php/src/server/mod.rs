//! `Apus\Server`, `Apus\Http\Server` and `Apus\Server\Port`: from the constructor to the end of the last worker.

mod address;
mod app;
mod class;
mod connections;
mod core;
mod events;
mod hub;
mod info;
mod last_error;
mod methods;
mod metrics;
mod packet;
mod port;
mod port_core;
mod program;
mod send;
mod serving;
mod task;
mod tcp;
mod user_process;
mod websocket;
mod worker;

use std::cell::RefCell;
use std::rc::Rc;

use apus_net::Control;
use apus_zend::class::{Class, Const, Constant, Method};

/// The classes of this room, parents first.
pub(crate) static ALL: &[&Class] = &[
    &connections::CONNECTIONS,
    &port::PORT,
    task::TASK,
    &class::SERVER,
    &class::HTTP_SERVER,
    &websocket::WEBSOCKET_SERVER,
];

pub(crate) use address::ip as listen_ip;
pub(crate) use core::ini_settings;
pub(crate) use websocket::push_here;

thread_local! {
    static CONTROL: RefCell<Option<Rc<Control>>> = const { RefCell::new(None) };
}

/// The connections of this worker, while it serves.
pub(crate) fn current_control() -> Option<Rc<Control>> {
    CONTROL.with(|control| control.borrow().clone())
}

fn set_control(control: Option<Rc<Control>>) {
    CONTROL.with(|slot| *slot.borrow_mut() = control);
}

/// The functions of this room.
pub(crate) static FUNCTIONS: &[Method] = task::FUNCTIONS;

/// Priorities of tasks, and why they fail.
pub(crate) static TASKS: &[Constant] = task::CONSTANTS;

/// Why sends fail.
pub(crate) static ERRORS: &[Constant] = &last_error::CONSTANTS;

/// What became of messages.
pub(crate) static PUSHES: &[Constant] = &websocket::CONSTANTS;

/// `Apus\SOCK_TCP` and its like.
pub(crate) static CONSTANTS: &[Constant] = &[
    Constant {
        name: "Apus\\BASE",
        value: Const::Int(1),
        doc: "Server mode. Apus has one process model; both modes mean it.",
    },
    Constant {
        name: "Apus\\PROCESS",
        value: Const::Int(2),
        doc: "Server mode. Apus has one process model; both modes mean it.",
    },
    Constant { name: "Apus\\SOCK_TCP", value: Const::Int(address::SOCK_TCP), doc: "A TCP port on an IPv4 address." },
    Constant { name: "Apus\\SOCK_TCP6", value: Const::Int(address::SOCK_TCP6), doc: "A TCP port on an IPv6 address." },
    Constant {
        name: "Apus\\SOCK_UNIX_STREAM",
        value: Const::Int(address::SOCK_UNIX_STREAM),
        doc: "A Unix stream socket; the host is its path.",
    },
    Constant {
        name: "Apus\\SOCK_UNIX_DGRAM",
        value: Const::Int(address::SOCK_UNIX_DGRAM),
        doc: "A Unix datagram socket; the host is its path.",
    },
];
