//! The open connections of a worker.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::rc::Rc;

use slab::Slab;

use crate::conn::{Conn, ConnInfo, Kill};
use crate::message_conn::MessageConn;

/// An open connection: one that speaks HTTP, or a message connection.
#[derive(Clone)]
pub(crate) enum Entry {
    Http(Rc<Conn>),
    MessageConn(Rc<MessageConn>),
}

impl Entry {
    pub(crate) fn info(&self) -> &Rc<ConnInfo> {
        match self {
            Self::Http(conn) => &conn.info,
            Self::MessageConn(message_conn) => message_conn.info(),
        }
    }

    /// Looks at the deadlines.
    pub(crate) fn sweep(&self, now: u64, draining: bool) {
        match self {
            Self::Http(conn) => conn.sweep(now, draining),
            Self::MessageConn(message_conn) => message_conn.sweep(now, draining),
        }
    }

    /// Ends the connection at once.
    pub(crate) fn kill(&self, kill: Kill) {
        match self {
            Self::Http(conn) => conn.kill(kill),
            Self::MessageConn(message_conn) => message_conn.kill(kill),
        }
    }
}

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
#[derive(Default)]
pub(crate) struct Registry {
    conns: Slab<Entry>,
    /// Session id to the key in `conns`.
    keys: HashMap<i64, u32, BuildHasherDefault<IdHasher>>,
}

impl Registry {
    pub(crate) fn insert(&mut self, entry: Entry) {
        let id = entry.info().id;
        let key = self.conns.insert(entry);
        self.keys.insert(id, key as u32);
    }

    /// Puts another entry in the place of the connection with that id.
    pub(crate) fn replace(&mut self, id: i64, entry: Entry) {
        let place = self.keys.get(&id).and_then(|key| self.conns.get_mut(*key as usize));
        if let Some(place) = place {
            *place = entry;
        }
    }

    pub(crate) fn remove(&mut self, id: i64) {
        if let Some(key) = self.keys.remove(&id) {
            self.conns.try_remove(key as usize);
        }
    }

    #[inline]
    pub(crate) fn find(&self, id: i64) -> Option<&Entry> {
        self.keys.get(&id).and_then(|key| self.conns.get(*key as usize))
    }

    pub(crate) fn len(&self) -> usize {
        self.conns.len()
    }

    pub(crate) fn ids(&self) -> Vec<i64> {
        self.keys.keys().copied().collect()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Entry> {
        self.conns.iter().map(|(_, entry)| entry)
    }
}
