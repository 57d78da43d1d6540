//! Pools of processes that are kept running.
//!
//! [`core`] is a pool, [`class`] its methods, which [`table`] declares; [`master`] is the process that supervises; [`worker`] is one
//! that is supervised, with [`receive`] for its messages in coroutines and [`frames`] for those over a socket. [`manager`] is a
//! pool with a callable for each worker.

mod class;
mod core;
mod frames;
mod manager;
mod master;
mod receive;
mod table;
mod worker;

use apus_zend::class::{Const, Constant};

pub(super) use manager::MANAGER;
pub(super) use table::POOL;

const fn constant(name: &'static str, ipc: core::Ipc, doc: &'static str) -> Constant {
    Constant { name, value: Const::Int(ipc as i64), doc }
}

/// The constants of this room.
pub(super) static CONSTANTS: &[Constant] = &[
    constant("Apus\\IPC_NONE", core::Ipc::None, "Workers of a pool get no messages."),
    constant("Apus\\IPC_UNIXSOCK", core::Ipc::UnixSock, "Workers of a pool get messages from each other."),
    constant(
        "Apus\\IPC_MSGQUEUE",
        core::Ipc::MsgQueue,
        "Workers of a pool get messages from a System V message queue.",
    ),
    constant("Apus\\IPC_SOCKET", core::Ipc::Socket, "Workers of a pool get messages from clients of a socket."),
];
