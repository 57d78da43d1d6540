//! `Apus\Process\Manager`: a pool in which each worker has a callable of its own.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use apus_zend::arg::{Given, Me};
use apus_zend::call::value_error;
use apus_zend::object::Object;
use apus_zend::{Callable, Raise, native};

use super::class::{self, WORKERS};
use super::core::{Ipc, Job, PoolCore};

struct Manager {
    ipc: Cell<Ipc>,
    key: Cell<i64>,
    jobs: RefCell<Vec<Job>>,
}

native!(Manager, "Apus\\Process\\Manager");

fn construct(ipc: Ipc, key: i64) -> Manager {
    Manager { ipc: Cell::new(ipc), key: Cell::new(key), jobs: RefCell::default() }
}

/// Adds workers; gives `$this`.
fn add_jobs(me: Me<'_, Manager>, count: usize, callable: Callable, coroutine: bool) -> Result<Object, Raise> {
    if me.jobs.borrow().len() + count > WORKERS {
        return Err(value_error(0, &format!("would make more than {WORKERS} workers")));
    }
    me.jobs.borrow_mut().extend(std::iter::repeat_n((Rc::new(callable), coroutine), count));
    Ok(me.object)
}

fn add(me: Me<'_, Manager>, callable: Callable, coroutine: bool) -> Result<Object, Raise> {
    add_jobs(me, 1, callable, coroutine)
}

fn add_batch(me: Me<'_, Manager>, count: Given<i64>, callable: Callable, coroutine: bool) -> Result<Object, Raise> {
    match usize::try_from(count.value) {
        Ok(count @ 1..=WORKERS) => add_jobs(me, count, callable, coroutine),
        _ => Err(count.must_be(&format!("between 1 and {WORKERS}"))),
    }
}

fn start(manager: &Manager) -> Result<(), Raise> {
    let jobs: Vec<Job> = manager.jobs.borrow().iter().map(|(callable, on)| (Rc::clone(callable), *on)).collect();
    if jobs.is_empty() {
        return Err(crate::process::core::state_error("a manager needs add() or addBatch() before start()"));
    }
    let core = PoolCore::new(jobs.len(), manager.ipc.get(), manager.key.get(), false, jobs);
    let pool = class::object(Rc::clone(&core))?;
    class::run(&core, &pool)
}

fn set_ipc_type(me: Me<'_, Manager>, ipc: Ipc) -> Object {
    me.ipc.set(ipc);
    me.object
}

fn get_ipc_type(manager: &Manager) -> i64 {
    manager.ipc.get() as i64
}

fn set_msg_queue_key(me: Me<'_, Manager>, key: i64) -> Object {
    me.key.set(key);
    me.object
}

fn get_msg_queue_key(manager: &Manager) -> i64 {
    manager.key.get()
}

apus_zend::stub!("process/pool/manager");
