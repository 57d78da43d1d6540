//! `Apus\Timer`: millisecond timers whose callbacks run in coroutines.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::time::Duration;

use apus_zend::arg::{Given, Rest, Want};
use apus_zend::object::Object;
use apus_zend::{Array, Callable, Raise, Value};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use crate::builtin::{array_iterator, iterator};
use crate::runtime::{Mode, Room, State};
use crate::swoole;

/// The longest interval: what Swoole allows, 2^31 - 1 ms (24 days), so that ported code meets the same limit.
const MAX_MS: i64 = 2_147_483_647;

struct Entry {
    callback: Rc<Callback>,
    interval_ms: i64,
    repeats: bool,
    fired: Cell<i64>,
    next: Cell<Instant>,
    /// The turn in which it was made.
    turn: i64,
    handle: JoinHandle<()>,
}

impl Entry {
    fn facts(&self) -> Facts {
        Facts {
            left: self.next.get().saturating_duration_since(Instant::now()).as_micros().div_ceil(1000) as i64,
            fired: self.fired.get(),
            interval: if self.repeats { self.interval_ms } else { 0 },
            turn: self.turn,
        }
    }
}

/// What can be said of a timer.
#[derive(Clone, Copy)]
struct Facts {
    left: i64,
    fired: i64,
    interval: i64,
    turn: i64,
}

/// A timer without a loop, which goes on in another one.
pub(crate) struct Carried {
    id: i64,
    callback: Rc<Callback>,
    interval_ms: i64,
    repeats: bool,
    next: Instant,
}

/// What a timer calls. Kept by its entry alone, so that clearing the timer gives it back at once.
struct Callback {
    callable: Callable,
    args: Vec<Value>,
}

/// Calls a callback: in a coroutine, but for scripts written for Swoole that have switched that off.
fn call(state: &Rc<State>, callback: &Callback, given: Vec<Value>) -> Result<(), Raise> {
    let outside = || !state.settings.borrow().enable_coroutine && state.mode.get() == Mode::Script;
    if swoole::is_on() && outside() {
        return callback.callable.call(&given).map(drop);
    }
    state.go(callback.callable.share(), given, None).map(drop)
}

/// All timers of a thread.
#[derive(Default)]
pub(crate) struct Timers {
    next_id: Cell<i64>,
    entries: RefCell<BTreeMap<i64, Entry>>,
    /// All that wait, in the order in which they fire: of two that are due, the one that was due first.
    due: RefCell<BTreeSet<(Instant, i64)>>,
    made: Cell<bool>,
    rounds: Cell<i64>,
    /// How often timers fired, several at once or not.
    turns: Cell<i64>,
    /// The one whose callback has been called and has not waited yet.
    running: Cell<Option<i64>>,
    /// The same, once it is cleared.
    cleared: Cell<Option<Facts>>,
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

    /// Whether a thread has timers or coroutines: something that it may still wait for.
    pub(crate) fn or_coroutines(state: &State) -> bool {
        state.engine.live() > 0 || Self::of(state).len() > 0
    }

    fn add(&self, state: &Rc<State>, ms: i64, repeats: bool, callable: Callable, args: Vec<Value>) -> i64 {
        let id = self.next_id.get() + 1;
        let next = Instant::now() + Duration::from_millis(ms as u64);
        let callback = Rc::new(Callback { callable, args });
        self.put(state, Carried { id, callback, interval_ms: ms, repeats, next });
        id
    }

    fn put(&self, state: &Rc<State>, timer: Carried) {
        let Carried { id, callback, interval_ms, repeats, next } = timer;
        self.next_id.set(self.next_id.get().max(id));
        self.made.set(true);
        let weak = Rc::downgrade(state);
        let handle = state.spawn(async move {
            let mut at = next;
            loop {
                tokio::time::sleep_until(at).await;
                let Some(state) = weak.upgrade() else { return };
                let timers = Timers::of(&state);
                timers.fire_due(&state);
                let Some(next) = timers.entries.borrow().get(&id).map(|entry| entry.next.get()) else { return };
                at = next;
            }
        });
        let (fired, turn) = (Cell::new(0), self.turns.get());
        let entry = Entry { callback, interval_ms, repeats, fired, next: Cell::new(next), turn, handle };
        self.entries.borrow_mut().insert(id, entry);
        self.due.borrow_mut().insert((next, id));
        state.engine.hold();
    }

    /// Fires all that are due. A loop that was held up skips the ticks it missed instead of firing them in a burst.
    fn fire_due(&self, state: &Rc<State>) {
        let now = Instant::now();
        let first = || self.due.borrow().first().copied().filter(|(at, _)| *at <= now);
        if first().is_some() {
            self.turns.set(self.turns.get() + 1);
        }
        while let Some((at, id)) = first() {
            self.due.borrow_mut().remove(&(at, id));
            if self.fire(state, id)
                && let Some(entry) = self.entries.borrow().get(&id)
            {
                let next = (at + Duration::from_millis(entry.interval_ms as u64)).max(Instant::now());
                entry.next.set(next);
                self.due.borrow_mut().insert((next, id));
            }
        }
    }

    /// Takes all timers out of a loop that is about to end.
    pub(crate) fn carry(&self, state: &State) -> Vec<Carried> {
        let ids: Vec<i64> = self.entries.borrow().keys().copied().collect();
        let taken = ids.into_iter().filter_map(|id| {
            let entry = self.remove(state, id)?;
            entry.handle.abort();
            let Entry { callback, interval_ms, repeats, next, .. } = entry;
            Some(Carried { id, callback, interval_ms, repeats, next: next.get() })
        });
        taken.collect()
    }

    /// Has timers of another loop go on in this one.
    pub(crate) fn go_on(&self, state: &Rc<State>, timers: Vec<Carried>) {
        for timer in timers {
            self.put(state, timer);
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
        self.running.set(Some(id));
        let started = call(state, &callback, given);
        self.running.set(None);
        self.cleared.set(None);
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
        self.due.borrow_mut().remove(&(entry.next.get(), id));
        if self.running.get() == Some(id) {
            self.cleared.set(Some(entry.facts()));
        }
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

fn described(facts: Facts, round: i64, removed: bool) -> Result<Option<Array>, Raise> {
    let mut array = Array::new(5)?;
    array.set_int(b"exec_msec", facts.left)?;
    array.set_int(b"exec_count", facts.fired)?;
    array.set_int(b"interval", facts.interval)?;
    array.set_int(b"round", round)?;
    array.set(b"removed", Value::bool(removed))?;
    Ok(Some(array))
}

pub(crate) fn info(id: i64) -> Result<Option<Array>, Raise> {
    let Some(state) = State::existing() else { return Ok(None) };
    let timers = Timers::of(&state);
    let facts = timers.entries.borrow().get(&id).map(Entry::facts);
    facts.map_or(Ok(None), |facts| described(facts, timers.rounds.get(), false))
}

/// `Swoole\Timer::info()`: `round` is the turn in which the timer was made, and one that its own callback has cleared
/// is known until that ends.
pub(crate) fn info_there(id: i64) -> Result<Option<Array>, Raise> {
    let Some(state) = State::existing() else { return Ok(None) };
    let timers = Timers::of(&state);
    let facts = timers.entries.borrow().get(&id).map(Entry::facts);
    let cleared = if timers.running.get() == Some(id) { timers.cleared.get() } else { None };
    match (facts, cleared) {
        (Some(facts), _) => described(facts, facts.turn, false),
        (None, Some(facts)) => described(facts, facts.turn, true),
        (None, None) => Ok(None),
    }
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
