//! The part of a lock that processes share: who of them holds it, in memory that forked processes have in common.
//!
//! A process takes part as a whole: its coroutines have agreed among themselves ([`super::lock`]) before it asks here. There
//! is nobody to wake another process, so who does not get it asks again, ever less often. What a dead process held is free.

use std::io;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::time::Duration;

/// The first and the longest pause between two tries.
const PAUSES: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(16));
/// Processes that share it at once at most.
const READERS: usize = 1023;

/// Process ids, or 0: of the process that holds it exclusively, or claims it and waits for the readers to leave; of those
/// that share it. Who takes a place looks at the other side afterwards, so of two that meet one gives way.
#[repr(C)]
struct Places {
    writer: AtomicU32,
    readers: [AtomicU32; READERS],
}

/// A mapping of [`Places`], shared with the processes forked while it is there.
pub(super) struct ProcessLock(NonNull<Places>);

impl ProcessLock {
    pub(super) fn new() -> io::Result<Self> {
        // SAFETY: a fresh anonymous mapping; no memory of ours is touched.
        let start = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                size_of::<Places>(),
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        match NonNull::new(start) {
            Some(start) if start.as_ptr() != libc::MAP_FAILED => Ok(Self(start.cast())),
            _ => Err(io::Error::last_os_error()),
        }
    }

    fn places(&self) -> &Places {
        // SAFETY: the mapping holds zeroed atomics, which every process changes as atomics only, and lives as long as self.
        unsafe { self.0.as_ref() }
    }

    /// Takes it for this process, if that is possible now. An exclusive claim stays until [`ProcessLock::release`].
    pub(super) fn try_take(&self, exclusive: bool) -> bool {
        let me = std::process::id();
        let places = self.places();
        if exclusive {
            return take_place(&places.writer, me) && places.readers.iter().all(|place| is_free(place, me));
        }
        let taken = places.readers.iter().find(|place| is_free(place, me) && take_place(place, me));
        match taken {
            Some(_) if is_free(&places.writer, me) => true,
            Some(place) => {
                place.store(0, SeqCst);
                false
            }
            None => false,
        }
    }

    /// Ready when this process has it.
    pub(super) async fn take(&self, exclusive: bool) {
        let (mut pause, longest) = PAUSES;
        while !self.try_take(exclusive) {
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(longest);
        }
    }

    /// Gives up whatever this process holds or claims.
    pub(super) fn release(&self) {
        let me = std::process::id();
        let places = self.places();
        for place in std::iter::once(&places.writer).chain(&places.readers) {
            if place.load(SeqCst) == me {
                place.store(0, SeqCst);
            }
        }
    }
}

impl Drop for ProcessLock {
    fn drop(&mut self) {
        // SAFETY: mapped by `new` with this size; nothing refers to it any more.
        unsafe { libc::munmap(self.0.as_ptr().cast(), size_of::<Places>()) };
    }
}

/// Puts `me` into a place that is empty, its own already, or a dead process's.
fn take_place(place: &AtomicU32, me: u32) -> bool {
    let there = place.load(SeqCst);
    there == me || (is_free(place, me) && place.compare_exchange(there, me, SeqCst, SeqCst).is_ok())
}

/// Whether no other process that lives has the place.
fn is_free(place: &AtomicU32, me: u32) -> bool {
    let there = place.load(SeqCst);
    if there == 0 || there == me {
        return true;
    }
    // SAFETY: signal 0 only asks whether there is such a process.
    let asked = unsafe { libc::kill(there as libc::pid_t, 0) };
    asked == -1 && io::Error::last_os_error().raw_os_error() == Some(libc::ESRCH)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A process id that is in use for certain, and not by this process.
    const OTHER: u32 = 1;
    /// Above the greatest that Linux gives (2^22).
    const DEAD: u32 = 1 << 23;

    #[test]
    fn one_writer_or_many_readers() {
        let lock = ProcessLock::new().expect("memory");
        assert!(lock.try_take(true));
        assert_eq!(lock.places().writer.load(SeqCst), std::process::id());
        lock.release();
        lock.places().writer.store(OTHER, SeqCst);
        assert!(!lock.try_take(true) && !lock.try_take(false));
        assert!(lock.places().readers.iter().all(|place| place.load(SeqCst) == 0), "a reader gives way");
        lock.places().writer.store(0, SeqCst);
        lock.places().readers[5].store(OTHER, SeqCst);
        assert!(lock.try_take(false));
        lock.release();
        assert!(!lock.try_take(true), "it is shared");
        assert_eq!(lock.places().writer.load(SeqCst), std::process::id(), "but claimed");
        lock.places().readers[5].store(0, SeqCst);
        assert!(lock.try_take(true));
    }

    #[test]
    fn what_the_dead_held_is_free() {
        let lock = ProcessLock::new().expect("memory");
        lock.places().writer.store(DEAD, SeqCst);
        lock.places().readers[0].store(DEAD, SeqCst);
        assert!(lock.try_take(false));
        lock.release();
        assert!(lock.try_take(true));
    }
}
