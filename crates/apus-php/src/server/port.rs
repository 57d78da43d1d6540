//! `Apus\Server\Port`.

use std::rc::Rc;

use apus_zend::arg::{Given, Me, Want};
use apus_zend::object::Object;
use apus_zend::value::ArrayView;
use apus_zend::{Callable, Raise, Value};

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
impl Want<&[u8]> for Event {
    fn want(given: Given<&[u8]>) -> Result<Self, Raise> {
        let name = String::from_utf8_lossy(given.value);
        Self::parse(&name).map_err(|why| exception::throw(exception::code::server::EVENT, &why))
    }
}

fn on(handle: &PortHandle, event: Event, callable: Callable) -> Result<bool, Raise> {
    if !event.of_port() {
        let text = format!("the event \"{}\" belongs to the server, not to one port", event.name());
        return Err(exception::throw(exception::code::server::EVENT, &text));
    }
    handle.1.expect_new("Port::on()")?;
    handle.0.callbacks.set(event, callable);
    Ok(true)
}

fn set(port: Me<'_, PortHandle>, given: ArrayView<'_>) -> Result<(), Raise> {
    port.1.expect_new("Port::set()")?;
    port.0.set(given)?;
    port.object.set_slot(SETTING, given.value());
    Ok(())
}

fn get_callback(port: &PortHandle, event: Event) -> Option<Value> {
    port.0.callbacks.get(event).map(|callable| callable.value())
}

apus_zend::stub!("server/port");
