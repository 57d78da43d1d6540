//! Descriptors as system calls and the event loop take them.

use std::future::poll_fn;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;

use apus_loop::Loop;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// A number that PHP code uses as a descriptor. Its owner may close it at any time: system calls then fail with EBADF,
/// or concern what has the number now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Number(pub RawFd);

impl AsFd for Number {
    fn as_fd(&self) -> BorrowedFd<'_> {
        let number = if self.0 < 0 { RawFd::MAX } else { self.0 };
        // SAFETY: it is not -1. No memory depends on what the descriptor is: the kernel looks at the number in each
        // call.
        unsafe { BorrowedFd::borrow_raw(number) }
    }
}

/// What owns a descriptor, which stays open, and the same, as long as this lives.
///
/// # Safety
/// Just that.
pub unsafe trait Kept: AsRawFd {}

// SAFETY: it closes its descriptor when it is dropped, and only then.
unsafe impl Kept for OwnedFd {}
// SAFETY: as what it points to.
unsafe impl<T: Kept> Kept for Rc<T> {}

/// Has this thread's event loop tell when a descriptor is ready.
pub fn watch<T: Kept>(fd: T, interest: Interest) -> io::Result<AsyncFd<T>> {
    // SAFETY: the owner keeps its descriptor as long as the `AsyncFd` keeps the owner.
    unsafe { AsyncFd::register_with_interest(fd, interest) }.map_err(Into::into)
}

/// Waits until one of `fds` is readable, or writable where that is said, at most for `limit`. `false`: they cannot be
/// watched.
pub async fn one_ready(fds: &[(BorrowedFd<'_>, bool)], limit: Option<Duration>) -> bool {
    let interest = |write| if write { Interest::READABLE | Interest::WRITABLE } else { Interest::READABLE };
    let watched: io::Result<Vec<_>> =
        fds.iter().map(|&(fd, write)| watch(fd.try_clone_to_owned()?, interest(write))).collect();
    let Ok(watched) = watched else { return false };
    let ready = poll_fn(|cx| {
        let mut any = false;
        for (fd, (_, write)) in watched.iter().zip(fds) {
            any |= fd.poll_read_ready(cx).is_ready() || *write && fd.poll_write_ready(cx).is_ready();
        }
        if any { Poll::Ready(()) } else { Poll::Pending }
    });
    match limit {
        Some(limit) => drop(tokio::time::timeout(limit, ready).await),
        None => ready.await,
    }
    true
}

/// Passes on what happens to descriptors, for as long as the thread's runtime lives.
pub(crate) async fn drive(events: Rc<Loop>) {
    if let Err(error) = events.driver().await {
        apus_process::log::error(format_args!("descriptors cannot be watched: {error}"));
    }
}
