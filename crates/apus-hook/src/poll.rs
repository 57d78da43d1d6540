//! Waiting for any number of descriptors: poll(2), select(2), `epoll_wait(2)` and their kin.

use std::ffi::c_int;
use std::os::fd::RawFd;
use std::time::Duration;

use apus_options::hooks;
use libc::{epoll_event, fd_set, nfds_t, pollfd, sigset_t, timespec, timeval};
use tokio::time::Instant;

use super::gate::{Gate, deadline, fail, flags, gate};
use super::timeout::{ANY_SOCKET, Kind, hooked, kind};

/// Descriptors of a call that need no memory of their own.
const FEW: usize = 8;

/// What poll(2) may stand for: sockets, pipes of child processes, a sleep.
const POLLING: i64 = ANY_SOCKET | hooks::PROC | hooks::STDIO | hooks::STREAM_FUNCTION;

/// Does `attempt`, which must not block and gives 0 for "none is ready", until it gives something else or the time is over. It is
/// told the events that the event loop has reported, if it has.
fn attempt_until(
    gate: &Gate,
    fds: &[(RawFd, u32)],
    limit: Option<Duration>,
    mut attempt: impl FnMut(u32) -> c_int,
) -> c_int {
    let mut ready = attempt(0);
    if ready != 0 || limit == Some(Duration::ZERO) {
        return ready;
    }
    let end = deadline(limit);
    loop {
        match gate.events(fds, end) {
            Ok(reported) => {
                ready = attempt(reported.unwrap_or(0));
                if ready != 0 || reported.is_none() {
                    return if ready < 0 { ready } else { gate.success(ready) };
                }
            }
            Err(errno) => return fail(errno),
        }
    }
}

fn kind_is_hooked(fd: RawFd) -> bool {
    match kind(fd) {
        Kind::Socket => hooked(fd),
        Kind::Pipe | Kind::Other => flags() & (hooks::PROC | hooks::STDIO) != 0,
        Kind::Regular | Kind::Bad => true,
    }
}

fn milliseconds(timeout: c_int) -> Option<Duration> {
    u64::try_from(timeout).ok().map(Duration::from_millis)
}

/// # Safety
/// `time` MUST be NULL or point to a record.
unsafe fn of_timespec(time: *const timespec) -> Option<Duration> {
    // SAFETY: by contract.
    unsafe { time.as_ref() }
        .map(|time| Duration::new(time.tv_sec.max(0) as u64, time.tv_nsec.clamp(0, 999_999_999) as u32))
}

/// The descriptors of a pollfd array, with what epoll calls their events: the low bits are the same.
fn watched(fds: &[pollfd], few: &mut [(RawFd, u32); FEW], many: &mut Vec<(RawFd, u32)>) -> usize {
    let asked = fds.iter().filter(|p| p.fd >= 0).map(|p| (p.fd, u32::from(p.events as u16) & !(libc::POLLNVAL as u32)));
    if fds.len() <= FEW {
        let mut count = 0;
        for (slot, one) in few.iter_mut().zip(asked) {
            *slot = one;
            count += 1;
        }
        return count;
    }
    many.extend(asked);
    many.len()
}

/// # Safety
/// `fds` MUST be the caller's array of `count` records.
unsafe fn poll_in_coroutine(gate: &Gate, fds: *mut pollfd, count: nfds_t, limit: Option<Duration>) -> c_int {
    // SAFETY: by contract; an empty array may be NULL.
    let slice = if count == 0 { &[] } else { unsafe { std::slice::from_raw_parts(fds, count as usize) } };
    let (mut few, mut many) = ([(0, 0); FEW], Vec::new());
    let len = watched(slice, &mut few, &mut many);
    let watched = if slice.len() <= FEW { &few[..len] } else { &many[..] };
    if flags() & POLLING != POLLING && !watched.iter().all(|&(fd, _)| kind_is_hooked(fd)) {
        let limit = limit.map_or(-1, |limit| c_int::try_from(limit.as_millis()).unwrap_or(c_int::MAX));
        // SAFETY: the caller's array.
        return unsafe { libc::poll(fds, count, limit) };
    }
    if let (1, [one]) = (count, watched) {
        // SAFETY: the caller's one record.
        return poll_one(gate, unsafe { &mut *fds }, *one, limit);
    }
    // SAFETY: the caller's array.
    attempt_until(gate, watched, limit, |_| unsafe { libc::poll(fds, count, 0) })
}

/// The usual case: what the event loop reports of the one descriptor is the answer.
fn poll_one(gate: &Gate, record: &mut pollfd, watched: (RawFd, u32), limit: Option<Duration>) -> c_int {
    let concerned = watched.1 | (libc::EPOLLERR | libc::EPOLLHUP) as u32;
    let until = deadline(limit);
    let ready = attempt_until(gate, &[watched], limit, |reported| {
        record.revents = (reported & concerned) as i16;
        // SAFETY: one record.
        if record.revents != 0 { 1 } else { unsafe { libc::poll(record, 1, 0) } }
    });
    if let (1, Some(until)) = (ready, until) {
        super::accept::announced(watched.0, until);
    }
    ready
}

/// poll(2).
pub(super) unsafe extern "C" fn poll(fds: *mut pollfd, count: nfds_t, timeout: c_int) -> c_int {
    let wanted = if count == 0 { hooks::SLEEP } else { POLLING };
    let Some(gate) = (timeout != 0).then(|| gate("poll()", wanted)).flatten() else {
        // SAFETY: the caller's arguments.
        return unsafe { libc::poll(fds, count, timeout) };
    };
    // SAFETY: the caller's array.
    unsafe { poll_in_coroutine(&gate, fds, count, milliseconds(timeout)) }
}

/// poll(2) as fortified sources call it; libc checks the array's size, which is told in bytes.
pub(super) unsafe extern "C" fn poll_chk(fds: *mut pollfd, count: nfds_t, timeout: c_int, size: usize) -> c_int {
    unsafe extern "C" {
        fn __poll_chk(fds: *mut pollfd, count: nfds_t, timeout: c_int, size: usize) -> c_int;
    }
    if size / size_of::<pollfd>() < count as usize || !super::gate::in_coroutine() {
        // SAFETY: the caller's arguments.
        return unsafe { __poll_chk(fds, count, timeout, size) };
    }
    // SAFETY: the caller's arguments.
    unsafe { poll(fds, count, timeout) }
}

/// ppoll(2). One with a signal mask goes to libc: the mask is for the time of the call alone.
pub(super) unsafe extern "C" fn ppoll(
    fds: *mut pollfd,
    count: nfds_t,
    timeout: *const timespec,
    mask: *const sigset_t,
) -> c_int {
    // SAFETY: the caller's record.
    let limit = unsafe { of_timespec(timeout) };
    let waits = limit != Some(Duration::ZERO) && mask.is_null();
    let Some(gate) = waits.then(|| gate("ppoll()", POLLING)).flatten() else {
        // SAFETY: the caller's arguments.
        return unsafe { libc::ppoll(fds, count, timeout, mask) };
    };
    // SAFETY: the caller's array.
    unsafe { poll_in_coroutine(&gate, fds, count, limit) }
}

/// ppoll(2) as fortified sources call it.
pub(super) unsafe extern "C" fn ppoll_chk(
    fds: *mut pollfd,
    count: nfds_t,
    timeout: *const timespec,
    mask: *const sigset_t,
    size: usize,
) -> c_int {
    unsafe extern "C" {
        fn __ppoll_chk(
            fds: *mut pollfd,
            count: nfds_t,
            timeout: *const timespec,
            mask: *const sigset_t,
            size: usize,
        ) -> c_int;
    }
    if size / size_of::<pollfd>() < count as usize || !super::gate::in_coroutine() {
        // SAFETY: the caller's arguments.
        return unsafe { __ppoll_chk(fds, count, timeout, mask, size) };
    }
    // SAFETY: the caller's arguments.
    unsafe { ppoll(fds, count, timeout, mask) }
}

/// The caller's three sets, which select(2) overwrites.
struct Sets {
    caller: [*mut fd_set; 3],
    asked: [fd_set; 3],
}

impl Sets {
    /// # Safety
    /// Each MUST be NULL or point to a set.
    unsafe fn of(caller: [*mut fd_set; 3]) -> Self {
        // SAFETY: an fd_set is plain data; by contract.
        let asked = caller.map(|set| unsafe { set.as_ref().map_or_else(|| std::mem::zeroed(), |set| *set) });
        Self { caller, asked }
    }

    fn watched(&self, count: c_int) -> Vec<(RawFd, u32)> {
        let events = [libc::EPOLLIN, libc::EPOLLOUT, libc::EPOLLPRI];
        let bits = |fd: RawFd| {
            // SAFETY: select() allows no descriptor of FD_SETSIZE or more, and `count` was bounded.
            let set = |set: &fd_set| unsafe { libc::FD_ISSET(fd, std::ptr::from_ref(set)) };
            self.asked.iter().zip(events).filter(|(asked, _)| set(asked)).fold(0, |all, (_, bit)| all | bit as u32)
        };
        (0..count.clamp(0, libc::FD_SETSIZE as c_int)).map(|fd| (fd, bits(fd))).filter(|&(_, bits)| bits != 0).collect()
    }

    /// Puts back what was asked, and asks again without waiting.
    fn attempt(&self, count: c_int) -> c_int {
        for (&to, asked) in self.caller.iter().zip(&self.asked) {
            if !to.is_null() {
                // SAFETY: the caller's set.
                unsafe { *to = *asked };
            }
        }
        let mut none = timeval { tv_sec: 0, tv_usec: 0 };
        let [read, write, except] = self.caller;
        // SAFETY: the caller's sets; the time is local.
        unsafe { libc::select(count, read, write, except, &raw mut none) }
    }
}

fn select_in_coroutine(gate: &Gate, count: c_int, sets: &Sets, limit: Option<Duration>) -> c_int {
    let watched = sets.watched(count);
    attempt_until(gate, &watched, limit, |_| sets.attempt(count))
}

/// select(2), which tells what is left of the time.
pub(super) unsafe extern "C" fn select(
    count: c_int,
    read: *mut fd_set,
    write: *mut fd_set,
    except: *mut fd_set,
    timeout: *mut timeval,
) -> c_int {
    // SAFETY: the caller's record.
    let limit = unsafe { timeout.as_ref() }.map(|t| (t.tv_sec, t.tv_usec));
    let valid = limit.is_none_or(|(seconds, micros)| seconds >= 0 && (0..1_000_000).contains(&micros));
    let limit =
        limit.map(|(seconds, micros)| Duration::new(seconds.max(0) as u64, micros.clamp(0, 999_999) as u32 * 1000));
    let waits = valid && limit != Some(Duration::ZERO) && count <= libc::FD_SETSIZE as c_int;
    let Some(gate) = waits.then(|| gate("select()", hooks::STREAM_FUNCTION)).flatten() else {
        // SAFETY: the caller's arguments.
        return unsafe { libc::select(count, read, write, except, timeout) };
    };
    let begun = Instant::now();
    // SAFETY: the caller's sets.
    let result = select_in_coroutine(&gate, count, &unsafe { Sets::of([read, write, except]) }, limit);
    if let Some(limit) = limit {
        let left = limit.saturating_sub(begun.elapsed());
        // SAFETY: there is a limit, so the caller gave its record.
        unsafe { *timeout = timeval { tv_sec: left.as_secs() as i64, tv_usec: i64::from(left.subsec_micros()) } };
    }
    result
}

/// pselect(2). One with a signal mask goes to libc.
pub(super) unsafe extern "C" fn pselect(
    count: c_int,
    read: *mut fd_set,
    write: *mut fd_set,
    except: *mut fd_set,
    timeout: *const timespec,
    mask: *const sigset_t,
) -> c_int {
    // SAFETY: the caller's record.
    let limit = unsafe { of_timespec(timeout) };
    let waits = mask.is_null() && limit != Some(Duration::ZERO) && count <= libc::FD_SETSIZE as c_int;
    let Some(gate) = waits.then(|| gate("pselect()", hooks::STREAM_FUNCTION)).flatten() else {
        // SAFETY: the caller's arguments.
        return unsafe { libc::pselect(count, read, write, except, timeout, mask) };
    };
    // SAFETY: the caller's sets.
    select_in_coroutine(&gate, count, &unsafe { Sets::of([read, write, except]) }, limit)
}

/// `epoll_wait(2)`: an epoll instance is a descriptor that can be waited for.
pub(super) unsafe extern "C" fn epoll_wait(
    epoll: c_int,
    events: *mut epoll_event,
    room: c_int,
    timeout: c_int,
) -> c_int {
    let Some(gate) = (timeout != 0).then(|| gate("epoll_wait()", POLLING)).flatten() else {
        // SAFETY: the caller's arguments.
        return unsafe { libc::epoll_wait(epoll, events, room, timeout) };
    };
    let watched = [(epoll, libc::EPOLLIN as u32)];
    // SAFETY: the caller's array.
    attempt_until(&gate, &watched, milliseconds(timeout), |_| unsafe { libc::epoll_wait(epoll, events, room, 0) })
}

/// `epoll_pwait(2)`. One with a signal mask goes to libc.
pub(super) unsafe extern "C" fn epoll_pwait(
    epoll: c_int,
    events: *mut epoll_event,
    room: c_int,
    timeout: c_int,
    mask: *const sigset_t,
) -> c_int {
    if mask.is_null() {
        // SAFETY: the caller's arguments.
        return unsafe { epoll_wait(epoll, events, room, timeout) };
    }
    // SAFETY: the caller's arguments.
    unsafe { libc::epoll_pwait(epoll, events, room, timeout, mask) }
}
