//! The master: it starts the workers, keeps them, and ends with them.
//!
//! One loop: what is due is done ([`Master::settle`]), then everything that may happen is waited for in one `poll`. Nothing in it blocks,
//! but for the program's own callbacks.

use std::os::fd::AsFd;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::{Duration, Instant};

use apus_options::Settings;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::sys::signal::{SigSet, SigmaskHow, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};

use crate::channel::{Ask, Command, Message};
use crate::conn_table::ConnTable;
use crate::control::{ClientId, Control, Request, control_directory};
use crate::error::Error;
use crate::identity::Identity;
use crate::listener::Listener;
use crate::notify::{Notify, ReadyLine};
use crate::pid_file::PidFile;
use crate::reload::Reloads;
use crate::scoreboard::{Scoreboard, WorkerState};
use crate::seat::{Process, Seat};
use crate::snapshot::{Snapshot, resident};
use crate::worker::Worker;
use crate::{daemon, log, spawn, sys};

/// How long a worker that was told to leave at once may take.
const AT_ONCE: Duration = Duration::from_secs(1);
/// How often memory is looked at when `max_worker_memory` is set; an order that found no room is tried again ten times as often.
const TICK: Duration = Duration::from_secs(1);

/// What a server is run with.
#[derive(Debug, Clone)]
pub struct Config {
    /// The settings.
    pub settings: Rc<Settings>,
    /// The processes' name where 15 bytes must do: "<title>: master".
    pub title: String,
    /// The script that serves, for status reports.
    pub script: PathBuf,
}

/// What happens in the master, for the program's callbacks. They run in the master's loop: while one runs, nothing is supervised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MasterEvent {
    /// The first workers are forked.
    Start,
    /// Right after `Start`: the master is the manager, too.
    ManagerStart,
    /// A worker process ended.
    WorkerExited {
        /// The worker's id.
        id: u16,
        /// The process.
        pid: u32,
        /// Its exit code; 0 when a signal ended it.
        exit_code: i32,
        /// The signal that ended it; 0 when it exited.
        signal: i32,
        /// Whether it had not been told to leave, and what it did was no clean exit either.
        crashed: bool,
    },
    /// A reload begins.
    BeforeReload,
    /// A reload is over: every worker is of the new generation.
    AfterReload,
    /// The server is about to stop; its workers still serve.
    BeforeShutdown,
    /// All workers are gone.
    ManagerStop,
    /// The last event.
    Shutdown,
}

/// What runs in the processes.
pub trait Program {
    /// Serves, in a freshly forked worker; the exit code. Call [`Worker::ready`] once it serves.
    fn run_worker(&mut self, worker: Worker) -> i32;

    /// Something happened, in the master.
    fn on_event(&mut self, event: MasterEvent);
}

/// Which process [`run`] returned in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The master, with its exit code: the server has stopped.
    Master(i32),
    /// A worker, with what [`Program::run_worker`] gave: unwind and exit with it.
    Worker(i32),
}

/// Runs a server: the calling process becomes the master and returns when the server has stopped; each worker returns, too, as
/// [`Outcome::Worker`]. With `daemonize` the calling process ends inside, and its grandchild is the master.
pub fn run(config: &Config, listeners: &[Listener], program: &mut dyn Program) -> Result<Outcome, Error> {
    let settings = &config.settings;
    log::set_level(settings.log_level);
    if !settings.log_file.is_empty() {
        let path = PathBuf::from(&settings.log_file);
        log::open(&path).map_err(|source| Error::File { setting: "log_file", path, source })?;
    }
    let identity = Identity::from_settings(settings)?;
    let mut pid_file = match settings.pid_file.as_str() {
        "" => None,
        path => Some(PidFile::lock(path.as_ref())?),
    };
    let mut notify = Notify::from_environment();
    if settings.daemonize {
        notify.set_launcher(daemon::detach()?);
        listeners.iter().for_each(Listener::adopt);
    }
    let started =
        pid_file.as_mut().map_or(Ok(()), PidFile::write).and_then(|()| Master::new(config, listeners, identity));
    let mut master = match started {
        Ok(master) => master,
        Err(error) => {
            notify.trouble(&error.to_string());
            return Err(error);
        }
    };
    master.notify = notify;
    master.pid_file = pid_file;
    Ok(master.live(program))
}

/// Where the server stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Starting,
    Serving,
    /// No worker is started any more.
    Stopping,
}

pub(crate) struct Master<'a> {
    pub(crate) config: &'a Config,
    listeners: &'a [Listener],
    pub(crate) scoreboard: &'static Scoreboard,
    pub(crate) connections: &'static ConnTable,
    pub(crate) identity: Identity,
    signals: SignalFd,
    /// The signal mask before the master's: workers and callbacks get it back.
    pub(crate) outer_mask: SigSet,
    pub(crate) seats: Vec<Seat>,
    /// Processes that were replaced and finish what they began.
    pub(crate) leaving: Vec<Process>,
    pub(crate) generation: u32,
    pub(crate) reloads: Reloads,
    phase: Phase,
    /// Whether a callback ran since the last wait: a SIGCHLD that came meanwhile is lost, so the dead are looked for without waiting.
    called_back: bool,
    /// When the workers' memory is looked at next.
    next_weighing: Instant,
    /// Whether the listening sockets' queues were closed, in stopping.
    closed_queues: bool,
    pub(crate) control: Option<Control>,
    pub(crate) notify: Notify,
    pid_file: Option<PidFile>,
}

impl<'a> Master<'a> {
    fn new(config: &'a Config, listeners: &'a [Listener], identity: Identity) -> Result<Self, Error> {
        let settings = &config.settings;
        let workers = u16::try_from(settings.worker_num).unwrap_or(u16::MAX);
        let scoreboard = Scoreboard::new(workers).map_err(Error::system("mmap"))?;
        let connections = ConnTable::new(settings.max_connection).map_err(Error::system("mmap"))?;
        raise_descriptor_limit(settings.max_connection);
        let control = Control::open(&control_directory())
            .inspect_err(|error| {
                log::warning(format_args!("no control socket (`apus status` cannot see this server): {error}"));
            })
            .ok();
        sys::default_sigchld().map_err(Error::system("sigaction"))?;
        let mask = sys::master_signals();
        let signals = SignalFd::with_flags(&mask, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK);
        let signals = signals.map_err(Error::system("signalfd"))?;
        let outer_mask = mask.thread_swap_mask(SigmaskHow::SIG_BLOCK).map_err(Error::system("sigprocmask"))?;
        set_name(&config.title, "master");
        scoreboard.header.started_at.set(sys::now_ms());
        scoreboard.header.generation.set(1);
        Ok(Self {
            config,
            listeners,
            scoreboard,
            connections,
            identity,
            signals,
            outer_mask,
            seats: (0..workers).map(Seat::new).collect(),
            leaving: Vec::new(),
            generation: 1,
            reloads: Reloads::default(),
            phase: Phase::Starting,
            called_back: false,
            next_weighing: Instant::now(),
            closed_queues: false,
            control,
            notify: Notify::default(),
            pid_file: None,
        })
    }

    fn live(mut self, program: &mut dyn Program) -> Outcome {
        let mut greeted = false;
        loop {
            if let Some(worker) = self.settle(program) {
                return self.live_as_worker(worker, program);
            }
            if !greeted {
                greeted = true;
                self.emit(program, MasterEvent::Start);
                self.emit(program, MasterEvent::ManagerStart);
                continue;
            }
            if self.is_over() {
                break;
            }
            self.wait();
            self.take_signals(program);
            // Before the dead are buried: their last words count.
            self.hear_workers(program);
            self.reap(program);
            self.serve_control(program);
        }
        self.emit(program, MasterEvent::ManagerStop);
        self.emit(program, MasterEvent::Shutdown);
        self.end();
        Outcome::Master(0)
    }

    /// Goes on as a worker: all that is the master's is dropped, which here closes descriptors and removes no file.
    fn live_as_worker(self, worker: Worker, program: &mut dyn Program) -> Outcome {
        let (config, identity, outer_mask) = self.shed();
        match spawn::become_worker(&worker, config, &identity, &outer_mask) {
            Ok(()) => Outcome::Worker(program.run_worker(worker)),
            Err(error) => {
                log::error(format_args!("worker {} cannot run: {error}", worker.id));
                Outcome::Worker(1)
            }
        }
    }

    /// Drops all but what a worker needs.
    fn shed(self) -> (&'a Config, Identity, SigSet) {
        (self.config, self.identity, self.outer_mask)
    }

    /// Does all that is due. In a worker just forked it returns what the worker works with.
    fn settle(&mut self, program: &mut dyn Program) -> Option<Worker> {
        self.promote_ready();
        self.kill_overdue();
        if self.phase == Phase::Stopping {
            self.close_queues();
            return None;
        }
        self.find_expired();
        self.advance_reload(program);
        let worker = self.start_due();
        if self.phase == Phase::Starting && self.seats.iter().all(|seat| seat.current.is_some()) {
            self.serving();
        }
        worker
    }

    /// All workers serve for the first time.
    fn serving(&mut self) {
        self.phase = Phase::Serving;
        let listen: Vec<String> = self.listeners.iter().map(|listener| listener.addr.to_string()).collect();
        log::info(format_args!("serving on {} with {} workers", listen.join(", "), self.seats.len()));
        let control = self.control.as_ref().map(|control| control.path().to_string_lossy().into_owned());
        self.notify.ready(&ReadyLine { pid: std::process::id(), listen, control: control.as_deref() });
    }

    /// Puts processes that became ready in their places, and tells those they replace to leave.
    fn promote_ready(&mut self) {
        for seat in &mut self.seats {
            if let Some(mut old) = seat.promote() {
                dismiss(&mut old, &self.config.settings);
                self.leaving.push(old);
            }
        }
    }

    fn kill_overdue(&mut self) {
        let now = Instant::now();
        for process in processes_mut(&mut self.seats, &mut self.leaving) {
            process.send_unsent();
            if process.kill_at.is_some_and(|at| at <= now) && !process.overdue {
                process.overdue = true;
                log::warning(format_args!("worker {} ({}) did not leave in time: killed", process.id, process.pid));
                let _ = nix::sys::signal::kill(process.pid, Signal::SIGKILL);
            }
        }
    }

    /// Has workers replaced that are too old or too big.
    fn find_expired(&mut self) {
        let now = Instant::now();
        let mut limit = self.config.settings.max_worker_memory;
        if limit > 0 && now >= self.next_weighing {
            self.next_weighing = now + TICK;
        } else {
            limit = 0;
        }
        for seat in self.seats.iter_mut().filter(|seat| !seat.replace) {
            let Some(current) = &seat.current else { continue };
            let pid = current.pid.as_raw() as u32;
            if current.expires.is_some_and(|at| at <= now) {
                log::info(format_args!("worker {} ({pid}) has reached its age: replacing it", seat.id));
                seat.replace = true;
            } else if limit > 0 && resident(pid) > limit {
                log::notice(format_args!(
                    "worker {} ({pid}) takes more memory than max_worker_memory: replacing it",
                    seat.id
                ));
                seat.replace = true;
            }
        }
    }

    /// The next moment at which something is due without anything happening.
    fn next_deadline(&self) -> Option<Instant> {
        let now = Instant::now();
        let running = self.phase != Phase::Stopping;
        let starts = self.seats.iter().filter(|_| running).filter_map(|seat| seat.start_at(now));
        let ages =
            self.seats.iter().filter(|seat| running && !seat.replace).filter_map(|seat| seat.current.as_ref()?.expires);
        let kills = processes(&self.seats, &self.leaving).filter(|p| !p.overdue).filter_map(|process| process.kill_at);
        let weighing = (running && self.config.settings.max_worker_memory > 0).then_some(self.next_weighing);
        let unsent = processes(&self.seats, &self.leaving).any(Process::has_unsent).then(|| now + TICK / 10);
        starts.chain(ages).chain(kills).chain(weighing).chain(unsent).min()
    }

    fn wait(&mut self) {
        let at_once = std::mem::take(&mut self.called_back) || self.control.as_ref().is_some_and(Control::has_more);
        let mut fds = vec![PollFd::new(self.signals.as_fd(), PollFlags::POLLIN)];
        fds.extend(
            processes(&self.seats, &self.leaving)
                .filter_map(Process::poll_fd)
                .map(|fd| PollFd::new(fd, PollFlags::POLLIN)),
        );
        if let Some(control) = &self.control {
            control.poll_fds(&mut fds);
        }
        let timeout = match self.next_deadline() {
            _ if at_once => PollTimeout::ZERO,
            None => PollTimeout::NONE,
            Some(at) => {
                // Rounded up: waking a little early would only mean waking twice.
                let millis = at.saturating_duration_since(Instant::now()).as_micros().div_ceil(1000);
                PollTimeout::try_from(i32::try_from(millis).unwrap_or(i32::MAX)).unwrap_or(PollTimeout::MAX)
            }
        };
        let _ = poll(&mut fds, timeout);
    }

    fn take_signals(&mut self, program: &mut dyn Program) {
        while let Ok(Some(info)) = self.signals.read_signal() {
            if let Ok(signal) = Signal::try_from(info.ssi_signo as i32) {
                self.on_signal(program, signal);
            }
        }
    }

    fn on_signal(&mut self, program: &mut dyn Program, signal: Signal) {
        match signal {
            Signal::SIGTERM => self.stop(program, false),
            Signal::SIGINT | Signal::SIGQUIT => self.stop(program, true),
            Signal::SIGUSR1 => self.request_reload(),
            Signal::SIGHUP => {
                self.reopen_log();
                self.request_reload();
            }
            Signal::SIGUSR2 => log::notice(format_args!("USR2 reloads task workers; this server has none")),
            _ => {}
        }
    }

    fn reopen_log(&self) {
        let path = &self.config.settings.log_file;
        if path.is_empty() {
            return;
        }
        let opened = log::open(path.as_ref())
            .and_then(|()| if self.config.settings.daemonize { log::redirect_output() } else { Ok(()) });
        if let Err(error) = opened {
            log::error(format_args!("cannot open the log file {path} anew: {error}"));
        }
    }

    fn hear_workers(&mut self, program: &mut dyn Program) {
        let mut asked = Vec::new();
        for process in processes_mut(&mut self.seats, &mut self.leaving) {
            // Bounded, so that one worker cannot keep the others unheard.
            for _ in 0..64 {
                let Some(message) = process.hear() else { break };
                asked.push((process.pid, process.id, message));
            }
            if process.is_silent() && process.kill_at.is_none() {
                process.kill_at = Some(Instant::now() + self.config.settings.max_wait_time);
            }
        }
        for (pid, id, message) in asked {
            match message {
                Message::Ready => processes_mut(&mut self.seats, &mut self.leaving)
                    .filter(|p| p.pid == pid)
                    .for_each(|p| p.ready = true),
                Message::State => self.on_state(pid),
                Message::Signalled(signal) => self.on_worker_signalled(pid, signal),
                Message::Ask(ask) => self.on_ask(program, id, ask),
                Message::Command(_) => {}
            }
        }
    }

    /// A worker says that its state changed: it may want to be replaced.
    fn on_state(&mut self, pid: nix::unistd::Pid) {
        for seat in &mut self.seats {
            if let Some(current) = seat.current.as_ref().filter(|current| current.pid == pid) {
                let state = current.slot.state();
                if matches!(state, WorkerState::Recycling | WorkerState::Faulted) && !seat.replace {
                    log::info(format_args!("worker {} ({pid}) is {}: replacing it", seat.id, state.name()));
                    seat.replace = true;
                }
            }
        }
    }

    /// Somebody sent a signal to a worker itself: TERM replaces it, INT ends it at once.
    fn on_worker_signalled(&mut self, pid: nix::unistd::Pid, signal: i32) {
        if signal == Signal::SIGINT as i32 {
            processes_mut(&mut self.seats, &mut self.leaving)
                .filter(|p| p.pid == pid)
                .for_each(|p| p.dismiss(Command::StopNow, AT_ONCE));
            return;
        }
        for seat in &mut self.seats {
            match (&seat.current, &mut seat.next) {
                (Some(current), _) if current.pid == pid => seat.replace = true,
                (_, Some(next)) if next.pid == pid => dismiss(next, &self.config.settings),
                _ => {}
            }
        }
    }

    fn on_ask(&mut self, program: &mut dyn Program, from: u16, ask: Ask) {
        match ask {
            Ask::Reload => self.request_reload(),
            Ask::Stop => self.stop(program, false),
            Ask::StopNow => self.stop(program, true),
            Ask::Replace(id) => match self.seats.get_mut(usize::from(id)) {
                Some(seat) => seat.replace = seat.current.is_some(),
                None => log::warning(format_args!("worker {from} asked to replace worker {id}, which does not exist")),
            },
            Ask::CloseConn(session) => {
                let holder = Scoreboard::session_worker(session);
                processes(&self.seats, &self.leaving)
                    .filter(|p| p.id == holder)
                    .for_each(|p| p.close_connection(session));
            }
        }
    }

    /// Stops the server: workers finish what they began, or leave at once.
    fn stop(&mut self, program: &mut dyn Program, at_once: bool) {
        if self.phase != Phase::Stopping {
            log::info(format_args!("stopping{}", if at_once { " at once" } else { "" }));
            self.phase = Phase::Stopping;
            self.notify.stopping();
            self.emit(program, MasterEvent::BeforeShutdown);
            self.end_reload("the server is stopping");
        } else if !at_once {
            return;
        }
        let (command, patience) =
            if at_once { (Command::StopNow, AT_ONCE) } else { (Command::Drain, self.config.settings.max_wait_time) };
        processes_mut(&mut self.seats, &mut self.leaving).for_each(|process| process.dismiss(command, patience));
    }

    /// Once no worker accepts any more, refuses new clients instead of letting them wait in queues that nobody serves.
    fn close_queues(&mut self) {
        let all_drain =
            processes(&self.seats, &self.leaving).all(|p| p.is_silent() || p.slot.state() == WorkerState::Draining);
        if all_drain && !self.closed_queues {
            self.closed_queues = true;
            // What systemd passed is systemd's: its queue waits for the next start.
            for listener in self.listeners.iter().filter(|listener| !listener.passed) {
                let _ = socket2::SockRef::from(&listener.fd).shutdown(std::net::Shutdown::Both);
            }
        }
    }

    fn is_over(&self) -> bool {
        self.phase == Phase::Stopping && processes(&self.seats, &self.leaving).next().is_none()
    }

    fn serve_control(&mut self, program: &mut dyn Program) {
        let requests = self.control.as_mut().map(Control::step).unwrap_or_default();
        for (client, request) in requests {
            if let Some(answer) = self.command(program, client, request) {
                self.answer(client, &answer);
            }
        }
    }

    pub(crate) fn answer(&mut self, client: ClientId, json: &str) {
        if let Some(control) = &mut self.control {
            control.answer(client, json);
        }
    }

    /// The answer to a request, unless it comes later.
    fn command(&mut self, program: &mut dyn Program, client: ClientId, request: Request) -> Option<String> {
        let done = || Some("{\"ok\":true}".to_owned());
        match request {
            Request::Status => Some(serde_json::to_string(&self.snapshot()).unwrap_or_default()),
            Request::Reload(wait) => {
                self.request_reload();
                if wait && self.reloads.wait(client) { None } else { done() }
            }
            Request::Stop => {
                self.stop(program, false);
                done()
            }
            Request::StopNow => {
                self.stop(program, true);
                done()
            }
            Request::Unknown(line) => {
                let text = format!("unknown request \"{line}\": status, reload, reload wait, stop, stop now");
                Some(serde_json::json!({ "ok": false, "error": text }).to_string())
            }
        }
    }

    fn snapshot(&self) -> Snapshot {
        let state = match self.phase {
            Phase::Starting => "starting",
            Phase::Serving if self.reloads.is_running() => "reloading",
            Phase::Serving => "serving",
            Phase::Stopping => "stopping",
        };
        Snapshot {
            pid: std::process::id(),
            script: self.config.script.to_string_lossy().into_owned(),
            listen: self.listeners.iter().map(|listener| listener.addr.to_string()).collect(),
            state: state.to_owned(),
            ..self.scoreboard.snapshot()
        }
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.phase == Phase::Stopping
    }

    /// Runs a callback of the program, and takes the signals that came meanwhile.
    pub(crate) fn emit(&mut self, program: &mut dyn Program, event: MasterEvent) {
        self.called_back = true;
        match sys::with_open_signals(&self.outer_mask, || program.on_event(event)) {
            Ok(came) => came.into_iter().for_each(|signal| self.on_signal(program, signal)),
            Err(error) => log::error(format_args!("signals cannot be set for a callback: {error}")),
        }
    }

    /// Leaves nothing behind, and gives the signals back.
    fn end(self) {
        self.listeners.iter().for_each(Listener::remove_file);
        drop(self.pid_file);
        drop(self.control);
        while let Ok(Some(_)) = self.signals.read_signal() {}
        let _ = self.outer_mask.thread_set_mask();
        log::info(format_args!("stopped"));
    }
}

pub(crate) fn processes<'p>(seats: &'p [Seat], leaving: &'p [Process]) -> impl Iterator<Item = &'p Process> {
    seats.iter().flat_map(Seat::processes).chain(leaving)
}

pub(crate) fn processes_mut<'p>(
    seats: &'p mut [Seat],
    leaving: &'p mut [Process],
) -> impl Iterator<Item = &'p mut Process> {
    seats.iter_mut().flat_map(Seat::processes_mut).chain(leaving)
}

/// Tells a worker that it was replaced.
fn dismiss(process: &mut Process, settings: &Settings) {
    let command = if settings.reload_async { Command::Drain } else { Command::StopNow };
    process.dismiss(command, settings.max_wait_time);
}

/// What ps and top show of a process: at most 15 bytes.
pub(crate) fn set_name(title: &str, role: &str) {
    let mut name = format!("{title}: {role}").into_bytes();
    name.retain(|byte| *byte != 0);
    if let Ok(name) = std::ffi::CString::new(name) {
        let _ = nix::sys::prctl::set_name(&name);
    }
}

/// A connection is a descriptor: raises the soft limit as far as `max_connection` needs and the hard one allows.
fn raise_descriptor_limit(connections: u32) {
    // Files, database connections and the like beside the clients.
    let wanted = u64::from(connections) + 1024;
    if let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE)
        && soft < wanted.min(hard)
    {
        let _ = setrlimit(Resource::RLIMIT_NOFILE, wanted.min(hard), hard);
    }
}
