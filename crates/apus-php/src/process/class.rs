//! The methods of `Apus\Process` that belong to one process.

use std::ffi::{CString, c_int};
use std::rc::Rc;
use std::time::Duration;

use apus_zend::object::Object;
use apus_zend::value::{Key, View};
use apus_zend::{Call, Callable, Raise, Uncallable, Value, engine};

use super::core::{Owner, ProcessCore, ProcessObject, Queue, slot, state_error, system_error};
use super::fork;
use super::message_queue::{SysQueue, explain, script_key, size, stats_array};
use super::pipe::{Pipe, Side};
pub(super) use super::table::PROCESS;
use crate::system::failure::{set_last_error, strerror};
use crate::wait::{expect_outside, limit_or_none, seconds};

/// Bit of `useQueue()`'s mode: `push()` and `pop()` do not wait.
pub(super) const IPC_NOWAIT: i64 = 256;
/// Modes of `useQueue()`: messages are for the process they were pushed by, or for whoever comes first.
const ORIENTED: i64 = 1;
const CONTENDING: i64 = 2;
/// `close()`'s arguments.
pub(super) const PIPE_MASTER: i64 = 1;
pub(super) const PIPE_WORKER: i64 = 2;
pub(super) const PIPE_READ: i64 = 3;
pub(super) const PIPE_WRITE: i64 = 4;
/// What `$pipe_type` can be.
pub(super) const TYPE_NONE: i64 = 0;
pub(super) const TYPE_STREAM: i64 = 1;
pub(super) const TYPE_DGRAM: i64 = 2;
/// Bytes that `read()` takes when nobody says otherwise, and at most.
pub(super) const READ_SIZE: i64 = 8192;
const READ_MOST: i64 = 256 * 1024 * 1024;

/// `$this`, with a reference of its own: others may let go of it while a method waits.
fn this(call: &Call) -> Result<(Object, Rc<ProcessCore>), Raise> {
    let core = Rc::clone(&call.this::<ProcessObject>()?.0);
    Ok((call.object()?, core))
}

/// Returns the value, or warns, notes the error and returns false.
fn give<V: Into<Value>>(call: &Call, what: &str, result: Result<V, c_int>) -> Result<(), Raise> {
    match result {
        Ok(value) => call.ret(value),
        Err(code) => {
            set_last_error(code);
            if !matches!(code, libc::ETIMEDOUT | libc::ECANCELED | libc::EAGAIN) {
                engine::warning(&format!("Apus\\Process::{what}(): {}", strerror(code)))?;
            }
            call.ret(false)
        }
    }
}

pub(super) fn construct(call: &Call) -> Result<(), Raise> {
    let callable = call.callable(0)?;
    let redirect = call.bool(1, false)?;
    let kind = call.int(2, TYPE_DGRAM)?;
    let coroutine = call.bool(3, false)?;
    let stream = match kind {
        // The standard streams of a program have no messages.
        _ if redirect => Some(true),
        TYPE_NONE => None,
        TYPE_STREAM => Some(true),
        TYPE_DGRAM => Some(false),
        other => {
            return Err(
                call.value_error(2, &format!("must be 0 (no pipe), SOCK_STREAM (1) or SOCK_DGRAM (2), {other} given"))
            );
        }
    };
    let pipe = stream.map(Pipe::new).transpose().map_err(|code| system_error("the pipe to a process", code))?;
    let core = ProcessCore::new(Some(callable), redirect, pipe, coroutine);
    let (fd, number) = (core.fd(), core.number);
    call.construct(ProcessObject(core))?;
    let (object, _) = this(call)?;
    object.set_slot(slot::ID, Value::int(number));
    object.set_slot(slot::PIPE, fd.map_or_else(Value::null, |fd| Value::int(i64::from(fd))));
    Ok(())
}

pub(super) fn set(call: &Call) -> Result<(), Raise> {
    let core = &call.this::<ProcessObject>()?.0;
    let mut coroutine = core.coroutine.get();
    for (key, value) in call.array(0)?.iter() {
        match (key, value.view()) {
            (Key::Str(b"enable_coroutine"), View::Bool(on)) => coroutine = on,
            (Key::Str(b"enable_coroutine"), View::Int(on)) => coroutine = on != 0,
            (Key::Str(b"enable_coroutine"), _) => {
                return Err(call.value_error(0, "must hold true or false under enable_coroutine"));
            }
            (Key::Str(name), _) => {
                let name = String::from_utf8_lossy(name);
                return Err(call.value_error(0, &format!("can hold enable_coroutine only, \"{name}\" given")));
            }
            (Key::Index(_), _) => return Err(call.value_error(0, "must hold 'name' => value")),
        }
    }
    core.coroutine.set(coroutine);
    Ok(())
}

pub(super) fn start(call: &Call) -> Result<(), Raise> {
    let (object, core) = this(call)?;
    if core.owner.get() == Owner::Supervisor || core.side.get() == Side::Worker {
        return Err(state_error("this process is started by its server or pool, or is the running one"));
    }
    expect_outside("Apus\\Process::start()")?;
    if core.is_running() {
        engine::warning("Apus\\Process::start(): the process has been started already, and runs")?;
        return call.ret(false);
    }
    core.owner.set(Owner::Program);
    match fork::fork() {
        Err(code) => {
            set_last_error(code);
            engine::warning(&format!("Apus\\Process::start(): no process could be made: {}", strerror(code)))?;
            call.ret(false)
        }
        Ok(0) => {
            let code = core.run_child(&object, fork::Signals::Default, |_| Ok(()))?;
            Err(engine::throw_exit(code))
        }
        Ok(pid) => {
            core.forked(&object, pid);
            call.ret(i64::from(pid))
        }
    }
}

/// This process's end of the pipe, or a warning.
macro_rules! own_end {
    ($call:ident, $core:ident, $what:literal) => {
        match $core.pipe.as_ref().and_then(|pipe| pipe.end($core.side.get()).map(|end| (end, pipe.stream))) {
            Some(found) => found,
            None => {
                set_last_error(libc::EBADF);
                engine::warning(concat!(
                    "Apus\\Process::",
                    $what,
                    "(): there is no pipe: it was closed, or $pipe_type was 0"
                ))?;
                return $call.ret(false);
            }
        }
    };
}

pub(super) fn read(call: &Call) -> Result<(), Raise> {
    let size = call.int(0, READ_SIZE)?;
    if !(1..=READ_MOST).contains(&size) {
        return Err(call.value_error(0, &format!("must be between 1 and {READ_MOST} bytes, {size} given")));
    }
    let (_, core) = this(call)?;
    if core.owner.get() == Owner::Nobody {
        return Err(state_error("read() waits for what the process writes: call start() first"));
    }
    let (end, stream) = own_end!(call, core, "read");
    let value = match end.read(size as usize, stream, &core.patience("Process::read()"))? {
        Ok((bytes, length)) => {
            if length > bytes.len() {
                engine::warning(&format!(
                    "Apus\\Process::read(): a message of {length} bytes was cut to {size}: give read() a larger size"
                ))?;
            }
            Ok(Value::string(&bytes)?)
        }
        Err(code) => Err(code),
    };
    give(call, "read", value)
}

pub(super) fn write(call: &Call) -> Result<(), Raise> {
    let bytes = call.bytes(0)?.to_vec();
    if bytes.is_empty() {
        return Err(call.value_error(0, "cannot be empty"));
    }
    let (_, core) = this(call)?;
    let (end, _) = own_end!(call, core, "write");
    let sent = end.write(&bytes, &core.patience("Process::write()"))?;
    if sent == Err(libc::EMSGSIZE) {
        set_last_error(libc::EMSGSIZE);
        engine::warning(&format!(
            "Apus\\Process::write(): a message of {} bytes is longer than the pipe takes (net.core.wmem_max): send it in parts, or \
             make the process with $pipe_type SOCK_STREAM",
            bytes.len()
        ))?;
        return call.ret(false);
    }
    give(call, "write", sent.map(|sent| sent as i64))
}

pub(super) fn close(call: &Call) -> Result<(), Raise> {
    let which = call.int(0, 0)?;
    let (object, core) = this(call)?;
    let Some(pipe) = &core.pipe else {
        engine::warning("Apus\\Process::close(): there is no pipe")?;
        return call.ret(false);
    };
    let closed = match which {
        0 => {
            let (own, other) = (pipe.close(Side::Master), pipe.close(Side::Worker));
            own || other
        }
        PIPE_MASTER => pipe.close(Side::Master),
        PIPE_WORKER => pipe.close(Side::Worker),
        PIPE_READ | PIPE_WRITE => {
            let how = if which == PIPE_READ { libc::SHUT_RD } else { libc::SHUT_WR };
            pipe.end(core.side.get()).is_some_and(|end| end.shutdown(how).is_ok())
        }
        _ => {
            return Err(
                call.value_error(0, "must be 0 or one of the constants Apus\\Process::PIPE_MASTER … PIPE_WRITE")
            );
        }
    };
    if core.fd().is_none() {
        drop(core.socket.take());
        object.set_slot(slot::PIPE, Value::null());
    }
    if !closed {
        engine::warning("Apus\\Process::close(): the pipe, or this side of it, is closed already")?;
    }
    call.ret(closed)
}

pub(super) fn set_timeout(call: &Call) -> Result<(), Raise> {
    let seconds = seconds(call, 0, 0.0)?;
    let core = &call.this::<ProcessObject>()?.0;
    // 0 stands for no limit, as SO_RCVTIMEO has it.
    core.limit.set(limit_or_none(seconds));
    call.ret(core.pipe.is_some())
}

pub(super) fn set_blocking(call: &Call) -> Result<(), Raise> {
    let blocking = call.bool(0, true)?;
    let (_, core) = this(call)?;
    let (end, _) = own_end!(call, core, "setBlocking");
    core.blocking.set(blocking);
    give(call, "setBlocking", end.set_blocking(blocking).map(|()| true))
}

pub(super) fn export_socket(call: &Call) -> Result<(), Raise> {
    let (_, core) = this(call)?;
    if let Some(socket) = core.socket.borrow().as_ref().map(Object::share) {
        return call.ret(socket);
    }
    let (end, stream) = own_end!(call, core, "exportSocket");
    let kind = if stream { libc::SOCK_STREAM } else { libc::SOCK_DGRAM };
    // The socket has a descriptor of its own: closing one does not break the other.
    match super::sys::duplicate(end.fd()).and_then(|fd| {
        crate::socket::over(fd, libc::AF_UNIX, kind).map_err(|error| error.raw_os_error().unwrap_or(libc::EIO))
    }) {
        Ok(socket) => {
            let socket = socket?;
            *core.socket.borrow_mut() = Some(socket.share());
            call.ret(socket)
        }
        Err(code) => give(call, "exportSocket", Err::<bool, _>(code)),
    }
}

/// Throws unless this process is the one that the object stands for.
fn expect_here(core: &ProcessCore, what: &str) -> Result<(), Raise> {
    if core.is_here() {
        return Ok(());
    }
    Err(state_error(&format!("{what} can be called inside the process itself only, in what its callback runs")))
}

pub(super) fn exit(call: &Call) -> Result<(), Raise> {
    let code = call.int(0, 0)?;
    if !(0..=255).contains(&code) {
        return Err(call.value_error(0, &format!("must be an exit code between 0 and 255, {code} given")));
    }
    expect_here(&call.this::<ProcessObject>()?.0, "Apus\\Process::exit()")?;
    Err(engine::throw_exit(code as i32))
}

fn c_string(call: &Call, index: usize, bytes: &[u8]) -> Result<CString, Raise> {
    CString::new(bytes).map_err(|_| call.value_error(index, "must not contain any null bytes"))
}

pub(super) fn exec(call: &Call) -> Result<(), Raise> {
    let (_, core) = this(call)?;
    let file = c_string(call, 0, call.bytes(0)?)?;
    let mut args = vec![file.clone()];
    for (_, value) in call.array(1)?.iter() {
        let text = match value.view() {
            View::Str(bytes) => c_string(call, 1, bytes)?,
            View::Int(number) => c_string(call, 1, number.to_string().as_bytes())?,
            _ => return Err(call.content_error(1, "must hold strings only")),
        };
        args.push(text);
    }
    expect_here(&core, "Apus\\Process::exec()")?;
    let code = super::sys::exec(&file, &args, core.fd());
    set_last_error(code);
    engine::warning(&format!("Apus\\Process::exec(): {} cannot be run: {}", file.to_string_lossy(), strerror(code)))?;
    call.ret(false)
}

pub(super) fn name(call: &Call) -> Result<(), Raise> {
    let bytes = call.bytes(0)?;
    if bytes.is_empty() || bytes.contains(&0) {
        return Err(call.value_error(0, "must be a name without null bytes"));
    }
    let title = Value::string(bytes)?;
    let mut name = Value::string(b"cli_set_process_title")?;
    match Callable::new(&mut name) {
        Ok(function) => call.ret(function.call(&[title])?),
        Err(Uncallable::Not(_)) => call.ret(false),
        Err(Uncallable::Raised(raise)) => Err(raise),
    }
}

pub(super) fn use_queue(call: &Call) -> Result<(), Raise> {
    let given = call.int(0, 0)?;
    let mode = call.int(1, CONTENDING)?;
    let capacity = call.int(2, -1)?;
    let Ok(key) = libc::key_t::try_from(given) else {
        return Err(call.value_error(0, &format!("must be a key of 32 bits, {given} given")));
    };
    let sharing = mode & !IPC_NOWAIT;
    if sharing != ORIENTED && sharing != CONTENDING {
        return Err(call
            .value_error(1, "must be 1 (messages are for their process) or 2 (for any), with IPC_NOWAIT or without"));
    }
    let (object, core) = this(call)?;
    let key = if key == 0 { script_key() } else { key };
    let queue = SysQueue::open(key, 0o666)
        .map_err(|code| system_error(&format!("no message queue: {}", explain(code, 0)), code))?;
    if capacity > 0
        && let Err(code) = queue.set_limit(capacity as u64)
    {
        return Err(system_error(&format!("the message queue cannot take {capacity} bytes (see kernel.msgmnb)"), code));
    }
    object.set_slot(slot::QUEUE_ID, Value::int(i64::from(queue.id)));
    object.set_slot(slot::QUEUE_KEY, Value::int(i64::from(queue.key)));
    // Types begin at 1.
    let own = core.number + 1;
    let (send_type, take_type) = if sharing == CONTENDING { (own, 0) } else { (own, own) };
    let waits = mode & IPC_NOWAIT == 0;
    *core.queue.borrow_mut() = Some(Queue { inner: queue, send_type, take_type, waits });
    call.ret(true)
}

macro_rules! own_queue {
    ($call:ident, $core:ident, $what:literal) => {
        match &*$core.queue.borrow() {
            Some(queue) => (
                SysQueue { id: queue.inner.id, key: queue.inner.key },
                queue.send_type,
                queue.take_type,
                if queue.waits { None } else { Some(Duration::ZERO) },
            ),
            None => {
                engine::warning(concat!("Apus\\Process::", $what, "(): there is no queue: call useQueue() first"))?;
                return $call.ret(false);
            }
        }
    };
}

/// Returns the value, or warns in words about queues.
fn give_queued<V: Into<Value>>(call: &Call, what: &str, bytes: usize, result: Result<V, c_int>) -> Result<(), Raise> {
    match result {
        Ok(value) => call.ret(value),
        Err(code) => {
            set_last_error(code);
            if !matches!(code, libc::ETIMEDOUT | libc::ECANCELED) {
                engine::warning(&format!("Apus\\Process::{what}(): {}", explain(code, bytes)))?;
            }
            call.ret(false)
        }
    }
}

pub(super) fn push(call: &Call) -> Result<(), Raise> {
    let bytes = call.bytes(0)?.to_vec();
    if bytes.is_empty() {
        return Err(call.value_error(0, "cannot be empty"));
    }
    let (_, core) = this(call)?;
    let (queue, kind, _, limit) = own_queue!(call, core, "push");
    let sent = SysQueue::retry("Process::push()", limit, || queue.try_send(kind, &bytes))?;
    give_queued(call, "push", bytes.len(), sent.map(|()| true))
}

pub(super) fn pop(call: &Call) -> Result<(), Raise> {
    let most = size(call, 0)?;
    let (_, core) = this(call)?;
    let (queue, _, kind, limit) = own_queue!(call, core, "pop");
    let taken = SysQueue::retry("Process::pop()", limit, || queue.try_take(kind, most))?;
    let value = match taken {
        Ok(bytes) => Ok(Value::string(&bytes)?),
        Err(code) => Err(code),
    };
    give_queued(call, "pop", 0, value)
}

pub(super) fn stat_queue(call: &Call) -> Result<(), Raise> {
    let (_, core) = this(call)?;
    let (queue, ..) = own_queue!(call, core, "statQueue");
    give_queued(call, "statQueue", 0, stats_array(&queue)?)
}

pub(super) fn free_queue(call: &Call) -> Result<(), Raise> {
    let (object, core) = this(call)?;
    let (queue, ..) = own_queue!(call, core, "freeQueue");
    *core.queue.borrow_mut() = None;
    object.set_slot(slot::QUEUE_ID, Value::null());
    object.set_slot(slot::QUEUE_KEY, Value::null());
    give_queued(call, "freeQueue", 0, queue.remove().map(|()| true))
}

/// Which process a call about priorities means: the one given, else the one the object stands for.
fn meant(call: &Call, index: usize) -> Result<libc::id_t, Raise> {
    let core = &call.this::<ProcessObject>()?.0;
    let given = call.opt_int(index)?.unwrap_or_else(|| i64::from(core.pid.get()));
    libc::id_t::try_from(given).map_err(|_| call.value_error(index, &format!("must be 0 or more, {given} given")))
}

fn which(call: &Call) -> Result<c_int, Raise> {
    match call.int(0, 0)? {
        given @ 0..=2 => Ok(given as c_int),
        other => {
            Err(call
                .value_error(0, &format!("must be PRIO_PROCESS (0), PRIO_PGRP (1) or PRIO_USER (2), {other} given")))
        }
    }
}

pub(super) fn set_priority(call: &Call) -> Result<(), Raise> {
    let (which, who) = (which(call)?, meant(call, 2)?);
    let priority = call.int(1, 0)?;
    if !(-20..=19).contains(&priority) {
        return Err(call.value_error(1, &format!("must be between -20 and 19, {priority} given")));
    }
    // SAFETY: takes integers.
    let done = unsafe { libc::setpriority(which as _, who, priority as c_int) } == 0;
    give(call, "setPriority", if done { Ok(true) } else { Err(super::sys::errno()) })
}

pub(super) fn get_priority(call: &Call) -> Result<(), Raise> {
    let (which, who) = (which(call)?, meant(call, 1)?);
    give(call, "getPriority", super::sys::priority(which, who).map(i64::from))
}
