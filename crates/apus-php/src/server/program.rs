//! What runs in the master and in the workers.

use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

use apus_process::{
    AccessSettings, Awaited, MasterEvent, MetricSnapshot, Outcome, Parcel, Program, Role, RoleCounts, RunningScript,
    Scoreboard, ScriptsSnapshot, Text, Worker,
};
use apus_shm::handover::Watch;
use apus_zend::object::Object;
use apus_zend::{Callable, Raise, Value, engine};

use super::class::slot::server as slot;
use super::core::{Phase, ServerCore, callback_ended};
use super::event_object;
use super::events::Event;
use super::host_figures::HostFigures;
use super::routing::dispatch::Dispatch;
use super::{routing, serving, task, user_process, worker};
use crate::descriptor;
use crate::exception::{self};
use crate::metrics;
use crate::output;
use crate::rescue;
use crate::runtime::{Mode, State};
use crate::serve;
use crate::timer::{Carried, Timers};

pub(super) struct PhpProgram {
    core: Rc<ServerCore>,
    server: Object,
    script: PathBuf,
    /// Those of the script, which go on in the master once it begins.
    timers: Vec<Carried>,
    /// What the master has seen of the scripts that run.
    watch: Watch,
}

impl Program for PhpProgram {
    fn run_worker(&mut self, worker: Worker) -> i32 {
        rescue::set_taker(None);
        // What the master's callbacks made belongs to the master.
        routing::forget();
        std::mem::forget(self.core.worker.take());
        State::forget();
        std::mem::forget(std::mem::take(&mut self.timers));
        let part = match worker.role {
            Role::Worker => "worker",
            Role::Task => "task worker",
            Role::Script => "script process",
            Role::User(_) => "user process",
            Role::Master => "master",
        };
        set_title(&format!("{}: {part} {} {}", self.title(), worker.id, self.script.display()));
        self.core.phase.set(Phase::Worker);
        match worker.role {
            Role::User(index) => user_process::run(&self.core, &self.server, worker, index),
            Role::Script => match self.core.handover.get() {
                Some(handover) => {
                    let worker = Rc::new(worker);
                    let settings = self.core.settings.borrow();
                    if serving::any_takes_websockets(&self.core) {
                        routing::guest::open(&worker, &settings);
                    }
                    serve::run(handover, worker, &settings)
                }
                None => 1,
            },
            Role::Worker | Role::Task | Role::Master => worker::run(&self.core, &self.server, Rc::new(worker)),
        }
    }

    fn seat(&mut self, master: Worker) {
        self.core.worker.replace(Some(Rc::new(master)));
    }

    fn on_reaped(&mut self, slot: usize, _role: Role) {
        self.core.ports.borrow().iter().for_each(|port| port.forget(slot));
        if let Some(task_queue) = self.core.task_queue.get() {
            task::reap(task_queue, slot);
        }
        if let Some(handover) = self.core.handover.get() {
            handover.reaped(slot);
        }
    }

    fn on_dismissed(&mut self, slot: usize, role: Role) {
        if let Some(handover) = self.core.handover.get().filter(|_| role == Role::Script) {
            handover.dismiss(slot);
        }
    }

    fn renew_interval(&self) -> Option<Duration> {
        self.core.tls.any().then(|| self.core.settings.borrow().ssl_watch_interval)
    }

    fn renew(&mut self, asked: bool) -> Result<Option<Parcel>, String> {
        self.core.tls.renew(asked)
    }

    fn scripts(&self) -> Option<ScriptsSnapshot> {
        self.core.handover.get().map(serve::snapshot)
    }

    fn silent_scripts(&mut self, limit: Duration) -> Vec<RunningScript> {
        let silent = |handover| serve::silent(handover, &mut self.watch, limit);
        self.core.handover.get().map(silent).unwrap_or_default()
    }

    fn calls_of(&self, pid: u32) -> Option<Vec<String>> {
        apus_zend::remote::calls(pid)
    }

    fn figures(&self, text: &mut Text) {
        super::figures::write(&self.core, text);
    }

    fn metrics(&self) -> Vec<MetricSnapshot> {
        metrics::status()
    }

    fn wait(&mut self, until: &[Awaited<'_>], limit: Option<Duration>) -> bool {
        let busy = |state: &Rc<State>| {
            state.engine.live() > 0
                || Timers::of(state).len() > 0
                || crate::process::takes_signals()
                || rescue::is_keeping()
        };
        let Some(state) = State::existing().filter(|state| self.core.second && busy(state)) else { return false };
        let fds: Vec<_> = until.iter().map(|one| (one.fd, one.write)).collect();
        state.block_on(descriptor::one_ready(&fds, limit))
    }

    fn takes_signal(&mut self, signal: i32, scoreboard: &Scoreboard) -> bool {
        self.core.second
            && !super::class::is_own_signal(signal)
            && (crate::process::take_signal(signal) || self.core.passes_on(signal, scoreboard))
    }

    fn on_event(&mut self, event: MasterEvent) {
        let event = match event {
            MasterEvent::Start => {
                self.became_master();
                self.go_on_with_timers();
                Event::Start
            }
            MasterEvent::ManagerStart => Event::ManagerStart,
            MasterEvent::WorkerExited { id, pid, exit_code, signal, crashed, .. } => {
                if crashed {
                    let args = [i64::from(id), i64::from(pid), i64::from(exit_code), i64::from(signal)];
                    let object = || event_object::status(args[0], args[1], args[2], args[3]).ok();
                    let object = if self.core.event_objects.get() { object() } else { None };
                    let args = object.map_or_else(|| args.map(Value::int).into(), |object| vec![object]);
                    self.emit(Event::WorkerError, args);
                }
                return;
            }
            MasterEvent::BeforeReload => {
                if self.core.handover.get().is_some() {
                    forget_compiled();
                }
                Event::BeforeReload
            }
            MasterEvent::AfterReload => Event::AfterReload,
            MasterEvent::BeforeShutdown => Event::BeforeShutdown,
            MasterEvent::ManagerStop => {
                super::task::tell_left(&self.core);
                Event::ManagerStop
            }
            MasterEvent::Shutdown => Event::Shutdown,
        };
        self.emit(event, Vec::new());
    }
}

impl PhpProgram {
    fn title(&self) -> String {
        self.core.settings.borrow().process_title.clone()
    }

    fn became_master(&self) {
        set_title(&format!("{}: master {}", self.title(), self.script.display()));
        let pid = i64::from(std::process::id());
        self.server.set_slot(slot::MASTER_PID, Value::int(pid));
        self.server.set_slot(slot::MANAGER_PID, Value::int(self.core.manager_pid(pid)));
    }

    fn emit(&self, event: Event, args: Vec<Value>) {
        if self.core.second {
            return self.emit_second(event, args);
        }
        self.core.emit(&self.server, event, args);
        // A callback may use coroutines; they end before the master goes on. Timers would hold it for ever.
        if let Some(state) = State::existing() {
            if Timers::of(&state).len() > 0 {
                Timers::of(&state).clear_all(&state);
                apus_process::log::warning(format_args!(
                    "timers do not run in the master: start them in workerstart (they were removed after {})",
                    event.name()
                ));
            }
            if state.run_to_end() == Err(Raise::Thrown)
                && let Some(thrown) = engine::Thrown::take()
            {
                callback_ended(event, &thrown);
            }
        }
    }
}

impl PhpProgram {
    /// Those that the script made before it started the server.
    fn go_on_with_timers(&mut self) {
        let timers = std::mem::take(&mut self.timers);
        if !timers.is_empty()
            && let Ok(state) = State::get()
        {
            state.mode.set(Mode::Worker);
            self.join();
            Timers::of(&state).go_on(&state, timers);
        }
    }

    /// Before the first callback: the master can send to what the workers have, as there.
    fn join(&self) {
        let master = self.core.worker.borrow().clone();
        if let Some(master) = master.filter(|_| !routing::is_open()) {
            // The only mistake there is is a missing loop, and there is one.
            let _ = routing::start_user(&self.core, &self.server, &master, false);
            rescue::set_taker(Some(super::rescue::taker(&self.core, &master)));
        }
    }

    /// The same in code written for Swoole: coroutines and timers that a callback begins go on in the master.
    fn emit_second(&self, event: Event, args: Vec<Value>) {
        if self.core.callbacks.get(event).is_none() {
            return;
        }
        if let Ok(state) = State::get() {
            state.mode.set(Mode::Worker);
            self.join();
        }
        self.core.emit(&self.server, event, args);
        if event == Event::Shutdown
            && let Some(state) = State::existing()
        {
            Timers::of(&state).clear_all(&state);
        }
    }
}

/// Has opcache compile scripts anew. Its memory is the master's, and outlives the processes that a reload replaces.
fn forget_compiled() {
    if let Ok(reset) = Callable::named("opcache_reset") {
        // It is false where opcache is switched off, and throws nothing.
        let _ = reset.call(&[]);
    }
}

/// What `ps` shows. Only the command line's PHP can set it, so failure is of no interest.
fn set_title(title: &str) {
    let set = Value::string(b"cli_set_process_title")
        .map_err(|_| ())
        .and_then(|mut name| Callable::new(&mut name).map_err(|_| ()))
        .and_then(|f| Value::string(title.as_bytes()).map_err(|_| ()).map(|arg| (f, arg)))
        .and_then(|(f, arg)| f.call(&[arg]).map_err(|_| ()));
    if set.is_err() {
        drop(engine::Thrown::take());
    }
}

/// The script that serves; the configuration file where that says it all; the directory of the scripts of `apus serve`.
fn script(settings: &apus_options::Settings) -> PathBuf {
    let script = engine::main_script().map(|bytes| PathBuf::from(std::ffi::OsStr::from_bytes(&bytes)));
    // Code of the command line has a name, which is that of no file.
    let file = script.as_ref().filter(|path| path.is_file()).cloned();
    let directory = (settings.script_processes > 0).then(|| PathBuf::from(&settings.document_root));
    file.or_else(|| super::config::path().map(PathBuf::from)).or(directory).or(script).unwrap_or_default()
}

/// `Server::start()`: returns in the master when the server has stopped; a worker's script ends here.
pub(super) fn start(core: &Rc<ServerCore>, server: Object) -> Result<(), Raise> {
    let listeners: Vec<_> = core.ports.borrow().iter().filter_map(|port| port.listener.borrow_mut().take()).collect();
    let settings = core.settings.borrow().clone();
    for (port, listener) in core.ports.borrow().iter().zip(&listeners) {
        let options = apus_process::BindOptions::from(&port.settings(&settings)?);
        listener
            .apply(&options)
            .map_err(|error| exception::throw(exception::code::server::BIND, &error.to_string()))?;
    }
    routing::prepare(&settings)?;
    let dispatch = Dispatch::of(&settings, core.dispatch_func.borrow().clone());
    core.dispatch.replace(dispatch.map_err(|error| {
        exception::throw(exception::code::server::STATE, &format!("no memory can be shared: {error}"))
    })?);
    let figures = HostFigures::new(&core.hosts.borrow());
    core.host_figures.replace(figures.map_err(|error| {
        exception::throw(exception::code::server::STATE, &format!("no memory can be shared: {error}"))
    })?);
    super::user_process::number(core, &settings);
    let of_hosts = core.hosts.borrow().clone();
    let access_logs = of_hosts.iter().map(|host| Ok(AccessSettings::from(&host.settings(&settings)?)));
    let access_logs = access_logs.collect::<Result<_, Raise>>()?;
    let users = u16::try_from(core.users.borrow().len()).unwrap_or(u16::MAX);
    let counts = RoleCounts::new(&settings, users);
    core.task_queue.set(task::prepare(&settings, counts)?);
    let handover = serve::prepare(&settings, counts);
    core.handover.set(handover.map_err(|error| {
        exception::throw(exception::code::server::STATE, &format!("no memory can be shared: {error}"))
    })?);
    // An event loop does not survive fork(): whatever used one before is over; in code written for Swoole the timers go
    // on in the master.
    let timers = State::existing().filter(|_| core.second).map(|state| Timers::of(&state).carry(&state));
    State::tear_down();
    let script = script(&settings);
    let config = apus_process::Config {
        title: settings.process_title.clone(),
        script: script.clone(),
        users,
        plain_sessions: core.second.then(|| core.start_session.get()),
        hasty: core.second,
        seat: core.second,
        access_logs,
        settings: Rc::new(settings),
    };
    core.phase.set(Phase::Master);
    apus_zend::closure::remember_main_script();
    worker::keep_listeners(&listeners);
    let timers = timers.unwrap_or_default();
    let mut program = PhpProgram { core: Rc::clone(core), server, script, timers, watch: Watch::default() };
    output::take();
    metrics::close();
    let outcome = apus_process::run(&config, &listeners, &mut program);
    if !matches!(outcome, Ok(Outcome::Worker(_))) {
        metrics::open();
        output::give_back();
    }
    worker::keep_listeners(&[]);
    if core.second && matches!(outcome, Ok(Outcome::Master(_))) {
        // What the master's callbacks have begun ends with the server.
        routing::stop_user();
        drop(core.worker.take());
        State::tear_down();
    }
    core.phase.set(Phase::Over);
    match outcome {
        Ok(Outcome::Master(_)) => Ok(()),
        Ok(Outcome::Worker(code)) => Err(engine::throw_exit(code)),
        Err(error) => Err(exception::throw(exception::code::server::PROCESS, &error.to_string())),
    }
}
