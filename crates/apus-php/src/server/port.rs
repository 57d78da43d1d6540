//! `Apus\Server\Port`.

use std::rc::Rc;

use apus_zend::object::Object;
use apus_zend::{Call, Raise, Value};

use super::core::ServerCore;
use super::events::Event;
use super::port_core::{PortCore, PortHandle};
use crate::exception::{self};

const HOST: u32 = 0;
const PORT_SLOT: u32 = 1;
const TYPE: u32 = 2;
const SETTING: u32 = 3;

/// The object of a port.
pub(super) fn object(core: Rc<PortCore>, server: Rc<ServerCore>) -> Result<Object, Raise> {
    let (host, port, kind) = (core.host(), core.port(), core.kind);
    let object = Object::new(PORT.get(), PortHandle(core, server))?;
    object.set_slot(HOST, Value::string(host.as_bytes())?);
    object.set_slot(PORT_SLOT, Value::int(port));
    object.set_slot(TYPE, Value::int(kind));
    Ok(object)
}

/// The event that `on()` was given.
pub(super) fn event(call: &Call) -> Result<Event, Raise> {
    Event::parse(&call.text(0)?).map_err(|why| exception::throw(exception::code::server::EVENT, &why))
}

fn on(call: &Call) -> Result<(), Raise> {
    let event = event(call)?;
    let handle = call.this::<PortHandle>()?;
    if !event.of_port() {
        let text = format!("the event \"{}\" belongs to the server, not to one port", event.name());
        return Err(exception::throw(exception::code::server::EVENT, &text));
    }
    handle.1.expect_new("Port::on()")?;
    handle.0.callbacks.set(event, call.callable(1)?);
    call.ret(true)
}

fn set(call: &Call) -> Result<(), Raise> {
    let given = call.opt_array(0)?.ok_or_else(|| call.type_error(0, "of type array"))?;
    let handle = call.this::<PortHandle>()?;
    handle.1.expect_new("Port::set()")?;
    handle.0.set(given)?;
    let object = call.object()?;
    object.set_slot(SETTING, call.value(0));
    Ok(())
}

fn get_callback(call: &Call) -> Result<(), Raise> {
    let event = event(call)?;
    match call.this::<PortHandle>()?.0.callbacks.get(event) {
        Some(callable) => call.ret(callable.value()),
        None => call.ret(Value::null()),
    }
}

apus_zend::stub!("server/port");
