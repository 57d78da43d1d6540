//! Servers that live in a coroutine: `Coroutine\Server` and `Coroutine\Http\Server`. They need no master process: a
//! script makes one, says what answers, and `start()` waits in its coroutine until `shutdown()`.
//!
//! [`stream`] accepts connections of bytes over the socket room; [`core`] runs `apus-net` for HTTP, with [`app`]
//! between it and PHP; [`listen`] binds for both, [`trouble`] reports what nobody catches.

mod app;
mod connection;
mod core;
mod http;
mod listen;
mod stream;
mod trouble;

use apus_zend::class::Class;

/// The classes of this room, parents first.
pub(crate) static ALL: &[&Class] = &[&connection::CONNECTION, &stream::SERVER, &http::SERVER];
