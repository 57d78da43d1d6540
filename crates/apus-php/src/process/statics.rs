//! The static methods of `Apus\Process`: children, signals, the process itself.

use std::ffi::c_int;
use std::os::fd::RawFd;
use std::rc::Rc;

use apus_coro::Wait;
use apus_zend::value::{Key, View};
use apus_zend::{Array, Call, Raise, Value, descriptor, engine};

use super::fork;
use super::signals::{self, Action};
use super::sys::{block, errno};
use crate::runtime::State;
use crate::system::children;
use crate::system::failure::{set_last_error, strerror};
use crate::wait::{expect_outside, may_wait, wait as suspend};

fn warn(what: &str, code: c_int) -> Result<(), Raise> {
    set_last_error(code);
    engine::warning(&format!("Apus\\Process::{what}: {}", strerror(code)))
}

pub(super) fn kill(call: &Call) -> Result<(), Raise> {
    let (pid, signal) = (call.int(0, 0)?, call.int(1, i64::from(libc::SIGTERM))?);
    let Ok(target) = libc::pid_t::try_from(pid) else {
        return Err(call.value_error(0, &format!("must be a process id, {pid} given")));
    };
    let number = c_int::try_from(signal).unwrap_or(-1);
    // SAFETY: takes integers.
    if unsafe { libc::kill(target, number) } == 0 {
        return call.ret(true);
    }
    let code = errno();
    set_last_error(code);
    if !(number == 0 && code == libc::ESRCH) {
        engine::warning(&format!("Apus\\Process::kill(): process {pid} got no signal {signal}: {}", strerror(code)))?;
    }
    call.ret(false)
}

/// Takes the end of a child, if one has ended; `None`: none has.
fn reap() -> Result<Option<(libc::pid_t, c_int)>, c_int> {
    let mut status = 0;
    loop {
        // SAFETY: the status is local.
        match unsafe { libc::waitpid(-1, &raw mut status, libc::WNOHANG) } {
            0 => return Ok(None),
            -1 if errno() == libc::EINTR => {}
            -1 => return Err(errno()),
            pid => return Ok(Some((pid, status))),
        }
    }
}

/// A handler that only wakes, for as long as this lives.
struct Woken(bool);

impl Woken {
    /// By the end of a child. `None`: PHP code has a handler of its own for that.
    fn by_children() -> Option<Self> {
        // SAFETY: an all-zero sigaction is valid, and is filled by the call.
        let mut now: libc::sigaction = unsafe { std::mem::zeroed() };
        // SAFETY: the out pointer is local.
        unsafe { libc::sigaction(libc::SIGCHLD, std::ptr::null(), &raw mut now) };
        if signals::has(libc::SIGCHLD) {
            return Some(Self(false));
        }
        let free = now.sa_sigaction == libc::SIG_DFL || now.sa_sigaction == libc::SIG_IGN;
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
fn wait_blocking() -> Result<Result<(libc::pid_t, c_int), c_int>, Raise> {
    const LOOK_AGAIN: std::time::Duration = std::time::Duration::from_millis(50);
    if signals::event().is_none() {
        let mut status = 0;
        // SAFETY: the status is local.
        let pid = unsafe { libc::waitpid(-1, &raw mut status, 0) };
        return Ok(if pid > 0 { Ok((pid, status)) } else { Err(errno()) });
    }
    let woken = Woken::by_children();
    loop {
        signals::dispatch()?;
        match reap() {
            Ok(None) => {}
            Ok(Some(ended)) => return Ok(Ok(ended)),
            Err(code) => return Ok(Err(code)),
        }
        let limit = woken.is_none().then_some(LOOK_AGAIN);
        block(&[], super::sys::deadline(limit))?;
    }
}

/// What `Process::wait()` gives for a child that ended.
fn ending((pid, status): (libc::pid_t, c_int)) -> Result<Array, Raise> {
    let (code, signal) = children::parts(status);
    let mut array = Array::new(3)?;
    array.set_int(b"pid", i64::from(pid))?;
    array.set_int(b"code", code)?;
    array.set_int(b"signal", signal)?;
    Ok(array)
}

pub(super) fn wait(call: &Call) -> Result<(), Raise> {
    let blocking = call.bool(0, true)?;
    let state = State::existing().filter(|state| may_wait(state));
    let ended = match state {
        Some(state) if blocking => {
            suspend(&state, Wait::Outside("Process::wait()"), children::any_child())?.unwrap_or(Err(libc::ECANCELED))
        }
        // Children that coroutines wait for by their ids are left to these.
        Some(_) => children::any_child_now().and_then(|ended| ended.ok_or(libc::EAGAIN)),
        None if blocking => wait_blocking()?,
        None => reap().and_then(|ended| ended.ok_or(libc::EAGAIN)),
    };
    match ended {
        Ok(ended) => call.ret(ending(ended)?),
        Err(code) => {
            set_last_error(code);
            call.ret(false)
        }
    }
}

pub(super) fn signal(call: &Call) -> Result<(), Raise> {
    let given = call.int(0, 0)?;
    let number = signals::valid(given)
        .map_err(|why| call.value_error(0, &format!("must be a signal that can be handled, {given} given: {why}")))?;
    if matches!(call.view(1), View::Null) {
        if signals::unset(number) {
            return call.ret(true);
        }
        engine::warning(&format!("Apus\\Process::signal(): signal {number} has no handler"))?;
        return call.ret(false);
    }
    let callable = call.callable(1)?;
    if let Err(code) = signals::set(number, Action::Php(Rc::new(callable))) {
        warn("signal()", code)?;
        return call.ret(false);
    }
    // The loop that runs now, or the one that will: without one, handlers run between two opcodes.
    if let Err(code) = signals::serve(&State::get()?) {
        warn("signal()", code)?;
    }
    call.ret(true)
}

pub(super) fn alarm(call: &Call) -> Result<(), Raise> {
    let (time, which) = (call.int(0, 0)?, call.int(1, 0)?);
    if !(0..=2).contains(&which) {
        return Err(
            call.value_error(1, &format!("must be 0 (real time), 1 (user time) or 2 (CPU time), {which} given"))
        );
    }
    // Negative ends the alarm, as 0 does.
    let time = time.max(0);
    let interval =
        libc::timeval { tv_sec: (time / 1_000_000) as libc::time_t, tv_usec: (time % 1_000_000) as libc::suseconds_t };
    let setting = libc::itimerval { it_interval: interval, it_value: interval };
    // SAFETY: the record is local; there is no old one to fill.
    if unsafe { libc::setitimer(which as _, &raw const setting, std::ptr::null_mut()) } == 0 {
        return call.ret(true);
    }
    warn("alarm()", errno())?;
    call.ret(false)
}

/// The descriptors that the daemon gets in the place of its standard ones.
fn replacements(call: &Call, index: usize) -> Result<Vec<(RawFd, RawFd)>, Raise> {
    let mut pairs = Vec::new();
    let Some(given) = call.opt_array(index)? else { return Ok(pairs) };
    for (key, value) in given.iter() {
        let value = value.value();
        match (key, descriptor::of(&value)?) {
            (Key::Index(place @ 0..=2), Some(fd)) => pairs.push((fd, place as RawFd)),
            _ => return Err(call.content_error(index, "must hold streams or descriptors under the keys 0, 1 and 2")),
        }
    }
    Ok(pairs)
}

pub(super) fn daemon(call: &Call) -> Result<(), Raise> {
    let (stay, keep) = (call.bool(0, true)?, call.bool(1, true)?);
    let pairs = replacements(call, 2)?;
    expect_outside("Apus\\Process::daemon()")?;
    match fork::fork() {
        Err(code) => {
            warn("daemon()", code)?;
            return call.ret(false);
        }
        // SAFETY: takes any code; what the script has left to do is done by the child.
        Ok(pid) if pid > 0 => unsafe { libc::_exit(0) },
        Ok(_) => fork::begin_child(fork::Signals::Keep),
    }
    signals::moved();
    // SAFETY: has no preconditions.
    unsafe { libc::setsid() };
    if !stay {
        // SAFETY: a text that ends in NUL.
        unsafe { libc::chdir(c"/".as_ptr()) };
    }
    if !keep {
        // SAFETY: a text that ends in NUL.
        let null = unsafe { libc::open(c"/dev/null".as_ptr(), libc::O_RDWR | libc::O_CLOEXEC) };
        for target in 0..3 {
            // SAFETY: takes integers.
            unsafe { libc::dup2(null, target) };
        }
        // SAFETY: opened above, and known here only.
        unsafe { libc::close(null) };
    }
    for (fd, target) in pairs {
        // SAFETY: takes integers.
        unsafe { libc::dup2(fd, target) };
    }
    call.ret(true)
}

/// Processors that a set of the kernel's has room for.
const PROCESSORS: usize = libc::CPU_SETSIZE as usize;

pub(super) fn set_affinity(call: &Call) -> Result<(), Raise> {
    // SAFETY: an all-zero set is the empty set.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    let given = call.array(0)?;
    for (_, value) in given.iter() {
        match value.view() {
            View::Int(number) if (0..PROCESSORS as i64).contains(&number) => {
                // SAFETY: below the set's size.
                unsafe { libc::CPU_SET(number as usize, &mut set) };
            }
            _ => return Err(call.value_error(0, "must hold numbers of processors, from 0")),
        }
    }
    if given.is_empty() {
        return Err(call.value_error(0, "cannot be empty"));
    }
    // SAFETY: the set is local.
    if unsafe { libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const set) } == 0 {
        return call.ret(true);
    }
    warn("setAffinity()", errno())?;
    call.ret(false)
}

pub(super) fn get_affinity(call: &Call) -> Result<(), Raise> {
    // SAFETY: an all-zero set is the empty set.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: the set is local.
    unsafe { libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &raw mut set) };
    let mut array = Array::new(8)?;
    for number in 0..PROCESSORS {
        // SAFETY: below the set's size.
        if unsafe { libc::CPU_ISSET(number, &set) } {
            array.push(Value::int(number as i64))?;
        }
    }
    call.ret(array)
}
