//! Waiting until a descriptor can be read or written.

use std::ffi::{c_int, c_short};
use std::os::fd::RawFd;

use apus_coro::TaskId;
use apus_zend::value::View;
use apus_zend::{Call, Raise, Value, descriptor, stream};

use super::failure::{errno, give, waited};
use crate::hook::Reactor;
use crate::runtime::State;
use crate::wait::time_limit;

/// `Apus\EVENT_READ`.
pub(super) const READ: i64 = 512;
/// `Apus\EVENT_WRITE`.
pub(super) const WRITE: i64 = 1024;

/// The bits of `poll(2)` for events of the API.
fn wanted(events: i64) -> c_short {
    (if events & READ != 0 { libc::POLLIN } else { 0 }) | (if events & WRITE != 0 { libc::POLLOUT } else { 0 })
}

/// Which of `events` a descriptor is ready for now. One that is broken or at its end is ready for all of them: using it tells.
pub(super) fn now(fd: RawFd, events: i64) -> Result<i64, c_int> {
    let mut asked = libc::pollfd { fd, events: wanted(events), revents: 0 };
    // SAFETY: one entry, alive during the call, which does not wait.
    if unsafe { libc::poll(&raw mut asked, 1, 0) } < 0 {
        return if errno() == libc::EINTR { Ok(0) } else { Err(errno()) };
    }
    if asked.revents & libc::POLLNVAL != 0 {
        return Err(libc::EBADF);
    }
    if asked.revents & (libc::POLLERR | libc::POLLHUP) != 0 {
        return Ok(events);
    }
    let read = if asked.revents & libc::POLLIN != 0 { READ } else { 0 };
    let write = if asked.revents & libc::POLLOUT != 0 { WRITE } else { 0 };
    Ok(events & (read | write))
}

/// Waits, for coroutine `cid`, until a descriptor is ready for some of `events`, which it gives back.
pub(super) async fn ready(cid: TaskId, fd: RawFd, events: i64) -> Result<i64, c_int> {
    let state = State::existing().ok_or(libc::ECANCELED)?;
    let reactor = state.room::<Reactor>();
    drop(state);
    let waited_for = [(fd, epoll_bits(events))];
    loop {
        let happened = now(fd, events)?;
        if happened != 0 {
            return Ok(happened);
        }
        // Whatever woke us, the descriptor itself is asked again.
        let _ = reactor.ready(cid, &waited_for).await;
    }
}

/// The bits of `epoll(7)` for events of the API.
pub(super) fn epoll_bits(events: i64) -> u32 {
    let read = if events & READ != 0 { libc::EPOLLIN } else { 0 };
    let write = if events & WRITE != 0 { libc::EPOLLOUT } else { 0 };
    (read | write) as u32
}

/// Whether a value's descriptor is still that one: a stream or socket that was closed may have left its number to another file.
pub(super) fn is_still(value: &Value, fd: RawFd) -> bool {
    match value.view() {
        View::Other => stream::kind(value).is_some(),
        View::Object(_) => descriptor::of(value) == Ok(Some(fd)),
        _ => true,
    }
}

/// The events in an argument.
pub(super) fn events(call: &Call, index: usize, default: i64) -> Result<i64, Raise> {
    let given = call.int(index, default)?;
    if given != 0 && given & !(READ | WRITE) == 0 {
        return Ok(given);
    }
    Err(call.value_error(index, &format!("must be Apus\\EVENT_READ, Apus\\EVENT_WRITE or both, {given} given")))
}

/// The descriptor in an argument; `None`: it has been closed.
pub(super) fn descriptor_of(call: &Call, index: usize) -> Result<Option<RawFd>, Raise> {
    let value = call.value(index);
    if let Some(fd) = descriptor::of(&value)? {
        return Ok(Some(fd));
    }
    match value.view() {
        View::Int(fd) => Err(call.value_error(index, &format!("must be a descriptor of 0 or more, {fd} given"))),
        View::Object(_) | View::Other => Ok(None),
        _ => Err(call.type_error(index, "a stream, a Socket or a descriptor (int)")),
    }
}

/// `System::waitEvent()`.
pub(super) fn wait_event(call: &Call) -> Result<(), Raise> {
    let value = call.value(0);
    let fd = descriptor_of(call, 0)?;
    let events = events(call, 1, READ)?;
    let limit = time_limit(call, 2, -1.0)?;
    let Some(fd) = fd else { return give(call, Err::<i64, _>(libc::EBADF)) };
    // PHP has read ahead: nothing of it is left for the kernel to report.
    let ahead = events & READ != 0 && descriptor::buffered(&value) > 0;
    let state = State::get()?;
    let cid = state.engine.current_id();
    let job = async move { if ahead { now(fd, events).map(|more| more | READ) } else { ready(cid, fd, events).await } };
    let result = waited(&state, "Coroutine\\System::waitEvent()", limit, job)?;
    give(call, if is_still(&value, fd) { result } else { Err(libc::EBADF) })
}
