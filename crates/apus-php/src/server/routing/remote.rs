//! Orders for connections that other processes of this server have.

use std::future::Future;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use apus_net::{Config, SendPolicy};
use apus_process::ConnEntry;
use apus_zend::Raise;
use apus_zend::engine::Thrown;
use tokio::sync::Semaphore;

use super::outbox::{PostOutcome, place_in};
use super::record::{How, Order, Step};
use super::{Patience, Routing, current};
use crate::client::frame::Outgoing;
use crate::last_error;
use crate::server::port_core::PortCore;

/// How often a connection that takes nothing is looked at.
const LOOK: Duration = Duration::from_millis(2);

/// What became of an order for another process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub(in crate::server) enum Forwarded {
    /// The other process has it, and will do it.
    Done,
    /// As much waits for the connection as is allowed: it is lost.
    Overflow,
    /// The other process takes nothing now: it is lost.
    QueueFull,
    /// It is larger than `package_max_length`: it is lost.
    TooLarge,
    /// There is no such connection (or worker).
    NotExist,
    /// The connection is no WebSocket, or is one.
    WrongKind,
}

impl Forwarded {
    /// Notes why it failed; whether it did not.
    pub(in crate::server) fn told(self) -> bool {
        match self {
            Self::Done => true,
            Self::Overflow => last_error::fail(last_error::OVERFLOW),
            Self::QueueFull => last_error::fail(last_error::QUEUE_FULL),
            Self::TooLarge => last_error::fail(last_error::TOO_LARGE),
            Self::NotExist => last_error::fail(last_error::NOT_EXIST),
            Self::WrongKind => last_error::fail(last_error::WRONG_KIND),
        }
    }
}

impl From<PostOutcome> for Forwarded {
    fn from(posted: PostOutcome) -> Self {
        match posted {
            PostOutcome::Done => Self::Done,
            PostOutcome::Full => Self::QueueFull,
            PostOutcome::Gone => Self::NotExist,
            PostOutcome::TooLarge => Self::TooLarge,
        }
    }
}

/// Sends a frame to a WebSocket of another worker. A patient sender waits for room, where it can; the order of one
/// process's messages stays.
pub(in crate::server) fn push_to(fd: i64, frame: &Outgoing<'_>, patient: bool) -> Result<Forwarded, Raise> {
    let Some(routing) = current() else { return Ok(Forwarded::NotExist) };
    let how = How { opcode: frame.opcode, fin: frame.fin, compress: frame.compress };
    let order = Order::Push { fd, how, payload: &frame.payload };
    routing.hand("WebSocket\\Server::push()", fd, true, &order, patient)
}

/// Sends bytes to a stream connection of another worker.
pub(in crate::server) fn send_to(fd: i64, data: &[u8], patient: bool) -> Result<Forwarded, Raise> {
    let Some(routing) = current() else { return Ok(Forwarded::NotExist) };
    routing.hand("Server::send()", fd, false, &Order::Send { fd, payload: data }, patient)
}

/// Ends a connection of another worker: a WebSocket with code and reason, others after what waits to be sent; with
/// `reset` at once. Stands behind what this process has sent to it before.
pub(in crate::server) fn close_at(fd: i64, reset: bool, code: u16, reason: &str) -> Result<Forwarded, Raise> {
    let Some(routing) = current() else { return Ok(Forwarded::NotExist) };
    let Some(entry) = routing.elsewhere(fd) else { return Ok(Forwarded::NotExist) };
    let order = Order::Close { fd, reset, code, reason: reason.as_bytes() };
    routing.post("Server::close()", entry.slot, &order, true)
}

/// Turns a switch of a connection of another worker.
pub(in crate::server) fn step_at(fd: i64, step: Step) -> Result<Forwarded, Raise> {
    let Some(routing) = current() else { return Ok(Forwarded::NotExist) };
    let Some(entry) = routing.elsewhere(fd) else { return Ok(Forwarded::NotExist) };
    routing.post("Server::pause()", entry.slot, &Order::Reading { fd, step }, true)
}

/// The queue of those who wait for one connection; the last one to leave takes it away.
pub(super) struct Queue {
    turns: Arc<Semaphore>,
    users: usize,
}

struct Gate<'a> {
    routing: &'a Routing,
    fd: i64,
    turns: Arc<Semaphore>,
}

impl<'a> Gate<'a> {
    fn enter(routing: &'a Routing, fd: i64) -> Self {
        let mut gates = routing.gates.borrow_mut();
        let queue = gates.entry(fd).or_insert_with(|| Queue { turns: Arc::new(Semaphore::new(1)), users: 0 });
        queue.users += 1;
        Self { routing, fd, turns: Arc::clone(&queue.turns) }
    }
}

impl Drop for Gate<'_> {
    fn drop(&mut self) {
        let mut gates = self.routing.gates.borrow_mut();
        if let Some(queue) = gates.get_mut(&self.fd) {
            queue.users -= 1;
            if queue.users == 0 {
                gates.remove(&self.fd);
            }
        }
    }
}

impl Routing {
    /// The row of a connection that another process has.
    pub(super) fn elsewhere(&self, fd: i64) -> Option<ConnEntry> {
        self.worker.connections.get(fd).filter(|entry| entry.slot != self.worker.slot_index())
    }

    fn hand(
        self: &Rc<Self>,
        what: &'static str,
        fd: i64,
        websocket: bool,
        order: &Order<'_>,
        patient: bool,
    ) -> Result<Forwarded, Raise> {
        let Some(entry) = self.elsewhere(fd) else { return Ok(Forwarded::NotExist) };
        // There any connection takes bytes as they are.
        let is_raw = self.core.second && matches!(order, Order::Send { .. });
        if entry.websocket != websocket && !is_raw {
            return Ok(Forwarded::WrongKind);
        }
        if let Order::Send { payload, .. } = order
            && self.core.second
            && self.patience(patient) == Patience::None
        {
            return Ok(self.send_sometime(entry.slot, fd, payload));
        }
        if !entry.full && !self.gates.borrow().contains_key(&fd) {
            return self.post(what, entry.slot, order, patient);
        }
        match self.policy(&entry) {
            SendPolicy::Drop => Ok(Forwarded::Overflow),
            SendPolicy::Close => {
                let order = Order::Close { fd, reset: true, code: 0, reason: b"" };
                let _ = self.post(what, entry.slot, &order, patient)?;
                Ok(Forwarded::Overflow)
            }
            SendPolicy::Wait => match self.patience(patient) {
                Patience::None => Ok(Forwarded::Overflow),
                patience => {
                    let handed = self.wait_as(patience, what, self.hand_when_clear(fd, order))?;
                    Ok(handed.unwrap_or(Forwarded::Overflow))
                }
            },
        }
    }

    /// Posts an order, and where its sender is patient and can wait, waits for room.
    pub(super) fn post(
        &self,
        what: &'static str,
        slot: usize,
        order: &Order<'_>,
        patient: bool,
    ) -> Result<Forwarded, Raise> {
        let patience = self.patience(patient);
        if patience == Patience::None {
            return Ok(self.outbox.post_now(slot, order).into());
        }
        // A long record may stop half-way, and is not begun without the patience to end it.
        if self.outbox.is_short(order) {
            let posted = self.outbox.post_now(slot, order);
            if posted != PostOutcome::Full {
                return Ok(posted.into());
            }
        }
        let posted = self.wait_as(patience, what, self.outbox.post(slot, order))?;
        Ok(posted.unwrap_or(PostOutcome::Full).into())
    }

    /// Waits until the connection takes something again, in the order in which this is called.
    pub(super) fn hand_when_clear<'a>(&'a self, fd: i64, order: &'a Order<'a>) -> impl Future<Output = Forwarded> + 'a {
        let gate = Gate::enter(self, fd);
        let turn = place_in(Arc::clone(&gate.turns));
        async move {
            // Both are given back when the message is in the ring.
            let (_gate, _turn) = (gate, turn.await);
            loop {
                match self.elsewhere(fd) {
                    None => return Forwarded::NotExist,
                    Some(entry) if !entry.full => return self.outbox.post(entry.slot, order).await.into(),
                    Some(_) => tokio::time::sleep(LOOK).await,
                }
            }
        }
    }

    /// What the connection's port says of slow receivers.
    fn policy(&self, entry: &ConnEntry) -> SendPolicy {
        let policies = self.policies.get_or_init(|| self.read_policies());
        let of_port = policies.iter().find(|(port, _)| *port == i64::from(entry.server_port));
        of_port.map_or(SendPolicy::Wait, |(_, policy)| *policy)
    }

    fn read_policies(&self) -> Vec<(i64, SendPolicy)> {
        let settings = self.core.settings.borrow().clone();
        let ports = self.core.ports.borrow().clone();
        let policy = |port: &Rc<PortCore>| {
            // They were looked at when the server started: it is no error that PHP is to hear of now.
            let of_port = port.settings(&settings).inspect_err(|_| drop(Thrown::take()));
            (port.port(), Config::from(of_port.as_ref().unwrap_or(&settings)).send_policy)
        };
        ports.iter().map(policy).collect()
    }
}
