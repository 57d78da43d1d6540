//! Content codings of answers that a program makes: whether one is coded, and the coding.
//!
//! An answer that is all there and not too long is coded at once and has its length; a longer one is coded slice by
//! slice, so that the loop is never held for long; each piece of one that is written piece by piece reaches the client.

mod encoder;
mod judge;
mod whole;

use apus_options::Settings;
use apus_proto::coding::Coding;

pub(crate) use encoder::{Encoder, Flush};
pub(crate) use judge::{Coded, judge};
pub(crate) use whole::whole;

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
    /// Bytes of an answer that is all there which are coded at once whatever time that takes, so that its head tells
    /// how long it is.
    pub told: usize,
}

impl Compression {
    /// As the settings have it.
    pub(crate) fn of(settings: &Settings) -> Self {
        Self {
            level: settings.http_compression_level,
            min_length: settings.compression_min_length,
            types: settings.compression_types.clone(),
            told: 0,
        }
    }

    /// Bytes that are coded before others have their turn: less than a millisecond's work of the coding, where it is
    /// known, else of the slowest. More turns than needed cost more than they are worth: each answer that is coded has
    /// hundreds of KiB of state, and those of many do not fit into the processor's caches.
    pub(crate) fn slice(&self, coding: Option<Coding>) -> usize {
        let kib = match (coding, self.level) {
            (_, 0..=3) | (Some(Coding::Gzip | Coding::Deflate | Coding::Zstd), 4..=6) => 64,
            (Some(Coding::Gzip | Coding::Deflate), _) => 48,
            (Some(Coding::Zstd), _) | (_, 4..=6) => 16,
            _ => 4,
        };
        kib << 10
    }

    /// Bytes of an answer that is all there which are coded at once: no more time than a slice takes, unless more is
    /// allowed. The highest levels of Brotli take a second for what others do in milliseconds.
    pub(crate) fn at_once(&self, coding: Coding) -> usize {
        let told = if coding == Coding::Brotli && self.level > 9 { 0 } else { self.told };
        told.max(match (coding, self.level) {
            (Coding::Gzip | Coding::Deflate, 0..=6) => 128 << 10,
            _ => self.slice(Some(coding)),
        })
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
