//! Pools of connections.
//!
//! [`core`] knows places, connections, leases and the queue, and calls no PHP code. [`ops`] is what happens to a
//! connection from its making to its end. [`driver`] knows what PDO, mysqli and the others can be asked. [`keeper`]
//! works unasked.

mod class;
mod config;
mod conn;
mod core;
mod driver;
mod figures;
mod keeper;
mod mysqli;
mod ops;
mod options;
mod pdo;
mod php;
mod queue;
mod redis;
mod source;
mod swoole;

use apus_zend::class::Class;

pub(crate) use figures::all as figures;

/// The classes of this room, parents first.
pub(crate) static ALL: &[&Class] =
    &[&class::POOL, &pdo::CONFIG, &pdo::POOL, &mysqli::CONFIG, &mysqli::POOL, &redis::CONFIG, &redis::POOL];
