//! `Apus\Coroutine\Lock`: one coroutine at a time, or several that only read.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use apus_coro::{Held, Task, TaskId};
use apus_process::log;
use apus_shm::{ForkEpoch, Mode, Taken};
use apus_zend::arg::Me;
use apus_zend::{Raise, Value, native};

use super::line::{Line, LineError, wait_in};
use crate::exception;
use crate::memory::lock::Operation;
use crate::memory::notifier::ProcessLock;
use crate::runtime::{PhpSwitch, State};
use crate::wait::{Deadline, Timeout, Waited, expect_suspendable};

const LOCK: &str = "Coroutine\\Lock::lock()";
const TRY_LOCK: &str = "Coroutine\\Lock::trylock()";

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
    /// A coroutine may end while it has it: code written for Swoole may.
    leaves: Cell<bool>,
}

/// What a lock between processes has besides.
struct Process {
    lock: ProcessLock,
    /// This process has it, for its coroutines that hold the lock.
    taken: Cell<bool>,
    /// It was taken after the death of its holder, and nobody was told.
    owner_died: Cell<bool>,
    /// The process that the coroutines above are of.
    id: Cell<ForkEpoch>,
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
            && !process.id.replace(ForkEpoch::now()).is_now()
        {
            process.taken.set(false);
            for holder in self.holders.take() {
                holder.task.give_back(self);
            }
        }
    }

    /// What the coroutine holds among those of this process, it gets among processes, too. `Some`: it did not, and
    /// holds nothing.
    fn take_process(
        self: &Rc<Self>,
        state: &State,
        mode: Mode,
        what: &'static str,
        until: Deadline,
    ) -> Result<Option<LineError>, Raise> {
        let Some(process) = self.process.as_ref().filter(|process| !process.taken.get()) else { return Ok(None) };
        let waited = process.take(mode, what, until);
        let unserved = match &waited {
            Ok(Waited::Got(taken)) => {
                process.owner_died.set(taken.after_death);
                process.taken.set(true);
                return Ok(None);
            }
            Ok(Waited::TimedOut) => LineError::TimedOut,
            Ok(Waited::Cancelled) | Err(_) => LineError::Cancelled,
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
    fn take(&self, mode: Mode, what: &'static str, until: Deadline) -> Result<Waited<Taken>, Raise> {
        match self.lock.take(mode)? {
            Some(taken) => Ok(Waited::Got(taken)),
            None if until.is_over() => Ok(Waited::TimedOut),
            None => self.lock.wait(what, mode, until),
        }
    }
}

/// What a coroutine shares with its lock while it holds it.
impl Held for Core {
    fn abandoned(self: Rc<Self>, by: TaskId) {
        let held = self.holders.borrow_mut().extract_if(.., |holder| holder.task.id() == by).count();
        if held > 0 && !self.leaves.get() {
            log::warning(format_args!(
                "coroutine {by} ended while it held a Coroutine\\Lock, which was unlocked: unlock() belongs into finally"
            ));
            self.went();
        }
    }
}

fn construct_leaving(shared: bool) -> Result<Lock, Raise> {
    let lock = construct(shared)?;
    lock.0.leaves.set(true);
    Ok(lock)
}

fn construct(shared: bool) -> Result<Lock, Raise> {
    let mut core = Core::default();
    if shared {
        core.process = Some(Process {
            lock: ProcessLock::new()?,
            taken: Cell::new(false),
            owner_died: Cell::new(false),
            id: Cell::new(ForkEpoch::now()),
        });
    }
    Ok(Lock(Rc::new(core)))
}

fn set_err(lock: &Me<'_, Lock>, code: i32) {
    lock.object.set_slot(slot::class::ERR_CODE, Value::int(code.into()));
}

fn acquire(lock: &Me<'_, Lock>, mode: Mode, timeout: Timeout, what: &'static str) -> Result<bool, Raise> {
    let core = Rc::clone(&lock.0);
    let state = State::get()?;
    expect_suspendable(&state, what)?;
    let Some(task) = state.engine.current() else { return Ok(false) };
    core.notice_fork();
    let unserved = if let Some(locked) = core.again(task.id(), mode) {
        locked?;
        None
    } else {
        let unserved = acquire_new(&core, &state, &task, mode, what, timeout)?;
        unserved.map(|unserved| match unserved {
            _ if timeout.is_zero() => libc::EBUSY,
            LineError::TimedOut => libc::ETIMEDOUT,
            LineError::Cancelled => libc::ECANCELED,
        })
    };
    let owner_died = unserved.is_none() && core.process.as_ref().is_some_and(|process| process.owner_died.take());
    set_err(lock, unserved.unwrap_or(if owner_died { libc::EOWNERDEAD } else { 0 }));
    Ok(unserved.is_none())
}

/// Locks what the running coroutine does not hold: first among the coroutines of this process, then among processes.
fn acquire_new(
    core: &Rc<Core>,
    state: &State,
    task: &Rc<Task<PhpSwitch>>,
    mode: Mode,
    what: &'static str,
    timeout: Timeout,
) -> Result<Option<LineError>, Raise> {
    let until = Deadline::after(timeout.limit());
    if core.waiters.first().is_none() && core.is_free_for(mode) {
        core.give(task, mode);
    } else if timeout.is_zero() {
        return Ok(Some(LineError::TimedOut));
    } else {
        let waited = wait_in(&core.waiters, mode, state, what, timeout.limit());
        if !matches!(waited, Ok(Ok(()))) {
            // It may have been what kept those behind it.
            core.pass_on();
        }
        if let Err(unserved) = waited? {
            return Ok(Some(unserved));
        }
    }
    core.take_process(state, mode, what, until)
}

fn lock(lock: Me<'_, Lock>, operation: Operation, timeout: Timeout) -> Result<bool, Raise> {
    acquire(&lock, operation.mode, if operation.no_wait { Timeout::ZERO } else { timeout }, LOCK)
}

fn try_lock(lock: Me<'_, Lock>, operation: Operation) -> Result<bool, Raise> {
    acquire(&lock, operation.mode, Timeout::ZERO, TRY_LOCK)
}

fn unlock(lock: Me<'_, Lock>) -> Result<bool, Raise> {
    Rc::clone(&lock.0).unlock(State::existing().map_or(-1, |state| state.engine.current_id()))?;
    set_err(&lock, 0);
    Ok(true)
}

/// `Swoole\Coroutine\Lock::unlock()`: whoever holds it.
fn unlock_of_any(lock: Me<'_, Lock>) -> Result<bool, Raise> {
    expect_suspendable(&*State::get()?, "Coroutine\\Lock::unlock()")?;
    let holder = lock.0.holders.borrow().first().map(|holder| holder.task.id());
    if let Some(holder) = holder {
        lock.0.leave(holder);
    }
    set_err(&lock, 0);
    Ok(true)
}

apus_zend::stub!("sync/lock");
