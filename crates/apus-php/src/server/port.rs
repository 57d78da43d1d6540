//! `Apus\Server\Port`.

use std::rc::Rc;

use apus_zend::class::{Class, Method, Property};
use apus_zend::object::Object;
use apus_zend::{Call, Raise, Value, handler};

use super::core::ServerCore;
use super::events::Event;
use super::port_core::{PortCore, PortHandle};
use crate::exception::{self, SERVER, entry};

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
    Event::parse(&call.text(0)?).map_err(|why| exception::throw(&SERVER, "EVENT", &why))
}

fn on(call: &Call) -> Result<(), Raise> {
    call.expect(2, 2)?;
    let event = event(call)?;
    let handle = call.this::<PortHandle>()?;
    if !event.of_port() {
        let text = format!("the event \"{}\" belongs to the server, not to one port", event.name());
        return Err(exception::throw(&SERVER, "EVENT", &text));
    }
    handle.1.expect_new("Port::on()")?;
    handle.0.callbacks.set(event, call.callable(1)?);
    call.ret(true)
}

fn set(call: &Call) -> Result<(), Raise> {
    call.expect(1, 1)?;
    let given = call.opt_array(0)?.ok_or_else(|| call.type_error(0, "of type array"))?;
    let handle = call.this::<PortHandle>()?;
    handle.1.expect_new("Port::set()")?;
    handle.0.set(given)?;
    // SAFETY: $this is alive during the call.
    let object = unsafe { Object::share_raw(call.this_object()?) };
    object.set_slot(SETTING, call.value(0));
    Ok(())
}

fn get_callback(call: &Call) -> Result<(), Raise> {
    call.expect(1, 1)?;
    let event = event(call)?;
    match call.this::<PortHandle>()?.0.callbacks.get(event) {
        Some(callable) => call.ret(callable.value()),
        None => call.ret(Value::null()),
    }
}

/// `Apus\Server\Port`.
pub(super) static PORT: Class = Class {
    name: "Apus\\Server\\Port",
    modifiers: "final",
    extends: "",
    implements: &[],
    doc: "One address that a server listens on. Settings and callbacks that it does not have are the server's.\n@since 0.1.0",
    constants: &[],
    properties: &[
        Property { decl: "public string $host = ''", doc: "The address, or the path of a Unix socket." },
        Property { decl: "public int $port = 0", doc: "The port; the real one where 0 was asked for." },
        Property { decl: "public int $type = 0", doc: "The kind of socket, such as Apus\\SOCK_TCP." },
        Property { decl: "public ?array $setting = null", doc: "What set() was given." },
    ],
    methods: &[
        Method {
            decl: "public function set(array $settings): void",
            doc: "Settings of this port, in place of the server's: see docs/options.md, scope \"port\". A port that is given a framing\n\
                  (open_length_check, open_eof_split, …) or open_http_protocol => false is one of raw streams, and has none of the\n\
                  server's framings.\n\
                  @throws \\Apus\\Server\\Exception OPTION, STATE (after start())\nDoes not wait.\n@since 0.1.0",
            handler: Some(handler!(set)),
        },
        Method {
            decl: "public function on(string $event, callable $callback): bool",
            doc: "A callback of this port, in place of the server's: connect, receive, packet, bufferfull, bufferempty, close,\n\
                  request, handshake, open, message or disconnect. A port with receive and without request is one of raw streams.\n\
                  @throws \\Apus\\Server\\Exception EVENT, STATE (after start())\nDoes not wait.\n@since 0.1.0",
            handler: Some(handler!(on)),
        },
        Method {
            decl: "public function getCallback(string $event): mixed",
            doc: "The port's own callback for an event, or null.\nDoes not wait.\n@since 0.1.0",
            handler: Some(handler!(get_callback)),
        },
    ],
    native: true,
    lazy: None,
    entry: entry!(),
};
