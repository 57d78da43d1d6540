//! HTTP/2 (RFC 9113): frames, field blocks, and the heads of requests and answers that field blocks hold.
//!
//! Nothing here keeps a state but [`hpack`]'s tables, and [`KnownLines`] of one: streams and windows are the business
//! of whoever has the connection.

mod error;
pub mod frame;
mod head;
pub mod hpack;
mod lines;
mod priority;
mod settings;
pub mod write;

pub use error::{ErrorCode, FrameError};
pub use frame::{DEFAULT_FRAME, Frame, FrameHeader, MAX_FRAME, MAX_WINDOW, PREFACE};
pub use head::{HeadDecoder, HeadError, HeadLimits};
pub use lines::{KnownLines, encode_lines};
pub use priority::Priority;
pub use settings::{Setting, upgrade_settings};

#[cfg(test)]
mod tests_frame;
#[cfg(test)]
mod tests_head;
