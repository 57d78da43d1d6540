//! Content codings of answers that a program makes: whether one is coded, and the coding.
//!
//! An answer that is all there and short is coded at once and has its length; a longer one is coded slice by slice, so
//! that the loop is never held for long; each piece of one that is written piece by piece reaches the client.

mod encoder;
mod judge;

pub(crate) use encoder::{Encoder, Flush};
pub(crate) use judge::{Coded, judge};

/// Streams of answers that one worker codes at once: each takes up to a MiB. Further ones are sent as they are.
const MAX_ENCODERS: usize = 128;

/// What of the answers of a port is coded, and how.
#[derive(Debug, Clone)]
pub struct Compression {
    /// How hard: 1 is fastest; what a coding does not have is its highest.
    pub level: u32,
    /// Bytes that an answer must have.
    pub min_length: usize,
    /// Media types that are coded; empty for those that become much smaller.
    pub types: Vec<String>,
}

impl Compression {
    /// Bytes that are coded before others have their turn: less than a millisecond's work.
    pub(crate) fn slice(&self) -> usize {
        match self.level {
            0..=3 => 64 << 10,
            4..=6 => 16 << 10,
            _ => 4 << 10,
        }
    }

    /// Whether content of a type is coded.
    fn fits(&self, kind: &[u8]) -> bool {
        let kind = kind.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii();
        if self.types.is_empty() {
            // Events are few and small, and last: an encoder for each would take more memory than it saves.
            return apus_proto::coding::is_compressible(kind) && !kind.eq_ignore_ascii_case(b"text/event-stream");
        }
        self.types.iter().any(|known| match known.strip_suffix('*') {
            Some(start) => kind.get(..start.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(start.as_bytes())),
            None => kind.eq_ignore_ascii_case(known.as_bytes()),
        })
    }
}
