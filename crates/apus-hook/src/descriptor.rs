//! What ends the life of a descriptor.

use std::ffi::c_int;
use std::os::fd::RawFd;

use apus_runtime::runtime::State;

use super::reactor::Reactor;
use super::sys::{self, errno, set_errno};

/// Whoever waits for it learns that it is gone, before its number can mean another file.
fn closing(fd: RawFd) {
    let kept = errno();
    // Other threads have no state; what they close, nobody waits for.
    if let Some(state) = State::try_existing() {
        state.room::<Reactor>().closing(fd);
    }
    set_errno(kept);
}

/// close(2).
pub(super) extern "C" fn close(fd: c_int) -> c_int {
    closing(fd);
    sys::close(fd)
}

/// dup2(2), which closes `to`.
pub(super) extern "C" fn dup2(from: c_int, to: c_int) -> c_int {
    if from != to {
        closing(to);
    }
    sys::dup2(from, to)
}

/// dup3(2), which closes `to`.
pub(super) extern "C" fn dup3(from: c_int, to: c_int, flags: c_int) -> c_int {
    if from != to {
        closing(to);
    }
    sys::dup3(from, to, flags)
}
