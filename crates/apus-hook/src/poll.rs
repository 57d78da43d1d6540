//! Waiting for any number of descriptors: poll(2), select(2), `epoll_wait(2)` and their kin.

use std::ffi::c_int;
use std::os::fd::RawFd;
use std::time::Duration;

use apus_options::hooks;
use libc::{epoll_event, fd_set, nfds_t, pollfd, sigset_t, timespec, timeval};
use tokio::time::Instant;

use super::args::{Place, array, zeroed};
use super::gate::{Gate, Limit, fail, flags, gate};
use super::reactor::Reactor;
use super::standing;
use super::sys::{self, check};
use super::timeout::{ANY_SOCKET, Kind, hooked, is_stream, kind};

/// Descriptors of a call that need no memory of their own.
const FEW: usize = 8;

/// What poll(2) may stand for: sockets, pipes of child processes, a sleep.
const POLLING: i64 = ANY_SOCKET | hooks::PROC | hooks::STDIO | hooks::STREAM_FUNCTION;

/// Does `attempt`, which must not block and gives 0 for "none is ready", until it gives something else or the time is
/// over. It is told the events that the event loop has reported, if it has.
fn attempt_until(
    gate: &Gate,
    fds: &[(RawFd, u32)],
    limit: Option<Duration>,
    mut attempt: impl FnMut(u32) -> c_int,
) -> c_int {
    let ready = attempt(0);
    if limit == Some(Duration::ZERO) { ready } else { attempt_from(gate, fds, Limit::after(limit), ready, attempt) }
}

/// The same after an attempt that gave `ready`.
fn attempt_from(
    gate: &Gate,
    fds: &[(RawFd, u32)],
    limit: Limit,
    mut ready: c_int,
    mut attempt: impl FnMut(u32) -> c_int,
) -> c_int {
    if ready != 0 {
        return ready;
    }
    loop {
        match gate.events(fds, limit) {
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

/// Whether all of them are hooked. By what is neither socket nor pipe a library wakes itself, as libcurl does by an
/// eventfd: beside hooked sockets it does not count.
fn all_hooked(watched: &[(RawFd, u32)]) -> bool {
    let beside_sockets = watched.iter().any(|&(fd, _)| matches!(kind(fd), Kind::Socket) && hooked(fd));
    watched.iter().all(|&(fd, _)| kind_is_hooked(fd) || beside_sockets && matches!(kind(fd), Kind::Other))
}

fn milliseconds(timeout: c_int) -> Option<Duration> {
    u64::try_from(timeout).ok().map(Duration::from_millis)
}

fn of_timespec(time: Place<'_, timespec>) -> Option<Duration> {
    time.get().map(|time| Duration::new(time.tv_sec.max(0) as u64, time.tv_nsec.clamp(0, 999_999_999) as u32))
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

fn poll_in_coroutine(gate: &Gate, fds: &mut [pollfd], limit: Option<Duration>) -> c_int {
    let (mut few, mut many) = ([(0, 0); FEW], Vec::new());
    let len = watched(fds, &mut few, &mut many);
    let watched = if fds.len() <= FEW { &few[..len] } else { &many[..] };
    if flags() & POLLING != POLLING && !all_hooked(watched) {
        return sys::poll(fds, limit.map_or(-1, |limit| c_int::try_from(limit.as_millis()).unwrap_or(c_int::MAX)));
    }
    match (&mut *fds, watched) {
        ([record], [one]) => poll_one(gate, record, *one, limit),
        _ => attempt_until(gate, watched, limit, |_| sys::poll(fds, 0)),
    }
}

/// The usual case: what the event loop reports of the one descriptor is the answer.
fn poll_one(gate: &Gate, record: &mut pollfd, watched: (RawFd, u32), limit: Option<Duration>) -> c_int {
    let concerned = watched.1 | (libc::EPOLLERR | libc::EPOLLHUP) as u32;
    let limit = Limit::after(limit);
    let reactor = gate.state.room::<Reactor>();
    let reads = standing::reads(watched.1);
    let mut attempt = |reported| {
        record.revents = (reported & concerned) as i16;
        if record.revents != 0 {
            return 1;
        }
        let ready = sys::poll(std::slice::from_mut(record), 0);
        if ready == 0 && reads {
            reactor.emptied(watched.0, is_stream);
        }
        ready
    };
    let ready = if reads && reactor.is_empty(watched.0) { 0 } else { attempt(0) };
    let ready = attempt_from(gate, &[watched], limit, ready, attempt);
    if let (1, Some(until)) = (ready, limit.at()) {
        super::accept::announced(watched.0, until);
    }
    ready
}

/// poll(2).
pub(super) unsafe extern "C" fn poll(fds: *mut pollfd, count: nfds_t, timeout: c_int) -> c_int {
    // SAFETY: the caller's array.
    let Some(fds) = (unsafe { array(fds, count as usize) }) else { return fail(libc::EFAULT) };
    let wanted = if fds.is_empty() { hooks::SLEEP } else { POLLING };
    match (timeout != 0).then(|| gate("poll()", wanted)).flatten() {
        Some(gate) => poll_in_coroutine(&gate, fds, milliseconds(timeout)),
        None => sys::poll(fds, timeout),
    }
}

/// poll(2) as fortified sources call it, which tell the array's size in bytes.
pub(super) unsafe extern "C" fn poll_chk(fds: *mut pollfd, count: nfds_t, timeout: c_int, size: usize) -> c_int {
    check(count as usize, size / size_of::<pollfd>());
    // SAFETY: the caller's arguments.
    unsafe { poll(fds, count, timeout) }
}

/// ppoll(2). One with a signal mask goes to libc: the mask is for the time of the call alone.
pub(super) unsafe extern "C" fn ppoll(
    fds: *mut pollfd,
    count: nfds_t,
    timeout: Place<'_, timespec>,
    mask: Place<'_, sigset_t>,
) -> c_int {
    // SAFETY: the caller's array.
    let Some(fds) = (unsafe { array(fds, count as usize) }) else { return fail(libc::EFAULT) };
    let limit = of_timespec(timeout);
    let waits = limit != Some(Duration::ZERO) && mask.is_null();
    match waits.then(|| gate("ppoll()", POLLING)).flatten() {
        Some(gate) => poll_in_coroutine(&gate, fds, limit),
        None => sys::ppoll(fds, timeout, mask),
    }
}

/// ppoll(2) as fortified sources call it.
pub(super) unsafe extern "C" fn ppoll_chk(
    fds: *mut pollfd,
    count: nfds_t,
    timeout: Place<'_, timespec>,
    mask: Place<'_, sigset_t>,
    size: usize,
) -> c_int {
    check(count as usize, size / size_of::<pollfd>());
    // SAFETY: the caller's arguments.
    unsafe { ppoll(fds, count, timeout, mask) }
}

/// The caller's three sets, which select(2) overwrites.
struct Sets<'a> {
    count: c_int,
    caller: [Place<'a, fd_set>; 3],
}

impl<'a> Sets<'a> {
    /// # Safety
    /// The sets MUST have room for `count` descriptors.
    unsafe fn of(count: c_int, caller: [Place<'a, fd_set>; 3]) -> Self {
        Self { count, caller }
    }

    fn watched(&self, asked: &[fd_set; 3]) -> Vec<(RawFd, u32)> {
        let events = [libc::EPOLLIN, libc::EPOLLOUT, libc::EPOLLPRI];
        let bits = |fd: RawFd| {
            // SAFETY: select() allows no descriptor of FD_SETSIZE or more, and `count` was bounded.
            let set = |set: &fd_set| unsafe { libc::FD_ISSET(fd, std::ptr::from_ref(set)) };
            asked.iter().zip(events).filter(|(asked, _)| set(asked)).fold(0, |all, (_, bit)| all | bit as u32)
        };
        let all = 0..self.count.clamp(0, libc::FD_SETSIZE as c_int);
        all.map(|fd| (fd, bits(fd))).filter(|&(_, bits)| bits != 0).collect()
    }

    /// select(2) itself.
    fn select(&self, time: Place<'_, timeval>) -> c_int {
        let [read, write, except] = self.caller.map(Place::as_ptr);
        // SAFETY: sets that hold so many, by the contract of `of`.
        unsafe { libc::select(self.count, read, write, except, time.as_ptr()) }
    }

    /// pselect(2) itself.
    fn pselect(&self, time: Place<'_, timespec>, mask: Place<'_, sigset_t>) -> c_int {
        let [read, write, except] = self.caller.map(Place::as_ptr);
        // SAFETY: as above.
        unsafe { libc::pselect(self.count, read, write, except, time.as_ptr(), mask.as_ptr()) }
    }

    /// Puts back what was asked, and asks again without waiting.
    fn attempt(&self, asked: &[fd_set; 3]) -> c_int {
        for (to, asked) in self.caller.iter().zip(asked) {
            to.set(*asked);
        }
        self.select(Place::of(&mut timeval { tv_sec: 0, tv_usec: 0 }))
    }

    /// Whether a call may wait for them: libc refuses more descriptors than a set holds.
    fn may_wait(&self, limit: Option<Duration>) -> bool {
        limit != Some(Duration::ZERO) && self.count <= libc::FD_SETSIZE as c_int
    }

    fn in_coroutine(&self, gate: &Gate, limit: Option<Duration>) -> c_int {
        let asked = self.caller.map(|set| set.get().unwrap_or_else(zeroed));
        attempt_until(gate, &self.watched(&asked), limit, |_| self.attempt(&asked))
    }
}

/// select(2), which tells what is left of the time.
pub(super) unsafe extern "C" fn select(
    count: c_int,
    read: Place<'_, fd_set>,
    write: Place<'_, fd_set>,
    except: Place<'_, fd_set>,
    timeout: Place<'_, timeval>,
) -> c_int {
    // SAFETY: the caller's sets.
    let sets = unsafe { Sets::of(count, [read, write, except]) };
    let limit = timeout.get().map(|t| (t.tv_sec, t.tv_usec));
    let valid = limit.is_none_or(|(seconds, micros)| seconds >= 0 && (0..1_000_000).contains(&micros));
    let limit =
        limit.map(|(seconds, micros)| Duration::new(seconds.max(0) as u64, micros.clamp(0, 999_999) as u32 * 1000));
    let waits = valid && sets.may_wait(limit);
    let Some(gate) = waits.then(|| gate("select()", hooks::STREAM_FUNCTION)).flatten() else {
        return sets.select(timeout);
    };
    let begun = Instant::now();
    let result = sets.in_coroutine(&gate, limit);
    if let Some(limit) = limit {
        let left = limit.saturating_sub(begun.elapsed());
        timeout.set(timeval { tv_sec: left.as_secs() as i64, tv_usec: i64::from(left.subsec_micros()) });
    }
    result
}

/// pselect(2). One with a signal mask goes to libc.
pub(super) unsafe extern "C" fn pselect(
    count: c_int,
    read: Place<'_, fd_set>,
    write: Place<'_, fd_set>,
    except: Place<'_, fd_set>,
    timeout: Place<'_, timespec>,
    mask: Place<'_, sigset_t>,
) -> c_int {
    // SAFETY: the caller's sets.
    let sets = unsafe { Sets::of(count, [read, write, except]) };
    let limit = of_timespec(timeout);
    let waits = mask.is_null() && sets.may_wait(limit);
    match waits.then(|| gate("pselect()", hooks::STREAM_FUNCTION)).flatten() {
        Some(gate) => sets.in_coroutine(&gate, limit),
        None => sets.pselect(timeout, mask),
    }
}

/// `epoll_wait(2)`: an epoll instance is a descriptor that can be waited for.
pub(super) unsafe extern "C" fn epoll_wait(
    epoll: c_int,
    events: *mut epoll_event,
    room: c_int,
    timeout: c_int,
) -> c_int {
    // SAFETY: the caller's array.
    let call = |timeout| unsafe { libc::epoll_wait(epoll, events, room, timeout) };
    let Some(gate) = (timeout != 0).then(|| gate("epoll_wait()", POLLING)).flatten() else { return call(timeout) };
    attempt_until(&gate, &[(epoll, libc::EPOLLIN as u32)], milliseconds(timeout), |_| call(0))
}

/// `epoll_pwait(2)`. One with a signal mask goes to libc.
pub(super) unsafe extern "C" fn epoll_pwait(
    epoll: c_int,
    events: *mut epoll_event,
    room: c_int,
    timeout: c_int,
    mask: *const sigset_t,
) -> c_int {
    // SAFETY: the caller's arguments.
    unsafe {
        if mask.is_null() {
            epoll_wait(epoll, events, room, timeout)
        } else {
            libc::epoll_pwait(epoll, events, room, timeout, mask)
        }
    }
}
