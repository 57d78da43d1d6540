//! Accepting connections.

use std::cell::Cell;
use std::collections::VecDeque;
use std::io;
use std::rc::Rc;
use std::time::Duration;

use socket2::{SockAddr, Socket};
use tokio::io::unix::AsyncFdReadyGuard;

use crate::app::App;
use crate::arrive::{self, Awaited};
use crate::conn::{Conn, Conns};
use crate::conn_task::ConnTask;
use crate::gate::ClientPlace;
use crate::info::{ConnInfo, Peer};
use crate::input::Input;
use crate::message_conn::{Carrier, MessageConn, Protocol};
use crate::message_runner;
use crate::pace::Pace;
use crate::port::Port;
use crate::shared::SharedSocket;
use crate::sys;
use crate::wire::Wire;
use crate::worker::{Accepting, Worker};

/// Connections taken in one turn while few wait: what the others do not have in hand is left to other workers, should
/// the first one's handler keep this worker busy.
const FEW: usize = 1;
/// Turns in a row with a connection each after which the queue is looked at.
const STREAK: u32 = 8;
/// Connections taken in one turn when more than [`MANY`] wait: this worker's part, up to so many, because a queue that
/// overflows has its clients try again after one second, and after three.
const MAX_BATCH: usize = 4096;
const MANY: usize = 64;
/// What is taken for the length of a queue that is not known.
const UNTOLD: usize = 8;
/// Tasks of new connections begun in one turn: the queue is looked at again before it can overflow.
const BEGIN_AT_ONCE: usize = 64;
/// The same where each begins with a handshake of TLS, which takes a hundred times what accepting does.
const HANDSHAKES_AT_ONCE: usize = 4;
/// Pause after accept failed for want of descriptors or memory: it would fail again at once.
const BACK_OFF: Duration = Duration::from_millis(100);
/// How long a worker with clearly more connections than others leaves those that wait to them.
const GIVE_WAY: Duration = Duration::from_millis(1);
/// Times in a row that it does so while more than [`MANY`] wait: then the others seem to be blocked, and it takes all.
const TRIES: u32 = 4;
/// Milliseconds before the same trouble is told again.
const WARN_AGAIN: u64 = 60_000;
/// How often a worker without room asks whether there is some now (other workers' connections close unnoticed).
const ROOM_CHECK: Duration = Duration::from_millis(250);

/// Accepts on one socket until the worker drains.
pub(crate) async fn run<A: App>(app: Rc<A>, listener: SharedSocket, port: Rc<Port>, conns: Rc<Conns>) {
    let worker = Rc::clone(&port.worker);
    let _accepting = Accepting::new(&worker);
    let pace = Pace::new(if port.config.tls.is_some() { port.config.handshake_rate } else { 0 });
    let arrivals = Rc::new(Arrivals { app, port, conns, pace, awaited: Rc::default() });
    let begin_at_once = if arrivals.port.config.tls.is_some() { HANDSHAKES_AT_ONCE } else { BEGIN_AT_ONCE };
    let mut turns = Turns::default();
    let mut pending = PendingTasks(VecDeque::new());
    while !worker.is_draining() {
        let mut ready = None;
        if pending.0.is_empty() {
            let stop = worker.stop_accepting.notified();
            let readable = tokio::select! {
                biased;
                () = stop => break,
                readable = listener.readable() => readable,
            };
            let Ok(guard) = readable else { return };
            ready = Some(guard);
        }
        let accepted = arrivals.accept(listener.socket(), turns.batch, &mut pending);
        let goes_on = matches!(accepted, AcceptOutcome::Empty | AcceptOutcome::More);
        pending.begin(if goes_on { begin_at_once } else { usize::MAX });
        if listener.is_told_again() || matches!(accepted, AcceptOutcome::Empty) {
            ready.iter_mut().for_each(AsyncFdReadyGuard::clear_ready);
        }
        let noted = turns.note(&accepted, &listener, &worker);
        let accepted = noted.map_or_else(AcceptOutcome::Failed, |()| accepted);
        let at_once = listener.is_told_again() && pending.0.is_empty();
        match accepted {
            AcceptOutcome::Empty | AcceptOutcome::More if !turns.crowded => {
                // The others have their turn; where the kernel tells again, it is asked first in any case.
                if !at_once {
                    tokio::task::yield_now().await;
                }
            }
            hindered => arrivals.pause(hindered, &listener, &mut turns).await,
        }
    }
    // This worker may be the one that was told of a connection: nobody else was.
    let _ = arrivals.accept(listener.socket(), FEW, &mut pending);
    pending.begin(usize::MAX);
}

/// How accepting has gone lately.
struct Turns {
    /// Connections to take in the next turn.
    batch: usize,
    /// Turns in a row that left something in the queue, perhaps.
    streak: u32,
    /// Connections since this worker went behind the others.
    taken: u32,
    /// Others are to take what waits.
    crowded: bool,
    /// Turns in a row that were so.
    gave_way: u32,
    /// When trouble was last told.
    warned: Option<u64>,
}

impl Default for Turns {
    fn default() -> Self {
        Self { batch: FEW, streak: 0, taken: 0, crowded: false, gave_way: 0, warned: None }
    }
}

impl Turns {
    /// Settles how many connections the next turn takes, and who is told of the next one first.
    fn note(&mut self, accepted: &AcceptOutcome, listener: &SharedSocket, worker: &Worker) -> io::Result<()> {
        (self.batch, self.crowded) = (FEW, false);
        if !matches!(accepted, AcceptOutcome::More) {
            self.streak = 0;
            return Ok(());
        }
        self.streak += 1;
        self.taken += 1;
        let standing = worker.metrics.standing();
        let many = self.streak > STREAK;
        if many || standing.is_far_ahead() {
            // A Unix socket does not tell.
            let told = sys::accept_queue(listener.socket()).ok();
            let waiting = told.unwrap_or(UNTOLD);
            if many && waiting > MANY {
                let part = if self.gave_way < TRIES { standing.part_of(waiting) } else { waiting };
                self.batch = part.clamp(FEW, MAX_BATCH);
                self.crowded = part == 0;
            } else {
                if many {
                    // Each worker's part: turns may be long.
                    self.batch = standing.part_of_few(waiting).max(FEW);
                    self.streak = if waiting == 0 { 0 } else { self.streak };
                }
                self.crowded = told.is_some() && waiting > 0 && standing.is_far_ahead();
            }
        }
        self.gave_way = if self.crowded { self.gave_way + 1 } else { 0 };
        if self.taken >= standing.at_once() {
            self.taken = 0;
            listener.go_behind()?;
        }
        Ok(())
    }
}

/// Tasks of accepted connections that have not begun.
struct PendingTasks<A: App>(VecDeque<ConnTask<A>>);

impl<A: App> PendingTasks<A> {
    fn begin(&mut self, most: usize) {
        let count = most.min(self.0.len());
        for task in self.0.drain(..count) {
            task.start();
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
                task.start();
            }
        });
    }

    /// What keeps this worker from accepting, whatever the others do.
    fn hindrance(&self) -> Option<AcceptOutcome> {
        if self.port.worker.connections() + self.awaited.get() >= self.port.config.max_connections {
            return Some(AcceptOutcome::Full);
        }
        self.pace.ask().err().map(AcceptOutcome::Paced)
    }

    fn accept(self: &Rc<Self>, listener: &Socket, most: usize, pending: &mut PendingTasks<A>) -> AcceptOutcome {
        let worker = &self.port.worker;
        worker.clock.refresh();
        for _ in 0..most {
            // The metrics first: they tell the operator that the server is full.
            if !worker.metrics.may_accept() {
                return AcceptOutcome::Full;
            }
            if let Some(hindrance) = self.hindrance() {
                return hindrance;
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
        // Noticed now, and not when this worker is told of a connection that then nobody else is told of.
        self.hindrance().unwrap_or(AcceptOutcome::More)
    }

    /// Waits until this worker may accept again, outside of the line of those that do.
    async fn pause(&self, accepted: AcceptOutcome, listener: &SharedSocket, turns: &mut Turns) {
        let worker = &self.port.worker;
        let pause = match accepted {
            AcceptOutcome::Empty | AcceptOutcome::More => GIVE_WAY,
            AcceptOutcome::Full => ROOM_CHECK,
            AcceptOutcome::Paced(wait) => wait,
            AcceptOutcome::Failed(ref error) => {
                self.tell(error, turns);
                BACK_OFF
            }
        };
        listener.leave();
        loop {
            tokio::select! {
                () = worker.stop_accepting.notified() => return,
                () = worker.room.notified(), if matches!(accepted, AcceptOutcome::Full) => {}
                () = tokio::time::sleep(pause) => {}
            }
            match listener.enter() {
                Ok(()) => return,
                Err(error) => self.tell(&error, turns),
            }
        }
    }

    /// Tells the operator what keeps this worker from accepting.
    fn tell(&self, error: &io::Error, turns: &mut Turns) {
        let worker = &self.port.worker;
        let now = worker.clock.now();
        if turns.warned.is_none_or(|at| now.saturating_sub(at) >= WARN_AGAIN) {
            turns.warned = Some(now);
            worker.metrics.warn(&format!(
                "cannot accept connections: {error}; trying again every {} ms (see ulimit -n)",
                BACK_OFF.as_millis()
            ));
        }
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
        let conn = Rc::new(Conn::new(info, Rc::clone(port), Rc::clone(conns), wire));
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
