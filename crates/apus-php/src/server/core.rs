//! What is behind the PHP objects of a server, shared by all of them.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use apus_options::{Scope, Settings, Support};
use apus_process::{BindOptions, ListenAddr, Listener, Worker, bind};
use apus_zend::engine::{Thrown, ThrownKind};
use apus_zend::object::Object;
use apus_zend::value::ArrayView;
use apus_zend::{Callable, Raise, Value, engine, native};

use super::events::{COUNT, Event};
use crate::convert;
use crate::exception::{self, SERVER};

/// The callbacks of a server or port, by event.
#[derive(Default)]
pub(super) struct Callbacks(RefCell<[Option<Callable>; COUNT]>);

impl Callbacks {
    pub(super) fn set(&self, event: Event, callable: Callable) {
        let old = self.0.borrow_mut()[event as usize].replace(callable);
        // Its destructor may run PHP code, which may call on() again.
        drop(old);
    }

    pub(super) fn get(&self, event: Event) -> Option<Callable> {
        self.0.borrow()[event as usize].as_ref().map(Callable::share)
    }
}

/// One listening port.
pub(super) struct PortCore {
    pub(super) addr: ListenAddr,
    pub(super) kind: i64,
    pub(super) listener: RefCell<Option<Listener>>,
    /// What `Port::set()` was given, on top of the server's settings.
    given: RefCell<Vec<(String, apus_options::Value)>>,
    pub(super) callbacks: Callbacks,
}

/// The payload of a port object.
pub(super) struct PortHandle(pub(super) Rc<PortCore>, pub(super) Rc<ServerCore>);

native!(PortHandle, "Apus\\Server\\Port");

impl PortCore {
    pub(super) fn bind(host: &str, port: i64, kind: i64) -> Result<Self, Raise> {
        let failed = |text: &str| exception::throw(&SERVER, "BIND", text);
        let addr = super::address::parse(host, port, kind).map_err(|why| failed(&why))?;
        let listener = bind(&addr, &BindOptions::default()).map_err(|error| failed(&error.to_string()))?;
        Ok(Self {
            addr: listener.addr.clone(),
            kind,
            listener: RefCell::new(Some(listener)),
            given: RefCell::default(),
            callbacks: Callbacks::default(),
        })
    }

    /// The server's settings with the port's own on top.
    pub(super) fn settings(&self, of_server: &Settings) -> Result<Settings, Raise> {
        let mut settings = of_server.clone();
        for (name, value) in self.given.borrow().iter() {
            settings.set(name, value).map_err(|error| exception::throw(&SERVER, "OPTION", &error.to_string()))?;
        }
        Ok(settings)
    }

    pub(super) fn set(&self, given: ArrayView<'_>) -> Result<(), Raise> {
        let pairs = convert::pairs(given).map_err(|why| exception::throw(&SERVER, "OPTION", &why))?;
        let mut probe = Settings::default();
        for (name, value) in &pairs {
            if of_whole_server(name) {
                let text =
                    format!("setting \"{name}\" belongs to the whole server, not to one port: use Server::set()");
                return Err(exception::throw(&SERVER, "OPTION", &text));
            }
            probe.set(name, value).map_err(|error| exception::throw(&SERVER, "OPTION", &error.to_string()))?;
        }
        self.given.borrow_mut().extend(pairs);
        Ok(())
    }

    pub(super) fn host(&self) -> String {
        match &self.addr {
            ListenAddr::Tcp(addr) => addr.ip().to_string(),
            ListenAddr::Unix(path) => path.display().to_string(),
        }
    }

    pub(super) fn port(&self) -> i64 {
        match &self.addr {
            ListenAddr::Tcp(addr) => i64::from(addr.port()),
            ListenAddr::Unix(_) => 0,
        }
    }
}

/// Whether a setting takes effect, and a port cannot have it.
fn of_whole_server(name: &str) -> bool {
    apus_options::find(name).is_some_and(|row| row.scope == Scope::Server && row.support == Support::Full)
}

/// Where the server is in its life, in this process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Phase {
    /// Not started.
    New,
    /// This process is the master.
    Master,
    /// This process is a worker.
    Worker,
    /// It has stopped.
    Over,
}

/// A server.
pub(super) struct ServerCore {
    pub(super) ports: RefCell<Vec<Rc<PortCore>>>,
    pub(super) callbacks: Callbacks,
    pub(super) settings: RefCell<Settings>,
    pub(super) phase: Cell<Phase>,
    pub(super) worker: RefCell<Option<Rc<Worker>>>,
}

/// The payload of a server object.
pub(super) struct ServerHandle(pub(super) Rc<ServerCore>);

native!(ServerHandle, "Apus\\Server");

impl ServerCore {
    pub(super) fn new(first: PortCore) -> Rc<Self> {
        Rc::new(Self {
            ports: RefCell::new(vec![Rc::new(first)]),
            callbacks: Callbacks::default(),
            settings: RefCell::new(ini_settings()),
            phase: Cell::new(Phase::New),
            worker: RefCell::new(None),
        })
    }

    pub(super) fn set(&self, given: ArrayView<'_>) -> Result<(), Raise> {
        let mut settings = self.settings.borrow().clone();
        convert::apply(&mut settings, given).map_err(|why| exception::throw(&SERVER, "OPTION", &why))?;
        *self.settings.borrow_mut() = settings;
        Ok(())
    }

    /// The callback for an event of a port: its own, or the server's.
    pub(super) fn callback(&self, port: &PortCore, event: Event) -> Option<Callable> {
        port.callbacks.get(event).or_else(|| self.callbacks.get(event))
    }

    /// Calls back on the running stack, and reports what nobody catches.
    pub(super) fn emit(&self, server: &Object, event: Event, args: Vec<Value>) {
        let Some(callable) = self.callbacks.get(event) else { return };
        let mut all = vec![server.share().into()];
        all.extend(args);
        match callable.call(&all) {
            Ok(_) => {}
            Err(Raise::Thrown) => {
                if let Some(thrown) = Thrown::take() {
                    callback_ended(event, &thrown);
                }
            }
            Err(Raise::Bailed) => {
                apus_process::log::error(format_args!("a fatal error ended the callback of {}", event.name()));
            }
        }
    }

    pub(super) fn expect_new(&self, what: &str) -> Result<(), Raise> {
        if self.phase.get() == Phase::New {
            return Ok(());
        }
        Err(exception::throw(&SERVER, "STATE", &format!("{what} must be called before start()")))
    }

    pub(super) fn worker(&self, what: &str) -> Result<Rc<Worker>, Raise> {
        self.worker
            .borrow()
            .clone()
            .ok_or_else(|| exception::throw(&SERVER, "STATE", &format!("{what} works inside a worker, after start()")))
    }
}

/// Reports what ended a callback of the master. `exit()` there means the server.
pub(super) fn callback_ended(event: Event, thrown: &Thrown) {
    if thrown.kind() == ThrownKind::Exit {
        apus_process::log::notice(format_args!("the callback of {} called exit(): the server stops", event.name()));
        super::class::signal_self(libc::SIGTERM);
        return;
    }
    apus_process::log::error(format_args!("uncaught in {}: {}", event.name(), describe(thrown)));
}

/// The text of an exception. `exit()`, and in some versions of PHP a fatal error, unwinds without one.
pub(super) fn describe(thrown: &Thrown) -> String {
    match thrown.kind() {
        ThrownKind::Exception => thrown.text(),
        ThrownKind::Fatal => "a fatal error".to_owned(),
        ThrownKind::Exit | ThrownKind::Graceful => "exit()".to_owned(),
    }
}

/// The defaults, with PHP's own limits where PHP names them.
fn ini_settings() -> Settings {
    let mut settings = Settings::default();
    for (ini, setting) in [
        ("post_max_size", "package_max_length"),
        ("upload_max_filesize", "upload_max_filesize"),
        ("max_file_uploads", "max_file_uploads"),
        ("max_input_vars", "max_input_vars"),
        ("upload_tmp_dir", "upload_tmp_dir"),
    ] {
        // A value that the table does not allow (0 for "no limit") leaves the default in force.
        if let Some(text) = engine::ini(ini).filter(|text| !text.is_empty()) {
            let _ = settings.set(setting, &apus_options::Value::Str(text));
        }
    }
    settings
}
