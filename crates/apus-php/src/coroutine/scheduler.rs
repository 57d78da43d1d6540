//! `Apus\Coroutine\Scheduler` and `run()`: coroutines in a script, until the last one has ended.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use apus_zend::arg::Rest;
use apus_zend::value::ArrayView;
use apus_zend::{Array, Callable, Raise, Value, native};

use super::batch::{self, AtLeastOne, together};
use crate::exception;
use crate::runtime::State;
use crate::swoole::{self, There};

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

fn construct() -> Scheduler {
    Scheduler::default()
}

fn add(scheduler: &Scheduler, callable: Callable, args: Rest<'_>) {
    scheduler.jobs.borrow_mut().push((callable, args.values().collect()));
}

fn parallel(scheduler: &Scheduler, count: AtLeastOne, callable: Callable, args: Rest<'_>) {
    for _ in 0..count.0 {
        scheduler.jobs.borrow_mut().push((callable.share(), args.values().collect()));
    }
}

fn start(scheduler: &Scheduler) -> Result<bool, Raise> {
    run_jobs(scheduler.jobs.take()).map(|()| true)
}

/// The same for code written for Swoole, where nothing to do is a mistake.
fn start_some(scheduler: &Scheduler) -> Result<bool, Raise> {
    if scheduler.jobs.borrow().is_empty() {
        return swoole::warning("no coroutine task").map(|()| false);
    }
    start(scheduler)
}

fn set(_: &Scheduler, options: ArrayView<'_>) -> Result<(), Raise> {
    super::class::set(options)
}

fn set_known(_: &Scheduler, options: ArrayView<'_>) -> Result<(), Raise> {
    super::class::set_known(options)
}

fn get_options(_: &Scheduler) -> Result<Array, Raise> {
    super::class::get_options()
}

fn get_options_there(_: &Scheduler) -> Result<Array, Raise> {
    super::second::get_options()
}

const NESTED_THERE: &str = "eventLoop has already been created. unable to start Swoole\\Coroutine\\Scheduler";

thread_local! {
    static MAY_NEST: Cell<bool> = const { Cell::new(false) };
}

/// From now on coroutines may begin others and wait until all of them have ended. In code written for Swoole the
/// callbacks of task workers do so: there they are outside of coroutines.
pub(crate) fn allow_nested() {
    MAY_NEST.set(true);
}

/// Begins coroutines, and waits until these and all that they begin have ended.
fn run_nested(state: &Rc<State>, jobs: Vec<(Callable, Vec<Value>)>) -> Result<(), Raise> {
    let outer = state.engine.ids();
    for (callable, args) in jobs {
        state.go(callable, args, None)?;
    }
    loop {
        let mut begun = state.engine.ids();
        begun.retain(|id| outer.binary_search(id).is_err());
        if begun.is_empty() || !batch::join(state, &begun, None, "run()")? {
            return Ok(());
        }
    }
}

fn run_jobs(jobs: Vec<(Callable, Vec<Value>)>) -> Result<(), Raise> {
    let state = State::get()?;
    if state.in_last_callback.get() && state.engine.current_id() != -1 {
        return together(jobs, "Scheduler::start()");
    }
    if state.engine.current_id() != -1 && MAY_NEST.get() {
        return run_nested(&state, jobs);
    }
    if state.is_looping() || state.engine.current_id() != -1 {
        let raise = exception::throw(
            exception::code::coroutine::NESTED_RUN,
            "run() and Scheduler::start() cannot be called inside a coroutine: use Apus\\go() or Apus\\Coroutine\\batch()",
        );
        return Err(swoole::there(raise, There::Text(NESTED_THERE.to_owned())));
    }
    for (callable, args) in jobs {
        state.go(callable, args, None)?;
    }
    state.run_to_end()
}

/// `Apus\Coroutine\run()`.
pub(crate) fn run(callable: Callable, args: Rest<'_>) -> Result<bool, Raise> {
    run_jobs(vec![(callable, args.values().collect())]).map(|()| true)
}

apus_zend::stub!("coroutine/scheduler");
