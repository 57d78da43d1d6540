//! `Apus\Process\Pool`.

use std::ffi::c_int;
use std::net::ToSocketAddrs;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::atomic::AtomicU32;
use std::time::Duration;

use apus_process::{BindOptions, ListenAddr};
use apus_zend::object::Object;
use apus_zend::value::{Key, View};
use apus_zend::{Call, Raise, Value, engine};

use super::core::{Board, EVENTS, Event, Ipc, Phase, PoolCore, PoolObject, slot};
use super::master;
pub(super) use super::table::POOL;
use crate::exception::{self};
use crate::process::core::{ProcessCore, state_error, system_error};
use crate::process::message_queue::{SysQueue, explain, script_key};
use crate::process::pipe::{Patience, Pipe, Side};
use crate::process::sys::send_pid;
use crate::runtime::State;
use crate::system::failure::{set_last_error, strerror};

/// Workers at most.
const WORKERS: i64 = 4096;
/// Bytes of an answer over a socket at most.
const ANSWER: usize = 256 * 1024 * 1024;

/// `$this`, with a reference of its own.
fn this(call: &Call) -> Result<(Object, Rc<PoolCore>), Raise> {
    let core = Rc::clone(&call.this::<PoolObject>()?.0);
    Ok((call.object()?, core))
}

/// A pool's object, made by Apus itself.
pub(super) fn object(core: Rc<PoolCore>) -> Result<Object, Raise> {
    Object::new(POOL.get(), PoolObject(core))
}

pub(super) fn ipc_of(call: &Call, index: usize, default: Ipc) -> Result<Ipc, Raise> {
    let given = call.int(index, default as i64)?;
    Ipc::of(given).ok_or_else(|| {
        let what = "must be Apus\\IPC_NONE, IPC_UNIXSOCK, IPC_MSGQUEUE or IPC_SOCKET";
        call.value_error(index, &format!("{what}, {given} given"))
    })
}

pub(super) fn construct(call: &Call) -> Result<(), Raise> {
    let count = call.int(0, 0)?;
    if !(1..=WORKERS).contains(&count) {
        return Err(call.value_error(0, &format!("must be between 1 and {WORKERS} workers, {count} given")));
    }
    let ipc = ipc_of(call, 1, Ipc::None)?;
    let key = call.int(2, 0)?;
    let coroutine = call.bool(3, false)?;
    call.construct(PoolObject(PoolCore::new(count as usize, ipc, key, coroutine, Vec::new())))
}

pub(super) fn set(call: &Call) -> Result<(), Raise> {
    let (_, core) = this(call)?;
    for (key, value) in call.array(0)?.iter() {
        let value = value.view();
        let Key::Str(name) = key else { return Err(call.value_error(0, "must hold 'name' => value")) };
        match (name, value) {
            (b"enable_coroutine", View::Bool(on)) => core.coroutine.set(on),
            // Messages are whole in any case.
            (b"enable_message_bus", View::Bool(_)) => {}
            (b"max_wait_time", View::Int(seconds @ 0..=86_400)) => {
                core.patience.set(Duration::from_secs(seconds as u64));
            }
            (b"max_package_size", View::Int(bytes)) if (1..=ANSWER as i64).contains(&bytes) => {
                core.longest.set(bytes as usize);
            }
            _ => {
                let name = String::from_utf8_lossy(name);
                return Err(call.value_error(
                    0,
                    &format!(
                        "can hold enable_coroutine (bool), enable_message_bus (bool), max_wait_time (0 to 86400 seconds) and \
                         max_package_size (1 to {ANSWER} bytes): \"{name}\" is none of these, or its value is out of bounds"
                    ),
                ));
            }
        }
    }
    Ok(())
}

fn event_error(message: &str) -> Raise {
    exception::throw(exception::code::process::EVENT, message)
}

pub(super) fn on(call: &Call) -> Result<(), Raise> {
    let name = call.text(0)?;
    let callable = call.callable(1)?;
    let (_, core) = this(call)?;
    if core.phase.get() != Phase::New {
        return Err(state_error("events are set before Apus\\Process\\Pool::start()"));
    }
    let lower = name.to_ascii_lowercase();
    let plain = lower.strip_prefix("on").unwrap_or(&lower);
    let Some((_, event)) = EVENTS.iter().find(|(known, _)| *known == plain) else {
        let known: Vec<&str> = EVENTS.iter().map(|(name, _)| *name).collect();
        return Err(event_error(&format!("a pool has no event \"{name}\": there are {}", known.join(", "))));
    };
    if *event == Event::Message && core.ipc == Ipc::None {
        return Err(event_error("a pool without messages has no event \"message\": give the constructor an $ipc_type"));
    }
    core.set_callback(*event, callable);
    call.ret(true)
}

/// The address in the arguments of `listen()`.
fn address(call: &Call) -> Result<ListenAddr, Raise> {
    let host = call.text(0)?;
    if let Some(path) = host.strip_prefix("unix:") {
        if path.is_empty() {
            return Err(call.value_error(0, "must name a path after \"unix:\""));
        }
        return Ok(ListenAddr::Unix(PathBuf::from(path)));
    }
    let port = call.int(1, 0)?;
    let port = u16::try_from(port)
        .map_err(|_| call.value_error(1, &format!("must be a port between 0 and 65535, {port} given")))?;
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let found = (bare, port).to_socket_addrs().ok().and_then(|mut found| found.next());
    found
        .map(ListenAddr::Tcp)
        .ok_or_else(|| call.value_error(0, &format!("must be an address or a known name, \"{host}\" given")))
}

pub(super) fn listen(call: &Call) -> Result<(), Raise> {
    let (object, core) = this(call)?;
    if core.ipc != Ipc::Socket || core.phase.get() != Phase::New {
        return Err(state_error("listen() is for pools with Apus\\IPC_SOCKET, before start()"));
    }
    let address = address(call)?;
    let backlog = call.int(2, 2048)?;
    if !(1..=65_535).contains(&backlog) {
        return Err(call.value_error(2, &format!("must be between 1 and 65535, {backlog} given")));
    }
    let options = BindOptions { backlog: backlog as u32, ..BindOptions::default() };
    let listener = apus_process::bind(&address, &options)
        .map_err(|error| exception::throw(exception::code::process::BIND, &error.to_string()))?;
    if let ListenAddr::Tcp(bound) = listener.addr {
        object.set_slot(slot::PORT, Value::int(i64::from(bound.port())));
    }
    *core.listener.borrow_mut() = Some(listener);
    call.ret(true)
}

/// What all workers need is made before the first of them.
pub(super) fn prepare(core: &Rc<PoolCore>) -> Result<(), Raise> {
    let failed = |what: &str| {
        let what = what.to_owned();
        move |code: c_int| system_error(&what, code)
    };
    match core.ipc {
        Ipc::Socket if core.listener.borrow().is_none() => {
            return Err(state_error("a pool with Apus\\IPC_SOCKET needs listen() before start()"));
        }
        Ipc::MsgQueue => {
            let key = libc::key_t::try_from(core.key)
                .map_err(|_| state_error("the key of a pool's message queue has 32 bits at most"))?;
            let key = if key == 0 { script_key() } else { key };
            let queue = SysQueue::open(key, 0o666)
                .map_err(|code| system_error(&format!("no message queue: {}", explain(code, 0)), code))?;
            *core.queue.borrow_mut() = Some(Rc::new(queue));
        }
        _ => {}
    }
    let pids = apus_shm::map::<AtomicU32>(core.count)
        .map_err(|error| system_error("memory for the pool", error.raw_os_error().unwrap_or(libc::ENOMEM)))?;
    // A pool is started once: there is none yet.
    let _ = core.board.set(Board { pids });
    let mut processes = Vec::with_capacity(core.count);
    for worker in 0..core.count {
        let pipe = (core.ipc == Ipc::UnixSock).then(|| Pipe::new(false)).transpose();
        let pipe = pipe.map_err(failed("the pipes of the pool's workers (see RLIMIT_NOFILE)"))?;
        let process = ProcessCore::new(None, false, pipe, core.coroutine.get());
        let object = Rc::clone(&process).into_object()?;
        process.adopt(&object, worker as i64)?;
        processes.push(object);
    }
    *core.processes.borrow_mut() = processes;
    Ok(())
}

/// Runs the pool in the calling process.
pub(super) fn run(core: &Rc<PoolCore>, object: &Object) -> Result<(), Raise> {
    if core.phase.get() != Phase::New {
        return Err(state_error("a pool is started once: make another Apus\\Process\\Pool"));
    }
    crate::wait::expect_outside("a pool of processes")?;
    let coroutines = core.coroutine.get() || !core.jobs.is_empty();
    if core.callback(Event::WorkerExit).is_some() && !coroutines {
        return Err(event_error("the event \"workerexit\" is for pools with $enable_coroutine"));
    }
    if core.jobs.is_empty() && core.callback(Event::WorkerStart).is_none() && !core.takes_messages() {
        return Err(event_error(
            "a pool needs on('workerstart', …) or on('message', …): its workers would have nothing to do",
        ));
    }
    prepare(core)?;
    master::run(core, object)
}

pub(super) fn start(call: &Call) -> Result<(), Raise> {
    let (object, core) = this(call)?;
    run(&core, &object)
}

/// A worker's number in an argument; `default` for -1.
fn worker(call: &Call, index: usize, core: &PoolCore, default: Option<usize>) -> Result<usize, Raise> {
    let given = call.int(index, -1)?;
    match usize::try_from(given) {
        Ok(worker) if worker < core.count => Ok(worker),
        Err(_) if given == -1 && default.is_some() => Ok(default.unwrap_or_default()),
        _ => Err(call.value_error(index, &format!("must be a worker between 0 and {}, {given} given", core.count - 1))),
    }
}

pub(super) fn get_process(call: &Call) -> Result<(), Raise> {
    let (_, core) = this(call)?;
    let me = (core.phase.get() == Phase::Worker).then(|| core.me.get());
    let worker = worker(call, 0, &core, me)?;
    let (object, _) = core.process(worker)?;
    call.ret(object)
}

pub(super) fn send_message(call: &Call) -> Result<(), Raise> {
    let (_, core) = this(call)?;
    let bytes = call.bytes(0)?.to_vec();
    if bytes.is_empty() {
        return Err(call.value_error(0, "cannot be empty"));
    }
    if core.ipc != Ipc::UnixSock {
        return Err(state_error("sendMessage() is for pools with Apus\\IPC_UNIXSOCK"));
    }
    let worker = worker(call, 1, &core, None)?;
    let (_, process) = core.process(worker)?;
    let Some(end) = process.pipe.as_ref().and_then(|pipe| pipe.end(Side::Master)) else {
        return Err(state_error("the pool has ended"));
    };
    let patience = Patience { what: "Process\\Pool::sendMessage()", blocking: true, limit: None, other: None };
    match end.write(&bytes, &patience)? {
        Ok(_) => call.ret(true),
        Err(code) => {
            set_last_error(code);
            let why = match code {
                libc::EMSGSIZE => {
                    format!("a message of {} bytes is longer than the pipe takes (net.core.wmem_max)", bytes.len())
                }
                code => strerror(code),
            };
            engine::warning(&format!("Apus\\Process\\Pool::sendMessage(): {why}"))?;
            call.ret(false)
        }
    }
}

pub(super) fn write(call: &Call) -> Result<(), Raise> {
    let (_, core) = this(call)?;
    let bytes = call.bytes(0)?;
    if bytes.is_empty() {
        return Err(call.value_error(0, "cannot be empty"));
    }
    let of = State::existing().map_or(-1, |state| state.engine.current_id());
    let mut answers = core.answers.borrow_mut();
    let Some(answer) = answers.get_mut(&of) else {
        drop(answers);
        return Err(state_error(
            "write() answers a message in the callback of \"message\", in pools with Apus\\IPC_SOCKET",
        ));
    };
    if answer.len() + bytes.len() > ANSWER {
        drop(answers);
        return Err(state_error(&format!("an answer is at most {ANSWER} bytes long")));
    }
    answer.extend_from_slice(bytes);
    call.ret(true)
}

fn expect_worker(core: &PoolCore, what: &str) -> Result<(), Raise> {
    if core.phase.get() == Phase::Worker {
        return Ok(());
    }
    Err(state_error(&format!("{what} is for workers of a pool")))
}

pub(super) fn detach(call: &Call) -> Result<(), Raise> {
    let (_, core) = this(call)?;
    expect_worker(&core, "detach()")?;
    let told = send_pid(core.orders.get(), std::process::id() as libc::pid_t);
    if told {
        // It lives on without the pool, and takes no messages that are for others.
        core.leaving.set(true);
        // SAFETY: takes integers.
        unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, 0) };
    }
    call.ret(told)
}

pub(super) fn stop(call: &Call) -> Result<(), Raise> {
    let (_, core) = this(call)?;
    expect_worker(&core, "stop()")?;
    // The way of SIGTERM: with messages or coroutines the worker ends when it has done what it does now.
    // SAFETY: takes integers.
    unsafe { libc::kill(libc::getpid(), libc::SIGTERM) };
    Ok(())
}

pub(super) fn shutdown(call: &Call) -> Result<(), Raise> {
    let (_, core) = this(call)?;
    if !matches!(core.phase.get(), Phase::Master | Phase::Worker) {
        return Err(state_error("the pool has not been started, or has ended"));
    }
    // SAFETY: takes integers.
    call.ret(unsafe { libc::kill(core.master.get(), libc::SIGTERM) } == 0)
}
