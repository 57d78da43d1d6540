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
use apus_zend::class::Class;

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

apus_zend::stub!("server/functions");
