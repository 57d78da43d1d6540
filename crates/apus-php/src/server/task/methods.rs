//! The methods of `Apus\Server` that hand tasks over and wait for them.

use std::rc::Rc;
use std::time::Instant;

use apus_shm::tasks::When;
use apus_zend::value::View;
use apus_zend::{Array, Call, Callable, Raise, Value};

use super::answer::{Waiter, encode};
use super::task_client::{Pending, Submission, TaskClient, expect};
use super::{errors, flags, priority, running, wants};
use crate::exception;
use crate::last_error::{clear, fail};
use crate::runtime::State;
use crate::server::events::Event;
use crate::wait::{may_wait, time_limit};

/// Tasks that one call waits for.
const MOST: usize = 10_000;
/// What a wait takes where no time is given, in seconds.
const PATIENCE: f64 = 0.5;

/// Who runs a task: -1 for any task worker.
pub(super) fn seat(call: &Call, task_client: &TaskClient, index: usize) -> Result<Option<usize>, Raise> {
    let (given, workers) = (call.int(index, -1)?, i64::from(task_client.worker.scoreboard.role_counts().tasks));
    match given {
        -1 => Ok(None),
        seat if (0..workers).contains(&seat) => Ok(Some(seat as usize)),
        _ => Err(call.value_error(index, &format!("must be -1 or a task worker, 0 to {}, {given} given", workers - 1))),
    }
}

/// Throws unless somebody runs tasks.
pub(super) fn expect_callback(task_client: &TaskClient, what: &str) -> Result<(), Raise> {
    if task_client.core.callbacks.get(Event::Task).is_some() {
        return Ok(());
    }
    let text = format!("{what} needs a callback that runs tasks: call on('task', …) before start()");
    Err(exception::throw(exception::code::server::EVENT, &text))
}

fn priority_of(call: &Call, index: usize) -> Result<usize, Raise> {
    let given = call.int(index, priority::NORMAL)?;
    if (priority::HIGH..=priority::LOW).contains(&given) {
        return Ok(given as usize);
    }
    let text = format!("must be Apus\\TASK_HIGH, TASK_NORMAL or TASK_LOW, {given} given");
    Err(call.value_error(index, &text))
}

fn own_callback(call: &Call, index: usize) -> Result<Option<Callable>, Raise> {
    if matches!(call.view(index), View::Null) { Ok(None) } else { call.callable(index).map(Some) }
}

pub(in crate::server) fn task(call: &Call) -> Result<(), Raise> {
    let task_client = expect("task()")?;
    expect_callback(&task_client, "task()")?;
    let (seat, priority, finish) = (seat(call, &task_client, 1)?, priority_of(call, 3)?, own_callback(call, 2)?);
    let value = call.value(0);
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
        seat,
        when: When::Now,
        key: 0,
    };
    let Ok(id) = task_client.submit(&handing, false)? else { return call.ret(super::full()) };
    if let Some(finish) = finish {
        task_client.expect_report(id, Pending::Callback(Rc::new(finish)));
    }
    if wanted != 0 {
        task_client.listen(&State::get()?);
    }
    call.ret(id as i64)
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
    fn add(&mut self, value: &Value, seat: Option<usize>, until: Option<Instant>) -> Result<(), Raise> {
        let (packed, payload) = encode(value)?;
        let waits = if may_wait(&*State::get()?) { flags::COROUTINE } else { flags::BLOCKING };
        let handing = Submission {
            payload: &payload,
            flags: waits | if packed { flags::PACKED } else { 0 },
            wants: wants::RESULT | wants::ERROR | wants::END,
            priority: priority::NORMAL as usize,
            seat,
            when: When::Now,
            key: 0,
        };
        let (id, place) = (self.task_client.submit_waiting(self.what, &handing, until)?, self.ids.len());
        match id {
            Some(id) => self.task_client.expect_report(id, Pending::Wait(Rc::clone(&self.waiter), place)),
            None => self.waiter.give(place, super::answer::Answer::Refused),
        }
        self.ids.push(id);
        Ok(())
    }

    /// By the tasks' places: what they gave, `None` for nothing.
    fn results(&self, until: Option<Instant>) -> Result<Vec<Option<Value>>, Raise> {
        let left = until.map(|until| until.saturating_duration_since(Instant::now()));
        self.task_client.await_answers(self.what, &self.waiter, left, || Ok(()))?;
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

pub(in crate::server) fn taskwait(call: &Call) -> Result<(), Raise> {
    let task_client = expect("taskwait()")?;
    expect_callback(&task_client, "taskwait()")?;
    let (patience, seat) = (time_limit(call, 1, PATIENCE)?, seat(call, &task_client, 2)?);
    let until = patience.map(|patience| Instant::now() + patience);
    let mut batch = Batch::new(&task_client, "Server::taskwait()", 1);
    batch.add(&call.value(0), seat, until)?;
    match batch.results(until)?.pop().flatten() {
        Some(value) => call.ret(value),
        None => call.ret(false),
    }
}

fn many(call: &Call, what: &'static str) -> Result<Vec<Option<Value>>, Raise> {
    call.expect(1, 2)?;
    let task_client = expect(what)?;
    expect_callback(&task_client, what)?;
    let patience = time_limit(call, 1, PATIENCE)?;
    let until = patience.map(|patience| Instant::now() + patience);
    let tasks: Vec<Value> = call.array(0)?.iter().map(|(_, task)| task.value()).collect();
    if tasks.len() > MOST {
        return Err(call.value_error(0, &format!("must have at most {MOST} tasks, {} given", tasks.len())));
    }
    let mut batch = Batch::new(&task_client, what, tasks.len());
    for task in &tasks {
        batch.add(task, None, until)?;
    }
    batch.results(until)
}

pub(in crate::server) fn task_wait_multi(call: &Call) -> Result<(), Raise> {
    let results = many(call, "Server::taskWaitMulti()")?;
    if results.iter().all(Option::is_none) && !results.is_empty() {
        return call.ret(false);
    }
    let mut array = Array::new(results.len())?;
    for (place, value) in results.into_iter().enumerate() {
        if let Some(value) = value {
            array.set_index(place as u64, value)?;
        }
    }
    call.ret(array)
}

pub(in crate::server) fn task_co(call: &Call) -> Result<(), Raise> {
    let results = many(call, "Server::taskCo()")?;
    let mut array = Array::new(results.len())?;
    for value in results {
        array.push(value.unwrap_or_else(|| Value::bool(false)))?;
    }
    call.ret(array)
}

pub(in crate::server) fn finish(call: &Call) -> Result<(), Raise> {
    let task_client = expect("finish()")?;
    let Some(running) = running::of_running_code(&task_client) else {
        let text = "finish() works inside the callback of the event task; where several tasks run at once, call \
                    Apus\\Server\\Task::finish()";
        return Err(exception::throw(exception::code::server::STATE, text));
    };
    call.ret(running.finish(&call.value(0))?)
}
