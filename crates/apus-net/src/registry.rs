//! Open connections of one kind, found by session id.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::rc::Rc;

use slab::Slab;

/// Spreads session ids. Peers do not choose them, so nothing stronger is needed.
#[derive(Default)]
pub(crate) struct IdHasher(u64);

impl Hasher for IdHasher {
    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_i64(i64::from(*byte));
        }
    }

    #[inline]
    fn write_i64(&mut self, id: i64) {
        // The high bits choose the control byte, the low ones the bucket: both have to differ.
        let mixed = (self.0 ^ id as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ (mixed >> 32);
    }
}

/// Dense for the sweep, and found by session id.
pub(crate) struct Registry<T> {
    conns: Slab<Rc<T>>,
    /// Session id to the key in `conns`.
    keys: HashMap<i64, u32, BuildHasherDefault<IdHasher>>,
}

impl<T> Default for Registry<T> {
    fn default() -> Self {
        Self { conns: Slab::new(), keys: HashMap::default() }
    }
}

impl<T> Registry<T> {
    pub(crate) fn insert(&mut self, id: i64, conn: Rc<T>) {
        let key = self.conns.insert(conn);
        self.keys.insert(id, key as u32);
    }

    pub(crate) fn remove(&mut self, id: i64) {
        if let Some(key) = self.keys.remove(&id) {
            self.conns.try_remove(key as usize);
        }
    }

    #[inline]
    pub(crate) fn find(&self, id: i64) -> Option<&Rc<T>> {
        self.keys.get(&id).and_then(|key| self.conns.get(*key as usize))
    }

    pub(crate) fn ids(&self) -> impl Iterator<Item = i64> {
        self.keys.keys().copied()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Rc<T>> {
        self.conns.iter().map(|(_, conn)| conn)
    }
}
