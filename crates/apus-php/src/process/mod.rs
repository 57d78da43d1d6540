//! Processes that a program starts itself: single ones, pools, and message queues between them.
//!
//! [`core`] is one process, [`class`] and [`statics`] the methods of `Apus\Process`; [`fork`] makes and
//! ends children, [`pipe`] is the way to them, [`signals`] are handlers of signals, [`pool`] keeps processes
//! running.

mod class;
mod core;
mod fork;
mod message_queue;
mod pipe;
mod pool;
mod signals;
mod statics;
mod sys;

use apus_zend::class::Class;

pub(crate) use class::PROCESS;
pub(crate) use core::{Phase, ProcessCore, core_of};
pub(crate) use fork::Signals;
pub(crate) use message_queue::Inbox;
pub(crate) use signals::{
    count as signal_handlers, end_request, prepare, take as take_signal, takes as takes_signals, tell as tell_signals,
};

/// The classes of this room, parents first.
pub(crate) static ALL: &[&Class] = &[&PROCESS, &pool::POOL, &pool::MANAGER, &message_queue::MESSAGE_QUEUE];

apus_zend::stub!("process/functions");
