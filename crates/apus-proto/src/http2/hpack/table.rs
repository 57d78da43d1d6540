//! The dynamic table (RFC 7541 sections 2.3.2 and 4), and the index space of both tables.

use std::collections::VecDeque;

use super::{HpackError, static_table};

/// What an entry counts besides its name and value (RFC 7541 section 4.1).
pub(super) const OVERHEAD: usize = 32;

/// The size that both sides begin with (RFC 9113 section 6.5.2).
pub const DEFAULT_TABLE: usize = 4096;

/// One text after the other in one buffer, the oldest first: no allocation once it has grown. It takes at most twice
/// the table's size, because what was evicted goes when it is as much as what is left.
#[derive(Debug)]
pub(super) struct Table {
    bytes: Vec<u8>,
    /// Oldest first.
    entries: VecDeque<Entry>,
    size: usize,
    max: usize,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    at: u32,
    name: u32,
    value: u32,
}

impl Entry {
    fn size(self) -> usize {
        (self.name + self.value) as usize + OVERHEAD
    }

    fn texts(self, bytes: &[u8]) -> (&[u8], &[u8]) {
        let (name, value) = bytes[self.at as usize..].split_at(self.name as usize);
        (name, &value[..self.value as usize])
    }
}

/// A name that a new entry has.
#[derive(Clone, Copy)]
pub(super) enum Name<'a> {
    Text(&'a [u8]),
    /// That of an entry of either table.
    Index(usize),
}

impl Table {
    pub(super) fn new(max: usize) -> Self {
        Self { bytes: Vec::new(), entries: VecDeque::new(), size: 0, max }
    }

    pub(super) fn max(&self) -> usize {
        self.max
    }

    /// Name and value of an entry of either table.
    #[inline]
    pub(super) fn get(&self, index: usize) -> Result<(&[u8], &[u8]), HpackError> {
        if let Some(entry) = static_table::ENTRIES.get(index.wrapping_sub(1)) {
            return Ok(*entry);
        }
        self.entry(index).map(|entry| entry.texts(&self.bytes)).ok_or(HpackError::Index)
    }

    #[inline]
    fn entry(&self, index: usize) -> Option<Entry> {
        // The newest entry has the lowest index.
        let back = index.checked_sub(static_table::ENTRIES.len())?;
        self.entries.len().checked_sub(back).and_then(|at| self.entries.get(at)).copied()
    }

    /// The index of an entry with that name and value, else of one with that name.
    pub(super) fn find(&self, name: &[u8], value: &[u8]) -> (Option<usize>, Option<usize>) {
        let mut same_name = None;
        for (back, entry) in self.entries.iter().rev().enumerate() {
            if entry.name as usize != name.len() {
                continue;
            }
            let same_length = entry.value as usize == value.len();
            if !same_length && same_name.is_some() {
                continue;
            }
            let texts = entry.texts(&self.bytes);
            if texts.0 == name {
                let index = static_table::ENTRIES.len() + 1 + back;
                if texts.1 == value {
                    return (Some(index), None);
                }
                same_name.get_or_insert(index);
            }
        }
        (None, same_name)
    }

    pub(super) fn resize(&mut self, max: usize) {
        self.max = max;
        self.evict();
    }

    /// Adds an entry, and takes away as many as it needs room, perhaps the one whose name it has.
    pub(super) fn insert(&mut self, name: Name<'_>, value: &[u8]) -> Result<(), HpackError> {
        let name_len = match name {
            Name::Text(text) => text.len(),
            Name::Index(index) => self.get(index)?.0.len(),
        };
        let size = name_len + value.len() + OVERHEAD;
        if size > self.max {
            // RFC 7541 section 4.4: that is no error, it empties the table.
            self.entries.clear();
            self.evict();
            self.size = 0;
            return Ok(());
        }
        let at = self.bytes.len();
        match name {
            Name::Text(text) => self.bytes.extend_from_slice(text),
            Name::Index(index) => {
                if let Some(entry) = self.entry(index) {
                    self.bytes.extend_from_within(entry.at as usize..(entry.at + entry.name) as usize);
                } else if let Some(entry) = static_table::ENTRIES.get(index.wrapping_sub(1)) {
                    self.bytes.extend_from_slice(entry.0);
                }
            }
        }
        self.bytes.extend_from_slice(value);
        self.entries.push_back(Entry { at: at as u32, name: name_len as u32, value: value.len() as u32 });
        self.size += size;
        self.evict();
        Ok(())
    }

    fn evict(&mut self) {
        while self.size > self.max
            && let Some(entry) = self.entries.pop_front()
        {
            self.size -= entry.size();
        }
        let dead = self.entries.front().map_or(self.bytes.len(), |entry| entry.at as usize);
        if dead > 0 && dead * 2 >= self.bytes.len() {
            self.bytes.drain(..dead);
            for entry in &mut self.entries {
                entry.at -= dead as u32;
            }
        }
    }

    /// What the entries count (RFC 7541 section 4.1).
    #[cfg(test)]
    pub(super) fn size(&self) -> usize {
        self.size
    }

    /// Bytes that the table takes.
    pub(super) fn footprint(&self) -> usize {
        self.bytes.capacity() + self.entries.capacity() * size_of::<Entry>()
    }
}
