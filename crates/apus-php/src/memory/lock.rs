//! `Apus\Lock`: one process, or coroutine, at a time.

use std::cell::{Cell, RefCell};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::{Duration, Instant};

use apus_coro::Wait;
use apus_shm::{Lock as Shared, Mode, Taken, Untaken};
use apus_zend::{Call, Raise, Value, engine, native};

use super::bell::{self, Ears, Unlocked, Waited};
use super::file_lock::{FileLock, pauses};
use crate::exception;
use crate::wait::{time_limit, wait};

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
const ERR_CODE_SLOT: u32 = 0;

struct Core {
    kind: i64,
    /// What is between the processes of this program; dropped by `destroy()`.
    shared: RefCell<Option<Rc<Shared>>>,
    file: Option<FileLock>,
    ears: Ears,
    /// The coroutines of this process that have it, as often as they have; -1 for code outside.
    takers: RefCell<Vec<i64>>,
    recovered: Cell<bool>,
}

struct Lock(Rc<Core>);

native!(Lock, "Apus\\Lock");

/// How an attempt ended: `Ok(died)`, or an errno.
type Outcome = Result<bool, i32>;

impl Core {
    fn shared(&self) -> Result<Rc<Shared>, Raise> {
        self.shared.borrow().clone().ok_or_else(|| engine::throw_error("the lock was destroyed: destroy() was called"))
    }

    /// What the kind makes of a wish to share.
    fn mode(&self, mode: Mode) -> Mode {
        if matches!(self.kind, RWLOCK | FILELOCK) { mode } else { Mode::Exclusive }
    }

    fn acquire(&self, what: &'static str, mode: Mode, limit: Option<Duration>) -> Result<Outcome, Raise> {
        let (shared, mode) = (self.shared()?, self.mode(mode));
        let until = bell::deadline(limit);
        let now = limit.is_some_and(|limit| limit.is_zero());
        let again = mode == Mode::Shared && shared.held() == Some(Mode::Shared) && self.has_it();
        let outcome = match self.try_now(&shared, mode) {
            Ok(taken) => Ok(taken.after_death),
            Err(Untaken::Busy(_)) if again && shared.share_again() => Ok(false),
            Err(Untaken::TooMany) => return Err(too_many()),
            Err(Untaken::Busy(_)) if now => Err(libc::EBUSY),
            Err(Untaken::Busy(_)) if self.would_wait_for_itself(&shared, mode) => Err(libc::EDEADLK),
            Err(Untaken::Busy(_)) => self.wait(&shared, what, mode, until)?,
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

    fn try_now(&self, shared: &Shared, mode: Mode) -> Result<Taken, Untaken> {
        let mut tried = shared.try_take(mode);
        if self.kind == SPINLOCK {
            for _ in 0..SPINS {
                if !matches!(tried, Err(Untaken::Busy(_))) {
                    break;
                }
                std::hint::spin_loop();
                if shared.looks_free() {
                    tried = shared.try_take(mode);
                }
            }
        }
        tried
    }

    /// Whether only the waiting code itself could give it back: the whole process outside coroutines, or the coroutine that has it. A semaphore may be given back by
    /// any process.
    fn would_wait_for_itself(&self, shared: &Shared, mode: Mode) -> bool {
        let held = shared.held();
        let conflicts = held == Some(Mode::Exclusive) || (held == Some(Mode::Shared) && mode == Mode::Exclusive);
        self.kind != SEM
            && conflicts
            && match bell::coroutine() {
                None => true,
                Some(_) => self.has_it(),
            }
    }

    /// Whether the running coroutine, or the code outside, is among those of this process that have it.
    fn has_it(&self) -> bool {
        self.takers.borrow().contains(&runner())
    }

    fn wait(&self, shared: &Shared, what: &'static str, mode: Mode, until: Option<Instant>) -> Result<Outcome, Raise> {
        match bell::wait_for_lock(shared, &self.ears, what, mode, until)? {
            Waited::Got(Ok(taken)) => Ok(Ok(taken.after_death)),
            Waited::Got(Err(Unlocked::TooMany)) => Err(too_many()),
            Waited::Got(Err(Unlocked::Deaf(error))) => Err(bell::deaf(&error)),
            Waited::TimedOut => Ok(Err(libc::ETIMEDOUT)),
            Waited::Cancelled => Ok(Err(libc::ECANCELED)),
        }
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

    fn release(&self) -> Result<bool, Raise> {
        let shared = self.shared()?;
        if shared.held().is_none() {
            return Ok(self.kind == SEM && shared.release_anybodys());
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
    bell::coroutine().map_or(-1, |state| state.engine.current_id())
}

fn too_many() -> Raise {
    engine::throw_error("more than 8,192 processes of this program use locks at once")
}

/// Waits until no other program has the file.
fn lock_file(
    file: &FileLock,
    what: &'static str,
    mode: Mode,
    until: Option<Instant>,
    now: bool,
) -> Result<Result<(), i32>, Raise> {
    let failed = |error: std::io::Error| {
        exception::throw(exception::code::lock::FILE, &format!("the file of the lock cannot be locked: {error}"))
    };
    for pause in pauses() {
        if file.try_lock(mode).map_err(failed)? {
            return Ok(Ok(()));
        }
        let left = until.map(|until| until.saturating_duration_since(Instant::now()));
        if now {
            return Ok(Err(libc::EBUSY));
        }
        if left.is_some_and(|left| left.is_zero()) {
            return Ok(Err(libc::ETIMEDOUT));
        }
        let pause = left.map_or(pause, |left| left.min(pause));
        if let Some(state) = bell::coroutine() {
            if wait(&state, Wait::Outside(what), async move { tokio::time::sleep(pause).await })?.is_none() {
                return Ok(Err(libc::ECANCELED));
            }
        } else {
            std::thread::sleep(pause);
            bell::handle_signals()?;
        }
    }
    Ok(Err(libc::ETIMEDOUT))
}

fn construct(call: &Call) -> Result<(), Raise> {
    let (kind, path) = (call.int(0, MUTEX)?, call.opt_bytes(1)?.unwrap_or_default());
    if !(RWLOCK..=SPINLOCK).contains(&kind) {
        let text = format!("must be Apus\\Lock::MUTEX, RWLOCK, SPINLOCK, SEM or FILELOCK, {kind} given");
        return Err(call.value_error(0, &text));
    }
    let file = match (kind, path) {
        (FILELOCK, b"") => return Err(call.value_error(1, "must be the path of a file for a FILELOCK")),
        (FILELOCK, path) => Some(open(path)?),
        _ => None,
    };
    let shared = Shared::new()
        .map_err(|error| engine::throw_error(&format!("no memory could be shared for the lock: {error}")))?;
    call.construct(Lock(Rc::new(Core {
        kind,
        shared: RefCell::new(Some(Rc::new(shared))),
        file,
        ears: Ears::default(),
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

fn set_err(call: &Call, code: i32) -> Result<(), Raise> {
    call.object()?.set_slot(ERR_CODE_SLOT, Value::int(code.into()));
    Ok(())
}

fn acquire(call: &Call, what: &'static str, mode: Mode, limit: Option<Duration>) -> Result<(), Raise> {
    let core = Rc::clone(&call.this::<Lock>()?.0);
    let outcome = core.acquire(what, mode, limit)?;
    if let Ok(died) = outcome {
        core.recovered.set(died);
        core.took();
    }
    let code = match outcome {
        Ok(false) => 0,
        Ok(true) => libc::EOWNERDEAD,
        Err(code) => code,
    };
    set_err(call, code)?;
    call.ret(outcome.is_ok())
}

fn lock(call: &Call) -> Result<(), Raise> {
    let operation = call.int(0, EXCLUSIVE)?;
    let mode = match operation & !NO_WAIT {
        SHARED => Mode::Shared,
        EXCLUSIVE => Mode::Exclusive,
        _ => return Err(call.value_error(0, "must be LOCK_EX or LOCK_SH, or one of these | LOCK_NB")),
    };
    let limit = time_limit(call, 1, -1.0)?;
    let limit = if operation & NO_WAIT == 0 { limit } else { Some(Duration::ZERO) };
    acquire(call, "Lock::lock()", mode, limit)
}

fn try_lock(call: &Call) -> Result<(), Raise> {
    acquire(call, "Lock::trylock()", Mode::Exclusive, Some(Duration::ZERO))
}

fn lock_read(call: &Call) -> Result<(), Raise> {
    acquire(call, "Lock::lock_read()", Mode::Shared, None)
}

fn try_lock_read(call: &Call) -> Result<(), Raise> {
    acquire(call, "Lock::trylock_read()", Mode::Shared, Some(Duration::ZERO))
}

fn lock_wait(call: &Call) -> Result<(), Raise> {
    let limit = time_limit(call, 0, 1.0)?;
    acquire(call, "Lock::lockwait()", Mode::Exclusive, limit)
}

fn unlock(call: &Call) -> Result<(), Raise> {
    let released = call.this::<Lock>()?.0.release()?;
    set_err(call, if released { 0 } else { libc::EPERM })?;
    call.ret(released)
}

fn recovered(call: &Call) -> Result<(), Raise> {
    call.ret(call.this::<Lock>()?.0.recovered.get())
}

fn destroy(call: &Call) -> Result<(), Raise> {
    let core = &call.this::<Lock>()?.0;
    let shared = core.shared.borrow_mut().take();
    if let (Some(shared), Some(file)) = (&shared, &core.file)
        && shared.held().is_some()
    {
        file.unlock();
    }
    Ok(())
}

apus_zend::stub!("memory/lock");
