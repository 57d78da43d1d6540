//! A coroutine's code runs: what a switch notes, for the hooks, which ask on which thread, and for the watchdog, which
//! asks for how long, and who ends turns that take too long.

use std::sync::atomic::{AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, Thread};
use std::time::Duration;

use apus_zend::watch;

/// The slice of PHP code that runs, or 0.
static SLICE: AtomicU64 = AtomicU64::new(0);
/// The last slice's number.
static LAST: AtomicU64 = AtomicU64::new(0);
/// The thread that has the coroutines, or 0.
static THREAD: AtomicUsize = AtomicUsize::new(0);
/// Those of [`Watcher`] that sleep until a slice begins, a bit each.
static PARKED: AtomicU8 = AtomicU8::new(0);
/// The slice that the watchdog has reported, or 0.
pub(crate) static REPORTED: AtomicU64 = AtomicU64::new(0);

/// Threads that look at the slice that runs.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Watcher {
    /// Who tells of slices that block the loop.
    Watchdog = 0,
    /// Who ends slices so that others have their turn.
    Turns = 1,
}

/// The threads, by [`Watcher`].
static WATCHERS: Mutex<[Option<Thread>; 2]> = Mutex::new([None, None]);

impl Watcher {
    /// Its thread is this one from now on.
    pub(crate) fn is(self, thread: Thread) {
        WATCHERS.lock().unwrap_or_else(PoisonError::into_inner)[self as usize] = Some(thread);
    }

    /// The calling thread, which is the watcher's, sleeps until a slice begins, and so long at most: one that began
    /// just before does not wake it.
    pub(crate) fn sleep(self, most: Duration) {
        let bit = 1 << self as u8;
        PARKED.fetch_or(bit, Ordering::Relaxed);
        thread::park_timeout(most);
        PARKED.fetch_and(!bit, Ordering::Relaxed);
    }
}

#[cold]
fn wake() {
    for thread in WATCHERS.lock().unwrap_or_else(PoisonError::into_inner).iter().flatten() {
        thread.unpark();
    }
}

fn this_thread() -> usize {
    // SAFETY: has no preconditions.
    unsafe { libc::pthread_self() as usize }
}

/// This thread has the coroutines.
pub(crate) fn here() {
    THREAD.store(this_thread(), Ordering::Relaxed);
}

/// The slice that runs, or 0.
pub(crate) fn slice() -> u64 {
    SLICE.load(Ordering::Relaxed)
}

/// Whether a coroutine runs on this very thread. Outside coroutines that one comparison is all that a hook costs.
#[inline]
pub fn in_coroutine() -> bool {
    slice() != 0 && THREAD.load(Ordering::Relaxed) == this_thread()
}

/// One stay of the loop in PHP code; ends when dropped. It holds the slice's number, or 0: a stay inside another one
/// belongs to that.
pub(crate) struct Running(u64);

impl Running {
    #[inline]
    pub(crate) fn begin() -> Self {
        if slice() != 0 {
            return Self(0);
        }
        // One thread writes; the watchdog only compares.
        let number = LAST.load(Ordering::Relaxed) + 1;
        LAST.store(number, Ordering::Relaxed);
        SLICE.store(number, Ordering::Relaxed);
        if PARKED.load(Ordering::Relaxed) != 0 {
            wake();
        }
        Self(number)
    }
}

impl Drop for Running {
    #[inline]
    fn drop(&mut self) {
        if self.0 == 0 {
            return;
        }
        SLICE.store(0, Ordering::Relaxed);
        if REPORTED.load(Ordering::Relaxed) == self.0 {
            watch::cancel();
        }
    }
}
