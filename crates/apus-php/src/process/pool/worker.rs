//! A worker of a pool: its callbacks and its messages.

use std::cell::Cell;
use std::os::fd::AsRawFd as _;
use std::rc::{Rc, Weak};
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use apus_coro::Cancel;
use apus_shm::ForkEpoch;
use apus_zend::object::Object;
use apus_zend::{Callable, Raise, Value};
use rustix::event::PollFlags;
use rustix::process::{getppid, set_parent_process_death_signal};

use super::class::slot::pool as slot;
use super::core::{Event, Ipc, PoolCore};
use super::{frames, receive};
use crate::descriptor::Number;
use crate::handlers::Handlers;
use crate::process::fork::{self, Signals, ended};
use crate::process::message_queue::LARGEST;
use crate::process::pipe::{End, Patience, Side};
use crate::process::signals::{self, Action};
use crate::process::sys::block;
use crate::runtime::State;
use crate::timer::Timers;

/// What is kept of `max_wait_time` for cancelled coroutines and for workerstop, at most.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// How often a worker that is to end is looked at.
const LEAVING_POLL: Duration = Duration::from_millis(10);

/// Runs in the forked child until the worker is to end: the exit code.
pub(super) fn run(core: &Rc<PoolCore>, object: &Object, me: usize) -> Result<i32, Raise> {
    core.me.set(me);
    core.leaving.set(false);
    // Where it cannot be had, the worker outlives a master that is killed until it looks.
    let _ = set_parent_process_death_signal(Some(rustix::process::Signal::TERM));
    fork::begin_child(Signals::Default);
    if getppid().is_none_or(|parent| parent.as_raw_pid() != core.master.get()) {
        // The master died before the lines above.
        return Ok(0);
    }
    let worker = ForkEpoch::now();
    become_worker(core, object, me)?;
    let (callable, coroutine) = match core.jobs.get(me) {
        Some((callable, coroutine)) => (Some(Rc::clone(callable)), *coroutine),
        None => (core.callback(Event::WorkerStart), core.coroutine.get()),
    };
    let args = move |object: &Object| -> Vec<Value> { vec![object.share().into(), Value::int(me as i64)] };
    let code = if coroutine {
        ended(with_coroutines(core, object, callable, args(object)))?
    } else {
        ended(plain(core, object, callable, &args(object)))?
    };
    // A child that the worker made itself ends here, too; it is no worker that stops.
    if code != 0 || !worker.is_now() {
        return Ok(code);
    }
    object.set_slot(slot::WORKER_RUNNING, Value::bool(false));
    match core.callback(Event::WorkerStop) {
        Some(callable) => {
            State::get()?.in_last_callback.set(crate::swoole::is_on());
            fork::run(callable.share(), args(object), coroutine)
        }
        None => Ok(0),
    }
}

fn become_worker(core: &PoolCore, object: &Object, me: usize) -> Result<(), Raise> {
    object.set_slot(slot::WORKER_PID, Value::int(i64::from(std::process::id())));
    object.set_slot(slot::WORKER_ID, Value::int(me as i64));
    if let Some(board) = core.board.get() {
        // The master may not have come to it.
        board.pids[me].store(std::process::id(), Relaxed);
    }
    for worker in 0..core.count {
        let (process, inner) = core.process(worker)?;
        match &inner.pipe {
            // Its own messages may come from itself.
            _ if worker == me => inner.become_child(&process, false),
            Some(pipe) => drop(pipe.close(Side::Worker)),
            None => {}
        }
    }
    Ok(())
}

/// Has SIGTERM end the worker when it has done what it does now, and SIGINT, which a terminal sends to all, leave it to
/// the master.
fn end_softly(action: Rc<dyn Fn()>) {
    // Without handlers the worker ends at once: that is no reason not to start it.
    let _ = signals::set(libc::SIGTERM, Action::Native(action));
    let _ = signals::set(libc::SIGINT, Action::Native(Rc::new(|| {})));
}

fn plain(core: &Rc<PoolCore>, object: &Object, callable: Option<Rc<Callable>>, args: &[Value]) -> Result<(), Raise> {
    if core.takes_messages() {
        let (pool, this) = (Rc::clone(core), object.share());
        end_softly(Rc::new(move || pool.leave(&this)));
    }
    if let Some(callable) = callable {
        drop(callable.call(args)?);
    }
    finish_coroutines()?;
    if let Some(callable) = core.callback(Event::Message).filter(|_| core.takes_messages()) {
        while !core.leaving.get() {
            signals::dispatch()?;
            if core.leaving.get() {
                break;
            }
            next_message(core, object, &callable)?;
            finish_coroutines()?;
        }
    }
    Ok(())
}

/// Coroutines that a callback outside of one has made run to their ends.
fn finish_coroutines() -> Result<(), Raise> {
    State::existing().map_or(Ok(()), |state| state.run_to_end())
}

/// What the callback of a message gets.
pub(super) fn message_args(object: &Object, bytes: &[u8]) -> Result<Vec<Value>, Raise> {
    Ok(vec![object.share().into(), Value::string(bytes)?])
}

/// Waits for a message, blocking, and has it handled. Returns without one after a signal.
fn next_message(core: &Rc<PoolCore>, object: &Object, callable: &Callable) -> Result<(), Raise> {
    match core.ipc {
        Ipc::None => core.leaving.set(true),
        Ipc::UnixSock => {
            let Some(end) = own_end(core)? else { return stop(core) };
            match take_from(&end)? {
                Ok(bytes) if bytes.is_empty() => core.leaving.set(true),
                Ok(bytes) => drop(callable.call(&message_args(object, &bytes)?)?),
                Err(libc::EAGAIN) => drop(block(&[(end.fd(), PollFlags::IN)], None)?),
                Err(_) => core.leaving.set(true),
            }
        }
        Ipc::MsgQueue => {
            let Some(queue) = core.queue.borrow().clone() else { return stop(core) };
            match queue.take_blocking(LARGEST) {
                Ok(bytes) => drop(callable.call(&message_args(object, &bytes)?)?),
                Err(libc::EINTR) => {}
                Err(code) => return Err(receive::queue_failed(code)),
            }
        }
        Ipc::Socket => {
            let Some(fd) = core.listener.borrow().as_ref().map(|listener| listener.fd.as_raw_fd()) else {
                return stop(core);
            };
            match frames::accept(Number(fd)) {
                Some(stream) => frames::serve_blocking(core, object, callable, &stream)?,
                None => drop(block(&[(fd, PollFlags::IN)], None)?),
            }
        }
    }
    Ok(())
}

/// There is nothing any more from which messages could come.
#[allow(clippy::unnecessary_wraps, reason = "the result of whoever finds that out")]
fn stop(core: &PoolCore) -> Result<(), Raise> {
    core.leaving.set(true);
    Ok(())
}

pub(super) fn own_end(core: &PoolCore) -> Result<Option<Rc<End>>, Raise> {
    let (_, process) = core.process(core.me.get())?;
    Ok(process.pipe.as_ref().and_then(|pipe| pipe.end(Side::Worker)))
}

/// A message from this worker's pipe, if there is one (else EAGAIN). Empty: nobody is left who could write.
pub(super) fn take_from(end: &End) -> Result<Result<Vec<u8>, i32>, Raise> {
    let length = match end.next_length() {
        Ok(length) => length,
        Err(code) => return Ok(Err(code)),
    };
    let patience = Patience { what: "Process\\Pool", blocking: false, limit: None, other: None };
    Ok(end.read(length, false, &patience)?.map(|(bytes, _)| bytes))
}

fn with_coroutines(
    core: &Rc<PoolCore>,
    object: &Object,
    callable: Option<Rc<Callable>>,
    args: Vec<Value>,
) -> Result<(), Raise> {
    let state = State::get()?;
    let messages = core.takes_messages();
    if messages {
        // The loop goes on while nothing is there to be done.
        state.engine.hold();
    }
    let receiver = match core.callback(Event::Message).filter(|_| messages) {
        Some(callable) => Some(receive::start(core, object, &state, callable)?),
        None => None,
    };
    let left = Cell::new(false);
    let (pool, this) = (Rc::clone(core), object.share());
    end_softly(Rc::new(move || {
        if !left.replace(true) {
            leave(&pool, &this, receiver.as_ref(), messages);
        }
    }));
    if signals::serve(&state).is_err() {
        signals::unset(libc::SIGTERM);
    }
    if let Some(callable) = callable {
        state.go(callable.share(), args, None)?;
    }
    state.run_to_end()?;
    if core.waited.get() {
        tell_exit(&state, core, object);
    }
    state.run_to_end()
}

/// The worker is to end: it takes no more messages, is told so, and what it has begun goes on.
fn leave(core: &Rc<PoolCore>, object: &Object, receiver: Option<&tokio::task::JoinHandle<()>>, held: bool) {
    core.leave(object);
    let Some(state) = State::existing() else { return };
    if let Some(receiver) = receiver {
        receiver.abort();
    }
    if object.name_there().is_some() && Timers::or_coroutines(&state) {
        core.waited.set(true);
        drop(state.spawn(tell_again(Rc::downgrade(&state), Rc::clone(core), object.share())));
    }
    tell_exit(&state, core, object);
    if held {
        state.engine.release();
    }
    end_in_time(&state, core.patience.get());
}

/// Tells workerexit.
fn tell_exit(state: &Rc<State>, core: &PoolCore, object: &Object) {
    if let Some(callable) = core.callback(Event::WorkerExit) {
        let args = [object.share().into(), Value::int(core.me.get() as i64)];
        Handlers::new(state, true).notify(callable.share(), args);
    }
}

/// There it is told again and again while the worker has something to wait for, and once more when that is over.
async fn tell_again(state: Weak<State>, core: Rc<PoolCore>, object: Object) {
    let mut seen = None;
    loop {
        let Some(state) = state.upgrade() else { return };
        let switches = state.engine.stats().switches;
        if Timers::or_coroutines(&state) && seen.is_some_and(|seen| seen != switches) {
            tell_exit(&state, &core, &object);
        }
        seen = Some(state.engine.stats().switches);
        drop(state);
        tokio::time::sleep(LEAVING_POLL).await;
    }
}

/// Coroutines that have not ended when most of the time is over are cancelled, so that their `finally` blocks and the
/// callback of workerstop run before the master kills.
fn end_in_time(state: &Rc<State>, patience: Duration) {
    let weak = Rc::downgrade(state);
    let grace = patience.saturating_sub(patience.min(LAST_WORDS * 2) / 2);
    drop(state.spawn(async move {
        tokio::time::sleep(grace).await;
        let Some(state) = weak.upgrade() else { return };
        state.end_rooms();
        for id in state.engine.ids() {
            state.engine.cancel(id, Cancel::Throw);
        }
    }));
}
