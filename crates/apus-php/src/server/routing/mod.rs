//! Any connection from any worker: what the processes of a server say to each other, users and topics, other servers.
//!
//! ```text
//! PHP method -- methods, remote --> outbox --> ring --> inbox --> deliver --> MessageConn
//!                        |                                 |
//!                    questions <------- answers ------- names (users and topics of this worker)
//!                        |
//!                    machines --> broker --> the same in the processes of other servers
//! ```
//!
//! Rules. No borrow of a cell lasts across a call to a message connection, to PHP, or across an await. The inbox never
//! waits: what cannot be done at once becomes a task, so that two processes that fill each other's rings both go on.

mod broker;
mod cluster;
pub(super) mod commands;
mod deliver;
pub(super) mod dispatch;
mod errand;
pub(super) mod guest;
mod inbox;
pub(super) mod methods;
mod names;
mod outbox;
mod parts;
mod pipe;
mod questions;
mod record;
mod remote;
mod replies;
mod users;

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::rc::Rc;
use std::sync::OnceLock;

use apus_client::broker::Broker;
use apus_coro::Wait;
use apus_net::{Control, MAX_TOPICS, NameIndex, SendPolicy};
use apus_options::Settings;
use apus_process::Worker;
use apus_shm::ForkEpoch;
use apus_zend::Raise;
use apus_zend::object::Object;
use tokio::task::AbortHandle;

use super::core::ServerCore;
use super::metrics::WorkerMetrics;
use crate::connections;
use crate::exception::{self};
use crate::handlers::Handlers;
use crate::runtime::State;
use crate::wait::wait;

pub(super) use record::{Errand, Step};
pub(super) use remote::{Forwarded, close_at, push_to, send_to, step_at};

/// What `broker_prefix` may be long: with the longest name behind it, a subject stays within its limit.
const MAX_PREFIX: usize = 64;
/// The longest record that is put together, where `package_max_length` is less.
const SHORTEST_LIMIT: u64 = 8 << 20;

/// Tells this server from others at the same broker; made before the first fork.
static NODE: OnceLock<u64> = OnceLock::new();

thread_local! {
    static ROUTING: RefCell<Option<Rc<Routing>>> = const { RefCell::new(None) };
}

/// A worker's part of it all.
struct Routing {
    state: Rc<State>,
    handlers: Handlers,
    core: Rc<ServerCore>,
    server: Object,
    worker: Rc<Worker>,
    control: Rc<Control>,
    outbox: outbox::Outbox,
    questions: questions::Questions,
    users: RefCell<NameIndex>,
    topics: RefCell<NameIndex>,
    /// By the sender's slot.
    parts: RefCell<parts::Assembler<usize>>,
    /// The process ids of senders whose long records have begun.
    part_pids: RefCell<HashMap<usize, u32>>,
    late: deliver::Deferred,
    /// Answers for connections of other processes, and of others for those of this one.
    replies: replies::Replies,
    /// For connections that take nothing now: the order in which coroutines of this process wait for them.
    gates: RefCell<HashMap<i64, remote::Queue>>,
    /// Values that came for the program and have not been given to it, and their bytes.
    pipes: RefCell<Vec<pipe::PipeMessage>>,
    pipe_bytes: Cell<usize>,
    /// Who handles what came to a port, by its place.
    takers: RefCell<HashMap<u16, Rc<dyn dispatch::Taker>>>,
    /// Messages of clients that other workers have passed on.
    arrived: dispatch::Arrived,
    /// Whether `workerstart` is over: the program is ready for them.
    ready: Cell<bool>,
    cluster: Option<cluster::Cluster>,
    tasks: RefCell<Vec<AbortHandle>>,
    /// Whether it was said that messages came that nobody wants.
    unwanted_told: Cell<bool>,
    /// What each port says of slow receivers.
    policies: OnceCell<Vec<(i64, SendPolicy)>>,
    /// In a user process: that process. It may fork, and a child must not post in its name.
    only: Option<ForkEpoch>,
}

/// How code can wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Patience {
    /// It cannot, or does not want to.
    None,
    /// Its coroutine is suspended.
    Coroutine,
    /// All of its process does, a user process without an event loop.
    Process,
}

/// The routing of this worker, while it lives.
fn current() -> Option<Rc<Routing>> {
    ROUTING.with(|routing| routing.borrow().clone()).filter(|routing| routing.only.is_none_or(ForkEpoch::is_now))
}

/// Whether this process has one.
pub(super) fn is_open() -> bool {
    current().is_some()
}

fn is_prefix(prefix: &str) -> bool {
    prefix.len() <= MAX_PREFIX && Broker::is_subject(prefix)
}

/// In the master, before the first fork: looks at the settings, and gives the server its number.
pub(super) fn prepare(settings: &Settings) -> Result<(), Raise> {
    NODE.get_or_init(|| RandomState::new().hash_one(std::process::id()));
    if settings.broker.is_empty() {
        return Ok(());
    }
    let refused = |text: &str| exception::throw(exception::code::server::OPTION, text);
    broker::prepare(settings).map_err(|why| refused(&why))?;
    if !is_prefix(&settings.broker_prefix) {
        return Err(refused(&format!(
            "setting \"broker_prefix\" must be 1 to {MAX_PREFIX} printable ASCII characters, without spaces, * and >, and \
             without a dot at either end or two in a row"
        )));
    }
    Ok(())
}

/// In a user process or the master, before its code runs, which may have no event loop (`coroutine`): then it hears
/// others only while it waits for them, and no broker.
pub(super) fn start_user(
    core: &Rc<ServerCore>,
    server: &Object,
    worker: &Rc<Worker>,
    coroutine: bool,
) -> Result<(), Raise> {
    let state = State::get()?;
    let control = Control::new(Rc::new(WorkerMetrics::new(Rc::clone(worker), None)), &state.events);
    open((core, server, worker, &control, &state), Some(ForkEpoch::now()), coroutine);
    Ok(())
}

/// In a process just forked: what the master talked with is the master's.
pub(super) fn forget() {
    std::mem::forget(ROUTING.with(|slot| slot.borrow_mut().take()));
}

/// In a user process or the master, when its code has ended.
pub(super) fn stop_user() {
    match State::existing().filter(|state| !state.is_looping()) {
        Some(state) => state.block_on(stop()),
        None => drop(ROUTING.with(|slot| slot.borrow_mut().take())),
    }
}

/// What a routing is made of.
type Parts<'a> = (&'a Rc<ServerCore>, &'a Object, &'a Rc<Worker>, &'a Rc<Control>, &'a Rc<State>);

/// In a worker, before `workerstart`: begins to hear the other processes.
pub(super) fn start(
    core: &Rc<ServerCore>,
    server: &Object,
    worker: &Rc<Worker>,
    control: &Rc<Control>,
    state: &Rc<State>,
) {
    open((core, server, worker, control, state), None, true);
}

fn open((core, server, worker, control, state): Parts<'_>, only: Option<ForkEpoch>, broker: bool) {
    let settings = core.settings.borrow().clone();
    let limit = settings.package_max_length.max(SHORTEST_LIMIT).min(u64::from(u32::MAX)) as usize;
    let routing = Rc::new(Routing {
        state: Rc::clone(state),
        handlers: core.handlers(state, worker.role),
        core: Rc::clone(core),
        server: server.share(),
        worker: Rc::clone(worker),
        control: Rc::clone(control),
        outbox: outbox::Outbox::new(Rc::clone(worker), limit),
        questions: questions::Questions::new(),
        users: RefCell::new(NameIndex::new(1)),
        topics: RefCell::new(NameIndex::new(MAX_TOPICS)),
        parts: RefCell::new(parts::Assembler::new(limit)),
        part_pids: RefCell::default(),
        late: deliver::Deferred::new(settings.max_buffered_bytes),
        replies: replies::Replies::new(settings.max_buffered_bytes),
        gates: RefCell::default(),
        pipes: RefCell::default(),
        pipe_bytes: Cell::new(0),
        takers: RefCell::default(),
        arrived: dispatch::Arrived::default(),
        ready: Cell::new(false),
        cluster: broker.then(|| cluster::Cluster::open(&settings, node(), limit)).flatten(),
        tasks: RefCell::default(),
        unwanted_told: Cell::new(false),
        policies: OnceCell::new(),
        only,
    });
    routing.begin_dispatch();
    routing.run(Rc::clone(&routing).hear_ipc());
    if routing.cluster.is_some() {
        routing.run(Rc::clone(&routing).hear_broker());
        routing.run(Rc::clone(&routing).greet_cluster());
    }
    connections::set_carrier(Some(Rc::new(replies::Outgoing(Rc::downgrade(&routing)))));
    ROUTING.with(|slot| *slot.borrow_mut() = Some(routing));
}

fn node() -> u64 {
    NODE.get().copied().unwrap_or_default()
}

/// When a leaving worker has answered all requests: performs what other processes posted, and takes nothing new.
pub(super) async fn retire() {
    if let Some(routing) = current() {
        routing.retire().await;
    }
}

/// At the end of a worker: what is for other servers is sent, nothing more is heard.
pub(super) async fn stop() {
    let Some(routing) = ROUTING.with(|slot| slot.borrow_mut().take()) else { return };
    routing.replies_sent().await;
    if let Some(cluster) = &routing.cluster {
        cluster.leave().await;
    }
    for task in routing.tasks.take() {
        task.abort();
    }
}

/// A connection of this worker is closed: it has no user and no topics any more.
pub(super) fn closed(fd: i64) {
    if let Some(routing) = current() {
        routing.forget(fd);
    }
}

/// Whose a connection of this worker is from now on, and which topics it has subscribed.
pub(super) fn admit(fd: i64, user: Option<&[u8]>, topics: &[Vec<u8>]) {
    let Some(routing) = current() else { return };
    if let Some(user) = user {
        routing.change(fd, record::Change::Bind, user);
    }
    for topic in topics {
        routing.change(fd, record::Change::Subscribe, topic);
    }
}

/// Whether messages of other processes are held for a connection of this worker.
pub(super) fn holds(fd: i64) -> bool {
    current().is_some_and(|routing| routing.late.has(fd))
}

/// After `workerstart`, and whenever the master may have told of more: the close event of connections that went down
/// with a process whose place this worker has.
pub(super) fn report_orphans() {
    if let Some(routing) = current() {
        routing.ready.set(true);
        routing.give_pipe_messages();
        routing.give_dispatched();
        routing.report_orphans();
    }
}

impl Routing {
    /// Has a task run as long as the routing.
    fn run(&self, task: impl Future<Output = ()> + 'static) {
        let handle = self.state.spawn(task).abort_handle();
        self.tasks.borrow_mut().push(handle);
    }

    /// Whether the code that runs can wait.
    fn can_wait(&self) -> bool {
        crate::wait::may_wait(&self.state)
    }

    /// How the code that runs can wait for others.
    fn patience(&self, patient: bool) -> Patience {
        match () {
            () if !patient => Patience::None,
            () if self.can_wait() => Patience::Coroutine,
            () if self.only.is_some() && !self.state.is_looping() => Patience::Process,
            () => Patience::None,
        }
    }

    /// Waits as the code that runs can. `None`: broken off.
    fn wait_as<T>(
        &self,
        patience: Patience,
        what: &'static str,
        future: impl Future<Output = T>,
    ) -> Result<Option<T>, Raise> {
        match patience {
            Patience::Process => Ok(Some(self.state.block_on(future))),
            Patience::None | Patience::Coroutine => wait(&self.state, Wait::Outside(what), future),
        }
    }

    /// The process id behind a slot.
    fn pid_of(&self, slot: usize) -> Option<u32> {
        self.worker.pid_of(slot)
    }

    /// The same in all processes of this server, and nobody outside knows which names meet.
    fn hash(name: &[u8]) -> u64 {
        // The standard hasher without random keys, told the server's own number first.
        let mut hasher = std::hash::DefaultHasher::new();
        hasher.write_u64(node());
        hasher.write(name);
        hasher.finish()
    }

    /// The slots of other processes that may have a topic's subscribers.
    fn topic_slots(&self, topic: &[u8]) -> Vec<usize> {
        let own = self.worker.slot_index();
        self.worker.topics().slots(Self::hash(topic)).filter(|slot| *slot != own).collect()
    }

    /// The slots of other processes that may have a user's connections.
    fn user_slots(&self, user: &[u8]) -> Vec<usize> {
        let own = self.worker.slot_index();
        self.worker.users().slots(Self::hash(user)).filter(|slot| *slot != own).collect()
    }
}
