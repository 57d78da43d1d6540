//! `Apus\Server` and `Apus\Http\Server`.

use std::rc::Rc;

use apus_zend::object::Object;
use apus_zend::{Array, Call, Raise, Value};

use super::core::{Phase, ServerCore, ServerHandle, ServerKind};
use super::events::Event;
use super::port_core::PortCore;
use super::{address, connections, info, port, program, serving};
use crate::convert::from_option;
use crate::exception::{self};
use crate::runtime::State;

/// Where the properties stand, in the order of their declarations.
pub(super) mod slot {
    pub(in crate::server) const SETTING: u32 = 0;
    pub(in crate::server) const CONNECTIONS: u32 = 1;
    pub(in crate::server) const HOST: u32 = 2;
    pub(in crate::server) const PORT: u32 = 3;
    pub(in crate::server) const TYPE: u32 = 4;
    pub(in crate::server) const MODE: u32 = 5;
    pub(in crate::server) const PORTS: u32 = 6;
    pub(in crate::server) const MASTER_PID: u32 = 7;
    pub(in crate::server) const MANAGER_PID: u32 = 8;
    pub(in crate::server) const WORKER_ID: u32 = 9;
    pub(in crate::server) const TASKWORKER: u32 = 10;
    pub(in crate::server) const WORKER_PID: u32 = 11;
}

fn this_object(call: &Call) -> Result<Object, Raise> {
    call.object()
}

/// Sends a signal to this very process.
pub(super) fn signal_self(signal: i32) -> bool {
    // SAFETY: a signal that this process handles, to itself.
    unsafe { libc::kill(libc::getpid(), signal) == 0 }
}

fn construct_plain(call: &Call) -> Result<(), Raise> {
    construct(call, ServerKind::Raw)
}

fn construct_http(call: &Call) -> Result<(), Raise> {
    construct(call, ServerKind::Http)
}

/// Binds the first port.
pub(super) fn construct(call: &Call, server: ServerKind) -> Result<(), Raise> {
    call.expect(0, 4)?;
    let host = if call.count() > 0 { call.text(0)? } else { "0.0.0.0".to_owned() };
    let (port_number, mode, kind) = (call.int(1, 0)?, call.int(2, 1)?, call.int(3, address::SOCK_TCP)?);
    let first = PortCore::bind(&host, port_number, kind)?;
    let (host, port_number) = (first.host(), first.port());
    let core = ServerCore::new(server, first);
    call.construct(ServerHandle(Rc::clone(&core)))?;
    let object = this_object(call)?;
    object.set_slot(slot::HOST, Value::string(host.as_bytes())?);
    object.set_slot(slot::PORT, Value::int(port_number));
    object.set_slot(slot::TYPE, Value::int(kind));
    object.set_slot(slot::MODE, Value::int(mode));
    object.set_slot(slot::CONNECTIONS, connections::object(Rc::clone(&core))?.into());
    refresh_ports(&core, &object)
}

/// Fills `$ports`. Objects that stand there stay: programs keep and compare them.
fn refresh_ports(core: &Rc<ServerCore>, object: &Object) -> Result<(), Raise> {
    let old = object.slot(slot::PORTS);
    let mut ports = Array::new(1)?;
    let mut known = 0;
    if let apus_zend::value::View::Array(array) = old.view() {
        for (_, port) in array.iter() {
            ports.push(port.value())?;
            known += 1;
        }
    }
    for port in core.ports.borrow().iter().skip(known) {
        ports.push(port::object(Rc::clone(port), Rc::clone(core))?.into())?;
    }
    object.set_slot(slot::PORTS, ports.into());
    Ok(())
}

fn set(call: &Call) -> Result<(), Raise> {
    let given = call.opt_array(0)?.ok_or_else(|| call.type_error(0, "of type array"))?;
    let core = &call.this::<ServerHandle>()?.0;
    core.expect_new("set()")?;
    core.set(given)?;
    call.ret(true)
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
    object.set_slot(slot::SETTING, array.into());
    Ok(())
}

fn on(call: &Call) -> Result<(), Raise> {
    let event: Event = port::event(call)?;
    let core = &call.this::<ServerHandle>()?.0;
    core.expect_new("on()")?;
    core.callbacks.set(event, call.callable(1)?);
    call.ret(true)
}

fn get_callback(call: &Call) -> Result<(), Raise> {
    let event = port::event(call)?;
    match call.this::<ServerHandle>()?.0.callbacks.get(event) {
        Some(callable) => call.ret(callable.value()),
        None => call.ret(Value::null()),
    }
}

fn listen(call: &Call) -> Result<(), Raise> {
    let core = &call.this::<ServerHandle>()?.0;
    core.expect_new("listen()")?;
    let added = Rc::new(PortCore::bind(&call.text(0)?, call.int(1, 0)?, call.int(2, address::SOCK_TCP)?)?);
    core.ports.borrow_mut().push(added);
    let object = this_object(call)?;
    refresh_ports(core, &object)?;
    // The very object that stands in $ports.
    let ports = object.slot(slot::PORTS);
    let last = match ports.view() {
        apus_zend::value::View::Array(array) => array.iter().last().map(|(_, value)| value),
        _ => None,
    };
    match last {
        Some(value) => call.ret(value.value()),
        None => call.ret(false),
    }
}

fn start(call: &Call) -> Result<(), Raise> {
    let core = Rc::clone(&call.this::<ServerHandle>()?.0);
    core.expect_start()?;
    if State::existing().is_some_and(|state| state.is_looping() || state.engine.live() > 0) {
        return Err(exception::throw(
            exception::code::server::STATE,
            "start() cannot be called while coroutines run: call it outside, before any",
        ));
    }
    serving::check(&core)?;
    let object = this_object(call)?;
    show_settings(&core, &object)?;
    program::start(&core, object)?;
    call.ret(true)
}

fn number(call: &Call, of: impl Fn(&ServerCore) -> Option<i64>) -> Result<(), Raise> {
    call.expect(0, 0)?;
    match of(&call.this::<ServerHandle>()?.0) {
        Some(value) => call.ret(value),
        None => call.ret(false),
    }
}

fn master_pid(core: &ServerCore) -> Option<i64> {
    match core.phase.get() {
        Phase::Master => Some(i64::from(std::process::id())),
        _ => core.worker.borrow().as_ref().map(|worker| i64::from(worker.master_pid)),
    }
}

fn get_master_pid(call: &Call) -> Result<(), Raise> {
    number(call, master_pid)
}

fn get_worker_id(call: &Call) -> Result<(), Raise> {
    number(call, |core| core.worker.borrow().as_ref().map(|worker| i64::from(worker.id)))
}

fn get_worker_pid(call: &Call) -> Result<(), Raise> {
    let id = call.int(0, -1)?;
    let worker = call.this::<ServerHandle>()?.0.worker("getWorkerPid()")?;
    let id = if id < 0 { worker.id } else { u16::try_from(id).unwrap_or(u16::MAX) };
    match worker.scoreboard.worker(id) {
        Some(slot) => call.ret(i64::from(slot.pid())),
        None => call.ret(false),
    }
}

apus_zend::stub!("server/class");
apus_zend::stub!("server/http_server");
