//! Accepting connections.

use std::cell::Cell;
use std::collections::VecDeque;
use std::io;
use std::rc::Rc;
use std::time::Duration;

use socket2::{SockAddr, Socket};
use tokio::io::unix::AsyncFd;

use crate::app::App;
use crate::arrive::{self, Awaited};
use crate::conn::{Conn, Conns, Io};
use crate::conn_task::ConnTask;
use crate::gate::ClientPlace;
use crate::info::{ConnInfo, Peer};
use crate::input::Input;
use crate::message_conn::{Carrier, MessageConn, Protocol};
use crate::message_runner;
use crate::pace::Pace;
use crate::port::Port;
use crate::sys;
use crate::wire::Wire;
use crate::worker::Worker;

/// Connections taken in one turn while few wait, so that other workers on the same socket take their share.
const BATCH: usize = 8;
/// Connections taken in one turn when more than [`MANY`] wait: all, up to so many, because a queue that overflows has
/// its clients try again after one second, and after three.
const MAX_BATCH: usize = 4096;
const MANY: usize = 64;
/// Tasks of new connections begun in one turn: the queue is looked at again before it can overflow.
const BEGIN_AT_ONCE: usize = 64;
/// The same where each begins with a handshake of TLS, which takes a hundred times what accepting does.
const HANDSHAKES_AT_ONCE: usize = 4;
/// Pause after accept failed for want of descriptors or memory: it would fail again at once.
const BACK_OFF: Duration = Duration::from_millis(100);
/// How long a worker with more connections than others leaves the next ones to them.
const GIVE_WAY: Duration = Duration::from_millis(1);
/// Milliseconds before the same trouble is told again.
const WARN_AGAIN: u64 = 60_000;
/// How often a worker without room asks whether there is some now (other workers' connections close unnoticed).
const ROOM_CHECK: Duration = Duration::from_millis(250);

/// Accepts on one socket until the worker drains.
pub(crate) async fn run<A: App>(app: Rc<A>, listener: AsyncFd<Socket>, port: Rc<Port>, conns: Rc<Conns>) {
    let worker = Rc::clone(&port.worker);
    let pace = Pace::new(if port.config.tls.is_some() { port.config.handshake_rate } else { 0 });
    let arrivals = Rc::new(Arrivals { app, port, conns, pace, awaited: Rc::default() });
    let begin_at_once = if arrivals.port.config.tls.is_some() { HANDSHAKES_AT_ONCE } else { BEGIN_AT_ONCE };
    let mut warned: Option<u64> = None;
    let mut batch = BATCH;
    let mut pending = PendingTasks(VecDeque::new());
    while !worker.is_draining() {
        let mut ready = None;
        if pending.0.is_empty() {
            let stop = worker.stop_accepting.notified();
            let readable = tokio::select! {
                biased;
                () = stop => return,
                readable = listener.readable() => readable,
            };
            let Ok(guard) = readable else { return };
            ready = Some(guard);
        }
        let accepted = arrivals.accept(listener.get_ref(), batch, &mut pending);
        pending.begin(if matches!(accepted, AcceptOutcome::Empty | AcceptOutcome::More) {
            begin_at_once
        } else {
            usize::MAX
        });
        match accepted {
            AcceptOutcome::Empty => {
                batch = BATCH;
                if let Some(mut guard) = ready {
                    guard.clear_ready();
                }
                if !pending.0.is_empty() {
                    tokio::task::yield_now().await;
                }
            }
            AcceptOutcome::More => {
                let waiting = sys::accept_queue(listener.get_ref()).unwrap_or(0);
                batch = if waiting > MANY { waiting.min(MAX_BATCH) } else { BATCH };
                tokio::task::yield_now().await;
            }
            AcceptOutcome::Full => wait_for_room(&worker).await,
            // One was taken all the same: others may be busy.
            AcceptOutcome::Crowded => tokio::time::sleep(GIVE_WAY).await,
            AcceptOutcome::Paced(wait) => {
                tokio::select! {
                    () = worker.stop_accepting.notified() => {}
                    () = tokio::time::sleep(wait) => {}
                }
            }
            AcceptOutcome::Failed(error) => {
                let now = worker.clock.now();
                if warned.is_none_or(|at| now.saturating_sub(at) >= WARN_AGAIN) {
                    warned = Some(now);
                    worker.metrics.warn(&format!(
                        "cannot accept connections: {error}; trying again every {} ms (see ulimit -n)",
                        BACK_OFF.as_millis()
                    ));
                }
                tokio::time::sleep(BACK_OFF).await;
            }
        }
    }
    pending.begin(usize::MAX);
}

/// Tasks of accepted connections that have not begun.
struct PendingTasks<A: App>(VecDeque<ConnTask<A>>);

impl<A: App> PendingTasks<A> {
    fn begin(&mut self, most: usize) {
        let count = most.min(self.0.len());
        for task in self.0.drain(..count) {
            tokio::task::spawn_local(task);
        }
    }
}

enum AcceptOutcome {
    /// The queue is empty.
    Empty,
    /// There may be more.
    More,
    /// No further connection is allowed now.
    Full,
    /// Other workers have fewer connections.
    Crowded,
    /// As many TLS connections have begun as may, until then.
    Paced(Duration),
    Failed(io::Error),
}

/// What a new connection needs.
struct Arrivals<A: App> {
    app: Rc<A>,
    port: Rc<Port>,
    conns: Rc<Conns>,
    pace: Pace,
    /// Connections of which a header of the PROXY protocol is awaited.
    awaited: Rc<Cell<usize>>,
}

/// The client's end of a new connection.
struct Arrived {
    peer: Peer,
    proxied: bool,
}

impl<A: App> Arrivals<A> {
    /// Enters a new connection, or waits first for what a proxy says of it.
    fn arrive(self: &Rc<Self>, socket: Socket, addr: &SockAddr) -> Option<ConnTask<A>> {
        let peer = Peer::from_addr(addr);
        if self.port.config.proxy_protocol && self.is_trusted(peer) {
            self.await_header(socket, peer);
            return None;
        }
        self.open(socket, Arrived { peer, proxied: false })
    }

    fn is_trusted(&self, peer: Peer) -> bool {
        self.port.config.trusted.contain(match peer {
            Peer::Tcp(address) => Some(address.ip()),
            Peer::Unix => None,
        })
    }

    #[cold]
    fn await_header(self: &Rc<Self>, socket: Socket, peer: Peer) {
        let (arrivals, awaited) = (Rc::clone(self), Awaited::new(&self.awaited));
        tokio::task::spawn_local(async move {
            let introduced = arrive::introduced(socket, arrivals.port.config.header_timeout).await;
            drop(awaited);
            // One that does not say whom it brings is nobody that could be answered.
            let Ok((socket, client)) = introduced else { return };
            let peer = client.map_or(peer, Peer::Tcp);
            if let Some(task) = arrivals.open(socket, Arrived { peer, proxied: client.is_some() }) {
                task.await;
            }
        });
    }

    fn accept(self: &Rc<Self>, listener: &Socket, most: usize, pending: &mut PendingTasks<A>) -> AcceptOutcome {
        let worker = &self.port.worker;
        worker.clock.refresh();
        for round in 0..most {
            // The metrics first: they tell the operator that the server is full.
            if most <= BATCH && round > 0 && worker.metrics.is_crowded() {
                return AcceptOutcome::Crowded;
            }
            if !worker.metrics.may_accept()
                || worker.connections() + self.awaited.get() >= self.port.config.max_connections
            {
                return AcceptOutcome::Full;
            }
            if let Err(wait) = self.pace.ask() {
                return AcceptOutcome::Paced(wait);
            }
            match listener.accept4(libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC) {
                Ok((socket, addr)) => {
                    self.pace.take();
                    pending.0.extend(self.arrive(socket, &addr));
                }
                Err(error) => match error.raw_os_error() {
                    Some(libc::EAGAIN) => return AcceptOutcome::Empty,
                    // Out of descriptors or memory: the queue stays, and stays readable.
                    Some(libc::EMFILE | libc::ENFILE | libc::ENOBUFS | libc::ENOMEM) => {
                        return AcceptOutcome::Failed(error);
                    }
                    // The connection died in the queue, or its network's error is reported here (accept(2)).
                    _ => {}
                },
            }
        }
        AcceptOutcome::More
    }

    /// A place among the connections of its client; `Err`: it has as many as it may. Those of a proxy are those of many
    /// clients.
    #[inline]
    fn place(&self, arrived: &Arrived) -> Result<Option<ClientPlace>, ()> {
        let Some(connections) = &self.port.config.client_connections else { return Ok(None) };
        match arrived.peer {
            Peer::Tcp(address) if arrived.proxied || !self.is_trusted(arrived.peer) => {
                connections.enter(address.ip()).map(Some).ok_or(())
            }
            _ => Ok(None),
        }
    }

    /// Enters a new connection; its task, where it has one of its own.
    fn open(&self, socket: Socket, arrived: Arrived) -> Option<ConnTask<A>> {
        let (port, conns) = (&self.port, &self.conns);
        let now = port.worker.clock.wall();
        let begins_plain = port.config.stream && port.config.starttls;
        let tls = port.config.tls.as_ref().filter(|_| !begins_plain);
        let Ok(place) = self.place(&arrived) else { return None };
        let id = port.worker.metrics.next_session();
        let info = Rc::new(ConnInfo::new(id, arrived.peer, port.reached(&socket), now));
        info.proxied.set(arrived.proxied);
        if let Some(place) = place {
            info.hold(place);
        }
        info.tls_begun.set(tls.is_some());
        if port.config.stream
            && let Some(keepalive) = &port.config.keepalive
        {
            // A Unix socket has no keepalive, and needs none.
            let _ = socket.set_tcp_keepalive(keepalive);
        }
        let wire = match Wire::new(socket, tls) {
            Ok(wire) => wire,
            Err(error) => {
                port.worker.metrics.refused(&info, &format!("TLS cannot begin: {error}"));
                return None;
            }
        };
        if port.config.stream {
            self.open_stream(wire, info);
            return None;
        }
        let conn = Rc::new(Conn::new(info, Rc::clone(port), Rc::clone(conns), Io::Fresh(wire)));
        conns.registry.borrow_mut().insert(conn.info.id, Rc::clone(&conn));
        port.worker.opened(&conn.info);
        self.app.on_connect(&conn.info);
        Some(ConnTask::new(Rc::clone(&self.app), conn))
    }

    /// A connection of a stream port is a message connection from the start.
    fn open_stream(&self, wire: Wire, info: Rc<ConnInfo>) {
        let (port, conns) = (&self.port, &self.conns.messages);
        let message_conn =
            MessageConn::new(info, Rc::clone(port), Rc::clone(conns), Carrier::Wire(wire), Protocol::Stream);
        let message_conn = Rc::new(message_conn);
        if port.config.delay_receive {
            message_conn.pause();
        }
        conns.registry.borrow_mut().insert(message_conn.info.id, Rc::clone(&message_conn));
        port.worker.opened(&message_conn.info);
        self.app.on_connect(&message_conn.info);
        message_runner::start(&self.app, &message_conn, Input::default());
    }
}

async fn wait_for_room(worker: &Worker) {
    tokio::select! {
        () = worker.stop_accepting.notified() => {}
        () = worker.room.notified() => {}
        () = tokio::time::sleep(ROOM_CHECK) => {}
    }
}
