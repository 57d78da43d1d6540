//! Where received bytes go, and those that are not yet used.

use std::io;

use crate::pool::Pool;
use crate::wire::Wire;

/// A buffer borrowed from the pool while it holds something. `data[start..end]` is what was read.
#[derive(Default)]
pub(crate) struct Input {
    data: Vec<u8>,
    start: usize,
    end: usize,
}

impl Input {
    #[inline]
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.data[self.start..self.end]
    }

    #[inline]
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.data[self.start..self.end]
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.end - self.start
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.start == self.end
    }

    #[inline]
    pub(crate) fn consume(&mut self, count: usize) {
        self.start = self.end.min(self.start.saturating_add(count));
    }

    /// Room to read into, never empty. Grows past the pool's size only for a head that does not fit.
    #[inline]
    pub(crate) fn space(&mut self, pool: &Pool) -> &mut [u8] {
        if self.data.is_empty() {
            self.data = pool.read_buffer();
        }
        if self.is_empty() {
            (self.start, self.end) = (0, 0);
        } else if self.end == self.data.len() {
            self.make_room();
        }
        &mut self.data[self.end..]
    }

    #[cold]
    fn make_room(&mut self) {
        if self.start > 0 {
            self.data.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        } else {
            let double = self.data.len() * 2;
            self.data.resize(double, 0);
        }
    }

    /// `count` bytes were read into `space()`.
    #[inline]
    pub(crate) fn filled(&mut self, count: usize) {
        self.end = self.data.len().min(self.end + count);
    }

    /// Keeps bytes that were read elsewhere, behind what is here.
    pub(crate) fn append(&mut self, mut bytes: &[u8], pool: &Pool) {
        while !bytes.is_empty() {
            let space = self.space(pool);
            let count = space.len().min(bytes.len());
            space[..count].copy_from_slice(&bytes[..count]);
            self.filled(count);
            bytes = &bytes[count..];
        }
    }

    /// Gives an empty buffer back.
    #[inline]
    pub(crate) fn release(&mut self, pool: &Pool) {
        if self.is_empty() && !self.data.is_empty() {
            (self.start, self.end) = (0, 0);
            pool.give_read(std::mem::take(&mut self.data));
        }
    }
}

/// Where received bytes come from.
pub(crate) trait Incoming {
    /// Reads once: how many bytes, and whether nothing more is known to be there.
    fn read(&self, into: &mut [u8]) -> io::Result<(usize, bool)>;

    /// The same behind what a vector holds, at most `room` bytes, without growing it.
    fn read_behind(&self, into: &mut Vec<u8>, room: usize) -> io::Result<(usize, bool)> {
        let len = into.len();
        into.resize(len + room, 0);
        let read = self.read(&mut into[len..]);
        into.truncate(len + read.as_ref().map_or(0, |read| read.0));
        read
    }
}

impl Incoming for Wire {
    #[inline]
    fn read(&self, into: &mut [u8]) -> io::Result<(usize, bool)> {
        Self::read(self, into)
    }

    fn read_behind(&self, into: &mut Vec<u8>, room: usize) -> io::Result<(usize, bool)> {
        Self::read_behind(self, into, room)
    }
}

/// Where received bytes go.
pub(crate) trait Receive {
    /// Receives once: how many bytes, and whether there was room for more. The buffer is fetched here, when there is
    /// something to read.
    fn receive(&mut self, from: &impl Incoming) -> io::Result<(usize, bool)>;
}

impl Receive for [u8] {
    #[inline]
    fn receive(&mut self, from: &impl Incoming) -> io::Result<(usize, bool)> {
        from.read(self)
    }
}

/// The input buffer of a connection, borrowed from the pool at need.
impl Receive for (&mut Input, &Pool) {
    #[inline]
    fn receive(&mut self, from: &impl Incoming) -> io::Result<(usize, bool)> {
        self.0.space(self.1).receive(from)
    }
}

/// The spare capacity of a vector, up to so many bytes.
impl Receive for (&mut Vec<u8>, usize) {
    #[inline]
    fn receive(&mut self, from: &impl Incoming) -> io::Result<(usize, bool)> {
        let room = self.1.min(self.0.capacity() - self.0.len());
        from.read_behind(self.0, room)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pool::READ_SIZE;

    #[test]
    fn grows_for_a_head_that_does_not_fit_and_keeps_the_bytes() {
        let pool = Pool::default();
        let mut input = Input::default();
        let bytes: Vec<u8> = (0..READ_SIZE * 3).map(|i| (i % 251) as u8).collect();
        input.append(&bytes, &pool);
        assert_eq!(input.bytes(), bytes);
        input.consume(READ_SIZE);
        assert_eq!(input.bytes(), &bytes[READ_SIZE..]);
        assert_eq!(input.len(), READ_SIZE * 2);
    }

    #[test]
    fn an_empty_buffer_goes_back_to_the_pool() {
        let pool = Pool::default();
        let mut input = Input::default();
        let space = input.space(&pool);
        space[..3].copy_from_slice(b"abc");
        input.filled(3);
        input.release(&pool);
        assert_eq!(input.bytes(), b"abc", "not while it holds something");
        input.consume(3);
        input.release(&pool);
        assert!(input.data.is_empty());
        assert_eq!(pool.read_buffer().len(), READ_SIZE);
    }
}
