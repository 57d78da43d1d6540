//! Opening, reading and syncing regular files on the runtime's pool of threads, when that is asked for (`HOOK_FILE`). Writing ends in the
//! page cache and is done at once: so what coroutines write to one file keeps its order.
//!
//! A thread works on memory of its own: a coroutine that is cancelled goes on while its job is still done.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::os::fd::{FromRawFd, IntoRawFd, OwnedFd, RawFd};

use apus_options::hooks;
use apus_zend::hook;
use libc::{mode_t, size_t, ssize_t};

use super::gate::{Gate, errno, fail, flags, gate};

/// Bytes that one job moves at most; a call for more moves less, as it may (read(2)).
const LARGEST: usize = 8 << 20;

/// Whether the running call is one that another thread may do: see `shim/file.c`.
fn offloads() -> bool {
    flags() & hooks::FILE != 0 && hook::may_wait_on_file()
}

/// The descriptor that a thread works with: a copy, for the caller may close its own when it was cancelled.
fn copy(fd: RawFd) -> Option<OwnedFd> {
    // SAFETY: no pointers.
    let copy = unsafe { libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, 0) };
    // SAFETY: a new descriptor that nobody else owns.
    (copy >= 0).then(|| unsafe { OwnedFd::from_raw_fd(copy) })
}

/// Reads where the file stands, into a buffer that the thread owns.
fn read_some(fd: &OwnedFd, len: usize) -> Result<Vec<u8>, c_int> {
    use std::os::fd::AsRawFd;
    let mut buffer: Vec<u8> = Vec::with_capacity(len);
    // SAFETY: room for `len` bytes.
    let got = unsafe { libc::read(fd.as_raw_fd(), buffer.as_mut_ptr().cast(), len) };
    let got = usize::try_from(got).map_err(|_| errno())?;
    // SAFETY: so many bytes were written.
    unsafe { buffer.set_len(got) };
    Ok(buffer)
}

/// # Safety
/// `buffer` MUST have room for `len` bytes.
pub(super) unsafe fn read(gate: &Gate, fd: RawFd, buffer: *mut c_void, len: size_t) -> ssize_t {
    let Some(file) = (offloads() && len > 0).then(|| copy(fd)).flatten() else {
        // SAFETY: by contract.
        return unsafe { libc::read(fd, buffer, len) };
    };
    let len = len.min(LARGEST);
    match gate.on_thread(move || read_some(&file, len)) {
        Ok(Ok(bytes)) => {
            // SAFETY: by contract; no more than `len` bytes came.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), buffer.cast(), bytes.len()) };
            gate.success(bytes.len() as ssize_t)
        }
        Ok(Err(errno)) | Err(errno) => fail(errno),
    }
}

fn sync(name: &'static str, fd: RawFd, call: unsafe extern "C" fn(c_int) -> c_int) -> c_int {
    use std::os::fd::AsRawFd;
    let Some((gate, file)) = gate(name, hooks::FILE).filter(|_| offloads()).and_then(|gate| Some((gate, copy(fd)?)))
    else {
        // SAFETY: no pointers.
        return unsafe { call(fd) };
    };
    let done = gate.on_thread(move || {
        // SAFETY: no pointers.
        if unsafe { call(file.as_raw_fd()) } == 0 { Ok(()) } else { Err(errno()) }
    });
    match done {
        Ok(Ok(())) => gate.success(0),
        Ok(Err(errno)) | Err(errno) => fail(errno),
    }
}

/// fsync(2).
pub(super) unsafe extern "C" fn fsync(fd: c_int) -> c_int {
    sync("fsync()", fd, libc::fsync)
}

/// fdatasync(2).
pub(super) unsafe extern "C" fn fdatasync(fd: c_int) -> c_int {
    sync("fdatasync()", fd, libc::fdatasync)
}

/// open(2), whose third argument is read by libc only when it is meant.
pub(super) unsafe extern "C" fn open(path: *const c_char, how: c_int, mode: mode_t) -> c_int {
    let Some(gate) = (!path.is_null()).then(|| gate("open()", hooks::FILE)).flatten().filter(|_| offloads()) else {
        // SAFETY: the caller's arguments.
        return unsafe { libc::open64(path, how, mode) };
    };
    // SAFETY: the caller's path.
    let owned: CString = unsafe { CStr::from_ptr(path) }.to_owned();
    let opened = gate.on_thread(move || {
        // SAFETY: a path that ends in NUL.
        let fd = unsafe { libc::open64(owned.as_ptr(), how, mode) };
        // SAFETY: a new descriptor that nobody else owns; dropped, it is closed.
        if fd < 0 { Err(errno()) } else { Ok(unsafe { OwnedFd::from_raw_fd(fd) }) }
    });
    match opened {
        Ok(Ok(fd)) => gate.success(fd.into_raw_fd()),
        Ok(Err(errno)) | Err(errno) => fail(errno),
    }
}
