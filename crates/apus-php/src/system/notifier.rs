//! What a handler of signals tells its process through: a bit for each signal that came, and an eventfd.
//!
//! The eventfd stays open as long as the process, so that a handler that runs late on another thread never writes to
//! somebody else's descriptor. A forked child makes its own: the process id that is kept beside the number says whose
//! it is.

use std::ffi::c_int;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, IntoRawFd, OwnedFd, RawFd};
use std::sync::atomic::{
    AtomicI32, AtomicU64,
    Ordering::{AcqRel, Acquire, Release},
};

use rustix::event::{EventfdFlags, eventfd};
use rustix::process::getpid;

use crate::descriptor::{Kept, Number};

/// See the module. Every method but `open` is async-signal-safe.
pub(crate) struct Notifier {
    /// Bit n (mod 64): signal n came and was not taken.
    came: AtomicU64,
    event: AtomicI32,
    owner: AtomicI32,
}

/// The eventfd of this process.
#[derive(Clone, Copy)]
pub(crate) struct Event(Number);

impl Event {
    /// Makes it unreadable until the next signal.
    pub(crate) fn silence(self) {
        let _ = rustix::io::read(self, &mut [0; size_of::<u64>()]);
    }
}

impl AsFd for Event {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl AsRawFd for Event {
    fn as_raw_fd(&self) -> RawFd {
        self.0.0
    }
}

// SAFETY: the eventfd stays open as long as the process.
unsafe impl Kept for Event {}

/// The bit of a signal.
pub(crate) fn bit(signal: c_int) -> u64 {
    1 << (signal % 64)
}

impl Notifier {
    pub(crate) const fn new() -> Self {
        Self { came: AtomicU64::new(0), event: AtomicI32::new(-1), owner: AtomicI32::new(0) }
    }

    /// Whether this process has made an eventfd.
    pub(crate) fn is_own(&self) -> bool {
        self.owner.load(Acquire) == getpid().as_raw_pid()
    }

    /// Notes a signal.
    pub(crate) fn note(&self, signal: c_int) {
        self.came.fetch_or(bit(signal), AcqRel);
    }

    /// Makes this process's eventfd readable.
    pub(crate) fn notify(&self) {
        if self.is_own() {
            let _ = rustix::io::write(Number(self.event.load(Acquire)), &1_u64.to_ne_bytes());
        }
    }

    /// The bits of the signals that came.
    pub(crate) fn came(&self) -> u64 {
        self.came.load(Acquire)
    }

    /// Forgets signals.
    pub(crate) fn clear(&self, bits: u64) {
        self.came.fetch_and(!bits, AcqRel);
    }

    /// The eventfd of this process, made when there is none.
    pub(crate) fn open(&self) -> Result<Event, c_int> {
        if !self.is_own() {
            let fd =
                eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).map_err(rustix::io::Errno::raw_os_error)?;
            self.close_inherited();
            self.event.store(fd.into_raw_fd(), Release);
            self.owner.store(getpid().as_raw_pid(), Release);
        }
        Ok(Event(Number(self.event.load(Acquire))))
    }

    /// A forked child has its own reference to the parent's eventfd, which nobody uses. `true`: there was one.
    pub(crate) fn close_inherited(&self) -> bool {
        let inherited = !self.is_own() && self.owner.swap(0, AcqRel) != 0;
        if inherited {
            // SAFETY: ours alone in this process, and forgotten by the line above.
            drop(unsafe { OwnedFd::from_raw_fd(self.event.swap(-1, AcqRel)) });
        }
        inherited
    }
}
