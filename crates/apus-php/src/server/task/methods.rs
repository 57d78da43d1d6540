//! The methods of `Apus\Server` that hand tasks over and wait for them.

use std::rc::Rc;

use apus_process::Role;
use apus_shm::tasks::When;
use apus_zend::arg::{Given, OrFalse, Want};
use apus_zend::value::ArrayView;
use apus_zend::{Array, Callable, Raise, Value};

use super::answer::{Waiter, encode};
use super::task_client::{Pending, Submission, TaskClient, expect};
use super::{errors, flags, master, priority, running, wants};
use crate::exception;
use crate::last_error::{clear, fail};
use crate::runtime::State;
use crate::server::core::ServerHandle;
use crate::server::events::Event;
use crate::swoole::{self, There};
use crate::wait::{Deadline, Timeout, may_wait};

/// Tasks that one call waits for.
const MOST: usize = 10_000;

/// Who runs a task: -1 for any task worker.
pub(super) fn task_worker(given: Given<i64>, task_client: &TaskClient) -> Result<Option<usize>, Raise> {
    one_of(i64::from(task_client.worker.scoreboard.role_counts().tasks), given)
}

/// The same among so many task workers.
pub(super) fn one_of(workers: i64, given: Given<i64>) -> Result<Option<usize>, Raise> {
    match given.value {
        -1 => Ok(None),
        worker if (0..workers).contains(&worker) => Ok(Some(worker as usize)),
        other => Err(given.value_error(&format!("must be -1 or a task worker, 0 to {}, {other} given", workers - 1))),
    }
}

/// Throws unless this process may hand over tasks, and somebody runs them.
pub(super) fn expect_tasks(what: &str) -> Result<Rc<TaskClient>, Raise> {
    let task_client = expect(what)?;
    if task_client.core.callbacks.get(Event::Task).is_some() {
        return Ok(task_client);
    }
    let text = format!("{what} needs a callback that runs tasks: call on('task', …) before start()");
    Err(exception::throw(exception::code::server::EVENT, &text))
}

/// The priority of a task.
pub(in crate::server) struct Priority(usize);

impl Want<i64> for Priority {
    fn want(given: Given<i64>) -> Result<Self, Raise> {
        let good = |value: &i64| (priority::HIGH..=priority::LOW).contains(value);
        let value: i64 = given.number_where(good, "Apus\\TASK_HIGH, TASK_NORMAL or TASK_LOW")?;
        Ok(Self(value as usize))
    }
}

/// The number of a task that was taken; false for one that was not.
pub(super) fn taken<E>(task_client: &TaskClient, id: Result<u64, E>) -> OrFalse<i64> {
    if id.is_err() {
        super::full();
    }
    OrFalse(id.ok().map(|id| task_client.shown(id)))
}

pub(in crate::server) fn task(
    server: &ServerHandle,
    value: Value,
    given_worker: Given<i64>,
    finish: Option<Callable>,
    Priority(priority): Priority,
) -> Result<OrFalse<i64>, Raise> {
    if let Some(task_queue) = master::task_queue(server) {
        return master::task(server, task_queue, &value, given_worker, finish.as_ref(), priority);
    }
    let task_client = expect_tasks("task()")?;
    if server.second && server.worker("task()")?.role == Role::Task {
        let raise = exception::throw(exception::code::server::STATE, "a task worker hands no tasks over");
        let there = "Server->task() cannot use in the task-worker".to_owned();
        return Err(swoole::there(raise, There::Text(there)));
    }
    let worker = task_worker(given_worker, &task_client)?;
    let (packed, payload) = encode(&value)?;
    let has = |event| task_client.core.callbacks.get(event).is_some();
    let mut wanted = if has(Event::TaskError) { wants::ERROR } else { 0 };
    if finish.is_some() {
        wanted |= wants::RESULT | wants::ERROR | wants::END;
    } else if has(Event::Finish) {
        wanted |= wants::RESULT;
    }
    let handing = Submission {
        payload: &payload,
        flags: if packed { flags::PACKED } else { 0 } | if finish.is_some() { flags::CALLBACK } else { 0 },
        wants: wanted,
        priority,
        worker,
        when: When::Now,
        key: 0,
    };
    let id = match task_client.submit(&handing, false)? {
        Ok(id) => id,
        refused => return Ok(taken(&task_client, refused)),
    };
    if let Some(finish) = finish {
        task_client.expect_report(id, Pending::Callback(Rc::new(finish)));
    }
    if wanted != 0 {
        task_client.listen(&State::get()?);
    }
    Ok(OrFalse(Some(task_client.shown(id))))
}

/// Hands tasks over and waits for them together.
struct Batch {
    task_client: Rc<TaskClient>,
    what: &'static str,
    waiter: Rc<Waiter>,
    ids: Vec<Option<u64>>,
}

impl Drop for Batch {
    fn drop(&mut self) {
        self.ids.iter().flatten().for_each(|id| self.task_client.forget(*id));
    }
}

impl Batch {
    fn new(task_client: &Rc<TaskClient>, what: &'static str, tasks: usize) -> Self {
        // A task may return false as well.
        clear();
        Self {
            task_client: Rc::clone(task_client),
            what,
            waiter: Rc::new(Waiter::new(tasks)),
            ids: Vec::with_capacity(tasks),
        }
    }

    /// Hands one over, with patience for room.
    fn add(&mut self, value: &Value, worker: Option<usize>, until: Deadline) -> Result<(), Raise> {
        let (packed, payload) = encode(value)?;
        let waits = if may_wait(&*State::get()?) { flags::COROUTINE } else { flags::BLOCKING };
        let handing = Submission {
            payload: &payload,
            flags: waits | if packed { flags::PACKED } else { 0 },
            wants: wants::RESULT | wants::ERROR | wants::END,
            priority: priority::NORMAL as usize,
            worker,
            when: When::Now,
            key: 0,
        };
        let (id, place) = (self.task_client.submit_waiting(self.what, &handing, until.instant())?, self.ids.len());
        match id {
            Some(id) => self.task_client.expect_report(id, Pending::Wait(Rc::clone(&self.waiter), place)),
            None => self.waiter.give(place, super::answer::Answer::Refused),
        }
        self.ids.push(id);
        Ok(())
    }

    /// By the tasks' places: what they gave, `None` for nothing.
    fn results(&self, until: Deadline) -> Result<Vec<Option<Value>>, Raise> {
        self.task_client.await_answers(self.what, &self.waiter, until.left(), || Ok(()))?;
        let answers = self.waiter.answers.take();
        answers
            .into_iter()
            .map(|answer| {
                if let Some(answer) = answer {
                    return answer.value();
                }
                fail(errors::TIMEOUT);
                Ok(None)
            })
            .collect()
    }
}

pub(in crate::server) fn taskwait(
    _: &ServerHandle,
    value: Value,
    timeout: Timeout,
    given_worker: Given<i64>,
) -> Result<OrFalse<Value>, Raise> {
    let task_client = expect_tasks("taskwait()")?;
    let worker = task_worker(given_worker, &task_client)?;
    let until = Deadline::after(timeout.limit());
    let mut batch = Batch::new(&task_client, "Server::taskwait()", 1);
    batch.add(&value, worker, until)?;
    Ok(OrFalse(batch.results(until)?.pop().flatten()))
}

/// The tasks that a call waits for together.
pub(in crate::server) struct Tasks(Vec<Value>);

impl Want<ArrayView<'_>> for Tasks {
    fn want(given: Given<ArrayView<'_>>) -> Result<Self, Raise> {
        let tasks: Vec<Value> = given.value.iter().map(|(_, task)| task.value()).collect();
        if tasks.len() > MOST {
            return Err(given.value_error(&format!("must have at most {MOST} tasks, {} given", tasks.len())));
        }
        Ok(Self(tasks))
    }
}

fn many(Tasks(tasks): &Tasks, timeout: Timeout, what: &'static str) -> Result<Vec<Option<Value>>, Raise> {
    let task_client = expect_tasks(what)?;
    let until = Deadline::after(timeout.limit());
    let mut batch = Batch::new(&task_client, what, tasks.len());
    for task in tasks {
        batch.add(task, None, until)?;
    }
    batch.results(until)
}

pub(in crate::server) fn task_wait_multi(
    _: &ServerHandle,
    tasks: Tasks,
    timeout: Timeout,
) -> Result<OrFalse<Array>, Raise> {
    let results = many(&tasks, timeout, "Server::taskWaitMulti()")?;
    if results.iter().all(Option::is_none) && !results.is_empty() {
        return Ok(OrFalse(None));
    }
    let mut array = Array::new(results.len())?;
    for (place, value) in results.into_iter().enumerate() {
        if let Some(value) = value {
            array.set_index(place as u64, value)?;
        }
    }
    Ok(OrFalse(Some(array)))
}

pub(in crate::server) fn task_co(_: &ServerHandle, tasks: Tasks, timeout: Timeout) -> Result<Array, Raise> {
    let results = many(&tasks, timeout, "Server::taskCo()")?;
    let mut array = Array::new(results.len())?;
    for value in results {
        array.push(value.unwrap_or_else(|| Value::bool(false)))?;
    }
    Ok(array)
}

pub(in crate::server) fn finish(server: &ServerHandle, value: Value) -> Result<bool, Raise> {
    if server.second && server.settings.borrow().task_enable_coroutine {
        let said = "please use Swoole\\Server\\Task->finish instead when task_enable_coroutine is enable";
        let raise = exception::throw(exception::code::server::STATE, said);
        return Err(swoole::there(raise, There::Fatal(said.to_owned())));
    }
    let task_client = expect("finish()")?;
    let Some(running) = running::of_running_code(&task_client) else {
        let text = "finish() works inside the callback of the event task; where several tasks run at once, call \
                    Apus\\Server\\Task::finish()";
        return Err(exception::throw(exception::code::server::STATE, text));
    };
    // Nobody there would hear of it.
    Ok(!(server.second && running.is_of_user_process()) && running.finish(&value)?)
}
