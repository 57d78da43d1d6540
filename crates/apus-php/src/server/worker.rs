//! A worker: its event loop, from `workerstart` to the last connection.

use std::cell::{Cell, RefCell};
use std::future::Future as _;
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use apus_coro::{Drive, Wait};
use apus_net::Control;
use apus_process::{Command, Listener, Role, Worker, log};
use apus_zend::object::Object;
use apus_zend::{Raise, Value, engine};
use socket2::{SockRef, Type};
use tokio::io::Interest;
use tokio::sync::Semaphore;

use super::class::slot::server as slot;
use super::core::ServerCore;
use super::events::Event;
use super::metrics::WorkerMetrics;
use super::serving::Serving;
use super::task::{self, Leaving, TaskClient};
use super::{figures, routing, set_control, stats_file};
use crate::descriptor;
use crate::output;
use crate::preempt;
use crate::runtime::{Mode, PhpSwitch, State};
use crate::serve::{Dispatcher, Patience};
use crate::timer::Timers;
use crate::watchdog;

/// When a `workerstart` that has not returned is spoken of.
const SLOW_START: Duration = Duration::from_secs(10);
/// How often a leaving worker looks whether its coroutines have ended.
const LEAVING_POLL: Duration = Duration::from_millis(10);
/// What is kept of `max_wait_time` for cancelling coroutines and for workerstop.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// The exit code of a worker that could not start or met a fatal error: PHP's own.
const FAILED: i32 = 255;

thread_local! {
    static LISTENERS: RefCell<Vec<Option<OwnedFd>>> = const { RefCell::new(Vec::new()) };
}

/// Keeps a descriptor of each listening socket for the workers, in the order of the ports.
pub(super) fn keep_listeners(listeners: &[Listener]) {
    let kept = listeners.iter().map(|listener| listener.fd.try_clone().ok()).collect();
    LISTENERS.set(kept);
}

/// The first datagram socket that fits, by the place of its port, in a process that serves none: it sends by it.
pub(super) fn lent_datagram(fits: impl Fn(usize, &SockRef<'_>) -> bool) -> Option<OwnedFd> {
    LISTENERS.with_borrow(|kept| {
        let mut all = kept.iter().enumerate().filter_map(|(place, fd)| Some((place, fd.as_ref()?)));
        let found = all.find(|(place, fd)| {
            let socket = SockRef::from(*fd);
            socket.r#type().is_ok_and(|kind| kind == Type::DGRAM) && fits(*place, &socket)
        });
        found.and_then(|(_, fd)| fd.try_clone().ok())
    })
}

/// Of a process that takes no connections: it keeps what datagrams are sent by.
fn close_streams() {
    LISTENERS.with_borrow_mut(|kept| {
        for slot in kept {
            let is_stream = |fd: &mut OwnedFd| SockRef::from(&*fd).r#type().is_ok_and(|kind| kind == Type::STREAM);
            drop(slot.take_if(is_stream));
        }
    });
}

struct Running {
    core: Rc<ServerCore>,
    server: Object,
    worker: Rc<Worker>,
    state: Rc<State>,
    control: Rc<Control>,
    leaving: Cell<bool>,
    /// Its place at the task queue of tasks, in a server that has task workers.
    task_client: Option<Rc<TaskClient>>,
}

/// Serves until the master or a fault ends it; the exit code.
pub(super) fn run(core: &Rc<ServerCore>, server: &Object, worker: Rc<Worker>) -> i32 {
    let Ok(state) = State::get() else {
        log::error(format_args!("worker {}: the event loop could not be made", worker.id));
        return FAILED;
    };
    state.mode.set(Mode::Worker);
    let mut settings = core.settings.borrow().clone();
    // As the program has set it for coroutines before.
    settings.enable_preemptive_scheduler |= preempt::is_wanted();
    crate::remembered::inherit(&mut settings);
    // A task worker that runs one task at a time may block: nobody waits for its loop.
    if worker.role != Role::Task || settings.task_enable_coroutine {
        watchdog::start(settings.blocked_loop_warn);
    }
    if core.second && worker.role == Role::Task && !settings.task_enable_coroutine {
        crate::coroutine::allow_nested();
    }
    state.configure(settings);
    *core.worker.borrow_mut() = Some(Rc::clone(&worker));
    server.set_slot(slot::WORKER_ID, Value::int(i64::from(worker.id)));
    server.set_slot(slot::WORKER_PID, Value::int(i64::from(std::process::id())));
    server.set_slot(slot::MASTER_PID, Value::int(i64::from(worker.master_pid)));
    server.set_slot(slot::MANAGER_PID, Value::int(core.manager_pid(worker.master_pid.into())));
    server.set_slot(slot::TASKWORKER, Value::bool(worker.role == Role::Task));
    crate::process::tell_signals(&worker.slot.handled_signals);
    let task_client = task::open(core, server, &worker);
    let control = Control::new(
        Rc::new(WorkerMetrics::new(Rc::clone(&worker), core.host_figures.borrow().clone())),
        &state.events,
    );
    set_control(Some(Rc::clone(&control)));
    let running = Rc::new(Running {
        core: Rc::clone(core),
        server: server.share(),
        worker,
        state: Rc::clone(&state),
        control,
        leaving: Cell::new(false),
        task_client,
    });
    let code = state.block_on(Rc::clone(&running).live());
    state.end_all();
    set_control(None);
    task::close();
    code
}

impl Running {
    async fn live(self: Rc<Self>) -> i32 {
        routing::start(&self.core, &self.server, &self.worker, &self.control, &self.state);
        if let Some(task_client) = &self.task_client {
            task_client.listen(&self.state);
        }
        tokio::task::spawn_local(output::settle());
        self.tell_figures();
        let code = self.serve_to_end().await;
        routing::stop().await;
        code
    }

    /// A task worker that runs one task at a time may block: its loop is never late.
    fn tell_figures(self: &Rc<Self>) {
        let settings = self.core.settings.borrow();
        let has_loop = self.worker.role != Role::Task || settings.task_enable_coroutine;
        if has_loop && !settings.metrics_address.is_empty() {
            tokio::task::spawn_local(figures::tell(Rc::clone(&self.worker), Rc::clone(&self.state)));
        }
    }

    async fn serve_to_end(self: &Rc<Self>) -> i32 {
        if !self.begin().await {
            log::error(format_args!("worker {} ends: its workerstart callback failed", self.worker.id));
            return FAILED;
        }
        routing::report_orphans();
        if self.worker.id == 0
            && let Some(file) = self.core.stats_file.borrow().clone()
        {
            tokio::task::spawn_local(stats_file::keep(Rc::clone(&self.core), Rc::clone(&self.state), file));
        }
        if let (0, Some(queue), Some(task_client)) = (self.worker.id, self.core.system_queue.get(), &self.task_client) {
            task::forward(task_client, queue);
        }
        let commands = tokio::task::spawn_local(Rc::clone(self).obey());
        let faults = tokio::task::spawn_local(Rc::clone(self).watch_faults());
        let served = self.serve().await;
        commands.abort();
        faults.abort();
        if let Err(raise) = served {
            self.report(raise);
            return FAILED;
        }
        // There it is told where there is something to clear, and again and again while that lasts.
        if !self.core.second || self.is_busy() {
            self.call(Event::WorkerExit).await;
        }
        let patience = self.core.settings.borrow().max_wait_time.saturating_sub(LAST_WORDS);
        let limit = tokio::time::Instant::now() + patience;
        let _ = self.finish_requests(limit).await;
        routing::retire().await;
        // What that brought is done, too.
        if !self.finish_requests(limit).await {
            log::there(
                log::Level::Warning,
                format_args!("Worker::stop() (ERRNO 9101): worker exit timeout, forced termination"),
            );
        }
        self.state.in_last_callback.set(crate::swoole::is_on());
        self.call(Event::WorkerStop).await;
        if self.state.faulted.get() { FAILED } else { 0 }
    }

    async fn serve(&self) -> Result<(), Raise> {
        if let Some(task_client) = self.task_client.as_ref().filter(|_| self.worker.role == Role::Task) {
            close_streams();
            self.worker.ready();
            // A task of its own: whenever one of the runtime's wakes the future that it blocks on, it asks its epoll
            // instance once more.
            let work = self.state.spawn(task::work(Rc::clone(task_client), Rc::clone(&self.state)));
            return work.await.map_err(|error| engine::throw_error(&format!("taking tasks failed: {error}")));
        }
        let fds = LISTENERS.take();
        let ports = self.core.ports.borrow().clone();
        let settings = self.core.settings.borrow().clone();
        let slots = (settings.max_concurrency > 0).then(|| Arc::new(Semaphore::new(settings.max_concurrency as usize)));
        let dispatcher = match self.core.handover.get() {
            None => None,
            Some(handover) => Some(
                Dispatcher::open(handover, self.worker.slot_index(), Patience::of(&settings), &self.state.events)
                    .map_err(|error| engine::throw_error(&format!("answers of scripts cannot be heard: {error}")))?
                    .ok_or_else(|| engine::throw_error("there is no seat for this worker beside its scripts"))?,
            ),
        };
        let serving = Serving {
            dispatcher,
            core: &self.core,
            state: &self.state,
            worker: &self.worker,
            control: &self.control,
            server: &self.server,
            slots,
        };
        let mut tasks = Vec::with_capacity(ports.len());
        for (place, (port, fd)) in ports.iter().zip(fds).enumerate() {
            let fd = fd.ok_or_else(|| engine::throw_error("no descriptor was left for a port"))?;
            tasks.extend(serving.port(port, place, fd)?);
        }
        self.worker.ready();
        for task in tasks {
            match task.await {
                Ok(Ok(())) => {}
                Ok(Err(error)) => return Err(engine::throw_error(&format!("listening failed: {error}"))),
                Err(error) => return Err(engine::throw_error(&format!("a port's task failed: {error}"))),
            }
        }
        Ok(())
    }

    /// Whether a worker that leaves waits: for coroutines that came of requests. Others, such as endless loops that
    /// workerstart began, are ended by their cancellation. Code written for Swoole expects it to wait for these and for
    /// timers, too, which workerexit clears.
    fn is_busy(&self) -> bool {
        self.state.of_requests.get() > 0 || self.core.second && Timers::or_coroutines(&self.state)
    }

    /// Lets what the worker waits for end (work done after the answer), as long as it may take to leave. Whether all
    /// ended.
    async fn finish_requests(&self, limit: tokio::time::Instant) -> bool {
        let told = self.core.second && self.core.callbacks.get(Event::WorkerExit).is_some();
        let ended = async {
            let mut seen = self.state.engine.stats().switches;
            while self.is_busy() {
                tokio::time::sleep(LEAVING_POLL).await;
                if told && self.is_busy() && self.state.engine.stats().switches != seen {
                    self.call(Event::WorkerExit).await;
                    seen = self.state.engine.stats().switches;
                }
            }
        };
        // Those that are left then are cancelled, too.
        tokio::time::timeout_at(limit, ended).await.is_ok()
    }

    /// Does what the master says.
    async fn obey(self: Rc<Self>) {
        let watch =
            self.worker.signal_fd().try_clone_to_owned().and_then(|fd| descriptor::watch(fd, Interest::READABLE));
        let Ok(watch) = watch else {
            log::error(format_args!("worker {} cannot hear the master and leaves", self.worker.id));
            self.leave();
            return;
        };
        loop {
            let Ok(mut ready) = watch.readable().await else { return };
            let commands = self.worker.take_commands();
            if commands.is_empty() {
                ready.clear_ready();
            }
            for command in commands {
                match command {
                    Command::Drain => self.leave(),
                    Command::StopNow => {
                        self.leave_tasks(Leaving::AtOnce);
                        self.control.abort();
                    }
                    Command::Renew => self.renew(),
                }
            }
            routing::report_orphans();
            if self.worker.is_orphan() {
                return;
            }
        }
    }

    /// New connections begin with the certificates that the master has read.
    fn renew(&self) {
        if let Some(parcel) = self.worker.take_parcel()
            && let Err(why) = self.core.tls.replace(parcel)
        {
            log::error(format_args!("worker {} keeps its certificates: {why}", self.worker.id));
        }
    }

    /// A task worker takes no more, or leaves at once.
    fn leave_tasks(&self, how: Leaving) {
        if let Some(task_client) = &self.task_client {
            task_client.leave(how);
        }
    }

    /// Accepts nothing more, and ends when the last connection has.
    fn leave(&self) {
        if self.leaving.replace(true) {
            return;
        }
        if self.core.settings.borrow().reload_async {
            self.leave_tasks(Leaving::Drain);
            self.control.drain();
            if self.core.second && self.worker.scoreboard.is_stopping() {
                // There a server that ends does not wait for requests that may be on their way.
                self.control.end_idle();
            }
        } else {
            self.leave_tasks(Leaving::AtOnce);
            self.control.abort();
        }
        let (accepts_no_more, worker) = (self.control.accepts_no_more(), Rc::clone(&self.worker));
        tokio::task::spawn_local(async move {
            accepts_no_more.await;
            worker.draining();
        });
    }

    /// After a fatal error the worker finishes what it has begun, and is replaced.
    async fn watch_faults(self: Rc<Self>) {
        loop {
            self.state.engine.interrupted().await;
            if self.state.faulted.get() {
                log::error(format_args!(
                    "worker {} met a fatal error: it finishes its requests and is replaced",
                    self.worker.id
                ));
                self.worker.faulted();
                self.leave_tasks(Leaving::Spoilt);
                self.control.drain();
                return;
            }
        }
    }

    /// Calls workerstart. There a worker serves also while its callback waits: for ever, as some do, or for what only
    /// its own requests will bring. `false`: it failed.
    async fn begin(self: &Rc<Self>) -> bool {
        let (mut drive, ok) = match self.start(Event::WorkerStart) {
            Ok(begun) => begun,
            Err(ok) => return ok,
        };
        let early = self.core.second;
        if !self.returned(Event::WorkerStart, &mut drive, early).await {
            tokio::task::spawn_local(drive);
        }
        ok.get()
    }

    /// Waits until a callback returns, and tells when that takes long. `false`, where it may go on beside requests
    /// (`early`): it waits for other coroutines, or takes long.
    async fn returned(&self, event: Event, drive: &mut Drive<PhpSwitch>, early: bool) -> bool {
        let slow = tokio::time::sleep(SLOW_START);
        tokio::pin!(slow);
        let returned = std::future::poll_fn(|cx| {
            if Pin::new(&mut *drive).poll(cx).is_ready() {
                return Poll::Ready(true);
            }
            let waits_for_others = early && matches!(drive.task().wait(), Wait::Inside(_));
            if waits_for_others || slow.as_mut().poll(cx).is_ready() { Poll::Ready(false) } else { Poll::Pending }
        });
        if returned.await {
            return true;
        }
        if !early {
            self.tell_slow(event);
            drive.await;
        }
        !early
    }

    fn tell_slow(&self, event: Event) {
        log::notice(format_args!(
            "worker {}: the {} callback has not returned for {} s; requests wait for it",
            self.worker.id,
            event.name(),
            SLOW_START.as_secs()
        ));
    }

    /// Runs a callback in a coroutine to its end. `false`: it threw, or a fatal error ended it.
    async fn call(&self, event: Event) -> bool {
        let (mut drive, ok) = match self.start(event) {
            Ok(begun) => begun,
            Err(ok) => return ok,
        };
        self.returned(event, &mut drive, false).await;
        ok.get()
    }

    /// Begins a callback in a coroutine, and tells whether it has not failed; or it is over, and this is whether.
    fn start(&self, event: Event) -> Result<(Drive<PhpSwitch>, Rc<Cell<bool>>), bool> {
        let Some(callable) = self.core.callbacks.get(event) else { return Err(true) };
        let args = [self.server.share().into(), Value::int(i64::from(self.worker.id))];
        let ok = Rc::new(Cell::new(true));
        let flag = Rc::clone(&ok);
        let state = Rc::clone(&self.state);
        let outcome = Rc::new(move |outcome| match outcome {
            crate::runtime::Outcome::Returned(_) => {}
            crate::runtime::Outcome::Threw(thrown) => {
                flag.set(false);
                state.uncaught(thrown);
            }
            crate::runtime::Outcome::Gone => flag.set(false),
        });
        let handlers = self.core.handlers(&self.state, self.worker.role).beside_requests();
        match handlers.begin(callable, args, Some(outcome)) {
            Ok(Some(drive)) => Ok((drive, ok)),
            Ok(None) => Err(ok.get()),
            Err(raise) => {
                self.report(raise);
                Err(false)
            }
        }
    }

    fn report(&self, raise: Raise) {
        if let Some(thrown) = self.state.failed(raise) {
            log::error(format_args!("worker {}: {}", self.worker.id, super::core::describe(&thrown)));
        }
    }
}
