//! `Apus\Server`, `Apus\Http\Server` and `Apus\Server\Port`: from the constructor to the end of the last worker.

mod address;
mod app;
mod class;
mod config;
mod connections;
mod core;
mod event_object;
mod events;
mod figures;
mod host;
mod host_figures;
mod info;
mod metrics;
mod packet;
mod port;
mod port_core;
mod program;
mod push;
mod rescue;
mod routing;
mod send;
mod serving;
mod stats_file;
mod task;
mod tcp;
mod tls;
mod user_process;
mod websocket;
mod worker;

use apus_zend::class::Class;

use crate::connections::{current_control, set_control};

/// The classes of this room, parents first.
pub(crate) static ALL: &[&Class] = &[
    &connections::CONNECTIONS,
    &port::PORT,
    &host::HOST,
    task::TASK,
    &class::SERVER,
    &class::HTTP_SERVER,
    &websocket::WEBSOCKET_SERVER,
    &push::PUSH,
];

pub(crate) use address::ip as listen_ip;
pub(crate) use core::{ini_settings, second_defaults, second_fields};
pub(crate) use event_object::ALL as EVENT_OBJECTS;
pub(crate) use events::on_there;
pub(crate) use tls::alone as lone_tls;
pub(crate) use tls::tell_unsealed;

apus_zend::stub!("server/functions");
