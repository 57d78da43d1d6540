//! `Apus\Lock`: one process, or coroutine, at a time.

use std::cell::{Cell, RefCell};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::{Duration, Instant};

use apus_coro::Wait;
use apus_shm::{Lock as Shared, Mode, Taken, Untaken};
use apus_zend::class::{Class, Const, Constant, Method, Property};
use apus_zend::object::Object;
use apus_zend::{Call, Raise, Value, engine, handler, native};

use super::bell::{self, Ears, Unlocked, Waited};
use super::file_lock::{FileLock, pauses};
use crate::exception::{self, entry};
use crate::wait::{time_limit, wait};

/// PHP's `LOCK_SH`, `LOCK_EX` and `LOCK_NB`.
const SHARED: i64 = 1;
const EXCLUSIVE: i64 = 2;
const NO_WAIT: i64 = 4;

const RWLOCK: i64 = 1;
const FILELOCK: i64 = 2;
const MUTEX: i64 = 3;
const SEM: i64 = 4;
const SPINLOCK: i64 = 5;

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
        exception::throw(&exception::LOCK, "FILE", &format!("the file of the lock cannot be locked: {error}"))
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
    call.expect(0, 2)?;
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
        exception::throw(&exception::LOCK, "FILE", &format!("the file {path} of the lock cannot be opened: {error}"))
    })
}

fn set_err(call: &Call, code: i32) -> Result<(), Raise> {
    // SAFETY: $this is alive during the call.
    unsafe { Object::share_raw(call.this_object()?) }.set_slot(ERR_CODE_SLOT, Value::int(code.into()));
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
    call.expect(0, 2)?;
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
    call.expect(0, 0)?;
    acquire(call, "Lock::trylock()", Mode::Exclusive, Some(Duration::ZERO))
}

fn lock_read(call: &Call) -> Result<(), Raise> {
    call.expect(0, 0)?;
    acquire(call, "Lock::lock_read()", Mode::Shared, None)
}

fn try_lock_read(call: &Call) -> Result<(), Raise> {
    call.expect(0, 0)?;
    acquire(call, "Lock::trylock_read()", Mode::Shared, Some(Duration::ZERO))
}

fn lock_wait(call: &Call) -> Result<(), Raise> {
    call.expect(0, 1)?;
    let limit = time_limit(call, 0, 1.0)?;
    acquire(call, "Lock::lockwait()", Mode::Exclusive, limit)
}

fn unlock(call: &Call) -> Result<(), Raise> {
    call.expect(0, 0)?;
    let released = call.this::<Lock>()?.0.release()?;
    set_err(call, if released { 0 } else { libc::EPERM })?;
    call.ret(released)
}

fn recovered(call: &Call) -> Result<(), Raise> {
    call.expect(0, 0)?;
    call.ret(call.this::<Lock>()?.0.recovered.get())
}

fn destroy(call: &Call) -> Result<(), Raise> {
    call.expect(0, 0)?;
    let core = &call.this::<Lock>()?.0;
    let shared = core.shared.borrow_mut().take();
    if let (Some(shared), Some(file)) = (&shared, &core.file)
        && shared.held().is_some()
    {
        file.unlock();
    }
    Ok(())
}

const fn kind(name: &'static str, value: i64, doc: &'static str) -> Constant {
    Constant { name, value: Const::Int(value), doc }
}

const MUTEX_DOC: &str = "Type of an Apus\\Lock: one holds it.";
const RWLOCK_DOC: &str = "Type of an Apus\\Lock: one holds it (LOCK_EX), or many share it (LOCK_SH).";
const SPINLOCK_DOC: &str =
    "Type of an Apus\\Lock: as MUTEX, for what is held very shortly: looks again some times before it waits.";
const SEM_DOC: &str = "Type of an Apus\\Lock: as MUTEX, but any process may unlock it.";
const FILELOCK_DOC: &str =
    "Type of an Apus\\Lock: as RWLOCK, and against other programs that flock() the same file, too.";

/// The types as constants of the namespace.
pub(super) const TYPES: [Constant; 5] = [
    kind("Apus\\MUTEX", MUTEX, MUTEX_DOC),
    kind("Apus\\RWLOCK", RWLOCK, RWLOCK_DOC),
    kind("Apus\\SPINLOCK", SPINLOCK, SPINLOCK_DOC),
    kind("Apus\\SEM", SEM, SEM_DOC),
    kind("Apus\\FILELOCK", FILELOCK, FILELOCK_DOC),
];

const ENDS: &str = "@return bool false when it is not had: see $errCode\n\
    @throws \\Error when destroy() was called, or the system gives no descriptor to wait with\n\
    @throws \\Apus\\LockException FILE when the file of a FILELOCK cannot be locked\n";
const WAITS: &str = "@throws \\Apus\\Coroutine\\Exception CANNOT_SWITCH\n\
    @throws \\Apus\\Coroutine\\CanceledException when cancelled with an exception\n\
    Waits while it is not free.\n@since 0.1.0";

/// `Apus\Lock`.
pub(crate) static CLASS: Class = Class {
    name: "Apus\\Lock",
    modifiers: "",
    extends: "",
    implements: &[],
    doc: "A lock between processes, and between the coroutines of each: made before the server starts, it is the same in every worker. In a coroutine\n\
          that alone waits for it; outside, the process does, and handlers of signals run meanwhile.\n\
          It is held by a process: any code of it may unlock(). What a process held that ends, by SIGKILL too, is free; the next who locks gets true, with\n\
          $errCode 130 (EOWNERDEAD) and recovered() true if it was held alone: what the lock guards may be half-changed.\n\
          Of several processes that wait, any one gets it; who wants it alone goes before who wants to share it and does not yet.\n@since 0.1.0",
    constants: &[
        kind("MUTEX", MUTEX, MUTEX_DOC),
        kind("RWLOCK", RWLOCK, RWLOCK_DOC),
        kind("SPINLOCK", SPINLOCK, SPINLOCK_DOC),
        kind("SEM", SEM, SEM_DOC),
        kind("FILELOCK", FILELOCK, FILELOCK_DOC),
    ],
    properties: &[Property {
        decl: "public $errCode = 0",
        doc: "How the last operation ended: 0, or an errno: EOWNERDEAD (130; it is had, and the last holder died with it), EBUSY (16), ETIMEDOUT (110),\n\
              ECANCELED (125), EDEADLK (35: the waiting code itself has it), EPERM (1: unlock() of what this process has not).",
    }],
    methods: &[
        Method {
            decl: "public function __construct(int $type = 3, string $filename = '')",
            doc: "@param int $type Apus\\Lock::MUTEX, RWLOCK, SPINLOCK, SEM or FILELOCK\n\
                  @param string $filename of a FILELOCK: made if it is not there\n\
                  @throws \\ValueError for another type, or a FILELOCK without a file\n\
                  @throws \\Apus\\LockException FILE when it cannot be opened\n\
                  @throws \\Error when the system gives no memory to share\n@since 0.1.0",
            handler: Some(handler!(construct)),
        },
        Method {
            decl: "public function lock(int $operation = 2, float $timeout = -1): bool",
            doc: const_format::concatcp!(
                "Locks.\n\
                 @param int $operation LOCK_EX, or LOCK_SH to share a RWLOCK or FILELOCK with others that do; | LOCK_NB for no waiting\n\
                 @param float $timeout seconds; negative for no limit, 0 for no waiting\n\
                 @throws \\ValueError for another operation\n",
                ENDS,
                WAITS
            ),
            handler: Some(handler!(lock)),
        },
        Method {
            decl: "public function trylock(): bool",
            doc: const_format::concatcp!(
                "The same as lock(LOCK_EX | LOCK_NB).\n",
                ENDS,
                "Does not wait.\n@since 0.1.0"
            ),
            handler: Some(handler!(try_lock)),
        },
        Method {
            decl: "public function lock_read(): bool",
            doc: const_format::concatcp!("The same as lock(LOCK_SH).\n", ENDS, WAITS),
            handler: Some(handler!(lock_read)),
        },
        Method {
            decl: "public function trylock_read(): bool",
            doc: const_format::concatcp!(
                "The same as lock(LOCK_SH | LOCK_NB).\n",
                ENDS,
                "Does not wait.\n@since 0.1.0"
            ),
            handler: Some(handler!(try_lock_read)),
        },
        Method {
            decl: "public function lockwait(float $timeout = 1): bool",
            doc: const_format::concatcp!(
                "The same as lock(LOCK_EX, $timeout).\n@param float $timeout seconds; negative for no limit, 0 for no waiting\n",
                ENDS,
                WAITS
            ),
            handler: Some(handler!(lock_wait)),
        },
        Method {
            decl: "public function unlock(): bool",
            doc: "Unlocks once what this process has, whichever of its coroutines locked it; a SEM whoever has it.\n\
                  @return bool false when there is nothing to unlock: $errCode is 1 (EPERM)\n\
                  @throws \\Error when destroy() was called\nDoes not wait.\n@since 0.1.0",
            handler: Some(handler!(unlock)),
        },
        Method {
            decl: "public function recovered(): bool",
            doc: "Whether a process had died as the only holder before the last successful lock of this process: then look whether what it guards is whole.\n\
                  Sharers are told until one locks it alone.\nDoes not wait.\n@since 0.1.0",
            handler: Some(handler!(recovered)),
        },
        Method {
            decl: "public function destroy(): void",
            doc: "Gives the lock up for this process, unlocked; others go on using it. Without it that happens when the object goes.\n\
                  Does not wait.\n@since 0.1.0",
            handler: Some(handler!(destroy)),
        },
    ],
    native: true,
    lazy: None,
    entry: entry!(),
};
