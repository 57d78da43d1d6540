//! Child processes: waiting for one, or for any, without taking the children of others.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ffi::c_int;
use std::os::fd::{FromRawFd, OwnedFd};
use std::rc::Rc;
use std::time::Duration;

use apus_zend::{Array, Call, Raise, Value};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use super::failure::{errno, give, waited};
use super::signals::Watch;
use crate::runtime::State;
use crate::wait::time_limit;

/// How long a child may have ended unnoticed where PHP code has put its own handler in the place of ours.
const LOOK_AGAIN: Duration = Duration::from_millis(200);
/// The first and the longest pause between two looks at a child where the kernel gives no descriptor of it.
const PAUSES: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(50));

type Kept = Rc<Cell<Option<c_int>>>;

thread_local! {
    /// Children that somebody waits for by their id: what a wait for any child reaps of these is theirs.
    static CLAIMED: RefCell<Claimed> = RefCell::default();
}

#[derive(Default)]
struct Claimed {
    /// Whose children they are: a forked process has none of its parent's.
    process: u32,
    waiters: HashMap<libc::pid_t, Vec<Kept>>,
}

fn with_claimed<R>(with: impl FnOnce(&mut HashMap<libc::pid_t, Vec<Kept>>) -> R) -> R {
    let me = std::process::id();
    CLAIMED.with(|claimed| {
        let mut claimed = claimed.borrow_mut();
        if claimed.process != me {
            claimed.process = me;
            claimed.waiters.clear();
        }
        with(&mut claimed.waiters)
    })
}

/// Somebody's wait for one child.
pub(super) struct Claim {
    pid: libc::pid_t,
    status: Kept,
}

impl Claim {
    pub(super) fn new(pid: libc::pid_t) -> Self {
        let status = Kept::default();
        with_claimed(|claimed| claimed.entry(pid).or_default().push(Rc::clone(&status)));
        Self { pid, status }
    }

    /// Waits until the child has ended, and reaps it: its status. ECHILD: it is no child of ours, or others reaped it.
    pub(super) async fn ended(&self) -> Result<c_int, c_int> {
        loop {
            if let Some(status) = self.status.take() {
                return Ok(status);
            }
            if let Some((_, status)) = reap(self.pid)? {
                return Ok(status);
            }
            may_have_ended(self.pid).await;
        }
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        with_claimed(|claimed| {
            if let Some(waiters) = claimed.get_mut(&self.pid) {
                waiters.retain(|status| !Rc::ptr_eq(status, &self.status));
                if waiters.is_empty() {
                    claimed.remove(&self.pid);
                }
            }
        });
    }
}

/// Hands the status of a child to who waits for it. `false`: nobody does.
fn hand_over(pid: libc::pid_t, status: c_int) -> bool {
    with_claimed(|claimed| match claimed.get(&pid) {
        Some(waiters) => {
            for kept in waiters {
                kept.set(Some(status));
            }
            true
        }
        None => false,
    })
}

/// Reaps a child (-1: any) that has ended; `None`: it has not.
fn reap(pid: libc::pid_t) -> Result<Option<(libc::pid_t, c_int)>, c_int> {
    let mut status = 0;
    loop {
        // SAFETY: the status is local.
        match unsafe { libc::waitpid(pid, &raw mut status, libc::WNOHANG) } {
            0 => return Ok(None),
            -1 if errno() == libc::EINTR => {}
            -1 => return Err(errno()),
            ended => return Ok(Some((ended, status))),
        }
    }
}

/// Resolves when a process may have ended.
async fn may_have_ended(pid: libc::pid_t) {
    // SAFETY: takes integers.
    let fd = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) };
    if fd < 0 {
        if errno() != libc::ESRCH {
            look_again_later(pid).await;
        }
        return;
    }
    // SAFETY: a new descriptor that nobody else owns.
    let process = unsafe { OwnedFd::from_raw_fd(fd as c_int) };
    // SAFETY: the `AsyncFd` owns the descriptor, which nobody else knows.
    match unsafe { AsyncFd::register_with_interest(process, Interest::READABLE) } {
        Ok(process) => drop(process.readable().await),
        Err(_) => look_again_later(pid).await,
    }
}

/// Where the kernel has no pidfd, or no descriptor is left: looks now and then, leaving the child as it is.
async fn look_again_later(pid: libc::pid_t) {
    let (mut pause, longest) = PAUSES;
    loop {
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(longest);
        // SAFETY: an all-zero siginfo_t is valid, and is filled by the call.
        let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
        let options = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
        // SAFETY: the out pointer is local.
        let failed = unsafe { libc::waitid(libc::P_PID, pid as libc::id_t, &raw mut info, options) } != 0;
        // SAFETY: waitid fills this member; it stays 0 when no child has ended.
        if failed || unsafe { info.si_pid() } != 0 {
            return;
        }
    }
}

/// The end of a child that nobody waits for by its id, if one has ended.
pub(crate) fn any_child_now() -> Result<Option<(libc::pid_t, c_int)>, c_int> {
    while let Some((pid, status)) = reap(-1)? {
        if !hand_over(pid, status) {
            return Ok(Some((pid, status)));
        }
    }
    Ok(None)
}

/// Waits for any child that nobody waits for by its id.
pub(crate) async fn any_child() -> Result<(libc::pid_t, c_int), c_int> {
    let watch = Watch::children();
    loop {
        if let Some(ended) = any_child_now()? {
            return Ok(ended);
        }
        match &watch {
            Some(watch) => {
                if let Ok(came) = tokio::time::timeout(LOOK_AGAIN, watch.came()).await {
                    came?;
                }
            }
            None => tokio::time::sleep(LOOK_AGAIN).await,
        }
    }
}

/// The exit code and the signal in a status, each 0 when the child ended the other way.
pub(crate) fn parts(status: c_int) -> (i64, i64) {
    if libc::WIFSIGNALED(status) {
        (0, i64::from(libc::WTERMSIG(status)))
    } else {
        (i64::from(libc::WEXITSTATUS(status)), 0)
    }
}

fn ended(call: &Call, result: Result<(libc::pid_t, c_int), c_int>) -> Result<(), Raise> {
    let array = match result {
        Ok((pid, status)) => {
            let (code, signal) = parts(status);
            let mut array = Array::new(3)?;
            array.set_int(b"pid", i64::from(pid))?;
            array.set_int(b"code", code)?;
            array.set_int(b"signal", signal)?;
            Ok(Value::from(array))
        }
        Err(code) => Err(code),
    };
    give(call, array)
}

/// `System::wait()`.
pub(super) fn wait(call: &Call) -> Result<(), Raise> {
    let limit = time_limit(call, 0, -1.0)?;
    let result = waited(&*State::get()?, "Coroutine\\System::wait()", limit, any_child())?;
    ended(call, result)
}

/// `System::waitPid()`.
pub(super) fn wait_pid(call: &Call) -> Result<(), Raise> {
    let given = call.int(0, 0)?;
    let limit = time_limit(call, 1, -1.0)?;
    let pid = match libc::pid_t::try_from(given) {
        Ok(pid) if pid > 0 || pid == -1 => pid,
        _ => return Err(call.value_error(0, &format!("must be a process id, or -1 for any child, {given} given"))),
    };
    let job = async move {
        if pid == -1 { any_child().await } else { Claim::new(pid).ended().await.map(|status| (pid, status)) }
    };
    let result = waited(&*State::get()?, "Coroutine\\System::waitPid()", limit, job)?;
    ended(call, result)
}
