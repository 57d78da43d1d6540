//! What is behind an `Apus\Process\Pool`.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::HashMap;
use std::os::fd::RawFd;
use std::rc::Rc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::Duration;

use apus_coro::TaskId;
use apus_process::Listener;
use apus_zend::arg::{Given, Want};
use apus_zend::object::Object;
use apus_zend::{Callable, Raise, Value, native};

use super::class::slot::pool as slot;
use crate::process::core::{ProcessCore, core_of, state_error};
use crate::process::message_queue::SysQueue;
use crate::swoole;

/// How workers get messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ipc {
    None = 0,
    UnixSock = 1,
    MsgQueue = 2,
    Socket = 3,
}

impl Want<i64> for Ipc {
    fn want(given: Given<i64>) -> Result<Self, Raise> {
        let known = [Self::None, Self::UnixSock, Self::MsgQueue, Self::Socket];
        let what = "Apus\\IPC_NONE, IPC_UNIXSOCK, IPC_MSGQUEUE or IPC_SOCKET";
        known.into_iter().find(|ipc| *ipc as i64 == given.value).ok_or_else(|| given.must_be(what))
    }
}

pub(super) use crate::process::core::Phase;

/// An event of a pool.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Event {
    Start,
    Shutdown,
    WorkerStart,
    WorkerStop,
    WorkerExit,
    Message,
}

/// The events by their names.
pub(super) const EVENTS: [(&str, Event); 6] = [
    ("start", Event::Start),
    ("shutdown", Event::Shutdown),
    ("workerstart", Event::WorkerStart),
    ("workerstop", Event::WorkerStop),
    ("workerexit", Event::WorkerExit),
    ("message", Event::Message),
];

/// A worker's callable, and whether it runs in a coroutine.
pub(crate) type Job = (Rc<Callable>, bool);

/// The part that the master and all workers share.
pub(super) struct Board {
    pub(super) pids: &'static [AtomicU32],
}

/// See the module.
pub(crate) struct PoolCore {
    pub(super) count: usize,
    pub(super) ipc: Ipc,
    pub(super) key: i64,
    pub(super) coroutine: Cell<bool>,
    callbacks: RefCell<[Option<Rc<Callable>>; EVENTS.len()]>,
    /// A callable for each worker, in the place of `workerstart`.
    pub(super) jobs: Vec<Job>,
    /// How long a worker that is to end may take.
    pub(super) patience: Cell<Duration>,
    /// Bytes of a message that comes over a socket, at most.
    pub(super) longest: Cell<usize>,
    pub(super) phase: Cell<Phase>,
    pub(super) master: Cell<libc::pid_t>,
    /// The workers' processes, once started.
    pub(super) processes: RefCell<Vec<Object>>,
    pub(super) board: OnceCell<Board>,
    pub(super) listener: RefCell<Option<Listener>>,
    pub(super) queue: RefCell<Option<Rc<SysQueue>>>,
    /// In a worker: its number.
    pub(super) me: Cell<usize>,
    /// In a worker: it is to take no more messages.
    pub(super) leaving: Cell<bool>,
    /// In a worker: whether it had something to wait for when it was to end.
    pub(super) waited: Cell<bool>,
    /// In a worker: the descriptor through which it tells the master that it leaves the pool.
    pub(super) orders: Cell<RawFd>,
    /// Answers being written to those who sent messages over a socket, by coroutine; -1 outside of one.
    pub(super) answers: RefCell<HashMap<TaskId, Vec<u8>>>,
}

/// Behind an `Apus\Process\Pool`.
pub(super) struct PoolObject(pub(super) Rc<PoolCore>);
native!(PoolObject, "Apus\\Process\\Pool", |pool, held| {
    if Rc::strong_count(&pool.0) == 1
        && let Ok(callbacks) = pool.0.callbacks.try_borrow()
    {
        callbacks.iter().flatten().for_each(|callback| held.shared(callback));
    }
});

/// How long a worker that is to end may take when nobody says otherwise.
const PATIENCE: Duration = Duration::from_secs(3);
/// Bytes of a message over a socket when nobody says otherwise.
const LONGEST: usize = 8 * 1024 * 1024;

impl PoolCore {
    pub(super) fn new(count: usize, ipc: Ipc, key: i64, coroutine: bool, jobs: Vec<Job>) -> Rc<Self> {
        Rc::new(Self {
            count,
            ipc,
            key,
            coroutine: Cell::new(coroutine),
            callbacks: RefCell::default(),
            jobs,
            patience: Cell::new(PATIENCE),
            longest: Cell::new(LONGEST),
            phase: Cell::new(Phase::New),
            master: Cell::new(0),
            processes: RefCell::default(),
            board: OnceCell::new(),
            listener: RefCell::new(None),
            queue: RefCell::new(None),
            me: Cell::new(0),
            leaving: Cell::new(false),
            waited: Cell::new(false),
            orders: Cell::new(-1),
            answers: RefCell::default(),
        })
    }

    pub(super) fn callback(&self, event: Event) -> Option<Rc<Callable>> {
        self.callbacks.borrow()[event as usize].clone()
    }

    pub(super) fn set_callback(&self, event: Event, callable: Callable) {
        // The old one is dropped after the borrow: its destructor may call back.
        let old = self.callbacks.borrow_mut()[event as usize].replace(Rc::new(callable));
        drop(old);
    }

    /// Whether workers take messages.
    pub(super) fn takes_messages(&self) -> bool {
        self.ipc != Ipc::None && self.callback(Event::Message).is_some()
    }

    /// The process object of a worker, which knows that worker's process id of now.
    pub(super) fn process(&self, worker: usize) -> Result<(Object, Rc<ProcessCore>), Raise> {
        let object = self.processes.borrow().get(worker).map(Object::share);
        let object = object.ok_or_else(|| state_error("the pool has not been started"))?;
        let core = core_of(&object)?;
        if let Some(queue) = self.queue.borrow().as_ref().filter(|_| swoole::is_on()) {
            core.share_queue(**queue);
        }
        if let Some(board) = self.board.get() {
            core.started(&object, board.pids[worker].load(Relaxed) as libc::pid_t);
        }
        Ok((object, core))
    }

    /// Tells PHP code whether this worker is to go on.
    pub(super) fn leave(&self, object: &Object) {
        self.leaving.set(true);
        object.set_slot(slot::WORKER_RUNNING, Value::bool(false));
        object.set_slot(slot::RUNNING, Value::bool(false));
    }
}
