//! Looks whether an ordered index is what it must be. See `check`.

use std::collections::HashSet;
use std::sync::atomic::Ordering::Relaxed;

use super::order::Order;
use super::order_change::{ALLOCATION, ENTRIES, ROOT};
use super::order_key::{Key, compare};
use super::order_node::{DEPTH, Nodes, Torn};
use super::store::Store;

/// A tree as it is walked through.
struct Walk<'a> {
    order: &'a Order,
    store: &'a Store,
    nodes: Nodes<'a>,
    seen: HashSet<u32>,
    /// The entry before, and how many there were.
    last: Option<(Key, u32)>,
    entries: u64,
}

impl From<Torn> for String {
    fn from(_: Torn) -> Self {
        "a node cannot be one of its place".into()
    }
}

impl Order {
    /// Says what does not agree, if anything: order, the keys of inner nodes, rows, free nodes. The caller holds all
    /// locks.
    pub(crate) fn check(&self, store: &Store) -> Result<(), String> {
        let nodes = self.nodes(store.region());
        let header = |word: usize| nodes.header()[word].load(Relaxed);
        let (root, depth) = (header(ROOT) as u32, (header(ROOT) >> 32) as usize);
        let mut walk = Walk { order: self, store, nodes, seen: HashSet::from([0]), last: None, entries: 0 };
        if root != 0 {
            let level = depth.checked_sub(1).filter(|level| *level < DEPTH).ok_or("the depth is wrong")?;
            walk.node(root, level)?;
        }
        let (entries, rows) = (header(ENTRIES), store.len());
        if entries != walk.entries || entries != rows {
            return Err(format!("{entries} entries are counted, {} are found, there are {rows} rows", walk.entries));
        }
        walk.free(header(ALLOCATION))
    }
}

impl Walk<'_> {
    fn node(&mut self, node: u32, level: usize) -> Result<u32, String> {
        if !self.seen.insert(node) {
            return Err(format!("node {node} is used twice"));
        }
        if level == 0 {
            let leaf = self.nodes.leaf(node)?;
            leaf.rows().iter().try_for_each(|row| self.row(*row))?;
            return leaf.rows().first().copied().ok_or_else(|| "an empty leaf".into());
        }
        let mut first = None;
        for entry in self.nodes.inner(node, level)? {
            let row = self.node(entry.child, level - 1)?;
            let head = self.order.spec.head(self.store, row, &mut Vec::new());
            if first.is_some() && (entry.row, entry.head >> 64) != (row, head >> 64) {
                return Err(format!("node {node} names row {} for what begins with row {row}", entry.row));
            }
            first = first.or(Some(row));
        }
        first.ok_or_else(|| "an empty node".into())
    }

    fn row(&mut self, row: u32) -> Result<(), String> {
        if !self.store.exists(row) {
            return Err(format!("row {row} does not exist"));
        }
        let key = self.order.spec.key(self.store, row);
        if let Some((last, before)) = &self.last {
            let order = compare(&self.order.spec, self.store, key.head, row, last, &mut Vec::new());
            if order.then(row.cmp(before)).is_le() {
                return Err(format!("row {row} stands after row {before}"));
            }
        }
        self.last = Some((key, row));
        self.entries += 1;
        Ok(())
    }

    fn free(&mut self, allocation: u64) -> Result<(), String> {
        let (mut free, used) = ((allocation >> 32) as u32, (allocation as u32).max(1));
        while free != 0 {
            if !self.seen.insert(free) {
                return Err(format!("node {free} is free and used, or free twice"));
            }
            free = (self.nodes.words(free)?[0].load(Relaxed) >> 32) as u32;
        }
        if self.seen.len() == used as usize { Ok(()) } else { Err(format!("{} nodes of {used}", self.seen.len())) }
    }
}
