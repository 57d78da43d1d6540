//! `Apus\Server` and `Apus\Http\Server`.

use std::os::unix::ffi::OsStrExt;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use apus_process::{Role, Worker};
use apus_zend::arg::{Made, Make, Me, OrFalse};
use apus_zend::class::Class;
use apus_zend::object::Object;
use apus_zend::value::{ArrayView, View};
use apus_zend::{Array, Call, Callable, Raise, Value};

use super::core::{ServerCore, ServerHandle, ServerKind};
use super::events::Event;
use super::port_core::PortCore;
use super::{address, config, connections, host, info, port, program, serving};
use crate::convert::from_option;
use crate::exception::{self};
use crate::process::PROCESS;
use crate::runtime::State;
use crate::socket::merged_settings;
use crate::swoole::{self, There};

/// Sends a signal to this very process.
pub(super) fn signal_self(signal: i32) -> bool {
    if crate::process::takes_signals() {
        OWN.fetch_or(1 << signal, Relaxed);
        // Waits for the master's loop, past a handler of the program's, which may be who asks.
        // SAFETY: the set is local; signals stay blocked in the master but for its callbacks.
        unsafe {
            let mut set = std::mem::zeroed();
            libc::sigemptyset(&raw mut set);
            libc::sigaddset(&raw mut set, signal);
            libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut());
        }
    }
    // SAFETY: a signal that this process handles, to itself.
    unsafe { libc::kill(libc::getpid(), signal) == 0 }
}

/// Signals that this process has sent itself, of what the server is to do, one bit each.
static OWN: AtomicU64 = AtomicU64::new(0);

/// Whether this signal is one of those; it is none any more.
pub(super) fn is_own_signal(signal: i32) -> bool {
    OWN.fetch_and(!(1 << signal), Relaxed) & (1 << signal) != 0
}

/// `SWOOLE_BASE`.
const BASE: i64 = 1;

/// A server that is bound.
pub(super) struct Constructed {
    kind: ServerKind,
    first: PortCore,
    /// The ports that it has besides, where systemd passed several sockets.
    others: Vec<PortCore>,
    mode: i64,
}

impl Make for Constructed {
    fn make(self, call: &Call) -> Result<(), Raise> {
        let Self { kind, first, others, mode } = self;
        let (host, port, sock_type) = (first.host(), first.port(), first.kind);
        let core = ServerCore::new(kind, first, SERVER.is_second(call.this_object()?));
        core.ports.borrow_mut().extend(others.into_iter().map(Rc::new));
        if core.second && mode == BASE {
            // There is one process in this mode, unless the program says how many.
            core.settings.borrow_mut().worker_num = 1;
            core.base.set(true);
        }
        let properties = [
            (slot::server::HOST, Value::string(host.as_bytes())?),
            (slot::server::PORT, Value::int(port)),
            (slot::server::TYPE, Value::int(sock_type)),
            (slot::server::MODE, Value::int(mode)),
            (slot::server::CONNECTIONS, connections::object(Rc::clone(&core), None)?.into()),
            (slot::server::PORTS, with_new_ports(&core, &Value::null())?),
        ];
        Made(ServerHandle(core), properties).make(call)
    }
}

fn construct_plain(host: String, port: i64, mode: i64, kind: i64) -> Result<Constructed, Raise> {
    construct(ServerKind::Raw, &host, port, mode, kind)
}

fn construct_http(host: String, port: i64, mode: i64, kind: i64) -> Result<Constructed, Raise> {
    construct(ServerKind::Http, &host, port, mode, kind)
}

/// Binds the first port, or takes those that systemd passed.
pub(super) fn construct(server: ServerKind, host: &str, port: i64, mode: i64, kind: i64) -> Result<Constructed, Raise> {
    if !address::means_passed(host, port) {
        return Ok(Constructed { kind: server, first: PortCore::bind(host, port, kind)?, others: Vec::new(), mode });
    }
    let mut others = PortCore::passed()?;
    let first = others.remove(0);
    Ok(Constructed { kind: server, first, others, mode })
}

/// What `$ports` is to hold. Objects that stand there stay: programs keep and compare them.
fn with_new_ports(core: &Rc<ServerCore>, old: &Value) -> Result<Value, Raise> {
    let mut ports = Array::new(1)?;
    let mut known = 0;
    if let View::Array(array) = old.view() {
        for (_, port) in array.iter() {
            ports.push(port.value())?;
            known += 1;
        }
    }
    for port in core.ports.borrow().iter().skip(known) {
        ports.push(port::object(Rc::clone(port), Rc::clone(core))?.into())?;
    }
    Ok(ports.into())
}

fn set(server: Me<'_, ServerHandle>, given: ArrayView<'_>) -> Result<bool, Raise> {
    server.expect_new("set()")?;
    if server.second && !has_document_root(given) {
        return Ok(false);
    }
    server.set(given)?;
    if server.second {
        let shown = merged_settings(&server.object.slot(slot::server::SETTING), given)?;
        server.object.set_slot(slot::server::SETTING, shown);
    }
    Ok(true)
}

/// Whether the folder of files that these settings name is there, if they name one; a line of the log tells where it
/// is not.
fn has_document_root(given: ArrayView<'_>) -> bool {
    let Some(View::Str(root)) = given.get("document_root") else { return true };
    let path = std::path::Path::new(std::ffi::OsStr::from_bytes(root));
    if root.is_empty() || path.is_dir() {
        return true;
    }
    apus_process::log::warning(format_args!(
        "Server::set_document_root() (ERRNO 516): document_root[{}] does not exist",
        path.display()
    ));
    false
}

/// Fills `$setting`: every setting of the table that is in force.
fn show_settings(core: &ServerCore, object: &Object) -> Result<(), Raise> {
    let settings = core.settings.borrow();
    let mut array = Array::new(64)?;
    for row in apus_options::rows() {
        if let Some(value) = settings.get(row.name) {
            array.set(row.name.as_bytes(), from_option(&value)?)?;
        }
    }
    object.set_slot(slot::server::SETTING, array.into());
    Ok(())
}

fn on(server: Me<'_, ServerHandle>, event: Event, callable: Callable) -> Result<bool, Raise> {
    server.expect_new("on()")?;
    if server.second && event.of_port() {
        // There the callbacks of ports are those of the first one.
        let ports = server.object.slot(slot::server::PORTS);
        if let View::Array(array) = ports.view()
            && let Some(View::Object(port)) = array.iter().next().map(|(_, port)| port.view())
        {
            port::show_callback(&port.share(), event, &callable);
        }
    } else if server.second {
        show_callback(&server.object, SERVER.second, event, &callable);
    }
    server.callbacks.set(event, callable);
    Ok(true)
}

/// Puts a callback into the property `$onXxx` of an object of a second declaration, where programs look for it.
pub(super) fn show_callback(object: &Object, class: Option<&Class>, event: Event, callable: &Callable) {
    let named = |class: &Class| {
        let at = class.properties.iter().position(|property| {
            property
                .name
                .to_bytes()
                .strip_prefix(b"on")
                .is_some_and(|name| name.eq_ignore_ascii_case(event.name().as_bytes()))
        })?;
        u32::try_from(at).ok()
    };
    if let Some(slot) = class.and_then(named) {
        object.set_slot(slot, callable.value());
    }
}

/// A `Socket` of ext/sockets for the options of a port, which stays the server's.
fn get_socket(core: &ServerHandle, port: i64) -> Result<Value, Raise> {
    let found = usize::try_from(port).ok().and_then(|place| core.ports.borrow().get(place).cloned());
    found.map_or(Ok(Value::bool(false)), |port| port.socket())
}

fn get_callback(core: &ServerHandle, event: Event) -> Option<Value> {
    core.callbacks.get(event).map(|callable| callable.value())
}

fn listen(server: Me<'_, ServerHandle>, host: String, port: i64, kind: i64) -> Result<OrFalse<Value>, Raise> {
    server.expect_new("listen()")?;
    add_port(&server, &server.object, PortCore::bind(&host, port, kind)?)?;
    let ports = server.object.slot(slot::server::PORTS);
    // The very object that stands in $ports.
    let last = match ports.view() {
        View::Array(array) => array.iter().last().map(|(_, value)| value.value()),
        _ => None,
    };
    Ok(OrFalse(last))
}

/// Gives the server one port more, in `$ports`, too.
pub(super) fn add_port(core: &Rc<ServerCore>, server: &Object, added: PortCore) -> Result<Rc<PortCore>, Raise> {
    let added = Rc::new(added);
    core.ports.borrow_mut().push(Rc::clone(&added));
    let ports = with_new_ports(core, &server.slot(slot::server::PORTS))?;
    server.set_slot(slot::server::PORTS, ports);
    Ok(added)
}

fn start(server: Me<'_, ServerHandle>) -> Result<bool, Raise> {
    let core = Rc::clone(&server);
    core.expect_start()?;
    if State::existing().is_some_and(|state| state.is_looping() || state.engine.live() > 0) {
        let raise = exception::throw(
            exception::code::server::STATE,
            "start() cannot be called while coroutines run: call it outside, before any",
        );
        let name = server.object.name_there().unwrap_or_default();
        let text = format!("The event-loop has already been created, unable to start {name}");
        return Err(swoole::there(raise, There::Text(text)));
    }
    config::apply(&core, &server.object)?;
    serving::check(&core)?;
    if !core.second {
        show_settings(&core, &server.object)?;
    }
    program::start(&core, server.object)?;
    Ok(true)
}

fn get_master_pid(core: &ServerHandle) -> OrFalse<i64> {
    OrFalse(info::master_pid(core))
}

fn get_worker_id(core: &ServerHandle) -> OrFalse<i64> {
    let worker = core.worker.borrow();
    OrFalse(worker.as_ref().filter(|worker| worker.role != Role::Master).map(|worker| i64::from(worker.id)))
}

/// The number of a worker; -1 means the one that asks.
pub(super) fn worker_number(given: i64, worker: &Worker) -> u16 {
    if given < 0 { worker.id } else { u16::try_from(given).unwrap_or(u16::MAX) }
}

fn get_worker_pid(core: &ServerHandle, id: i64) -> Result<OrFalse<i64>, Raise> {
    let worker = core.worker("getWorkerPid()")?;
    let slot = worker.scoreboard.worker(worker_number(id, &worker));
    Ok(OrFalse(slot.map(|slot| i64::from(slot.pid()))))
}

apus_zend::stub!("server/class");
apus_zend::stub!("server/http_server");
