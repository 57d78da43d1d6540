//! Whole files, and file systems: on threads of the pool, with data that the job owns, so that a wait that is given up leaves
//! nothing behind that the job could touch.

use std::ffi::{CString, OsStr, c_int};
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::time::Duration;

use apus_zend::{Array, Call, Raise, Value};

use super::failure::{code, errno, give, name, waited};
use crate::runtime::State;

/// PHP's `FILE_APPEND`.
const FILE_APPEND: i64 = 8;
/// The longest file that is read whole, in bytes: one that never ends is not to take all memory.
const MAX_FILE: u64 = 1 << 30;
/// The first and the longest pause between two tries to lock a file.
const PAUSES: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(50));

/// Runs a job on a thread of the pool.
pub(super) async fn on_thread<T: Send + 'static>(
    job: impl FnOnce() -> Result<T, c_int> + Send + 'static,
) -> Result<T, c_int> {
    tokio::task::spawn_blocking(job).await.map_err(|_| libc::EIO)?
}

/// Locks a file. Tries again and again instead of blocking: threads that wait for a lock would keep its owner from one.
async fn lock(file: &File, operation: c_int) -> Result<(), c_int> {
    let (mut pause, longest) = PAUSES;
    loop {
        // SAFETY: the descriptor is open as long as the file is borrowed.
        if unsafe { libc::flock(file.as_raw_fd(), operation | libc::LOCK_NB) } == 0 {
            return Ok(());
        }
        match errno() {
            libc::EWOULDBLOCK => tokio::time::sleep(pause).await,
            libc::EINTR => {}
            other => return Err(other),
        }
        pause = (pause * 2).min(longest);
    }
}

async fn read_whole(path: PathBuf, locked: bool) -> Result<Vec<u8>, c_int> {
    let file = on_thread(move || File::open(path).map_err(|error| code(&error))).await?;
    if locked {
        lock(&file, libc::LOCK_SH).await?;
    }
    on_thread(move || {
        let mut bytes = Vec::new();
        (&file).take(MAX_FILE + 1).read_to_end(&mut bytes).map_err(|error| code(&error))?;
        if bytes.len() as u64 > MAX_FILE { Err(libc::EFBIG) } else { Ok(bytes) }
    })
    .await
}

async fn write_whole(path: PathBuf, bytes: Vec<u8>, append: bool, locked: bool) -> Result<i64, c_int> {
    let mut file = on_thread(move || {
        let mut options = OpenOptions::new();
        // A file that is locked is emptied under the lock only.
        options.create(true).write(true).append(append).truncate(!append && !locked);
        options.open(path).map_err(|error| code(&error))
    })
    .await?;
    if locked {
        lock(&file, libc::LOCK_EX).await?;
    }
    on_thread(move || {
        if locked && !append {
            file.set_len(0).map_err(|error| code(&error))?;
        }
        file.write_all(&bytes).map_err(|error| code(&error))?;
        Ok(bytes.len() as i64)
    })
    .await
}

fn path(call: &Call) -> Result<PathBuf, Raise> {
    Ok(PathBuf::from(OsStr::from_bytes(name(call, 0)?)))
}

/// Flags of which only `known` ones may be set.
fn flags(call: &Call, index: usize, known: i64, names: &str) -> Result<i64, Raise> {
    let given = call.int(index, 0)?;
    if given & !known == 0 {
        return Ok(given);
    }
    Err(call.value_error(index, &format!("must be 0 or {names}, {given} given")))
}

/// `System::readFile()`.
pub(super) fn read_file(call: &Call) -> Result<(), Raise> {
    let path = path(call)?;
    let locked = flags(call, 1, i64::from(libc::LOCK_EX), "LOCK_EX")? != 0;
    let result = waited(&*State::get()?, "Coroutine\\System::readFile()", None, read_whole(path, locked))?;
    let result = match result {
        Ok(bytes) => Ok(Value::string(&bytes)?),
        Err(code) => Err(code),
    };
    give(call, result)
}

/// `System::writeFile()`.
pub(super) fn write_file(call: &Call) -> Result<(), Raise> {
    let path = path(call)?;
    let bytes = call.bytes(1)?.to_vec();
    let flags = flags(call, 2, FILE_APPEND | i64::from(libc::LOCK_EX), "FILE_APPEND, LOCK_EX or both")?;
    let (append, locked) = (flags & FILE_APPEND != 0, flags & i64::from(libc::LOCK_EX) != 0);
    let job = write_whole(path, bytes, append, locked);
    let result = waited(&*State::get()?, "Coroutine\\System::writeFile()", None, job)?;
    give(call, result)
}

fn file_system(path: &CString) -> Result<libc::statvfs, c_int> {
    // SAFETY: all zeroes are a valid value of this plain struct.
    let mut facts: libc::statvfs = unsafe { std::mem::zeroed() };
    // SAFETY: the path ends in NUL; the out pointer is local.
    if unsafe { libc::statvfs(path.as_ptr(), &raw mut facts) } == 0 { Ok(facts) } else { Err(errno()) }
}

/// `System::statvfs()`.
pub(super) fn statvfs(call: &Call) -> Result<(), Raise> {
    // `name` has refused NUL.
    let path = CString::new(name(call, 0)?).unwrap_or_default();
    let job = on_thread(move || file_system(&path));
    let facts = match waited(&*State::get()?, "Coroutine\\System::statvfs()", None, job)? {
        Ok(facts) => facts,
        Err(code) => return give(call, Err::<bool, _>(code)),
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
        (b"flag", facts.f_flag),
        (b"namemax", facts.f_namemax),
    ];
    for (key, value) in rows {
        array.set_int(key, value as i64)?;
    }
    call.ret(array)
}
