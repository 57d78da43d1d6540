//! Mappings that every process forked later shares.
//!
//! A mapping is reserved whole and takes memory by the page, when a page is first touched: so room to grow costs
//! address space and nothing else. Only types whose every bit pattern is valid and whose every field is atomic may live
//! there ([`Shared`]), because other processes write at any time. Inside, places are named by their offset from the
//! start: the same in every process, and in a snapshot.

use std::io;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicI64, AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering::Relaxed};

/// What the kernel gives memory by.
const PAGE: usize = 4096;
/// Bytes of a word.
const WORD: usize = 8;

/// What may live in shared memory.
///
/// # Safety
/// All-zero bytes are a valid value, every field is an atomic (or an array or struct of such, or a mutex of the C
/// library), and the type needs no drop.
pub unsafe trait Shared {}

// SAFETY: an atomic integer; zero is valid.
unsafe impl Shared for AtomicU8 {}
// SAFETY: an atomic integer; zero is valid.
unsafe impl Shared for AtomicU16 {}
// SAFETY: an atomic integer; zero is valid.
unsafe impl Shared for AtomicU32 {}
// SAFETY: an atomic integer; zero is valid.
unsafe impl Shared for AtomicU64 {}
// SAFETY: an atomic integer; zero is valid.
unsafe impl Shared for AtomicI64 {}

/// Maps `count` zeroed values that stay for the life of the process.
pub fn map<T: Shared + 'static>(count: usize) -> io::Result<&'static [T]> {
    let size = count.checked_mul(size_of::<T>()).ok_or(io::ErrorKind::OutOfMemory)?;
    let region: &'static Region = Box::leak(Box::new(Region::new(size)?));
    Ok(region.slice(0, count))
}

/// A mapping, zeroed at first. Dropping it unmaps it in this process alone.
#[derive(Debug)]
pub struct Region {
    start: NonNull<u8>,
    size: usize,
}

// SAFETY: the mapping belongs to no thread, and is reached through atomics only.
unsafe impl Send for Region {}
// SAFETY: as above.
unsafe impl Sync for Region {}

impl Region {
    /// Reserves at least `size` bytes, rounded up to a page.
    pub fn new(size: usize) -> io::Result<Self> {
        let size = size.max(1).checked_next_multiple_of(PAGE).filter(|size| isize::try_from(*size).is_ok());
        let size = size.ok_or(io::ErrorKind::OutOfMemory)?;
        // SAFETY: a fresh anonymous mapping at an address of the kernel's choice; no memory of ours is touched.
        let start = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                size,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                -1,
                0,
            )
        };
        match NonNull::new(start.cast()) {
            Some(ok) if start != libc::MAP_FAILED => Ok(Self { start: ok, size }),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// Bytes reserved.
    pub fn size(&self) -> usize {
        self.size
    }

    /// The value at an offset.
    ///
    /// # Panics
    /// When it would not lie inside, aligned: offsets are made by this crate alone, so that is a defect of its own.
    #[inline]
    pub fn at<T: Shared>(&self, offset: usize) -> &T {
        assert!(
            offset.is_multiple_of(align_of::<T>())
                && offset.checked_add(size_of::<T>()).is_some_and(|end| end <= self.size),
            "offset {offset} of a mapping of {} bytes",
            self.size
        );
        // SAFETY: inside the mapping and aligned (a mapping is aligned to a page); valid by the contract of `Shared`;
        // lives as long as self.
        unsafe { self.start.add(offset).cast::<T>().as_ref() }
    }

    /// Has the processor fetch the line at an offset, to write to it, and goes on meanwhile. A hint: what is not mapped
    /// is not fetched.
    #[inline]
    pub(crate) fn fetch(&self, offset: usize) {
        #[cfg(target_arch = "x86_64")]
        if offset < self.size {
            use std::arch::x86_64::{_MM_HINT_ET0, _mm_prefetch};
            // SAFETY: inside the mapping; reads and writes nothing.
            unsafe { _mm_prefetch::<_MM_HINT_ET0>(self.start.add(offset).as_ptr().cast()) };
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = offset;
    }

    /// `count` values from an offset on.
    ///
    /// # Panics
    /// As [`at`](Self::at).
    #[inline]
    pub fn slice<T: Shared>(&self, offset: usize, count: usize) -> &[T] {
        const { assert!(align_of::<T>() <= PAGE, "a mapping is aligned to a page and no more") };
        let end = count.checked_mul(size_of::<T>()).and_then(|bytes| offset.checked_add(bytes));
        assert!(
            offset.is_multiple_of(align_of::<T>()) && end.is_some_and(|end| end <= self.size),
            "{count} values at offset {offset} of a mapping of {} bytes",
            self.size
        );
        // SAFETY: as in `at`.
        unsafe { std::slice::from_raw_parts(self.start.add(offset).cast::<T>().as_ptr(), count) }
    }

    /// The first of `len` bytes at an offset, for rings whose positions say which side may touch which bytes.
    ///
    /// # Panics
    /// As [`at`](Self::at).
    pub(crate) fn bytes(&self, offset: usize, len: usize) -> NonNull<u8> {
        assert!(
            offset.checked_add(len).is_some_and(|end| end <= self.size),
            "{len} bytes at offset {offset} of a mapping of {} bytes",
            self.size
        );
        // SAFETY: inside the mapping.
        unsafe { self.start.add(offset) }
    }

    /// Appends `len` bytes from an offset that is a multiple of 8. They are whole only if nobody writes there
    /// meanwhile: look at what guards them afterwards.
    pub fn copy_out(&self, offset: usize, len: usize, into: &mut Vec<u8>) {
        into.reserve(len.next_multiple_of(WORD));
        let words: &[AtomicU64] = self.slice(offset, len.div_ceil(WORD));
        let end = into.len() + len;
        for word in words {
            into.extend_from_slice(&word.load(Relaxed).to_le_bytes());
        }
        into.truncate(end);
    }

    /// Writes bytes at an offset that is a multiple of 8. The rest of the last word becomes zero.
    pub fn copy_in(&self, offset: usize, bytes: &[u8]) {
        let words: &[AtomicU64] = self.slice(offset, bytes.len().div_ceil(WORD));
        for (word, chunk) in words.iter().zip(bytes.chunks(WORD)) {
            let mut whole = [0; WORD];
            whole[..chunk.len()].copy_from_slice(chunk);
            word.store(u64::from_le_bytes(whole), Relaxed);
        }
    }

    /// Bytes of memory that this mapping takes now, over all processes.
    pub fn resident(&self) -> usize {
        let mut pages = vec![0u8; self.size / PAGE];
        // SAFETY: the range is this mapping, the vector has a byte for each of its pages.
        let asked = unsafe { libc::mincore(self.start.as_ptr().cast(), self.size, pages.as_mut_ptr()) };
        if asked == 0 { pages.iter().filter(|page| **page & 1 != 0).count() * PAGE } else { 0 }
    }

    /// Gives the memory of whole pages inside a range back to the kernel; they read as zeros from then on, in every
    /// process.
    pub fn release(&self, offset: usize, len: usize) {
        let (from, to) = (offset.next_multiple_of(PAGE), (offset + len).min(self.size) / PAGE * PAGE);
        if from < to {
            // SAFETY: inside the mapping; atomics of value zero are valid there. Failure leaves the memory taken, which
            // is no harm.
            unsafe { libc::madvise(self.start.add(from).as_ptr().cast(), to - from, libc::MADV_REMOVE) };
        }
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: mapped by `new` with this size; borrows of it end before self does.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.size) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_survive_and_the_rest_of_the_word_is_zero() {
        let region = Region::new(10_000).unwrap();
        for len in [0, 1, 7, 8, 9, 4096] {
            let bytes: Vec<u8> = (0..len).map(|at| at as u8 ^ 0xa5).collect();
            region.copy_in(16, &bytes);
            let mut out = vec![1, 2];
            region.copy_out(16, len, &mut out);
            assert_eq!(out[2..], bytes);
        }
        region.copy_in(16, b"abc");
        assert_eq!(region.at::<AtomicU64>(16).load(Relaxed), u64::from_le_bytes(*b"abc\0\0\0\0\0"));
    }

    #[test]
    fn memory_is_taken_when_touched_and_given_back() {
        let region = Region::new(1 << 30).unwrap();
        assert_eq!(region.resident(), 0);
        region.at::<AtomicU8>(1 << 20).store(1, Relaxed);
        region.at::<AtomicU8>(1 << 29).store(1, Relaxed);
        assert!((PAGE..=2 << 20).contains(&region.resident()));
        region.release(1 << 20, PAGE);
        assert_eq!(region.at::<AtomicU8>(1 << 20).load(Relaxed), 0);
        assert_eq!(region.at::<AtomicU8>(1 << 29).load(Relaxed), 1);
    }

    #[test]
    #[should_panic(expected = "offset 4093 of a mapping of 4096 bytes")]
    fn nothing_lies_across_the_end() {
        let region = Region::new(100).unwrap();
        region.at::<AtomicU32>(4093);
    }
}
