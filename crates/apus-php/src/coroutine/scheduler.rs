//! `Apus\Coroutine\Scheduler` and `run()`: coroutines in a script, until the last one has ended.

use std::cell::RefCell;

use apus_zend::class::{Class, Method};
use apus_zend::{Call, Callable, Raise, Value, handler, native};

use super::class::{apply_options, options_array};
use crate::exception::{self, entry};
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
    call.expect(0, 0)?;
    call.construct(Scheduler::default())
}

fn rest(call: &Call, from: usize) -> Vec<Value> {
    (from..call.count()).map(|i| call.value(i)).collect()
}

fn add(call: &Call) -> Result<(), Raise> {
    call.expect(1, u32::MAX)?;
    let job = (call.callable(0)?, rest(call, 1));
    call.this::<Scheduler>()?.jobs.borrow_mut().push(job);
    Ok(())
}

fn parallel(call: &Call) -> Result<(), Raise> {
    call.expect(2, u32::MAX)?;
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
    call.expect(0, 0)?;
    let jobs = call.this::<Scheduler>()?.jobs.take();
    run_jobs(jobs)?;
    call.ret(true)
}

fn set(call: &Call) -> Result<(), Raise> {
    call.expect(1, 1)?;
    apply_options(call)
}

fn get_options(call: &Call) -> Result<(), Raise> {
    call.expect(0, 0)?;
    call.ret(options_array()?)
}

fn run_jobs(jobs: Vec<(Callable, Vec<Value>)>) -> Result<(), Raise> {
    let state = State::get()?;
    if state.is_looping() || state.engine.current_id() != -1 {
        return Err(exception::throw(
            &exception::COROUTINE,
            "NESTED_RUN",
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

/// `Apus\Coroutine\Scheduler`.
pub(crate) static SCHEDULER: Class = Class {
    name: "Apus\\Coroutine\\Scheduler",
    modifiers: "",
    extends: "",
    implements: &[],
    doc: "Collects coroutines and runs them until the last one has ended.\n@since 0.1.0",
    constants: &[],
    properties: &[],
    methods: &[
        Method {
            decl: "public function __construct()",
            doc: "An empty scheduler.\n@since 0.1.0",
            handler: Some(handler!(construct)),
        },
        Method {
            decl: "public function add(callable $callback, mixed ...$args): void",
            doc: "Adds a coroutine that start() will run as $callback(...$args).\nDoes not wait.\n@since 0.1.0",
            handler: Some(handler!(add)),
        },
        Method {
            decl: "public function parallel(int $n, callable $callback, mixed ...$args): void",
            doc: "Adds $n coroutines that all run $callback(...$args).\n\
                  @throws \\ValueError when $n is below 1\nDoes not wait.\n@since 0.1.0",
            handler: Some(handler!(parallel)),
        },
        Method {
            decl: "public function set(array $options): void",
            doc: "The same as Apus\\Coroutine::set().\n@since 0.1.0",
            handler: Some(handler!(set)),
        },
        Method {
            decl: "public function getOptions(): ?array",
            doc: "The same as Apus\\Coroutine::getOptions().\n@since 0.1.0",
            handler: Some(handler!(get_options)),
        },
        Method {
            decl: "public function start(): bool",
            doc: "Runs what was added, and everything that these coroutines start, until the last coroutine and timer has ended.\n\
                  An exception that a coroutine does not catch ends the others (they see a CanceledException) and is thrown here;\n\
                  exit() in a coroutine ends the script.\n\
                  @return bool true\n\
                  @throws \\Apus\\Coroutine\\Exception NESTED_RUN inside a coroutine\n\
                  @throws \\Apus\\Coroutine\\DeadlockException when all coroutines wait for each other\n@since 0.1.0",
            handler: Some(handler!(start)),
        },
    ],
    native: true,
    lazy: None,
    entry: entry!(),
};
