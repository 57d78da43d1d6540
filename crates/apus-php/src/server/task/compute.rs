//! `Server::compute()`: a callable that a task worker calls, and what it tells of its progress.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Instant;

use apus_shm::tasks::{Report, When};
use apus_zend::value::View;
use apus_zend::{Array, Call, Callable, Raise, Value, engine};

use super::answer::{Answer, Waiter, decode, encode};
use super::task_client::{Pending, Submission, TaskClient, current, expect};
use super::{code, flags, kinds, priority, running, wants};
use crate::exception::{self};
use crate::wait::time_limit;

const WHAT: &str = "Server::compute()";

/// A computation that somebody waits for; called off when he waits no longer.
struct Computation {
    task_client: Rc<TaskClient>,
    id: u64,
    over: bool,
}

impl Drop for Computation {
    fn drop(&mut self) {
        self.task_client.forget(self.id);
        if !self.over {
            self.task_client.task_queue.cancel(self.id);
        }
    }
}

fn refused(code: exception::Code, text: &str) -> Raise {
    exception::throw(code, text)
}

/// The callable and arguments in a computation's data.
pub(super) fn callable(value: &Value) -> Result<(Callable, Vec<Value>), Raise> {
    let malformed = || engine::throw_error("the data of a computation is not what compute() made");
    let View::Array(parts) = value.view() else { return Err(malformed()) };
    let mut parts = parts.iter().map(|(_, part)| part);
    let (Some(what), Some(args)) = (parts.next(), parts.next()) else { return Err(malformed()) };
    let (what, args) = (what.value(), args.value());
    let mut what = code::restore(what)?;
    let callable = Callable::new(&mut what)
        .map_err(|not| not.or(|why| engine::throw_error(&format!("compute() of this: {why}"))))?;
    let View::Array(args) = args.view() else { return Err(malformed()) };
    Ok((callable, args.iter().map(|(_, arg)| arg.value()).collect()))
}

/// Gives what came to the callback; whether it wants to go on.
fn tell(callback: Option<&Callable>, reports: &RefCell<VecDeque<Report>>) -> Result<bool, Raise> {
    loop {
        let Some(report) = reports.borrow_mut().pop_front() else { return Ok(true) };
        let Some(callback) = callback else { continue };
        let value = decode(report.kind == kinds::PROGRESS_PACKED, &report.payload)?;
        if matches!(callback.call(&[value])?.view(), View::Bool(false)) {
            return Ok(false);
        }
    }
}

pub(in crate::server) fn compute(call: &Call) -> Result<(), Raise> {
    let task_client = expect("compute()")?;
    // A callable, to be told at once; what it is made of is what travels.
    drop(call.callable(0)?);
    let args = if matches!(call.view(1), View::Null) { Array::new(0)?.into() } else { call.value(1) };
    let progress = if matches!(call.view(2), View::Null) { None } else { Some(call.callable(2)?) };
    let patience = time_limit(call, 3, -1.0)?;
    let until = patience.map(|patience| Instant::now() + patience);
    let mut parts = Array::new(2)?;
    parts.push(code::take_apart(&call.value(0))?)?;
    parts.push(args)?;
    let data: Value = parts.into();
    let (_, payload) = encode(&data)?;
    let handing = Submission {
        payload: &payload,
        flags: flags::PACKED | flags::COMPUTE,
        wants: wants::RESULT | wants::ERROR | wants::END,
        priority: priority::NORMAL as usize,
        seat: None,
        when: When::Now,
        key: 0,
    };
    let Some(id) = task_client.submit_waiting(WHAT, &handing, until)? else {
        return Err(refused(exception::code::task::FULL, "as much waits for task workers as task_queue_size allows"));
    };
    let (waiter, reports) = (Rc::new(Waiter::new(1)), Rc::new(RefCell::default()));
    task_client.expect_report(id, Pending::Compute(Rc::clone(&waiter), Rc::clone(&reports)));
    let mut computation = Computation { task_client: Rc::clone(&task_client), id, over: false };
    let left = until.map(|until| until.saturating_duration_since(Instant::now()));
    let waited = task_client.await_answers(WHAT, &waiter, left, || {
        if tell(progress.as_ref(), &reports)? {
            return Ok(());
        }
        Err(refused(
            exception::code::task::CANCELLED,
            "the progress callback returned false: the computation was called off",
        ))
    });
    let waited = waited?;
    let answer = waiter.answers.take().pop().flatten();
    computation.over = answer.is_some();
    drop(computation);
    match answer {
        Some(Answer::Value { packed, bytes }) => call.ret(decode(packed, &bytes)?),
        Some(Answer::Nothing) => call.ret(Value::null()),
        Some(Answer::Failed(text)) => Err(refused(exception::code::task::FAILED, &text)),
        Some(Answer::Died | Answer::Refused) => {
            Err(refused(exception::code::task::WORKER_DIED, "the task worker that computed it died"))
        }
        None if waited => {
            Err(refused(exception::code::task::TIMEOUT, "the computation took longer than the time that was given"))
        }
        None => call.ret(false),
    }
}

pub(in crate::server) fn progress(call: &Call) -> Result<(), Raise> {
    let Some(running) = current().and_then(|task_client| running::of_running_code(&task_client)) else {
        let text = "Apus\\progress() works inside what Server::compute() runs";
        return Err(exception::throw(exception::code::server::STATE, text));
    };
    if running.is_cancelled() {
        return Err(refused(exception::code::task::CANCELLED, "nobody waits for this computation any more"));
    }
    call.ret(running.progress(&call.value(0))?)
}
