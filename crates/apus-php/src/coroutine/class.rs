//! `Apus\Coroutine`.

use std::rc::Rc;

use apus_coro::{Cancel, State as TaskState, Task, TaskId};
use apus_options::{Limit, Settings};
use apus_zend::arg::{OrFalse, Rest};
use apus_zend::object::Object;
use apus_zend::value::ArrayView;
use apus_zend::{Array, Callable, Raise, Value, engine, fiber};

use super::{array_iterator, batch, context, second};
use crate::convert::{apply, apply_known, from_option};
use crate::exception;
use crate::remembered;
use crate::runtime::{PhpSwitch, State};
use crate::timer::Timers;
use crate::wait::{Pause, suspend};

/// `Coroutine::create()` and `go()`.
pub(crate) fn create(callable: Callable, args: Rest<'_>) -> Result<TaskId, Raise> {
    State::get()?.go(callable, args.values(), None)
}

/// `Coroutine::defer()` and `defer()`.
pub(crate) fn defer(callable: Callable) -> Result<(), Raise> {
    current("defer()")?.data().defer(callable);
    Ok(())
}

fn current(what: &str) -> Result<Rc<Task<PhpSwitch>>, Raise> {
    State::existing().and_then(|state| state.engine.current()).ok_or_else(|| {
        exception::throw(
            exception::code::coroutine::NOT_IN_COROUTINE,
            &format!("{what} needs a coroutine, and none runs"),
        )
    })
}

pub(super) fn get_cid() -> TaskId {
    State::existing().map_or(-1, |state| state.engine.current_id())
}

/// The task that an id means: the running one for 0.
pub(super) fn meant(id: TaskId) -> Option<Rc<Task<PhpSwitch>>> {
    let state = State::existing()?;
    if id == 0 { state.engine.current() } else { state.engine.find(id) }
}

fn get_pcid(id: TaskId) -> OrFalse<TaskId> {
    OrFalse(meant(id).map(|task| task.parent()))
}

fn sleep(time: Pause) -> Result<bool, Raise> {
    crate::wait::sleep("Coroutine::sleep()", time)
}

fn yield_now() -> Result<bool, Raise> {
    suspend(&*State::get()?)
}

pub(super) fn resume(id: TaskId) -> Result<bool, Raise> {
    let Some(state) = State::existing() else { return Ok(false) };
    let resumed = state.engine.resume(id);
    if resumed {
        state.check_stop()?;
    }
    Ok(resumed)
}

fn get_context(id: TaskId) -> Result<Option<Object>, Raise> {
    context_of(id, false)
}

pub(super) fn context_of(id: TaskId, apart: bool) -> Result<Option<Object>, Raise> {
    let Some(task) = meant(id) else { return Ok(None) };
    let kept = task.data().context().borrow().as_ref().map(Object::share);
    if kept.is_some() {
        return Ok(kept);
    }
    let fresh = context::new(apart)?;
    *task.data().context().borrow_mut() = Some(fresh.share());
    Ok(Some(fresh))
}

fn exists(id: TaskId) -> bool {
    State::existing().is_some_and(|state| state.engine.find(id).is_some())
}

fn list() -> Result<Object, Raise> {
    array_iterator(&State::existing().map(|state| state.engine.ids()).unwrap_or_default())
}

pub(super) fn stats() -> Result<Array, Raise> {
    let state = State::get()?;
    let stats = state.engine.stats();
    let (stacks, idle) = state.engine.switch().pool.counts();
    let mut array = Array::new(8)?;
    array.set_int(b"coroutine_num", stats.live as i64)?;
    array.set_int(b"coroutine_peak_num", stats.peak as i64)?;
    array.set_int(b"coroutine_last_cid", stats.created as i64)?;
    array.set_int(b"c_stack_size", state.engine.switch().pool.stack_size() as i64)?;
    array.set_int(b"stack_num", stacks as i64)?;
    array.set_int(b"stack_idle_num", idle as i64)?;
    array.set_int(b"switch_num", stats.switches as i64)?;
    array.set_int(b"timer_num", Timers::of(&state).len() as i64)?;
    Ok(array)
}

/// Has them hold from now on, in processes that are made later, too.
fn configure(state: &State, settings: Settings) {
    remembered::remember(&settings);
    state.configure(settings);
}

/// `Coroutine::set()` and `Scheduler::set()`.
pub(super) fn set(given: ArrayView<'_>) -> Result<(), Raise> {
    let state = State::get()?;
    let mut settings = state.settings.borrow().clone();
    apply(&mut settings, given).map_err(|error| engine::throw_value_error(&error))?;
    configure(&state, settings);
    Ok(())
}

/// The same for code written for Swoole: what is unknown or unsuitable there has no effect here either.
pub(crate) fn set_known(given: ArrayView<'_>) -> Result<(), Raise> {
    let state = State::get()?;
    let mut settings = state.settings.borrow().clone();
    if given.get("socket_timeout").is_some() {
        // There it is both of these.
        (settings.socket_read_timeout, settings.socket_write_timeout) = (Limit::seconds(0), Limit::seconds(0));
    }
    for wrong in apply_known(&mut settings, given, second::heeds) {
        engine::warning(&wrong)?;
    }
    settings.stack_size = second::stack_size(given).unwrap_or(settings.stack_size);
    settings.enable_preemptive_scheduler = second::preemptive(given).unwrap_or(settings.enable_preemptive_scheduler);
    configure(&state, settings);
    second::set_more(&state, given)
}

/// `Coroutine::getOptions()`: every setting that coroutines heed.
pub(super) fn get_options() -> Result<Array, Raise> {
    let state = State::get()?;
    let settings = state.settings.borrow();
    let mut array = Array::new(8)?;
    for row in apus_options::rows().filter(|row| row.scope == apus_options::Scope::Coroutine) {
        if let Some(value) = settings.get(row.name) {
            array.set(row.name.as_bytes(), from_option(&value)?)?;
        }
    }
    Ok(array)
}

fn cancel(id: TaskId, throws: bool) -> bool {
    let how = if throws { Cancel::Throw } else { Cancel::Return };
    State::existing().is_some_and(|state| state.engine.cancel(id, how))
}

pub(super) fn is_canceled() -> bool {
    State::existing().and_then(|state| state.engine.current()).is_some_and(|task| task.was_cancelled())
}

pub(super) fn get_back_trace(id: TaskId, options: i64, limit: i64) -> Result<OrFalse<Value>, Raise> {
    let Some(task) = meant(id) else { return Ok(OrFalse(None)) };
    let me = State::existing().is_some_and(|state| state.engine.current_id() == task.id());
    let trace = if me {
        fiber::backtrace(None, options, limit)?
    } else if task.state() == TaskState::New {
        Array::new(0)?.into()
    } else {
        task.data().fiber().backtrace(options, limit)?
    };
    Ok(OrFalse(Some(trace)))
}

fn get_elapsed(id: TaskId) -> i64 {
    meant(id).map_or(-1, |task| task.data().started.elapsed().as_millis() as i64)
}

apus_zend::stub!("coroutine/class");
