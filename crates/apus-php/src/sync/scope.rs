//! `Apus\Coroutine\Scope`: coroutines that end where they were begun.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use apus_coro::{Cancel, State as TaskState, Task, TaskId, Wait, WaitError};
use apus_zend::arg::{Me, Rest};
use apus_zend::engine::{Thrown, ThrownKind};
use apus_zend::object::Object;
use apus_zend::value::View;
use apus_zend::{Array, Callable, Raise, Value, engine, native};

use super::deadline::{Expiry, next_number, strike};
use super::line::Waiter;
use crate::exception::{self, CANCELED, TIMEOUT};
use crate::runtime::{Outcome, PhpSwitch, State};
use crate::wait::{Timeout, expect_suspendable, failed};

const RUN: &str = "Coroutine\\Scope::run()";
const JOIN: &str = "Coroutine\\Scope::join()";
const CONSTRUCT: &str = "Coroutine\\Scope::__construct()";

/// What first made a scope cancel its coroutines.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Cause {
    /// One of them threw.
    Child,
    /// The time was over.
    Deadline,
    /// `cancel()`.
    Asked,
    /// The code that owns it failed, was cancelled, or is gone.
    Owner,
}

struct Core {
    /// An id only: a task holds what receives its outcome, which may be a scope's core.
    owner: TaskId,
    /// How the owner's waits are ended when a child fails; none in the object style, where `join()` tells.
    interrupt: Option<Cancel>,
    /// Ids of the coroutines that have not ended, by their number; -1 while one is being made.
    children: RefCell<BTreeMap<u64, TaskId>>,
    next: Cell<u64>,
    joiner: RefCell<Option<Rc<Waiter<()>>>>,
    cause: Cell<Option<Cause>>,
    /// What children threw, but for being cancelled, in order.
    failures: RefCell<Vec<Thrown>>,
    /// One of them came out of `run()` or `join()`.
    told: Cell<bool>,
    /// The scope is being used: false when it was left, or its object is gone.
    open: Rc<Cell<bool>>,
}

struct Scope {
    core: Rc<Core>,
    expiry: RefCell<Option<Expiry>>,
}

native!(Scope, "Apus\\Coroutine\\Scope");

impl Drop for Scope {
    /// The object style without `join()`: what it began ends, and no failure goes unseen.
    fn drop(&mut self) {
        drop(self.expiry.take());
        self.core.open.set(false);
        self.core.cancel(Cause::Owner);
        if self.core.cause.get() == Some(Cause::Child) && !self.core.told.get() {
            self.core.report_failures();
        }
    }
}

impl Core {
    fn new(owner: TaskId, interrupts: bool) -> Rc<Self> {
        Rc::new(Self {
            owner,
            interrupt: interrupts.then(|| Cancel::Scope(next_number())),
            children: RefCell::default(),
            next: Cell::new(0),
            joiner: RefCell::default(),
            cause: Cell::new(None),
            failures: RefCell::default(),
            told: Cell::new(false),
            open: Rc::new(Cell::new(true)),
        })
    }

    fn report_failures(&self) {
        let failures = self.failures.take();
        if let Some(state) = State::existing() {
            for thrown in failures {
                state.uncaught(thrown);
            }
        }
    }

    /// Cancels what runs in the scope, now or as soon as it waits.
    fn cancel(&self, cause: Cause) {
        if self.cause.get().is_none() {
            self.cause.set(Some(cause));
        }
        let Some(state) = State::existing() else { return };
        let ids: Vec<TaskId> = self.children.borrow().values().copied().collect();
        for task in ids.into_iter().filter_map(|id| state.engine.find(id)) {
            strike_soon(&state, &task, Cancel::Throw, &Rc::new(Cell::new(true)));
        }
        if let (Some(cancel), Cause::Child) = (self.interrupt, cause)
            && self.open.get()
            && let Some(owner) = state.engine.find(self.owner)
        {
            strike_soon(&state, &owner, cancel, &self.open);
        }
    }

    fn spawn(self: &Rc<Self>, state: &Rc<State>, callable: Callable, args: Vec<Value>) -> Result<TaskId, Raise> {
        if !self.open.get() || self.cause.get().is_some() {
            let text = "the scope is over or cancelled: it takes no more coroutines";
            return Err(exception::throw(exception::code::coroutine::STATE, text));
        }
        let number = self.next.get();
        self.next.set(number + 1);
        self.children.borrow_mut().insert(number, -1);
        let core = Rc::clone(self);
        let made = state.go(callable, args, Some(Rc::new(move |outcome| core.ended(number, outcome))));
        match made {
            Ok(id) => {
                if let Some(kept) = self.children.borrow_mut().get_mut(&number) {
                    *kept = id;
                }
                if self.cause.get().is_some()
                    && let Some(task) = state.engine.find(id)
                {
                    strike_soon(state, &task, Cancel::Throw, &Rc::new(Cell::new(true)));
                }
            }
            Err(_) => drop(self.children.borrow_mut().remove(&number)),
        }
        made
    }

    fn ended(&self, number: u64, outcome: Outcome) {
        self.children.borrow_mut().remove(&number);
        if let Outcome::Threw(thrown) = outcome
            && !thrown.is(CANCELED.get())
        {
            self.failures.borrow_mut().push(thrown);
            self.cancel(Cause::Child);
            if !self.open.get() {
                self.report_failures();
            }
        }
        if self.children.borrow().is_empty()
            && let Some(joiner) = self.joiner.take()
        {
            joiner.serve_later(());
        }
    }

    /// Waits until no coroutine is left in the scope. `Some`: the wait was cancelled, and the coroutines therefore,
    /// too.
    fn join(&self, state: &State, what: &'static str) -> Result<Option<Cancel>, Raise> {
        let mut cut = None;
        while !self.children.borrow().is_empty() {
            let waiter = Waiter::new(state, what, ())?;
            *self.joiner.borrow_mut() = Some(Rc::clone(&waiter));
            match state.engine.park(Wait::Inside(what)) {
                Ok(()) => {}
                Err(WaitError::Cancelled(cancel)) => {
                    waiter.serve(());
                    drop(self.joiner.take());
                    if cut.is_none() || cancel == Cancel::Unwind {
                        cut = Some(cancel);
                    }
                    self.cancel(Cause::Owner);
                }
                Err(error) => return failed(what, error).map(|()| None),
            }
        }
        Ok(cut)
    }

    /// The first failure, to be thrown.
    fn take_failure(&self) -> Option<Thrown> {
        let mut failures = self.failures.borrow_mut();
        self.told.set(true);
        (!failures.is_empty()).then(|| failures.remove(0))
    }
}

/// Moves the failures that are not thrown into the object's property, where the cycle collector sees them: their traces
/// may hold the scope itself.
fn publish(core: &Core, object: &Object) -> Result<(), Raise> {
    if !core.failures.borrow().is_empty() {
        let all = all_failures(core, object)?;
        drop(core.failures.take());
        object.set_slot(slot::scope::FAILURES, all.into());
    }
    Ok(())
}

fn all_failures(core: &Core, object: &Object) -> Result<Array, Raise> {
    let mut array = Array::new(0)?;
    let published = object.slot(slot::scope::FAILURES);
    if let View::Array(published) = published.view() {
        for (_, failure) in published.iter() {
            array.push(failure.value())?;
        }
    }
    for thrown in core.failures.borrow().iter() {
        array.push(thrown.value())?;
    }
    Ok(array)
}

fn strike_soon(state: &Rc<State>, task: &Rc<Task<PhpSwitch>>, cancel: Cancel, wanted: &Rc<Cell<bool>>) {
    if !state.engine.cancel(task.id(), cancel) && task.state() != TaskState::Ended {
        state.spawn(strike(Rc::downgrade(state), Rc::clone(task), cancel, Rc::clone(wanted)));
    }
}

/// A scope of the running coroutine, with its time.
fn open(state: &Rc<State>, limit: Option<Duration>, what: &'static str, interrupts: bool) -> Result<Scope, Raise> {
    expect_suspendable(state, what)?;
    let Some(owner) = state.engine.current() else { return Err(Raise::Thrown) };
    let core = Core::new(owner.id(), interrupts);
    let expiry = limit.map(|limit| {
        let core = Rc::downgrade(&core);
        Expiry::start(state, &owner, limit, move || {
            if let Some(core) = core.upgrade() {
                core.cancel(Cause::Deadline);
            }
        })
    });
    Ok(Scope { core, expiry: RefCell::new(expiry) })
}

fn timed_out() -> Raise {
    engine::throw(TIMEOUT.latest(), 0, "the scope's time was over before everything in it had ended")
}

/// How a scope ends whose code has ended with `body`: what came first decides.
fn settle(core: &Core, body: Result<Value, Thrown>, cut: Option<Cancel>, what: &'static str) -> Result<Value, Raise> {
    if cut == Some(Cancel::Unwind) {
        return failed(what, WaitError::Cancelled(Cancel::Unwind)).and(Err(Raise::Thrown));
    }
    let body = match body {
        Err(thrown) if thrown.kind() != ThrownKind::Exception => return Err(thrown.rethrow()),
        body => body,
    };
    match core.cause.get() {
        Some(Cause::Deadline) if !matches!(&body, Err(thrown) if thrown.is(TIMEOUT.get())) => return Err(timed_out()),
        Some(Cause::Child | Cause::Asked) | None => {
            if let Some(failure) = core.take_failure() {
                return Err(failure.rethrow());
            }
        }
        Some(Cause::Deadline | Cause::Owner) => {}
    }
    match (body, cut) {
        (Err(thrown), _) => Err(thrown.rethrow()),
        (Ok(_), Some(cancel)) => failed(what, WaitError::Cancelled(cancel)).map(|()| Value::null()),
        (Ok(value), None) => Ok(value),
    }
}

fn run(callable: Callable, timeout: Timeout) -> Result<Value, Raise> {
    let state = State::get()?;
    let scope = Object::new(SCOPE.get(), open(&state, timeout.limit(), RUN, true)?)?;
    let Some(inner) = scope.payload::<Scope>() else { return Err(Raise::Thrown) };
    let core = Rc::clone(&inner.core);
    let body = match callable.call(&[scope.share().into()]) {
        Err(Raise::Bailed) => return Err(Raise::Bailed),
        Err(Raise::Thrown) => match Thrown::take() {
            Some(thrown) => {
                core.cancel(Cause::Owner);
                Err(thrown)
            }
            None => Ok(Value::null()),
        },
        Ok(value) => Ok(value),
    };
    let cut = core.join(&state, RUN)?;
    core.open.set(false);
    drop(inner.expiry.take());
    if let (Some(cancel), Some(owner)) = (core.interrupt, state.engine.current()) {
        state.engine.take_back(&owner, cancel);
    }
    let settled = settle(&core, body, cut, RUN);
    publish(&core, &scope)?;
    settled
}

fn construct(timeout: Timeout) -> Result<Scope, Raise> {
    open(&State::get()?, timeout.limit(), CONSTRUCT, false)
}

fn spawn(scope: &Scope, callable: Callable, args: Rest<'_>) -> Result<TaskId, Raise> {
    scope.core.spawn(&State::get()?, callable, args.values().collect())
}

fn cancel(scope: &Scope) {
    Rc::clone(&scope.core).cancel(Cause::Asked);
}

fn join(scope: Me<'_, Scope>) -> Result<bool, Raise> {
    let core = Rc::clone(&scope.core);
    let state = State::get()?;
    if state.engine.current_id() != core.owner || core.interrupt.is_some() {
        let text = "only the coroutine that made a scope with new can join() it; run() does so by itself";
        return Err(exception::throw(exception::code::coroutine::STATE, text));
    }
    let cut = core.join(&state, JOIN)?;
    drop(scope.expiry.take());
    let settled = settle(&core, Ok(Value::bool(true)), cut, JOIN);
    publish(&core, &scope.object)?;
    // A wait that was cancelled quietly gave null.
    Ok(matches!(settled?.view(), View::Bool(true)))
}

fn count(scope: &Scope) -> usize {
    scope.core.children.borrow().len()
}

fn is_cancelled(scope: &Scope) -> bool {
    scope.core.cause.get().is_some()
}

fn failures(scope: Me<'_, Scope>) -> Result<Array, Raise> {
    all_failures(&scope.core, &scope.object)
}

apus_zend::stub!("sync/scope");
