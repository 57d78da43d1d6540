//! Several coroutines at once, waited for together.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use apus_coro::{Cancel, TaskId, Wait};
use apus_zend::arg::{Given, Want};
use apus_zend::engine::Thrown;
use apus_zend::value::{ArrayView, Key, View};
use apus_zend::{Array, Callable, Raise, Value};

use crate::exception::CANCELED;
use crate::runtime::{Outcome, State};
use crate::wait::{Deadline, Timeout, Waited, expect_suspendable, wait_until};

const BATCH: &str = "Coroutine\\batch()";
const PARALLEL: &str = "Coroutine\\parallel()";

enum OwnedKey {
    Str(Vec<u8>),
    Index(u64),
}

struct Results {
    values: RefCell<Vec<Option<Value>>>,
    thrown: RefCell<Option<Thrown>>,
    /// Nobody reads them any more: the time was over first, or the waiting coroutine was cancelled.
    closed: Cell<bool>,
}

impl Results {
    fn new(count: usize) -> Rc<Self> {
        let values = RefCell::new((0..count).map(|_| None).collect());
        Rc::new(Self { values, thrown: RefCell::new(None), closed: Cell::new(false) })
    }

    fn receiver(self: &Rc<Self>, index: usize) -> Rc<dyn Fn(Outcome)> {
        let results = Rc::clone(self);
        Rc::new(move |outcome| match outcome {
            Outcome::Returned(value) => results.keep(index, value),
            Outcome::Threw(thrown) => results.fail(thrown),
            Outcome::Gone => {}
        })
    }

    fn keep(&self, index: usize, value: Value) {
        if let Some(slot) = self.values.borrow_mut().get_mut(index) {
            *slot = Some(value);
        }
    }

    fn fail(&self, thrown: Thrown) {
        if !self.closed.get() {
            self.thrown.borrow_mut().get_or_insert(thrown);
        } else if let Some(state) = State::existing()
            && !thrown.is(CANCELED.get())
        {
            state.uncaught(thrown);
        }
    }

    /// The end of waiting: what failed first is thrown.
    fn close(&self) -> Result<Vec<Option<Value>>, Raise> {
        self.closed.set(true);
        let values = self.values.take();
        match self.thrown.take() {
            Some(thrown) => Err(thrown.rethrow()),
            None => Ok(values),
        }
    }
}

/// Waits for `ids`, at most for `limit`. Cancelled, it cancels them.
pub(super) fn join(
    state: &Rc<State>,
    ids: &[TaskId],
    limit: Option<Duration>,
    what: &'static str,
) -> Result<bool, Raise> {
    let all = state.engine.all_ended(ids);
    let joined = wait_until(state, Wait::Inside(what), Deadline::after(limit), all)?;
    Ok(matches!(joined, Waited::Got(())))
}

fn join_children(
    state: &Rc<State>,
    ids: &[TaskId],
    limit: Option<Duration>,
    what: &'static str,
) -> Result<bool, Raise> {
    let joined = join(state, ids, limit, what);
    let cancelled = state.engine.current().is_some_and(|task| task.was_cancelled());
    if joined.is_err() || cancelled {
        for &id in ids {
            state.engine.cancel(id, Cancel::Throw);
        }
    }
    joined
}

/// `Apus\Coroutine\batch()`.
pub(crate) fn batch(given: Given<ArrayView<'_>>, timeout: Timeout) -> Result<Array, Raise> {
    let tasks = given.value;
    let state = State::get()?;
    expect_suspendable(&state, BATCH)?;
    let results = Results::new(tasks.len());
    let mut keys = Vec::with_capacity(tasks.len());
    let mut callables = Vec::with_capacity(tasks.len());
    for (key, value) in tasks.iter() {
        let mut value = value.value();
        let callable = Callable::new(&mut value)
            .map_err(|not| not.or(|why| given.content_error(&format!("must hold callables only, {why}"))))?;
        keys.push(match key {
            Key::Str(bytes) => OwnedKey::Str(bytes.to_vec()),
            Key::Index(index) => OwnedKey::Index(index),
        });
        callables.push(callable);
    }
    let mut ids = Vec::with_capacity(callables.len());
    for (index, callable) in callables.into_iter().enumerate() {
        ids.push(state.go(callable, Vec::new(), Some(results.receiver(index)))?);
    }
    let joined = join_children(&state, &ids, timeout.limit(), BATCH);
    if let Err(raise) = joined {
        results.closed.set(true);
        return Err(raise);
    }
    let mut array = Array::new(keys.len())?;
    for (key, value) in keys.iter().zip(results.close()?) {
        let value = value.unwrap_or_else(Value::null);
        match key {
            OwnedKey::Str(bytes) => array.set(bytes, value)?,
            OwnedKey::Index(index) => array.set_index(*index, value)?,
        }
    }
    Ok(array)
}

/// A number of coroutines to make.
#[derive(Clone, Copy)]
pub(crate) struct AtLeastOne(pub(super) i64);

impl Want<i64> for AtLeastOne {
    fn want(given: Given<i64>) -> Result<Self, Raise> {
        given.number_where(|value| *value >= 1, "at least 1").map(Self)
    }
}

/// `Apus\Coroutine\parallel()`.
pub(crate) fn parallel(count: AtLeastOne, callable: Callable) -> Result<(), Raise> {
    together((0..count.0).map(|_| (callable.share(), Vec::new())), PARALLEL)
}

/// Runs each job in a coroutine of its own, and waits for all.
pub(super) fn together(
    jobs: impl IntoIterator<Item = (Callable, Vec<Value>)>,
    what: &'static str,
) -> Result<(), Raise> {
    let state = State::get()?;
    expect_suspendable(&state, what)?;
    let results = Results::new(0);
    let mut ids = Vec::new();
    for (callable, args) in jobs {
        ids.push(state.go(callable, args, Some(results.receiver(0)))?);
    }
    let joined = join_children(&state, &ids, None, what);
    if joined.is_err() {
        results.closed.set(true);
        return joined.map(drop);
    }
    results.close().map(drop)
}

/// `Apus\Coroutine::join()`.
pub(super) fn join_call(given: Given<ArrayView<'_>>, timeout: Timeout) -> Result<bool, Raise> {
    let mut ids = Vec::with_capacity(given.value.len());
    for (_, value) in given.value.iter() {
        match value.view() {
            View::Int(id) => ids.push(id),
            _ => return Err(given.content_error("must hold coroutine ids (int) only")),
        }
    }
    let state = State::get()?;
    let me = state.engine.current_id();
    if ids.contains(&me) {
        return Err(given.value_error(&format!("must not hold the running coroutine, {me}: it cannot wait for itself")));
    }
    join(&state, &ids, timeout.limit(), "Coroutine::join()")
}
