//! How the runtime learns of the epoll instance: the only file of this crate with `unsafe`.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::rc::Rc;

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// The epoll instance, shared with who registers descriptors there.
pub(crate) struct Instance(pub(crate) Rc<OwnedFd>);

impl AsRawFd for Instance {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

/// Has this thread's runtime tell when the instance has events.
pub(crate) fn watch(instance: Instance) -> io::Result<AsyncFd<Instance>> {
    // SAFETY: the descriptor is open, and the same, as long as its owner lives, which the `AsyncFd` keeps.
    unsafe { AsyncFd::register_with_interest(instance, Interest::READABLE) }.map_err(Into::into)
}
