//! Async clients that PHP code awaits: connections with and without TLS, HTTP/1.1, HTTP/2, WebSocket. Knows no PHP.
#![forbid(unsafe_code)]
