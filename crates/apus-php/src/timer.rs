//! `Apus\Timer`: millisecond timers whose callbacks run in coroutines.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use apus_zend::arg::{Given, Rest, Want};
use apus_zend::object::Object;
use apus_zend::{Array, Callable, Raise, Value};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use crate::builtin::{array_iterator, iterator};
use crate::runtime::{Room, State};

/// The longest interval: what Swoole allows, 2^31 - 1 ms (24 days), so that ported code meets the same limit.
const MAX_MS: i64 = 2_147_483_647;

struct Entry {
    callback: Rc<Callback>,
    interval_ms: i64,
    repeats: bool,
    fired: Cell<i64>,
    next: Cell<Instant>,
    handle: JoinHandle<()>,
}

/// What a timer calls. Kept by its entry alone, so that clearing the timer gives it back at once.
struct Callback {
    callable: Callable,
    args: Vec<Value>,
}

/// All timers of a thread.
#[derive(Default)]
pub(crate) struct Timers {
    next_id: Cell<i64>,
    entries: RefCell<BTreeMap<i64, Entry>>,
    made: Cell<bool>,
    rounds: Cell<i64>,
}

impl Room for Timers {
    fn end_all(&self, state: &State) {
        self.clear_all(state);
    }
}

impl Timers {
    /// Those of a thread.
    pub(crate) fn of(state: &State) -> Rc<Self> {
        state.room()
    }

    fn add(&self, state: &Rc<State>, ms: i64, repeats: bool, callable: Callable, args: Vec<Value>) -> i64 {
        let id = self.next_id.get() + 1;
        self.next_id.set(id);
        self.made.set(true);
        let first = Instant::now() + Duration::from_millis(ms as u64);
        let weak = Rc::downgrade(state);
        let handle = state.spawn(async move {
            let mut at = first;
            loop {
                tokio::time::sleep_until(at).await;
                let Some(state) = weak.upgrade() else { return };
                if !Timers::of(&state).fire(&state, id) {
                    return;
                }
                at += Duration::from_millis(ms as u64);
                // A loop that was held up skips the ticks it missed instead of firing them in a burst.
                at = at.max(Instant::now());
                Timers::of(&state).reschedule(id, at);
            }
        });
        let callback = Rc::new(Callback { callable, args });
        let entry = Entry { callback, interval_ms: ms, repeats, fired: Cell::new(0), next: Cell::new(first), handle };
        self.entries.borrow_mut().insert(id, entry);
        state.engine.hold();
        id
    }

    fn reschedule(&self, id: i64, at: Instant) {
        if let Some(entry) = self.entries.borrow().get(&id) {
            entry.next.set(at);
        }
    }

    /// Runs the callback in a coroutine. `false`: the timer is over.
    fn fire(&self, state: &Rc<State>, id: i64) -> bool {
        let Some((repeats, callback)) = self.entries.borrow().get(&id).map(|entry| {
            entry.fired.set(entry.fired.get() + 1);
            (entry.repeats, Rc::clone(&entry.callback))
        }) else {
            return false;
        };
        self.rounds.set(self.rounds.get() + 1);
        let mut given: Vec<Value> = Vec::with_capacity(callback.args.len() + 1);
        if repeats {
            given.push(Value::int(id));
        }
        given.extend(callback.args.iter().map(Value::share));
        let started = state.go(callback.callable.share(), given, None);
        drop(callback);
        if let Err(raise) = started {
            state.report(raise);
        }
        if !repeats {
            drop(self.remove(state, id));
            State::catch_stray();
            return false;
        }
        self.entries.borrow().contains_key(&id)
    }

    fn remove(&self, state: &State, id: i64) -> Option<Entry> {
        let entry = self.entries.borrow_mut().remove(&id)?;
        state.engine.release();
        Some(entry)
    }

    fn clear(&self, state: &State, id: i64) -> bool {
        self.remove(state, id).map(|entry| entry.handle.abort()).is_some()
    }

    pub(crate) fn clear_all(&self, state: &State) {
        let ids: Vec<i64> = self.entries.borrow().keys().copied().collect();
        for id in ids {
            self.clear(state, id);
        }
    }

    /// How many timers there are.
    pub(crate) fn len(&self) -> usize {
        self.entries.borrow().len()
    }
}

/// An argument `int $ms`.
pub(crate) struct Interval(i64);

impl Want<i64> for Interval {
    fn want(given: Given<i64>) -> Result<Self, Raise> {
        let good = |ms: &i64| (1..=MAX_MS).contains(ms);
        given.number_where(good, &format!("between 1 and {MAX_MS} milliseconds")).map(Self)
    }
}

fn start(repeats: bool, Interval(ms): Interval, callable: Callable, args: Rest<'_>) -> Result<i64, Raise> {
    let state = State::get()?;
    state.register_finish();
    Ok(Timers::of(&state).add(&state, ms, repeats, callable, args.values().collect()))
}

pub(crate) fn tick(interval: Interval, callable: Callable, args: Rest<'_>) -> Result<i64, Raise> {
    start(true, interval, callable, args)
}

pub(crate) fn after(interval: Interval, callable: Callable, args: Rest<'_>) -> Result<i64, Raise> {
    start(false, interval, callable, args)
}

pub(crate) fn clear(id: i64) -> bool {
    State::existing().is_some_and(|state| Timers::of(&state).clear(&state, id))
}

pub(crate) fn clear_all() -> bool {
    if let Some(state) = State::existing() {
        Timers::of(&state).clear_all(&state);
    }
    true
}

pub(crate) fn exists(id: i64) -> bool {
    State::existing().is_some_and(|state| Timers::of(&state).entries.borrow().contains_key(&id))
}

pub(crate) fn info(id: i64) -> Result<Option<Array>, Raise> {
    let Some(state) = State::existing() else { return Ok(None) };
    let facts = Timers::of(&state).entries.borrow().get(&id).map(|entry| {
        let left = entry.next.get().saturating_duration_since(Instant::now());
        (left.as_millis() as i64, entry.fired.get(), entry.interval_ms, entry.repeats)
    });
    let Some((left, fired, interval, repeats)) = facts else { return Ok(None) };
    let mut array = Array::new(5)?;
    array.set_int(b"exec_msec", left)?;
    array.set_int(b"exec_count", fired)?;
    array.set_int(b"interval", if repeats { interval } else { 0 })?;
    array.set_int(b"round", Timers::of(&state).rounds.get())?;
    array.set(b"removed", Value::bool(false))?;
    Ok(Some(array))
}

fn ids() -> Vec<i64> {
    State::existing().map(|state| Timers::of(&state).entries.borrow().keys().copied().collect()).unwrap_or_default()
}

fn list() -> Result<Object, Raise> {
    array_iterator(&ids())
}

/// `Swoole\Timer::list()`.
pub(crate) fn list_there() -> Result<Object, Raise> {
    iterator("Swoole\\Timer\\Iterator", &ids())
}

pub(crate) fn stats() -> Result<Array, Raise> {
    let state = State::existing();
    let timers = state.as_ref().map(|state| Timers::of(state));
    let mut array = Array::new(3)?;
    array.set(b"initialized", Value::bool(timers.as_ref().is_some_and(|t| t.made.get())))?;
    array.set_int(b"num", timers.as_ref().map_or(0, |t| t.len() as i64))?;
    array.set_int(b"round", timers.as_ref().map_or(0, |t| t.rounds.get()))?;
    Ok(array)
}

apus_zend::stub!("timer");
