//! The process that starts a pool's workers, and starts them again.

use std::cell::Cell;
use std::collections::VecDeque;
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::rc::Rc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use apus_process::BackOff;
use apus_process::log;
use apus_zend::object::Object;
use apus_zend::{Raise, Value, engine};
use rustix::event::PollFlags;
use rustix::process::{Pid, WaitOptions, WaitStatus, waitpid};

use super::class::slot::pool as slot;
use super::core::{Event, Ipc, Phase, PoolCore};
use super::worker;
use crate::descriptor;
use crate::process::fork;
use crate::process::pipe::{Pipe, Side};
use crate::process::signals::{self, Action};
use crate::process::sys::{block, datagrams, receive_pid};
use crate::runtime::{Mode, State};
use crate::swoole;
use crate::system::children;
use crate::system::sys::kill;
use crate::timer::Timers;

/// The pause before another try where no process could be made, or none could be ended.
const EARLY: Duration = Duration::from_secs(1);
/// A worker that returns once or twice may have done what it was for.
const FIRST_RETURNS: Duration = Duration::from_millis(200);
/// How often a worker that blocks in the kernel is told again that it is to end.
const AGAIN: Duration = Duration::from_millis(100);
/// The signals that a master heeds.
const ORDERS: [libc::c_int; 5] = [libc::SIGTERM, libc::SIGINT, libc::SIGUSR1, libc::SIGUSR2, libc::SIGCHLD];

/// One of the pool's workers: the process that runs, or when the next is due.
struct WorkerSlot {
    pid: libc::pid_t,
    started: Instant,
    /// When its end is overdue, once it was told to end.
    end: Option<Instant>,
    /// When it is to be told again.
    again: Instant,
    /// When the next worker is due, while there is none.
    due: Option<Instant>,
    back_off: BackOff,
}

/// What signals have asked for.
#[derive(Default)]
struct Asked {
    stop: Cell<bool>,
    reload: Cell<bool>,
}

struct Master {
    core: Rc<PoolCore>,
    object: Object,
    asked: Rc<Asked>,
    workers: Vec<WorkerSlot>,
    /// Workers that left the pool and have not ended.
    detached: Vec<libc::pid_t>,
    /// Workers that are to be replaced, one after the other.
    to_reload: VecDeque<usize>,
    stopping: bool,
    /// When it was last said that workers return at once.
    told: Option<Instant>,
    /// Where workers tell that they leave the pool; not in a worker.
    ours: Option<OwnedFd>,
    /// The workers' end of it.
    _theirs: OwnedFd,
}

/// What a turn of the master came to.
enum Turn {
    Again,
    Over,
    /// In a worker: its exit code.
    Worker(i32),
}

/// Runs a pool in the calling process until it is stopped. In a worker, `Err` ends the script.
pub(super) fn run(core: &Rc<PoolCore>, object: &Object) -> Result<(), Raise> {
    let (ours, theirs) = datagrams().map_err(|code| crate::process::core::system_error("a pipe for the pool", code))?;
    let asked = Rc::new(Asked::default());
    core.orders.set(theirs.as_raw_fd());
    core.phase.set(Phase::Master);
    core.master.set(std::process::id() as libc::pid_t);
    object.set_slot(slot::MASTER_PID, Value::int(i64::from(core.master.get())));
    listen_to_signals(&asked);
    let now = Instant::now();
    let worker =
        || WorkerSlot { pid: 0, started: now, end: None, again: now, due: Some(now), back_off: BackOff::default() };
    let workers = std::iter::repeat_with(worker).take(core.count).collect();
    let mut master = Master {
        core: Rc::clone(core),
        object: object.share(),
        asked,
        workers,
        detached: Vec::new(),
        to_reload: VecDeque::new(),
        stopping: false,
        told: None,
        ours: Some(ours),
        _theirs: theirs,
    };
    let result = master.serve();
    if core.phase.get() == Phase::Worker {
        return result;
    }
    core.phase.set(Phase::Over);
    master.end_all();
    for signal in ORDERS {
        signals::unset(signal);
    }
    core.orders.set(-1);
    if let Some(state) = State::existing() {
        state.mode.set(Mode::Script);
        if swoole::is_on() {
            Timers::of(&state).clear_all(&state);
        }
    }
    // A Unix socket's file goes with its listener.
    drop(core.listener.take());
    result
}

fn listen_to_signals(asked: &Rc<Asked>) {
    for signal in ORDERS {
        let asked = Rc::clone(asked);
        let action: Rc<dyn Fn()> = match signal {
            libc::SIGTERM | libc::SIGINT => Rc::new(move || asked.stop.set(true)),
            libc::SIGCHLD => Rc::new(|| {}),
            _ => Rc::new(move || asked.reload.set(true)),
        };
        if let Err(code) = signals::set(signal, Action::Native(action)) {
            log::warning(format_args!("a pool does not heed signal {signal}: errno {code}"));
        }
    }
}

impl Master {
    fn serve(&mut self) -> Result<(), Raise> {
        self.emit(Event::Start)?;
        loop {
            match self.turn()? {
                Turn::Again => {}
                Turn::Over => break,
                Turn::Worker(code) => return Err(engine::throw_exit(code)),
            }
        }
        if swoole::is_on() { Ok(()) } else { self.emit(Event::Shutdown) }
    }

    fn emit(&self, event: Event) -> Result<(), Raise> {
        let Some(callable) = self.core.callback(event) else { return Ok(()) };
        let called = callable.call(&[self.object.share().into()]).map(drop);
        if let Some(state) = State::existing().filter(|_| swoole::is_on()) {
            // What goes wrong in a timer is logged, and the master goes on.
            state.mode.set(Mode::Worker);
        }
        called
    }

    fn turn(&mut self) -> Result<Turn, Raise> {
        signals::silence();
        signals::dispatch()?;
        self.take_orders();
        self.reap();
        if self.asked.stop.get() && !self.stopping {
            self.stopping = true;
            self.object.set_slot(slot::RUNNING, Value::bool(false));
            self.to_reload.clear();
            if swoole::is_on() {
                // It is the beginning of the end there.
                self.emit(Event::Shutdown)?;
            }
            for worker in 0..self.workers.len() {
                self.ask_to_end(worker);
            }
        }
        if self.asked.reload.take() && !self.stopping {
            let running = (0..self.workers.len()).filter(|&worker| self.workers[worker].pid != 0);
            self.to_reload = running.collect();
        }
        if self.stopping && self.workers.iter().all(|worker| worker.pid == 0) {
            return Ok(Turn::Over);
        }
        if let Some(code) = self.start_due()? {
            return Ok(Turn::Worker(code));
        }
        self.reload_next();
        self.enforce();
        self.rest()?;
        Ok(Turn::Again)
    }

    /// Waits for what comes next. Timers and coroutines that a callback of code written for Swoole has begun go on
    /// meanwhile.
    fn rest(&self) -> Result<(), Raise> {
        let busy = |state: &Rc<State>| state.engine.live() > 0 || Timers::of(state).len() > 0;
        let Some(state) = State::existing().filter(|state| swoole::is_on() && busy(state)) else {
            let orders = self.ours.as_ref().map(|fd| (fd.as_raw_fd(), PollFlags::IN));
            return block(orders.as_slice(), self.next_look()).map(drop);
        };
        let event = signals::event();
        let fds: Vec<_> = self
            .ours
            .iter()
            .map(|fd| (fd.as_fd(), false))
            .chain(event.iter().map(|event| (event.as_fd(), false)))
            .collect();
        let limit = self.next_look().map(|until| until.saturating_duration_since(Instant::now()));
        if !state.block_on(descriptor::one_ready(&fds, limit)) {
            return block(&[], Some(Instant::now() + EARLY)).map(drop);
        }
        signals::silence();
        signals::dispatch()
    }

    /// When something is due without a signal.
    fn next_look(&self) -> Option<Instant> {
        let due = self.workers.iter().filter(|_| !self.stopping).filter_map(|worker| worker.due);
        let ends = self.workers.iter().filter_map(|worker| worker.end.map(|end| end.min(worker.again)));
        due.chain(ends).min()
    }

    /// Starts every worker that is due; in one of them, its exit code.
    fn start_due(&mut self) -> Result<Option<i32>, Raise> {
        let now = Instant::now();
        for index in 0..self.workers.len() {
            if self.stopping || self.workers[index].pid != 0 || self.workers[index].due.is_none_or(|due| due > now) {
                continue;
            }
            match fork::fork() {
                Ok(0) => {
                    drop(self.ours.take());
                    self.core.phase.set(Phase::Worker);
                    return worker::run(&self.core, &self.object, index).map(Some);
                }
                Ok(pid) => {
                    let worker = &mut self.workers[index];
                    (worker.pid, worker.started, worker.end, worker.due) = (pid, now, None, None);
                    self.tell_pid(index, pid)?;
                }
                Err(code) => {
                    log::error(format_args!("no worker {index} of the pool could be made: errno {code}"));
                    self.workers[index].due = Some(now + EARLY);
                }
            }
        }
        Ok(None)
    }

    fn tell_pid(&self, index: usize, pid: libc::pid_t) -> Result<(), Raise> {
        if let Some(board) = self.core.board.get() {
            board.pids[index].store(pid as u32, Relaxed);
        }
        self.core.process(index).map(drop)
    }

    /// Takes the ends of workers. Other children are left to whoever made them.
    fn reap(&mut self) {
        self.detached.retain(|&pid| reap(pid).is_none());
        for index in 0..self.workers.len() {
            let pid = self.workers[index].pid;
            let Some(Ended(status)) = (pid != 0).then(|| reap(pid)).flatten() else { continue };
            let worker = &mut self.workers[index];
            let (asked, age) = (worker.end.is_some(), worker.started.elapsed());
            (worker.pid, worker.end) = (0, None);
            if let Some(board) = self.core.board.get() {
                board.pids[index].store(0, Relaxed);
            }
            let failure = status.filter(|status| !asked && status.as_raw() != 0);
            let failed = failure.is_some();
            if let Some(status) = failure {
                tell(index, pid, status);
            }
            let pause = if asked {
                worker.back_off.forget();
                Duration::ZERO
            } else if failed {
                worker.back_off.death(true, age).0
            } else {
                worker.back_off.exit(age)
            };
            let again = self.told.is_none_or(|told| told.elapsed() >= EARLY);
            // Code written for Swoole expects it.
            if !asked && !failed && pause > FIRST_RETURNS && again && !swoole::is_on() {
                self.told = Some(Instant::now());
                log::warning(format_args!(
                    "worker {index} of the pool ({pid}) has returned after {:.1} s, and so did those before it; next start in {} ms. \
                     A worker is to go on working, in a loop",
                    age.as_secs_f64(),
                    pause.as_millis()
                ));
            }
            worker.due = Some(Instant::now() + pause);
        }
    }

    /// Workers that say that they leave the pool.
    fn take_orders(&mut self) {
        while let Some(pid) = self.ours.as_ref().and_then(receive_pid) {
            if let Some(index) = self.workers.iter().position(|worker| worker.pid == pid) {
                self.detached.push(pid);
                let worker = &mut self.workers[index];
                (worker.pid, worker.end, worker.due) = (0, None, Some(Instant::now()));
            }
        }
    }

    fn ask_to_end(&mut self, index: usize) {
        let worker = &mut self.workers[index];
        if worker.pid == 0 || worker.end.is_some() {
            return;
        }
        let _ = kill(worker.pid, libc::SIGTERM);
        let now = Instant::now();
        worker.end = Some(now + self.core.patience.get());
        worker.again = now + AGAIN;
    }

    /// Replaces the next worker of a reload when the one before was replaced.
    fn reload_next(&mut self) {
        if self.workers.iter().any(|worker| worker.pid == 0 || worker.end.is_some()) {
            return;
        }
        if let Some(index) = self.to_reload.pop_front() {
            self.ask_to_end(index);
        }
    }

    /// Ends workers by force whose time is over; tells those again that may have blocked in the kernel just when they
    /// were told.
    fn enforce(&mut self) {
        let now = Instant::now();
        let blocks = self.core.ipc == Ipc::MsgQueue && self.core.takes_messages();
        for (index, worker) in self.workers.iter_mut().enumerate() {
            let Some(end) = worker.end.filter(|_| worker.pid != 0) else { continue };
            if end <= now {
                log::warning(format_args!(
                    "worker {index} of the pool ({}) did not end in {:?} (max_wait_time) and is killed",
                    worker.pid,
                    self.core.patience.get()
                ));
                let _ = kill(worker.pid, libc::SIGKILL);
                worker.end = Some(now + EARLY);
            } else if worker.again <= now {
                if blocks {
                    let _ = kill(worker.pid, libc::SIGTERM);
                }
                worker.again = if blocks { now + AGAIN } else { end };
            }
        }
    }

    /// After the loop: nobody is left behind, even when an exception ended it.
    fn end_all(&mut self) {
        for worker in self.workers.iter().filter(|worker| worker.pid != 0) {
            let _ = kill(worker.pid, libc::SIGKILL);
            let _ = waitpid(Pid::from_raw(worker.pid), WaitOptions::empty());
        }
        for object in self.core.processes.borrow().iter() {
            if let Some(pipe) = crate::process::core_of(object).ok().as_ref().and_then(|core| core.pipe.as_ref()) {
                close(pipe);
            }
        }
    }
}

fn close(pipe: &Pipe) {
    pipe.close(Side::Master);
    pipe.close(Side::Worker);
}

/// A child that has ended: its status, unless somebody else took it.
struct Ended(Option<WaitStatus>);

/// Takes the end of a child, if it has ended.
fn reap(pid: libc::pid_t) -> Option<Ended> {
    match children::reap(Pid::from_raw(pid)) {
        Ok(ended) => ended.map(|(_, status)| Ended(Some(status))),
        Err(libc::ECHILD) => Some(Ended(None)),
        Err(_) => None,
    }
}

fn tell(index: usize, pid: libc::pid_t, status: WaitStatus) {
    match children::parts(status) {
        (code, 0) => log::warning(format_args!("worker {index} of the pool ({pid}) exited with code {code}")),
        (_, signal) => log::warning(format_args!("worker {index} of the pool ({pid}) was ended by signal {signal}")),
    }
}
