//! Whole files, and file systems: on threads of the pool, with data that the job owns, so that a wait that is given up
//! leaves nothing behind that the job could touch. A file that is in memory is read at once.

use std::ffi::{OsString, c_int};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::time::Duration;

use apus_loop::disk::{self, cached};
use apus_zend::arg::Given;
use apus_zend::{Array, Raise};
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use super::failure::{Name, Noted, code, waited};
use crate::runtime::State;
use crate::wait::expect_suspendable;

/// PHP's `FILE_APPEND`.
const FILE_APPEND: i64 = 8;
/// The longest file that is read whole, in bytes: one that never ends is not to take all memory.
const MAX_FILE: u64 = 1 << 30;
/// The first and the longest pause between two tries to lock a file.
const PAUSES: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(50));

/// Runs a job on a thread.
pub(super) async fn on_thread<T: Send + 'static>(
    job: impl FnOnce() -> Result<T, c_int> + Send + 'static,
) -> Result<T, c_int> {
    disk::start(job).await.map_err(|_| libc::EIO)?
}

/// Opens what may be no regular file.
async fn open(path: PathBuf, options: OpenOptions) -> Result<File, c_int> {
    let open = move |path| options.open(path).map_err(|error| code(&error));
    disk::start_with(path, open).await.map_err(|_| libc::EIO)?
}

/// Reads, or writes, such a file.
async fn with<T: Send + 'static>(
    file: File,
    job: impl FnOnce(File) -> io::Result<T> + Send + 'static,
) -> Result<T, c_int> {
    let job = move |file| job(file).map_err(|error| code(&error));
    disk::start_with(file, job).await.map_err(|_| libc::EIO)?
}

/// Locks a file. Tries again and again instead of blocking: threads that wait for a lock would keep its owner from one.
async fn lock(file: &File, operation: FlockOperation) -> Result<(), c_int> {
    let (mut pause, longest) = PAUSES;
    loop {
        match flock(file, operation) {
            Ok(()) => return Ok(()),
            Err(Errno::WOULDBLOCK) => tokio::time::sleep(pause).await,
            Err(Errno::INTR) => {}
            Err(other) => return Err(other.raw_os_error()),
        }
        pause = (pause * 2).min(longest);
    }
}

async fn read_whole(path: PathBuf, locked: bool) -> Result<Vec<u8>, c_int> {
    let file = open(path, File::options().read(true).clone()).await?;
    if locked {
        lock(&file, FlockOperation::NonBlockingLockShared).await?;
    }
    with(file, |file| {
        let mut bytes = Vec::new();
        file.take(MAX_FILE + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > MAX_FILE { Err(io::Error::from_raw_os_error(libc::EFBIG)) } else { Ok(bytes) }
    })
    .await
}

async fn write_whole(path: PathBuf, bytes: Vec<u8>, append: bool, locked: bool) -> Result<i64, c_int> {
    let mut options = OpenOptions::new();
    // A file that is locked is emptied under the lock only.
    options.create(true).write(true).append(append).truncate(!append && !locked);
    let file = open(path, options).await?;
    if locked {
        lock(&file, FlockOperation::NonBlockingLockExclusive).await?;
    }
    with(file, move |mut file| {
        if locked && !append {
            file.set_len(0)?;
        }
        file.write_all(&bytes)?;
        Ok(bytes.len() as i64)
    })
    .await
}

fn path(name: Name) -> PathBuf {
    PathBuf::from(OsString::from_vec(name.0.into_bytes()))
}

/// Flags of which only `known` ones may be set.
fn flags(given: Given<i64>, known: i64, names: &str) -> Result<i64, Raise> {
    if given.value & !known == 0 {
        return Ok(given.value);
    }
    Err(given.must_be(&format!("0 or {names}")))
}

/// `System::readFile()`.
pub(crate) fn read_file(name: Name, flag: Given<i64>) -> Result<Noted<Vec<u8>>, Raise> {
    const WHAT: &str = "Coroutine\\System::readFile()";
    let locked = flags(flag, i64::from(libc::LOCK_EX), "LOCK_EX")? != 0;
    let state = State::get()?;
    expect_suspendable(&state, WHAT)?;
    if !locked && let Some(read) = cached::read(&name.0) {
        return Ok(Noted(read.map_err(Errno::raw_os_error)));
    }
    waited(&state, WHAT, None, read_whole(path(name), locked)).map(Noted)
}

/// `System::writeFile()`.
pub(crate) fn write_file(name: Name, bytes: &[u8], given: Given<i64>) -> Result<Noted<i64>, Raise> {
    let flags = flags(given, FILE_APPEND | i64::from(libc::LOCK_EX), "FILE_APPEND, LOCK_EX or both")?;
    let (append, locked) = (flags & FILE_APPEND != 0, flags & i64::from(libc::LOCK_EX) != 0);
    let job = write_whole(path(name), bytes.to_vec(), append, locked);
    waited(&*State::get()?, "Coroutine\\System::writeFile()", None, job).map(Noted)
}

/// `System::statvfs()`.
pub(crate) fn statvfs(Name(path): Name) -> Result<Noted<Array>, Raise> {
    /// What the kernel sets to tell that there are flags.
    const VALID: u64 = 0x20;
    let job = on_thread(move || rustix::fs::statvfs(&*path).map_err(Errno::raw_os_error));
    let facts = match waited(&*State::get()?, "Coroutine\\System::statvfs()", None, job)? {
        Ok(facts) => facts,
        Err(code) => return Ok(Noted(Err(code))),
    };
    let mut array = Array::new(11)?;
    let rows: [(&[u8], u64); 11] = [
        (b"bsize", facts.f_bsize),
        (b"frsize", facts.f_frsize),
        (b"blocks", facts.f_blocks),
        (b"bfree", facts.f_bfree),
        (b"bavail", facts.f_bavail),
        (b"files", facts.f_files),
        (b"ffree", facts.f_ffree),
        (b"favail", facts.f_favail),
        (b"fsid", facts.f_fsid),
        (b"flag", facts.f_flag.bits() & !VALID),
        (b"namemax", facts.f_namemax),
    ];
    for (key, value) in rows {
        array.set_int(key, value as i64)?;
    }
    Ok(Noted(Ok(array)))
}
