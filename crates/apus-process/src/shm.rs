//! Memory that every process of the server shares.
//!
//! Mapped before the first fork and never unmapped: references into it live as long as the process, which is what makes them `'static`.
//! Only types whose every bit pattern is valid and whose every field is atomic may live there (`Shared`), because other processes write at any time.

use std::io;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64};

/// # Safety
/// All-zero bytes are a valid value, every field is an atomic (or an array or struct of such), and the type needs no drop.
pub(crate) unsafe trait Shared {}

// SAFETY: an atomic integer; zero is valid.
unsafe impl Shared for AtomicU8 {}
// SAFETY: an atomic integer; zero is valid.
unsafe impl Shared for AtomicU32 {}
// SAFETY: an atomic integer; zero is valid.
unsafe impl Shared for AtomicU64 {}

/// Maps `count` zeroed values, shared with every process forked later. Pages take memory only when first touched.
pub(crate) fn map<T: Shared>(count: usize) -> io::Result<&'static [T]> {
    const { assert!(align_of::<T>() <= 4096, "a mapping is aligned to a page and no more") };
    let size = count.max(1).checked_mul(size_of::<T>()).filter(|size| isize::try_from(*size).is_ok());
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
    if start == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the mapping holds `count` zeroed `T`s, valid by the contract of `Shared`; it is page-aligned and never unmapped; all
    // access is through atomics, so that writes by other processes are no data race.
    Ok(unsafe { std::slice::from_raw_parts(start.cast::<T>(), count) })
}
