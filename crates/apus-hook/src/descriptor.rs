//! What ends the life of a descriptor.

use std::ffi::c_int;
use std::os::fd::RawFd;

use apus_runtime::runtime::State;

use super::gate::{errno, set_errno};
use super::reactor::Reactor;

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
pub(super) unsafe extern "C" fn close(fd: c_int) -> c_int {
    closing(fd);
    // SAFETY: the caller's descriptor.
    unsafe { libc::close(fd) }
}

/// dup2(2), which closes `to`.
pub(super) unsafe extern "C" fn dup2(from: c_int, to: c_int) -> c_int {
    if from != to {
        closing(to);
    }
    // SAFETY: the caller's descriptors.
    unsafe { libc::dup2(from, to) }
}

/// dup3(2), which closes `to`.
pub(super) unsafe extern "C" fn dup3(from: c_int, to: c_int, flags: c_int) -> c_int {
    if from != to {
        closing(to);
    }
    // SAFETY: the caller's descriptors.
    unsafe { libc::dup3(from, to, flags) }
}
