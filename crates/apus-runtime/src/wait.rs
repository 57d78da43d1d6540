//! Waiting from a native function: one line for the caller, every failure mapped once.

use std::future::Future;
use std::rc::Rc;
use std::time::{Duration, Instant};

use apus_coro::{Cancel, Wait, WaitError};
use apus_zend::arg::{Given, Want};
use apus_zend::object::Object;
use apus_zend::{Call, Raise, engine};

use crate::exception::{self, CANCELED, TIMEOUT};
use crate::last_error;
use crate::runtime::State;
use crate::swoole;

/// Suspends the running coroutine until `future` is ready. `None`: the wait was cancelled, and the function is to
/// return its failure value.
pub fn wait<T>(state: &State, wait: Wait, future: impl Future<Output = T>) -> Result<Option<T>, Raise> {
    match state.engine.wait(wait, future) {
        Ok(value) => Ok(Some(value)),
        Err(error) => failed(wait.name(), error).map(|()| None),
    }
}

/// Whether the running code can be suspended: for those who have another way when it cannot.
#[inline]
pub fn may_wait(state: &State) -> bool {
    state.engine.current_id() != -1 && engine::can_switch()
}

/// Suspends the running coroutine until it is resumed. `false`: cancelled.
#[inline]
pub fn suspend(state: &State) -> Result<bool, Raise> {
    match state.engine.suspend() {
        Ok(()) => Ok(true),
        Err(error) => failed("yield", error).map(|()| false),
    }
}

/// Waits for `future` in the coroutine where that can be suspended, else as `blocking` does. `None`: the wait was
/// cancelled.
pub fn wait_either<T, F: Future<Output = T>>(
    what: &'static str,
    future: impl FnOnce(&Rc<State>) -> F,
    blocking: impl FnOnce() -> Result<T, Raise>,
) -> Result<Option<T>, Raise> {
    match State::existing().filter(|state| may_wait(state)) {
        Some(state) => wait(&state, Wait::Outside(what), future(&state)),
        None => blocking().map(Some),
    }
}

/// Sleeps in the coroutine; no time at all asks for a turn of the loop only. `false`: the wait was cancelled.
pub fn sleep(what: &'static str, Pause(time): Pause) -> Result<bool, Raise> {
    let state = State::get()?;
    let slept = if time.is_zero() {
        wait(&state, Wait::Outside(what), tokio::task::yield_now())?
    } else {
        wait(&state, Wait::Outside(what), state.alarm.sleep(time))?
    };
    Ok(slept.is_some())
}

/// The same for code written for Swoole, which asks for the last error when the wait was cancelled.
pub fn sleep_noted(pause: Pause) -> Result<bool, Raise> {
    Ok(sleep("Coroutine::sleep()", pause)? || last_error::fail(swoole::error::CANCELED))
}

/// There those whose wait a method of `object` has ended go on before it returns.
pub fn let_go_on_there(object: &Object) -> Result<(), Raise> {
    let Some(state) = State::existing().filter(|state| object.name_there().is_some() && may_wait(state)) else {
        return Ok(());
    };
    wait(&state, Wait::Outside("close()"), tokio::task::yield_now()).map(drop)
}

/// Throws what a wait would throw if the running code cannot be suspended: for those who start something before they
/// wait.
#[inline]
pub fn expect_suspendable(state: &State, what: &'static str) -> Result<(), Raise> {
    if state.engine.current_id() == -1 {
        return failed(what, WaitError::Outside);
    }
    if engine::can_switch() { Ok(()) } else { failed(what, WaitError::Blocked) }
}

/// Throws where no process can be made: in coroutines, and in callbacks that an event loop calls outside of one.
pub fn expect_outside(what: &str) -> Result<(), Raise> {
    let Some(state) = State::existing() else { return Ok(()) };
    if state.engine.current_id() == -1 && !state.is_looping() {
        return Ok(());
    }
    Err(exception::throw(
        exception::code::coroutine::CANNOT_FORK,
        &format!(
            "{what} makes a process, which cannot be done inside a coroutine or a callback of an event loop, because all that \
             runs there would go on in both: call it before run() or start(), give a server its processes with addProcess(), or start \
             a program with System::exec()"
        ),
    ))
}

/// Throws what a wait that failed is to throw. `Ok`: it was cancelled quietly, and the function returns its failure
/// value.
pub fn failed(what: &str, error: WaitError) -> Result<(), Raise> {
    match error {
        WaitError::Cancelled(Cancel::Return) => Ok(()),
        WaitError::Cancelled(Cancel::Throw) => {
            Err(engine::throw(CANCELED.latest(), 0, &format!("the coroutine was cancelled while it waited in {what}")))
        }
        WaitError::Cancelled(Cancel::Scope(_)) => {
            Err(engine::throw(CANCELED.latest(), 0, &format!("the scope ended while the coroutine waited in {what}")))
        }
        WaitError::Cancelled(Cancel::Deadline(_)) => {
            Err(engine::throw(TIMEOUT.latest(), 0, &format!("the time was over while the coroutine waited in {what}")))
        }
        WaitError::Cancelled(Cancel::Unwind) => Err(engine::throw_graceful_exit()),
        WaitError::Outside => Err(exception::throw(
            exception::code::coroutine::NOT_IN_COROUTINE,
            &format!("{what} waits and needs a coroutine: call it inside Apus\\Coroutine\\run() or Apus\\go()"),
        )),
        WaitError::Blocked => Err(exception::throw(
            exception::code::coroutine::CANNOT_SWITCH,
            &format!(
                "{what} would wait where PHP cannot be suspended: in a handler of pcntl_signal(), a tick function, or at \
                 shutdown"
            ),
        )),
    }
}

/// How a wait with a limit of time ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waited<T> {
    /// With what it was for.
    Got(T),
    /// The time was over.
    TimedOut,
    /// The coroutine was cancelled, and the function is to return its failure value.
    Cancelled,
}

/// Suspends the running coroutine until `future` is ready, or the time is over. With a deadline it waits for the clock,
/// too, which is outside of all coroutines.
pub fn wait_until<T>(
    state: &State,
    waits: Wait,
    deadline: Deadline,
    future: impl Future<Output = T>,
) -> Result<Waited<T>, Raise> {
    let waits = if deadline.is_never() { waits } else { Wait::Outside(waits.name()) };
    Ok(match wait(state, waits, deadline.keep(future))? {
        Some(Some(value)) => Waited::Got(value),
        Some(None) => Waited::TimedOut,
        None => Waited::Cancelled,
    })
}

/// When a wait is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deadline(Option<Instant>);

impl Deadline {
    /// Waits as long as it takes.
    pub const NEVER: Self = Self(None);

    /// So long from now; `None`, and a time beyond what the clock can tell, for never.
    pub fn after(limit: Option<Duration>) -> Self {
        Self(limit.and_then(|limit| Instant::now().checked_add(limit)))
    }

    /// The moment; `None` for never.
    pub fn instant(self) -> Option<Instant> {
        self.0
    }

    /// Whether there is none.
    pub fn is_never(self) -> bool {
        self.0.is_none()
    }

    /// Whether it has come.
    pub fn is_over(self) -> bool {
        self.0.is_some_and(|at| at <= Instant::now())
    }

    /// The time until then, `pause` at most.
    pub fn within(self, pause: Duration) -> Duration {
        self.left().map_or(pause, |left| left.min(pause))
    }

    /// The time until then; `None` for never.
    pub fn left(self) -> Option<Duration> {
        self.0.map(|at| at.saturating_duration_since(Instant::now()))
    }

    /// The earlier one of both.
    #[must_use]
    pub fn or_sooner(self, other: Self) -> Self {
        Self([self.0, other.0].into_iter().flatten().min())
    }

    /// What `future` gives until then; `None` when the time was over first.
    pub async fn keep<T>(self, future: impl Future<Output = T>) -> Option<T> {
        match self.0 {
            Some(at) => tokio::time::timeout_at(at.into(), future).await.ok(),
            None => Some(future.await),
        }
    }
}

/// The argument that gives a time in seconds, where 0 has a meaning of its own. Throws for what is no number.
pub fn seconds(call: &Call, index: usize, default: f64) -> Result<f64, Raise> {
    let value = call.float(index, default)?;
    checked(Given { index, value }, "")
}

/// The argument that gives a time-out: `None`, no limit, for negative or infinite. Throws for what is no number.
pub fn time_limit(call: &Call, index: usize, default: f64) -> Result<Option<Duration>, Raise> {
    Timeout::of(call, index, default).map(Timeout::limit)
}

fn checked(given: Given<f64>, more: &str) -> Result<f64, Raise> {
    if given.value.is_nan() {
        return Err(given.value_error(&format!("must be a number of seconds{more}, NAN given")));
    }
    Ok(given.value)
}

/// An argument `float $timeout`: seconds, negative or infinite for no limit. What is no number is refused.
#[derive(Debug, Clone, Copy)]
pub struct Timeout(f64);

impl Want<f64> for Timeout {
    fn want(given: Given<f64>) -> Result<Self, Raise> {
        checked(given, " (negative for no limit)").map(Self)
    }
}

/// An argument `float $seconds`: how long to sleep.
#[derive(Debug, Clone, Copy)]
pub struct Pause(Duration);

impl Want<f64> for Pause {
    fn want(given: Given<f64>) -> Result<Self, Raise> {
        Duration::try_from_secs_f64(given.value)
            .map(Self)
            .map_err(|_| given.value_error(&format!("must be 0 or more seconds, {:?} given", given.value)))
    }
}

impl Timeout {
    /// No limit.
    pub const NEVER: Self = Self(-1.0);
    /// What a time of 0 means to the operation.
    pub const ZERO: Self = Self(0.0);

    /// The argument at that place, for functions that take the call as it is.
    pub fn of(call: &Call, index: usize, default: f64) -> Result<Self, Raise> {
        let value = call.float(index, default)?;
        Self::want(Given { index, value })
    }

    /// What a setting says, which was checked when it was set.
    pub fn of_setting(seconds: f64) -> Self {
        Self(seconds)
    }

    /// Whether it is 0: nothing is to be waited for, or what is usual.
    pub fn is_zero(self) -> bool {
        self.0 == 0.0
    }

    /// Whether it gives a time, or no limit by infinity: neither 0 nor negative.
    pub fn is_positive(self) -> bool {
        self.0 > 0.0
    }

    /// `None`: no limit.
    pub fn limit(self) -> Option<Duration> {
        limit(self.0)
    }

    /// The same where 0 means no limit, too, as in the peer's channels.
    pub fn limit_or_none(self) -> Option<Duration> {
        limit_or_none(self.0)
    }

    /// The same where 0 means what is usual.
    pub fn limit_or(self, usual: impl FnOnce() -> Option<Duration>) -> Option<Duration> {
        if self.is_zero() { usual() } else { self.limit() }
    }
}

/// A time-out as a limit: `None` for negative or infinite. What came from a program was asked for by [`Timeout`].
pub fn limit(seconds: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(seconds).ok()
}

/// The same where 0 means no limit, too, as in the peer's channels.
pub fn limit_or_none(seconds: f64) -> Option<Duration> {
    limit(seconds).filter(|limit| !limit.is_zero())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_of_odd_numbers() {
        assert_eq!(limit(-1.0), None);
        assert_eq!(limit(f64::NAN), None);
        assert_eq!(limit(f64::INFINITY), None);
        assert_eq!(limit(0.0), Some(Duration::ZERO));
        assert_eq!(limit_or_none(0.0), None);
        assert_eq!(limit_or_none(0.25), Some(Duration::from_millis(250)));
    }

    #[test]
    fn time_outs_and_deadlines() {
        assert!(Timeout(0.0).is_zero());
        assert_eq!(Timeout(0.0).limit_or(|| Some(Duration::from_secs(9))), Some(Duration::from_secs(9)));
        assert_eq!(Timeout(-2.0).limit_or(|| Some(Duration::from_secs(9))), None);
        assert_eq!(Timeout(0.5).limit_or(|| None), Some(Duration::from_millis(500)));
        assert_eq!(Deadline::after(None), Deadline::NEVER);
        // Beyond what the clock can tell.
        assert_eq!(Deadline::after(Some(Duration::MAX)), Deadline::NEVER);
        assert!(Deadline::after(Some(Duration::ZERO)).is_over());
        assert!(!Deadline::NEVER.is_over());
        let hour = Deadline::after(Some(Duration::from_secs(3600)));
        assert_eq!(hour.within(Duration::from_millis(5)), Duration::from_millis(5));
        assert_eq!(Deadline::NEVER.or_sooner(hour), hour);
    }
}
