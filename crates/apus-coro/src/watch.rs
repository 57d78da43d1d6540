//! A clock that is cheap enough to be read at every switch.

use std::time::Duration;

/// Time since boot at the resolution of the kernel's tick (1 to 10 ms): a few nanoseconds to read.
pub fn coarse_now() -> Duration {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: fills the local struct; this clock exists on every Linux.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC_COARSE, &raw mut now) };
    Duration::new(now.tv_sec.unsigned_abs(), now.tv_nsec as u32)
}
