//! Coroutines that wait in line, each until another one serves it, its time is over, or it is cancelled.
//!
//! A coroutine parks once with one [`Waiter`], which may stand in several lines (`select()`): who takes it out of one
//! of them serves it, and it counts no more in the others. What it is given lies in the waiter until the coroutine runs
//! again, and is taken then whatever else has happened, so nothing that was handed over is lost.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Duration;

use apus_coro::{Task, Wait, WaitError};
use apus_zend::Raise;

use crate::runtime::{PhpSwitch, State};
use crate::wait::failed;

/// A line is cleared of waiters that have left when there are more of them than this, and than of those who wait.
const DEAD_KEPT: usize = 32;

/// One coroutine that waits, what it offers, and what it is given.
pub(super) struct Waiter<T, O = ()> {
    task: Rc<Task<PhpSwitch>>,
    waiting: Cell<bool>,
    got: Cell<Option<T>>,
    /// What those who serve it take in return.
    pub(super) offer: O,
}

/// How a wait ended that nobody served.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum LineError {
    TimedOut,
    Cancelled,
}

impl<T, O> Waiter<T, O> {
    /// For the running coroutine. Throws when there is none.
    pub(super) fn new(state: &State, what: &'static str, offer: O) -> Result<Rc<Self>, Raise> {
        match state.engine.current() {
            Some(task) => Ok(Rc::new(Self { task, waiting: Cell::new(true), got: Cell::new(None), offer })),
            None => failed(what, WaitError::Outside).and(Err(Raise::Thrown)),
        }
    }

    /// The same, made of `spare` when nothing refers to that any more.
    #[inline]
    pub(super) fn renew(
        spare: Option<Rc<Self>>,
        state: &State,
        what: &'static str,
        offer: O,
    ) -> Result<Rc<Self>, Raise> {
        if let Some(mut spare) = spare
            && let Some(waiter) = Rc::get_mut(&mut spare)
            && (state.engine.is_current(&waiter.task) || waiter.change_hands(state))
        {
            waiter.waiting.set(true);
            waiter.offer = offer;
            return Ok(spare);
        }
        Self::new(state, what, offer)
    }

    /// It is the running coroutine's from now on. `false`: none runs.
    fn change_hands(&mut self, state: &State) -> bool {
        let Some(task) = state.engine.current() else { return false };
        self.task = task;
        true
    }

    /// The coroutine.
    pub(super) fn task(&self) -> &Rc<Task<PhpSwitch>> {
        &self.task
    }

    /// Gives it what it waits for. `false`: it does not wait any more, and `got` is dropped. The coroutine still has to
    /// be unparked.
    #[inline]
    pub(super) fn serve(&self, got: T) -> bool {
        let waiting = self.waiting.replace(false);
        if waiting {
            self.got.set(Some(got));
        }
        waiting
    }

    /// Changes what it was given, as long as it has not run.
    pub(super) fn change(&self, change: impl FnOnce(T) -> T) {
        if let Some(got) = self.got.take() {
            self.got.set(Some(change(got)));
        }
    }

    /// The same as [`Waiter::serve`], with the event loop told to enter it.
    pub(super) fn serve_later(&self, got: T) {
        if self.serve(got) {
            self.unpark();
        }
    }

    /// Has the event loop enter it.
    pub(super) fn unpark(&self) {
        if let Some(state) = State::existing() {
            state.engine.unpark(&self.task);
        }
    }

    /// The same as [`Waiter::serve`], with the coroutine entered before this returns, where that may be.
    pub(super) fn serve_now(&self, got: T) {
        if self.serve(got)
            && let Some(state) = State::existing()
        {
            if state.engine.enters_now() {
                state.engine.enter_now(&self.task);
            } else {
                state.engine.unpark(&self.task);
            }
        }
    }

    /// Suspends the coroutine until it is served, at most for `limit`. The caller takes it out of its lines.
    #[expect(clippy::inline_always, reason = "one return less after a switch, which the processor cannot predict")]
    #[inline(always)]
    pub(super) fn wait(
        &self,
        state: &State,
        what: &'static str,
        limit: Option<Duration>,
    ) -> Result<Result<T, LineError>, Raise> {
        let parked = if !self.waiting.get() {
            Ok(true)
        } else if let Some(limit) = limit {
            state.engine.park_until(Wait::Outside(what), nap(state, limit))
        } else {
            state.engine.park(Wait::Inside(what)).map(|()| true)
        };
        self.waiting.set(false);
        if let Some(got) = self.got.take() {
            return Ok(Ok(got));
        }
        match parked {
            Ok(_) => Ok(Err(LineError::TimedOut)),
            Err(error) => failed(what, error).map(|()| Err(LineError::Cancelled)),
        }
    }
}

/// Limits below this end as exactly as sleeps do; others up to two milliseconds late, for less work.
const EXACT: Duration = Duration::from_millis(20);

/// Ends when the time is over.
fn nap(state: &State, limit: Duration) -> impl Future<Output = ()> + use<> {
    let exact = (limit < EXACT).then(|| state.alarm.sleep(limit));
    async move {
        match exact {
            Some(sleep) => sleep.await,
            // Made when first polled: on the loop, where there is a clock.
            None => tokio::time::sleep(limit).await,
        }
    }
}

/// What stands in a line: a waiter, and what it wants there.
struct Place<T, W, O> {
    waiter: Rc<Waiter<T, O>>,
    wants: W,
}

/// Coroutines in the order of their coming.
pub(super) struct Line<T, W = (), O = ()> {
    places: RefCell<VecDeque<Place<T, W, O>>>,
    /// Places whose waiter has left or was served elsewhere.
    dead: Cell<usize>,
}

impl<T, W, O> Default for Line<T, W, O> {
    fn default() -> Self {
        Self { places: RefCell::default(), dead: Cell::new(0) }
    }
}

impl<T, W: Copy, O> Line<T, W, O> {
    /// Puts a waiter at the end.
    #[inline]
    pub(super) fn join(&self, waiter: &Rc<Waiter<T, O>>, wants: W) {
        self.places.borrow_mut().push_back(Place { waiter: Rc::clone(waiter), wants });
    }

    /// A waiter that stood in this line has left it without being taken out.
    pub(super) fn left(&self) {
        let dead = self.dead.get() + 1;
        self.dead.set(dead);
        if dead > DEAD_KEPT && dead * 2 > self.places.borrow().len() {
            self.dead.set(0);
            let live = self.places.take().into_iter().filter(|place| place.waiter.waiting.get()).collect();
            let added = self.places.replace(live);
            self.places.borrow_mut().extend(added);
        }
    }

    /// Whether nobody stands here, nor has left its place behind.
    #[inline]
    pub(super) fn is_bare(&self) -> bool {
        self.places.borrow().is_empty()
    }

    /// What the first who waits wants.
    pub(super) fn first(&self) -> Option<W> {
        loop {
            if let Some(place) = self.places.borrow().front() {
                if place.waiter.waiting.get() {
                    return Some(place.wants);
                }
            } else {
                return None;
            }
            let gone = self.places.borrow_mut().pop_front();
            self.dead.set(self.dead.get().saturating_sub(1));
            drop(gone);
        }
    }

    /// Takes out the first who waits.
    #[inline]
    pub(super) fn take(&self) -> Option<(Rc<Waiter<T, O>>, W)> {
        loop {
            let place = self.places.borrow_mut().pop_front()?;
            if place.waiter.waiting.get() {
                return Some((place.waiter, place.wants));
            }
            self.dead.set(self.dead.get().saturating_sub(1));
        }
    }

    /// How many wait.
    pub(super) fn len(&self) -> usize {
        self.places.borrow().iter().filter(|place| place.waiter.waiting.get()).count()
    }
}

/// Suspends the running coroutine in `line`; see [`Waiter::wait`].
pub(super) fn wait_in<W: Copy>(
    line: &Line<(), W>,
    wants: W,
    state: &State,
    what: &'static str,
    limit: Option<Duration>,
) -> Result<Result<(), LineError>, Raise> {
    let waiter = Waiter::new(state, what, ())?;
    line.join(&waiter, wants);
    let waited = waiter.wait(state, what, limit);
    if !matches!(waited, Ok(Ok(()))) {
        line.left();
    }
    waited
}
