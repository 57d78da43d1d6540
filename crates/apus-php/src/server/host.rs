//! `Apus\Server\Host`: requests for some names, on every port for HTTP.

use std::cell::RefCell;
use std::rc::Rc;

use apus_edge::EdgeConfig;
use apus_net::{Gate, Rate};
use apus_options::{HostSection, Settings, check_host_name};
use apus_zend::arg::Me;
use apus_zend::object::Object;
use apus_zend::value::ArrayView;
use apus_zend::{Array, Callable, Raise, Value, native};

use super::core::{Callbacks, ServerCore, ServerHandle};
use super::events::Event;
use super::port_core::{Given, refused};
use crate::{exception, files};

/// A host.
pub(super) struct HostCore {
    pub(super) names: Vec<String>,
    given: RefCell<Given>,
    pub(super) callbacks: Callbacks,
    /// What is counted on all ports together, where it has a rate limit of its own.
    rate: RefCell<Option<Rate>>,
}

/// The payload of a host's object.
pub(super) struct HostHandle(Rc<HostCore>, Rc<ServerCore>);

native!(HostHandle, "Apus\\Server\\Host");

/// What a host does on one port, settled when the server starts.
pub(super) struct HostPlan {
    pub(super) core: Rc<HostCore>,
    pub(super) settings: Settings,
    pub(super) gate: Option<Gate>,
    pub(super) edge: Option<EdgeConfig>,
    /// Which certificate it shows: those of one number are the same.
    pub(super) certificate: usize,
}

impl HostCore {
    /// The port's settings with the host's own on top.
    pub(super) fn settings(&self, of_port: &Settings) -> Result<Settings, Raise> {
        let given = self.given.borrow();
        let mut settings = of_port.clone();
        given.apply(&mut settings)?;
        // A directory of its own has no other use.
        settings.enable_static_handler |= given.has("document_root") && !given.has("enable_static_handler");
        Ok(settings)
    }

    /// Whether it has a certificate of its own.
    pub(super) fn has_certificate(&self) -> bool {
        self.given.borrow().has("ssl_cert_file")
    }

    /// What it does on a port with those settings; `Err` says what is wrong.
    pub(super) fn plan(
        self: &Rc<Self>,
        settings: Settings,
        certificate: usize,
        (port, second): (Option<&Gate>, bool),
    ) -> Result<HostPlan, String> {
        let wrong = |why: String| format!("host {}: {why}", self.names.join(", "));
        let rate = self.rate(&settings, port).map_err(wrong)?;
        let gate = files::gate_with(&settings, rate).map_err(wrong)?;
        let edge = files::plan(&settings, second).map_err(wrong)?;
        Ok(HostPlan { core: Rc::clone(self), settings, gate, edge, certificate })
    }

    /// What counts its clients' requests: its own, else the port's.
    fn rate(&self, settings: &Settings, port: Option<&Gate>) -> Result<Option<Rate>, String> {
        if !self.given.borrow().names().any(|name| name.starts_with("rate_limit")) {
            return Ok(port.and_then(Gate::rate).cloned());
        }
        if self.rate.borrow().is_none() {
            self.rate.replace(Rate::of(settings)?);
        }
        Ok(self.rate.borrow().clone())
    }

    fn add(&self, given: Given) -> Result<(), Raise> {
        let other = given.names().find(|name| apus_options::find(name).is_some_and(|row| !row.of_host()));
        if let Some(name) = other.filter(|name| *name != "package_eof") {
            return Err(refused(&format!("setting \"{name}\" is not one of hosts: use Server::set() or Port::set()")));
        }
        self.given.borrow_mut().add(given);
        Ok(())
    }
}

/// Gives the server a host.
fn add(core: &ServerCore, names: Vec<String>, given: Given) -> Result<Rc<HostCore>, Raise> {
    for (at, name) in names.iter().enumerate() {
        check_host_name(name).map_err(|why| refused(&why))?;
        let same = |other: &String| other.eq_ignore_ascii_case(name);
        if names[..at].iter().any(same) || core.hosts.borrow().iter().any(|host| host.names.iter().any(same)) {
            return Err(refused(&format!("there is a host with the name {name} already")));
        }
    }
    if names.is_empty() {
        return Err(refused("a host needs a name, such as \"www.example.org\""));
    }
    let host = Rc::new(HostCore {
        names,
        given: RefCell::default(),
        callbacks: Callbacks::default(),
        rate: RefCell::default(),
    });
    host.add(given)?;
    core.hosts.borrow_mut().push(Rc::clone(&host));
    Ok(host)
}

/// Applies a section of the configuration file: to the host that the script gave one of its names, else to a new one.
pub(super) fn configure(core: &ServerCore, section: HostSection) -> Result<(), Raise> {
    let given = Given::of_file(section.settings);
    let named = |host: &&Rc<HostCore>| {
        section.names.iter().any(|name| host.names.iter().any(|known| known.eq_ignore_ascii_case(name)))
    };
    let known = core.hosts.borrow().iter().find(named).cloned();
    match known {
        Some(host) => host.add(given),
        None => add(core, section.names, given).map(drop),
    }
}

/// `Http\Server::host()`.
pub(super) fn host(
    server: Me<'_, ServerHandle>,
    names: String,
    settings: Option<ArrayView<'_>>,
    request: Option<Callable>,
) -> Result<Value, Raise> {
    server.expect_new("host()")?;
    let names: Vec<String> =
        names.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect();
    let given = settings.map_or_else(|| Ok(Given::default()), |settings| Given::read(settings, false))?;
    let host = add(&server, names, given)?;
    if let Some(request) = request {
        host.callbacks.set(Event::Request, request);
    }
    let mut shown = Array::new(1)?;
    for name in &host.names {
        shown.push(Value::string(name.as_bytes())?)?;
    }
    let object = Object::new(HOST.named(false), HostHandle(host, Rc::clone(&server)))?;
    object.set_slot(slot::host::NAMES, shown.into());
    if let Some(settings) = settings {
        object.set_slot(slot::host::SETTING, settings.value());
    }
    Ok(object.into())
}

fn on(handle: Me<'_, HostHandle>, event: Event, callable: Callable) -> Result<bool, Raise> {
    if !matches!(event, Event::Request | Event::Handshake | Event::Open | Event::Message) {
        let text = format!(
            "the event \"{}\" is not one of hosts: they have request, handshake, open and message",
            event.name()
        );
        return Err(exception::throw(exception::code::server::EVENT, &text));
    }
    handle.1.expect_new("Host::on()")?;
    handle.0.callbacks.set(event, callable);
    Ok(true)
}

fn set(host: Me<'_, HostHandle>, given: ArrayView<'_>) -> Result<(), Raise> {
    host.1.expect_new("Host::set()")?;
    host.0.add(Given::read(given, false)?)?;
    host.object.set_slot(slot::host::SETTING, given.value());
    Ok(())
}

fn get_callback(host: &HostHandle, event: Event) -> Option<Value> {
    host.0.callbacks.get(event).map(|callable| callable.value())
}

apus_zend::stub!("server/host");
