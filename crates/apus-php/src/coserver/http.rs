//! `Apus\Coroutine\Http\Server`.

use std::os::fd::AsRawFd as _;
use std::rc::Rc;

use apus_coro::Wait;
use apus_net::{Connections, Control};
use apus_process::{BindOptions, Listener};
use apus_zend::arg::{Given, Made, Make, Me};
use apus_zend::object::Object;
use apus_zend::value::ArrayView;
use apus_zend::{Call, Callable, Raise, Value, engine, native};

use super::core::{Before, CoMetrics, HttpCore, Phase};
use super::listen;
use crate::convert;
use crate::exception;
use crate::runtime::State;
use crate::socket::merged_settings;
use crate::wait::{expect_suspendable, wait};

const START: &str = "Coroutine\\Http\\Server::start()";

struct HttpServer(Rc<HttpCore>);

native!(HttpServer, "Apus\\Coroutine\\Http\\Server", |server, held| {
    // A server that runs is held by what runs it.
    if Rc::strong_count(&server.0) == 1 {
        server.0.held(held);
    }
});

/// A server that is bound, and whether it has to speak TLS.
struct Bound(Listener, bool);

impl Make for Bound {
    fn make(self, call: &Call) -> Result<(), Raise> {
        let (host, port) = listen::shown(&self.0);
        let shown = [
            (slot::server::FD, Value::int(i64::from(self.0.fd.as_raw_fd()))),
            (slot::server::HOST, Value::string(host.as_bytes())?),
            (slot::server::PORT, Value::int(port)),
            (slot::server::SSL, Value::bool(self.1)),
        ];
        let second = SERVER.is_second(call.this_object()?);
        let mut settings = crate::server::ini_settings();
        if second {
            crate::server::second_defaults(&mut settings);
            // What begins with the preface of HTTP/2 is taken for it there, whatever was set.
            settings.open_http2_protocol = true;
        }
        Made(HttpServer(HttpCore::new(self.0, settings, self.1, second)), shown).make(call)
    }
}

fn construct(host: String, port: i64, ssl: bool, reuse_port: bool) -> Result<Bound, Raise> {
    listen::listen(&host, port, reuse_port).map(|listener| Bound(listener, ssl))
}

fn set(server: Me<'_, HttpServer>, given: ArrayView<'_>) -> Result<bool, Raise> {
    let core = &server.0;
    if core.phase.get() != Phase::New {
        return Err(state_error("set() must be called before start()"));
    }
    let mut settings = core.settings.borrow().clone();
    convert::apply(&mut settings, given).map_err(|why| exception::throw(exception::code::server::OPTION, &why))?;
    *core.settings.borrow_mut() = settings;
    let shown = merged_settings(&server.object.slot(slot::server::SETTINGS), given)?;
    server.object.set_slot(slot::server::SETTINGS, shown);
    Ok(true)
}

fn state_error(text: &str) -> Raise {
    exception::throw(exception::code::server::STATE, text)
}

fn set_handler(server: &HttpServer, pattern: Given<&[u8]>, handler: Callable) -> Result<bool, Raise> {
    if pattern.value.first() != Some(&b'/') {
        return Err(pattern.value_error("must be the beginning of a path, such as \"/\" for all or \"/news\""));
    }
    if server.0.phase.get() == Phase::Over {
        return Err(state_error("this server has ended: make a new one"));
    }
    server.0.handle(pattern.value, handler);
    Ok(true)
}

fn start(server: Me<'_, HttpServer>) -> Result<bool, Raise> {
    let (core, object) = (Rc::clone(&server.0), &server.object);
    let state = State::get()?;
    expect_suspendable(&state, START)?;
    match core.phase.get() {
        Phase::New => {}
        Phase::Running => return Err(state_error("this server runs already: start() was called before")),
        Phase::Over => return Err(state_error("this server has ended: make a new one")),
    }
    crate::output::forgive();
    let result = run(&core, object, &state);
    core.ended();
    object.set_slot(slot::server::FD, Value::int(-1));
    result
}

/// Serves until the end. `false`: it ended in another way than by `shutdown()`.
fn run(core: &Rc<HttpCore>, object: &Object, state: &Rc<State>) -> Result<bool, Raise> {
    let fd = {
        let listener = core.listener.borrow();
        let Some(listener) = &*listener else { return Err(state_error("this server has ended: make a new one")) };
        let options = BindOptions::from(&*core.settings.borrow());
        listener
            .apply(&options)
            .and_then(|()| {
                let copy = listener.fd.try_clone();
                copy.map_err(|source| apus_process::Error::Bind { addr: listener.addr.to_string(), source })
            })
            .map_err(|error| exception::throw(exception::code::server::BIND, &error.to_string()))?
    };
    let tls = crate::server::lone_tls(&core.settings.borrow(), core.ssl)?;
    let edge =
        crate::files::plan(&core.settings.borrow(), core.second).and_then(|plan| crate::files::open(plan.as_ref()));
    let edge = edge.map_err(|why| exception::throw(exception::code::server::OPTION, &why))?;
    let gate = crate::files::gate(&core.settings.borrow());
    let gate = gate.map_err(|why| exception::throw(exception::code::server::OPTION, &why))?;
    let connections = Connections::of(&core.settings.borrow());
    let connections = connections.map_err(|why| exception::throw(exception::code::server::OPTION, &why))?;
    let control = Control::new(Rc::new(CoMetrics), &state.events);
    core.began(&control);
    let (done, over) = tokio::sync::oneshot::channel();
    let serving = Rc::clone(core).serve(Rc::clone(state), fd, Before { tls, edge, gate, connections }, control);
    // A task of its own: when this wait is broken off, it still ends what it has begun.
    state.spawn(async move {
        // Nobody asks any more when the wait was broken off.
        let _ = done.send(serving.await);
    });
    let waited = wait(state, Wait::Outside(START), over);
    if !matches!(waited, Ok(Some(_))) {
        core.break_off();
    }
    let failure = match waited? {
        Some(Ok(Ok(()))) => return Ok(true),
        Some(Ok(Err(error))) => error,
        Some(Err(_)) => return Err(engine::throw_error("the server's task ended early; please report it")),
        None => std::io::Error::from_raw_os_error(libc::ECANCELED),
    };
    object.set_slot(slot::server::ERR_CODE, Value::int(i64::from(failure.raw_os_error().unwrap_or(libc::EIO))));
    object.set_slot(slot::server::ERR_MSG, Value::string(failure.to_string().as_bytes())?);
    Ok(false)
}

fn shutdown(server: &HttpServer) -> bool {
    Rc::clone(&server.0).shut_down()
}

apus_zend::stub!("coserver/http");
