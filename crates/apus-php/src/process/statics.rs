//! The static methods of `Apus\Process`: children, signals, the process itself.

use std::ffi::c_int;
use std::fs::File;
use std::os::fd::RawFd;
use std::rc::Rc;
use std::time::Duration;

use apus_zend::arg::{Given, Want};
use apus_zend::call::content_error;
use apus_zend::value::{ArrayView, Key, View};
use apus_zend::{Array, Callable, Raise, Value, descriptor, engine};
use rustix::io::Errno;
use rustix::process::{WaitOptions, chdir, setsid};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use super::fork;
use super::signals::{self, Action};
use super::sys::{block, replace_standard};
use crate::descriptor::Number;
use crate::rescue;
use crate::runtime::State;
use crate::system::children::{self, Ended};
use crate::system::failure::{Noted, set_last_error, strerror};
use crate::system::signals::unfit;
use crate::system::sys::{self, Disposition};
use crate::wait::{expect_outside, may_wait, wait_either};

fn warn(what: &str, code: c_int) -> Result<Noted<bool>, Raise> {
    engine::warning(&format!("Apus\\Process::{what}: {}", strerror(code)))?;
    Ok(Noted(Err(code)))
}

/// What a system call came to: `false` comes with a warning.
fn told(what: &str, result: Result<(), Errno>) -> Result<Noted<bool>, Raise> {
    result.map_or_else(|error| warn(what, error.raw_os_error()), |()| Ok(Noted(Ok(true))))
}

pub(super) fn kill(pid: Given<i64>, signal: i64) -> Result<Noted<bool>, Raise> {
    let Ok(target) = libc::pid_t::try_from(pid.value) else {
        return Err(pid.must_be("a process id"));
    };
    let number = c_int::try_from(signal).unwrap_or(-1);
    if number == libc::SIGKILL && target > 0 {
        rescue::before_kill(target.unsigned_abs());
    }
    let sent = sys::kill(target, number);
    if let Err(code) = sent
        && (number != 0 || code != libc::ESRCH)
    {
        let why = strerror(code);
        engine::warning(&format!("Apus\\Process::kill(): process {target} got no signal {signal}: {why}"))?;
    }
    Ok(Noted(sent.map(|()| true)))
}

/// A handler that only wakes, for as long as this lives.
struct Woken(bool);

impl Woken {
    /// By the end of a child. `None`: PHP code has a handler of its own for that.
    fn by_children() -> Option<Self> {
        if signals::has(libc::SIGCHLD) {
            return Some(Self(false));
        }
        let free = Disposition::of(libc::SIGCHLD).is_ok_and(|now| !now.is_handled());
        (free && signals::set(libc::SIGCHLD, Action::Native(Rc::new(|| {}))).is_ok()).then_some(Self(true))
    }
}

impl Drop for Woken {
    fn drop(&mut self) {
        if self.0 {
            signals::unset(libc::SIGCHLD);
        }
    }
}

/// Blocks this process until a child has ended; handlers of signals run meanwhile.
fn wait_blocking() -> Result<Result<Ended, c_int>, Raise> {
    const LOOK_AGAIN: Duration = Duration::from_millis(50);
    if signals::event().is_none() {
        let ended = rustix::process::wait(WaitOptions::empty()).map_err(Errno::raw_os_error);
        return Ok(ended.and_then(|ended| ended.map(|(pid, status)| (pid.as_raw_pid(), status)).ok_or(libc::ECHILD)));
    }
    let woken = Woken::by_children();
    loop {
        signals::dispatch()?;
        if let Some(ended) = children::reap(None).transpose() {
            return Ok(ended);
        }
        block(&[], super::sys::deadline(woken.is_none().then_some(LOOK_AGAIN)))?;
    }
}

pub(super) fn wait(blocking: bool) -> Result<Noted<Array>, Raise> {
    let ended = if blocking {
        wait_either("Process::wait()", |_| children::any_child(), wait_blocking)?.unwrap_or(Err(libc::ECANCELED))
    } else if State::existing().is_some_and(|state| may_wait(&state)) {
        // Children that coroutines wait for by their ids are left to these.
        children::any_child_now().and_then(|ended| ended.ok_or(libc::EAGAIN))
    } else {
        children::reap(None).and_then(|ended| ended.ok_or(libc::EAGAIN))
    };
    children::told(ended)
}

/// An argument with a signal that can have a handler.
pub(super) struct Handled(c_int);

impl Want<i64> for Handled {
    fn want(given: Given<i64>) -> Result<Self, Raise> {
        let number = c_int::try_from(given.value).unwrap_or(0);
        match unfit(number, "handled") {
            None => Ok(Self(number)),
            Some(why) => {
                let text = format!("must be a signal that can be handled, {} given: {why}", given.value);
                Err(given.value_error(&text))
            }
        }
    }
}

pub(super) fn signal(Handled(number): Handled, callable: Option<Callable>) -> Result<Noted<bool>, Raise> {
    let Some(callable) = callable else {
        let had = signals::unset(number);
        if !had {
            engine::warning(&format!("Apus\\Process::signal(): signal {number} has no handler"))?;
        }
        return Ok(Noted(Ok(had)));
    };
    if let Err(code) = signals::set(number, Action::Php(Rc::new(callable))) {
        return warn("signal()", code);
    }
    // The loop that runs now, or the one that will: without one, handlers run between two opcodes.
    if let Err(code) = signals::serve(&State::get()?) {
        set_last_error(code);
        engine::warning(&format!("Apus\\Process::signal(): {}", strerror(code)))?;
    }
    Ok(Noted(Ok(true)))
}

pub(super) fn alarm(time: i64, which: Given<i64>) -> Result<Noted<bool>, Raise> {
    if !(0..=2).contains(&which.value) {
        return Err(which.must_be("0 (real time), 1 (user time) or 2 (CPU time)"));
    }
    // Negative ends the alarm, as 0 does.
    let time = time.max(0);
    let interval =
        libc::timeval { tv_sec: (time / 1_000_000) as libc::time_t, tv_usec: (time % 1_000_000) as libc::suseconds_t };
    let setting = libc::itimerval { it_interval: interval, it_value: interval };
    // SAFETY: the record is local; there is no old one to fill.
    if unsafe { libc::setitimer(which.value as _, &raw const setting, std::ptr::null_mut()) } == 0 {
        return Ok(Noted(Ok(true)));
    }
    warn("alarm()", super::sys::errno())
}

/// The descriptors that the daemon gets in the place of its standard ones.
pub(super) struct Replacements(Vec<(RawFd, u64)>);

impl Want<Option<ArrayView<'_>>> for Replacements {
    fn want(given: Given<Option<ArrayView<'_>>>) -> Result<Self, Raise> {
        let mut pairs = Vec::new();
        for (key, value) in given.value.into_iter().flat_map(ArrayView::iter) {
            if matches!(value.view(), View::Null) {
                // What is to become of it the arguments before say.
                continue;
            }
            let (Key::Index(place @ 0..=2), Some(fd)) = (key, descriptor::of(&value.value())?) else {
                let text = "must hold streams or descriptors under the keys 0, 1 and 2";
                return Err(content_error(given.index, text));
            };
            pairs.push((fd, place));
        }
        Ok(Self(pairs))
    }
}

pub(super) fn daemon(stay: bool, keep: bool, Replacements(pairs): Replacements) -> Result<Noted<bool>, Raise> {
    expect_outside("Apus\\Process::daemon()")?;
    match fork::fork() {
        Err(code) => return warn("daemon()", code),
        // What the script has left to do is done by the child.
        // SAFETY: takes any code.
        Ok(pid) if pid > 0 => unsafe { libc::_exit(0) },
        Ok(_) => fork::begin_child(fork::Signals::Keep),
    }
    signals::moved();
    // What cannot be had is left as it is.
    let _ = setsid();
    if !stay {
        let _ = chdir(c"/");
    }
    if !keep && let Ok(null) = File::options().read(true).write(true).open("/dev/null") {
        for place in 0..3 {
            let _ = replace_standard(place, &null);
        }
    }
    for (fd, place) in pairs {
        let _ = replace_standard(place, Number(fd));
    }
    Ok(Noted(Ok(true)))
}

/// An argument with the processors of a set.
pub(super) struct Processors(CpuSet);

impl Want<ArrayView<'_>> for Processors {
    fn want(given: Given<ArrayView<'_>>) -> Result<Self, Raise> {
        let mut set = CpuSet::new();
        for (_, value) in given.value.iter() {
            match value.view() {
                View::Int(number) if (0..CpuSet::MAX_CPU as i64).contains(&number) => set.set(number as usize),
                _ => return Err(given.value_error("must hold numbers of processors, from 0")),
            }
        }
        if given.value.is_empty() { Err(given.value_error("cannot be empty")) } else { Ok(Self(set)) }
    }
}

pub(super) fn set_affinity(Processors(set): Processors) -> Result<Noted<bool>, Raise> {
    told("setAffinity()", sched_setaffinity(None, &set))
}

pub(super) fn get_affinity() -> Result<Array, Raise> {
    let set = sched_getaffinity(None).unwrap_or_default();
    let mut array = Array::new(8)?;
    for number in (0..CpuSet::MAX_CPU).filter(|&number| set.is_set(number)) {
        array.push(Value::int(number as i64))?;
    }
    Ok(array)
}
