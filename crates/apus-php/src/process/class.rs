//! The methods of `Apus\Process` that belong to one process.

use std::ffi::{CString, c_int};
use std::rc::Rc;

use apus_zend::arg::{Given, Made, Me, OrFalse, Want};
use apus_zend::object::Object;
use apus_zend::value::{ArrayView, Element, Key, View};
use apus_zend::{Array, Callable, Raise, Value, engine};
use rustix::io::Errno;
use rustix::net::Shutdown;
use rustix::process::{
    Pid, Uid, getpriority_pgrp, getpriority_process, getpriority_user, setpriority_pgrp, setpriority_process,
    setpriority_user,
};

use super::core::{Owner, ProcessCore, ProcessObject, Queue, state_error, system_error};
use super::fork;
use super::message_queue::{Size, SysQueue, SystemKey, explain, stats_array};
use super::pipe::{End, Pipe, Side};
use super::statics;
use crate::swoole::{self, There};
use crate::system::failure::{Noted, Text, set_last_error, strerror};
use crate::system::host::set_title;
use crate::wait::{Timeout, expect_outside};

/// Bit of `useQueue()`'s mode: `push()` and `pop()` do not wait.
const IPC_NOWAIT: i64 = 256;
/// Modes of `useQueue()`: messages are for the process they were pushed by, or for whoever comes first.
const ORIENTED: i64 = 1;
const CONTENDING: i64 = 2;
/// `close()`'s arguments.
const PIPE_MASTER: i64 = 1;
const PIPE_WORKER: i64 = 2;
const PIPE_READ: i64 = 3;
const PIPE_WRITE: i64 = 4;
/// What `$pipe_type` can be.
const TYPE_NONE: i64 = 0;
const TYPE_STREAM: i64 = 1;
const TYPE_DGRAM: i64 = 2;
/// Bytes that `read()` takes at most.
const READ_MOST: i64 = 256 * 1024 * 1024;

/// Where the callback stands among the properties of the second class.
const CALLBACK: u32 = 5;

type This<'c> = Me<'c, ProcessObject>;

/// The value, or a warning and an error that is noted.
fn warned<V>(what: &str, result: Result<V, c_int>) -> Result<Noted<V>, Raise> {
    if let Err(code) = result
        && !matches!(code, libc::ETIMEDOUT | libc::ECANCELED | libc::EAGAIN)
    {
        engine::warning(&format!("Apus\\Process::{what}(): {}", strerror(code)))?;
    }
    Ok(Noted(result))
}

/// An argument `int $pipe_type`: whether it is a pipe of bytes; `None`: there is none.
struct PipeType(Option<bool>);

impl Want<i64> for PipeType {
    fn want(given: Given<i64>) -> Result<Self, Raise> {
        Ok(Self(match given.value {
            TYPE_NONE => None,
            TYPE_STREAM => Some(true),
            TYPE_DGRAM => Some(false),
            _ => return Err(given.must_be("0 (no pipe), SOCK_STREAM (1) or SOCK_DGRAM (2)")),
        }))
    }
}

fn construct(
    callable: Callable,
    redirect: bool,
    kind: Given<i64>,
    coroutine: bool,
) -> Result<Made<ProcessObject, 2>, Raise> {
    // The standard streams of a program have no messages.
    let stream = if redirect { Some(true) } else { PipeType::want(kind)?.0 };
    let pipe = stream.map(Pipe::new).transpose().map_err(|code| system_error("the pipe to a process", code))?;
    let core = ProcessCore::new(Some(callable), redirect, pipe, coroutine);
    let slots = core.slots();
    Ok(Made(ProcessObject(core), slots))
}

/// There the callback stands in a private property, from which it is called.
fn construct_there(
    callable: Callable,
    redirect: bool,
    kind: Given<i64>,
    coroutine: bool,
) -> Result<Made<ProcessObject, 3>, Raise> {
    let callback = callable.value();
    let Made(process, [pipe, id]) = construct(callable, redirect, kind, coroutine)?;
    Ok(Made(process, [pipe, id, (CALLBACK, callback)]))
}

/// Whether a program has taken the callback away.
fn has_lost_callback(process: &Object) -> bool {
    process.is_second(&PROCESS) && matches!(process.slot(CALLBACK).view(), View::Null)
}

fn set(process: &ProcessObject, settings: Given<ArrayView<'_>>) -> Result<(), Raise> {
    let mut coroutine = process.0.coroutine.get();
    for (key, value) in settings.value.iter() {
        match (key, value.view()) {
            (Key::Str(b"enable_coroutine"), View::Bool(on)) => coroutine = on,
            (Key::Str(b"enable_coroutine"), View::Int(on)) => coroutine = on != 0,
            (Key::Str(b"enable_coroutine"), _) => {
                return Err(settings.value_error("must hold true or false under enable_coroutine"));
            }
            (Key::Str(name), _) => {
                let name = String::from_utf8_lossy(name);
                return Err(settings.value_error(&format!("can hold enable_coroutine only, \"{name}\" given")));
            }
            (Key::Index(_), _) => return Err(settings.value_error("must hold 'name' => value")),
        }
    }
    process.0.coroutine.set(coroutine);
    Ok(())
}

fn start(me: This<'_>) -> Result<OrFalse<i64>, Raise> {
    let core = Rc::clone(&me.0);
    if core.owner.get() == Owner::Supervisor || core.side.get() == Side::Worker {
        return Err(state_error("this process is started by its server or pool, or is the running one"));
    }
    expect_outside("Apus\\Process::start()").map_err(|raise| {
        swoole::there(raise, There::Error(swoole::error_class(), "must be forked outside the coroutine".to_owned()))
    })?;
    if core.is_running() {
        engine::warning("Apus\\Process::start(): the process has been started already, and runs")?;
        return Ok(OrFalse(None));
    }
    if has_lost_callback(&me.object) {
        swoole::warning("illegal callback function")?;
        return Ok(OrFalse(None));
    }
    core.owner.set(Owner::Program);
    match fork::fork() {
        Err(code) => {
            set_last_error(code);
            engine::warning(&format!("Apus\\Process::start(): no process could be made: {}", strerror(code)))?;
            Ok(OrFalse(None))
        }
        Ok(0) => {
            let code = core.run_child(&me.object, fork::Signals::Default, |_| Ok(()))?;
            Err(engine::throw_exit(code))
        }
        Ok(pid) => {
            core.forked(&me.object, pid);
            Ok(OrFalse(Some(i64::from(pid))))
        }
    }
}

/// This process's end of the pipe, and whether it is one of bytes; or a warning.
fn own_end(core: &ProcessCore, what: &str) -> Result<Option<(Rc<End>, bool)>, Raise> {
    let found = core.pipe.as_ref().and_then(|pipe| pipe.end(core.side.get()).map(|end| (end, pipe.stream)));
    if found.is_none() {
        engine::warning(&format!("Apus\\Process::{what}(): there is no pipe: it was closed, or $pipe_type was 0"))?;
    }
    Ok(found)
}

/// What a method gives that needs a pipe, and finds none.
const NO_PIPE: c_int = libc::EBADF;

fn read(me: This<'_>, size: Given<i64>) -> Result<Noted<Vec<u8>>, Raise> {
    if !(1..=READ_MOST).contains(&size.value) {
        let raise = size.must_be(&format!("between 1 and {READ_MOST} bytes"));
        let said = |_: &str| (size.value < 1).then(|| There::Text("size must be greater than 0".to_owned()));
        return Err(swoole::there_of(raise, said));
    }
    let core = Rc::clone(&me.0);
    if core.owner.get() == Owner::Nobody {
        return Err(state_error("read() waits for what the process writes: call start() first"));
    }
    let Some((end, stream)) = own_end(&core, "read")? else { return Ok(Noted(Err(NO_PIPE))) };
    let read = end.read(size.value as usize, stream, &core.patience("Process::read()"))?;
    if let Ok((bytes, length)) = &read
        && *length > bytes.len()
    {
        engine::warning(&format!(
            "Apus\\Process::read(): a message of {length} bytes was cut to {}: give read() a larger size",
            size.value
        ))?;
    }
    warned("read", read.map(|(bytes, _)| bytes))
}

fn write(me: This<'_>, bytes: Given<&[u8]>) -> Result<Noted<i64>, Raise> {
    let bytes = not_empty(bytes)?.to_vec();
    let core = Rc::clone(&me.0);
    let Some((end, _)) = own_end(&core, "write")? else { return Ok(Noted(Err(NO_PIPE))) };
    let sent = end.write(&bytes, &core.patience("Process::write()"))?;
    if sent == Err(libc::EMSGSIZE) {
        engine::warning(&format!(
            "Apus\\Process::write(): a message of {} bytes is longer than the pipe takes (net.core.wmem_max): send it in parts, or \
             make the process with $pipe_type SOCK_STREAM",
            bytes.len()
        ))?;
        return Ok(Noted(Err(libc::EMSGSIZE)));
    }
    warned("write", sent.map(|sent| sent as i64))
}

/// A message, which has at least a byte.
pub(super) fn not_empty(bytes: Given<&[u8]>) -> Result<&[u8], Raise> {
    if bytes.value.is_empty() { Err(bytes.value_error("cannot be empty")) } else { Ok(bytes.value) }
}

fn close(me: This<'_>, which: Given<i64>) -> Result<bool, Raise> {
    let core = &me.0;
    let Some(pipe) = &core.pipe else {
        engine::warning("Apus\\Process::close(): there is no pipe")?;
        return Ok(false);
    };
    let closed = match which.value {
        0 => {
            let (own, other) = (pipe.close(Side::Master), pipe.close(Side::Worker));
            own || other
        }
        PIPE_MASTER => pipe.close(Side::Master),
        PIPE_WORKER => pipe.close(Side::Worker),
        PIPE_READ | PIPE_WRITE => {
            let how = if which.value == PIPE_READ { Shutdown::Read } else { Shutdown::Write };
            pipe.end(core.side.get()).is_some_and(|end| end.shutdown(how).is_ok())
        }
        _ => {
            return Err(which.value_error("must be 0 or one of the constants Apus\\Process::PIPE_MASTER … PIPE_WRITE"));
        }
    };
    if core.fd().is_none() {
        drop(core.socket.take());
        me.object.set_slot(slot::process::PIPE, Value::null());
    }
    if !closed {
        engine::warning("Apus\\Process::close(): the pipe, or this side of it, is closed already")?;
    }
    Ok(closed)
}

fn set_timeout(process: &ProcessObject, timeout: Timeout) -> bool {
    // 0 stands for no limit, as SO_RCVTIMEO has it.
    process.0.limit.set(timeout.limit_or_none());
    process.0.pipe.is_some()
}

fn set_blocking(process: &ProcessObject, blocking: bool) -> Result<Noted<bool>, Raise> {
    let Some((end, _)) = own_end(&process.0, "setBlocking")? else { return Ok(Noted(Err(NO_PIPE))) };
    process.0.blocking.set(blocking);
    warned("setBlocking", end.set_blocking(blocking).map(|()| true))
}

fn export_socket(process: Me<'_, ProcessObject>) -> Result<Noted<Object>, Raise> {
    let core = &process.0;
    if let Some(socket) = core.socket.borrow().as_ref().map(Object::share) {
        return Ok(Noted(Ok(socket)));
    }
    let Some((end, stream)) = own_end(core, "exportSocket")? else { return Ok(Noted(Err(NO_PIPE))) };
    let kind = if stream { libc::SOCK_STREAM } else { libc::SOCK_DGRAM };
    // The socket has a descriptor of its own: closing one does not break the other.
    match super::sys::duplicate(&*end).and_then(|fd| {
        crate::socket::over(fd, libc::AF_UNIX, kind, process.object.is_second(&PROCESS))
            .map_err(|error| error.raw_os_error().unwrap_or(libc::EIO))
    }) {
        Ok(socket) => {
            let socket = socket?;
            *core.socket.borrow_mut() = Some(socket.share());
            Ok(Noted(Ok(socket)))
        }
        Err(code) => warned("exportSocket", Err(code)),
    }
}

/// Throws unless this process is the one that the object stands for.
fn expect_here(core: &ProcessCore, what: &str) -> Result<(), Raise> {
    if core.is_here() {
        return Ok(());
    }
    Err(state_error(&format!("{what} can be called inside the process itself only, in what its callback runs")))
}

fn exit(process: &ProcessObject, code: Given<i64>) -> Result<(), Raise> {
    if !(0..=255).contains(&code.value) {
        return Err(code.must_be("an exit code between 0 and 255"));
    }
    expect_here(&process.0, "Apus\\Process::exit()")?;
    Err(engine::throw_exit(code.value as i32))
}

/// The arguments of a program.
struct Arguments(Vec<CString>);

impl Want<ArrayView<'_>> for Arguments {
    fn want(given: Given<ArrayView<'_>>) -> Result<Self, Raise> {
        let text = |value: &[u8]| Text::want(Given { index: given.index, value }).map(|Text(text)| text);
        let one = |(_, value): (Key<'_>, Element<'_>)| match value.view() {
            View::Str(bytes) => text(bytes),
            View::Int(number) => text(number.to_string().as_bytes()),
            _ => Err(given.content_error("must hold strings only")),
        };
        given.value.iter().map(one).collect::<Result<_, _>>().map(Self)
    }
}

fn exec(process: &ProcessObject, Text(file): Text, Arguments(args): Arguments) -> Result<Noted<bool>, Raise> {
    expect_here(&process.0, "Apus\\Process::exec()")?;
    exec_anywhere(process, Text(file), Arguments(args))
}

/// `Swoole\Process::exec()`: whatever process calls it becomes that program.
fn exec_anywhere(process: &ProcessObject, Text(file): Text, Arguments(args): Arguments) -> Result<Noted<bool>, Raise> {
    let args = [vec![file.clone()], args].concat();
    let code = super::sys::exec(&file, &args, process.0.fd());
    engine::warning(&format!("Apus\\Process::exec(): {} cannot be run: {}", file.to_string_lossy(), strerror(code)))?;
    Ok(Noted(Err(code)))
}

fn name(_: &ProcessObject, title: Given<&[u8]>) -> Result<Value, Raise> {
    if title.value.is_empty() || title.value.contains(&0) {
        return Err(title.value_error("must be a name without null bytes"));
    }
    set_title(title.value)
}

fn use_queue(me: This<'_>, given: Given<i64>, mode: Given<i64>, capacity: i64) -> Result<bool, Raise> {
    let SystemKey(key) = SystemKey::want(given)?;
    let sharing = mode.value & !IPC_NOWAIT;
    if sharing != ORIENTED && sharing != CONTENDING {
        return Err(
            mode.value_error("must be 1 (messages are for their process) or 2 (for any), with IPC_NOWAIT or without")
        );
    }
    let queue = SysQueue::of_script(key)?;
    if capacity > 0 {
        queue.expect_limit(capacity)?;
    }
    me.object.set_slot(slot::process::MSG_QUEUE_ID, Value::int(i64::from(queue.id)));
    me.object.set_slot(slot::process::MSG_QUEUE_KEY, Value::int(i64::from(queue.key)));
    // Types begin at 1.
    let own = me.0.number + 1;
    let (send_type, take_type) = if sharing == CONTENDING { (own, 0) } else { (own, own) };
    let waits = mode.value & IPC_NOWAIT == 0;
    *me.0.queue.borrow_mut() = Some(Queue { inner: queue, send_type, take_type, waits });
    Ok(true)
}

/// The queue that `useQueue()` has set, or a warning.
fn own_queue(core: &ProcessCore, what: &str) -> Result<Option<Queue>, Raise> {
    let queue = *core.queue.borrow();
    if queue.is_none() {
        engine::warning(&format!("Apus\\Process::{what}(): there is no queue: call useQueue() first"))?;
    }
    Ok(queue)
}

/// What a method gives that needs a queue, and finds none.
const NO_QUEUE: c_int = libc::EINVAL;

/// The value, or a warning in words about queues.
fn told_of_queue<V>(what: &str, bytes: usize, result: Result<V, c_int>) -> Result<Noted<V>, Raise> {
    if let Err(code) = result
        && !matches!(code, libc::ECANCELED | libc::ETIMEDOUT)
    {
        engine::warning(&format!("Apus\\Process::{what}(): {}", explain(code, bytes)))?;
    }
    Ok(Noted(result))
}

fn push(process: &ProcessObject, bytes: Given<&[u8]>) -> Result<Noted<bool>, Raise> {
    let bytes = not_empty(bytes)?.to_vec();
    let Some(queue) = own_queue(&process.0, "push")? else { return Ok(Noted(Err(NO_QUEUE))) };
    let sent = SysQueue::retry("Process::push()", queue.limit(), || queue.inner.try_send(queue.send_type, &bytes))?;
    told_of_queue("push", bytes.len(), sent.map(|()| true))
}

fn pop(process: &ProcessObject, Size(most): Size) -> Result<Noted<Vec<u8>>, Raise> {
    let Some(queue) = own_queue(&process.0, "pop")? else { return Ok(Noted(Err(NO_QUEUE))) };
    let taken = SysQueue::retry("Process::pop()", queue.limit(), || queue.inner.try_take(queue.take_type, most))?;
    told_of_queue("pop", 0, taken)
}

fn stat_queue(process: &ProcessObject) -> Result<Noted<Array>, Raise> {
    let Some(queue) = own_queue(&process.0, "statQueue")? else { return Ok(Noted(Err(NO_QUEUE))) };
    told_of_queue("statQueue", 0, stats_array(queue.inner)?)
}

fn free_queue(me: This<'_>) -> Result<Noted<bool>, Raise> {
    let Some(queue) = own_queue(&me.0, "freeQueue")? else { return Ok(Noted(Err(NO_QUEUE))) };
    *me.0.queue.borrow_mut() = None;
    me.object.set_slot(slot::process::MSG_QUEUE_ID, Value::null());
    me.object.set_slot(slot::process::MSG_QUEUE_KEY, Value::null());
    told_of_queue("freeQueue", 0, queue.inner.remove().map(|()| true))
}

/// Whose priority is meant: a process's, a group's or a user's.
struct Which(i64);

impl Want<i64> for Which {
    fn want(given: Given<i64>) -> Result<Self, Raise> {
        if (0..=2).contains(&given.value) {
            return Ok(Self(given.value));
        }
        let raise = given.must_be("PRIO_PROCESS (0), PRIO_PGRP (1) or PRIO_USER (2)");
        Err(swoole::there(raise, There::Quiet(libc::EINVAL.into())))
    }
}

/// Who that is: the one that is given, else the process that the object stands for.
fn meant(process: &ProcessObject, which: i64, who: Given<Option<i64>>) -> Result<u32, Raise> {
    // There a process alone can stand for itself.
    if which != 0 && who.value.is_none() && swoole::is_on() {
        return Err(who.value_error("must be a number, for a group or a user"));
    }
    let number = who.value.unwrap_or_else(|| i64::from(process.0.pid.get()));
    u32::try_from(number).map_err(|_| who.value_error(&format!("must be 0 or more, {number} given")))
}

/// A process or group by its number; `None`: the calling one.
fn pid_of(who: u32) -> Result<Option<Pid>, Errno> {
    libc::pid_t::try_from(who).map(Pid::from_raw).map_err(|_| Errno::SRCH)
}

fn set_priority(
    process: &ProcessObject,
    Which(which): Which,
    priority: Given<i64>,
    who: Given<Option<i64>>,
) -> Result<Noted<bool>, Raise> {
    let who = meant(process, which, who)?;
    if !(-20..=19).contains(&priority.value) {
        return Err(priority.must_be("between -20 and 19"));
    }
    let nice = priority.value as i32;
    let done = match which {
        0 => pid_of(who).and_then(|pid| setpriority_process(pid, nice)),
        1 => pid_of(who).and_then(|group| setpriority_pgrp(group, nice)),
        _ => setpriority_user(Uid::from_raw(who), nice),
    };
    warned("setPriority", done.map(|()| true).map_err(Errno::raw_os_error))
}

fn get_priority(process: &ProcessObject, Which(which): Which, who: Given<Option<i64>>) -> Result<Noted<i64>, Raise> {
    let who = meant(process, which, who)?;
    let priority = match which {
        0 => pid_of(who).and_then(getpriority_process),
        1 => pid_of(who).and_then(getpriority_pgrp),
        _ => getpriority_user(Uid::from_raw(who)),
    };
    warned("getPriority", priority.map(i64::from).map_err(Errno::raw_os_error))
}

apus_zend::stub!("process/class");
