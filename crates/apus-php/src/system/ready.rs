//! Waiting until a descriptor can be read or written.

use std::ffi::c_int;
use std::os::fd::{AsFd, RawFd};

use apus_coro::TaskId;
use apus_zend::arg::{Any, Given, Want};
use apus_zend::value::View;
use apus_zend::{Raise, Value, descriptor, stream};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::failure::{Noted, waited};
use crate::descriptor::Number;
use crate::hook::Reactor;
use crate::runtime::State;
use crate::wait::Timeout;

/// `Apus\EVENT_READ`.
pub(super) const READ: i64 = 512;
/// `Apus\EVENT_WRITE`.
pub(super) const WRITE: i64 = 1024;

/// The bits of `poll(2)` for events of the API.
fn wanted(events: i64) -> PollFlags {
    let mut flags = PollFlags::empty();
    flags.set(PollFlags::IN, events & READ != 0);
    flags.set(PollFlags::OUT, events & WRITE != 0);
    flags
}

/// Which of `events` a descriptor is ready for now. One that is broken or at its end is ready for all of them: using it
/// tells.
pub(super) fn now(fd: RawFd, events: i64) -> Result<i64, c_int> {
    let happened = match look(Number(fd), wanted(events)) {
        Ok(happened) => happened,
        Err(Errno::INTR) => return Ok(0),
        Err(error) => return Err(error.raw_os_error()),
    };
    if happened.contains(PollFlags::NVAL) {
        return Err(libc::EBADF);
    }
    if happened.intersects(PollFlags::ERR | PollFlags::HUP) {
        return Ok(events);
    }
    let read = if happened.contains(PollFlags::IN) { READ } else { 0 };
    let write = if happened.contains(PollFlags::OUT) { WRITE } else { 0 };
    Ok(events & (read | write))
}

/// What of it has happened to a descriptor; does not wait.
pub(crate) fn look(fd: impl AsFd, wanted: PollFlags) -> Result<PollFlags, Errno> {
    let mut asked = [PollFd::new(&fd, wanted)];
    poll(&mut asked, Some(&Timespec { tv_sec: 0, tv_nsec: 0 }))?;
    Ok(asked[0].revents())
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

/// Whether a value's descriptor is still that one: a stream or socket that was closed may have left its number to
/// another file.
pub(super) fn is_still(value: &Value, fd: RawFd) -> bool {
    match value.view() {
        View::Other => stream::kind(value).is_some(),
        View::Object(_) => descriptor::of(value) == Ok(Some(fd)),
        _ => true,
    }
}

/// An argument that says which events are meant: some of those there are.
pub(crate) struct Wanted(pub(super) i64);

impl Want<i64> for Wanted {
    fn want(given: Given<i64>) -> Result<Self, Raise> {
        let good = |bits: &i64| *bits != 0 && bits & !(READ | WRITE) == 0;
        given.number_where(good, "Apus\\EVENT_READ, Apus\\EVENT_WRITE or both").map(Self)
    }
}

/// An argument with a descriptor.
pub(crate) struct Descriptor {
    pub(super) value: Value,
    /// `None`: it has been closed.
    pub(super) fd: Option<RawFd>,
}

impl Want<Any<'_>> for Descriptor {
    fn want(given: Given<Any<'_>>) -> Result<Self, Raise> {
        let argument = given.value;
        let value = argument.value();
        let fd = descriptor::of(&value)?;
        match value.view() {
            View::Object(_) | View::Other => {}
            _ if fd.is_some() => {}
            View::Int(fd) => {
                return Err(argument.value_error(&format!("must be a descriptor of 0 or more, {fd} given")));
            }
            _ => return Err(argument.type_error("a stream, a Socket or a descriptor (int)")),
        }
        Ok(Self { value, fd })
    }
}

/// `System::waitEvent()`.
pub(crate) fn wait_event(
    Descriptor { value, fd }: Descriptor,
    Wanted(events): Wanted,
    timeout: Timeout,
) -> Result<Noted<i64>, Raise> {
    let Some(fd) = fd else { return Ok(Noted(Err(libc::EBADF))) };
    // PHP has read ahead: nothing of it is left for the kernel to report.
    let ahead = events & READ != 0 && descriptor::buffered(&value) > 0;
    let state = State::get()?;
    let cid = state.engine.current_id();
    let job = async move { if ahead { now(fd, events).map(|more| more | READ) } else { ready(cid, fd, events).await } };
    let result = waited(&state, "Coroutine\\System::waitEvent()", timeout.limit(), job)?;
    Ok(Noted(if is_still(&value, fd) { result } else { Err(libc::EBADF) }))
}
