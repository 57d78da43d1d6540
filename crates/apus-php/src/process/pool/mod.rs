//! Pools of processes that are kept running.
//!
//! [`core`] is a pool, [`class`] its methods; [`master`] is the process that supervises; [`worker`] is one
//! that is supervised, with [`receive`] for its messages in coroutines and [`frames`] for those over a socket.
//! [`manager`] is a pool with a callable for each worker.

mod class;
pub(super) mod core;
mod frames;
mod manager;
mod master;
mod receive;
mod worker;

pub(super) use class::POOL;
pub(super) use manager::MANAGER;
