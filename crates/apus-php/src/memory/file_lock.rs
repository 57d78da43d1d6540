//! The part of a file lock that programs share which know nothing of each other: flock(2) on a file.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::sync::{Mutex, Once, PoisonError};
use std::time::Duration;

use std::cell::{Cell, RefCell};

use apus_shm::{ForkEpoch, Mode};

/// The first and the longest pause between two tries: nobody wakes who waits for another program.
const PAUSES: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(16));

/// The files that this process has open for locks. flock(2) is of the open file, which a forked child has, too: as long
/// as the child had it open, what the parent held would stay locked after the parent's death. So a child closes them.
static OPEN: Mutex<Vec<RawFd>> = Mutex::new(Vec::new());

extern "C" fn born() {
    // Nobody else runs in a child that has just been forked; one who held the mutex in the parent then left it shut,
    // and the files open.
    if let Ok(mut open) = OPEN.try_lock() {
        for fd in open.drain(..) {
            // SAFETY: a descriptor that this process has from its parent, and that nothing here uses any more: see
            // `Handle::drop`.
            unsafe { libc::close(fd) };
        }
    }
}

/// A file as one process has it open.
struct Handle {
    process: ForkEpoch,
    file: ManuallyDrop<File>,
}

impl Drop for Handle {
    fn drop(&mut self) {
        // In a forked child it was closed, and the number may be another file's.
        if self.process.is_now() {
            let fd = self.file.as_raw_fd();
            OPEN.lock().unwrap_or_else(PoisonError::into_inner).retain(|open| *open != fd);
            // SAFETY: dropped once, here.
            unsafe { ManuallyDrop::drop(&mut self.file) };
        }
    }
}

/// The file of a lock. What is between the coroutines and processes of this program is settled before: here a process
/// comes as a whole.
pub(super) struct FileLock {
    path: PathBuf,
    handle: RefCell<Option<Handle>>,
    /// How many of this process share the file, or 1 who has it alone.
    users: Cell<u32>,
}

impl FileLock {
    /// Makes the file if it is not there.
    pub(super) fn new(path: PathBuf) -> io::Result<Self> {
        let lock = Self { path, handle: RefCell::default(), users: Cell::new(0) };
        lock.open()?;
        Ok(lock)
    }

    fn open(&self) -> io::Result<()> {
        static REGISTERED: Once = Once::new();
        let process = ForkEpoch::now();
        let mut handle = self.handle.borrow_mut();
        if handle.as_ref().is_none_or(|handle| handle.process != process) {
            // SAFETY: the handler lives as long as the module; it closes descriptors, which is safe after a fork.
            REGISTERED.call_once(|| _ = unsafe { libc::pthread_atfork(None, None, Some(born)) });
            let file =
                OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o666).open(&self.path)?;
            OPEN.lock().unwrap_or_else(PoisonError::into_inner).push(file.as_raw_fd());
            *handle = Some(Handle { process, file: ManuallyDrop::new(file) });
            self.users.set(0);
        }
        Ok(())
    }

    /// Locks it if no other program has it; `false`: one has.
    pub(super) fn try_lock(&self, mode: Mode) -> io::Result<bool> {
        self.open()?;
        if self.users.get() == 0 {
            let handle = self.handle.borrow();
            let Some(handle) = handle.as_ref() else { return Ok(false) };
            let tried = match mode {
                Mode::Shared => handle.file.try_lock_shared(),
                Mode::Exclusive => handle.file.try_lock(),
            };
            match tried {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Ok(false),
                Err(TryLockError::Error(error)) => return Err(error),
            }
        }
        self.users.set(self.users.get() + 1);
        Ok(true)
    }

    /// Gives it up once.
    pub(super) fn unlock(&self) {
        let handle = self.handle.borrow();
        let Some(handle) = handle.as_ref().filter(|handle| handle.process.is_now()) else { return };
        self.users.set(self.users.get().saturating_sub(1));
        if self.users.get() == 0 {
            // It fails for a descriptor that is none, and then nothing is locked.
            _ = handle.file.unlock();
        }
    }
}

/// The pauses between tries.
pub(super) fn pauses() -> impl Iterator<Item = Duration> {
    let (first, longest) = PAUSES;
    std::iter::successors(Some(first), move |pause| Some((*pause * 2).min(longest)))
}
