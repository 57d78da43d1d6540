//! A coroutine's code runs: what a switch notes, for the hooks, which ask on which thread, and for the watchdog, which
//! asks for how long.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread::Thread;

use apus_zend::watch;

/// The slice of PHP code that runs, or 0.
static SLICE: AtomicU64 = AtomicU64::new(0);
/// The last slice's number.
static LAST: AtomicU64 = AtomicU64::new(0);
/// The thread that has the coroutines, or 0.
static THREAD: AtomicUsize = AtomicUsize::new(0);
/// The watchdog sleeps until a slice begins.
pub(crate) static PARKED: AtomicBool = AtomicBool::new(false);
/// The slice that the watchdog has reported, or 0.
pub(crate) static REPORTED: AtomicU64 = AtomicU64::new(0);

/// The watchdog's own thread.
pub(crate) static WATCHDOG: OnceLock<Thread> = OnceLock::new();

#[cold]
fn wake() {
    if let Some(thread) = WATCHDOG.get() {
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
        if PARKED.load(Ordering::Relaxed) {
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
