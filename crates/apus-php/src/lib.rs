//! `apus.so`: the PHP extension. The one room that sees Zend, the engine and the network together.

mod alarm;
mod blocked;
mod client;
mod clock;
mod convert;
mod coroutine;
mod coserver;
mod exception;
mod functions;
mod handling;
mod hook;
mod http;
mod memory;
mod module;
mod output;
mod pool;
mod process;
mod runtime;
mod server;
mod socket;
mod stubs;
mod sync;
mod system;
mod timer;
mod wait;
mod watchdog;
