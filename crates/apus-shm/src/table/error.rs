//! What can be wrong with a call on a table. Nothing has changed when one of these is returned.

/// Why a call failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TableError {
    /// No room for another row.
    #[error("the table is full: it was made for {rows} rows; remove some, or make it for more")]
    Full {
        /// Rows that fit.
        rows: u64,
    },
    /// No room for another text in a dictionary.
    #[error(
        "column \"{column}\" has {most} different texts already: a dictionary cannot take another; use a text column, or a greater dictionary"
    )]
    DictionaryFull {
        /// The column.
        column: String,
        /// Texts that fit.
        most: u32,
    },
    /// A text is longer than its column takes.
    #[error(
        "column \"{column}\" takes {longest} bytes, the text has {len}: make the column longer, or shorten the text"
    )]
    TooLong {
        /// The column.
        column: String,
        /// Bytes of the text.
        len: usize,
        /// Bytes that fit.
        longest: u32,
    },
    /// A key of the wrong kind, empty, too long, or beyond the greatest id.
    #[error("{0}")]
    Key(String),
    /// No such column or index.
    #[error("{0}")]
    Column(String),
    /// An integer that the column cannot hold.
    #[error("column \"{column}\" holds {least} to {greatest}; {value} does not fit")]
    Range {
        /// The column.
        column: String,
        /// The integer.
        value: i128,
        /// The least that fits.
        least: i64,
        /// The greatest that fits.
        greatest: i64,
    },
    /// A value of the wrong kind.
    #[error("column \"{column}\" holds {holds}, not {got}")]
    Type {
        /// The column.
        column: String,
        /// What the column holds.
        holds: &'static str,
        /// What came.
        got: &'static str,
    },
    /// Not possible now (for example: the indexes are deferred).
    #[error("{0}")]
    State(String),
    /// The system gives no address space or memory, or the space kept for texts is used up.
    #[error("{0}")]
    NoMemory(String),
    /// The description of the table is wrong.
    #[error("{0}")]
    Schema(String),
    /// A file or stream: names it, and the line or offset.
    #[error("{0}")]
    File(String),
}
