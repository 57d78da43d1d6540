//! Which worker handles what a client has sent: the settings `dispatch_mode` and `dispatch_func`.
//!
//! A connection belongs to the worker that accepted it, which also handles what it sends. Where a program asks for
//! another distribution, the messages of streams and the datagrams go to another worker as orders; it answers as any
//! process does that has not the connection. What one connection sends to one worker stays in order.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::io;
use std::net::IpAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use apus_options::Settings;
use apus_process::log::{Level, Repeats};
use apus_zend::object::Object;
use apus_zend::value::View;
use apus_zend::{Callable, Raise, Value};
use tokio::sync::Semaphore;

use super::outbox::{PostOutcome, place_in};
use super::record::Order;
use super::{Routing, current};
use crate::handling::Handling;
use crate::wait::Deadline;

/// Messages that a worker has in hand at most; who has more for it waits.
const MOST: u64 = 1000;
/// The same of their bytes.
const MOST_BYTES: u64 = 16 << 20;
/// How long a worker is waited for that has not begun, or is started anew.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often a worker that has so many is looked at.
const LOOK: Duration = Duration::from_millis(2);

/// What `dispatch_func` may return beside the number of a worker.
const DISCARD: i64 = -1;
const CLOSE: i64 = -2;
const FALLBACK: i64 = -3;

static UNFIT: Repeats = Repeats::new(Level::Error, "messages dropped because dispatch_func named no worker");

/// `dispatch_mode`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Mode {
    /// The worker that has the connection.
    Connection,
    /// One after the other.
    Turn,
    /// The one with the fewest messages in hand.
    Least,
    /// By the client's IP address.
    Address,
    /// By the user that `bind()` gave the connection.
    User,
}

impl Mode {
    fn of(number: u8) -> Self {
        match number {
            1 => Self::Turn,
            3 | 7 | 9 | 10 => Self::Least,
            4 => Self::Address,
            5 => Self::User,
            _ => Self::Connection,
        }
    }
}

/// The numbers that the workers share: whose turn it is, and of each worker the messages in hand and their bytes.
#[derive(Clone, Copy)]
struct Shared(&'static [AtomicU64]);

impl Shared {
    fn turn(self) -> &'static AtomicU64 {
        &self.0[0]
    }

    fn messages(self, worker: u16) -> &'static AtomicU64 {
        &self.0[1 + 2 * usize::from(worker)]
    }

    fn bytes(self, worker: u16) -> &'static AtomicU64 {
        &self.0[2 + 2 * usize::from(worker)]
    }

    fn take(self, worker: u16, bytes: usize) {
        self.messages(worker).fetch_add(1, Relaxed);
        self.bytes(worker).fetch_add(bytes as u64, Relaxed);
    }

    fn give_back(self, worker: u16, bytes: usize) {
        // A worker that was killed has left some, and its successor began at none.
        let less = |number: &AtomicU64, by: u64| {
            let _ = number.fetch_update(Relaxed, Relaxed, |now| Some(now.saturating_sub(by)));
        };
        less(self.messages(worker), 1);
        less(self.bytes(worker), bytes as u64);
    }

    fn is_full(self, worker: u16) -> bool {
        self.messages(worker).load(Relaxed) >= MOST || self.bytes(worker).load(Relaxed) >= MOST_BYTES
    }
}

/// How a server distributes what clients send.
pub(in crate::server) struct Dispatch {
    mode: Mode,
    func: Option<Rc<Callable>>,
    workers: u16,
    shared: Shared,
    /// Of this process: who waits for which worker.
    lines: RefCell<Vec<Arc<Semaphore>>>,
}

/// What a client has sent.
pub(in crate::server) struct Incoming<'a> {
    /// The connection; of a datagram 0.
    pub(in crate::server) fd: i64,
    /// The place of the port among the server's.
    pub(in crate::server) port: u16,
    /// The sender of a datagram.
    pub(in crate::server) from: (&'a str, u16),
    pub(in crate::server) ip: Option<IpAddr>,
    pub(in crate::server) data: &'a [u8],
}

/// The same, kept.
pub(in crate::server) struct Parcel {
    pub(in crate::server) fd: i64,
    pub(in crate::server) port: u16,
    pub(in crate::server) from: (String, u16),
    pub(in crate::server) data: Vec<u8>,
}

impl Parcel {
    fn order(&self) -> Order<'_> {
        let (address, client_port) = (self.from.0.as_bytes(), self.from.1);
        Order::Dispatch { fd: self.fd, port: self.port, client_port, address, payload: &self.data }
    }
}

/// Whoever handles what came to a port.
pub(in crate::server) trait Taker {
    fn take(&self, parcel: &Parcel) -> Option<Handling>;
}

/// What becomes of something that came.
pub(in crate::server) enum Fate {
    /// It is handled by the worker that has it.
    Here,
    /// It is dropped.
    Dropped,
    /// Its connection is closed.
    Closed,
    /// Another worker handles it: what goes on until it has it.
    Elsewhere(Option<Handling>),
}

impl Dispatch {
    /// In the master, before the first fork. `None`: every connection's own worker handles what it sends.
    pub(in crate::server) fn of(settings: &Settings, func: Option<Rc<Callable>>) -> io::Result<Option<Rc<Self>>> {
        let mode = Mode::of(settings.dispatch_mode);
        if mode == Mode::Connection && func.is_none() {
            return Ok(None);
        }
        let workers = settings.worker_num as u16;
        let shared = Shared(apus_shm::map(1 + 2 * usize::from(workers))?);
        Ok(Some(Rc::new(Self { mode, func, workers, shared, lines: RefCell::default() })))
    }

    /// In a worker that begins: it has nothing in hand.
    fn begin(&self, worker: u16) {
        if worker < self.workers {
            self.shared.messages(worker).store(0, Relaxed);
            self.shared.bytes(worker).store(0, Relaxed);
            let line = || Arc::new(Semaphore::new(1));
            *self.lines.borrow_mut() = (0..self.workers).map(|_| line()).collect();
        }
    }

    fn by_hash(&self, of: &[u8]) -> u16 {
        let hash = BuildHasherDefault::<DefaultHasher>::default().hash_one(of);
        (hash % u64::from(self.workers)) as u16
    }

    fn by_address(&self, ip: Option<IpAddr>) -> Option<u16> {
        Some(match ip?.to_canonical() {
            IpAddr::V4(ip) => (u32::from(ip) % u32::from(self.workers)) as u16,
            IpAddr::V6(ip) => self.by_hash(&ip.octets()),
        })
    }

    fn by_user(&self, routing: &Routing, fd: i64) -> Option<u16> {
        let users = routing.users.borrow();
        let user = users.names(fd).first()?;
        let number = std::str::from_utf8(user).ok().and_then(|text| text.parse::<u64>().ok());
        Some(number.map_or_else(|| self.by_hash(user), |number| (number % u64::from(self.workers)) as u16))
    }

    /// The one with the fewest messages in hand; of several, another one each time.
    fn least(&self) -> u16 {
        let first = self.shared.turn().fetch_add(1, Relaxed);
        let worker = |at: u16| ((first + u64::from(at)) % u64::from(self.workers)) as u16;
        let in_hand = |at: &u16| self.shared.messages(*at).load(Relaxed);
        (0..self.workers).map(worker).min_by_key(in_hand).unwrap_or(0)
    }

    fn by_mode(&self, routing: &Routing, incoming: &Incoming<'_>) -> Option<u16> {
        match self.mode {
            Mode::Connection => None,
            Mode::Turn => Some((self.shared.turn().fetch_add(1, Relaxed) % u64::from(self.workers)) as u16),
            Mode::Least => Some(self.least()),
            Mode::Address => self.by_address(incoming.ip),
            Mode::User => self.by_user(routing, incoming.fd),
        }
    }

    /// What the program says: `Err` for what is no worker.
    fn by_func(&self, func: &Callable, server: &Object, incoming: &Incoming<'_>) -> Result<Result<u16, i64>, Raise> {
        // A datagram has no connection: its client's IPv4 address stands for it, in the order of the network.
        let fd = match incoming.ip {
            Some(IpAddr::V4(ip)) if incoming.fd == 0 => i64::from(u32::from_ne_bytes(ip.octets())),
            _ => incoming.fd,
        };
        let kind = i64::from(incoming.fd == 0);
        let args = [server.share().into(), Value::int(fd), Value::int(kind), Value::string(incoming.data)?];
        let said = func.call(&args)?;
        let number = match said.view() {
            View::Int(number) => number,
            View::Bool(number) => i64::from(number),
            View::Str(text) => std::str::from_utf8(text).ok().and_then(|text| text.trim().parse().ok()).unwrap_or(0),
            _ => 0,
        };
        let worker = u16::try_from(number).ok().filter(|worker| *worker < self.workers);
        Ok(worker.ok_or(number))
    }

    /// Which worker: `Err` for what is to be done otherwise.
    fn choose(&self, routing: &Routing, incoming: &Incoming<'_>) -> Result<Option<u16>, Fate> {
        let Some(func) = &self.func else { return Ok(self.by_mode(routing, incoming)) };
        match self.by_func(func, &routing.server, incoming) {
            Ok(Ok(worker)) => Ok(Some(worker)),
            Ok(Err(FALLBACK)) => Ok(self.by_mode(routing, incoming)),
            Ok(Err(CLOSE)) => Err(Fate::Closed),
            Ok(Err(DISCARD)) => Err(Fate::Dropped),
            Ok(Err(number)) => {
                UNFIT.tell(format_args!("dispatch_func gave {number}, which is no worker: the message is dropped"));
                Err(Fate::Dropped)
            }
            Err(raise) => {
                routing.report(raise);
                Err(Fate::Dropped)
            }
        }
    }

    /// Has a message handled by whoever is to.
    pub(in crate::server) fn pass_on(self: &Rc<Self>, incoming: &Incoming<'_>) -> Fate {
        let Some(routing) = current() else { return Fate::Here };
        let to = match self.choose(&routing, incoming) {
            Ok(Some(to)) => to,
            Ok(None) => return Fate::Here,
            Err(fate) => return fate,
        };
        let parcel = Parcel {
            fd: incoming.fd,
            port: incoming.port,
            from: (incoming.from.0.to_owned(), incoming.from.1),
            data: incoming.data.to_vec(),
        };
        if to == routing.worker.id {
            return Fate::Elsewhere(self.handle(&routing, &parcel, true));
        }
        if self.passed_at_once(&routing, to, &parcel) {
            return Fate::Elsewhere(None);
        }
        Fate::Elsewhere(Some(Handling::elsewhere(Rc::clone(self).pass_patiently(routing, to, parcel))))
    }

    fn line(&self, to: u16) -> Option<Arc<Semaphore>> {
        self.lines.borrow().get(usize::from(to)).map(Arc::clone)
    }

    fn passed_at_once(&self, routing: &Routing, to: u16, parcel: &Parcel) -> bool {
        let Some(line) = self.line(to) else { return false };
        // Those that wait come first.
        let Ok(_turn) = line.try_acquire() else { return false };
        let order = parcel.order();
        if self.shared.is_full(to) || !routing.outbox.is_short(&order) {
            return false;
        }
        let Some(slot) = routing.worker.slot_of_worker(to) else { return false };
        self.shared.take(to, parcel.data.len());
        let passed = routing.outbox.post_now(slot, &order) == PostOutcome::Done;
        if !passed {
            self.shared.give_back(to, parcel.data.len());
        }
        passed
    }

    /// Waits until the worker takes it: one that has too much in hand, and one that is about to begin. Where there is
    /// none for long, it is handled here.
    fn pass_patiently(self: Rc<Self>, routing: Rc<Routing>, to: u16, parcel: Parcel) -> impl Future<Output = ()> {
        // Its place is that of this call.
        let turn = self.line(to).map(place_in);
        async move {
            let _turn = match turn {
                Some(turn) => turn.await,
                None => None,
            };
            let missed = Deadline::after(Some(PATIENCE));
            let slot = loop {
                match routing.worker.slot_of_worker(to) {
                    Some(slot) if !self.shared.is_full(to) => break Some(slot),
                    None if missed.is_over() => break None,
                    Some(_) | None => tokio::time::sleep(LOOK).await,
                }
            };
            if let Some(slot) = slot {
                self.shared.take(to, parcel.data.len());
                if routing.outbox.post(slot, &parcel.order()).await == PostOutcome::Done {
                    return;
                }
                self.shared.give_back(to, parcel.data.len());
            }
            if let Some(handling) = self.handle(&routing, &parcel, true) {
                handling.await;
            }
        }
    }

    /// Handles something in this worker. `fresh`: it is not in hand yet.
    fn handle(self: &Rc<Self>, routing: &Routing, parcel: &Parcel, fresh: bool) -> Option<Handling> {
        let taker = routing.takers.borrow().get(&parcel.port).map(Rc::clone);
        let (worker, bytes, shared) = (routing.worker.id, parcel.data.len(), self.shared);
        if fresh {
            shared.take(worker, bytes);
        }
        let in_hand = InHand { shared, worker, bytes };
        let handling = taker?.take(parcel)?;
        Some(Handling::elsewhere(async move {
            let _in_hand = in_hand;
            handling.await;
        }))
    }
}

/// A message that a worker has in hand, until it is dropped.
struct InHand {
    shared: Shared,
    worker: u16,
    bytes: usize,
}

impl Drop for InHand {
    fn drop(&mut self) {
        self.shared.give_back(self.worker, self.bytes);
    }
}

/// What other workers have passed on, until the program is ready for it.
#[derive(Default)]
pub(super) struct Arrived {
    parcels: RefCell<Vec<Parcel>>,
    giving: Cell<bool>,
}

/// In a worker: a port is served.
pub(in crate::server) fn serve(port: usize, taker: Rc<dyn Taker>) {
    if let Some(routing) = current()
        && let Ok(port) = u16::try_from(port)
    {
        routing.takers.borrow_mut().insert(port, taker);
    }
}

impl Routing {
    pub(super) fn begin_dispatch(&self) {
        if let Some(dispatch) = self.core.dispatch.borrow().as_ref() {
            dispatch.begin(self.worker.id);
        }
    }

    pub(super) fn keep_dispatched(&self, parcel: Parcel) {
        self.arrived.parcels.borrow_mut().push(parcel);
    }

    /// Gives the program what other workers have passed on. Handlers outside of coroutines may come here again.
    pub(super) fn give_dispatched(self: &Rc<Self>) {
        if !self.ready.get() || self.arrived.parcels.borrow().is_empty() || self.arrived.giving.replace(true) {
            return;
        }
        let dispatch = self.core.dispatch.borrow().clone();
        loop {
            let parcels = self.arrived.parcels.take();
            if parcels.is_empty() {
                break;
            }
            for parcel in parcels {
                if let Some(handling) = dispatch.as_ref().and_then(|dispatch| dispatch.handle(self, &parcel, false)) {
                    self.state.spawn(handling);
                }
            }
        }
        self.arrived.giving.set(false);
    }
}
