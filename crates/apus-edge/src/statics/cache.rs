//! Small files in memory.

use std::collections::HashMap;
use std::rc::Rc;

use apus_net::proto::coding::Accepted;

use super::find::Page;

/// Seconds for which a page is sent without the file being looked at.
const FRESH: f64 = 1.0;
/// Pages kept at most.
const PAGES: usize = 4096;
/// Bytes that an entry takes besides its content, at a guess.
const OVERHEAD: usize = 512;

/// What a page is found by. Clients that accept other codings may get another one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Key {
    /// The path as sent.
    pub(super) path: Box<[u8]>,
    pub(super) accepted: Accepted,
}

struct Entry {
    page: Rc<Page>,
    /// When the file was last looked at, in seconds since 1970.
    checked: f64,
    /// Whether it was asked for since room was last made.
    used: bool,
}

/// The pages of one worker for one port.
pub(super) struct Cache {
    entries: HashMap<Key, Entry>,
    /// Bytes taken, and those that may be.
    size: usize,
    limit: usize,
}

/// Whether a page can be sent at once.
pub(super) enum Kept {
    Fresh(Rc<Page>),
    /// The file is to be looked at first.
    Stale(Rc<Page>),
}

impl Cache {
    pub(super) fn new(limit: usize) -> Self {
        Self { entries: HashMap::new(), size: 0, limit }
    }

    pub(super) fn get(&mut self, key: &Key, now: f64) -> Option<Kept> {
        let entry = self.entries.get_mut(key)?;
        entry.used = true;
        let page = Rc::clone(&entry.page);
        // A clock that was set back makes it stale, too.
        Some(if (0.0..FRESH).contains(&(now - entry.checked)) { Kept::Fresh(page) } else { Kept::Stale(page) })
    }

    /// The file was looked at, and is the same.
    pub(super) fn checked(&mut self, key: &Key, now: f64) {
        if let Some(entry) = self.entries.get_mut(key) {
            entry.checked = now;
        }
    }

    pub(super) fn put(&mut self, key: Key, page: &Rc<Page>, now: f64) {
        self.remove(&key);
        let size = weight(page);
        if size > self.limit / 8 || !self.make_room(size) {
            return;
        }
        self.size += size;
        self.entries.insert(key, Entry { page: Rc::clone(page), checked: now, used: false });
    }

    pub(super) fn remove(&mut self, key: &Key) {
        if let Some(entry) = self.entries.remove(key) {
            self.size -= weight(&entry.page);
        }
    }

    /// Lets pages go that nobody has asked for since this was last done. Whether there is room then.
    fn make_room(&mut self, size: usize) -> bool {
        if self.size + size <= self.limit && self.entries.len() < PAGES {
            return true;
        }
        let total = &mut self.size;
        self.entries.retain(|_, entry| {
            let keep = std::mem::take(&mut entry.used);
            if !keep {
                *total -= weight(&entry.page);
            }
            keep
        });
        self.size + size <= self.limit && self.entries.len() < PAGES
    }
}

fn weight(page: &Page) -> usize {
    page.body.as_ref().map_or(0, |body| body.len()) + OVERHEAD
}
