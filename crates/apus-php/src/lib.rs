//! `apus.so`: the PHP extension. The one room that sees Zend, the engine and the network together.

mod clock;
mod convert;
mod coroutine;
mod exception;
mod functions;
mod http;
mod module;
mod runtime;
mod server;
mod stubs;
mod timer;
mod wait;
mod watchdog;
