//! `Apus\Server\Port`.

use std::rc::Rc;

use apus_zend::arg::{Given, Me, Want};
use apus_zend::object::Object;
use apus_zend::value::ArrayView;
use apus_zend::{Callable, Raise, Value};

use super::core::ServerCore;
use super::events::Event;
use super::port_core::{PortCore, PortHandle};
use super::{class, connections};
use crate::exception::{self};

/// The object of a port.
pub(super) fn object(core: Rc<PortCore>, server: Rc<ServerCore>) -> Result<Object, Raise> {
    let (host, port, kind) = (core.host(), core.port(), core.kind);
    let second = server.second;
    let connections = if second { Some(connections::object(Rc::clone(&server), Some(port))?) } else { None };
    let object = Object::new(PORT.named(second), PortHandle(core, server))?;
    if let (Some(connections), Some(slot)) = (connections, PORT.second.and_then(|class| class.slot("connections"))) {
        object.set_slot(slot, connections.into());
    }
    object.set_slot(slot::port::HOST, Value::string(host.as_bytes())?);
    object.set_slot(slot::port::PORT, Value::int(port));
    object.set_slot(slot::port::TYPE, Value::int(kind));
    Ok(object)
}

/// The event that `on()` was given.
impl Want<&[u8]> for Event {
    fn want(given: Given<&[u8]>) -> Result<Self, Raise> {
        let name = String::from_utf8_lossy(given.value);
        Self::parse(&name).map_err(|why| exception::throw(exception::code::server::EVENT, &why))
    }
}

/// Puts a callback into the property `$onXxx`, where programs written for Swoole look for it.
pub(super) fn show_callback(port: &Object, event: Event, callable: &Callable) {
    class::show_callback(port, PORT.second, event, callable);
}

fn on(handle: Me<'_, PortHandle>, event: Event, callable: Callable) -> Result<bool, Raise> {
    if !event.of_port() {
        let text = format!("the event \"{}\" belongs to the server, not to one port", event.name());
        return Err(exception::throw(exception::code::server::EVENT, &text));
    }
    handle.1.expect_new("Port::on()")?;
    if handle.1.second {
        show_callback(&handle.object, event, &callable);
    }
    handle.0.callbacks.set(event, callable);
    Ok(true)
}

fn set(port: Me<'_, PortHandle>, given: ArrayView<'_>) -> Result<(), Raise> {
    port.1.expect_new("Port::set()")?;
    port.0.set(given, port.1.second)?;
    port.object.set_slot(slot::port::SETTING, given.value());
    Ok(())
}

/// A `Socket` of ext/sockets for the options of the port, which stays the server's.
fn get_socket(port: &PortHandle) -> Result<Value, Raise> {
    port.0.socket()
}

fn get_callback(port: &PortHandle, event: Event) -> Option<Value> {
    port.0.callbacks.get(event).map(|callable| callable.value())
}

apus_zend::stub!("server/port");
