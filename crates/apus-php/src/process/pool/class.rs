//! `Apus\Process\Pool`.

use std::ffi::c_int;
use std::net::ToSocketAddrs;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::atomic::AtomicU32;
use std::time::Duration;

use apus_process::{BindOptions, ListenAddr};
use apus_zend::arg::{Given, Me, Want};
use apus_zend::object::Object;
use apus_zend::value::{ArrayView, Key, View};
use apus_zend::{Callable, Raise, Value, engine};
use rustix::process::set_parent_process_death_signal;

use super::core::{Board, EVENTS, Event, Ipc, Phase, PoolCore, PoolObject};
use super::master;
use crate::descriptor::Number;
use crate::exception::{self};
use crate::process::class::not_empty;
use crate::process::core::{ProcessCore, state_error, system_error};
use crate::process::message_queue::SysQueue;
use crate::process::pipe::{Patience, Pipe, Side};
use crate::process::sys::send_pid;
use crate::runtime::State;
use crate::swoole::{self, There};
use crate::system::failure::{Noted, strerror};
use crate::system::sys::kill;

/// Workers at most.
pub(super) const WORKERS: usize = 4096;
/// Bytes of an answer over a socket at most.
const ANSWER: usize = 256 * 1024 * 1024;

type This<'c> = Me<'c, PoolObject>;

/// A pool's object, made by Apus itself.
pub(super) fn object(core: Rc<PoolCore>) -> Result<Object, Raise> {
    Object::new(POOL.get(), PoolObject(core))
}

/// An argument that says how many workers there are.
pub(super) struct Workers(pub(super) usize);

impl Want<i64> for Workers {
    fn want(given: Given<i64>) -> Result<Self, Raise> {
        let what = format!("between 1 and {WORKERS} workers");
        given.number_where(|count| (1..=WORKERS).contains(count), &what).map(Self)
    }
}

fn construct(Workers(count): Workers, ipc: Ipc, key: i64, coroutine: bool) -> PoolObject {
    PoolObject(PoolCore::new(count, ipc, key, coroutine, Vec::new()))
}

fn set(pool: &PoolObject, settings: Given<ArrayView<'_>>) -> Result<(), Raise> {
    let core = &pool.0;
    for (key, value) in settings.value.iter() {
        let Key::Str(name) = key else { return Err(settings.value_error("must hold 'name' => value")) };
        match (name, value.view()) {
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
                return Err(settings.value_error(&format!(
                    "can hold enable_coroutine (bool), enable_message_bus (bool), max_wait_time (0 to 86400 seconds) and \
                     max_package_size (1 to {ANSWER} bytes): \"{name}\" is none of these, or its value is out of bounds"
                )));
            }
        }
    }
    Ok(())
}

fn event_error(message: &str) -> Raise {
    exception::throw(exception::code::process::EVENT, message)
}

fn on(pool: &PoolObject, name: String, callable: Callable) -> Result<bool, Raise> {
    let core = &pool.0;
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
    Ok(true)
}

/// The address in the arguments of `listen()`.
fn address(host: Given<&[u8]>, port: Given<i64>) -> Result<ListenAddr, Raise> {
    let name = String::from_utf8_lossy(host.value);
    if let Some(path) = name.strip_prefix("unix:") {
        if path.is_empty() {
            return Err(host.value_error("must name a path after \"unix:\""));
        }
        return Ok(ListenAddr::Unix(PathBuf::from(path)));
    }
    let number = u16::try_from(port.value).map_err(|_| port.must_be("a port between 0 and 65535"))?;
    let bare = name.trim_start_matches('[').trim_end_matches(']');
    let found = (bare, number).to_socket_addrs().ok().and_then(|mut found| found.next());
    found
        .map(ListenAddr::Tcp)
        .ok_or_else(|| host.value_error(&format!("must be an address or a known name, \"{name}\" given")))
}

fn listen(me: This<'_>, host: Given<&[u8]>, port: Given<i64>, backlog: Given<i64>) -> Result<bool, Raise> {
    let core = &me.0;
    if core.ipc != Ipc::Socket || core.phase.get() != Phase::New {
        return Err(state_error("listen() is for pools with Apus\\IPC_SOCKET, before start()"));
    }
    let address = address(host, port)?;
    if !(1..=65_535).contains(&backlog.value) {
        return Err(backlog.must_be("between 1 and 65535"));
    }
    let options = BindOptions { backlog: backlog.value as u32, ..BindOptions::default() };
    let listener = apus_process::bind(&address, &options)
        .map_err(|error| exception::throw(exception::code::process::BIND, &error.to_string()))?;
    if let ListenAddr::Tcp(bound) = listener.addr {
        me.object.set_slot(slot::pool::PORT, Value::int(i64::from(bound.port())));
    }
    *core.listener.borrow_mut() = Some(listener);
    Ok(true)
}

/// What all workers need is made before the first of them.
pub(super) fn prepare(core: &Rc<PoolCore>, pool: &Object) -> Result<(), Raise> {
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
            let queue = SysQueue::of_script(key)?;
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
        let object = Rc::clone(&process).into_object(POOL.is_second(pool.as_raw()))?;
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
    prepare(core, object)?;
    master::run(core, object)?;
    if swoole::is_on() {
        // There a pool that has ended can be started anew.
        core.phase.set(Phase::New);
    }
    Ok(())
}

fn start(me: This<'_>) -> Result<(), Raise> {
    run(&Rc::clone(&me.0), &me.object)
}

/// A worker's number in an argument; `default` for -1.
fn worker(given: Given<i64>, core: &PoolCore, default: Option<usize>) -> Result<usize, Raise> {
    match (usize::try_from(given.value), default) {
        (Ok(worker), _) if worker < core.count => Ok(worker),
        (Err(_), Some(default)) if given.value == -1 => Ok(default),
        _ => {
            let text = format!("must be a worker between 0 and {}, {} given", core.count - 1, given.value);
            let said = format!("invalid worker_id[{}]", given.value);
            Err(swoole::there(given.value_error(&text), There::Text(said)))
        }
    }
}

fn get_process(pool: &PoolObject, given: Given<i64>) -> Result<Object, Raise> {
    let core = &pool.0;
    let me = (core.phase.get() == Phase::Worker).then(|| core.me.get());
    Ok(core.process(worker(given, core, me)?)?.0)
}

fn send_message(me: This<'_>, bytes: Given<&[u8]>, to: Given<i64>) -> Result<Noted<bool>, Raise> {
    let core = Rc::clone(&me.0);
    let bytes = not_empty(bytes)?.to_vec();
    if core.ipc != Ipc::UnixSock {
        return Err(state_error("sendMessage() is for pools with Apus\\IPC_UNIXSOCK"));
    }
    let (_, process) = core.process(worker(to, &core, None)?)?;
    let Some(end) = process.pipe.as_ref().and_then(|pipe| pipe.end(Side::Master)) else {
        return Err(state_error("the pool has ended"));
    };
    let patience = Patience { what: "Process\\Pool::sendMessage()", blocking: true, limit: None, other: None };
    let sent = end.write(&bytes, &patience)?;
    if let Err(code) = sent {
        let why = match code {
            libc::EMSGSIZE => {
                format!("a message of {} bytes is longer than the pipe takes (net.core.wmem_max)", bytes.len())
            }
            code => strerror(code),
        };
        engine::warning(&format!("Apus\\Process\\Pool::sendMessage(): {why}"))?;
    }
    Ok(Noted(sent.map(|_| true)))
}

fn write(pool: &PoolObject, bytes: Given<&[u8]>) -> Result<bool, Raise> {
    let bytes = not_empty(bytes)?;
    let of = State::existing().map_or(-1, |state| state.engine.current_id());
    let mut answers = pool.0.answers.borrow_mut();
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
    Ok(true)
}

fn expect_worker(core: &PoolCore, what: &str) -> Result<(), Raise> {
    if core.phase.get() == Phase::Worker {
        return Ok(());
    }
    Err(state_error(&format!("{what} is for workers of a pool")))
}

fn detach(pool: &PoolObject) -> Result<bool, Raise> {
    expect_worker(&pool.0, "detach()")?;
    let told = send_pid(Number(pool.0.orders.get()), std::process::id() as libc::pid_t);
    if told {
        // It lives on without the pool, and takes no messages that are for others.
        pool.0.leaving.set(true);
        let _ = set_parent_process_death_signal(None);
    }
    Ok(told)
}

fn stop(pool: &PoolObject) -> Result<(), Raise> {
    expect_worker(&pool.0, "stop()")?;
    // The way of SIGTERM: with messages or coroutines the worker ends when it has done what it does now.
    let _ = kill(std::process::id() as libc::pid_t, libc::SIGTERM);
    Ok(())
}

fn shutdown(pool: &PoolObject) -> Result<bool, Raise> {
    if !matches!(pool.0.phase.get(), Phase::Master | Phase::Worker) {
        return Err(state_error("the pool has not been started, or has ended"));
    }
    Ok(kill(pool.0.master.get(), libc::SIGTERM).is_ok())
}

apus_zend::stub!("process/pool/class");
