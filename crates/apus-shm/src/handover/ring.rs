//! A ring of bytes from one process to one other.

use std::sync::atomic::{
    AtomicU64,
    Ordering::{Acquire, Relaxed, Release, SeqCst},
};

use super::RING;

/// Up to where bytes are published, and read; counted from the beginning of the request, never wrapped.
#[repr(C, align(128))]
#[derive(Debug)]
pub(super) struct Positions {
    tail: AtomicU64,
    head: AtomicU64,
}

impl Positions {
    /// Empties the ring: while neither side uses it.
    pub(super) fn clear(&self) {
        self.tail.store(0, Relaxed);
        self.head.store(0, SeqCst);
    }

    /// Up to where bytes are published.
    pub(super) fn published(&self) -> u64 {
        self.tail.load(SeqCst)
    }

    /// Whether all that was published is read.
    #[cfg(test)]
    pub(super) fn is_read(&self) -> bool {
        self.published() == self.head.load(SeqCst)
    }
}

/// The side that writes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Writer<'a> {
    positions: &'a Positions,
    start: *mut u8,
    /// Up to where it has written.
    at: u64,
}

// SAFETY: the ring is shared memory, and its positions order who touches which bytes, between threads as between
// processes.
unsafe impl Send for Writer<'_> {}

impl<'a> Writer<'a> {
    /// # Safety
    /// `start` MUST be the first of `RING` bytes that live as long as this, into which nobody else writes.
    pub(super) unsafe fn new(positions: &'a Positions, start: *mut u8) -> Self {
        Self { positions, start, at: positions.tail.load(Acquire) }
    }

    /// Bytes for which there is room.
    pub(super) fn room(&self) -> usize {
        let held = self.at.saturating_sub(self.positions.head.load(SeqCst));
        RING.saturating_sub(usize::try_from(held).unwrap_or(RING))
    }

    /// Up to where it has written.
    pub(super) fn at(&self) -> u64 {
        self.at
    }

    /// Bytes that are not published.
    pub(super) fn unpublished(&self) -> usize {
        (self.at - self.positions.tail.load(Relaxed)) as usize
    }

    /// Writes what there is room for. Not published yet.
    pub(super) fn put(&mut self, bytes: &[u8]) {
        debug_assert!(bytes.len() <= self.room(), "written past the room");
        let bytes = &bytes[..bytes.len().min(self.room())];
        self.place(self.at, bytes);
        self.at += bytes.len() as u64;
    }

    /// Writes over bytes that are not published yet.
    pub(super) fn correct(&mut self, at: u64, bytes: &[u8]) {
        debug_assert!(at >= self.positions.tail.load(Relaxed) && at + bytes.len() as u64 <= self.at, "not its own");
        self.place(at, bytes);
    }

    fn place(&self, at: u64, bytes: &[u8]) {
        let from = (at % RING as u64) as usize;
        let first = bytes.len().min(RING - from);
        // SAFETY: `from + first` and the rest lie within the ring; the reader keeps away from what is beyond the tail,
        // and nobody else writes.
        unsafe {
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.start.add(from), first);
            std::ptr::copy_nonoverlapping(bytes.as_ptr().add(first), self.start, bytes.len() - first);
        }
    }

    /// Lets the reader see all that was written.
    pub(super) fn publish(&self) {
        self.positions.tail.store(self.at, Release);
    }
}

/// The side that reads.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reader<'a> {
    positions: &'a Positions,
    start: *const u8,
    /// Up to where it has read.
    at: u64,
}

// SAFETY: as of `Writer`.
unsafe impl Send for Reader<'_> {}

impl<'a> Reader<'a> {
    /// # Safety
    /// `start` MUST be the first of `RING` bytes that live as long as this, into which one writer of the same positions
    /// writes.
    pub(super) unsafe fn new(positions: &'a Positions, start: *const u8) -> Self {
        Self { positions, start, at: positions.head.load(Acquire) }
    }

    /// Bytes that are published and not read.
    pub(super) fn available(&self) -> usize {
        let bytes = self.positions.tail.load(SeqCst).saturating_sub(self.at);
        usize::try_from(bytes).unwrap_or(RING).min(RING)
    }

    /// The next bytes, in two parts where they go on at the ring's first byte; `None` when fewer are there.
    pub(super) fn peek(&self, skip: usize, len: usize) -> Option<(&[u8], &[u8])> {
        if skip.checked_add(len)? > self.available() {
            return None;
        }
        let from = ((self.at + skip as u64) % RING as u64) as usize;
        let first = len.min(RING - from);
        // SAFETY: within the ring; what is published and not freed is not written to, and it is not freed while this
        // borrow lives.
        unsafe {
            Some((
                std::slice::from_raw_parts(self.start.add(from), first),
                std::slice::from_raw_parts(self.start, len - first),
            ))
        }
    }

    /// Copies the next bytes; false when fewer are there.
    pub(super) fn copy(&self, skip: usize, into: &mut [u8]) -> bool {
        let Some((first, rest)) = self.peek(skip, into.len()) else { return false };
        into[..first.len()].copy_from_slice(first);
        into[first.len()..].copy_from_slice(rest);
        true
    }

    /// Frees bytes that were looked at.
    pub(super) fn free(&mut self, len: usize) {
        self.at += len as u64;
        self.positions.head.store(self.at, SeqCst);
    }
}
