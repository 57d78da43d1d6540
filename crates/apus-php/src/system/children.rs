//! Child processes: waiting for one, or for any, without taking the children of others.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ffi::c_int;
use std::rc::Rc;
use std::time::Duration;

use apus_shm::ForkEpoch;
use apus_zend::arg::{Given, Want};
use apus_zend::{Array, Raise};
use rustix::io::{Errno, retry_on_intr};
use rustix::process::{Pid, PidfdFlags, WaitId, WaitIdOptions, WaitOptions, WaitStatus, pidfd_open, waitid, waitpid};
use tokio::io::Interest;

use super::failure::{Noted, waited};
use super::signals::Watch;
use crate::descriptor::watch;
use crate::runtime::State;
use crate::wait::Timeout;

/// How long a child may have ended unnoticed where PHP code has put its own handler in the place of ours.
const LOOK_AGAIN: Duration = Duration::from_millis(200);
/// The first and the longest pause between two looks at a child where the kernel gives no descriptor of it.
const PAUSES: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(50));

type Kept = Rc<Cell<Option<WaitStatus>>>;

thread_local! {
    /// Children that somebody waits for by their id: what a wait for any child reaps of these is theirs.
    static CLAIMED: RefCell<Claimed> = RefCell::default();
}

#[derive(Default)]
struct Claimed {
    /// Whose children they are: a forked process has none of its parent's.
    process: Option<ForkEpoch>,
    waiters: HashMap<libc::pid_t, Vec<Kept>>,
}

fn with_claimed<R>(with: impl FnOnce(&mut HashMap<libc::pid_t, Vec<Kept>>) -> R) -> R {
    CLAIMED.with(|claimed| {
        let mut claimed = claimed.borrow_mut();
        if !claimed.process.is_some_and(ForkEpoch::is_now) {
            claimed.process = Some(ForkEpoch::now());
            claimed.waiters.clear();
        }
        with(&mut claimed.waiters)
    })
}

/// Somebody's wait for one child.
pub(super) struct Claim {
    pid: Pid,
    status: Kept,
}

impl Claim {
    pub(super) fn new(pid: Pid) -> Self {
        let status = Kept::default();
        with_claimed(|claimed| claimed.entry(pid.as_raw_pid()).or_default().push(Rc::clone(&status)));
        Self { pid, status }
    }

    /// Waits until the child has ended, and reaps it: its status. ECHILD: it is no child of ours, or others reaped it.
    pub(super) async fn ended(&self) -> Result<WaitStatus, c_int> {
        loop {
            if let Some(status) = self.status.take() {
                return Ok(status);
            }
            if let Some((_, status)) = reap(Some(self.pid))? {
                return Ok(status);
            }
            may_have_ended(self.pid).await;
        }
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        with_claimed(|claimed| {
            if let Some(waiters) = claimed.get_mut(&self.pid.as_raw_pid()) {
                waiters.retain(|status| !Rc::ptr_eq(status, &self.status));
                if waiters.is_empty() {
                    claimed.remove(&self.pid.as_raw_pid());
                }
            }
        });
    }
}

/// Hands the status of a child to who waits for it. `false`: nobody does.
fn hand_over(pid: libc::pid_t, status: WaitStatus) -> bool {
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

/// What is known of a child that has ended.
pub(crate) type Ended = (libc::pid_t, WaitStatus);

/// Reaps a child that has ended (`None`: any); `Ok(None)`: it has not.
pub(crate) fn reap(pid: Option<Pid>) -> Result<Option<Ended>, c_int> {
    let ended = retry_on_intr(|| match pid {
        Some(pid) => waitpid(Some(pid), WaitOptions::NOHANG),
        None => rustix::process::wait(WaitOptions::NOHANG),
    });
    ended.map(|ended| ended.map(|(pid, status)| (pid.as_raw_pid(), status))).map_err(Errno::raw_os_error)
}

/// Resolves when a process may have ended.
async fn may_have_ended(pid: Pid) {
    let watched = match pidfd_open(pid, PidfdFlags::empty()) {
        Ok(process) => watch(process, Interest::READABLE).ok(),
        Err(Errno::SRCH) => return,
        Err(_) => None,
    };
    match watched {
        Some(process) => drop(process.readable().await),
        None => look_again_later(pid).await,
    }
}

/// Where the kernel has no pidfd, or no descriptor is left: looks now and then, leaving the child as it is.
async fn look_again_later(pid: Pid) {
    let (mut pause, longest) = PAUSES;
    loop {
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(longest);
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        if !matches!(waitid(WaitId::Pid(pid), look), Ok(None)) {
            return;
        }
    }
}

/// The end of a child that nobody waits for by its id, if one has ended.
pub(crate) fn any_child_now() -> Result<Option<Ended>, c_int> {
    while let Some((pid, status)) = reap(None)? {
        if !hand_over(pid, status) {
            return Ok(Some((pid, status)));
        }
    }
    Ok(None)
}

/// Waits for any child that nobody waits for by its id.
pub(crate) async fn any_child() -> Result<Ended, c_int> {
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
pub(crate) fn parts(status: WaitStatus) -> (i64, i64) {
    (i64::from(status.exit_status().unwrap_or(0)), i64::from(status.terminating_signal().unwrap_or(0)))
}

/// What PHP code gets to know of a child that ended.
pub(crate) fn ending((pid, status): Ended) -> Result<Array, Raise> {
    let (code, signal) = parts(status);
    let mut array = Array::new(3)?;
    array.set_int(b"pid", i64::from(pid))?;
    array.set_int(b"code", code)?;
    array.set_int(b"signal", signal)?;
    Ok(array)
}

/// The same, or why there is none.
pub(crate) fn told(result: Result<Ended, c_int>) -> Result<Noted<Array>, Raise> {
    Ok(Noted(match result {
        Ok(child) => Ok(ending(child)?),
        Err(code) => Err(code),
    }))
}

/// `System::wait()`.
pub(crate) fn wait(timeout: Timeout) -> Result<Noted<Array>, Raise> {
    told(waited(&*State::get()?, "Coroutine\\System::wait()", timeout.limit(), any_child())?)
}

/// Which child is waited for; `None`: any.
pub(crate) struct Child(Option<Pid>);

impl Want<i64> for Child {
    fn want(given: Given<i64>) -> Result<Self, Raise> {
        match libc::pid_t::try_from(given.value) {
            Ok(-1) => Ok(Self(None)),
            Ok(pid) if pid > 0 => Ok(Self(Pid::from_raw(pid))),
            _ => Err(given.must_be("a process id, or -1 for any child")),
        }
    }
}

/// `System::waitPid()`.
pub(crate) fn wait_pid(Child(pid): Child, timeout: Timeout) -> Result<Noted<Array>, Raise> {
    let job = async move {
        match pid {
            Some(pid) => Claim::new(pid).ended().await.map(|status| (pid.as_raw_pid(), status)),
            None => any_child().await,
        }
    };
    told(waited(&*State::get()?, "Coroutine\\System::waitPid()", timeout.limit(), job)?)
}
