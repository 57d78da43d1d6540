//! `Apus\Coroutine\Http\Server`.

use std::os::fd::AsRawFd as _;
use std::rc::Rc;

use apus_coro::Wait;
use apus_net::Control;
use apus_process::BindOptions;
use apus_zend::object::Object;
use apus_zend::{Call, Raise, Value, engine, native};

use super::core::{CoMetrics, HttpCore, Phase};
use super::listen;
use crate::convert;
use crate::exception::{self};
use crate::runtime::State;
use crate::socket::merged_settings;
use crate::wait::{expect_suspendable, wait};

const START: &str = "Coroutine\\Http\\Server::start()";

/// Where the properties stand, in the order of their declarations.
mod slot {
    pub(super) const FD: u32 = 0;
    pub(super) const HOST: u32 = 1;
    pub(super) const PORT: u32 = 2;
    pub(super) const SETTINGS: u32 = 4;
    pub(super) const ERR_CODE: u32 = 5;
    pub(super) const ERR_MSG: u32 = 6;
}

struct HttpServer(Rc<HttpCore>);

native!(HttpServer, "Apus\\Coroutine\\Http\\Server", |server, held| {
    // A server that runs is held by what runs it.
    if Rc::strong_count(&server.0) == 1 {
        server.0.held(held);
    }
});

fn this(call: &Call) -> Result<Object, Raise> {
    call.object()
}

fn core(call: &Call) -> Result<Rc<HttpCore>, Raise> {
    Ok(Rc::clone(&call.this::<HttpServer>()?.0))
}

fn construct(call: &Call) -> Result<(), Raise> {
    let listener = listen::from_call(call)?;
    let (host, port) = listen::shown(&listener);
    let fd = listener.fd.as_raw_fd();
    call.construct(HttpServer(HttpCore::new(listener, crate::server::ini_settings())))?;
    let object = this(call)?;
    object.set_slot(slot::FD, Value::int(i64::from(fd)));
    object.set_slot(slot::HOST, Value::string(host.as_bytes())?);
    object.set_slot(slot::PORT, Value::int(port));
    Ok(())
}

fn set(call: &Call) -> Result<(), Raise> {
    let given = call.array(0)?;
    let core = core(call)?;
    if core.phase.get() != Phase::New {
        return Err(state_error("set() must be called before start()"));
    }
    let mut settings = core.settings.borrow().clone();
    convert::apply(&mut settings, given).map_err(|why| exception::throw(exception::code::server::OPTION, &why))?;
    *core.settings.borrow_mut() = settings;
    let object = this(call)?;
    let shown = merged_settings(&object.slot(slot::SETTINGS), given)?;
    object.set_slot(slot::SETTINGS, shown);
    call.ret(true)
}

fn state_error(text: &str) -> Raise {
    exception::throw(exception::code::server::STATE, text)
}

fn set_handler(call: &Call) -> Result<(), Raise> {
    let pattern = call.bytes(0)?;
    let handler = call.callable(1)?;
    if pattern.first() != Some(&b'/') {
        return Err(call.value_error(0, "must be the beginning of a path, such as \"/\" for all or \"/news\""));
    }
    let core = core(call)?;
    if core.phase.get() == Phase::Over {
        return Err(state_error("this server has ended: make a new one"));
    }
    core.handle(pattern, handler);
    call.ret(true)
}

fn start(call: &Call) -> Result<(), Raise> {
    let (core, object) = (core(call)?, this(call)?);
    let state = State::get()?;
    expect_suspendable(&state, START)?;
    match core.phase.get() {
        Phase::New => {}
        Phase::Running => return Err(state_error("this server runs already: start() was called before")),
        Phase::Over => return Err(state_error("this server has ended: make a new one")),
    }
    crate::output::forgive();
    let result = run(&core, &object, &state);
    core.ended();
    object.set_slot(slot::FD, Value::int(-1));
    call.ret(result?)
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
    let control = Control::new(Rc::new(CoMetrics));
    core.began(&control);
    let (done, over) = tokio::sync::oneshot::channel();
    let serving = Rc::clone(core).serve(Rc::clone(state), fd, control);
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
    object.set_slot(slot::ERR_CODE, Value::int(i64::from(failure.raw_os_error().unwrap_or(libc::EIO))));
    object.set_slot(slot::ERR_MSG, Value::string(failure.to_string().as_bytes())?);
    Ok(false)
}

fn shutdown(call: &Call) -> Result<(), Raise> {
    call.ret(core(call)?.shut_down())
}

apus_zend::stub!("coserver/http");
