//! `Apus\Coroutine`.

use std::rc::Rc;

use apus_coro::{Cancel, State as TaskState, Task};
use apus_zend::{Array, Call, Raise, Value, engine, fiber};

use super::{array_iterator, batch, context};
use crate::convert::{apply, from_option};
use crate::exception;
use crate::runtime::{PhpSwitch, State};
use crate::timer::Timers;
use crate::wait::{Pause, suspend};

/// `Coroutine::create()` and `go()`.
pub(crate) fn create(call: &Call) -> Result<(), Raise> {
    let callable = call.callable(0)?;
    let args = (1..call.count()).map(|i| call.value(i)).collect();
    let id = State::get()?.go(callable, args, None)?;
    call.ret(id)
}

/// `Coroutine::defer()` and `defer()`.
pub(crate) fn defer(call: &Call) -> Result<(), Raise> {
    let callable = call.callable(0)?;
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

fn get_cid(call: &Call) -> Result<(), Raise> {
    call.ret(State::existing().map_or(-1, |state| state.engine.current_id()))
}

/// The task that an optional id argument means: the running one for none or 0.
fn meant(call: &Call, index: usize) -> Result<Option<Rc<Task<PhpSwitch>>>, Raise> {
    let id = call.opt_int(index)?.unwrap_or(0);
    let Some(state) = State::existing() else { return Ok(None) };
    Ok(if id == 0 { state.engine.current() } else { state.engine.find(id) })
}

fn get_pcid(call: &Call) -> Result<(), Raise> {
    match meant(call, 0)? {
        Some(task) => call.ret(task.parent()),
        None => call.ret(false),
    }
}

fn sleep(time: Pause) -> Result<bool, Raise> {
    crate::wait::sleep("Coroutine::sleep()", time)
}

fn yield_now(call: &Call) -> Result<(), Raise> {
    call.ret(suspend(&*State::get()?)?)
}

fn resume(call: &Call) -> Result<(), Raise> {
    let id = call.int(0, 0)?;
    let Some(state) = State::existing() else { return call.ret(false) };
    let resumed = state.engine.resume(id);
    if resumed {
        state.check_stop()?;
    }
    call.ret(resumed)
}

fn get_context(call: &Call) -> Result<(), Raise> {
    let Some(task) = meant(call, 0)? else { return call.ret(Value::null()) };
    let kept = task.data().context.borrow().as_ref().map(apus_zend::object::Object::share);
    let object = if let Some(object) = kept {
        object
    } else {
        let fresh = context::new()?;
        *task.data().context.borrow_mut() = Some(fresh.share());
        fresh
    };
    call.ret(object)
}

fn exists(call: &Call) -> Result<(), Raise> {
    let id = call.int(0, 0)?;
    call.ret(State::existing().is_some_and(|state| state.engine.find(id).is_some()))
}

fn list(call: &Call) -> Result<(), Raise> {
    let ids = State::existing().map(|state| state.engine.ids()).unwrap_or_default();
    call.ret(array_iterator(&ids)?)
}

fn stats(call: &Call) -> Result<(), Raise> {
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
    call.ret(array)
}

/// `Coroutine::set()` and `Scheduler::set()`.
pub(super) fn apply_options(call: &Call) -> Result<(), Raise> {
    let given = call.array(0)?;
    let state = State::get()?;
    let mut settings = state.settings.borrow().clone();
    apply(&mut settings, given).map_err(|error| engine::throw_value_error(&error))?;
    state.configure(settings);
    Ok(())
}

fn set(call: &Call) -> Result<(), Raise> {
    apply_options(call)
}

/// `Coroutine::getOptions()`: every setting that coroutines heed.
pub(super) fn options_array() -> Result<Array, Raise> {
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

fn get_options(call: &Call) -> Result<(), Raise> {
    call.ret(options_array()?)
}

fn cancel(call: &Call) -> Result<(), Raise> {
    let id = call.int(0, 0)?;
    let how = if call.bool(1, false)? { Cancel::Throw } else { Cancel::Return };
    call.ret(State::existing().is_some_and(|state| state.engine.cancel(id, how)))
}

fn is_canceled(call: &Call) -> Result<(), Raise> {
    call.ret(State::existing().and_then(|state| state.engine.current()).is_some_and(|task| task.was_cancelled()))
}

fn get_back_trace(call: &Call) -> Result<(), Raise> {
    let (options, limit) = (call.int(1, 1)?, call.int(2, 0)?);
    let Some(task) = meant(call, 0)? else { return call.ret(false) };
    let me = State::existing().is_some_and(|state| state.engine.current_id() == task.id());
    if me {
        return call.ret(fiber::backtrace(None, options, limit)?);
    }
    if task.state() == TaskState::New {
        return call.ret(Array::new(0)?);
    }
    call.ret(task.data().fiber().backtrace(options, limit)?)
}

fn get_elapsed(call: &Call) -> Result<(), Raise> {
    match meant(call, 0)? {
        Some(task) => call.ret(task.data().started.elapsed().as_millis() as i64),
        None => call.ret(-1),
    }
}

apus_zend::stub!("coroutine/class");
