//! Waiting for child processes and for locks.

use std::ffi::{c_int, c_void};
use std::os::fd::{AsRawFd, OwnedFd};

use apus_options::hooks;
use apus_runtime::descriptor::watch as watch_fd;
use apus_runtime::runtime::State;
use apus_runtime::wait::expect_outside;
use apus_zend::hook;
use libc::{FILE, WNOHANG, pid_t, rusage};
use rustix::process::{Pid, PidfdFlags};
use tokio::io::Interest;

use super::args::{Place, Text};
use super::gate::{Gate, errno, fail, gate, gate_when_freeing};
use super::sys;

/// Does `attempt` until it gives something else than 0: a child's end, or an error.
fn wait_for(gate: &Gate, pid: pid_t, options: c_int, attempt: impl Fn() -> pid_t) -> pid_t {
    // Only the end of one given child is announced, by its pidfd (Linux 5.3); nothing else is.
    let announced = (pid > 0 && options & !WNOHANG == 0).then(|| pidfd(pid)).flatten();
    let Some(watch) = announced else {
        return match gate.retry(None, || Some(attempt()).filter(|&pid| pid != 0)) {
            Ok(pid) => pid.unwrap_or(0),
            Err(errno) => fail_pid(errno),
        };
    };
    loop {
        let ended = attempt();
        if ended != 0 {
            return ended;
        }
        if let Err(errno) = gate.ready(&[(watch.as_raw_fd(), libc::EPOLLIN as u32)], None) {
            if !hook::running_function().starts_with("pcntl_") {
                // Whoever waited forgets it now; its end has to be taken nevertheless.
                gate.state.spawn(reap(pid, watch));
            }
            return fail_pid(errno);
        }
    }
}

/// Takes a child's end when it has come.
async fn reap(pid: pid_t, watch: OwnedFd) {
    let Ok(watch) = watch_fd(watch, Interest::READABLE) else { return };
    if watch.readable().await.is_ok() {
        sys::waitpid(pid, Place::none(), WNOHANG);
    }
}

fn fail_pid(errno: c_int) -> pid_t {
    fail(errno)
}

fn pidfd(pid: pid_t) -> Option<OwnedFd> {
    rustix::process::pidfd_open(Pid::from_raw(pid)?, PidfdFlags::empty()).ok()
}

/// waitpid(2).
pub(super) extern "C" fn waitpid(pid: pid_t, status: Place<'_, c_int>, options: c_int) -> pid_t {
    let Some(gate) = (options & WNOHANG == 0).then(|| gate_when_freeing("waitpid()", hooks::PROC)).flatten() else {
        return sys::waitpid(pid, status, options);
    };
    wait_for(&gate, pid, options, || sys::waitpid(pid, status, options | WNOHANG))
}

/// wait(2).
pub(super) extern "C" fn wait(status: Place<'_, c_int>) -> pid_t {
    waitpid(-1, status, 0)
}

/// wait4(2).
pub(super) extern "C" fn wait4(
    pid: pid_t,
    status: Place<'_, c_int>,
    options: c_int,
    usage: Place<'_, rusage>,
) -> pid_t {
    let Some(gate) = (options & WNOHANG == 0).then(|| gate_when_freeing("wait4()", hooks::PROC)).flatten() else {
        return sys::wait4(pid, status, options, usage);
    };
    wait_for(&gate, pid, options, || sys::wait4(pid, status, options | WNOHANG, usage))
}

/// wait3(2).
pub(super) extern "C" fn wait3(status: Place<'_, c_int>, options: c_int, usage: Place<'_, rusage>) -> pid_t {
    wait4(-1, status, options, usage)
}

/// A stream of the C library, which its caller gives up.
#[repr(transparent)]
pub(super) struct Stream(*mut FILE);

// SAFETY: handed over whole; pclose() ends it.
unsafe impl Send for Stream {}

/// pclose(3), which waits inside libc, so that another thread does it.
pub(super) extern "C" fn pclose(stream: Stream) -> c_int {
    // SAFETY: the caller has given the stream up.
    unsafe extern "C" {
        safe fn pclose(stream: Stream) -> c_int;
    }
    let Some(gate) = gate_when_freeing("pclose()", hooks::PROC) else { return pclose(stream) };
    match gate.on_thread(move || (pclose(stream), errno())) {
        Ok((status, _)) if status >= 0 => gate.success(status),
        Ok((_, errno)) | Err(errno) => fail(errno),
    }
}

/// system(3), which waits inside libc.
pub(super) extern "C" fn system(command: Text<'_>) -> c_int {
    let owned = command.to_owned().and_then(|owned| Some((gate("system()", hooks::PROC)?, owned)));
    let Some((gate, owned)) = owned else { return sys::system(command) };
    match gate.on_thread(move || sys::system(Text::of(&owned))) {
        Ok(status) => gate.success(status),
        Err(errno) => fail(errno),
    }
}

/// fork(2). A child has nothing of the event loop: it would share the parent's epoll instances. Where a loop runs PHP
/// code cannot fork, for all that it has begun would go on in both processes.
pub(super) extern "C" fn fork() -> pid_t {
    if hook::running_function().ends_with("fork()") && expect_outside("pcntl_fork()").is_err() {
        return fail(libc::EPERM);
    }
    // SAFETY: what the caller asked for.
    let pid = unsafe { libc::fork() };
    if pid == 0 {
        State::forget();
    }
    pid
}

/// Tries to get a lock until it is free.
fn lock(gate: &Gate, attempt: impl Fn() -> c_int) -> c_int {
    let taken = gate.retry(None, || {
        let result = attempt();
        (result == 0 || !matches!(errno(), libc::EWOULDBLOCK | libc::EACCES)).then(|| (result, errno()))
    });
    match taken {
        Ok(Some((0, _))) => gate.success(0),
        Ok(Some((_, errno))) | Err(errno) => fail(errno),
        Ok(None) => fail(libc::EWOULDBLOCK),
    }
}

/// flock(2).
pub(super) extern "C" fn flock(fd: c_int, operation: c_int) -> c_int {
    let waits = operation & (libc::LOCK_NB | libc::LOCK_UN) == 0;
    match waits.then(|| gate("flock()", hooks::BLOCKING_FUNCTION)).flatten() {
        Some(gate) => lock(&gate, || sys::flock(fd, operation | libc::LOCK_NB)),
        None => sys::flock(fd, operation),
    }
}

/// fcntl(2), of which only taking a lock can block. Its third argument is whatever the command says.
pub(super) unsafe extern "C" fn fcntl(fd: c_int, command: c_int, argument: *mut c_void) -> c_int {
    // SAFETY: the caller's argument, of which a command that takes a lock at once makes the same as one that waits.
    let call = |command| unsafe { libc::fcntl(fd, command, argument) };
    let at_once = match command {
        libc::F_SETLKW => libc::F_SETLK,
        libc::F_OFD_SETLKW => libc::F_OFD_SETLK,
        _ => return call(command),
    };
    match gate("fcntl()", hooks::BLOCKING_FUNCTION) {
        Some(gate) => lock(&gate, || call(at_once)),
        None => call(command),
    }
}
