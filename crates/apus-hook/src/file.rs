//! Opening, reading and syncing regular files on other threads, when that is asked for (`HOOK_FILE`).
//! Writing ends in the page cache and is done at once: so what coroutines write to one file keeps its order.
//!
//! A thread works on memory of its own: a coroutine that is cancelled goes on while its job is still done.

use std::ffi::{CString, OsStr, c_int};
use std::fs;
use std::os::fd::{AsRawFd, IntoRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;

use apus_loop::disk;
use apus_options::hooks;
use apus_zend::hook;
use libc::{mode_t, ssize_t};

use super::args::{Bytes, Text, fill};
use super::gate::{Gate, errno, fail, flags, gate};
use super::sys;

/// Bytes that one job moves at most; a call for more moves less, as it may (read(2)).
const LARGEST: usize = 8 << 20;

/// Whether the running call is one that another thread may do: see `shim/file.c`.
fn offloads() -> bool {
    flags() & hooks::FILE != 0 && hook::may_wait_on_file()
}

/// Reads where the file stands, into a buffer that the thread owns. A copy of the descriptor: the caller may close its
/// own when it was cancelled.
fn read_some(fd: &OwnedFd, len: usize) -> Result<Vec<u8>, c_int> {
    let mut buffer: Vec<u8> = Vec::with_capacity(len);
    let room = &mut buffer.spare_capacity_mut()[..len];
    let got = usize::try_from(sys::read(fd.as_raw_fd(), room)).map_err(|_| errno())?;
    // SAFETY: so many bytes were written.
    unsafe { buffer.set_len(got) };
    Ok(buffer)
}

/// read(2) of a regular file.
pub(super) fn read(gate: &Gate, fd: RawFd, buffer: &mut Bytes) -> ssize_t {
    let Some(file) = (offloads() && !buffer.is_empty()).then(|| sys::duplicate(fd)).flatten() else {
        return sys::read(fd, buffer);
    };
    let len = buffer.len().min(LARGEST);
    match gate.on_disk(|| disk::start(move || read_some(&file, len))) {
        Ok(Ok(bytes)) => {
            fill(buffer, &bytes);
            gate.success(bytes.len() as ssize_t)
        }
        Ok(Err(errno)) | Err(errno) => fail(errno),
    }
}

fn sync(name: &'static str, fd: RawFd, call: extern "C" fn(c_int) -> c_int) -> c_int {
    let ready = gate(name, hooks::FILE).filter(|_| offloads()).and_then(|gate| Some((gate, sys::duplicate(fd)?)));
    let Some((gate, file)) = ready else { return call(fd) };
    let job = move || if call(file.as_raw_fd()) == 0 { Ok(()) } else { Err(errno()) };
    match gate.on_disk(|| disk::start(job)) {
        Ok(Ok(())) => gate.success(0),
        Ok(Err(errno)) | Err(errno) => fail(errno),
    }
}

/// fsync(2).
pub(super) extern "C" fn fsync(fd: c_int) -> c_int {
    sync("fsync()", fd, sys::fsync)
}

/// fdatasync(2).
pub(super) extern "C" fn fdatasync(fd: c_int) -> c_int {
    sync("fdatasync()", fd, sys::fdatasync)
}

/// open(2), whose third argument is read by libc only when it is meant.
pub(super) extern "C" fn open(path: Text<'_>, how: c_int, mode: mode_t) -> c_int {
    let gate = (!path.is_null()).then(|| gate("open()", hooks::FILE)).flatten().filter(|_| offloads());
    let Some((gate, owned)) = gate.and_then(|gate| Some((gate, path.to_owned()?))) else {
        return sys::open(path, how, mode).map_or(-1, IntoRawFd::into_raw_fd);
    };
    let about = |path: &CString| fs::metadata(OsStr::from_bytes(path.to_bytes()));
    let job = move |path: CString| sys::open(Text::of(&path), how, mode).ok_or_else(errno);
    match gate.on_disk(|| disk::start_with(owned, about, job)) {
        Ok(Ok(fd)) => gate.success(fd.into_raw_fd()),
        Ok(Err(errno)) | Err(errno) => fail(errno),
    }
}
