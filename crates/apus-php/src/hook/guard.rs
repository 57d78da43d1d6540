//! One connection, one coroutine: the second one that comes gets an exception instead of the first one's data.

use std::ffi::c_int;
use std::os::fd::RawFd;

use apus_zend::{engine, hook};

use crate::exception::CONFLICT;
use crate::runtime::State;

/// Functions that several coroutines may be in with the same descriptor: what comes of it belongs to one of them only.
const SHARING: &[&str] =
    &["stream_select()", "stream_socket_accept()", "socket_select()", "socket_accept()", "curl_multi_select()"];

/// Before a wait of a hooked call. `Err`: another coroutine waits for the same; an exception is pending.
pub(super) fn waiting(state: &State, fds: &[(RawFd, u32)]) -> Result<(), c_int> {
    let me = state.engine.current_id();
    for &(fd, events) in fds {
        let Some(other) = state.reactor.waiting(fd, events) else { continue };
        let function = hook::running_function();
        if other == me || SHARING.contains(&function.as_str()) {
            continue;
        }
        let theirs = state
            .engine
            .find(other)
            .map_or_else(|| "another call".to_owned(), |task| task.data().fiber().running_function());
        let _ = engine::throw(
            CONFLICT.get(),
            0,
            &format!(
                "coroutine {me} calls {function} on a connection (descriptor {fd}) in which coroutine {other} waits in {theirs}: \
                 give each coroutine a connection of its own, best from a pool"
            ),
        );
        return Err(libc::EBUSY);
    }
    Ok(())
}
