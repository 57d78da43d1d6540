//! WebSocket frames and messages of both roles (RFC 6455), and permessage-deflate (RFC 7692).
//!
//! [`Decoder`] turns bytes into messages, [`encode`] messages into bytes; [`handshake`] holds the computations of the
//! opening handshake, [`deflate`] the extension. A [`Violation`] carries the close code that the other side is to be
//! told.

pub mod close;
mod decoder;
pub mod deflate;
mod encode;
pub mod handshake;
mod header;
mod mask;
mod sequence;
mod utf8;

#[cfg(test)]
mod tests;

pub use decoder::{Decoder, Event, Limits, parse_close};
pub use encode::{close_payload, encode, encode_close, write_head};
pub use header::{Header, MAX_CONTROL};
pub use mask::apply_mask;
pub use sequence::{CONTINUES_NOTHING, INTERRUPTS, NOT_AGREED, Sequence};
pub use utf8::{Utf8, is_utf8};

/// Which side of a connection we are: clients mask what they send, servers do not (RFC 6455 section 5.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The side that connected.
    Client,
    /// The side that accepted.
    Server,
}

/// What a frame is (RFC 6455 section 5.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Opcode {
    /// A further fragment of a message.
    Continuation,
    /// UTF-8 text.
    Text,
    /// Any bytes.
    Binary,
    /// The end of the conversation.
    Close,
    /// A question whether the other side is there.
    Ping,
    /// The answer to it.
    Pong,
}

impl Opcode {
    /// The opcode with that number; none for a reserved one.
    pub fn from_number(number: u8) -> Option<Self> {
        Some(match number {
            0 => Self::Continuation,
            1 => Self::Text,
            2 => Self::Binary,
            8 => Self::Close,
            9 => Self::Ping,
            10 => Self::Pong,
            _ => return None,
        })
    }

    /// Its number on the wire.
    pub fn number(self) -> u8 {
        match self {
            Self::Continuation => 0,
            Self::Text => 1,
            Self::Binary => 2,
            Self::Close => 8,
            Self::Ping => 9,
            Self::Pong => 10,
        }
    }

    /// Whether it is a control frame, which cannot be fragmented and carries 125 bytes at most.
    pub fn is_control(self) -> bool {
        matches!(self, Self::Close | Self::Ping | Self::Pong)
    }
}

/// How the other side broke the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Violation {
    /// The close code to answer with (RFC 6455 section 7.4.1).
    pub code: u16,
    /// What was wrong.
    pub reason: &'static str,
}

impl Violation {
    pub(crate) const fn protocol(reason: &'static str) -> Self {
        Self { code: close::PROTOCOL_ERROR, reason }
    }

    pub(crate) const fn data(reason: &'static str) -> Self {
        Self { code: close::INVALID_DATA, reason }
    }

    pub(crate) const fn size(reason: &'static str) -> Self {
        Self { code: close::TOO_BIG, reason }
    }
}

impl std::fmt::Display for Violation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.reason)
    }
}

impl std::error::Error for Violation {}
