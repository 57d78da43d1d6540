//! HPACK (RFC 7541): field lists, made short by two tables and a Huffman code.

mod decoder;
mod encoder;
mod huffman;
mod integer;
mod static_table;
mod table;

pub use decoder::{Decoder, Field, Listed};
pub use encoder::{Encoder, Indexing};
pub use table::DEFAULT_TABLE;

/// What a field list may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListLimits {
    /// Bytes of all names and values and 32 for each field (RFC 9113 section 6.5.2).
    pub max_list: usize,
    /// Number of fields; each crumb of a cookie is one.
    pub max_fields: usize,
}

impl Default for ListLimits {
    fn default() -> Self {
        Self { max_list: 16 * 1024, max_fields: 128 }
    }
}

/// Why a field block cannot be read. The tables of both sides differ then: the connection ends with
/// `COMPRESSION_ERROR`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HpackError {
    /// The block ends inside a field.
    Truncated,
    /// An integer is larger than any that makes sense.
    Integer,
    /// An index beyond both tables, or 0.
    Index,
    /// A Huffman code that is none, EOS, or padding that is wrong.
    Huffman,
    /// A size of the dynamic table that was not allowed, not asked for at its place, or is missing.
    TableSize,
}

impl std::fmt::Display for HpackError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Truncated => "field block ends early",
            Self::Integer => "integer too large in a field block",
            Self::Index => "index beyond the tables",
            Self::Huffman => "malformed Huffman code",
            Self::TableSize => "wrong size of the dynamic table",
        })
    }
}

impl std::error::Error for HpackError {}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_reference;
