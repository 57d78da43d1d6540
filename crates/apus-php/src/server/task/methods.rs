//! The methods of `Apus\Server` that hand tasks over and wait for them.

use std::rc::Rc;
use std::time::Instant;

use apus_shm::tasks::When;
use apus_zend::class::Method;
use apus_zend::value::View;
use apus_zend::{Array, Call, Callable, Raise, Value, handler};

use super::answer::{Waiter, encode};
use super::desk::{Desk, Handing, Pending, expect};
use super::{errors, flags, priority, running, wants};
use crate::exception;
use crate::runtime::State;
use crate::server::events::Event;
use crate::server::last_error::{clear, fail};
use crate::wait::{may_wait, time_limit};

/// Tasks that one call waits for.
const MOST: usize = 10_000;
/// What a wait takes where no time is given, in seconds.
const PATIENCE: f64 = 0.5;

/// Who runs a task: -1 for any task worker.
pub(super) fn seat(call: &Call, desk: &Desk, index: usize) -> Result<Option<usize>, Raise> {
    let (given, workers) = (call.int(index, -1)?, i64::from(desk.worker.scoreboard.seating().tasks));
    match given {
        -1 => Ok(None),
        seat if (0..workers).contains(&seat) => Ok(Some(seat as usize)),
        _ => Err(call.value_error(index, &format!("must be -1 or a task worker, 0 to {}, {given} given", workers - 1))),
    }
}

/// Throws unless somebody runs tasks.
pub(super) fn expect_callback(desk: &Desk, what: &str) -> Result<(), Raise> {
    if desk.core.callbacks.get(Event::Task).is_some() {
        return Ok(());
    }
    let text = format!("{what} needs a callback that runs tasks: call on('task', …) before start()");
    Err(exception::throw(&exception::SERVER, "EVENT", &text))
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

fn task(call: &Call) -> Result<(), Raise> {
    call.expect(1, 4)?;
    let desk = expect("task()")?;
    expect_callback(&desk, "task()")?;
    let (seat, priority, finish) = (seat(call, &desk, 1)?, priority_of(call, 3)?, own_callback(call, 2)?);
    let value = call.value(0);
    let (packed, payload) = encode(&value)?;
    let has = |event| desk.core.callbacks.get(event).is_some();
    let mut wanted = if has(Event::TaskError) { wants::ERROR } else { 0 };
    if finish.is_some() {
        wanted |= wants::RESULT | wants::ERROR | wants::END;
    } else if has(Event::Finish) {
        wanted |= wants::RESULT;
    }
    let handing = Handing {
        payload: &payload,
        flags: if packed { flags::PACKED } else { 0 } | if finish.is_some() { flags::CALLBACK } else { 0 },
        wants: wanted,
        priority,
        seat,
        when: When::Now,
        key: 0,
    };
    let Ok(id) = desk.submit(&handing, false)? else { return call.ret(super::full()) };
    if let Some(finish) = finish {
        desk.expect_report(id, Pending::Callback(Rc::new(finish)));
    }
    if wanted != 0 {
        desk.listen(&State::get()?);
    }
    call.ret(id as i64)
}

/// Hands tasks over and waits for them together.
struct Batch {
    desk: Rc<Desk>,
    what: &'static str,
    waiter: Rc<Waiter>,
    ids: Vec<Option<u64>>,
}

impl Drop for Batch {
    fn drop(&mut self) {
        self.ids.iter().flatten().for_each(|id| self.desk.forget(*id));
    }
}

impl Batch {
    fn new(desk: &Rc<Desk>, what: &'static str, tasks: usize) -> Self {
        // A task may return false as well.
        clear();
        Self { desk: Rc::clone(desk), what, waiter: Rc::new(Waiter::new(tasks)), ids: Vec::with_capacity(tasks) }
    }

    /// Hands one over, with patience for room.
    fn add(&mut self, value: &Value, seat: Option<usize>, until: Option<Instant>) -> Result<(), Raise> {
        let (packed, payload) = encode(value)?;
        let waits = if may_wait(&*State::get()?) { flags::COROUTINE } else { flags::BLOCKING };
        let handing = Handing {
            payload: &payload,
            flags: waits | if packed { flags::PACKED } else { 0 },
            wants: wants::RESULT | wants::ERROR | wants::END,
            priority: priority::NORMAL as usize,
            seat,
            when: When::Now,
            key: 0,
        };
        let (id, place) = (self.desk.submit_waiting(self.what, &handing, until)?, self.ids.len());
        match id {
            Some(id) => self.desk.expect_report(id, Pending::Wait(Rc::clone(&self.waiter), place)),
            None => self.waiter.give(place, super::answer::Answer::Refused),
        }
        self.ids.push(id);
        Ok(())
    }

    /// By the tasks' places: what they gave, `None` for nothing.
    fn results(&self, until: Option<Instant>) -> Result<Vec<Option<Value>>, Raise> {
        let left = until.map(|until| until.saturating_duration_since(Instant::now()));
        self.desk.await_answers(self.what, &self.waiter, left, || Ok(()))?;
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

fn taskwait(call: &Call) -> Result<(), Raise> {
    call.expect(1, 3)?;
    let desk = expect("taskwait()")?;
    expect_callback(&desk, "taskwait()")?;
    let (patience, seat) = (time_limit(call, 1, PATIENCE)?, seat(call, &desk, 2)?);
    let until = patience.map(|patience| Instant::now() + patience);
    let mut batch = Batch::new(&desk, "Server::taskwait()", 1);
    batch.add(&call.value(0), seat, until)?;
    match batch.results(until)?.pop().flatten() {
        Some(value) => call.ret(value),
        None => call.ret(false),
    }
}

fn many(call: &Call, what: &'static str) -> Result<Vec<Option<Value>>, Raise> {
    call.expect(1, 2)?;
    let desk = expect(what)?;
    expect_callback(&desk, what)?;
    let patience = time_limit(call, 1, PATIENCE)?;
    let until = patience.map(|patience| Instant::now() + patience);
    // SAFETY: the elements live as long as the array, which the call holds.
    let tasks: Vec<Value> = call.array(0)?.iter().map(|(_, task)| unsafe { Value::copy_of(task) }).collect();
    if tasks.len() > MOST {
        return Err(call.value_error(0, &format!("must have at most {MOST} tasks, {} given", tasks.len())));
    }
    let mut batch = Batch::new(&desk, what, tasks.len());
    for task in &tasks {
        batch.add(task, None, until)?;
    }
    batch.results(until)
}

fn task_wait_multi(call: &Call) -> Result<(), Raise> {
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

fn task_co(call: &Call) -> Result<(), Raise> {
    let results = many(call, "Server::taskCo()")?;
    let mut array = Array::new(results.len())?;
    for value in results {
        array.push(value.unwrap_or_else(|| Value::bool(false)))?;
    }
    call.ret(array)
}

fn finish(call: &Call) -> Result<(), Raise> {
    call.expect(1, 1)?;
    let desk = expect("finish()")?;
    let Some(running) = running::of_running_code(&desk) else {
        let text = "finish() works inside the callback of the event task; where several tasks run at once, call \
                    Apus\\Server\\Task::finish()";
        return Err(exception::throw(&exception::SERVER, "STATE", text));
    };
    call.ret(running.finish(&call.value(0))?)
}

/// What tasks add to `Apus\Server`.
pub(in crate::server) const METHODS: &[Method] = &[
    Method {
        decl: "public function task(mixed $data, int $dstWorkerId = -1, ?callable $finishCallback = null, int $priority = Apus\\TASK_NORMAL): int|false",
        doc: "Hands a task to a task worker, and does not wait for it: the event task gets it there. What that returns (unless null) or gives to\n\
              finish() comes back to this process, to the callback or the event finish ($server, $taskId, $data); what goes wrong to the event\n\
              taskerror ($server, $taskId, $reason). The task runs even if this process dies. See docs/tasks.md.\n\
              @param mixed $data what Apus\\pack() takes\n\
              @param int $dstWorkerId 0 to task_worker_num - 1, or -1 for whichever is free first\n\
              @param callable|null $finishCallback fn($server, int $taskId, mixed $data)\n\
              @param int $priority Apus\\TASK_HIGH, TASK_NORMAL or TASK_LOW: tasks of a higher one go first\n\
              @return int|false its number, from 1; false when as much waits as task_queue_size allows (ERROR_TASK_QUEUE_FULL)\n\
              @throws \\ValueError for an unknown worker or priority\n\
              @throws \\Apus\\Server\\TaskException TOO_LARGE when it would find no room were it alone\n\
              @throws \\Apus\\Server\\Exception STATE outside the server's processes and without task workers, EVENT without a task callback\n\
              @throws \\Exception what packing the data throws\nDoes not wait.\n@since 0.1.0",
        handler: Some(handler!(task)),
    },
    Method {
        decl: "public function taskwait(mixed $data, float $timeout = 0.5, int $dstWorkerId = -1): mixed",
        doc: "Hands a task over and waits for its result. Outside coroutines it blocks this process. After the time the task goes on, and its\n\
              result is dropped.\n\
              @param float $timeout seconds, for room and result together; negative for no limit\n\
              @return mixed the result; null when the task ended without one; false otherwise, and getLastError() is ERROR_TASK_TIMEOUT,\n\
              ERROR_TASK_WORKER_DIED, ERROR_TASK_FAILED (it threw; the log says what) or ERROR_TASK_QUEUE_FULL; 0 after a task that returned false\n\
              @throws \\ValueError, \\Apus\\Server\\TaskException, \\Apus\\Server\\Exception as task()\nWaits.\n@since 0.1.0",
        handler: Some(handler!(taskwait)),
    },
    Method {
        decl: "public function taskWaitMulti(array $tasks, float $timeout = 0.5): array|false",
        doc: "Hands several tasks over and waits for all of them. Outside coroutines it blocks this process.\n\
              @param array $tasks the data of each, 10000 at most\n\
              @param float $timeout seconds for all of them; negative for no limit\n\
              @return array|false the results, by the places 0, 1, … of the tasks; a task that gave none in time is missing. False when none did:\n\
              see getLastError()\n\
              @throws \\ValueError, \\Apus\\Server\\TaskException, \\Apus\\Server\\Exception as task()\nWaits.\n@since 0.1.0",
        handler: Some(handler!(task_wait_multi)),
    },
    Method {
        decl: "public function taskCo(array $tasks, float $timeout = 0.5): array|false",
        doc: "The same as taskWaitMulti(), with false in the places of tasks that gave nothing in time.\n\
              @throws \\ValueError, \\Apus\\Server\\TaskException, \\Apus\\Server\\Exception as task()\nWaits.\n@since 0.1.0",
        handler: Some(handler!(task_co)),
    },
    Method {
        decl: "public function finish(mixed $data): bool",
        doc: "Inside the callback of the event task: gives the sender a result, as Apus\\Server\\Task::finish() does.\n\
              @return bool false when the sender wants none, or there is no room for it\n\
              @throws \\Apus\\Server\\Exception STATE outside a task\n@throws \\Apus\\Server\\TaskException TOO_LARGE\nDoes not wait.\n@since 0.1.0",
        handler: Some(handler!(finish)),
    },
];
