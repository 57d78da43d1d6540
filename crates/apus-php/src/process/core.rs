//! What is behind an `Apus\Process`: what it runs, its pipe, and the child that runs it.

use std::cell::{Cell, RefCell};
use std::ffi::c_int;
use std::os::fd::{AsRawFd as _, OwnedFd, RawFd};
use std::rc::Rc;
use std::time::Duration;

use apus_shm::ForkEpoch;
use apus_zend::object::Object;
use apus_zend::{Callable, Raise, Value, engine, native};

use super::class::slot::process as slot;
use super::fork::{self, Signals};
use super::message_queue::SysQueue;
use super::pipe::{Patience, Pipe, Side};
use super::sys::{pidfd, readable, replace_standard};
use crate::descriptor::Number;
use crate::exception;
use crate::system::sys::kill;

/// Where a server or a pool of processes is in its life, in this process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Phase {
    /// Not started.
    New,
    /// This process is the master.
    Master,
    /// This process is a worker.
    Worker,
    /// It has stopped.
    Over,
}

/// Who starts it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Owner {
    /// Nobody yet.
    Nobody,
    /// `start()`.
    Program,
    /// A server or a pool.
    Supervisor,
}

/// A child that this very process forked.
struct Child {
    pid: libc::pid_t,
    parent: ForkEpoch,
    /// Readable when it has ended.
    end: Option<OwnedFd>,
}

/// A System V queue in use by a process object.
#[derive(Clone, Copy)]
pub(super) struct Queue {
    pub(super) inner: SysQueue,
    /// The type of messages that `push()` sends and `pop()` takes; 0 takes any.
    pub(super) send_type: i64,
    pub(super) take_type: i64,
    pub(super) waits: bool,
}

impl Queue {
    /// How long an operation waits.
    pub(super) fn limit(&self) -> Option<Duration> {
        if self.waits { None } else { Some(Duration::ZERO) }
    }
}

/// See the module.
pub(crate) struct ProcessCore {
    /// Which of the processes that this script has made it is, from 1.
    pub(super) number: i64,
    callable: Option<Callable>,
    redirect: bool,
    pub(super) pipe: Option<Pipe>,
    pub(super) side: Cell<Side>,
    pub(super) coroutine: Cell<bool>,
    pub(super) owner: Cell<Owner>,
    child: RefCell<Option<Child>>,
    /// The process that runs the callable, as far as is known here.
    pub(super) pid: Cell<libc::pid_t>,
    pub(super) limit: Cell<Option<Duration>>,
    pub(super) blocking: Cell<bool>,
    pub(super) queue: RefCell<Option<Queue>>,
    /// What `exportSocket()` gave.
    pub(super) socket: RefCell<Option<Object>>,
}

/// Behind an `Apus\Process`.
pub(super) struct ProcessObject(pub(super) Rc<ProcessCore>);
native!(ProcessObject, "Apus\\Process", |process, held| {
    if Rc::strong_count(&process.0) == 1 {
        process.0.callable.iter().for_each(|callable| held.callable(callable));
    }
});

thread_local! {
    static MADE: Cell<i64> = const { Cell::new(0) };
}

pub(super) fn state_error(message: &str) -> Raise {
    exception::throw(exception::code::process::STATE, message)
}

pub(super) fn system_error(what: &str, code: c_int) -> Raise {
    let why = crate::system::failure::strerror(code);
    exception::throw(exception::code::process::SYSTEM, &format!("{what}: {why} (errno {code})"))
}

impl ProcessCore {
    /// Has `push()` and `pop()` use the queue of a pool, of which any of its workers takes any message.
    pub(super) fn share_queue(&self, inner: SysQueue) {
        self.queue.borrow_mut().get_or_insert(Queue { inner, send_type: 1, take_type: 0, waits: true });
    }

    pub(super) fn new(callable: Option<Callable>, redirect: bool, pipe: Option<Pipe>, coroutine: bool) -> Rc<Self> {
        let number = MADE.get() + 1;
        MADE.set(number);
        Rc::new(Self {
            number,
            callable,
            redirect,
            pipe,
            side: Cell::new(Side::Master),
            coroutine: Cell::new(coroutine),
            owner: Cell::new(Owner::Nobody),
            child: RefCell::new(None),
            pid: Cell::new(0),
            limit: Cell::new(None),
            blocking: Cell::new(true),
            queue: RefCell::new(None),
            socket: RefCell::new(None),
        })
    }

    /// The properties that tell its pipe and its number.
    pub(super) fn slots(&self) -> [(u32, Value); 2] {
        [(slot::PIPE, self.pipe_number()), (slot::ID, Value::int(self.number))]
    }

    /// What PHP code sees of it: a new object, with `second` under the name that code written for Swoole knows.
    pub(super) fn into_object(self: Rc<Self>, second: bool) -> Result<Object, Raise> {
        let slots = self.slots();
        let object = Object::new(super::PROCESS.named(second), ProcessObject(self))?;
        for (slot, value) in slots {
            object.set_slot(slot, value);
        }
        Ok(object)
    }

    /// The number of this process's end of the pipe, or null.
    fn pipe_number(&self) -> Value {
        self.fd().map_or_else(Value::null, |fd| Value::int(i64::from(fd)))
    }

    /// Whether this is the process that runs the callable.
    pub(super) fn is_here(&self) -> bool {
        self.pid.get() == std::process::id() as libc::pid_t
    }

    /// The number of this process's end of the pipe.
    pub(super) fn fd(&self) -> Option<RawFd> {
        self.pipe.as_ref().and_then(|pipe| pipe.end(self.side.get())).map(|end| end.fd())
    }

    /// How an operation on the pipe waits.
    pub(super) fn patience(&self, what: &'static str) -> Patience {
        let child = self.child.borrow();
        let own = child.as_ref().filter(|child| child.parent.is_now());
        Patience {
            what,
            blocking: self.blocking.get(),
            limit: self.limit.get(),
            other: own.and_then(|child| child.end.as_ref()).map(OwnedFd::as_raw_fd),
        }
    }

    /// Whether a child that this process started has not ended.
    pub(super) fn is_running(&self) -> bool {
        let child = self.child.borrow();
        let Some(child) = child.as_ref().filter(|child| child.parent.is_now()) else { return false };
        match &child.end {
            Some(end) => !readable(end),
            None => kill(child.pid, 0).is_ok(),
        }
    }

    /// Takes it for a server, or a pool.
    pub(crate) fn adopt(&self, object: &Object, id: i64) -> Result<(), Raise> {
        if self.owner.get() != Owner::Nobody {
            return Err(state_error(
                "this process was started already, or belongs to a server or pool: make another Apus\\Process",
            ));
        }
        self.owner.set(Owner::Supervisor);
        Self::set_id(object, id);
        Ok(())
    }

    /// The id that it has among the processes of its server.
    pub(crate) fn set_id(object: &Object, id: i64) {
        object.set_slot(slot::ID, Value::int(id));
    }

    /// In the process that forked: its child's process id; 0 when that has ended.
    pub(crate) fn started(&self, object: &Object, pid: libc::pid_t) {
        self.pid.set(pid);
        // kill(0) would mean a whole group of processes.
        object.set_slot(slot::PID, if pid == 0 { Value::null() } else { Value::int(i64::from(pid)) });
    }

    /// In the process that forked a child for `start()`.
    pub(super) fn forked(&self, object: &Object, pid: libc::pid_t) {
        let child = Child { pid, parent: ForkEpoch::now(), end: pidfd(pid) };
        *self.child.borrow_mut() = Some(child);
        self.started(object, pid);
    }

    /// Makes this process the one that `object` stands for: its id, its end of the pipe. `alone`: nobody writes to it
    /// from here.
    pub(super) fn become_child(&self, object: &Object, alone: bool) {
        self.started(object, std::process::id() as libc::pid_t);
        drop(self.child.take());
        drop(self.socket.take());
        self.side.set(Side::Worker);
        if let Some(pipe) = self.pipe.as_ref().filter(|_| alone) {
            pipe.close(Side::Master);
        }
        object.set_slot(slot::PIPE, self.pipe_number());
        if self.redirect
            && let Some(fd) = self.fd()
        {
            // Whoever reads that pipe wants all of it.
            apus_zend::output::give_back();
            for target in 0..3 {
                let _ = replace_standard(target, Number(fd));
            }
        }
    }

    /// In a forked child that has no event loop yet: runs the callable to its end, and gives the exit code. `Err`: a
    /// fatal error was reported; the native function is to return it. `prepare` runs before the callable, and is told
    /// whether that gets a coroutine.
    pub(crate) fn run_child(
        &self,
        object: &Object,
        signals: Signals,
        prepare: impl FnOnce(bool) -> Result<(), Raise>,
    ) -> Result<i32, Raise> {
        fork::begin_child(signals);
        self.become_child(object, true);
        let Some(callable) = &self.callable else { return Ok(0) };
        prepare(self.coroutine.get())?;
        fork::run(callable.share(), vec![object.share().into()], self.coroutine.get())
    }
}

/// The core of an `Apus\Process`.
pub(crate) fn core_of(object: &Object) -> Result<Rc<ProcessCore>, Raise> {
    let known = object.is(&super::PROCESS);
    known.then(|| object.payload::<ProcessObject>()).flatten().map(|process| Rc::clone(&process.0)).ok_or_else(|| {
        engine::throw(
            engine::ClassEntry::type_error(),
            0,
            "an Apus\\Process whose constructor has run is needed: call parent::__construct() first",
        )
    })
}
