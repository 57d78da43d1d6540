//! The master: it starts the workers, keeps them, and ends with them.
//!
//! One loop: what is due is done ([`Master::settle`]), then everything that may happen is waited for in one `poll`.
//! Nothing in it blocks, but for the program's own callbacks.

mod orders;
mod reload;
mod renewal;
mod scripts;
mod spawn;
mod watching;

use std::fmt::Write as _;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use apus_options::Settings;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::sys::signal::{SigSet, SigmaskHow, Signal, kill};
use nix::sys::signalfd::{SfdFlags, SignalFd};

use self::reload::Reloads;
use self::scripts::Scripts;
use self::watching::Watch;
use crate::access::{self, AccessLog, AccessRings};
use crate::channel::Command;
use crate::conn_table::ConnTable;
use crate::control::{Control, control_directory};
use crate::error::Error;
use crate::identity::Identity;
use crate::listener::Listener;
use crate::notify::{Notify, ReadyLine};
use crate::observe::Observe;
use crate::pid_file::PidFile;
use crate::program::{Awaited, Config, MasterEvent, Outcome, Program};
use crate::replica::{Process, Replica};
use crate::role::{MOST_USERS, Role, RoleCounts};
use crate::scoreboard::{Scoreboard, WorkerState};
use crate::snapshot::resident;
use crate::worker::{Post, Worker};
use crate::{log, sys};

/// How long a worker that was told to leave at once may take.
pub(crate) const AT_ONCE: Duration = Duration::from_secs(1);
/// How often memory is looked at when `max_worker_memory` is set; an order that found no room is tried again ten times
/// as often.
const TICK: Duration = Duration::from_secs(1);
/// Processes whose time to leave is over so soon after that of another are killed with it.
const ROUND: Duration = Duration::from_millis(50);

/// Where the server stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    Starting,
    Serving,
    /// No worker is started any more.
    Stopping,
}

pub(crate) struct Master<'a> {
    pub(crate) config: &'a Config,
    pub(crate) listeners: &'a [Listener],
    pub(crate) scoreboard: &'static Scoreboard,
    pub(crate) connections: &'static ConnTable,
    pub(crate) post: Post,
    pub(crate) identity: Identity,
    pub(crate) signals: SignalFd,
    /// The signal mask before the master's: workers and callbacks get it back.
    pub(crate) outer_mask: SigSet,
    pub(crate) replicas: Vec<Replica>,
    /// Processes that were replaced and finish what they began.
    pub(crate) leaving: Vec<Process>,
    pub(crate) generation: u32,
    pub(crate) reloads: Reloads,
    pub(crate) phase: Phase,
    /// Whether a callback ran since the last wait: a SIGCHLD that came meanwhile is lost, so the dead are looked for
    /// without waiting.
    called_back: bool,
    /// When the workers' memory is looked at next.
    next_weighing: Instant,
    /// How often files that workers were given are looked at, and when next.
    renewals: Option<(Duration, Option<Instant>)>,
    /// When a stopping server's processes have had their time.
    pub(crate) stop_by: Instant,
    /// Whether the listening sockets' queues were closed, in stopping.
    pub(crate) closed_queues: bool,
    /// Whether log lines wait for a reader.
    log_waits: bool,
    pub(crate) scripts: Scripts,
    watch: Option<Watch>,
    pub(crate) control: Option<Control>,
    pub(crate) observe: Option<Observe>,
    pub(crate) access: Option<AccessLog>,
    pub(crate) notify: Notify,
    pid_file: Option<PidFile>,
}

impl<'a> Master<'a> {
    pub(crate) fn new(config: &'a Config, listeners: &'a [Listener], identity: Identity) -> Result<Self, Error> {
        let settings = &config.settings;
        let role_counts = RoleCounts::new(settings, config.users.min(MOST_USERS));
        let scoreboard =
            Scoreboard::with_sessions(role_counts, config.plain_sessions).map_err(Error::system("mmap"))?;
        let connections = ConnTable::new(settings.max_connection).map_err(Error::system("mmap"))?;
        // A bell a slot, in every process.
        raise_descriptor_limit(settings.max_connection as usize + scoreboard.slot_count() + 1);
        // One more for the master itself.
        let mut post = Post::new(scoreboard.slot_count() + 1, settings.ring_size).map_err(Error::Rings)?;
        post.access = AccessRings::open(settings, &config.access_logs, scoreboard.slot_count())?;
        let access = post.access.map(|rings| AccessLog::open(rings, settings)).transpose()?;
        let control = Control::open(&control_directory())
            .inspect_err(|error| {
                log::warning(format_args!("no control socket (`apus status` cannot see this server): {error}"));
            })
            .ok();
        let observe = Observe::open(&settings.metrics_address)?;
        sys::default_sigchld().map_err(Error::system("sigaction"))?;
        sys::endure_signals();
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
            post,
            identity,
            signals,
            outer_mask,
            replicas: (0..role_counts.total())
                .filter_map(|id| Some(Replica::new(id, role_counts.role(id)?, config.hasty)))
                .collect(),
            leaving: Vec::new(),
            generation: 1,
            reloads: Reloads::default(),
            phase: Phase::Starting,
            called_back: false,
            next_weighing: Instant::now(),
            renewals: None,
            stop_by: Instant::now(),
            closed_queues: false,
            log_waits: false,
            scripts: Scripts::new(settings),
            watch: Watch::open(settings),
            control,
            observe,
            access,
            notify: Notify::default(),
            pid_file: None,
        })
    }

    /// Lives until the server has stopped; in a worker, as a worker.
    pub(crate) fn live(mut self, program: &mut dyn Program, notify: Notify, pid_file: Option<PidFile>) -> Outcome {
        self.notify = notify;
        self.pid_file = pid_file;
        self.renewals = program.renew_interval().map(|interval| (interval, renewal::next(interval)));
        let mut greeted = false;
        loop {
            if let Some(worker) = self.settle(program) {
                return self.live_as_worker(worker, program);
            }
            if !greeted {
                greeted = true;
                self.take_seat(program);
                self.emit(program, MasterEvent::Start);
                self.emit(program, MasterEvent::ManagerStart);
                continue;
            }
            if self.is_over() {
                break;
            }
            self.wait(program);
            self.take_signals(program);
            // Before the dead are reaped: their last words count.
            self.hear_workers(program);
            self.reap(program);
            self.serve_control(program);
            self.serve_figures(program);
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
                log::error(format_args!("{} {} cannot run: {error}", worker.role.name(), worker.id));
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
        self.notify.ping(Instant::now());
        if let Some(access) = &mut self.access {
            access.settle(self.scoreboard);
        }
        self.log_waits = log::settle();
        self.promote_ready(program);
        self.report_orphans();
        self.kill_overdue();
        if self.phase == Phase::Stopping {
            self.advance_stop(program);
            self.close_queues();
            return self.start_due();
        }
        self.find_expired(program);
        self.look_at_files(program);
        self.adapt_scripts(program);
        self.end_silent_scripts(program);
        self.look_at_watched();
        self.advance_reload(program);
        let worker = self.start_due();
        if self.phase == Phase::Starting && self.all_serve() {
            self.serving();
        }
        worker
    }

    /// Whether a process may be started for this replica: in a stopping server only task workers, as long as somebody
    /// may wait for them.
    pub(crate) fn may_start(&self, replica: &Replica) -> bool {
        self.phase != Phase::Stopping && self.is_wanted(replica)
            || matches!(replica.role, Role::Task | Role::Script)
                && self.is_wanted(replica)
                && processes(&self.replicas, &self.leaving).any(|process| process.role == Role::Worker)
    }

    /// All workers serve for the first time.
    fn serving(&mut self) {
        self.phase = Phase::Serving;
        let listen: Vec<String> = self.listeners.iter().map(|listener| listener.addr.to_string()).collect();
        let role_counts = self.scoreboard.role_counts();
        let mut others = String::new();
        for (count, what) in [
            (role_counts.tasks, "task workers"),
            (role_counts.scripts, "script processes"),
            (role_counts.users, "user processes"),
        ] {
            if count > 0 {
                // Writing to a String cannot fail.
                let _ = write!(others, ", {count} {what}");
            }
        }
        log::info(format_args!("serving on {} with {} workers{others}", listen.join(", "), role_counts.workers));
        if let Some(observe) = &self.observe {
            log::info(format_args!("figures on {}: /metrics and /status", observe.address()));
        }
        let control = self.control.as_ref().map(|control| control.path().to_string_lossy().into_owned());
        self.notify.ready(&ReadyLine { pid: std::process::id(), listen, control: control.as_deref() });
    }

    /// Puts processes that became ready in their places, and tells those they replace to leave.
    fn promote_ready(&mut self, program: &mut dyn Program) {
        for replica in &mut self.replicas {
            if let Some(mut old) = replica.promote() {
                dismiss(&mut old, &self.config.settings, program);
                self.leaving.push(old);
            }
        }
    }

    /// Tells processes that already serve what their predecessors left when they were killed while leaving.
    fn report_orphans(&mut self) {
        if self.phase != Phase::Stopping {
            self.replicas.iter_mut().for_each(Replica::report_orphans);
        }
    }

    fn kill_overdue(&mut self) {
        let now = Instant::now();
        let due = |process: &Process, at| !process.overdue && process.kill_at.is_some_and(|kill_at| kill_at <= at);
        let any = processes_mut(&mut self.replicas, &mut self.leaving).any(|process| due(process, now));
        let round = if any { now + ROUND } else { now };
        for process in processes_mut(&mut self.replicas, &mut self.leaving) {
            process.send_unsent();
            if due(process, round) {
                process.overdue = true;
                let (role, id) = (process.role.name(), process.id);
                log::told(
                    log::Level::Warning,
                    format_args!("{role} {id} ({}) did not leave in time: killed", process.pid),
                    format_args!("ReloadTask::kill_all(): force kill worker process(pid={}, id={id})", process.pid),
                );
                let _ = kill(process.pid, Signal::SIGKILL);
            }
        }
    }

    /// Has workers replaced that ask for it, are too old or too big.
    fn find_expired(&mut self, program: &mut dyn Program) {
        let now = Instant::now();
        let weigh = self.config.settings.max_worker_memory > 0 && now >= self.next_weighing;
        if weigh {
            self.next_weighing = now + TICK;
        }
        for replica in self.replicas.iter_mut().filter(|replica| !matches!(replica.role, Role::User(_))) {
            if let Some(next) = replica.next.as_mut().filter(|next| next.slot.state() == WorkerState::Faulted) {
                // It will never serve. Its death counts as a failed start.
                next.expel(AT_ONCE);
                program.on_dismissed(next.slot_index, next.role);
            }
            let Some(current) = replica.current.as_ref().filter(|_| !replica.replace) else { continue };
            let limit = if weigh { self.config.settings.max_worker_memory } else { u64::MAX };
            if let Some(why) = reason_to_replace(current, now, limit) {
                let (role, id) = (current.role.name(), current.id);
                log::info(format_args!("{role} {id} ({}) {why}: replacing it", current.pid));
                replica.replace = true;
            }
        }
    }

    /// The next moment at which something is due without anything happening.
    fn next_deadline(&self) -> Option<Instant> {
        let now = Instant::now();
        let running = self.phase != Phase::Stopping;
        let starts =
            self.replicas.iter().filter(|replica| self.may_start(replica)).filter_map(|replica| replica.start_at(now));
        let ages = self
            .replicas
            .iter()
            .filter(|replica| running && !replica.replace)
            .filter_map(|replica| replica.current.as_ref()?.expires);
        let kills =
            processes(&self.replicas, &self.leaving).filter(|p| !p.overdue).filter_map(|process| process.kill_at);
        let weighing = (running && self.config.settings.max_worker_memory > 0).then_some(self.next_weighing);
        let look = self.renewals.filter(|_| running).and_then(|(_, at)| at);
        let scripts = self.scripts.due_at().filter(|_| running);
        let unsent = processes(&self.replicas, &self.leaving).any(Process::has_unsent);
        let unsent = (unsent || self.log_waits || running && self.replicas.iter().any(Replica::has_unreported))
            .then(|| now + TICK / 10);
        let observed = self.observe.as_ref().and_then(Observe::deadline);
        let observed = observed.into_iter().chain(self.watch.as_ref().and_then(Watch::due_at));
        let accesses = self.access.as_ref().map(|_| now + access::PERIOD);
        let others =
            look.into_iter().chain(scripts).chain(unsent).chain(self.notify.ping_at()).chain(observed).chain(accesses);
        starts.chain(ages).chain(kills).chain(weighing).chain(others).min()
    }

    fn wait(&mut self, program: &mut dyn Program) {
        let at_once = std::mem::take(&mut self.called_back)
            || self.control.as_ref().is_some_and(Control::has_more)
            || self.reloads.is_due(self.phase);
        let mut fds = vec![PollFd::new(self.signals.as_fd(), PollFlags::POLLIN)];
        fds.extend(
            processes(&self.replicas, &self.leaving)
                .filter_map(Process::poll_fd)
                .map(|fd| PollFd::new(fd, PollFlags::POLLIN)),
        );
        if let Some(control) = &self.control {
            control.poll_fds(&mut fds);
        }
        if let Some(access) = &self.access {
            fds.push(PollFd::new(access.bell(), PollFlags::POLLIN));
        }
        if let Some(observe) = &self.observe {
            observe.poll_fds(&mut fds);
        }
        fds.extend(self.watch.as_ref().map(|watch| PollFd::new(watch.fd(), PollFlags::POLLIN)));
        let limit = if at_once {
            Some(Duration::ZERO)
        } else {
            self.next_deadline().map(|at| at.saturating_duration_since(Instant::now()))
        };
        let writes = |fd: &PollFd<'_>| fd.events().contains(PollFlags::POLLOUT);
        let until: Vec<_> = fds.iter().map(|fd| Awaited { fd: fd.as_fd(), write: writes(fd) }).collect();
        if program.wait(&until, limit) {
            return;
        }
        drop(until);
        let timeout = limit.map_or(PollTimeout::NONE, |limit| {
            // Rounded up: waking a little early would only mean waking twice.
            let millis = limit.as_micros().div_ceil(1000);
            PollTimeout::try_from(i32::try_from(millis).unwrap_or(i32::MAX)).unwrap_or(PollTimeout::MAX)
        });
        let _ = poll(&mut fds, timeout);
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.phase == Phase::Stopping
    }

    /// Runs a callback of the program, and takes the signals that came meanwhile.
    pub(crate) fn emit(&mut self, program: &mut dyn Program, event: MasterEvent) {
        self.called_back = true;
        match sys::with_open_signals(&self.outer_mask, || program.on_event(event)) {
            Ok(came) => {
                for signal in came {
                    self.on_signal(program, signal);
                }
            }
            Err(error) => log::error(format_args!("signals cannot be set for a callback: {error}")),
        }
    }

    /// Leaves nothing behind, and gives the signals back.
    fn end(mut self) {
        if let Some(access) = &mut self.access {
            access.settle(self.scoreboard);
        }
        self.listeners.iter().for_each(Listener::remove_file);
        drop(self.pid_file);
        drop(self.control);
        self.observe.iter().for_each(Observe::end);
        while let Ok(Some(_)) = self.signals.read_signal() {}
        let _ = self.outer_mask.thread_set_mask();
        log::info(format_args!("stopped"));
        log::settle_for_good();
    }
}

pub(crate) fn processes<'p>(replicas: &'p [Replica], leaving: &'p [Process]) -> impl Iterator<Item = &'p Process> {
    replicas.iter().flat_map(Replica::processes).chain(leaving)
}

pub(crate) fn processes_mut<'p>(
    replicas: &'p mut [Replica],
    leaving: &'p mut [Process],
) -> impl Iterator<Item = &'p mut Process> {
    replicas.iter_mut().flat_map(Replica::processes_mut).chain(leaving)
}

/// Why a worker that serves should be replaced, if it should.
fn reason_to_replace(process: &Process, now: Instant, memory_limit: u64) -> Option<&'static str> {
    match process.slot.state() {
        WorkerState::Recycling => return Some("asks for it"),
        WorkerState::Faulted => return Some("is broken by a fatal error"),
        _ => {}
    }
    if process.expires.is_some_and(|at| at <= now) {
        return Some("has reached max_worker_age");
    }
    let too_big = memory_limit < u64::MAX && resident(process.pid.as_raw() as u32) > memory_limit;
    too_big.then_some("takes more than max_worker_memory")
}

/// Tells a worker that it was replaced.
pub(crate) fn dismiss(process: &mut Process, settings: &Settings, program: &mut dyn Program) {
    program.on_dismissed(process.slot_index, process.role);
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

/// A connection is a descriptor: raises the soft limit as far as these need and the hard one allows.
fn raise_descriptor_limit(known: usize) {
    // Files, database connections and the like beside what is known.
    let wanted = known as u64 + 1024;
    if let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE)
        && soft < wanted.min(hard)
    {
        let _ = setrlimit(Resource::RLIMIT_NOFILE, wanted.min(hard), hard);
    }
}
