//! A table in shared memory: rows of typed cells, found by a text key or an integer id, and by ordered indexes.
//!
//! - Rows have numbers and do not move. A cell lies at `base + row * stride`: one record a row, or one array a column,
//!   is only a matter of these numbers.
//! - Long texts lie in a heap by their length (`heap`), keys are found by a hash table that grows with the rows or by a
//!   bit a row (`keys`).
//! - A table is cut into partitions (`segment`), each with a mutex, a sequence count and a journal: a change of a row
//!   locks one. When ordered indexes are kept up to date, rows that come or go and changes of indexed cells hold the
//!   lock of the indexes' segment, too, and move its sequence count; other changes leave it alone.
//! - Readers lock nothing: they look at the sequence count before and after, and try again when it moved (`store`).
//!   What they see meanwhile may be wild, so every number read is checked before it is used.
//! - A change notes what it overwrites in the journal and writes in place; after a death whoever locks next puts that
//!   back (`tx`). Not a word leaks.

mod bulk;
mod bulk_csv;
mod bulk_json;
mod bulk_quick;
#[cfg(test)]
mod bulk_tests;
mod cells;
mod check;
#[cfg(test)]
mod crash;
mod dictionary;
mod encode;
mod error;
mod hash;
mod heap;
mod keys;
#[cfg(test)]
mod lanes_tests;
mod layout;
mod order;
mod order_build;
mod order_change;
mod order_check;
mod order_key;
mod order_node;
mod order_read;
#[cfg(test)]
mod order_tests;
mod query;
#[cfg(test)]
mod query_tests;
mod rows;
mod schema;
mod segment;
mod snapshot;
#[cfg(test)]
mod snapshot_tests;
mod store;
mod tx;
mod upkeep;
mod walk;
#[cfg(test)]
mod wild;

pub use bulk::{Loaded, ROW_LONGEST};
pub use bulk_csv::CsvOptions;
pub use bulk_json::JsonOptions;
pub use error::TableError;
pub use keys::Aim;
pub use query::{Bounds, KeyList, RowView, Window};
pub use schema::{
    COLUMNS_MOST, Cell, Column, Delta, IDS_MOST, INDEX_COLUMNS_MOST, INDEXES_MOST, Index, KEY_LONGEST, Key, Keys, Kind,
    Layout, Memory, Mode, NAME_LONGEST, ROWS_MOST, RowBuffer, Schema, Stats, TEXT_LONGEST,
};
pub use snapshot::SnapshotInfo;
use store::Store;

/// A table. Made before the processes that share it are forked.
#[derive(Debug)]
pub struct Table {
    store: Store,
}

impl Table {
    /// Makes a table. Takes address space for all that it can grow to, and memory only as rows come.
    pub fn new(schema: Schema) -> Result<Self, TableError> {
        Ok(Self { store: Store::new(schema)? })
    }

    /// What it was made from.
    pub fn schema(&self) -> &Schema {
        self.store.schema()
    }
}
