//! What `Swoole\Coroutine` does in a way of its own: the numbers of `swoole_last_error()`, and what only it has.

use std::cell::RefCell;
use std::collections::HashSet;
use std::ffi::OsStr;
use std::ops::RangeInclusive;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::rc::Rc;

use apus_coro::{Cancel, TaskId, Wait};
use apus_process::log;
use apus_zend::arg::Given;
use apus_zend::object::Object;
use apus_zend::value::{ArrayView, Key, View};
use apus_zend::{Array, Callable, Raise, Value};

use super::batch;
use super::class::{context_of, get_back_trace, meant};
use crate::backtrace;
use crate::last_error;
use crate::preempt;
use crate::runtime::{Room, State};
use crate::swoole::{error, warning};
use crate::wait::{Pause, Timeout, sleep_noted, suspend, wait};

pub(super) fn sleep(time: Pause) -> Result<bool, Raise> {
    sleep_noted(time)
}

pub(super) fn get_context(id: TaskId) -> Result<Option<Object>, Raise> {
    context_of(id, true)
}

pub(super) fn yield_now() -> Result<bool, Raise> {
    let resumed = suspend(&*State::get()?)?;
    Ok(resumed || last_error::fail(error::CANCELED))
}

pub(super) fn cancel(id: TaskId, throws: bool) -> bool {
    let Some(state) = State::existing() else { return last_error::fail(error::NOT_EXISTS) };
    if state.engine.find(id).is_none() {
        return last_error::fail(error::NOT_EXISTS);
    }
    let how = if throws { Cancel::Throw } else { Cancel::Return };
    state.engine.cancel(id, how) || last_error::fail(error::CANNOT_CANCEL)
}

pub(super) fn resume(id: TaskId) -> Result<bool, Raise> {
    let resumed = super::class::resume(id)?;
    if !resumed {
        crate::swoole::warning("can not resume the coroutine which is in IO operation or non-existent")?;
    }
    Ok(resumed)
}

thread_local! {
    /// Coroutines whose end somebody waits for.
    static JOINED: RefCell<HashSet<i64>> = RefCell::default();
}

/// Those that a call waits for, until it returns.
struct Joined(Vec<i64>);

impl Joined {
    /// `None`: another call waits for one of them already.
    fn of(ids: Vec<i64>) -> Option<Self> {
        JOINED.with_borrow_mut(|joined| {
            if ids.iter().any(|id| joined.contains(id)) {
                return None;
            }
            joined.extend(&ids);
            Some(Self(ids))
        })
    }
}

impl Drop for Joined {
    fn drop(&mut self) {
        JOINED.with_borrow_mut(|joined| joined.retain(|id| !self.0.contains(id)));
    }
}

pub(super) fn join(given: Given<ArrayView<'_>>, timeout: Timeout) -> Result<bool, Raise> {
    let exists = |id: i64| State::existing().is_some_and(|state| state.engine.find(id).is_some());
    let me = super::class::get_cid();
    let ids: Vec<i64> = given
        .value
        .iter()
        .filter_map(|(_, value)| if let View::Int(id) = value.view() { Some(id) } else { None })
        .collect();
    if ids.contains(&me) {
        crate::swoole::warning("can not join self")?;
        return Ok(last_error::fail(error::WRONG_OPERATION));
    }
    if ids.iter().enumerate().any(|(at, id)| ids[..at].contains(id) && exists(*id)) {
        return Ok(last_error::fail(error::WRONG_OPERATION));
    }
    if !ids.iter().any(|&id| exists(id)) {
        return Ok(last_error::fail(error::INVALID_PARAMS));
    }
    let Some(_joined) = Joined::of(ids) else { return Ok(last_error::fail(error::WRONG_OPERATION)) };
    last_error::clear();
    // What those had deferred has its turn before who waited goes on, and may cancel it.
    let joined = batch::join_call(given, timeout)? && one_turn()?;
    Ok(joined || last_error::fail(if super::class::is_canceled() { error::CANCELED } else { error::TIMED_OUT }))
}

/// Waits while what is due now has its turn. `false`: cancelled.
fn one_turn() -> Result<bool, Raise> {
    let Some(state) = State::existing() else { return Ok(true) };
    Ok(wait(&state, Wait::Outside("Coroutine::join()"), tokio::task::yield_now())?.is_some())
}

/// What was set under these names, known or not: `getOptions()` gives it back.
#[derive(Default)]
pub(crate) struct GivenOptions(RefCell<Vec<(Vec<u8>, Value)>>);

impl Room for GivenOptions {}

impl GivenOptions {
    fn take_over(&self, given: ArrayView<'_>) {
        for (key, value) in given.iter() {
            let Key::Str(name) = key else { continue };
            let mut all = self.0.borrow_mut();
            let mut old = None;
            match all.iter().position(|(known, _)| known == name) {
                Some(at) => old = Some(std::mem::replace(&mut all[at].1, value.value())),
                None if all.len() < OPTIONS => all.push((name.to_vec(), value.value())),
                None => {}
            }
            // After the borrow: a destructor may call back.
            drop(all);
            drop(old);
        }
    }
}

/// Names that are kept at most.
const OPTIONS: usize = 1024;

/// The options in force, and whatever else was set.
pub(super) fn get_options() -> Result<Array, Raise> {
    let mut options = super::class::get_options()?;
    let state = State::get()?;
    let given = state.room::<GivenOptions>();
    let more: Vec<(Vec<u8>, Value)> =
        given.0.borrow().iter().map(|(name, value)| (name.clone(), value.share())).collect();
    for (name, value) in more {
        let known = std::str::from_utf8(&name).is_ok_and(|name| options.view().get(name).is_some());
        if !known {
            options.set(&name, value)?;
        }
    }
    Ok(options)
}

/// The numbers of `Apus\Coroutine::stats()`, and those of what keeps the loop busy.
pub(super) fn stats() -> Result<Array, Raise> {
    let mut stats = super::class::stats()?;
    stats.set_int(b"event_num", crate::system::watched_count(&*State::get()?) as i64)?;
    stats.set_int(b"signal_listener_num", crate::process::signal_handlers() as i64)?;
    Ok(stats)
}

/// Settings of coroutines that are heeded here in a way of their own, and what is wrong with them.
pub(super) fn heeds(name: &[u8], value: View<'_>) -> Option<Result<(), String>> {
    match (name, value) {
        (b"c_stack_size" | b"stack_size", View::Int(_)) | (b"enable_preemptive_scheduler", _) => Some(Ok(())),
        (b"http2_enable_push", View::Int(push @ ..0)) => {
            Some(Err(format!("http2_enable_push must be greater than or equal to 0, got {push}")))
        }
        _ => None,
    }
}

/// What a coroutine's C stack has at least and at most there; a number beyond is taken for the nearest.
const STACKS: RangeInclusive<usize> = (64 << 10)..=(16 << 20);
/// Stacks are whole pages.
const PAGE: usize = 4096;

/// The size of C stacks that `given` asks for with a number.
pub(super) fn stack_size(given: ArrayView<'_>) -> Option<usize> {
    let View::Int(bytes) = given.get("c_stack_size").or_else(|| given.get("stack_size"))? else { return None };
    // A negative one is a very large one.
    let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
    Some(bytes.clamp(*STACKS.start(), *STACKS.end()).next_multiple_of(PAGE))
}

/// Whether coroutines are interrupted, if `given` says so; any value says it.
pub(super) fn preemptive(given: ArrayView<'_>) -> Option<bool> {
    given.get("enable_preemptive_scheduler").map(|on| !matches!(on, View::Bool(false) | View::Int(0) | View::Null))
}

/// Where lines of the log go, and how grave those are that are written.
fn set_log(given: ArrayView<'_>) -> Result<(), Raise> {
    if let Some(View::Str(path)) = given.get("log_file")
        && let Err(error) = log::open(Path::new(OsStr::from_bytes(path)))
    {
        warning(&format!("log_file {}: {error}", String::from_utf8_lossy(path)))?;
    }
    if let Some(View::Int(level)) = given.get("log_level") {
        log::set_level(level.clamp(0, NO_LINES) as u8);
    }
    Ok(())
}

/// `SWOOLE_LOG_NONE`
const NO_LINES: i64 = 6;

/// What only code written for Swoole can set.
pub(super) fn set_more(state: &State, given: ArrayView<'_>) -> Result<(), Raise> {
    state.room::<GivenOptions>().take_over(given);
    set_log(given)?;
    if let Some(shown) = given.get("display_errors") {
        let shown: &[u8] = if matches!(shown, View::Bool(false) | View::Int(0)) { b"0" } else { b"1" };
        Callable::named("ini_set")?.call(&[Value::string(b"swoole.display_errors")?, Value::string(shown)?])?;
    }
    let condition = given.iter().find_map(|(key, value)| matches!(key, Key::Str(b"exit_condition")).then_some(value));
    let Some(condition) = condition else { return Ok(()) };
    match Callable::new(&mut condition.value()) {
        Ok(condition) => {
            *state.exit_condition.borrow_mut() = Some(Rc::new(condition));
            // A script that has nothing but handlers of signals may not be ready to end.
            state.register_finish();
        }
        Err(_) => match condition.view() {
            View::Null => drop(state.exit_condition.take()),
            View::Str(name) => {
                let name = String::from_utf8_lossy(name);
                crate::swoole::warning(&format!("function '{name}' is not callable"))?;
            }
            _ => crate::swoole::warning("exit_condition is not callable")?,
        },
    }
    Ok(())
}

/// The running coroutine may be interrupted again.
pub(super) fn enable_scheduler() -> bool {
    preempt::except(false)
}

/// The running coroutine is not interrupted.
pub(super) fn disable_scheduler() -> bool {
    preempt::except(true)
}

/// `Swoole\Coroutine\Iterator` over the ids, the last one first.
pub(super) fn list() -> Result<Object, Raise> {
    let mut ids = State::existing().map(|state| state.engine.ids()).unwrap_or_default();
    ids.reverse();
    crate::builtin::iterator("Swoole\\Coroutine\\Iterator", &ids)
}

/// Prints what [`get_back_trace`] tells, in the form of PHP's `debug_print_backtrace()`.
pub(super) fn print_back_trace(id: TaskId, options: i64, limit: i64) -> Result<(), Raise> {
    if meant(id).is_none() {
        last_error::fail(error::NOT_EXISTS);
        return Ok(());
    }
    let Some(trace) = get_back_trace(id, options, limit)?.0 else { return Ok(()) };
    crate::builtin::print(backtrace::text(&trace).as_bytes())
}
