//! `Apus\Coroutine\Lock`: one coroutine at a time, or several that only read.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::{Duration, Instant};

use apus_coro::{Held, Task, TaskId, Wait};
use apus_process::log;
use apus_shm::{Lock as Shared, Mode, Untaken};
use apus_zend::{Call, Raise, Value, engine, native};

use super::line::{Line, Unserved, wait_in};
use crate::exception;
use crate::memory::bell::{Ears, Unlocked, deaf, take_lock};
use crate::runtime::{PhpSwitch, State};
use crate::wait::{expect_suspendable, limit, seconds, wait};

const LOCK: &str = "Coroutine\\Lock::lock()";
const TRY_LOCK: &str = "Coroutine\\Lock::trylock()";

/// PHP's `LOCK_SH`, `LOCK_EX` and `LOCK_NB`.
const SHARED: i64 = 1;
const EXCLUSIVE: i64 = 2;
const NO_WAIT: i64 = 4;

/// A coroutine that holds the lock.
struct Holder {
    task: Rc<Task<PhpSwitch>>,
    mode: Mode,
    /// How often it has to unlock.
    depth: usize,
}

/// The state of a lock. While one holds it exclusively, it is the only holder.
#[derive(Default)]
struct Core {
    holders: RefCell<Vec<Holder>>,
    waiters: Line<(), Mode>,
    process: Option<Process>,
}

/// What a lock between processes has besides.
struct Process {
    lock: Shared,
    ears: Ears,
    /// This process has it, for its coroutines that hold the lock.
    taken: Cell<bool>,
    /// It was taken after the death of its holder, and nobody was told.
    bereaved: Cell<bool>,
    /// The process that the coroutines above are of.
    id: Cell<u32>,
}

#[derive(Default)]
struct Lock(Rc<Core>);

native!(Lock, "Apus\\Coroutine\\Lock");

impl Drop for Lock {
    /// Nobody can wait for a lock whose object is gone: that it is held is no matter any more.
    fn drop(&mut self) {
        for holder in self.0.holders.take() {
            holder.task.give_back(&self.0);
        }
        self.0.release_process();
    }
}

impl Core {
    fn is_free_for(&self, mode: Mode) -> bool {
        let holders = self.holders.borrow();
        match mode {
            Mode::Exclusive => holders.is_empty(),
            Mode::Shared => holders.first().is_none_or(|holder| holder.mode == Mode::Shared),
        }
    }

    fn give(self: &Rc<Self>, task: &Rc<Task<PhpSwitch>>, mode: Mode) {
        let held: Rc<dyn Held> = Rc::<Self>::clone(self);
        task.hold(held);
        self.holders.borrow_mut().push(Holder { task: Rc::clone(task), mode, depth: 1 });
    }

    /// To be called when the last holder has left.
    fn release_process(&self) {
        if let Some(process) = &self.process {
            process.taken.set(false);
            process.lock.release();
        }
    }

    /// In a forked child: who holds the lock there is another process's, and was seen by it alone.
    fn notice_fork(self: &Rc<Self>) {
        if let Some(process) = &self.process
            && process.id.replace(std::process::id()) != std::process::id()
        {
            process.taken.set(false);
            for holder in self.holders.take() {
                holder.task.give_back(self);
            }
        }
    }

    /// What the coroutine holds among those of this process, it gets among processes, too. `Some`: it did not, and holds nothing.
    fn take_process(
        self: &Rc<Self>,
        state: &State,
        mode: Mode,
        what: &'static str,
        limit: Option<Duration>,
    ) -> Result<Option<Unserved>, Raise> {
        let Some(process) = self.process.as_ref().filter(|process| !process.taken.get()) else { return Ok(None) };
        let waited = match process.lock.try_take(mode) {
            Ok(taken) => {
                process.bereaved.set(taken.after_death);
                Ok(Some(true))
            }
            Err(Untaken::Busy(_)) if limit.is_some_and(|limit| limit.is_zero()) => Ok(Some(false)),
            Err(_) => process.wait(state, mode, what, limit),
        };
        let unserved = match &waited {
            Ok(Some(true)) => {
                process.taken.set(true);
                return Ok(None);
            }
            Ok(Some(false)) => Unserved::TimedOut,
            Ok(None) | Err(_) => Unserved::Cancelled,
        };
        self.leave(state.engine.current_id());
        waited.map(|_| Some(unserved))
    }

    /// Ends what a coroutine holds, however often it locked.
    fn leave(self: &Rc<Self>, id: TaskId) {
        let at = self.holders.borrow().iter().position(|holder| holder.task.id() == id);
        if let Some(at) = at {
            let holder = self.holders.borrow_mut().swap_remove(at);
            holder.task.give_back(self);
            self.went();
        }
    }

    /// A holder has gone.
    fn went(self: &Rc<Self>) {
        if self.holders.borrow().is_empty() {
            self.release_process();
        }
        self.pass_on();
    }

    /// Gives the lock to the first who wait, as far as it is free for them.
    fn pass_on(self: &Rc<Self>) {
        while let Some(mode) = self.waiters.first()
            && self.is_free_for(mode)
            && let Some((waiter, mode)) = self.waiters.take()
        {
            self.give(waiter.task(), mode);
            waiter.serve_later(());
        }
    }

    /// Locks once more what the task holds already. `None`: it holds nothing.
    fn again(&self, id: TaskId, mode: Mode) -> Option<Result<(), Raise>> {
        let mut holders = self.holders.borrow_mut();
        let holder = holders.iter_mut().find(|holder| holder.task.id() == id)?;
        if mode == Mode::Exclusive && holder.mode == Mode::Shared {
            return Some(Err(exception::throw(
                exception::code::coroutine::STATE,
                "the coroutine holds this lock shared (LOCK_SH) and would wait for itself: unlock() it before LOCK_EX",
            )));
        }
        holder.depth += 1;
        Some(Ok(()))
    }

    fn unlock(self: &Rc<Self>, id: TaskId) -> Result<(), Raise> {
        let mut holders = self.holders.borrow_mut();
        let Some(at) = holders.iter().position(|holder| holder.task.id() == id) else {
            let by: Vec<String> = holders.iter().take(10).map(|holder| holder.task.id().to_string()).collect();
            drop(holders);
            let by = if by.is_empty() { "nobody does".to_owned() } else { format!("coroutine {} does", by.join(", ")) };
            let who = if id == -1 { "code outside coroutines".to_owned() } else { format!("coroutine {id}") };
            let text = format!("{who} cannot unlock what it does not hold; {by}");
            return Err(exception::throw(exception::code::coroutine::NOT_HELD, &text));
        };
        holders[at].depth -= 1;
        if holders[at].depth > 0 {
            return Ok(());
        }
        drop(holders);
        self.leave(id);
        Ok(())
    }
}

impl Process {
    /// Waits until this process has it; `Some(false)`: the time was over.
    fn wait(
        &self,
        state: &State,
        mode: Mode,
        what: &'static str,
        limit: Option<Duration>,
    ) -> Result<Option<bool>, Raise> {
        let limit = limit.unwrap_or(Duration::MAX);
        let taking = async { tokio::time::timeout(limit, take_lock(&self.lock, &self.ears, mode)).await };
        match wait(state, Wait::Outside(what), taking)? {
            Some(Ok(Ok(taken))) => {
                self.bereaved.set(taken.after_death);
                Ok(Some(true))
            }
            Some(Ok(Err(Unlocked::TooMany))) => {
                Err(engine::throw_error("more than 8,192 processes of this program use locks at once"))
            }
            Some(Ok(Err(Unlocked::Deaf(error)))) => Err(deaf(&error)),
            Some(Err(_)) => Ok(Some(false)),
            None => Ok(None),
        }
    }
}

/// What a coroutine shares with its lock while it holds it.
impl Held for Core {
    fn abandoned(self: Rc<Self>, by: TaskId) {
        let held = self.holders.borrow_mut().extract_if(.., |holder| holder.task.id() == by).count();
        if held > 0 {
            log::warning(format_args!(
                "coroutine {by} ended while it held a Coroutine\\Lock, which was unlocked: unlock() belongs into finally"
            ));
            self.went();
        }
    }
}

fn construct(call: &Call) -> Result<(), Raise> {
    let mut core = Core::default();
    if call.bool(0, false)? {
        let lock = Shared::new()
            .map_err(|error| engine::throw_error(&format!("no memory could be shared for the lock: {error}")))?;
        core.process = Some(Process {
            lock,
            ears: Ears::default(),
            taken: Cell::new(false),
            bereaved: Cell::new(false),
            id: Cell::new(std::process::id()),
        });
    }
    call.construct(Lock(Rc::new(core)))
}

fn set_err(call: &Call, code: i64) -> Result<(), Raise> {
    call.object()?.set_slot(0, Value::int(code));
    Ok(())
}

fn operation(call: &Call) -> Result<(Mode, bool), Raise> {
    let operation = call.int(0, EXCLUSIVE)?;
    let mode = match operation & !NO_WAIT {
        SHARED => Mode::Shared,
        EXCLUSIVE => Mode::Exclusive,
        _ => return Err(call.value_error(0, "must be LOCK_EX or LOCK_SH, or one of these | LOCK_NB")),
    };
    Ok((mode, operation & NO_WAIT != 0))
}

fn acquire(call: &Call, what: &'static str, may_wait: bool) -> Result<(), Raise> {
    let (mode, no_wait) = operation(call)?;
    let seconds = seconds(call, 1, -1.0)?;
    let core = Rc::clone(&call.this::<Lock>()?.0);
    let state = State::get()?;
    expect_suspendable(&state, what)?;
    let Some(task) = state.engine.current() else { return call.ret(false) };
    core.notice_fork();
    let unserved = if let Some(locked) = core.again(task.id(), mode) {
        locked?;
        None
    } else {
        let no_wait = no_wait || !may_wait || seconds == 0.0;
        let limit = if no_wait { Some(Duration::ZERO) } else { limit(seconds) };
        let unserved = acquire_new(&core, &state, &task, mode, what, limit)?;
        if no_wait && unserved.is_some() { Some(libc::EBUSY) } else { unserved.map(errno) }
    };
    let bereaved = unserved.is_none() && core.process.as_ref().is_some_and(|process| process.bereaved.take());
    let had = if bereaved { libc::EOWNERDEAD } else { 0 };
    set_err(call, unserved.unwrap_or(had).into())?;
    call.ret(unserved.is_none())
}

fn errno(unserved: Unserved) -> i32 {
    if unserved == Unserved::TimedOut { libc::ETIMEDOUT } else { libc::ECANCELED }
}

/// Locks what the running coroutine does not hold: first among the coroutines of this process, then among processes.
fn acquire_new(
    core: &Rc<Core>,
    state: &State,
    task: &Rc<Task<PhpSwitch>>,
    mode: Mode,
    what: &'static str,
    limit: Option<Duration>,
) -> Result<Option<Unserved>, Raise> {
    let begin = limit.map(|_| Instant::now());
    if core.waiters.first().is_none() && core.is_free_for(mode) {
        core.give(task, mode);
    } else if limit.is_some_and(|limit| limit.is_zero()) {
        return Ok(Some(Unserved::TimedOut));
    } else {
        let waited = wait_in(&core.waiters, mode, state, what, limit);
        if !matches!(waited, Ok(Ok(()))) {
            // It may have been what kept those behind it.
            core.pass_on();
        }
        if let Err(unserved) = waited? {
            return Ok(Some(unserved));
        }
    }
    let left = limit.zip(begin).map(|(limit, begin)| limit.saturating_sub(begin.elapsed()));
    core.take_process(state, mode, what, left)
}

fn lock(call: &Call) -> Result<(), Raise> {
    acquire(call, LOCK, true)
}

fn try_lock(call: &Call) -> Result<(), Raise> {
    acquire(call, TRY_LOCK, false)
}

fn unlock(call: &Call) -> Result<(), Raise> {
    let core = Rc::clone(&call.this::<Lock>()?.0);
    core.unlock(State::existing().map_or(-1, |state| state.engine.current_id()))?;
    set_err(call, 0)?;
    call.ret(true)
}

apus_zend::stub!("sync/lock");
