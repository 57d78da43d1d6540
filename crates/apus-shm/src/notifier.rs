//! What processes wait for in shared memory: a notifier, that is an eventfd which all of them inherit and a word that
//! says whether anybody is interested.
//!
//! # Why no notification is lost, whichever process is killed at whatever instruction
//!
//! Both sides hold the mutex of what they wait at. A process that finds nothing stores its interest
//! ([`Notifier::register`]) before it releases the mutex. A process that changes something notifies first
//! ([`Notifier::notify`]), publishes the change then, and releases the mutex. So for every process that sleeps: since
//! its interest was stored either nobody has notified, then the interest stands and nothing has come that it waits for;
//! or somebody has, and then it is awake or being woken, for a notification reaches *all* that listen. A process that
//! is woken takes the mutex, looks again, and registers its interest anew. One that is killed after it was woken
//! therefore takes nothing with it.
//!
//! Killed while it notifies: before the write, the interest stands and the change is not made; after the write, the
//! interest stands and the next one notifies once more in vain; after the interest is cleared and before the change,
//! all listeners are on their way to the mutex, where they register anew. No order of these needs a repair.
//!
//! The descriptor is never read. Each write is an event of its own to an epoll instance that watches it edge-triggered
//! (`EPOLLET`), as the runtime's reactor and [`Watch`] do; a counter of 64 bits does not overflow. Were it read to make
//! it "not ready" again, a process that reads it for an interest of its own could take the notification from another
//! one that has not got to its `epoll_wait` yet. While nobody listens, nothing here makes a system call.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// A notifier; the interest is a word in shared memory that belongs to it.
#[derive(Debug)]
pub(crate) struct Notifier(OwnedFd);

impl Notifier {
    pub(crate) fn new() -> io::Result<Self> {
        // SAFETY: makes a descriptor, which is owned from here on.
        let fd = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: just made, and nobody else's.
        Ok(Self(unsafe { OwnedFd::from_raw_fd(fd) }))
    }

    /// To be watched edge-triggered, and never read.
    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }

    /// Stores that somebody will listen until there are `least` of what it waits for. Under the mutex.
    pub(crate) fn register(interest: &AtomicU64, least: u64) {
        let registered = interest.load(Relaxed);
        if registered == 0 || least < registered {
            interest.store(least.max(1), Relaxed);
        }
    }

    /// Notifies if somebody listens for what there will be. Under the mutex, before the change is published.
    #[inline]
    pub(crate) fn notify(&self, interest: &AtomicU64, there: u64) {
        let registered = interest.load(Relaxed);
        if registered != 0 && there >= registered {
            self.notify_now();
            interest.store(0, Relaxed);
        }
    }

    /// Notifies, whoever listens.
    #[cold]
    pub(crate) fn notify_now(&self) {
        let one = 1u64.to_ne_bytes();
        // SAFETY: eight bytes of this stack. It cannot fail: the descriptor is an eventfd of ours, far from its
        // greatest value.
        unsafe { libc::write(self.0.as_raw_fd(), one.as_ptr().cast(), one.len()) };
    }
}

/// How a wait ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Heard {
    /// The notifier was used, or the other descriptor became readable: look again.
    Something,
    /// The time was over.
    Nothing,
    /// A signal came.
    Signal,
}

/// Blocks its thread until it is notified: for code that runs outside an event loop. Belongs to the process that made
/// it.
#[derive(Debug)]
pub struct Watch(OwnedFd);

impl Watch {
    /// Listens to a notifier, which is also heard if it was used before.
    pub fn new(notifier: BorrowedFd<'_>) -> io::Result<Self> {
        // SAFETY: makes a descriptor, which is owned from here on.
        let fd = unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: just made, and nobody else's.
        let watch = Self(unsafe { OwnedFd::from_raw_fd(fd) });
        watch.control(libc::EPOLL_CTL_ADD, notifier, libc::EPOLLIN | libc::EPOLLET)?;
        Ok(watch)
    }

    fn control(&self, operation: i32, fd: BorrowedFd<'_>, events: i32) -> io::Result<()> {
        let mut event = libc::epoll_event { events: events as u32, u64: 0 };
        // SAFETY: both descriptors are open, the event is on this stack.
        let done = unsafe { libc::epoll_ctl(self.0.as_raw_fd(), operation, fd.as_raw_fd(), &raw mut event) };
        if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }

    /// Waits for a notification that this has not reported yet, or for `other` to be readable.
    pub fn wait(&self, other: Option<BorrowedFd<'_>>, until: Option<Instant>) -> io::Result<Heard> {
        if let Some(other) = other {
            self.control(libc::EPOLL_CTL_ADD, other, libc::EPOLLIN)?;
        }
        let heard = self.sleep(until);
        if let Some(other) = other {
            self.control(libc::EPOLL_CTL_DEL, other, 0)?;
        }
        heard
    }

    fn sleep(&self, until: Option<Instant>) -> io::Result<Heard> {
        let left = until.map(|until| until.saturating_duration_since(Instant::now()));
        // In milliseconds, rounded up, so that nobody wakes before the time and asks again at once.
        let round = |left: Duration| i32::try_from(left.as_nanos().div_ceil(1_000_000)).unwrap_or(i32::MAX);
        let mut event = libc::epoll_event { events: 0, u64: 0 };
        // SAFETY: room for one event on this stack.
        let ready = unsafe { libc::epoll_wait(self.0.as_raw_fd(), &raw mut event, 1, left.map_or(-1, round)) };
        match ready {
            0 => Ok(Heard::Nothing),
            1.. => Ok(Heard::Something),
            _ => match io::Error::last_os_error() {
                error if error.kind() == io::ErrorKind::Interrupted => Ok(Heard::Signal),
                error => Err(error),
            },
        }
    }
}
