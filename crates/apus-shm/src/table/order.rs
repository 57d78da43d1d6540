//! An ordered index of a table: a B+tree whose leaves hold row numbers and whose keys are read from the rows' cells.
//!
//! Its area starts with a header of one node's size; zeroed memory is an empty index. It grows by the node, and nodes
//! that become free are used again. About 4.5 bytes a row after a build, 6 to 6.5 after inserts in random order, 4.1
//! after inserts in the index's order.

use std::sync::atomic::Ordering::Relaxed;

use super::TableError;
use super::order_change::{ALLOCATION, ENTRIES, Editor, Journal, ROOT};
use super::order_key::{Cells, Form, Spec};
use super::order_node::{NODE, Nodes};
use super::order_read::Reader;
use super::schema::{Column, Index, Kind};
use super::store::Store;
use super::tx::Change;
use crate::region::Region;

/// Room kept for a row, in bytes: twice what the fewest entries a node can be left with take (see
/// `Editor::merge_leaf`), which costs address space only.
const ROOM: u64 = 24;
/// Nodes beyond that, for the smallest tables.
const NODES_LEAST: u64 = 64;

/// An index: its keys, and where it lies.
#[derive(Debug, Clone)]
pub(crate) struct Order {
    pub(crate) spec: Spec,
    base: usize,
    most: u32,
}

impl Order {
    /// Bytes of address space for an index of so many rows.
    pub(crate) fn area_bytes(rows: u64) -> u64 {
        rows.saturating_mul(ROOM).next_multiple_of(4096) + NODES_LEAST * NODE as u64
    }

    /// An index of these columns, at this offset of the table's region.
    pub(crate) fn new(index: &Index, columns: &[Column], base: usize, bytes: usize) -> Self {
        let form = |column: &usize| match columns[*column].kind {
            Kind::Int { bytes, signed } => Form::Int { bytes, signed },
            Kind::Float => Form::Float,
            Kind::Text { .. } | Kind::Dictionary { .. } => Form::Text,
        };
        let spec = Spec::new(index.columns.iter().map(|column| (*column, form(column))).collect());
        Self { spec, base, most: u32::try_from(bytes / NODE).unwrap_or(u32::MAX) }
    }

    /// Its nodes.
    #[inline]
    pub(crate) fn nodes<'a>(&self, region: &'a Region) -> Nodes<'a> {
        Nodes::new(region, self.base, self.most, self.spec.wide())
    }

    /// To read it.
    #[inline]
    pub(crate) fn reader<'a>(&'a self, store: &'a Store) -> Reader<'a, Store> {
        Reader { nodes: self.nodes(store.region()), spec: &self.spec, cells: store }
    }

    /// Adds a row, whose cells are already those that it will have.
    pub(crate) fn insert(&self, store: &Store, change: &mut Change<'_>, row: u32) -> Result<(), TableError> {
        Ok(self.editor(store, change).insert(row)?)
    }

    /// Takes a row out, whose cells are still those that it had.
    pub(crate) fn remove(&self, store: &Store, change: &mut Change<'_>, row: u32) -> Result<(), TableError> {
        self.editor(store, change).remove(row)?;
        Ok(())
    }

    fn editor<'a, J>(&'a self, store: &'a Store, journal: &'a mut J) -> Editor<'a, Store, J> {
        Editor { nodes: self.nodes(store.region()), spec: &self.spec, cells: store, journal, scratch: Vec::new() }
    }

    /// Rows in it.
    #[cfg(test)]
    pub(crate) fn entries(&self, region: &Region) -> u64 {
        self.nodes(region).header()[ENTRIES].load(Relaxed)
    }

    /// Empties it. May be broken off and begun again.
    pub(crate) fn clear(&self, region: &Region) {
        let header = self.nodes(region).header();
        for word in [ROOT, ENTRIES, ALLOCATION] {
            header[word].store(0, Relaxed);
        }
    }

    /// Bytes from the start of its area on that are in use.
    pub(crate) fn used(&self, region: &Region) -> usize {
        let nodes = (self.nodes(region).header()[ALLOCATION].load(Relaxed) as u32).clamp(1, self.most);
        nodes as usize * NODE
    }
}

impl Journal for Change<'_> {
    #[inline]
    fn put(&mut self, offset: usize, value: u64) {
        Change::put(self, offset, value);
    }
}

impl Cells for Store {
    #[inline]
    fn bits(&self, row: u32, column: usize) -> u64 {
        if row < self.rows_end() { self.raw(row, column) } else { 0 }
    }

    fn text(&self, row: u32, column: usize, into: &mut Vec<u8>) {
        if row < self.rows_end() {
            Store::text(self, row, column, into);
        }
    }
}
