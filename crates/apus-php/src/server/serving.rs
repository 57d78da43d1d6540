//! Each port to those who serve it: HTTP and WebSocket, streams, datagrams.

use std::io;
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::sync::Arc;

use apus_net::{Config, Control, Datagram, NotedFields, serve, serve_datagrams};
use apus_options::Settings;
use apus_process::Worker;
use apus_zend::object::Object;
use apus_zend::{Raise, engine};
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;

use super::app::PhpApp;
use super::core::ServerCore;
use super::events::Event;
use super::packet::PhpPackets;
use super::port_core::{Plan, PortCore, Protocol, refused};
use super::routing::dispatch;
use super::tcp::PhpStreams;
use crate::exception::{self};
use crate::runtime::State;
use crate::{files, mistakes};

/// Handlers of one datagram port at once where `max_concurrency` sets no limit.
const MOST_PACKETS: usize = 10_000;

/// Looks at every port before the server starts: what it was given makes sense, and somebody answers.
pub(super) fn check(core: &ServerCore) -> Result<(), Raise> {
    let ports = core.ports.borrow().clone();
    for port in &ports {
        let plan = port.settle(core)?;
        if matches!(plan.protocol, Protocol::Http { .. }) {
            mistakes::look_at_uploads(&plan.settings.upload_tmp_dir);
            files::open(&plan.settings).map_err(|why| refused(&format!("port {}: {why}", port.addr)))?;
        }
        let has = |event| core.callback(port, event).is_some();
        let (answered, what, how) = match plan.protocol {
            Protocol::Http { websocket: true } => (
                has(Event::Request) || has(Event::Message),
                "messages",
                "on('message', function ($server, $frame) { … })",
            ),
            Protocol::Http { websocket: false } => {
                (has(Event::Request), "requests", "on('request', function ($request, $response) { … })")
            }
            Protocol::Stream => (
                has(Event::Receive),
                "what clients send",
                "on('receive', function ($server, $fd, $workerId, $data) { … })",
            ),
            Protocol::Datagram => {
                (has(Event::Packet), "datagrams", "on('packet', function ($server, $data, $clientInfo) { … })")
            }
        };
        if !answered {
            let text = format!("nothing would answer {what} of port {}: call {how} before start()", port.addr);
            return Err(exception::throw(exception::code::server::EVENT, &text));
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
    let mut probe = Settings::default();
    let limit = engine::ini("memory_limit").map(apus_options::Value::Str);
    // -1 is no limit, and no size.
    match limit.map(|limit| probe.set("max_worker_memory", &limit)) {
        Some(Ok(())) if probe.max_worker_memory > 0 => {
            usize::try_from(probe.max_worker_memory / 4).unwrap_or(usize::MAX)
        }
        _ => usize::MAX,
    }
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
        Ok(match plan.protocol {
            Protocol::Http { websocket } => {
                config.websocket = websocket;
                config.gate.clone_from(&plan.gate);
                config.noted = self.worker.noted_fields().map(NotedFields::new);
                let slots = self.slots.clone();
                let server = self.server.share();
                let files =
                    files::open(&plan.settings).map_err(|why| refused(&format!("port {}: {why}", port.addr)))?;
                let before = (files, slots);
                PhpApp::new(self.state, self.worker, server, self.core, port, &plan.settings, before).map(|app| {
                    tokio::task::spawn_local(serve(app, vec![(fd, Rc::new(config))], Rc::clone(self.control)))
                })
            }
            Protocol::Stream => {
                config.stream = true;
                config.framing.clone_from(&plan.framing);
                let app = PhpStreams::new(self, port, place, &plan);
                if app.is_dispatched() {
                    dispatch::serve(place, Rc::<PhpStreams>::clone(&app));
                }
                Some(tokio::task::spawn_local(serve(app, vec![(fd, Rc::new(config))], Rc::clone(self.control))))
            }
            Protocol::Datagram => Some(self.datagrams(port, place, fd, &plan)?),
        })
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
