//! A mutex between processes that death opens.
//!
//! It is the C library's robust mutex: the kernel itself knows who holds it (the list of robust futexes of each
//! thread), marks it at the moment of the holder's death, whatever killed it, and wakes one who waits. No process id is
//! looked at, so none can be mistaken for another that came later.
//!
//! Who gets it after a death is told, and puts in order what it guards before anything else: the repair must be
//! possible to begin anew at any point, because the repairer may be killed, too.
//!
//! One wake-up in many thousand deaths is lost, though: a waiter that was woken dies before it takes the mutex, while a
//! third process has just taken it that knows of no waiters and so wakes nobody when it gives it back. The kernel makes
//! up for such a death only where the mutex is free at that moment. So nobody sleeps longer than [`LOOK_AGAIN`] without
//! looking himself.

use std::cell::UnsafeCell;
use std::io;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::Duration;

use crate::region::Shared;

/// How long a waiter sleeps at most before it looks whether the mutex is free after all.
const LOOK_AGAIN: Duration = Duration::from_millis(20);
/// How often who finds it held looks before sleeping, some microseconds: most holders are done by then, and sleeping
/// takes longer, for both.
const LOOKS: u32 = 64;

unsafe extern "C" {
    /// glibc 2.30. By the clock that nobody sets: a wait until a time of day could become one of hours.
    fn pthread_mutex_clocklock(
        mutex: *mut libc::pthread_mutex_t,
        clock: libc::clockid_t,
        until: *const libc::timespec,
    ) -> libc::c_int;
}

/// The mutex. [`init`](Self::init) before the first fork; held for microseconds and never across a wait or a call into
/// PHP.
#[derive(Debug)]
#[repr(C)]
pub struct RobustMutex(UnsafeCell<libc::pthread_mutex_t>);

// SAFETY: the C library's type for this very use; all-zero is its plain mutex, which is valid, though not robust before
// `init`.
unsafe impl Shared for RobustMutex {}
// SAFETY: a mutex is made to be used by many.
unsafe impl Sync for RobustMutex {}

impl RobustMutex {
    /// Makes it robust and shared. Call once, before any other process or thread can see it.
    pub fn init(&self) -> io::Result<()> {
        let check = |code: i32| if code == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(code)) };
        // SAFETY: attributes on this stack, initialised first and destroyed last; the mutex is memory of the right type
        // that nobody uses yet.
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
    /// When it was never initialised, a defect of this program. A thread that holds it already waits for ever.
    #[inline]
    pub fn lock(&self, repair: impl FnOnce()) -> Guard<'_> {
        // SAFETY: initialised by `init`; lives in a mapping that is there as long as self.
        let mut code = unsafe { libc::pthread_mutex_trylock(self.0.get()) };
        if code == libc::EBUSY {
            code = self.look();
        }
        while matches!(code, libc::EBUSY | libc::ETIMEDOUT) {
            code = self.wait();
        }
        self.held(code, repair)
    }

    /// Takes it as soon as it looks free, without a wait.
    #[cold]
    fn look(&self) -> libc::c_int {
        // SAFETY: the C library's mutex begins with the futex, which the kernel and the library change as a whole.
        let futex = unsafe { AtomicU32::from_ptr(self.0.get().cast()) };
        for _ in 0..LOOKS {
            std::hint::spin_loop();
            if futex.load(Relaxed) == 0 {
                // SAFETY: as in `lock`.
                let code = unsafe { libc::pthread_mutex_trylock(self.0.get()) };
                if code != libc::EBUSY {
                    return code;
                }
            }
        }
        libc::EBUSY
    }

    /// Waits for it, but not for long.
    #[cold]
    fn wait(&self) -> libc::c_int {
        let mut until = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: a timespec of this stack is filled; the clock is there on every Linux.
        unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut until) };
        until.tv_nsec += libc::c_long::from(LOOK_AGAIN.subsec_nanos());
        if until.tv_nsec >= 1_000_000_000 {
            until.tv_nsec -= 1_000_000_000;
            until.tv_sec += 1;
        }
        // SAFETY: as in `lock`; the time is a valid one.
        unsafe { pthread_mutex_clocklock(self.0.get(), libc::CLOCK_MONOTONIC, &raw const until) }
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
            #[expect(clippy::panic, reason = "a repair itself panicked before: nobody may use what is half repaired")]
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

    /// What a woken waiter's death does at the wrong moment: the mutex is free, others sleep, and nobody will wake
    /// them.
    #[test]
    fn a_lost_wake_up_is_made_up_for() {
        let region = Region::new(4096).unwrap();
        let (mutex, waits) = (region.at::<RobustMutex>(0), region.at::<AtomicU32>(1024));
        mutex.init().unwrap();
        let guard = mutex.lock(|| ());
        std::thread::scope(|scope| {
            let waiter = scope.spawn(|| {
                // SAFETY: asks for the number of this thread.
                waits.store(unsafe { libc::gettid() } as u32, Relaxed);
                drop(mutex.lock(|| ()));
            });
            let asleep = || {
                let path = format!("/proc/self/task/{}/syscall", waits.load(Relaxed));
                std::fs::read_to_string(path).is_ok_and(|call| call.starts_with(&format!("{} ", libc::SYS_futex)))
            };
            while !asleep() {
                std::thread::yield_now();
            }
            // The C library's mutex begins with the futex: 0 is free. Given back past it, nobody is woken.
            region.at::<AtomicU32>(0).store(0, Relaxed);
            waiter.join().unwrap();
        });
        std::mem::forget(guard);
    }
}
