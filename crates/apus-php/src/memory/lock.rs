//! `Apus\Lock`: one process, or coroutine, at a time.

use std::cell::{Cell, RefCell};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

use apus_coro::Wait;
use apus_shm::{Mode, Taken};
use apus_zend::arg::{Given, Me, Want};
use apus_zend::object::Object;
use apus_zend::{Raise, Value, engine, native};

use super::file_lock::{FileLock, pauses};
use super::notifier::{self, ProcessLock};
use crate::exception;
use crate::swoole;
use crate::wait::{Deadline, Timeout, Waited, wait};

/// PHP's `LOCK_SH`, `LOCK_EX` and `LOCK_NB`.
const SHARED: i64 = 1;
const EXCLUSIVE: i64 = 2;
const NO_WAIT: i64 = 4;

pub(super) const RWLOCK: i64 = 1;
pub(super) const FILELOCK: i64 = 2;
pub(super) const MUTEX: i64 = 3;
pub(super) const SEM: i64 = 4;
pub(super) const SPINLOCK: i64 = 5;

/// How often a SPINLOCK looks again before it waits as the others do: some ten microseconds.
const SPINS: usize = 1000;

struct Core {
    kind: i64,
    /// What is between the processes of this program; dropped by `destroy()`.
    shared: RefCell<Option<Rc<ProcessLock>>>,
    file: Option<FileLock>,
    /// The coroutines of this process that have it, as often as they have; -1 for code outside.
    takers: RefCell<Vec<i64>>,
    recovered: Cell<bool>,
}

struct Lock(Rc<Core>);

native!(Lock, "Apus\\Lock");

/// How an attempt ended: `Ok(died)`, or an errno.
type Outcome = Result<bool, i32>;

impl Core {
    fn shared(&self) -> Result<Rc<ProcessLock>, Raise> {
        self.shared.borrow().clone().ok_or_else(|| engine::throw_error("the lock was destroyed: destroy() was called"))
    }

    /// What the kind makes of a wish to share.
    fn mode(&self, mode: Mode) -> Mode {
        if matches!(self.kind, RWLOCK | FILELOCK) { mode } else { Mode::Exclusive }
    }

    fn acquire(&self, what: &'static str, mode: Mode, timeout: Timeout) -> Result<Outcome, Raise> {
        let (shared, mode) = (self.shared()?, self.mode(mode));
        let until = Deadline::after(timeout.limit());
        let now = timeout.is_zero();
        let again = mode == Mode::Shared && shared.held() == Some(Mode::Shared) && self.has_it();
        let outcome = match self.try_now(&shared, mode)? {
            Some(taken) => Ok(taken.after_death),
            None if again && shared.share_again() => Ok(false),
            None if now => Err(libc::EBUSY),
            None if self.would_wait_for_itself(&shared, mode) => Err(libc::EDEADLK),
            None => match shared.wait(what, mode, until)? {
                Waited::Got(taken) => Ok(taken.after_death),
                Waited::TimedOut => Err(libc::ETIMEDOUT),
                Waited::Cancelled => Err(libc::ECANCELED),
            },
        };
        match (outcome, &self.file) {
            (Ok(died), Some(file)) => match lock_file(file, what, mode, until, now) {
                Ok(Ok(())) => Ok(Ok(died)),
                failed => {
                    if died {
                        shared.pass_on_death();
                    }
                    shared.release();
                    failed.map(|failed| failed.map(|()| died))
                }
            },
            (outcome, _) => Ok(outcome),
        }
    }

    fn try_now(&self, shared: &ProcessLock, mode: Mode) -> Result<Option<Taken>, Raise> {
        let mut taken = shared.take(mode)?;
        if self.kind == SPINLOCK {
            for _ in 0..SPINS {
                if taken.is_some() {
                    break;
                }
                std::hint::spin_loop();
                if shared.looks_free() {
                    taken = shared.take(mode)?;
                }
            }
        }
        Ok(taken)
    }

    /// Whether only the waiting code itself could give it back: the whole process outside coroutines, or the coroutine
    /// that has it. A semaphore may be given back by any process.
    fn would_wait_for_itself(&self, shared: &ProcessLock, mode: Mode) -> bool {
        let held = shared.held();
        let conflicts = held == Some(Mode::Exclusive) || (held == Some(Mode::Shared) && mode == Mode::Exclusive);
        self.kind != SEM
            && conflicts
            && match notifier::coroutine() {
                None => true,
                Some(_) => self.has_it(),
            }
    }

    /// Whether the running coroutine, or the code outside, is among those of this process that have it.
    fn has_it(&self) -> bool {
        self.takers.borrow().contains(&runner())
    }

    /// The running code has it once more.
    fn took(&self) {
        let mut takers = self.takers.borrow_mut();
        // What was taken from this process, or before it was forked, is forgotten.
        if self
            .shared
            .borrow()
            .as_ref()
            .is_none_or(|shared| shared.held() == Some(Mode::Exclusive) || shared.shares() <= 1)
        {
            takers.clear();
        }
        takers.push(runner());
    }

    /// `any`: what another process has, too.
    fn release(&self, any: bool) -> Result<bool, Raise> {
        let shared = self.shared()?;
        if shared.held().is_none() {
            return Ok(any && shared.release_anybodys());
        }
        let mut takers = self.takers.borrow_mut();
        // Any code may give back what another took.
        let at = takers.iter().rposition(|taker| *taker == runner()).unwrap_or(takers.len().saturating_sub(1));
        if at < takers.len() {
            takers.swap_remove(at);
        }
        drop(takers);
        // First what is taken last.
        if let Some(file) = &self.file {
            file.unlock();
        }
        Ok(shared.release())
    }
}

impl Drop for Core {
    fn drop(&mut self) {
        if let (Some(shared), Some(file)) = (self.shared.get_mut(), &self.file)
            && shared.held().is_some()
        {
            file.unlock();
        }
    }
}

/// The running coroutine; -1 for code outside.
fn runner() -> i64 {
    notifier::coroutine().map_or(-1, |state| state.engine.current_id())
}

/// Waits until no other program has the file.
fn lock_file(
    file: &FileLock,
    what: &'static str,
    mode: Mode,
    until: Deadline,
    now: bool,
) -> Result<Result<(), i32>, Raise> {
    let failed = |error: std::io::Error| {
        exception::throw(exception::code::lock::FILE, &format!("the file of the lock cannot be locked: {error}"))
    };
    for pause in pauses() {
        if file.try_lock(mode).map_err(failed)? {
            return Ok(Ok(()));
        }
        if now {
            return Ok(Err(libc::EBUSY));
        }
        if until.is_over() {
            return Ok(Err(libc::ETIMEDOUT));
        }
        if !rest(what, until.within(pause))? {
            return Ok(Err(libc::ECANCELED));
        }
    }
    Ok(Err(libc::ETIMEDOUT))
}

/// Lets that time pass; `false`: the coroutine was cancelled.
fn rest(what: &'static str, pause: Duration) -> Result<bool, Raise> {
    if let Some(state) = notifier::coroutine() {
        return Ok(wait(&state, Wait::Outside(what), async move { tokio::time::sleep(pause).await })?.is_some());
    }
    std::thread::sleep(pause);
    notifier::handle_signals()?;
    Ok(true)
}

fn construct(kind: Given<i64>, path: Given<&[u8]>) -> Result<Lock, Raise> {
    if !(RWLOCK..=SPINLOCK).contains(&kind.value) {
        return Err(kind.must_be("Apus\\Lock::MUTEX, RWLOCK, SPINLOCK, SEM or FILELOCK"));
    }
    let file = match (kind.value, path.value) {
        (FILELOCK, b"") => return Err(path.value_error("must be the path of a file for a FILELOCK")),
        (FILELOCK, path) => Some(open(path)?),
        _ => None,
    };
    Ok(Lock(Rc::new(Core {
        kind: kind.value,
        shared: RefCell::new(Some(Rc::new(ProcessLock::new()?))),
        file,
        takers: RefCell::default(),
        recovered: Cell::new(false),
    })))
}

fn open(path: &[u8]) -> Result<FileLock, Raise> {
    let absolute = std::path::absolute(PathBuf::from(std::ffi::OsStr::from_bytes(path)));
    absolute.and_then(FileLock::new).map_err(|error| {
        let path = String::from_utf8_lossy(path);
        exception::throw(exception::code::lock::FILE, &format!("the file {path} of the lock cannot be opened: {error}"))
    })
}

/// `$operation`: how to lock, and whether to wait.
pub(crate) struct Operation {
    pub(crate) mode: Mode,
    pub(crate) no_wait: bool,
}

impl Want<i64> for Operation {
    fn want(given: Given<i64>) -> Result<Self, Raise> {
        let mode = match given.value & !NO_WAIT {
            SHARED => Mode::Shared,
            EXCLUSIVE => Mode::Exclusive,
            0 if given.value == NO_WAIT && swoole::is_on() => Mode::Exclusive,
            _ => return Err(given.value_error("must be LOCK_EX or LOCK_SH, or one of these | LOCK_NB")),
        };
        Ok(Self { mode, no_wait: given.value & NO_WAIT != 0 })
    }
}

fn set_err(object: &Object, code: i32) {
    object.set_slot(slot::class::ERR_CODE, Value::int(code.into()));
}

fn acquire(lock: &Me<'_, Lock>, what: &'static str, mode: Mode, timeout: Timeout) -> Result<bool, Raise> {
    let core = Rc::clone(&lock.0);
    let outcome = match (core.acquire(what, mode, timeout)?, timeout.limit()) {
        // There the time passes even where only the waiting code itself could end it.
        (Err(libc::EDEADLK), Some(limit)) if lock.object.name_there().is_some() => {
            Err(if rest(what, limit)? { libc::ETIMEDOUT } else { libc::ECANCELED })
        }
        (outcome, _) => outcome,
    };
    if let Ok(died) = outcome {
        core.recovered.set(died);
        core.took();
    }
    let code = match outcome {
        Ok(false) => 0,
        Ok(true) => libc::EOWNERDEAD,
        Err(code) => code,
    };
    set_err(&lock.object, code);
    Ok(outcome.is_ok())
}

fn lock(lock: Me<'_, Lock>, operation: Operation, timeout: Timeout) -> Result<bool, Raise> {
    let timeout = if operation.no_wait { Timeout::ZERO } else { timeout };
    acquire(&lock, "Lock::lock()", operation.mode, timeout)
}

fn try_lock(lock: Me<'_, Lock>) -> Result<bool, Raise> {
    acquire(&lock, "Lock::trylock()", Mode::Exclusive, Timeout::ZERO)
}

fn lock_read(lock: Me<'_, Lock>) -> Result<bool, Raise> {
    acquire(&lock, "Lock::lock_read()", Mode::Shared, Timeout::NEVER)
}

fn try_lock_read(lock: Me<'_, Lock>) -> Result<bool, Raise> {
    acquire(&lock, "Lock::trylock_read()", Mode::Shared, Timeout::ZERO)
}

fn lock_wait(lock: Me<'_, Lock>, timeout: Timeout) -> Result<bool, Raise> {
    acquire(&lock, "Lock::lockwait()", Mode::Exclusive, timeout)
}

fn unlock(lock: Me<'_, Lock>) -> Result<bool, Raise> {
    // There only those who share a lock know whether they do.
    let any = lock.0.kind == SEM || (lock.0.kind != RWLOCK && lock.object.is_second(&CLASS));
    let released = lock.0.release(any)?;
    set_err(&lock.object, if released { 0 } else { libc::EPERM });
    Ok(released)
}

fn recovered(lock: &Lock) -> bool {
    lock.0.recovered.get()
}

fn destroy(lock: &Lock) {
    let core = &lock.0;
    let shared = core.shared.borrow_mut().take();
    if let (Some(shared), Some(file)) = (&shared, &core.file)
        && shared.held().is_some()
    {
        file.unlock();
    }
}

apus_zend::stub!("memory/lock");
