//! The streams of an HTTP/2 connection (RFC 9113), without a socket: bytes in, events and bytes out.
//!
//! A [`Session`] is driven by whoever has the connection:
//!
//! ```text
//! loop {
//!     // 1. What has been read. An event at a time; `used` bytes are done with.
//!     while session.wants_input() {
//!         let Read { used, event } = session.read(&input[at..], now, &mut bytes, &mut head)?;
//!         at += used;
//!         match event {
//!             None => break,                          // needs more input
//!             Some(Event::Request { .. }) => ...      // `bytes` and `head` are the request: start a handler
//!             Some(Event::Data { .. }) => ...         // lend it to the handler; consumed() when it has taken it
//!             Some(Event::Trailers { .. }) => ...     // `head.headers` are the fields
//!             Some(Event::Reset { .. }) => ...        // cancel the handler; finish() when it has ended
//!         }
//!     }
//!     // 2. What handlers say: head(), data(), trailers(), reset(), and finish() at the end of each.
//!     // 3. What is to be sent, as much as the socket (or TLS) has room for.
//!     session.fill(&mut output, room);
//!     // 4. Writers that waited for room: session.writable().
//! }
//! ```
//!
//! [`Session::read`] fails when the connection is over: GOAWAY lies ready for `fill`, then the connection is closed.
//! [`Session::check`] is called by a coarse timer, once a second or so. [`Session::drain`] begins a graceful end;
//! [`Session::is_over`] tells when nothing is left.
//!
//! What a peer can make us hold or do is bounded, see [`Limits`]: streams, handlers that still run for streams that
//! were reset, field blocks, waiting answers to control frames, bodies both ways, frames that are of use to nobody,
//! streams that are broken off.

mod control;
mod head_block;
mod limits;
mod output;
mod receive;
mod session;
mod stream;

pub use limits::Limits;
pub use session::{Closed, Event, Read, Session};

#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_attacks;
#[cfg(test)]
mod tests_client;
