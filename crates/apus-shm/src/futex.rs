//! Sleeping on a word of shared memory.

use std::io;
use std::ptr;
use std::sync::atomic::AtomicU32;
use std::time::{Duration, Instant};

use crate::clock;
use crate::notifier::Heard;

/// As good as no limit, and a number that every kernel takes.
const ENDLESS: Duration = Duration::from_secs(365 * 24 * 3600);

/// Sleeps until somebody wakes the word, unless it holds something else than `expected` already. Woken for no reason
/// now and then.
pub(crate) fn wait(word: &AtomicU32, expected: u32, until: Option<Instant>) -> Heard {
    wait_bits(word, expected, u32::MAX, until)
}

/// As [`wait`], until somebody wakes one of `bits`.
pub(crate) fn wait_bits(word: &AtomicU32, expected: u32, bits: u32, until: Option<Instant>) -> Heard {
    // A wait without an end would be begun again by the kernel after a signal whose handler says so (SA_RESTART), and
    // nobody would learn of it here.
    let left = until.map_or(ENDLESS, |until| until.saturating_duration_since(Instant::now()).min(ENDLESS));
    // The limit is a time of the monotonic clock.
    let end = Duration::from_nanos(clock::now()).saturating_add(left);
    let limit = libc::timespec { tv_sec: end.as_secs() as libc::time_t, tv_nsec: end.subsec_nanos().into() };
    let (word, no_word, limit) = (word.as_ptr(), ptr::null::<u32>(), &raw const limit);
    let operation = libc::FUTEX_WAIT_BITSET;
    // SAFETY: the word is alive during the call, and so is the limit on this stack; the kernel does not look at a
    // second word here. The first is in memory of several processes, so not FUTEX_PRIVATE.
    let done = unsafe { libc::syscall(libc::SYS_futex, word, operation, expected, limit, no_word, bits) };
    heard(done)
}

fn heard(done: libc::c_long) -> Heard {
    match if done == 0 { 0 } else { io::Error::last_os_error().raw_os_error().unwrap_or(0) } {
        libc::ETIMEDOUT => Heard::Nothing,
        libc::EINTR => Heard::Signal,
        _ => Heard::Something,
    }
}

/// Wakes all who sleep on the word for one of `bits`.
pub(crate) fn wake_bits(word: &AtomicU32, bits: u32) {
    wake_some(word, i32::MAX, bits);
}

/// Wakes all who sleep on the word.
pub(crate) fn wake_all(word: &AtomicU32) {
    wake(word, i32::MAX);
}

/// Wakes some of those who sleep on the word.
pub(crate) fn wake(word: &AtomicU32, most: i32) {
    wake_some(word, most, u32::MAX);
}

fn wake_some(word: &AtomicU32, most: i32, bits: u32) {
    let (no_limit, no_word) = (ptr::null::<libc::timespec>(), ptr::null::<u32>());
    let operation = libc::FUTEX_WAKE_BITSET;
    // SAFETY: the kernel takes the address as a name and does not look behind it.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), operation, most, no_limit, no_word, bits) };
}
