//! What is behind the PHP objects of a server, shared by all of them.

use std::cell::{Cell, RefCell};
use std::ops::Deref;
use std::rc::{Rc, Weak};
use std::time::Duration;

use apus_net::Datagram;
use apus_options::Settings;
use apus_process::{Role, Scoreboard, Worker};
use apus_shm::ForkEpoch;
use apus_shm::handover::Handover;
use apus_shm::tasks::TaskQueue;
use apus_zend::engine::{Thrown, ThrownKind};
use apus_zend::object::Object;
use apus_zend::value::ArrayView;
use apus_zend::{Callable, Raise, Value, engine, fiber, native};

use super::events::{COUNT, Event};
use super::host::HostCore;
use super::host_figures::HostFigures;
use super::port_core::{Given, PortCore, Tell};
use super::routing::commands::Command;
use super::routing::dispatch::Dispatch;
use super::stats_file::StatsFile;
use super::task::SystemQueue;
use super::tls::ServerCertificates;
use crate::exception::{self};
use crate::handlers::Handlers;
use crate::runtime::State;
use crate::swoole::{self, There};
use crate::system::notifier::bit;
use crate::system::sys::kill;

pub(super) use crate::process::Phase;

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

/// Which class of server it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ServerKind {
    /// `Apus\Server`: its ports speak no protocol of their own.
    Raw,
    /// `Apus\Http\Server`.
    Http,
    /// `Apus\WebSocket\Server`.
    WebSocket,
}

/// A server.
pub(super) struct ServerCore {
    pub(super) ports: RefCell<Vec<Rc<PortCore>>>,
    pub(super) hosts: RefCell<Vec<Rc<HostCore>>>,
    /// What is counted of the hosts, from `start()` on.
    pub(super) host_figures: RefCell<Option<Rc<HostFigures>>>,
    pub(super) callbacks: Callbacks,
    pub(super) settings: RefCell<Settings>,
    /// Certificates and keys of ports that speak TLS.
    pub(super) tls: ServerCertificates,
    /// `package_length_func`.
    pub(super) tell: RefCell<Option<Rc<Callable>>>,
    /// `dispatch_func`.
    pub(super) dispatch_func: RefCell<Option<Rc<Callable>>>,
    /// Who handles what clients send, from `start()` on, where that is not the worker that has the connection.
    pub(super) dispatch: RefCell<Option<Rc<Dispatch>>>,
    /// The datagram sockets of this worker, by the place of their port among the server's.
    pub(super) datagrams: RefCell<Vec<(usize, Rc<Datagram>)>>,
    pub(super) phase: Cell<Phase>,
    pub(super) worker: RefCell<Option<Rc<Worker>>>,
    /// The tasks of a server that has task workers, from `start()` on.
    pub(super) task_queue: Cell<Option<&'static TaskQueue>>,
    /// How requests reach the processes that run scripts, from `start()` on, where there are any.
    pub(super) handover: Cell<Option<&'static Handover>>,
    /// The processes that `addProcess()` was given.
    pub(super) users: RefCell<Vec<Object>>,
    /// The process that made it.
    creator: ForkEpoch,
    /// Whether it is of the classes that code written for Swoole knows: it has their conventions.
    pub(super) second: bool,
    /// Whether requests above `max_concurrency` are answered 503, as there; else they wait.
    pub(super) refuses: Cell<bool>,
    /// Whether answers are no longer than `buffer_output_size`, as there in the mode of several processes.
    pub(super) bounds_answers: Cell<bool>,
    /// Whether the mode there has one process with everything in it, where one worker is enough.
    pub(super) base: Cell<bool>,
    /// `start_session_id`: the number before the first connection's.
    pub(super) start_session: Cell<u64>,
    /// Whether callbacks get one object in place of several arguments, by the setting `event_object` there.
    pub(super) event_objects: Cell<bool>,
    /// What `addCommand()` was given.
    pub(super) commands: RefCell<Vec<Command>>,
    /// `stats_file`, which only code written for Swoole has.
    pub(super) stats_file: RefCell<Option<StatsFile>>,
    /// Whose tasks come from other programs, too: the same.
    pub(super) system_queue: Cell<Option<SystemQueue>>,
}

thread_local! {
    /// The servers that this script has made.
    static MADE: RefCell<Vec<Weak<ServerCore>>> = const { RefCell::new(Vec::new()) };
}

/// `apus run` sets it: the script is there to serve.
const RUN: &str = "APUS_RUN";

impl Drop for ServerCore {
    fn drop(&mut self) {
        let forgotten = self.phase.get() == Phase::New && self.creator.is_now();
        // An exception that ends the script says why itself.
        if forgotten && std::env::var_os(RUN).is_some() && engine::exit_status() == 0 {
            apus_process::log::warning(format_args!(
                "a server was made at {}, and start() was never called: nothing is served",
                self.waiting_at()
            ));
        }
    }
}

/// The payload of a server object.
pub(super) struct ServerHandle(pub(super) Rc<ServerCore>);

native!(ServerHandle, "Apus\\Server");

impl Deref for ServerHandle {
    type Target = Rc<ServerCore>;
    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl ServerCore {
    pub(super) fn new(kind: ServerKind, first: PortCore, second: bool) -> Rc<Self> {
        let mut settings = ini_settings();
        settings.open_http_protocol = kind != ServerKind::Raw;
        settings.open_websocket_protocol = kind == ServerKind::WebSocket;
        if second {
            second_defaults(&mut settings);
        }
        let core = Rc::new(Self {
            ports: RefCell::new(vec![Rc::new(first)]),
            hosts: RefCell::default(),
            host_figures: RefCell::default(),
            callbacks: Callbacks::default(),
            tls: ServerCertificates::default(),
            settings: RefCell::new(settings),
            tell: RefCell::new(None),
            dispatch_func: RefCell::new(None),
            dispatch: RefCell::new(None),
            datagrams: RefCell::default(),
            phase: Cell::new(Phase::New),
            worker: RefCell::new(None),
            task_queue: Cell::new(None),
            handover: Cell::new(None),
            users: RefCell::default(),
            creator: ForkEpoch::now(),
            second,
            refuses: Cell::new(false),
            bounds_answers: Cell::new(false),
            base: Cell::new(false),
            start_session: Cell::new(0),
            event_objects: Cell::new(false),
            commands: RefCell::default(),
            stats_file: RefCell::default(),
            system_queue: Cell::default(),
        });
        MADE.with(|made| {
            let mut made = made.borrow_mut();
            made.retain(|other| other.strong_count() > 0);
            made.push(Rc::downgrade(&core));
        });
        core
    }

    /// Whether one process does it all there: it is master and worker.
    fn is_one_process_there(&self) -> bool {
        let settings = self.settings.borrow();
        self.base.get()
            && settings.worker_num == 1
            && settings.task_worker_num == 0
            && settings.max_request == 0
            && self.users.borrow().is_empty()
    }

    /// The manager's process id, which is the master's; 0 where there is none there.
    pub(super) fn manager_pid(&self, master: i64) -> i64 {
        if self.is_one_process_there() { 0 } else { master }
    }

    /// Passes a signal for the master on to the worker, where that is the same process there, and handles it.
    pub(super) fn passes_on(&self, signal: i32, scoreboard: &Scoreboard) -> bool {
        let one = self.second && self.is_one_process_there();
        let worker = scoreboard.worker(0).filter(|slot| one && slot.handled_signals.get() & bit(signal) != 0);
        // 0 would mean all processes of the group.
        worker.is_some_and(|slot| slot.pid() != 0 && kill(slot.pid() as i32, signal).is_ok())
    }

    pub(super) fn set(&self, given: ArrayView<'_>) -> Result<(), Raise> {
        let mut given = Given::read(given, self.second)?;
        self.configure(&given)?;
        let said = SystemQueue::said(self.system_queue.get(), given.task_ipc_mode, given.message_queue_key);
        self.system_queue.set(said);
        if let Some(path) = &given.stats_file {
            let every = given.stats_interval.unwrap_or(Duration::from_secs(1));
            let file = (!path.is_empty()).then(|| StatsFile { path: path.into(), every });
            self.stats_file.replace(file);
        }
        let mut settings = self.settings.borrow_mut();
        if let Some(on) = given.event_object {
            self.event_objects.set(on);
            settings.task_use_object |= on;
        }
        drop(settings);
        self.refuses.set(self.refuses.get() || self.second && given.max_concurrency);
        self.start_session.set(given.start_session.unwrap_or(self.start_session.get()));
        let bounds = self.second && !self.base.get() && given.bounds_answers;
        self.bounds_answers.set(self.bounds_answers.get() || bounds);
        // What is replaced is dropped last: its destructor may run PHP code that comes here again.
        let _old_func = match given.take_dispatch() {
            Tell::Unsaid => None,
            Tell::Nobody => self.dispatch_func.replace(None),
            Tell::By(callable) => self.dispatch_func.replace(Some(callable)),
        };
        let _old = match given.take_tell() {
            Tell::Unsaid => None,
            Tell::Nobody => self.tell.replace(None),
            Tell::By(callable) => self.tell.replace(Some(callable)),
        };
        Ok(())
    }

    /// Puts settings of the table on top of those that are in force: all of them, or none.
    pub(super) fn configure(&self, given: &Given) -> Result<(), Raise> {
        let mut settings = self.settings.borrow().clone();
        given.apply(&mut settings)?;
        self.settings.replace(settings);
        Ok(())
    }

    /// The callback for an event of a port: its own, or the server's.
    pub(super) fn callback(&self, port: &PortCore, event: Event) -> Option<Callable> {
        port.callbacks.get(event).or_else(|| self.callbacks.get(event))
    }

    /// How the callbacks of a worker are called that belong to no port. User processes have `enable_coroutine` from
    /// their own constructor.
    pub(super) fn handlers(&self, state: &Rc<State>, role: Role) -> Handlers {
        Handlers::new(state, matches!(role, Role::User(_)) || self.settings.borrow().enable_coroutine)
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
        Err(exception::throw(exception::code::server::STATE, &format!("{what} must be called before start()")))
    }

    /// A server starts once.
    pub(super) fn expect_start(&self) -> Result<(), Raise> {
        let why = match self.phase.get() {
            Phase::New => return Ok(()),
            Phase::Master | Phase::Worker => "start() was called already, and this server runs",
            Phase::Over => "start() was called already, and this server has stopped: it starts once; make a new one",
        };
        let raise = exception::throw(exception::code::server::STATE, why);
        if self.second && self.phase.get() == Phase::Over {
            // There it is no message that `swoole.display_errors` switches off.
            let said = "The server have been shutdown, unable to execute Swoole\\Server->start()";
            engine::warning_of_function(said)?;
            return Err(swoole::there(raise, There::Quiet(swoole::error::WRONG_OPERATION)));
        }
        Err(raise)
    }

    /// The addresses at which clients wait for a server that was made and not started.
    fn waiting_at(&self) -> String {
        let ports = self.ports.borrow();
        let bound = ports.iter().filter(|port| port.listener.borrow().is_some());
        bound.map(|port| port.addr.to_string()).collect::<Vec<_>>().join(", ")
    }

    /// Says which other servers of this script nobody serves while this one runs.
    pub(super) fn tell_of_others(&self) {
        let mine: *const Self = self;
        let others = MADE.with(|made| made.borrow().iter().filter_map(Weak::upgrade).collect::<Vec<_>>());
        for other in others.iter().filter(|other| !std::ptr::eq(Rc::as_ptr(other), mine)) {
            if other.phase.get() == Phase::New {
                apus_process::log::warning(format_args!(
                    "this script has made another server, at {}, which is not served while this one runs: one server has several ports by listen() ({})",
                    other.waiting_at(),
                    fiber::position()
                ));
            }
        }
    }

    pub(super) fn worker(&self, what: &str) -> Result<Rc<Worker>, Raise> {
        self.worker.borrow().clone().ok_or_else(|| {
            exception::throw(exception::code::server::STATE, &format!("{what} works inside a worker, after start()"))
        })
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

/// What else holds by default in code written for Swoole.
pub(crate) fn second_defaults(settings: &mut Settings) {
    settings.http_require_host = false;
    // Heads are bounded there, and the fields in them are not.
    settings.max_header_size = 64 << 10;
    settings.max_headers = 1000;
    "swoole-http-server".clone_into(&mut settings.server_header);
    settings.max_wait_time = Duration::from_secs(3);
    // No file has a limit of its own there, unless the program gives one.
    settings.upload_max_filesize = 0;
    // The setting is about the form of `$files` there: files are always stored.
    settings.http_parse_files = false;
    // No file is a folder's page there, unless the program names one.
    settings.http_index_files.clear();
    // Programs have it looked for by an entry of php.ini there, which names microseconds.
    settings.blocked_loop_warn = blocking_threshold().unwrap_or_default();
    // Of ours, a start is not worth a line there.
    let _ = settings.set("log_level", &apus_options::Value::Str("info".to_owned()));
}

/// The fields that every answer has there, as clients of such programs compare them.
pub(crate) fn second_fields(config: &mut apus_net::Config) {
    config.own_first = true;
    config.default_charset = false;
    config.lenient = true;
    config.explains = false;
    config.store_files = true;
    // What is all there is coded as a whole, and its head tells how long it is.
    config.http_compression.iter_mut().for_each(|coding| coding.told = 512 << 10);
    // Where files have a limit of their own, that of whole messages is not for forms with files.
    config.refuses_large_files = config.max_file > 0;
    if config.max_file > 0 {
        config.max_form =
            config.max_file.saturating_mul(config.max_files.max(1).into()).saturating_add(config.max_body);
    } else {
        config.max_file = u64::MAX;
    }
}

/// How long a process may be busy until it is told of, where `swoole.blocking_detection` asks for that.
fn blocking_threshold() -> Option<Duration> {
    let asked = engine::ini("swoole.blocking_detection")?;
    let on = asked == "1" || ["on", "yes", "true"].iter().any(|word| asked.eq_ignore_ascii_case(word));
    let microseconds = engine::ini("swoole.blocking_threshold")?.parse().ok()?;
    on.then_some(Duration::from_micros(microseconds))
}

/// The defaults, with PHP's own limits where PHP names them.
pub(crate) fn ini_settings() -> Settings {
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
