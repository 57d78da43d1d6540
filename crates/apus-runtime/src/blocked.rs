//! In which function, and in which system call, a thread stands that is blocked: looked at from another thread.

use std::fs;

use apus_zend::watch;

/// System calls in which PHP code blocks, as their manual pages are called.
#[rustfmt::skip]
const CALLS: &[(i64, &str)] = &[
    (libc::SYS_read, "read"), (libc::SYS_write, "write"), (libc::SYS_readv, "readv"), (libc::SYS_writev, "writev"),
    (libc::SYS_pread64, "pread"), (libc::SYS_pwrite64, "pwrite"), (libc::SYS_openat, "openat"),
    (libc::SYS_recvfrom, "recvfrom"), (libc::SYS_recvmsg, "recvmsg"), (libc::SYS_sendto, "sendto"), (libc::SYS_sendmsg, "sendmsg"),
    (libc::SYS_connect, "connect"), (libc::SYS_accept, "accept"), (libc::SYS_accept4, "accept4"),
    (libc::SYS_ppoll, "ppoll"), (libc::SYS_pselect6, "pselect"), (libc::SYS_epoll_pwait, "epoll_pwait"),
    (libc::SYS_nanosleep, "nanosleep"), (libc::SYS_clock_nanosleep, "clock_nanosleep"), (libc::SYS_futex, "futex"),
    (libc::SYS_wait4, "wait4"), (libc::SYS_waitid, "waitid"), (libc::SYS_flock, "flock"), (libc::SYS_fcntl, "fcntl"),
    (libc::SYS_fsync, "fsync"), (libc::SYS_fdatasync, "fdatasync"),
    #[cfg(target_arch = "x86_64")] (libc::SYS_poll, "poll"),
    #[cfg(target_arch = "x86_64")] (libc::SYS_select, "select"),
    #[cfg(target_arch = "x86_64")] (libc::SYS_epoll_wait, "epoll_wait"),
    #[cfg(target_arch = "x86_64")] (libc::SYS_open, "open"),
];

/// `", in usleep() (system call clock_nanosleep)"`; empty when it computes.
pub(crate) fn place(thread: i32) -> String {
    let Some(call) = system_call(thread) else { return String::new() };
    let function = watch::blocked_function();
    // It may have gone on meanwhile, and called something else.
    let Some(function) = function.filter(|_| system_call(thread).as_deref() == Some(&call)) else {
        return format!(", in the system call {call}");
    };
    format!(", in {function}() (system call {call})")
}

/// The system call that a thread of this process waits in (proc(5)).
fn system_call(thread: i32) -> Option<String> {
    let line = fs::read_to_string(format!("/proc/self/task/{thread}/syscall")).ok()?;
    let number: i64 = line.split_whitespace().next()?.parse().ok().filter(|&number| number >= 0)?;
    let known = CALLS.iter().find(|&&(known, _)| known == number);
    Some(known.map_or_else(|| number.to_string(), |(_, name)| (*name).to_owned()))
}
