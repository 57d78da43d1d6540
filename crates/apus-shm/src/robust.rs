//! A mutex between processes that death opens.
//!
//! It is the C library's robust mutex: the kernel itself knows who holds it (the list of robust futexes of each thread), marks it at the moment of the holder's
//! death, whatever killed it, and wakes one who waits. No process id is looked at, so none can be mistaken for another that came later.
//!
//! Who gets it after a death is told, and puts in order what it guards before anything else: the repair must be possible to begin anew at any point, because the
//! repairer may be killed, too.

use std::cell::UnsafeCell;
use std::io;
use std::marker::PhantomData;

use crate::region::Shared;

/// The mutex. [`init`](Self::init) before the first fork; held for microseconds and never across a wait or a call into PHP.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct RobustMutex(UnsafeCell<libc::pthread_mutex_t>);

// SAFETY: the C library's type for this very use; all-zero is its plain mutex, which is valid, though not robust before `init`.
unsafe impl Shared for RobustMutex {}
// SAFETY: a mutex is made to be used by many.
unsafe impl Sync for RobustMutex {}

impl RobustMutex {
    /// Makes it robust and shared. Call once, before any other process or thread can see it.
    pub fn init(&self) -> io::Result<()> {
        let check = |code: i32| if code == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(code)) };
        // SAFETY: attributes on this stack, initialised first and destroyed last; the mutex is memory of the right type that nobody uses yet.
        unsafe {
            let mut attributes: libc::pthread_mutexattr_t = std::mem::zeroed();
            check(libc::pthread_mutexattr_init(&raw mut attributes))?;
            check(libc::pthread_mutexattr_setpshared(&raw mut attributes, libc::PTHREAD_PROCESS_SHARED))?;
            check(libc::pthread_mutexattr_setrobust(&raw mut attributes, libc::PTHREAD_MUTEX_ROBUST))?;
            let made = libc::pthread_mutex_init(self.0.get(), &raw const attributes);
            libc::pthread_mutexattr_destroy(&raw mut attributes);
            check(made)
        }
    }

    /// Takes it, waiting for whoever holds it. When the last holder died with it, `repair` runs first.
    ///
    /// # Panics
    /// When this thread holds it already, or it was never initialised: defects of this program.
    #[inline]
    pub fn lock(&self, repair: impl FnOnce()) -> Guard<'_> {
        // SAFETY: initialised by `init`; lives in a mapping that is there as long as self.
        let code = unsafe { libc::pthread_mutex_lock(self.0.get()) };
        self.held(code, repair)
    }

    /// Takes it if nobody holds it.
    #[inline]
    pub fn try_lock(&self, repair: impl FnOnce()) -> Option<Guard<'_>> {
        // SAFETY: as in `lock`.
        match unsafe { libc::pthread_mutex_trylock(self.0.get()) } {
            libc::EBUSY => None,
            code => Some(self.held(code, repair)),
        }
    }

    #[inline]
    fn held(&self, code: i32, repair: impl FnOnce()) -> Guard<'_> {
        let guard = Guard { mutex: self, not_send: PhantomData };
        match code {
            0 => {}
            libc::EOWNERDEAD => {
                repair();
                // SAFETY: this thread holds it, told that its owner died.
                unsafe { libc::pthread_mutex_consistent(self.0.get()) };
            }
            code => {
                std::mem::forget(guard);
                panic!("a mutex of shared memory: {}", io::Error::from_raw_os_error(code));
            }
        }
        guard
    }
}

/// Who has this holds the mutex.
#[derive(Debug)]
#[must_use]
pub struct Guard<'a> {
    mutex: &'a RobustMutex,
    /// The thread that took it gives it back.
    not_send: PhantomData<*const ()>,
}

impl Drop for Guard<'_> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: this thread holds it.
        unsafe { libc::pthread_mutex_unlock(self.mutex.0.get()) };
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

    use super::*;
    use crate::region::Region;

    #[test]
    fn a_dead_holder_is_followed_by_a_repair() {
        let region = Region::new(4096).unwrap();
        let (mutex, held) = (region.at::<RobustMutex>(0), region.at::<AtomicU32>(1024));
        mutex.init().unwrap();
        // SAFETY: the child calls only what is safe after fork, and ends by _exit.
        let child = unsafe { libc::fork() };
        if child == 0 {
            std::mem::forget(mutex.lock(|| ()));
            held.store(1, Relaxed);
            // SAFETY: ends this process without running anything of the parent's.
            unsafe { libc::_exit(0) };
        }
        let mut status = 0;
        // SAFETY: the child just forked.
        unsafe { libc::waitpid(child, &raw mut status, 0) };
        assert_eq!(held.load(Relaxed), 1);
        let mut repaired = 0;
        drop(mutex.lock(|| repaired += 1));
        drop(mutex.lock(|| repaired += 1));
        assert_eq!(repaired, 1);
        let guard = mutex.lock(|| ());
        std::thread::scope(|scope| {
            scope.spawn(|| assert!(mutex.try_lock(|| ()).is_none()));
        });
        drop(guard);
        assert!(mutex.try_lock(|| ()).is_some());
    }
}
