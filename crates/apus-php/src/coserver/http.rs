//! `Apus\Coroutine\Http\Server`.

use std::os::fd::AsRawFd as _;
use std::rc::Rc;

use apus_coro::Wait;
use apus_net::Control;
use apus_process::BindOptions;
use apus_zend::class::{Class, Method, Property};
use apus_zend::object::Object;
use apus_zend::{Call, Raise, Value, engine, handler, native};

use super::core::{CoMetrics, HttpCore, Phase};
use super::listen;
use crate::convert;
use crate::exception::{self, SERVER as SERVER_EXCEPTION, entry};
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
    // SAFETY: $this is alive during the call.
    Ok(unsafe { Object::share_raw(call.this_object()?) })
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
    call.expect(1, 1)?;
    let given = call.array(0)?;
    let core = core(call)?;
    if core.phase.get() != Phase::New {
        return Err(state_error("set() must be called before start()"));
    }
    let mut settings = core.settings.borrow().clone();
    convert::apply(&mut settings, given).map_err(|why| exception::throw(&SERVER_EXCEPTION, "OPTION", &why))?;
    *core.settings.borrow_mut() = settings;
    let object = this(call)?;
    let shown = merged_settings(&object.slot(slot::SETTINGS), given)?;
    object.set_slot(slot::SETTINGS, shown);
    call.ret(true)
}

fn state_error(text: &str) -> Raise {
    exception::throw(&SERVER_EXCEPTION, "STATE", text)
}

fn set_handler(call: &Call) -> Result<(), Raise> {
    call.expect(2, 2)?;
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
    call.expect(0, 0)?;
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
            .map_err(|error| exception::throw(&SERVER_EXCEPTION, "BIND", &error.to_string()))?
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
    call.expect(0, 0)?;
    call.ret(core(call)?.shut_down())
}

/// `Apus\Coroutine\Http\Server`.
pub(super) static SERVER: Class = Class {
    name: "Apus\\Coroutine\\Http\\Server",
    modifiers: "final",
    extends: "",
    implements: &[],
    doc: "An HTTP/1.1 server in a coroutine: it needs no master process, runs in any script beside other coroutines, and may be one\n\
          of several in the process. Each request is handled in a coroutine of its own, with the objects that the request event of\n\
          Apus\\Http\\Server has; Response::upgrade() makes a WebSocket of it. For all cores start several processes with\n\
          $reuse_port, or use Apus\\Http\\Server, which supervises them.\n\
          An exception that a handler does not catch goes to the program's exception handler, or else to the log; the client gets\n\
          500, and the server goes on.\n@since 0.1.0",
    constants: &[],
    properties: &[
        Property { decl: "public int $fd = -1", doc: "The descriptor that listens; -1 when the server has ended." },
        Property { decl: "public ?string $host = null", doc: "The address, or the path of a Unix socket." },
        Property {
            decl: "public int $port = -1",
            doc: "The port; the real one where 0 was asked for; 0 for a Unix socket.",
        },
        Property { decl: "public bool $ssl = false", doc: "Whether TLS is spoken: false." },
        Property { decl: "public ?array $settings = null", doc: "What set() was given." },
        Property { decl: "public int $errCode = 0", doc: "Why start() returned false: an errno." },
        Property { decl: "public string $errMsg = ''", doc: "The same in words." },
    ],
    methods: METHODS,
    native: true,
    lazy: None,
    entry: entry!(),
};

const METHODS: &[Method] = &[
    Method { decl: listen::CONSTRUCT, doc: listen::CONSTRUCT_DOC, handler: Some(handler!(construct)) },
    Method {
        decl: "public function set(array $settings): bool",
        doc: "Settings: those of docs/options.md with the scope \"port\", and max_connection (default 100000), max_concurrency,\n\
              cancel_on_disconnect and max_wait_time (default 30 s). Others of a server's are accepted, as programs share one array,\n\
              and mean nothing here. All are applied, or none.\n\
              @throws \\Apus\\Server\\Exception OPTION (the message names the setting, its limits and unit), STATE after start()\n\
              Does not wait.\n@since 0.1.0",
        handler: Some(handler!(set)),
    },
    Method {
        decl: "public function handle(string $pattern, callable $callback): bool",
        doc: "Has $callback(Apus\\Http\\Request $request, Apus\\Http\\Response $response) answer requests whose path (as sent, without\n\
              the query) begins with $pattern, in any case; it replaces an earlier one of the same pattern. The longest pattern that\n\
              fits is taken; \"/\" fits everything. Without one that fits the answer is 404. May be called while the server runs.\n\
              @param string $pattern begins with \"/\"\n\
              @throws \\ValueError when it does not\n@throws \\Apus\\Server\\Exception STATE when the server has ended\n\
              Does not wait.\n@since 0.1.0",
        handler: Some(handler!(set_handler)),
    },
    Method {
        decl: "public function start(): bool",
        doc: "Serves, in a coroutine for each request, until shutdown(). Once for each object; afterwards the handlers are let go of.\n\
              When it is cancelled, the server ends at once: connections are cut, handlers see a CanceledException.\n\
              @return bool true after shutdown(); false when it was cancelled or could not listen, with errCode\n\
              @throws \\Apus\\Server\\Exception STATE when it was called before, BIND\n\
              @throws \\Apus\\Coroutine\\Exception NOT_IN_COROUTINE, CANNOT_SWITCH\n\
              @throws \\Apus\\Coroutine\\CanceledException when cancelled with an exception\nWaits.\n@since 0.1.0",
        handler: Some(handler!(start)),
    },
    Method {
        decl: "public function shutdown(): bool",
        doc: "Accepts nothing more and lets requests that have begun end, for max_wait_time seconds at most (then their connections\n\
              are cut and their coroutines cancelled); start() returns then. Connections without a request close within 2 seconds.\n\
              @return bool false when the server does not run, or ends already\nDoes not wait.\n@since 0.1.0",
        handler: Some(handler!(shutdown)),
    },
];
