//! Tasks that run later, again and again, or by the calendar.

use std::hash::{DefaultHasher, Hasher};
use std::rc::Rc;
use std::time::Duration;

use apus_shm::tasks::{Cancelled, When};
use apus_zend::arg::{Given, OrFalse, Want};
use apus_zend::value::View;
use apus_zend::{Callable, Raise, Value, engine};

use super::answer::encode;
use super::cron::Calendar;
use super::methods::{expect_tasks, taken, task_worker};
use super::task_client::{Submission, TaskClient, expect};
use super::{flags, priority, wants};
use crate::runtime::State;
use crate::server::core::ServerHandle;
use crate::server::events::Event;

/// The shortest time between two runs, in seconds.
const SHORTEST: f64 = 0.001;
/// The longest time, in seconds: ten years.
const LONGEST: f64 = 10.0 * 366.0 * 86_400.0;
/// The longest name, in bytes.
const LONGEST_NAME: usize = 256;

fn seconds(given: Given<f64>, least: f64) -> Result<Duration, Raise> {
    let Given { value, .. } = given;
    if (least..=LONGEST).contains(&value) {
        return Ok(Duration::from_secs_f64(value));
    }
    Err(given.value_error(&format!("must be between {least} and {LONGEST} seconds, {value} given")))
}

/// A task's name, as a number that is the same in all processes of a server; 0 without a name. Two names with the same
/// number would be one task: of a million names, with a chance of 1 in 37 million.
pub(in crate::server) struct Name(u64);

impl Want<&[u8]> for Name {
    fn want(given: Given<&[u8]>) -> Result<Self, Raise> {
        let name = given.value;
        if name.len() > LONGEST_NAME {
            return Err(given.value_error(&format!("must have at most {LONGEST_NAME} bytes, {} given", name.len())));
        }
        if name.is_empty() {
            return Ok(Self(0));
        }
        let mut hasher = DefaultHasher::new();
        hasher.write(name);
        Ok(Self(hasher.finish().max(1)))
    }
}

struct Later {
    when: When,
    worker: Option<usize>,
    key: u64,
    calendar: Option<Calendar>,
}

fn submit(task_client: &Rc<TaskClient>, data: &Value, later: &Later) -> Result<OrFalse<i64>, Raise> {
    let (packed, bytes) = encode(data)?;
    let mut payload = Vec::new();
    let bytes = match &later.calendar {
        Some(calendar) => {
            calendar.write(&mut payload);
            payload.extend_from_slice(&bytes);
            &payload[..]
        }
        None => &bytes[..],
    };
    let has = |event| task_client.core.callbacks.get(event).is_some();
    let once = matches!(later.when, When::After(_));
    let handing = Submission {
        payload: bytes,
        flags: if packed { flags::PACKED } else { 0 } | if later.calendar.is_some() { flags::DATED } else { 0 },
        wants: if has(Event::TaskError) { wants::ERROR } else { 0 }
            | if once && has(Event::Finish) { wants::RESULT } else { 0 },
        priority: priority::NORMAL as usize,
        worker: later.worker,
        when: later.when,
        key: later.key,
    };
    let id = task_client.submit(&handing, false)?;
    if id.is_ok() {
        task_client.listen(&State::get()?);
    }
    Ok(taken(task_client, id))
}

pub(in crate::server) fn task_after(
    _: &ServerHandle,
    time: Given<f64>,
    data: Value,
    given_worker: Given<i64>,
) -> Result<OrFalse<i64>, Raise> {
    let task_client = expect_tasks("taskAfter()")?;
    let when = When::After(seconds(time, 0.0)?);
    let later = Later { when, worker: task_worker(given_worker, &task_client)?, key: 0, calendar: None };
    submit(&task_client, &data, &later)
}

pub(in crate::server) fn task_every(
    _: &ServerHandle,
    time: Given<f64>,
    data: Value,
    Name(key): Name,
) -> Result<OrFalse<i64>, Raise> {
    let task_client = expect_tasks("taskEvery()")?;
    let when = When::Every(seconds(time, SHORTEST)?);
    submit(&task_client, &data, &Later { when, worker: None, key, calendar: None })
}

/// PHP's own time zone; empty for the system's, which PHP's default "UTC" stands for.
fn php_zone() -> Result<String, Raise> {
    let zone = match Callable::named("date_default_timezone_get")?.call(&[])?.view() {
        View::Str(zone) => String::from_utf8_lossy(zone).into_owned(),
        _ => String::new(),
    };
    let unset = zone == "UTC" && engine::ini("date.timezone").is_none_or(|set| set.is_empty());
    Ok(if unset { String::new() } else { zone })
}

pub(in crate::server) fn task_cron(
    _: &ServerHandle,
    expression: Given<&[u8]>,
    data: Value,
    Name(key): Name,
    zone: String,
) -> Result<OrFalse<i64>, Raise> {
    let task_client = expect_tasks("taskCron()")?;
    let zone = if zone.is_empty() { php_zone()? } else { zone };
    let text = String::from_utf8_lossy(expression.value);
    let calendar = Calendar::parse(&text, &zone).map_err(|why| engine::throw_value_error(&why))?;
    let Some(next) = calendar.next() else {
        return Err(expression.value_error("must be an expression that some date of the future fits"));
    };
    submit(&task_client, &data, &Later { when: When::At(next), worker: None, key, calendar: Some(calendar) })
}

pub(in crate::server) fn task_cancel(_: &ServerHandle, id: i64) -> Result<bool, Raise> {
    let task_client = expect("taskCancel()")?;
    let Ok(id) = u64::try_from(id) else { return Ok(false) };
    let cancelled = task_client.task_queue.cancel(id);
    if cancelled == Cancelled::Removed {
        task_client.forget(id);
    }
    Ok(cancelled != Cancelled::Unknown)
}
