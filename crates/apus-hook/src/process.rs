//! Waiting for child processes and for locks.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

use apus_options::hooks;
use apus_runtime::runtime::State;
use apus_runtime::wait::expect_outside;
use apus_zend::hook;
use libc::{FILE, WNOHANG, pid_t, rusage};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use super::gate::{Gate, errno, fail, gate, gate_when_freeing};

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
    // SAFETY: an owned descriptor stays open, and the same, as long as it is registered.
    let Ok(watch) = (unsafe { AsyncFd::register_with_interest(watch, Interest::READABLE) }) else { return };
    if watch.readable().await.is_ok() {
        // SAFETY: the status is not asked for.
        unsafe { libc::waitpid(pid, std::ptr::null_mut(), WNOHANG) };
    }
}

fn fail_pid(errno: c_int) -> pid_t {
    fail(errno)
}

fn pidfd(pid: pid_t) -> Option<OwnedFd> {
    // SAFETY: no pointers.
    let fd = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) };
    // SAFETY: a new descriptor that nobody else owns.
    (fd >= 0).then(|| unsafe { OwnedFd::from_raw_fd(fd as RawFd) })
}

/// waitpid(2).
pub(super) unsafe extern "C" fn waitpid(pid: pid_t, status: *mut c_int, options: c_int) -> pid_t {
    let Some(gate) = (options & WNOHANG == 0).then(|| gate_when_freeing("waitpid()", hooks::PROC)).flatten() else {
        // SAFETY: the caller's arguments.
        return unsafe { libc::waitpid(pid, status, options) };
    };
    // SAFETY: the caller's record.
    wait_for(&gate, pid, options, || unsafe { libc::waitpid(pid, status, options | WNOHANG) })
}

/// wait(2).
pub(super) unsafe extern "C" fn wait(status: *mut c_int) -> pid_t {
    // SAFETY: the caller's record.
    unsafe { waitpid(-1, status, 0) }
}

/// wait4(2).
pub(super) unsafe extern "C" fn wait4(pid: pid_t, status: *mut c_int, options: c_int, usage: *mut rusage) -> pid_t {
    let Some(gate) = (options & WNOHANG == 0).then(|| gate_when_freeing("wait4()", hooks::PROC)).flatten() else {
        // SAFETY: the caller's arguments.
        return unsafe { libc::wait4(pid, status, options, usage) };
    };
    // SAFETY: the caller's records.
    wait_for(&gate, pid, options, || unsafe { libc::wait4(pid, status, options | WNOHANG, usage) })
}

/// wait3(2).
pub(super) unsafe extern "C" fn wait3(status: *mut c_int, options: c_int, usage: *mut rusage) -> pid_t {
    // SAFETY: the caller's arguments.
    unsafe { wait4(-1, status, options, usage) }
}

/// A stream of the C library that only one thread uses from now on.
struct Stream(*mut FILE);

// SAFETY: handed over whole; pclose() ends it.
unsafe impl Send for Stream {}

/// pclose(3), which waits inside libc, so that another thread does it.
pub(super) unsafe extern "C" fn pclose(stream: *mut FILE) -> c_int {
    unsafe extern "C" {
        fn pclose(stream: *mut FILE) -> c_int;
    }
    let Some(gate) = gate_when_freeing("pclose()", hooks::PROC) else {
        // SAFETY: the caller's stream.
        return unsafe { pclose(stream) };
    };
    let stream = Stream(stream);
    let closed = gate.on_thread(move || {
        let stream = stream;
        // SAFETY: the caller has given the stream up.
        let status = unsafe { pclose(stream.0) };
        (status, errno())
    });
    match closed {
        Ok((status, _)) if status >= 0 => gate.success(status),
        Ok((_, errno)) | Err(errno) => fail(errno),
    }
}

/// system(3), which waits inside libc.
pub(super) unsafe extern "C" fn system(command: *const c_char) -> c_int {
    let Some(gate) = (!command.is_null()).then(|| gate("system()", hooks::PROC)).flatten() else {
        // SAFETY: the caller's arguments.
        return unsafe { libc::system(command) };
    };
    // SAFETY: the caller's text.
    let command: CString = unsafe { CStr::from_ptr(command) }.to_owned();
    // SAFETY: text that ends in NUL.
    match gate.on_thread(move || unsafe { libc::system(command.as_ptr()) }) {
        Ok(status) => gate.success(status),
        Err(errno) => fail(errno),
    }
}

/// fork(2). A child has nothing of the event loop: it would share the parent's epoll instances. Where a loop runs PHP code cannot
/// fork, for all that it has begun would go on in both processes.
pub(super) unsafe extern "C" fn fork() -> pid_t {
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
pub(super) unsafe extern "C" fn flock(fd: c_int, operation: c_int) -> c_int {
    let waits = operation & (libc::LOCK_NB | libc::LOCK_UN) == 0;
    match waits.then(|| gate("flock()", hooks::BLOCKING_FUNCTION)).flatten() {
        // SAFETY: no pointers.
        Some(gate) => lock(&gate, || unsafe { libc::flock(fd, operation | libc::LOCK_NB) }),
        // SAFETY: no pointers.
        None => unsafe { libc::flock(fd, operation) },
    }
}

/// fcntl(2), of which only taking a lock can block. Its third argument is whatever the command says.
pub(super) unsafe extern "C" fn fcntl(fd: c_int, command: c_int, argument: *mut c_void) -> c_int {
    let at_once = match command {
        libc::F_SETLKW => libc::F_SETLK,
        libc::F_OFD_SETLKW => libc::F_OFD_SETLK,
        // SAFETY: the caller's arguments.
        _ => return unsafe { libc::fcntl(fd, command, argument) },
    };
    match gate("fcntl()", hooks::BLOCKING_FUNCTION) {
        // SAFETY: the caller's record of a lock.
        Some(gate) => lock(&gate, || unsafe { libc::fcntl(fd, at_once, argument) }),
        // SAFETY: the caller's arguments.
        None => unsafe { libc::fcntl(fd, command, argument) },
    }
}
