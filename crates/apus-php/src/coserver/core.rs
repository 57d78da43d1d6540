//! What is behind an `Apus\Coroutine\Http\Server`: its routes, its settings, and its life from `start()` to the last
//! answer.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::io;
use std::os::fd::OwnedFd;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use apus_coro::{Cancel, TaskId};
use apus_edge::Edge;
use apus_net::{Config, ConnInfo, Connections, Control, Counters, Gate, Metrics, Tls, serve};
use apus_options::Settings;
use apus_process::Listener;
use apus_zend::Callable;
use apus_zend::object::Held;
use tokio::sync::{Notify, Semaphore};
use tokio::time::Instant;

use super::app::CoApp;
use super::trouble;
use crate::connections;
use crate::handlers::Handlers;
use crate::handling::Calling;
use crate::http;
use crate::runtime::State;

/// Stacks given back to the system at one go, a few times a second: about a millisecond of work.
const TRIMMED: usize = 100;
/// How long handlers that were broken off may take to end.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Where a server is in its life.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Phase {
    New,
    Running,
    Over,
}

/// How a server that runs is to end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stop {
    No,
    /// Requests that have begun may end until then.
    Until(Instant),
    Now,
}

/// The handlers that run.
#[derive(Default)]
pub(super) struct Requests {
    /// Requests that were taken and whose handlers are not over.
    live: Cell<usize>,
    /// Their coroutines, as far as they have any yet.
    ids: RefCell<HashSet<TaskId>>,
    idle: Notify,
}

impl Requests {
    /// A request was taken.
    pub(super) fn enter(&self) {
        self.live.set(self.live.get() + 1);
    }

    /// Its coroutine was made.
    pub(super) fn runs(&self, id: TaskId) {
        self.ids.borrow_mut().insert(id);
    }

    /// It is over.
    pub(super) fn leave(&self, id: Option<TaskId>) {
        if let Some(id) = id {
            self.ids.borrow_mut().remove(&id);
        }
        self.live.set(self.live.get() - 1);
        if self.live.get() == 0 {
            self.idle.notify_one();
        }
    }

    async fn idle(&self) {
        while self.live.get() > 0 {
            self.idle.notified().await;
        }
    }

    fn cancel_all(&self, state: &State) {
        let ids: Vec<TaskId> = self.ids.borrow().iter().copied().collect();
        for id in ids {
            state.engine.cancel(id, Cancel::Throw);
        }
    }
}

/// What answers the paths that begin with a pattern.
struct Route {
    pattern: Box<[u8]>,
    handler: Callable,
    /// File and line of the handler, where it is written in PHP.
    place: Option<Rc<str>>,
}

/// A server.
pub(super) struct HttpCore {
    pub(super) listener: RefCell<Option<Listener>>,
    /// The longest pattern first.
    routes: RefCell<Vec<Route>>,
    pub(super) settings: RefCell<Settings>,
    pub(super) phase: Cell<Phase>,
    pub(super) handlers: Requests,
    control: RefCell<Option<Rc<Control>>>,
    stop: Cell<Stop>,
    stopping: Notify,
    /// Whether it has to speak TLS.
    pub(super) ssl: bool,
    /// Whether it is of the class that code written for Swoole knows.
    pub(super) second: bool,
}

/// What stands before the handlers.
pub(super) struct Before {
    pub(super) tls: Option<Tls>,
    pub(super) edge: Option<Rc<Edge>>,
    pub(super) gate: Option<Gate>,
    pub(super) connections: Option<Connections>,
}

impl HttpCore {
    pub(super) fn new(listener: Listener, settings: Settings, ssl: bool, second: bool) -> Rc<Self> {
        Rc::new(Self {
            listener: RefCell::new(Some(listener)),
            routes: RefCell::default(),
            settings: RefCell::new(settings),
            phase: Cell::new(Phase::New),
            handlers: Requests::default(),
            control: RefCell::new(None),
            stop: Cell::new(Stop::No),
            stopping: Notify::new(),
            ssl,
            second,
        })
    }

    /// Tells the handlers to the cycle collector.
    pub(super) fn held(&self, held: &Held) {
        for route in self.routes.try_borrow().iter().flat_map(|routes| routes.iter()) {
            held.callable(&route.handler);
        }
    }

    /// Has `handler` answer what begins with `pattern`.
    pub(super) fn handle(&self, pattern: &[u8], handler: Callable) {
        let place = handler.place().map(|(file, line)| format!("{file}:{line}").into());
        let route = Route { pattern: pattern.into(), handler, place };
        let old = {
            let mut routes = self.routes.borrow_mut();
            if let Some(known) = routes.iter_mut().find(|known| known.pattern.eq_ignore_ascii_case(pattern)) {
                Some(std::mem::replace(known, route))
            } else {
                let at = routes.partition_point(|known| known.pattern.len() >= pattern.len());
                routes.insert(at, route);
                None
            }
        };
        // Its destructor may run PHP code, which may come here again.
        drop(old);
    }

    /// The handler for a path, and its place.
    pub(super) fn route(&self, path: &[u8]) -> Option<(Callable, Option<Rc<str>>)> {
        let routes = self.routes.borrow();
        let found = routes.iter().find(|route| begins_with(path, &route.pattern))?;
        Some((found.handler.share(), found.place.clone()))
    }

    /// Serves until the server was stopped and its last request is over.
    pub(super) async fn serve(
        self: Rc<Self>,
        state: Rc<State>,
        fd: OwnedFd,
        before: Before,
        control: Rc<Control>,
    ) -> io::Result<()> {
        let (app, mut config) = self.app(&state, before.edge);
        config.tls = before.tls;
        config.gate = before.gate;
        config.client_connections = before.connections;
        let config = Rc::new(config);
        let mut work = pin!(async {
            serve(app, vec![(fd, config)], Rc::clone(&control)).await?;
            // Those whose clients have left go on.
            self.handlers.idle().await;
            Ok(())
        });
        tokio::select! {
            served = &mut work => return served,
            () = self.hurry() => {}
        }
        control.abort();
        self.handlers.cancel_all(&state);
        // A handler that goes on even so is no longer the server's matter.
        tokio::time::timeout(LAST_WORDS, work).await.unwrap_or(Ok(()))
    }

    fn app(self: &Rc<Self>, state: &Rc<State>, edge: Option<Rc<Edge>>) -> (Rc<CoApp>, Config) {
        let settings = self.settings.borrow();
        let limits = http::Limits::new(&settings, self.second);
        if limits.traced {
            state.trace_requests();
        }
        let places =
            (settings.max_concurrency > 0).then(|| Arc::new(Semaphore::new(settings.max_concurrency as usize)));
        let calling = Calling {
            handlers: Handlers::new(state, true),
            limits: Rc::new(limits),
            superglobals: settings.superglobals,
            outcome: Some(trouble::receiver("Coroutine\\Http\\Server")),
        };
        let app = CoApp {
            core: Rc::clone(self),
            calling: Rc::new(calling),
            cancel_on_disconnect: settings.cancel_on_disconnect,
            places,
            edge,
        };
        let mut config = Config::from(&*settings);
        if self.second {
            crate::server::second_fields(&mut config);
        }
        (Rc::new(app), config)
    }

    /// Ready when nothing more is to be waited for.
    async fn hurry(&self) {
        loop {
            match self.stop.get() {
                Stop::Now => return,
                Stop::No => self.stopping.notified().await,
                Stop::Until(end) => {
                    tokio::select! {
                        () = tokio::time::sleep_until(end) => return,
                        () = self.stopping.notified() => {}
                    }
                }
            }
        }
    }

    /// The server begins to run.
    pub(super) fn began(&self, control: &Rc<Control>) {
        *self.control.borrow_mut() = Some(Rc::clone(control));
        self.phase.set(Phase::Running);
        connections::add(control);
    }

    /// Accepts nothing more; requests that have begun may end. `false`: it does not run.
    pub(super) fn shut_down(&self) -> bool {
        if self.phase.get() != Phase::Running || self.stop.get() != Stop::No {
            return false;
        }
        let limit = self.settings.borrow().max_wait_time;
        self.stop_with(Stop::Until(Instant::now() + limit));
        true
    }

    /// Ends everything now: nobody waits for it any more.
    pub(super) fn break_off(&self) {
        self.stop_with(Stop::Now);
    }

    fn stop_with(&self, stop: Stop) {
        self.stop.set(stop);
        if !self.starts_again() {
            drop(self.listener.take());
        }
        let control = self.control.borrow().clone();
        if let Some(control) = control {
            control.drain();
        }
        self.stopping.notify_one();
    }

    /// Under the names of Swoole a server that was shut down keeps its port and its handlers, and can be started again.
    fn starts_again(&self) -> bool {
        self.second && matches!(self.stop.get(), Stop::Until(_))
    }

    /// The server has ended. Handlers are let go of: they often hold the server that holds them.
    pub(super) fn ended(&self) {
        drop(self.control.take());
        if self.starts_again() {
            self.stop.set(Stop::No);
            self.phase.set(Phase::New);
            return;
        }
        self.phase.set(Phase::Over);
        drop(self.listener.take());
        let routes = self.routes.take();
        drop(routes);
    }
}

/// Whether a path begins with a pattern, in any case. `/` is for everything, for `*` too, which is no path.
fn begins_with(path: &[u8], pattern: &[u8]) -> bool {
    pattern == b"/" || path.get(..pattern.len()).is_some_and(|start| start.eq_ignore_ascii_case(pattern))
}

/// What the network part of such a server counts is its own.
#[derive(Default)]
pub(super) struct CoMetrics;

impl Metrics for CoMetrics {
    fn unsealed(&self, conn: &ConnInfo, why: &io::Error) {
        crate::server::tell_unsealed(conn.id(), (conn.peer_ip(), conn.peer_port()), why);
    }

    fn next_session(&self) -> i64 {
        connections::next_id()
    }

    fn sample(&self, _counters: &Counters) {
        if let Some(state) = State::existing() {
            state.engine.switch().pool.trim(TRIMMED);
        }
    }

    fn warn(&self, message: &str) {
        apus_process::log::warning(format_args!("Coroutine\\Http\\Server: {message}"));
    }
}

#[cfg(test)]
mod tests {
    use super::begins_with;

    #[test]
    fn patterns_are_beginnings_in_any_case() {
        assert!(begins_with(b"/News/1", b"/news"));
        assert!(begins_with(b"/newspaper", b"/news"));
        assert!(!begins_with(b"/new", b"/news"));
        assert!(begins_with(b"/anything", b"/"));
        assert!(begins_with(b"*", b"/"));
        assert!(!begins_with(b"*", b"/a"));
    }
}
