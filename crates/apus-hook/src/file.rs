//! Opening, reading and syncing regular files on other threads, when that is asked for (`HOOK_FILE`). What the kernel
//! has in memory needs no other thread: it is opened and read at once. Making a file and writing ends there and is done
//! at once, too: so what coroutines write to one file keeps its order.
//!
//! A thread works on memory of its own: a coroutine that is cancelled goes on while its job is still done.

use std::ffi::{CString, c_int};
use std::os::fd::{AsRawFd, BorrowedFd, IntoRawFd, OwnedFd, RawFd};

use apus_loop::disk::{self, cached};
use apus_options::hooks;
use apus_zend::hook;
use libc::{mode_t, ssize_t};
use rustix::fs::{Mode, OFlags};

use super::args::{Bytes, Text, fill};
use super::gate::{Gate, errno, fail, flags, gate};
use super::sys;

/// Bytes that one job moves at most.
const LARGEST: usize = 8 << 20;

/// Whether the running call is one that another thread may do: see `shim/file.c`.
fn offloads() -> bool {
    flags() & hooks::FILE != 0 && hook::may_wait_on_file()
}

/// Reads where the file stands, into a buffer that the thread owns.
fn read_some(fd: &OwnedFd, len: usize) -> Result<Vec<u8>, c_int> {
    let mut buffer: Vec<u8> = Vec::with_capacity(len);
    let room = &mut buffer.spare_capacity_mut()[..len];
    let got = usize::try_from(sys::read(fd.as_raw_fd(), room)).map_err(|_| errno())?;
    // SAFETY: so many bytes were written.
    unsafe { buffer.set_len(got) };
    Ok(buffer)
}

/// A part of a read(2) that memory has. `None`: a disk is to be asked.
fn read_at_once(fd: RawFd, buffer: &mut Bytes) -> Option<usize> {
    if let Ok(got) = usize::try_from(sys::read_cached(fd, buffer)) {
        return Some(got);
    }
    // SAFETY: the caller's descriptor, for the time of its call.
    let file = unsafe { BorrowedFd::borrow_raw(fd) };
    let needless = errno() == libc::EOPNOTSUPP && cached::needs_no_disk(file);
    if needless { usize::try_from(sys::read(fd, buffer)).ok() } else { None }
}

/// The same, by another thread.
fn read_on_disk(gate: &Gate, fd: RawFd, buffer: &mut Bytes) -> Result<usize, c_int> {
    // A copy of the descriptor: the caller may close its own when it was cancelled.
    let Some(file) = sys::duplicate(fd) else {
        return usize::try_from(sys::read(fd, buffer)).map_err(|_| errno());
    };
    let len = buffer.len();
    let bytes = gate.on_disk(|| disk::start(move || read_some(&file, len)))??;
    fill(buffer, &bytes);
    Ok(bytes.len())
}

/// read(2) of a regular file: as much as is wanted, or as there is, because programs expect no less.
pub(super) fn read(gate: &Gate, fd: RawFd, buffer: &mut Bytes) -> ssize_t {
    if !offloads() {
        return sys::read(fd, buffer);
    }
    let mut done = 0;
    while done < buffer.len() {
        let rest = &mut buffer[done..];
        let wanted = rest.len().min(LARGEST);
        let cached = if wanted <= cached::MOST { read_at_once(fd, rest) } else { None };
        // Where fewer than that come, the file ends. Memory may have a part of what is left.
        let (got, enough) = match cached {
            Some(got) => (Ok(got), 1),
            None => (read_on_disk(gate, fd, &mut rest[..wanted]), wanted),
        };
        match got {
            Ok(more) => {
                done += more;
                if more < enough {
                    break;
                }
            }
            // What was read before is the caller's; the next call meets the error again.
            Err(errno) if done > 0 && errno != libc::ECANCELED => break,
            Err(errno) => return fail(errno),
        }
    }
    gate.success(done as ssize_t)
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
    // The C library adds it, too.
    let flags = OFlags::from_bits_retain(how.cast_unsigned()) | OFlags::LARGEFILE;
    match cached::open(&owned, flags, Mode::from_raw_mode(mode)) {
        Some(Ok(file)) => return gate.success(file.into_raw_fd()),
        Some(Err(errno)) => return fail(errno.raw_os_error()),
        None => {}
    }
    let job = move |path: CString| sys::open(Text::of(&path), how, mode).ok_or_else(errno);
    match gate.on_disk(|| disk::start_with(owned, job)) {
        Ok(Ok(fd)) => gate.success(fd.into_raw_fd()),
        Ok(Err(errno)) | Err(errno) => fail(errno),
    }
}
