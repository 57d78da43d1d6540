//! A clock that is cheap enough to be read for every coroutine.

use std::time::Duration;

/// A moment, at the resolution of the kernel's tick (1 to 10 ms).
#[derive(Clone, Copy)]
pub struct Coarse(Duration);

impl Coarse {
    /// Now; a few nanoseconds to read.
    #[inline]
    pub fn now() -> Self {
        let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: fills the local struct; this clock exists on every Linux.
        unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC_COARSE, &raw mut now) };
        Self(Duration::new(now.tv_sec.unsigned_abs(), now.tv_nsec as u32))
    }

    /// Time since then.
    #[inline]
    pub fn elapsed(self) -> Duration {
        Self::now().0.saturating_sub(self.0)
    }
}
