//! `Apus\Process\Manager`: a pool in which each worker has a callable of its own.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use apus_zend::class::{Class, Method};
use apus_zend::object::Object;
use apus_zend::{Call, Raise, Value, handler, native};

use super::class;
use super::core::{Ipc, Job, PoolCore};
use crate::exception::entry;

struct Manager {
    ipc: Cell<Ipc>,
    key: Cell<i64>,
    jobs: RefCell<Vec<Job>>,
}

native!(Manager, "Apus\\Process\\Manager");

/// Workers at most.
const WORKERS: usize = 4096;

fn construct(call: &Call) -> Result<(), Raise> {
    call.expect(0, 2)?;
    let ipc = class::ipc_of(call, 0, Ipc::None)?;
    let key = call.int(1, 0)?;
    call.construct(Manager { ipc: Cell::new(ipc), key: Cell::new(key), jobs: RefCell::default() })
}

/// Returns `$this`.
fn fluent(call: &Call) -> Result<(), Raise> {
    let object = call.this_object()?;
    // SAFETY: $this is alive during the call.
    let object = unsafe { Object::share_raw(object) };
    call.ret(Value::from(object))
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
    call.expect(1, 2)?;
    add_jobs(call, 1, 0)
}

fn add_batch(call: &Call) -> Result<(), Raise> {
    call.expect(2, 3)?;
    let count = call.int(0, 0)?;
    match usize::try_from(count) {
        Ok(count @ 1..=WORKERS) => add_jobs(call, count, 1),
        _ => Err(call.value_error(0, &format!("must be between 1 and {WORKERS}, {count} given"))),
    }
}

fn start(call: &Call) -> Result<(), Raise> {
    call.expect(0, 0)?;
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
    call.expect(1, 1)?;
    let ipc = class::ipc_of(call, 0, Ipc::None)?;
    call.this::<Manager>()?.ipc.set(ipc);
    fluent(call)
}

fn get_ipc_type(call: &Call) -> Result<(), Raise> {
    call.expect(0, 0)?;
    call.ret(call.this::<Manager>()?.ipc.get() as i64)
}

fn set_msg_queue_key(call: &Call) -> Result<(), Raise> {
    call.expect(1, 1)?;
    let key = call.int(0, 0)?;
    call.this::<Manager>()?.key.set(key);
    fluent(call)
}

fn get_msg_queue_key(call: &Call) -> Result<(), Raise> {
    call.expect(0, 0)?;
    call.ret(call.this::<Manager>()?.key.get())
}

/// `Apus\Process\Manager`.
pub(crate) static MANAGER: Class = Class {
    name: "Apus\\Process\\Manager",
    modifiers: "",
    extends: "",
    implements: &[],
    doc: "A pool of processes in which each worker runs a callable of its own: see Apus\\Process\\Pool for how they are kept running and ended.\n@since 0.1.0",
    constants: &[],
    properties: &[],
    methods: &[
        Method {
            decl: "public function __construct(int $ipcType = 0, int $msgQueueKey = 0)",
            doc: "@param int $ipcType Apus\\IPC_NONE or IPC_UNIXSOCK: workers reach each other by getProcess()->write()\n\
                  @param int $msgQueueKey the key of a message queue\n@throws \\ValueError for another type\nDoes not wait.\n@since 0.1.0",
            handler: Some(handler!(construct)),
        },
        Method {
            decl: "public function add(callable $func, bool $enableCoroutine = false): static",
            doc: "Adds a worker.\n@param callable $func what it runs: $func(Apus\\Process\\Pool $pool, int $workerId); when that returns, the worker is\n\
                  started again\n@param bool $enableCoroutine in a coroutine\n@throws \\ValueError above 4,096 workers\nDoes not wait.\n@since 0.1.0",
            handler: Some(handler!(add)),
        },
        Method {
            decl: "public function addBatch(int $workerNum, callable $func, bool $enableCoroutine = false): static",
            doc: "Adds several workers that run the same.\n@throws \\ValueError for less than 1 and above 4,096 workers\nDoes not wait.\n@since 0.1.0",
            handler: Some(handler!(add_batch)),
        },
        Method {
            decl: "public function start(): void",
            doc: "As Apus\\Process\\Pool::start().\n@throws \\Apus\\Process\\Exception STATE without a worker\nBlocks.\n@since 0.1.0",
            handler: Some(handler!(start)),
        },
        Method {
            decl: "public function setIPCType(int $ipcType): static",
            doc: "@throws \\ValueError for another type\nDoes not wait.\n@since 0.1.0",
            handler: Some(handler!(set_ipc_type)),
        },
        Method {
            decl: "public function getIPCType(): int",
            doc: "What was set.\nDoes not wait.\n@since 0.1.0",
            handler: Some(handler!(get_ipc_type)),
        },
        Method {
            decl: "public function setMsgQueueKey(int $msgQueueKey): static",
            doc: "The key of the message queue.\nDoes not wait.\n@since 0.1.0",
            handler: Some(handler!(set_msg_queue_key)),
        },
        Method {
            decl: "public function getMsgQueueKey(): int",
            doc: "What was set.\nDoes not wait.\n@since 0.1.0",
            handler: Some(handler!(get_msg_queue_key)),
        },
    ],
    native: true,
    lazy: None,
    entry: entry!(),
};
