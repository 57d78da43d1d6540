//! What C code calls a hook with. C's prototypes promise that a pointer is NULL, or leads for the time of the call to
//! what its type says. The types here hold that promise: they stand for pointers in the signatures of hooks and of
//! libc's functions, and Rust code makes them of references alone.

use std::ffi::{CStr, CString, c_char};
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ptr;

/// Records of C for which all bytes zero is a value.
///
/// # Safety
/// It MUST be one.
pub(super) unsafe trait Plain: Copy {}

// SAFETY: integers, and pointers that may be NULL.
unsafe impl Plain for libc::c_int {}
// SAFETY: as above.
unsafe impl Plain for libc::timeval {}
// SAFETY: as above.
unsafe impl Plain for libc::fd_set {}
// SAFETY: as above.
unsafe impl Plain for libc::stat {}
// SAFETY: as above.
unsafe impl Plain for libc::msghdr {}
// SAFETY: as above.
unsafe impl Plain for libc::addrinfo {}
// SAFETY: as above.
unsafe impl Plain for libc::hostent {}
// SAFETY: as above.
unsafe impl Plain for libc::sigset_t {}
// SAFETY: as above; the restorer may be none.
unsafe impl Plain for libc::sigaction {}
// SAFETY: as above.
unsafe impl Plain for libc::sigevent {}

/// A record with all bytes zero.
pub(super) fn zeroed<T: Plain>() -> T {
    // SAFETY: the trait's contract.
    unsafe { std::mem::zeroed() }
}

/// Text that ends in NUL, or NULL.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(super) struct Text<'a>(*const c_char, PhantomData<&'a CStr>);

impl<'a> Text<'a> {
    pub(super) fn of(text: &'a CStr) -> Self {
        Self(text.as_ptr(), PhantomData)
    }

    pub(super) fn none() -> Self {
        Self(ptr::null(), PhantomData)
    }

    pub(super) fn is_null(self) -> bool {
        self.0.is_null()
    }

    pub(super) fn as_ptr(self) -> *const c_char {
        self.0
    }

    pub(super) fn to_owned(self) -> Option<CString> {
        // SAFETY: not NULL, so a text (see the module's promise).
        (!self.0.is_null()).then(|| unsafe { CStr::from_ptr(self.0) }.to_owned())
    }
}

/// A record, or NULL.
#[repr(transparent)]
pub(super) struct Place<'a, T>(*mut T, PhantomData<&'a mut T>);

impl<T> Clone for Place<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Place<'_, T> {}

impl<'a, T> Place<'a, T> {
    pub(super) fn of(record: &'a mut T) -> Self {
        Self(record, PhantomData)
    }

    pub(super) fn none() -> Self {
        Self(ptr::null_mut(), PhantomData)
    }

    pub(super) fn is_null(self) -> bool {
        self.0.is_null()
    }

    pub(super) fn as_ptr(self) -> *mut T {
        self.0
    }

    /// Writes the record, if there is one.
    pub(super) fn set(self, value: T) {
        if !self.0.is_null() {
            // SAFETY: not NULL, so a record (see the module's promise).
            unsafe { self.0.write(value) };
        }
    }
}

impl<T: Copy> Place<'_, T> {
    pub(super) fn get(self) -> Option<T> {
        // SAFETY: not NULL, so a record (see the module's promise).
        (!self.0.is_null()).then(|| unsafe { self.0.read() })
    }
}

/// Bytes that C code may not have written yet.
pub(super) type Bytes = [MaybeUninit<u8>];

/// A caller's array. `None`: NULL, where there should be elements, or more than memory holds; libc's functions say
/// EFAULT.
///
/// # Safety
/// A pointer that is not NULL MUST lead to so many elements, which nobody else uses for the time of the call.
pub(super) unsafe fn array<'a, T>(first: *mut T, count: usize) -> Option<&'a mut [T]> {
    if count == 0 {
        return Some(&mut []);
    }
    let fits = count.checked_mul(size_of::<T>()).is_some_and(|size| isize::try_from(size).is_ok());
    // SAFETY: by contract.
    (fits && !first.is_null()).then(|| unsafe { std::slice::from_raw_parts_mut(first, count) })
}

/// A caller's buffer of so many bytes; see [`array`].
///
/// # Safety
/// As for [`array`].
pub(super) unsafe fn bytes<'a, T>(first: *const T, len: usize) -> Option<&'a mut Bytes> {
    // SAFETY: by contract; any byte may be one that was not written.
    unsafe { array(first.cast_mut().cast(), len) }
}

/// Copies as much as there is room for.
pub(super) fn fill(to: &mut Bytes, from: &[u8]) {
    for (to, &from) in to.iter_mut().zip(from) {
        to.write(from);
    }
}
