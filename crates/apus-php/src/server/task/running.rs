//! One task in the hands of a task worker: from the bytes to its callback, and from what that gives to the report.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::{Duration, Instant};

use apus_coro::TaskId;
use apus_process::{MOST_USERS, Role, RoleCounts, log};
use apus_shm::tasks::{SubmitError, Taken, Task};
use apus_zend::value::View;
use apus_zend::{Callable, Raise, Value, engine};

use super::answer::{decode, encode};
use super::cron::Calendar;
use super::task_client::TaskClient;
use super::work::Stretch;
use super::{compute, flags, kinds, object, wants};
use crate::exception;
use crate::handlers::{Begun, Handlers};
use crate::runtime::{Outcome, State};
use crate::server::core::describe;
use crate::server::events::Event;

/// After this time a report that found no room is tried again, even if nobody has rung.
const AGAIN: Duration = Duration::from_millis(100);

/// A task whose callback has begun.
pub(in crate::server) struct Running {
    task_client: Rc<TaskClient>,
    /// Its payload is no longer here.
    task: Task,
    over: Cell<bool>,
    coroutine: Cell<TaskId>,
    /// What runs it, once that has begun.
    callable: RefCell<Option<Callable>>,
}

/// What a report says.
struct ReportText {
    kind: u32,
    bytes: Vec<u8>,
    failed: bool,
}

impl ReportText {
    fn failed(text: &str) -> Self {
        Self { kind: kinds::FAILED, bytes: text.as_bytes().to_vec(), failed: true }
    }
}

impl Running {
    pub(super) fn id(&self) -> i64 {
        self.task_client.shown(self.task.id)
    }

    /// Whether its server is of the classes that code written for Swoole knows.
    pub(super) fn second(&self) -> bool {
        self.task_client.core.second
    }

    /// The id of the process that handed it over.
    pub(super) fn sender(&self) -> i64 {
        i64::from(self.task.flags >> 16)
    }

    /// Whether a user process has handed it over.
    pub(super) fn is_of_user_process(&self) -> bool {
        let role_counts = RoleCounts::new(&self.task_client.core.settings.borrow(), MOST_USERS);
        u16::try_from(self.sender())
            .ok()
            .and_then(|id| role_counts.role(id))
            .is_some_and(|role| matches!(role, Role::User(_)))
    }

    /// Its flags as programs see them.
    pub(super) fn flags(&self) -> i64 {
        i64::from(self.task.flags & 0xff)
    }

    /// When it was handed over, in seconds since 1970.
    pub(super) fn dispatched(&self) -> f64 {
        self.task.born as f64 / 1e6
    }

    /// Whether nobody wants it any more.
    pub(super) fn is_cancelled(&self) -> bool {
        !self.over.get() && self.task_client.task_queue.is_cancelled(&self.task)
    }

    /// Gives the sender a value while it runs, or later; false when it does not want one, or there is no room.
    pub(super) fn finish(&self, value: &Value) -> Result<bool, Raise> {
        if self.task.wants & wants::RESULT == 0 {
            return Ok(false);
        }
        self.report(kinds::INTERIM, kinds::INTERIM_PACKED, value)
    }

    /// Tells the sender how it goes on; false when there is no room.
    pub(super) fn progress(&self, value: &Value) -> Result<bool, Raise> {
        self.report(kinds::PROGRESS, kinds::PROGRESS_PACKED, value)
    }

    fn report(&self, plain: u32, as_packed: u32, value: &Value) -> Result<bool, Raise> {
        let (packed, bytes) = encode(value)?;
        let kind = if packed { as_packed } else { plain };
        match self.task_client.task_queue.report(&self.task, self.task_client.slot, kind, &bytes) {
            Ok(()) => Ok(true),
            Err(SubmitError::Full) => Ok(super::full()),
            Err(SubmitError::TooLarge) => {
                let text = format!("a result of {} bytes is larger than task_queue_size: set it higher", bytes.len());
                Err(exception::throw(exception::code::task::TOO_LARGE, &text))
            }
        }
    }

    /// Begins the callback.
    fn begin(
        self: &Rc<Self>,
        state: &Rc<State>,
        data: &[u8],
        end: &Rc<RefCell<Option<Outcome>>>,
    ) -> Result<Begun, Raise> {
        let value = decode(self.task.flags & flags::PACKED != 0, data)?;
        let (callable, args) = if self.task.flags & flags::COMPUTE == 0 {
            (self.callback()?, self.arguments(value)?)
        } else {
            compute::callable(&value)?
        };
        *self.callable.borrow_mut() = Some(callable.share());
        let end = Rc::clone(end);
        let outcome = Rc::new(move |outcome| *end.borrow_mut() = Some(outcome));
        let begun = Handlers::new(state, true).begin(callable, args, Some(outcome))?;
        if let Some(drive) = &begun {
            self.coroutine.set(drive.task().id());
        }
        Ok(begun)
    }

    fn callback(&self) -> Result<Callable, Raise> {
        self.task_client
            .core
            .callbacks
            .get(Event::Task)
            .ok_or_else(|| engine::throw_error("there is no callback for the event task"))
    }

    fn arguments(self: &Rc<Self>, data: Value) -> Result<Vec<Value>, Raise> {
        let server: Value = self.task_client.server.share().into();
        let settings = self.task_client.core.settings.borrow();
        if settings.task_enable_coroutine || settings.task_use_object {
            return Ok(vec![server, object::object(self, data)?.into()]);
        }
        Ok(vec![server, Value::int(self.id()), Value::int(self.sender()), data])
    }

    /// What is to be reported of how its callback ended.
    fn outcome(&self, state: &State, outcome: Option<Outcome>) -> Option<ReportText> {
        let compute = self.task.flags & flags::COMPUTE != 0;
        let said = match outcome {
            Some(Outcome::Returned(value)) if compute || !matches!(value.view(), View::Null) => {
                if self.task.wants & wants::RESULT == 0 {
                    return None;
                }
                match encode(&value) {
                    Ok((packed, bytes)) => ReportText {
                        kind: if packed { kinds::RESULT_PACKED } else { kinds::RESULT },
                        bytes: bytes.into_owned(),
                        failed: false,
                    },
                    Err(raise) => self.unsendable(state, raise),
                }
            }
            Some(Outcome::Returned(_)) => ReportText { kind: kinds::END, bytes: Vec::new(), failed: false },
            Some(Outcome::Threw(thrown)) => {
                let said = ReportText::failed(&describe(&thrown));
                if !compute {
                    state.uncaught(thrown);
                }
                said
            }
            Some(Outcome::Gone) | None if state.faulted.get() => {
                ReportText::failed("a fatal error ended it: see the log")
            }
            Some(Outcome::Gone) | None => ReportText::failed("exit() or the end of its worker ended it"),
        };
        Some(said)
    }

    /// It did not begin.
    fn broken(state: &State, raise: Raise) -> ReportText {
        let why = Self::caught(state, raise);
        log::error(format_args!("a task could not be run: {why}"));
        ReportText::failed(&why)
    }

    /// It ran, and gave what cannot be packed.
    fn unsendable(&self, state: &State, raise: Raise) -> ReportText {
        let why = Self::caught(state, raise);
        let place = self.callable.borrow().as_ref().and_then(Callable::place);
        let place = place.map_or_else(String::new, |(file, line)| format!(" of the callback at {file}:{line}"));
        let text = format!("it ran, but the result{place} cannot be sent: {why}");
        log::error(format_args!("task {}: {text}", self.task.id));
        ReportText::failed(&text)
    }

    /// What was thrown on the loop's own stack.
    fn caught(state: &State, raise: Raise) -> String {
        match state.failed(raise) {
            Some(thrown) => describe(&thrown),
            None if state.faulted.get() => "a fatal error".to_owned(),
            None => "exit()".to_owned(),
        }
    }

    /// Ends it at the task queue, which may have to wait until somebody takes other results. Within a stretch, gives
    /// what is to be done next.
    async fn close(&self, said: Option<ReportText>, next: Option<u64>, stretch: &Stretch) -> Option<Taken> {
        let (task_queue, slot) = (self.task_client.task_queue, self.task_client.slot);
        let wanted = |said: &ReportText| {
            let bit = match said.kind {
                kinds::END => wants::END,
                kinds::FAILED => wants::ERROR,
                _ => wants::RESULT,
            };
            self.task.wants & bit != 0
        };
        let mut said = said.filter(wanted);
        loop {
            let report = said.as_ref().map(|said| (said.kind, &said.bytes[..]));
            let ended = if stretch.goes_on() && !self.task_client.is_done() {
                task_queue.finish_and_take(&self.task, (slot, self.task_client.number()), report, next).map(Some)
            } else {
                task_queue.finish(&self.task, slot, report, next).map(|()| None)
            };
            match ended {
                Ok(taken) => {
                    self.over.set(true);
                    return taken;
                }
                Err(SubmitError::Full) => {
                    let _ = tokio::time::timeout(AGAIN, self.task_client.room.notified()).await;
                }
                Err(SubmitError::TooLarge) => {
                    let len = said.as_ref().map_or(0, |said| said.bytes.len());
                    let text = format!("its result of {len} bytes is larger than task_queue_size: set it higher");
                    log::error(format_args!("task {}: {text}", self.task.id));
                    said = Some(ReportText::failed(&text)).filter(wanted);
                }
            }
        }
    }
}

/// Runs a task to its end; what was taken with it.
pub(super) async fn run(
    task_client: Rc<TaskClient>,
    state: Rc<State>,
    mut task: Task,
    stretch: Rc<Stretch>,
) -> Option<Taken> {
    let (begun, counters) = (Instant::now(), task_client.worker.slot);
    let payload = std::mem::take(&mut task.payload);
    let dated = if task.flags & flags::DATED == 0 { None } else { Calendar::read(&payload) };
    let (calendar, data) = dated.map_or((None, &payload[..]), |(calendar, data)| (Some(calendar), data));
    let running = Rc::new(Running {
        task_client: Rc::clone(&task_client),
        task,
        over: Cell::new(false),
        coroutine: Cell::new(-1),
        callable: RefCell::default(),
    });
    counters.active.add(1);
    let end = Rc::new(RefCell::new(None));
    let begun_with = running.begin(&state, data, &end);
    drop(payload);
    let said = match begun_with {
        Ok(begun) => {
            task_client.running.borrow_mut().insert(running.coroutine.get(), Rc::clone(&running));
            if let Some(drive) = begun {
                drive.await;
            }
            task_client.running.borrow_mut().remove(&running.coroutine.get());
            let outcome = end.take();
            running.outcome(&state, outcome)
        }
        Err(raise) => Some(Running::broken(&state, raise)),
    };
    let failed = said.as_ref().is_some_and(|said| said.failed);
    let taken = running.close(said, calendar.and_then(|calendar| calendar.next()), &stretch).await;
    counters.active.sub(1);
    counters.coroutines.set(state.engine.stats().live as u64);
    counters.memory_bytes.set(engine::memory_usage(true) as u64);
    counters.memory_peak.raise(counters.memory_bytes.get());
    task_client.worker.count_task(begun.elapsed().as_micros() as u64, failed);
    taken
}

/// The task that the running code belongs to.
pub(super) fn of_running_code(task_client: &TaskClient) -> Option<Rc<Running>> {
    let coroutine = State::existing()?.engine.current_id();
    let running = task_client.running.borrow();
    let only = || running.values().next().filter(|_| running.len() == 1);
    running.get(&coroutine).or_else(only).cloned()
}
