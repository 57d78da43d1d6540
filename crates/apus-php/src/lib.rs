//! `apus.so`: the PHP extension. The one room that sees Zend, the engine and the network together.

mod client;
mod codes;
mod compat;
mod connections;
mod coroutine;
mod coserver;
mod files;
mod functions;
mod handlers;
mod handling;
mod http;
mod in_handlers;
mod memory;
mod metrics;
mod mistakes;
mod module;
mod output;
mod pool;
mod process;
mod rescue;
mod serve;
mod server;
mod socket;
mod stubs;
mod sync;
mod system;
mod timer;

// What all rooms stand on, under the names of rooms.
use apus_hook as hook;
use apus_runtime::{
    backtrace, builtin, convert, descriptor, exception, failed, holder, last_error, preempt, remembered, runtime,
    swoole, trace, traced, wait, watchdog,
};
