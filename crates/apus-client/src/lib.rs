//! Async clients that PHP code awaits: connections with and without TLS, HTTP/1.1, HTTP/2, WebSocket. Knows no PHP.
//!
//! Everything here runs on a thread's `LocalRuntime`, and every future may be dropped at any point: a request that is
//! dropped half-way closes its connection.
#![forbid(unsafe_code)]

pub mod broker;
pub mod connect;
pub mod failure;
mod forward;
pub mod http;
pub mod http2;
pub mod proxy;
pub mod tls;
pub mod websocket;
pub mod wire;

/// The vocabulary of HTTP: methods, fields, statuses.
pub use ::http as types;
/// The parser of what goes over these connections.
pub use apus_proto as proto;
