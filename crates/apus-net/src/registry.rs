//! The open connections of a worker.

use std::collections::HashMap;
use std::rc::Rc;

use slab::Slab;

use crate::conn::Conn;

/// Dense for the sweep, and found by session id.
#[derive(Default)]
pub(crate) struct Registry {
    conns: Slab<Rc<Conn>>,
    /// Session id to the key in `conns`.
    keys: HashMap<i64, u32>,
}

impl Registry {
    pub(crate) fn insert(&mut self, conn: &Rc<Conn>) {
        let key = self.conns.insert(Rc::clone(conn));
        self.keys.insert(conn.info.id, key as u32);
    }

    pub(crate) fn remove(&mut self, id: i64) {
        if let Some(key) = self.keys.remove(&id) {
            self.conns.try_remove(key as usize);
        }
    }

    pub(crate) fn find(&self, id: i64) -> Option<Rc<Conn>> {
        self.keys.get(&id).and_then(|key| self.conns.get(*key as usize)).cloned()
    }

    pub(crate) fn len(&self) -> usize {
        self.conns.len()
    }

    pub(crate) fn ids(&self) -> Vec<i64> {
        self.keys.keys().copied().collect()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Rc<Conn>> {
        self.conns.iter().map(|(_, conn)| conn)
    }
}
