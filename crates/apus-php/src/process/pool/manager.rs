//! `Apus\Process\Manager`: a pool in which each worker has a callable of its own.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use apus_zend::{Call, Raise, native};

use super::class;
use super::core::{Ipc, Job, PoolCore};

struct Manager {
    ipc: Cell<Ipc>,
    key: Cell<i64>,
    jobs: RefCell<Vec<Job>>,
}

native!(Manager, "Apus\\Process\\Manager");

/// Workers at most.
const WORKERS: usize = 4096;

fn construct(call: &Call) -> Result<(), Raise> {
    let ipc = class::ipc_of(call, 0, Ipc::None)?;
    let key = call.int(1, 0)?;
    call.construct(Manager { ipc: Cell::new(ipc), key: Cell::new(key), jobs: RefCell::default() })
}

/// Returns `$this`.
fn fluent(call: &Call) -> Result<(), Raise> {
    call.ret(call.object()?)
}

fn add_jobs(call: &Call, count: usize, callable: usize) -> Result<(), Raise> {
    let job = (Rc::new(call.callable(callable)?), call.bool(callable + 1, false)?);
    let manager = call.this::<Manager>()?;
    if manager.jobs.borrow().len() + count > WORKERS {
        return Err(call.value_error(0, &format!("would make more than {WORKERS} workers")));
    }
    manager.jobs.borrow_mut().extend(std::iter::repeat_n(job, count));
    fluent(call)
}

fn add(call: &Call) -> Result<(), Raise> {
    add_jobs(call, 1, 0)
}

fn add_batch(call: &Call) -> Result<(), Raise> {
    let count = call.int(0, 0)?;
    match usize::try_from(count) {
        Ok(count @ 1..=WORKERS) => add_jobs(call, count, 1),
        _ => Err(call.value_error(0, &format!("must be between 1 and {WORKERS}, {count} given"))),
    }
}

fn start(call: &Call) -> Result<(), Raise> {
    let manager = call.this::<Manager>()?;
    let jobs: Vec<Job> = manager.jobs.borrow().iter().map(|(callable, on)| (Rc::clone(callable), *on)).collect();
    if jobs.is_empty() {
        return Err(crate::process::core::state_error("a manager needs add() or addBatch() before start()"));
    }
    let core = PoolCore::new(jobs.len(), manager.ipc.get(), manager.key.get(), false, jobs);
    let pool = class::object(Rc::clone(&core))?;
    class::run(&core, &pool)
}

fn set_ipc_type(call: &Call) -> Result<(), Raise> {
    let ipc = class::ipc_of(call, 0, Ipc::None)?;
    call.this::<Manager>()?.ipc.set(ipc);
    fluent(call)
}

fn get_ipc_type(call: &Call) -> Result<(), Raise> {
    call.ret(call.this::<Manager>()?.ipc.get() as i64)
}

fn set_msg_queue_key(call: &Call) -> Result<(), Raise> {
    let key = call.int(0, 0)?;
    call.this::<Manager>()?.key.set(key);
    fluent(call)
}

fn get_msg_queue_key(call: &Call) -> Result<(), Raise> {
    call.ret(call.this::<Manager>()?.key.get())
}

apus_zend::stub!("process/pool/manager");
