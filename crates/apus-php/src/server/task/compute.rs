//! `Server::compute()`: a callable that a task worker calls, and what it tells of its progress.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use apus_shm::tasks::{Report, When};
use apus_zend::arg::OrFalse;
use apus_zend::value::{ArrayView, View};
use apus_zend::{Array, Callable, Raise, Value, engine};

use super::answer::{Answer, Waiter, decode, encode};
use super::task_client::{Pending, Submission, TaskClient, current, expect};
use super::{code, flags, kinds, priority, running, wants};
use crate::exception::{self};
use crate::server::core::ServerHandle;
use crate::wait::{Deadline, Timeout};

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

/// What travels: what the callable is made of, and its arguments.
fn packed(callable: Callable, args: Option<ArrayView<'_>>) -> Result<Vec<u8>, Raise> {
    let mut parts = Array::new(2)?;
    parts.push(code::take_apart(&callable.value())?)?;
    parts.push(args.map_or_else(|| Array::new(0).map(Value::from), |args| Ok(args.value()))?)?;
    let data: Value = parts.into();
    encode(&data).map(|(_, payload)| payload.into_owned())
}

/// What `compute()` makes of the answer; `waited`: until the end of its time.
fn result(answer: Option<Answer>, waited: bool) -> Result<OrFalse<Value>, Raise> {
    match answer {
        Some(Answer::Value { packed, bytes }) => Ok(OrFalse(Some(decode(packed, &bytes)?))),
        Some(Answer::Nothing) => Ok(OrFalse(Some(Value::null()))),
        Some(Answer::Failed(text)) => Err(refused(exception::code::task::FAILED, &text)),
        Some(Answer::Died | Answer::Refused) => {
            Err(refused(exception::code::task::WORKER_DIED, "the task worker that computed it died"))
        }
        None if waited => {
            Err(refused(exception::code::task::TIMEOUT, "the computation took longer than the time that was given"))
        }
        None => Ok(OrFalse(None)),
    }
}

pub(in crate::server) fn compute(
    _: &ServerHandle,
    callable: Callable,
    args: Option<ArrayView<'_>>,
    progress: Option<Callable>,
    timeout: Timeout,
) -> Result<OrFalse<Value>, Raise> {
    let task_client = expect("compute()")?;
    let until = Deadline::after(timeout.limit());
    let payload = packed(callable, args)?;
    let handing = Submission {
        payload: &payload,
        flags: flags::PACKED | flags::COMPUTE,
        wants: wants::RESULT | wants::ERROR | wants::END,
        priority: priority::NORMAL as usize,
        worker: None,
        when: When::Now,
        key: 0,
    };
    let Some(id) = task_client.submit_waiting(WHAT, &handing, until.instant())? else {
        return Err(refused(exception::code::task::FULL, "as much waits for task workers as task_queue_size allows"));
    };
    let (waiter, reports) = (Rc::new(Waiter::new(1)), Rc::new(RefCell::default()));
    task_client.expect_report(id, Pending::Compute(Rc::clone(&waiter), Rc::clone(&reports)));
    let mut computation = Computation { task_client: Rc::clone(&task_client), id, over: false };
    let waited = task_client.await_answers(WHAT, &waiter, until.left(), || {
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
    result(answer, waited)
}

pub(in crate::server) fn progress(value: Value) -> Result<bool, Raise> {
    let Some(running) = current().and_then(|task_client| running::of_running_code(&task_client)) else {
        let text = "Apus\\progress() works inside what Server::compute() runs";
        return Err(exception::throw(exception::code::server::STATE, text));
    };
    if running.is_cancelled() {
        return Err(refused(exception::code::task::CANCELLED, "nobody waits for this computation any more"));
    }
    running.progress(&value)
}
