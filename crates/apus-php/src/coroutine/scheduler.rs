//! `Apus\Coroutine\Scheduler` and `run()`: coroutines in a script, until the last one has ended.

use std::cell::RefCell;

use apus_zend::{Call, Callable, Raise, Value, native};

use super::class::{apply_options, options_array};
use crate::exception;
use crate::runtime::State;

#[derive(Default)]
struct Scheduler {
    jobs: RefCell<Vec<(Callable, Vec<Value>)>>,
}

native!(Scheduler, "Apus\\Coroutine\\Scheduler", |scheduler, held| {
    for (callable, args) in scheduler.jobs.try_borrow().iter().flat_map(|jobs| jobs.iter()) {
        held.callable(callable);
        for value in args {
            held.value(value);
        }
    }
});

fn construct(call: &Call) -> Result<(), Raise> {
    call.construct(Scheduler::default())
}

fn rest(call: &Call, from: usize) -> Vec<Value> {
    (from..call.count()).map(|i| call.value(i)).collect()
}

fn add(call: &Call) -> Result<(), Raise> {
    let job = (call.callable(0)?, rest(call, 1));
    call.this::<Scheduler>()?.jobs.borrow_mut().push(job);
    Ok(())
}

fn parallel(call: &Call) -> Result<(), Raise> {
    let count = call.int(0, 0)?;
    if count < 1 {
        return Err(call.value_error(0, &format!("must be at least 1, {count} given")));
    }
    let callable = call.callable(1)?;
    let scheduler = call.this::<Scheduler>()?;
    for _ in 0..count {
        let job = (callable.share(), rest(call, 2));
        scheduler.jobs.borrow_mut().push(job);
    }
    Ok(())
}

fn start(call: &Call) -> Result<(), Raise> {
    let jobs = call.this::<Scheduler>()?.jobs.take();
    run_jobs(jobs)?;
    call.ret(true)
}

fn set(call: &Call) -> Result<(), Raise> {
    apply_options(call)
}

fn get_options(call: &Call) -> Result<(), Raise> {
    call.ret(options_array()?)
}

fn run_jobs(jobs: Vec<(Callable, Vec<Value>)>) -> Result<(), Raise> {
    let state = State::get()?;
    if state.is_looping() || state.engine.current_id() != -1 {
        return Err(exception::throw(
            exception::code::coroutine::NESTED_RUN,
            "run() and Scheduler::start() cannot be called inside a coroutine: use Apus\\go() or Apus\\Coroutine\\batch()",
        ));
    }
    for (callable, args) in jobs {
        state.go(callable, args, None)?;
    }
    state.run_to_end()
}

/// `Apus\Coroutine\run()`.
pub(crate) fn run(call: &Call) -> Result<(), Raise> {
    call.expect(1, u32::MAX)?;
    let job = (call.callable(0)?, rest(call, 1));
    run_jobs(vec![job])?;
    call.ret(true)
}

apus_zend::stub!("coroutine/scheduler");
