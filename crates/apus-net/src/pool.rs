//! Buffers and requests that connections borrow while they work, so that a steady state allocates nothing and an idle
//! connection owns nothing.

use std::cell::RefCell;

use crate::head_bytes::Inner;

/// Bytes of a read buffer: holds the heads browsers send; bodies are read into memory of their own.
pub(crate) const READ_SIZE: usize = 8 * 1024;
/// Output buffers that grew beyond this are given back to the allocator.
const OUT_KEEP: usize = 64 * 1024;
/// Request bytes that grew beyond this are given back.
const REQUEST_KEEP: usize = 16 * 1024;
/// How many of each are kept.
const KEEP: usize = 128;
/// Bytes of the scratch buffer that bodies pass through on their way to disk.
const SCRATCH: usize = 64 * 1024;

#[derive(Default)]
#[allow(clippy::vec_box, reason = "a request moves as one pointer, and its box is what is kept")]
pub(crate) struct Pool {
    read: RefCell<Vec<Vec<u8>>>,
    out: RefCell<Vec<Vec<u8>>>,
    requests: RefCell<Vec<Box<Inner>>>,
    scratch: RefCell<Vec<u8>>,
}

impl Pool {
    /// A buffer of [`READ_SIZE`] initialised bytes.
    #[inline]
    pub(crate) fn read_buffer(&self) -> Vec<u8> {
        self.read.borrow_mut().pop().unwrap_or_else(|| vec![0; READ_SIZE])
    }

    #[inline]
    pub(crate) fn give_read(&self, buffer: Vec<u8>) {
        let mut pool = self.read.borrow_mut();
        if buffer.len() == READ_SIZE && pool.len() < KEEP {
            pool.push(buffer);
        }
    }

    /// An empty buffer with some capacity.
    #[inline]
    pub(crate) fn out_buffer(&self) -> Vec<u8> {
        self.out.borrow_mut().pop().unwrap_or_else(|| Vec::with_capacity(4096))
    }

    #[inline]
    pub(crate) fn give_out(&self, mut buffer: Vec<u8>) {
        let mut pool = self.out.borrow_mut();
        if buffer.capacity() <= OUT_KEEP && buffer.capacity() > 0 && pool.len() < KEEP {
            buffer.clear();
            pool.push(buffer);
        }
    }

    #[inline]
    #[allow(clippy::unnecessary_box_returns, reason = "the box is what is kept")]
    pub(crate) fn request(&self) -> Box<Inner> {
        self.requests.borrow_mut().pop().unwrap_or_default()
    }

    /// Takes back a request that was cleared: it holds nothing of its connection.
    #[inline]
    pub(crate) fn give_request(&self, request: Box<Inner>) {
        let mut pool = self.requests.borrow_mut();
        if request.bytes.capacity() <= REQUEST_KEEP && pool.len() < KEEP {
            pool.push(request);
        }
    }

    /// Lends the scratch buffer for the length of the call, which MUST NOT call an `App`.
    pub(crate) fn with_scratch<R>(&self, work: impl FnOnce(&mut [u8]) -> R) -> R {
        let mut scratch = self.scratch.borrow_mut();
        if scratch.is_empty() {
            scratch.resize(SCRATCH, 0);
        }
        work(&mut scratch)
    }
}
