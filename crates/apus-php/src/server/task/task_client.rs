//! What a process knows of the tasks that it handed over.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, VecDeque};
use std::rc::Rc;
use std::time::{Duration, Instant};

use apus_coro::{TaskId, Wait};
use apus_loop::Soon;
use apus_process::log::{Level, Repeats};
use apus_process::{Worker, log};
use apus_shm::tasks::{Order, Report, SubmitError, TaskQueue, When};
use apus_shm::{ForkEpoch, Heard, Watch};
use apus_zend::object::Object;
use apus_zend::{Callable, Raise, Value};
use tokio::io::Interest;
use tokio::sync::Notify;

use super::answer::{Answer, Waiter, decode};
use super::running::Running;
use super::work::Leaving;
use super::{flags, kinds, wants};
use crate::descriptor;
use crate::exception;
use crate::runtime::State;
use crate::server::core::ServerCore;
use crate::server::event_object;
use crate::server::events::Event;
use crate::swoole;
use crate::wait::{may_wait, wait};

/// Reports dealt with at one go before the loop turns to other things.
const TURN: usize = 64;

/// How often a coroutine that waits for room looks by itself.
const LOOK: Duration = Duration::from_millis(100);

thread_local! {
    static TASK_CLIENT: RefCell<Option<Rc<TaskClient>>> = const { RefCell::new(None) };
}

/// Who wants to hear of a task.
#[derive(Clone)]
pub(super) enum Pending {
    /// Somebody waits, for this task at this place.
    Wait(Rc<Waiter>, usize),
    /// A callback of its own gets the result.
    Callback(Rc<Callable>),
    /// Somebody waits for a computation, and hears how it goes on.
    Compute(Rc<Waiter>, Rc<RefCell<VecDeque<Report>>>),
}

/// How a task is handed over.
pub(super) struct Submission<'a> {
    pub(super) payload: &'a [u8],
    pub(super) flags: u32,
    pub(super) wants: u32,
    pub(super) priority: usize,
    pub(super) worker: Option<usize>,
    pub(super) when: When,
    pub(super) key: u64,
}

/// A process's place at the task queue.
pub(in crate::server) struct TaskClient {
    pub(super) task_queue: &'static TaskQueue,
    pub(super) core: Rc<ServerCore>,
    pub(super) server: Object,
    pub(super) worker: Rc<Worker>,
    pub(super) slot: usize,
    /// A child of this process has a copy of all this, and is not meant.
    process: ForkEpoch,
    pending: RefCell<HashMap<u64, Pending>>,
    /// Reports that were collected by somebody who blocked, and are for others.
    stash: RefCell<VecDeque<Report>>,
    listening: Cell<bool>,
    /// It was notified: there may be room.
    pub(super) room: Notify,
    /// Likewise: there may be a task for this task worker.
    pub(super) notifier: Notify,
    /// The tasks that run here, by their coroutines.
    pub(super) running: RefCell<HashMap<TaskId, Rc<Running>>>,
    pub(super) leaving: Cell<Leaving>,
    /// Rung when that changes.
    pub(super) left: Notify,
    /// Whether the next report mostly comes at once.
    reports: Soon,
    /// The same of the next task, where the sender of the last one has waited for it.
    pub(super) tasks: Soon,
    pub(super) awaited: Cell<bool>,
}

/// In a process just forked.
pub(in crate::server) fn open(core: &Rc<ServerCore>, server: &Object, worker: &Rc<Worker>) -> Option<Rc<TaskClient>> {
    let task_client = Rc::new(TaskClient {
        task_queue: core.task_queue.get()?,
        core: Rc::clone(core),
        server: server.share(),
        worker: Rc::clone(worker),
        slot: worker.slot_index(),
        process: ForkEpoch::now(),
        pending: RefCell::default(),
        stash: RefCell::default(),
        listening: Cell::new(false),
        room: Notify::new(),
        notifier: Notify::new(),
        running: RefCell::default(),
        leaving: Cell::new(Leaving::No),
        left: Notify::new(),
        reports: Soon::default(),
        tasks: Soon::default(),
        awaited: Cell::new(false),
    });
    TASK_CLIENT.with(|slot| *slot.borrow_mut() = Some(Rc::clone(&task_client)));
    Some(task_client)
}

/// At the end of a worker.
pub(in crate::server) fn close() {
    let task_client = TASK_CLIENT.with(|slot| slot.borrow_mut().take());
    drop(task_client);
}

/// The task client of this process.
pub(super) fn current() -> Option<Rc<TaskClient>> {
    TASK_CLIENT.with(|task_client| task_client.borrow().clone()).filter(|task_client| task_client.process.is_now())
}

/// Throws what keeps a method from handing tasks over.
pub(super) fn expect(what: &str) -> Result<Rc<TaskClient>, Raise> {
    current().ok_or_else(|| {
        let text = format!(
            "{what} works in a process of a server with task workers: set task_worker_num, and call it after start()"
        );
        exception::throw(exception::code::server::STATE, &text)
    })
}

/// Whether something came before its time was over.
async fn in_time(until: Option<Instant>, came: impl Future<Output = ()>) -> bool {
    if let Some(until) = until {
        return tokio::time::timeout_at(until.into(), came).await.is_ok();
    }
    came.await;
    true
}

/// Tasks that wait because all task workers have something to do.
static NO_IDLE: Repeats = Repeats::new(Level::Warning, "tasks wait for a task worker").once_a_second();

impl TaskClient {
    /// Hands a task over; its number. Too large for ever, it is an exception.
    pub(super) fn submit(&self, handing: &Submission<'_>, interest: bool) -> Result<Result<u64, SubmitError>, Raise> {
        let order = Order {
            sender: self.slot,
            priority: handing.priority,
            worker: handing.worker,
            when: handing.when,
            flags: handing.flags | u32::from(self.worker.id) << 16,
            wants: handing.wants,
            key: handing.key,
            interest,
        };
        match self.task_queue.submit(&order, handing.payload) {
            Err(SubmitError::TooLarge) => {
                let (len, most) = (handing.payload.len(), self.task_queue.stats().capacity);
                let text = format!("the task's data takes {len} bytes, and task_queue_size is {most}: set it higher");
                Err(exception::throw(exception::code::task::TOO_LARGE, &text))
            }
            other => {
                if self.core.second {
                    self.tell_of_no_idle();
                }
                Ok(other)
            }
        }
    }

    /// There a line a second tells that tasks wait for a worker.
    fn tell_of_no_idle(&self) {
        const NO_IDLE_WORKER: i64 = 9007;
        let now = self.task_queue.glance();
        if swoole::is_ignored(NO_IDLE_WORKER) {
            return;
        }
        let settings = self.core.settings.borrow();
        if now.waiting > 0 && now.running >= settings.task_worker_num && !settings.task_enable_coroutine {
            NO_IDLE.tell(format_args!(
                "Server::timer_callback() (ERRNO {NO_IDLE_WORKER}): No idle task worker is available"
            ));
        }
    }

    /// Who is to hear of a task just handed over.
    pub(super) fn expect_report(&self, id: u64, pending: Pending) {
        self.pending.borrow_mut().insert(id, pending);
    }

    /// Nobody waits for it any more.
    pub(super) fn forget(&self, id: u64) {
        let gone = self.pending.borrow_mut().remove(&id);
        drop(gone);
    }

    /// Begins to hear of tasks, where that has not begun.
    pub(in crate::server) fn listen(self: &Rc<Self>, state: &Rc<State>) {
        if !self.listening.replace(true) {
            drop(state.spawn(Rc::clone(self).hear()));
        }
    }

    async fn hear(self: Rc<Self>) {
        let watch = self
            .task_queue
            .notifier(self.slot)
            .try_clone_to_owned()
            .and_then(|fd| descriptor::watch(fd, Interest::READABLE));
        let Ok(watch) = watch else {
            log::error(format_args!("worker {} cannot hear of its tasks", self.worker.id));
            return;
        };
        loop {
            let mut count = 0usize;
            while let Some(report) = self.next_report() {
                self.deal(report);
                count += 1;
                if count.is_multiple_of(TURN) {
                    tokio::task::yield_now().await;
                }
            }
            let Ok(mut ready) = watch.readable().await else { return };
            // Never read: each ring is an event of its own.
            ready.clear_ready();
            self.room.notify_waiters();
            self.notifier.notify_one();
        }
    }

    fn next_report(&self) -> Option<Report> {
        let stashed = self.stash.borrow_mut().pop_front();
        stashed.or_else(|| self.task_queue.collect(self.slot))
    }

    /// Tells whoever waits; whether nobody does, and the report is given back.
    fn tell_waiter(&self, report: Report) -> Option<Report> {
        let pending = self.pending.borrow().get(&report.task).cloned();
        match pending {
            Some(Pending::Wait(waiter, place)) => {
                let task = report.task;
                if let Some(answer) = Answer::of(report) {
                    self.forget(task);
                    waiter.give(place, answer);
                }
                None
            }
            Some(Pending::Compute(waiter, progress)) => {
                if matches!(report.kind, kinds::PROGRESS | kinds::PROGRESS_PACKED) {
                    progress.borrow_mut().push_back(report);
                    waiter.nudge();
                } else if let Some(answer) = Answer::of(report) {
                    waiter.give(0, answer);
                }
                None
            }
            _ => Some(report),
        }
    }

    /// The number of a task as the program knows it: from 1, in code written for Swoole from 0.
    pub(super) fn shown(&self, id: u64) -> i64 {
        id as i64 - i64::from(self.core.second)
    }

    /// Does what a report brings about. On the loop's own stack.
    fn deal(&self, report: Report) {
        let Some(report) = self.tell_waiter(report) else { return };
        if let Err(raise) = self.call_back(report) {
            Self::failed(raise);
        }
    }

    fn call_back(&self, report: Report) -> Result<(), Raise> {
        if report.flags & (flags::AWAITED | flags::COMPUTE) != 0 {
            // Whoever waited has gone on: nobody else is meant.
            return Ok(());
        }
        let (id, wanted, last) =
            (report.task, report.wants, !matches!(report.kind, kinds::INTERIM | kinds::INTERIM_PACKED));
        let own = match self.pending.borrow().get(&id) {
            Some(Pending::Callback(callable)) => Some(callable.share()),
            _ => None,
        };
        if last {
            self.forget(id);
        }
        let (event, value) = match Answer::of(report) {
            Some(Answer::Value { packed, bytes }) => (Event::Finish, decode(packed, &bytes)?),
            Some(Answer::Failed(text)) => (Event::TaskError, Value::string(text.as_bytes())?),
            Some(Answer::Died) => (Event::TaskError, Value::string(b"the task worker that ran it died")?),
            Some(Answer::Nothing | Answer::Refused) | None => return Ok(()),
        };
        let callable = match (event, own) {
            (Event::Finish, Some(own)) => Some(own),
            (Event::Finish, None) if wanted & wants::RESULT == 0 => None,
            (event, _) => self.core.callbacks.get(event),
        };
        let Some(callable) = callable else { return Ok(()) };
        let Some(state) = State::existing() else { return Ok(()) };
        let (handlers, server) = (self.core.handlers(&state, self.worker.role), self.server.share().into());
        if self.core.event_objects.get() && event == Event::Finish {
            let result = event_object::task_result(self.shown(id), value)?;
            return handlers.launch(callable, [server, result], None);
        }
        handlers.launch(callable, [server, Value::int(self.shown(id)), value], None)
    }

    /// What PHP code threw that was called from the loop.
    fn failed(raise: Raise) {
        if let Some(state) = State::existing() {
            state.report(raise);
        }
    }

    /// Waits until `waiter` has all its answers, or the time is over, and calls `meanwhile` whenever something came.
    /// `false`: the wait was cancelled.
    pub(super) fn await_answers(
        self: &Rc<Self>,
        what: &'static str,
        waiter: &Waiter,
        limit: Option<Duration>,
        mut meanwhile: impl FnMut() -> Result<(), Raise>,
    ) -> Result<bool, Raise> {
        let state = State::get()?;
        let until = limit.map(|limit| Instant::now() + limit);
        let blocking = !may_wait(&state);
        let watch = if blocking { Some(self.watch()?) } else { None };
        if !blocking {
            self.listen(&state);
        }
        loop {
            if let Some(watch) = &watch {
                self.collect_for_waiters();
                meanwhile()?;
                if waiter.is_over() {
                    return Ok(true);
                }
                if !self.reports.comes(|| self.task_queue.has_report(self.slot)) && Self::block(watch, until)? {
                    return Ok(true);
                }
                continue;
            }
            meanwhile()?;
            if waiter.is_over() || until.is_some_and(|until| until <= Instant::now()) {
                return Ok(true);
            }
            if self.reports_soon(&state, waiter) && self.collect_own() {
                continue;
            }
            let came = in_time(until, waiter.progress());
            match wait(&state, Wait::Outside(what), came)? {
                Some(true) => {}
                Some(false) => return Ok(true),
                None => return Ok(false),
            }
        }
    }

    /// Whether a report came while nothing else was to be done.
    fn reports_soon(&self, state: &State, waiter: &Waiter) -> bool {
        let alone = self.pending.borrow().len() == waiter.open() && !state.engine.has_ready();
        alone && self.reports.comes(|| self.task_queue.has_report(self.slot))
    }

    fn watch(&self) -> Result<Watch, Raise> {
        Watch::new(self.task_queue.notifier(self.slot)).map_err(|error| {
            exception::throw(
                exception::code::server::PROCESS,
                &format!("no descriptor to wait for tasks with: {error}"),
            )
        })
    }

    /// Blocks this process until something came; true when the time is over.
    fn block(watch: &Watch, until: Option<Instant>) -> Result<bool, Raise> {
        match watch.wait(None, until) {
            Ok(Heard::Nothing) => Ok(true),
            Ok(Heard::Something | Heard::Signal) => Ok(false),
            Err(error) => {
                Err(exception::throw(exception::code::server::PROCESS, &format!("waiting for tasks failed: {error}")))
            }
        }
    }

    /// What has come is told to those who wait, and kept for the loop where that calls PHP code.
    fn collect_for_waiters(&self) {
        while let Some(report) = self.task_queue.collect(self.slot) {
            if let Some(other) = self.tell_waiter(report) {
                self.stash.borrow_mut().push_back(other);
            }
        }
    }

    /// The same where all that has come is for those who wait. `false`: callbacks come first, which the loop calls; it
    /// goes on with what is left.
    fn collect_own(&self) -> bool {
        while self.stash.borrow().is_empty() {
            let Some(report) = self.task_queue.collect(self.slot) else { return true };
            let other = self.tell_waiter(report);
            self.stash.borrow_mut().extend(other);
        }
        false
    }

    /// Hands a task over, and waits for room until the time is over; `None`: there was none.
    pub(super) fn submit_waiting(
        self: &Rc<Self>,
        what: &'static str,
        handing: &Submission<'_>,
        until: Option<Instant>,
    ) -> Result<Option<u64>, Raise> {
        let state = State::get()?;
        loop {
            if let Ok(id) = self.submit(handing, true)? {
                return Ok(Some(id));
            }
            if until.is_some_and(|until| until <= Instant::now()) {
                return Ok(None);
            }
            if !may_wait(&state) {
                let watch = self.watch()?;
                self.collect_for_waiters();
                // Room may have come between the try and the watch.
                if let Ok(id) = self.submit(handing, true)? {
                    return Ok(Some(id));
                }
                if Self::block(&watch, until)? {
                    return Ok(None);
                }
                continue;
            }
            self.listen(&state);
            let look = Instant::now() + LOOK;
            let room = in_time(Some(until.map_or(look, |until| until.min(look))), self.room.notified());
            if wait(&state, Wait::Outside(what), room)?.is_none() {
                return Ok(None);
            }
        }
    }
}
