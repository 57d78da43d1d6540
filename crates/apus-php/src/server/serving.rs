//! Each port to those who serve it: HTTP and WebSocket, streams, datagrams.

use std::io;
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::sync::Arc;

use apus_edge::EdgeConfig;
use apus_edge::script::Entries;
use apus_net::{Config, Control, Datagram, Host, LoggedFields, serve, serve_datagrams};
use apus_options::Settings;
use apus_process::Worker;
use apus_zend::object::Object;
use apus_zend::{Raise, engine};
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;

use super::app::{PhpApp, Site};
use super::core::ServerCore;
use super::events::Event;
use super::host::HostPlan;
use super::packet::PhpPackets;
use super::port_core::{Plan, PortCore, Protocol, refused};
use super::routing::{self, dispatch};
use super::tcp::PhpStreams;
use crate::exception::{self};
use crate::runtime::State;
use crate::serve::{self, Dispatcher, Members, Refresh, Scripted, ServeApp};
use crate::swoole::{self, There};
use crate::{files, mistakes};

/// Handlers of one datagram port at once where `max_concurrency` sets no limit.
const MOST_PACKETS: usize = 10_000;

/// Looks at every port before the server starts: what it was given makes sense, and somebody answers.
pub(super) fn check(core: &ServerCore) -> Result<(), Raise> {
    let scripts = core.settings.borrow().script_processes > 0;
    if scripts && !apus_zend::sapi::is_wanted() {
        return Err(refused("script_processes: scripts are served by `apus serve`, which starts PHP for that"));
    }
    let ports = core.ports.borrow().clone();
    for port in &ports {
        let plan = port.settle(core)?;
        if matches!(plan.protocol, Protocol::Http { .. }) {
            mistakes::look_at_uploads(&plan.settings.upload_tmp_dir);
            let edges = plan.hosts.iter().map(|host| host.edge.as_ref()).chain([plan.edge.as_ref()]);
            for edge in edges {
                files::open(edge).map_err(|why| refused(&format!("port {}: {why}", port.addr)))?;
            }
            if scripts {
                for host in plan.hosts.iter().map(Some).chain([None]) {
                    entries(core, &plan, host)
                        .and_then(|entries| check_entries(&entries).map(|()| entries))
                        .and_then(|entries| scripted(&plan, host, &entries))
                        .map_err(|why| refused(&format!("port {}: {why}", port.addr)))?;
                }
                continue;
            }
        }
        let has = |event| core.callback(port, event).is_some();
        let (answered, what, how, there) = match plan.protocol {
            Protocol::Http { websocket: true } => (
                has(Event::Request) || has(Event::Message),
                "messages",
                "on('message', function ($server, $frame) { … })",
                "onMessage",
            ),
            Protocol::Http { websocket: false } => {
                (has(Event::Request), "requests", "on('request', function ($request, $response) { … })", "onRequest")
            }
            Protocol::Stream => (
                has(Event::Receive),
                "what clients send",
                "on('receive', function ($server, $fd, $workerId, $data) { … })",
                "onReceive",
            ),
            Protocol::Datagram => (
                has(Event::Packet),
                "datagrams",
                "on('packet', function ($server, $data, $clientInfo) { … })",
                "onPacket",
            ),
        };
        let answers = |edge: &Option<EdgeConfig>| edge.as_ref().is_some_and(EdgeConfig::answers);
        let by_itself = answers(&plan.edge) || !plan.hosts.is_empty();
        if !answered && !by_itself {
            let text = format!("nothing would answer {what} of port {}: call {how} before start()", port.addr);
            let raise = exception::throw(exception::code::server::EVENT, &text);
            let said = There::Error(swoole::error_class(), format!("require {there} callback"));
            return Err(swoole::there(raise, said));
        }
    }
    core.tls.prepare(core)?;
    core.tell_of_others();
    let settings = core.settings.borrow();
    if !settings.task_use_object && !settings.task_enable_coroutine {
        let _ = core.callbacks.get(Event::Task).map(|callback| mistakes::look_at_task_callback(&callback));
    }
    drop(settings);
    Ok(())
}

/// The part of PHP's `memory_limit` that messages may take while handlers wait: a quarter, because most handlers make
/// more of a message than they were given.
fn memory_share() -> usize {
    // -1 is no limit, and no size.
    let limit = engine::ini("memory_limit").and_then(bytes_of).filter(|limit| *limit > 0);
    limit.map_or(usize::MAX, |limit| usize::try_from(limit / 4).unwrap_or(usize::MAX))
}

/// Bytes that an entry of php.ini says.
fn bytes_of(entry: String) -> Option<u64> {
    let mut probe = Settings::default();
    let taken = probe.set("max_worker_memory", &apus_options::Value::Str(entry));
    taken.ok().map(|()| probe.max_worker_memory)
}

/// The entries of php.ini of a port's scripts, or of a host's there.
fn entries(core: &ServerCore, plan: &Plan, host: Option<&HostPlan>) -> Result<Entries, String> {
    Entries::of([&*core.settings.borrow(), &plan.settings].into_iter().chain(host.map(|host| &host.settings)))
}

/// Whether PHP has all of them.
fn check_entries(entries: &Entries) -> Result<(), String> {
    entries.names().find(|(_, name)| !apus_zend::sapi::has_entry(name)).map_or(Ok(()), |(setting, name)| {
        Err(format!("{setting}: PHP has no entry {name}; it may be one of a module that is not loaded"))
    })
}

/// What of `apus serve` answers a port, or a host there.
fn scripted(plan: &Plan, host: Option<&HostPlan>, entries: &Entries) -> Result<Scripted, String> {
    Scripted::open(host.map_or(&plan.settings, |host| &host.settings), entries)
}

/// Whether a port, or one of its hosts, takes WebSockets for pages.
fn takes_websockets(plan: &Plan) -> bool {
    let hosts = plan.hosts.iter().map(|host| &host.settings);
    hosts.chain([&plan.settings]).any(serve::takes_websockets)
}

/// Whether pages of any port can send to WebSockets.
pub(super) fn any_takes_websockets(core: &ServerCore) -> bool {
    let ports = core.ports.borrow().clone();
    ports.iter().any(|port| port.plan(core).is_ok_and(|plan| takes_websockets(&plan)))
}

/// Users and topics are the routing's.
struct Names;

impl Members for Names {
    fn admit(&self, fd: i64, user: Option<&[u8]>, topics: &[Vec<u8>]) {
        routing::admit(fd, user, topics);
    }
}

/// What answers a port and its hosts with scripts.
fn scripts(
    core: &ServerCore,
    port: &PortCore,
    plan: &Plan,
    dispatcher: &Rc<Dispatcher>,
    refresh: Option<Rc<Refresh>>,
) -> Result<Rc<ServeApp>, Raise> {
    let open = |host| scripted(plan, host, &entries(core, plan, host)?);
    let all = std::iter::once(None).chain(plan.hosts.iter().map(Some)).map(open);
    let sites = all.collect::<Result<_, _>>().map_err(|why| refused(&format!("port {}: {why}", port.addr)))?;
    Ok(ServeApp::new(sites, Rc::clone(dispatcher), refresh, Rc::new(Names)))
}

/// What all ports of a worker share.
pub(super) struct Serving<'a> {
    pub(super) core: &'a Rc<ServerCore>,
    pub(super) state: &'a Rc<State>,
    pub(super) worker: &'a Rc<Worker>,
    pub(super) control: &'a Rc<Control>,
    pub(super) server: &'a Object,
    /// The setting `max_concurrency`, where it limits anything.
    pub(super) slots: Option<Arc<Semaphore>>,
    /// The processes that run scripts, where there are any.
    pub(super) dispatcher: Option<Rc<Dispatcher>>,
}

impl Serving<'_> {
    /// Serves a port, which stands at `place` among the server's, until the worker drains. `None`: nothing would answer
    /// it.
    pub(super) fn port(
        &self,
        port: &Rc<PortCore>,
        place: usize,
        fd: OwnedFd,
    ) -> Result<Option<JoinHandle<io::Result<()>>>, Raise> {
        let plan = port.plan(self.core)?;
        let mut config = Config::from(&plan.settings);
        config.max_pending = config.max_pending.min(memory_share());
        config.tls = plan.tls.as_ref().map(|tls| self.core.tls.of_port(tls)).transpose()?;
        config.client_connections = plan.connections.as_ref().map(|all| all.counted_by(self.worker.slot_index()));
        Ok(match plan.protocol {
            Protocol::Http { websocket } => {
                config.websocket = websocket || self.dispatcher.is_some() && takes_websockets(&plan);
                if self.core.second {
                    super::second_fields(&mut config);
                }
                config.gate.clone_from(&plan.gate);
                config.noted = self.logged_fields(0);
                config.hosts =
                    plan.hosts.iter().zip(1..).map(|(host, number)| self.host(host, number, &config)).collect();
                if let Some(dispatcher) = &self.dispatcher {
                    let refresh = self.core.settings.borrow().script_refresh;
                    let refresh = refresh.then(|| Refresh::new(self.worker, self.control));
                    let app = scripts(self.core, port, &plan, dispatcher, refresh)?;
                    self.take_bodies_as_they_are(&plan, &mut config);
                    let served = serve(app, vec![(fd, Rc::new(config))], Rc::clone(self.control));
                    return Ok(Some(tokio::task::spawn_local(served)));
                }
                let app = self.app(port, &plan)?;
                Some(tokio::task::spawn_local(serve(app, vec![(fd, Rc::new(config))], Rc::clone(self.control))))
            }
            Protocol::Stream => {
                config.stream = true;
                config.framing.clone_from(&plan.framing);
                config.lenient = self.core.second;
                let app = PhpStreams::new(self, port, place, &plan);
                if app.is_dispatched() {
                    dispatch::serve(place, Rc::<PhpStreams>::clone(&app));
                }
                Some(tokio::task::spawn_local(serve(app, vec![(fd, Rc::new(config))], Rc::clone(self.control))))
            }
            Protocol::Datagram => Some(self.datagrams(port, place, fd, &plan)?),
        })
    }

    /// PHP reads the bodies of its scripts' requests itself, and has a limit of its own.
    fn take_bodies_as_they_are(&self, plan: &Plan, config: &mut Config) {
        let whole = engine::ini("post_max_size").and_then(bytes_of);
        let most = |host: Option<&HostPlan>| {
            let own = entries(self.core, plan, host).ok().and_then(|all| all.get("post_max_size").map(str::to_owned));
            own.and_then(bytes_of).or(whole).unwrap_or_default()
        };
        config.max_body = config.max_body.max(most(None));
        (config.parse_multipart, config.stream_body) = (false, false);
        for (host, plan_of_host) in config.hosts.iter_mut().zip(&plan.hosts) {
            host.config.max_body = host.config.max_body.max(most(Some(plan_of_host)));
            (host.config.parse_multipart, host.config.stream_body) = (false, false);
        }
    }

    /// What the access log of a host wants; 0 is what is none's.
    fn logged_fields(&self, host: u16) -> Option<LoggedFields> {
        self.worker.logged_fields(host).map(|(names, trace)| LoggedFields::new(names, trace))
    }

    /// A host with what it has from its port.
    fn host(&self, plan: &HostPlan, number: u16, port: &Config) -> Host {
        let mut config = Config::from(&plan.settings);
        if self.core.second {
            super::second_fields(&mut config);
        }
        config.max_pending = port.max_pending;
        config.tls.clone_from(&port.tls);
        config.websocket = port.websocket;
        config.gate.clone_from(&plan.gate);
        config.noted = self.logged_fields(number);
        let demands = plan.settings.ssl_verify_peer;
        Host { names: plan.core.names.clone(), config, certificate: plan.certificate, demands }
    }

    /// What answers a port and its hosts.
    fn app(&self, port: &PortCore, plan: &Plan) -> Result<Rc<PhpApp>, Raise> {
        let edge = |edge: Option<&EdgeConfig>, settings| {
            files::open_now(edge, settings).map_err(|why| refused(&format!("port {}: {why}", port.addr)))
        };
        let mut hosts = Vec::with_capacity(plan.hosts.len());
        for host in &plan.hosts {
            let edge = edge(host.edge.as_ref(), &host.settings)?;
            let site = Site { port, host: Some(&host.core), settings: &host.settings, edge };
            hosts.push(PhpApp::new(self, site, Vec::new()));
        }
        let settings = &plan.settings;
        let site = Site { port, host: None, settings, edge: edge(plan.edge.as_ref(), settings)? };
        Ok(PhpApp::new(self, site, hosts))
    }

    fn datagrams(
        &self,
        port: &Rc<PortCore>,
        place: usize,
        fd: OwnedFd,
        plan: &Plan,
    ) -> Result<JoinHandle<io::Result<()>>, Raise> {
        let most = match plan.settings.max_concurrency {
            0 => MOST_PACKETS,
            most => most as usize,
        };
        let bound = socket2::SockRef::from(&fd);
        // Hints: the kernel has a limit of its own.
        if plan.settings.kernel_socket_recv_buffer_size > 0 {
            let _ = bound.set_recv_buffer_size(plan.settings.kernel_socket_recv_buffer_size);
        }
        if plan.settings.kernel_socket_send_buffer_size > 0 {
            let _ = bound.set_send_buffer_size(plan.settings.kernel_socket_send_buffer_size);
        }
        let socket = Datagram::new(fd, most, self.control)
            .map_err(|error| engine::throw_error(&format!("receiving at {} failed: {error}", port.addr)))?;
        self.core.datagrams.borrow_mut().push((place, Rc::clone(&socket)));
        let app = PhpPackets::new(self, port, place, socket.local().port(), plan);
        if app.is_dispatched() {
            dispatch::serve(place, Rc::<PhpPackets>::clone(&app));
        }
        Ok(tokio::task::spawn_local(async move {
            serve_datagrams(app, socket).await;
            Ok(())
        }))
    }
}
