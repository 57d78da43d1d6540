//! Bytes to messages and back: HTTP/1.1 heads and bodies, HTTP/2 frames and field blocks, forms, cookies, dates.
//!
//! Nothing here does I/O, reads a clock or knows PHP. Every parser takes bytes that a hostile peer chose, so each one
//! is bounded by the limits it is given, never panics, and is a fuzz target.
#![forbid(unsafe_code)]

pub mod coding;
pub mod conditional;
pub mod cookie;
pub mod date;
pub mod form;
pub mod forwarded;
pub mod framing;
pub mod grammar;
pub mod http1;
pub mod http2;
pub mod multipart;
pub mod proxy_header;
pub mod query;
mod scan;
pub mod websocket;
