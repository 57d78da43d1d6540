//! `Apus\Coroutine\Server`: a loop that accepts, and a coroutine for each connection.

use std::cell::{Cell, RefCell};
use std::os::fd::AsRawFd as _;
use std::rc::Rc;
use std::time::Duration;

use apus_coro::Wait;
use apus_options::{Settings, client};
use apus_process::Listener;
use apus_process::log::{Level, Repeats};
use apus_zend::arg::{Made, Me};
use apus_zend::engine::Thrown;
use apus_zend::object::Object;
use apus_zend::value::{ArrayView, Key};
use apus_zend::{Array, Callable, Raise, Value, native};
use tokio::sync::Notify;

use super::connection;
use super::listen;
use super::trouble::{self, BACK_OFF, Trouble};
use crate::convert;
use crate::exception::{self, COROUTINE};
use crate::handlers::Handlers;
use crate::runtime::{Outcome, State};
use crate::socket::{Accepted, Listening, merged_settings};
use crate::wait::wait;

const START: &str = "Coroutine\\Server::start()";
/// One a connection.
static CLOSED: Repeats = Repeats::new(Level::Warning, "connections closed because no coroutine could be made for them");

/// The same of handshakes.
static UNSEALED: Repeats = Repeats::new(Level::Info, "connections closed because they did not come to speak TLS");

/// Where a server is in its life.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    New,
    Running,
    /// `shutdown()` was called; `start()` is about to return.
    Stopping,
    Over,
}

/// A server.
struct StreamCore {
    /// Keeps the file of a Unix socket.
    listener: RefCell<Option<Listener>>,
    listening: Listening,
    handler: RefCell<Option<Callable>>,
    max_connections: Cell<usize>,
    phase: Cell<Phase>,
    connections: Rc<Connections>,
    stopping: Notify,
    /// Whether it is of the class that code written for Swoole knows.
    second: Cell<bool>,
    /// Whether connections speak TLS, and how long their handshakes may take; zero for no limit.
    secure: Cell<bool>,
    handshake_timeout: Cell<Duration>,
}

struct StreamServer(Rc<StreamCore>);

native!(StreamServer, "Apus\\Coroutine\\Server", |server, held| {
    // A server that runs is held by what runs it.
    if Rc::strong_count(&server.0) == 1
        && let Ok(handler) = server.0.handler.try_borrow()
    {
        handler.iter().for_each(|handler| held.callable(handler));
    }
});

/// The connections that are open.
#[derive(Default)]
struct Connections {
    open: Cell<usize>,
    room: Notify,
}

/// A connection's place among those of its server, until dropped.
pub(super) struct Place(Rc<Connections>);

impl Place {
    fn take(connections: &Rc<Connections>) -> Rc<Self> {
        connections.open.set(connections.open.get() + 1);
        Rc::new(Self(Rc::clone(connections)))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.open.set(self.0.open.get() - 1);
        self.0.room.notify_one();
    }
}

fn state_error(text: &str) -> Raise {
    exception::throw(exception::code::server::STATE, text)
}

fn construct(host: String, port: i64, ssl: bool, reuse_port: bool) -> Result<Made<StreamServer, 5>, Raise> {
    let listener = listen::listen(&host, port, reuse_port)?;
    let (host, port) = listen::shown(&listener);
    let fd = listener.fd.as_raw_fd();
    let listening = listener.fd.try_clone().and_then(Listening::new).map_err(|error| {
        exception::throw(exception::code::server::BIND, &format!("cannot listen on {}: {error}", listener.addr))
    })?;
    let shown = [
        (slot::server::HOST, Value::string(host.as_bytes())?),
        (slot::server::PORT, Value::int(port)),
        (slot::server::TYPE, Value::int(i64::from(listening.domain()))),
        (slot::server::FD, Value::int(i64::from(fd))),
        (slot::server::SETTING, Array::new(0)?.into()),
    ];
    let core = StreamCore {
        listener: RefCell::new(Some(listener)),
        listening,
        handler: RefCell::new(None),
        max_connections: Cell::new(Settings::default().max_connection as usize),
        phase: Cell::new(Phase::New),
        connections: Rc::default(),
        stopping: Notify::new(),
        second: Cell::new(false),
        secure: Cell::new(ssl),
        handshake_timeout: Cell::new(Settings::default().ssl_handshake_timeout),
    };
    Ok(Made(StreamServer(Rc::new(core)), shown))
}

fn set(server: Me<'_, StreamServer>, given: ArrayView<'_>) -> Result<(), Raise> {
    let core = &server.0;
    if core.phase.get() != Phase::New {
        return Err(state_error("set() must be called before start()"));
    }
    let sorted = sort(given)?;
    core.listening.set(sorted.of_connections.view())?;
    sorted.max_connections.into_iter().for_each(|most| core.max_connections.set(most));
    sorted.handshake_timeout.into_iter().for_each(|limit| core.handshake_timeout.set(limit));
    sorted.secure.into_iter().for_each(|secure| core.secure.set(secure));
    let shown = merged_settings(&server.object.slot(slot::server::SETTING), given)?;
    server.object.set_slot(slot::server::SETTING, shown);
    Ok(())
}

/// What an array of settings holds that matters here.
struct Sorted {
    of_connections: Array,
    max_connections: Option<usize>,
    handshake_timeout: Option<Duration>,
    /// `open_ssl`.
    secure: Option<bool>,
}

/// The settings of connections among those that were given, and what the server itself needs. Others of a server's are
/// checked only: programs share one array among all their servers.
fn sort(given: ArrayView<'_>) -> Result<Sorted, Raise> {
    let refused = |text: &str| exception::throw(exception::code::server::OPTION, text);
    let of_connections = Array::new(given.len())?;
    let mut sorted = Sorted { of_connections, max_connections: None, handshake_timeout: None, secure: None };
    let mut of_server = Settings::default();
    for (key, value) in given.iter() {
        let Key::Str(name) = key else {
            return Err(refused("settings are given as 'name' => value, but a numeric key was found"));
        };
        let text = String::from_utf8_lossy(name);
        let value = value.value();
        let option = convert::to_option(value.view());
        if text == "open_ssl" {
            sorted.secure = Some(option.as_ref().is_some_and(|value| !value.is_off()));
        }
        if text == "package_length_func" || client::socket::Settings::rows().any(|row| row.answers_to(&text)) {
            sorted.of_connections.set(name, value)?;
            continue;
        }
        let option = option.ok_or_else(|| refused(&format!("setting \"{text}\" cannot be an object or a resource")))?;
        of_server.set(&text, &option).map_err(|error| refused(&error.to_string()))?;
        match &*text {
            "max_connection" | "max_conn" => sorted.max_connections = Some(of_server.max_connection as usize),
            "ssl_handshake_timeout" => sorted.handshake_timeout = Some(of_server.ssl_handshake_timeout),
            _ => {}
        }
    }
    Ok(sorted)
}

fn set_handler(server: &StreamServer, handler: Callable) -> Result<(), Raise> {
    let core = Rc::clone(&server.0);
    if core.phase.get() == Phase::Over {
        return Err(state_error("this server has ended: make a new one"));
    }
    let old = core.handler.replace(Some(handler));
    // Its destructor may run PHP code, which may come here again.
    drop(old);
    Ok(())
}

fn start(server: Me<'_, StreamServer>) -> Result<bool, Raise> {
    let (core, object) = (Rc::clone(&server.0), &server.object);
    core.second.set(object.is_second(&SERVER));
    match core.phase.get() {
        Phase::New => {}
        Phase::Running | Phase::Stopping => {
            return Err(state_error("this server runs already: start() was called before"));
        }
        Phase::Over => return Err(state_error("this server has ended: make a new one")),
    }
    if core.handler.borrow().is_none() {
        let text = "nothing would answer connections: call handle(function ($connection) { … }) before start()";
        return Err(exception::throw(exception::code::server::EVENT, text));
    }
    if core.secure.get() {
        core.listening.prepare_tls()?;
    }
    let accepting = core.listening.begin()?;
    crate::output::forgive();
    core.phase.set(Phase::Running);
    let looped = accept_all(&core, &accepting);
    let asked = core.phase.replace(Phase::Over) == Phase::Stopping;
    drop(accepting);
    core.close();
    // It often holds the server that holds it.
    drop(core.handler.take());
    object.set_slot(slot::server::FD, Value::int(-1));
    let errno = looped?;
    if !asked {
        object.set_slot(slot::server::ERR_CODE, Value::int(i64::from(errno)));
    }
    Ok(asked)
}

/// Takes connections until the server is to stop, or cannot go on; the errno that tells why.
fn accept_all(core: &Rc<StreamCore>, accepting: &crate::socket::Accepting<'_>) -> Result<i32, Raise> {
    let state = State::get()?;
    let receiver = trouble::receiver("Coroutine\\Server");
    let (crowd, exhausted) = (Trouble::default(), Trouble::default());
    while core.phase.get() == Phase::Running {
        if !core.has_room(&state, &crowd) {
            if !core.pause(&state)? {
                return Ok(libc::ECANCELED);
            }
            continue;
        }
        match accepting.next(core.second.get())? {
            Accepted::Connection(socket) if core.secure.get() => core.shake(&state, socket, &receiver)?,
            Accepted::Connection(socket) => {
                if !core.take(&state, socket, &receiver)? && !core.pause(&state)? {
                    return Ok(libc::ECANCELED);
                }
            }
            Accepted::Stopped => return Ok(libc::ECANCELED),
            Accepted::Exhausted(why) => {
                exhausted.tell(format_args!(
                    "{START} cannot accept connections: {why}; trying again every {} ms (see ulimit -n)",
                    BACK_OFF.as_millis()
                ));
                if !core.pause(&state)? {
                    return Ok(libc::ECANCELED);
                }
            }
            Accepted::Failed(errno, why) => {
                apus_process::log::error(format_args!("{START} cannot accept connections: {why}; it ends"));
                return Ok(errno);
            }
        }
    }
    Ok(0)
}

impl StreamCore {
    /// Whether one more connection may be taken. Those that may not wait in the listening queue.
    fn has_room(&self, state: &State, crowd: &Trouble) -> bool {
        let (open, most) = (self.connections.open.get(), self.max_connections.get());
        if open >= most {
            crowd.tell(format_args!(
                "{START}: {most} connections are open, which is max_connection: new ones wait in the backlog"
            ));
            return false;
        }
        let limit = state.settings.borrow().max_coroutine as usize;
        if state.engine.live() >= limit {
            crowd.tell(format_args!(
                "{START}: {limit} coroutines exist, which is max_coroutine: new connections wait in the backlog"
            ));
            return false;
        }
        true
    }

    /// Waits a little, less when a connection closes. `false`: the wait was broken off.
    fn pause(&self, state: &State) -> Result<bool, Raise> {
        Ok(wait(state, Wait::Outside(START), self.until_it_may_go_on())?.is_some())
    }

    async fn until_it_may_go_on(&self) {
        tokio::select! {
            () = self.stopping.notified() => {}
            () = self.connections.room.notified() => {}
            () = tokio::time::sleep(BACK_OFF) => {}
        }
    }

    /// Hands a connection over once it has shaken hands. It counts among the others meanwhile, and waits for none.
    fn shake(self: &Rc<Self>, state: &Rc<State>, socket: Object, receiver: &Rc<dyn Fn(Outcome)>) -> Result<(), Raise> {
        let shaking = crate::socket::shake(state, &socket)?;
        let (core, of_task, receiver) = (Rc::clone(self), Rc::clone(state), Rc::clone(receiver));
        let (place, limit) = (Place::take(&self.connections), self.handshake_timeout.get());
        let limit = if limit.is_zero() { Duration::MAX } else { limit };
        // The coroutine may run outside of the loop, before it has begun.
        state.spawn(async move {
            match tokio::time::timeout(limit, shaking).await {
                Ok(Ok(())) if core.phase.get() == Phase::Running => {
                    if let Err(raise) = core.hand_over(&of_task, socket, place, &receiver) {
                        of_task.report(raise);
                    }
                }
                Ok(Err(why)) => UNSEALED.tell(format_args!("{START} closed a connection: TLS: {why}")),
                _ => {}
            }
        });
        Ok(())
    }

    fn take(&self, state: &Rc<State>, socket: Object, receiver: &Rc<dyn Fn(Outcome)>) -> Result<bool, Raise> {
        self.hand_over(state, socket, Place::take(&self.connections), receiver)
    }

    /// Hands a connection to a coroutine of its own, which runs at once. `false`: none could be made, and it was
    /// closed.
    fn hand_over(
        &self,
        state: &Rc<State>,
        socket: Object,
        place: Rc<Place>,
        receiver: &Rc<dyn Fn(Outcome)>,
    ) -> Result<bool, Raise> {
        let Some(handler) = self.handler.borrow().as_ref().map(Callable::share) else { return Ok(false) };
        let connection = connection::object(socket, place, self.second.get())?;
        match Handlers::new(state, true).launch(handler, [connection.into()], Some(Rc::clone(receiver))) {
            Ok(()) => Ok(true),
            Err(Raise::Bailed) => Err(Raise::Bailed),
            Err(Raise::Thrown) => match Thrown::take() {
                Some(thrown) if thrown.is(COROUTINE.get()) => {
                    CLOSED.tell(format_args!("{START} closed a connection: {}", thrown.text()));
                    Ok(false)
                }
                Some(thrown) => Err(thrown.rethrow()),
                None => Ok(false),
            },
        }
    }

    fn close(&self) {
        self.listening.close();
        drop(self.listener.take());
    }
}

fn shutdown(server: &StreamServer) -> bool {
    let core = Rc::clone(&server.0);
    if core.phase.get() != Phase::Running {
        return false;
    }
    core.phase.set(Phase::Stopping);
    core.close();
    core.stopping.notify_one();
    true
}

apus_zend::stub!("coserver/stream");
