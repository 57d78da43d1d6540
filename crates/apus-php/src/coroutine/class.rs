//! `Apus\Coroutine`.

use std::rc::Rc;
use std::time::Duration;

use apus_coro::{Cancel, State as TaskState, Task, Wait};
use apus_zend::class::{Class, Const, Constant, Method};
use apus_zend::{Array, Call, Raise, Value, engine, fiber, handler};

use super::{array_iterator, batch, context};
use crate::convert::{apply, from_option};
use crate::exception::{self, entry};
use crate::runtime::{PhpSwitch, State};
use crate::wait::{suspend, wait};

/// `Coroutine::create()` and `go()`.
pub(crate) fn create(call: &Call) -> Result<(), Raise> {
    call.expect(1, u32::MAX)?;
    let callable = call.callable(0)?;
    let args = (1..call.count()).map(|i| call.value(i)).collect();
    let id = State::get()?.go(callable, args, None)?;
    call.ret(id)
}

/// `Coroutine::defer()` and `defer()`.
pub(crate) fn defer(call: &Call) -> Result<(), Raise> {
    call.expect(1, 1)?;
    let callable = call.callable(0)?;
    current("defer()")?.data().defer(callable);
    Ok(())
}

fn current(what: &str) -> Result<Rc<Task<PhpSwitch>>, Raise> {
    State::existing().and_then(|state| state.engine.current()).ok_or_else(|| {
        exception::throw(&exception::COROUTINE, "NOT_IN_COROUTINE", &format!("{what} needs a coroutine, and none runs"))
    })
}

fn get_cid(call: &Call) -> Result<(), Raise> {
    call.expect(0, 0)?;
    call.ret(State::existing().map_or(-1, |state| state.engine.current_id()))
}

/// The task that an optional id argument means: the running one for none or 0.
fn meant(call: &Call, index: usize) -> Result<Option<Rc<Task<PhpSwitch>>>, Raise> {
    let id = call.opt_int(index)?.unwrap_or(0);
    let Some(state) = State::existing() else { return Ok(None) };
    Ok(if id == 0 { state.engine.current() } else { state.engine.find(id) })
}

fn get_pcid(call: &Call) -> Result<(), Raise> {
    call.expect(0, 1)?;
    match meant(call, 0)? {
        Some(task) => call.ret(task.parent()),
        None => call.ret(false),
    }
}

const SLEEP: Wait = Wait::Outside("Coroutine::sleep()");

fn sleep(call: &Call) -> Result<(), Raise> {
    call.expect(1, 1)?;
    let seconds = call.float(0, 0.0)?;
    let time = Duration::try_from_secs_f64(seconds)
        .map_err(|_| call.value_error(0, &format!("must be 0 or more seconds, {seconds:?} given")))?;
    let state = State::get()?;
    // 0 asks for a turn of the loop only.
    let slept = if time.is_zero() {
        wait(&state, SLEEP, tokio::task::yield_now())?
    } else {
        wait(&state, SLEEP, state.alarm.sleep(time))?
    };
    call.ret(slept.is_some())
}

fn yield_now(call: &Call) -> Result<(), Raise> {
    call.expect(0, 0)?;
    call.ret(suspend(&*State::get()?)?)
}

fn resume(call: &Call) -> Result<(), Raise> {
    call.expect(1, 1)?;
    let id = call.int(0, 0)?;
    let Some(state) = State::existing() else { return call.ret(false) };
    let resumed = state.engine.resume(id);
    if resumed {
        state.check_stop()?;
    }
    call.ret(resumed)
}

fn get_context(call: &Call) -> Result<(), Raise> {
    call.expect(0, 1)?;
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
    call.expect(1, 1)?;
    let id = call.int(0, 0)?;
    call.ret(State::existing().is_some_and(|state| state.engine.find(id).is_some()))
}

fn list(call: &Call) -> Result<(), Raise> {
    call.expect(0, 0)?;
    let ids = State::existing().map(|state| state.engine.ids()).unwrap_or_default();
    call.ret(array_iterator(&ids)?)
}

fn stats(call: &Call) -> Result<(), Raise> {
    call.expect(0, 0)?;
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
    array.set_int(b"timer_num", state.timers.len() as i64)?;
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
    call.expect(1, 1)?;
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
    call.expect(0, 0)?;
    call.ret(options_array()?)
}

fn cancel(call: &Call) -> Result<(), Raise> {
    call.expect(1, 2)?;
    let id = call.int(0, 0)?;
    let how = if call.bool(1, false)? { Cancel::Throw } else { Cancel::Return };
    call.ret(State::existing().is_some_and(|state| state.engine.cancel(id, how)))
}

fn is_canceled(call: &Call) -> Result<(), Raise> {
    call.expect(0, 0)?;
    call.ret(State::existing().and_then(|state| state.engine.current()).is_some_and(|task| task.was_cancelled()))
}

fn get_back_trace(call: &Call) -> Result<(), Raise> {
    call.expect(0, 3)?;
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
    call.expect(0, 1)?;
    match meant(call, 0)? {
        Some(task) => call.ret(task.data().started.elapsed().as_millis() as i64),
        None => call.ret(-1),
    }
}

/// `Apus\Coroutine`.
pub(crate) static COROUTINE: Class = Class {
    name: "Apus\\Coroutine",
    modifiers: "",
    extends: "",
    implements: &[],
    doc: "Coroutines: functions that let others run while they wait. Each has an id (cid), counted from 1.\n@since 0.1.0",
    constants: &[Constant {
        name: "DEFAULT_MAX_CORO_NUM",
        value: Const::Int(100_000),
        doc: "The default of `max_coroutine`.",
    }],
    properties: &[],
    methods: METHODS,
    native: false,
    lazy: None,
    entry: entry!(),
};

const METHODS: &[Method] = &[
    Method {
        decl: "public static function create(callable $callback, mixed ...$args): int",
        doc: "Makes a coroutine and runs $callback(...$args) in it at once, until it first waits.\n\
              @return int its id\n\
              @throws \\Apus\\Coroutine\\Exception TOO_MANY at the limit `max_coroutine`; NO_MEMORY when the system gives no stack\n\
              Does not wait.\n@since 0.1.0",
        handler: Some(handler!(create)),
    },
    Method {
        decl: "public static function getCid(): int",
        doc: "The id of the running coroutine, or -1 outside.\nDoes not wait.\n@since 0.1.0",
        handler: Some(handler!(get_cid)),
    },
    Method {
        decl: "public static function getuid(): int",
        doc: "The same as getCid().\nDoes not wait.\n@since 0.1.0",
        handler: Some(handler!(get_cid)),
    },
    Method {
        decl: "public static function getPcid(int $cid = 0): int|false",
        doc: "The id of the coroutine that made this one (0: the running one); -1 when it was made outside coroutines.\n\
              @return int|false false when there is no such coroutine\nDoes not wait.\n@since 0.1.0",
        handler: Some(handler!(get_pcid)),
    },
    Method {
        decl: "public static function sleep(float $seconds): bool",
        doc: "Waits; others run meanwhile. Resolution: 20 to 300 microseconds, coarser for longer times.\n\
              @param float $seconds 0 or more seconds; 0 lets everything that is ready run first\n\
              @return bool false when the coroutine was cancelled meanwhile\n\
              @throws \\ValueError for a negative or infinite time\n\
              @throws \\Apus\\Coroutine\\Exception NOT_IN_COROUTINE, CANNOT_SWITCH\n\
              @throws \\Apus\\Coroutine\\CanceledException when cancelled with an exception\n\
              Waits.\n@since 0.1.0",
        handler: Some(handler!(sleep)),
    },
    Method {
        decl: "public static function yield(): bool",
        doc: "Waits until another coroutine calls resume() with this one's id.\n\
              @return bool false when the coroutine was cancelled meanwhile\n\
              @throws \\Apus\\Coroutine\\Exception NOT_IN_COROUTINE, CANNOT_SWITCH\n\
              @throws \\Apus\\Coroutine\\CanceledException when cancelled with an exception\n\
              Waits.\n@since 0.1.0",
        handler: Some(handler!(yield_now)),
    },
    Method {
        decl: "public static function suspend(): bool",
        doc: "The same as yield().\nWaits.\n@since 0.1.0",
        handler: Some(handler!(yield_now)),
    },
    Method {
        decl: "public static function resume(int $cid): bool",
        doc: "Runs a coroutine that waits in yield() on, at once; returns when it waits again or has ended.\n\
              Where PHP cannot switch (in destructors before PHP 8.4, in the cycle collector) the event loop does it.\n\
              @return bool false when there is no such coroutine, or it does not wait in yield(), or is to be run on already\n\
              Does not wait.\n@since 0.1.0",
        handler: Some(handler!(resume)),
    },
    Method {
        decl: "public static function defer(callable $callback): void",
        doc: "Has $callback() called when the coroutine's function has returned or thrown; the last given is called first.\n\
              @throws \\Apus\\Coroutine\\Exception NOT_IN_COROUTINE\nDoes not wait.\n@since 0.1.0",
        handler: Some(handler!(defer)),
    },
    Method {
        decl: "public static function getContext(int $cid = 0): ?Apus\\Coroutine\\Context",
        doc: "The values that belong to a coroutine (0: the running one).\n\
              @return Context|null null when there is no such coroutine\nDoes not wait.\n@since 0.1.0",
        handler: Some(handler!(get_context)),
    },
    Method {
        decl: "public static function exists(int $cid): bool",
        doc: "Whether the coroutine has not ended.\nDoes not wait.\n@since 0.1.0",
        handler: Some(handler!(exists)),
    },
    Method {
        decl: "public static function list(): ArrayIterator",
        doc: "The ids of all coroutines of this process.\nDoes not wait.\n@since 0.1.0",
        handler: Some(handler!(list)),
    },
    Method {
        decl: "public static function listCoroutines(): ArrayIterator",
        doc: "The same as list().\nDoes not wait.\n@since 0.1.0",
        handler: Some(handler!(list)),
    },
    Method {
        decl: "public static function stats(): array",
        doc: "coroutine_num, coroutine_peak_num, coroutine_last_cid, c_stack_size (bytes), stack_num (stacks made so far),\n\
              stack_idle_num, switch_num (times a coroutine was entered), timer_num.\nDoes not wait.\n@since 0.1.0",
        handler: Some(handler!(stats)),
    },
    Method {
        decl: "public static function set(array $options): void",
        doc: "Changes settings of coroutines: see docs/options.md, scope \"coroutine\". All are applied, or none.\n\
              @throws \\ValueError for an unknown setting or a value out of its limits\nDoes not wait.\n@since 0.1.0",
        handler: Some(handler!(set)),
    },
    Method {
        decl: "public static function getOptions(): ?array",
        doc: "The settings of coroutines, name => value.\nDoes not wait.\n@since 0.1.0",
        handler: Some(handler!(get_options)),
    },
    Method {
        decl: "public static function join(array $cids, float $timeout = -1): bool",
        doc: "Waits until all these coroutines have ended.\n\
              @param int[] $cids ids; those of ended coroutines count as ended\n\
              @param float $timeout seconds; negative for no limit\n\
              @return bool false when the time was over first, or the coroutine was cancelled\n\
              @throws \\ValueError when the running coroutine is among them\n\
              @throws \\Apus\\Coroutine\\Exception NOT_IN_COROUTINE, CANNOT_SWITCH\n\
              @throws \\Apus\\Coroutine\\CanceledException when cancelled with an exception\n\
              Waits.\n@since 0.1.0",
        handler: Some(handler!(batch::join_call)),
    },
    Method {
        decl: "public static function cancel(int $cid, bool $throwException = false): bool",
        doc: "Breaks off what a coroutine waits for: the function that it waits in returns its failure value, or throws a\n\
              CanceledException.\n\
              @return bool false when there is no such coroutine, or it does not wait\nDoes not wait.\n@since 0.1.0",
        handler: Some(handler!(cancel)),
    },
    Method {
        decl: "public static function isCanceled(): bool",
        doc: "Whether the last wait of the running coroutine was cancelled.\nDoes not wait.\n@since 0.1.0",
        handler: Some(handler!(is_canceled)),
    },
    Method {
        decl: "public static function getBackTrace(int $cid = 0, int $options = 1, int $limit = 0): array|false",
        doc: "debug_backtrace() of a coroutine (0: the running one), also while it waits.\n\
              @param int $options as debug_backtrace()\n@param int $limit frames at most; 0 for all\n\
              @return array|false false when there is no such coroutine\nDoes not wait.\n@since 0.1.0",
        handler: Some(handler!(get_back_trace)),
    },
    Method {
        decl: "public static function getElapsed(int $cid = 0): int",
        doc: "Milliseconds since a coroutine was made (0: the running one), in steps of the kernel's tick (1 to 10 ms); -1 when\n\
              there is none.\nDoes not wait.\n@since 0.1.0",
        handler: Some(handler!(get_elapsed)),
    },
];
