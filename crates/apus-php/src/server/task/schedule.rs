//! Tasks that run later, again and again, or by the calendar.

use std::hash::{DefaultHasher, Hasher};
use std::time::Duration;

use apus_shm::tasks::{Cancelled, When};
use apus_zend::value::View;
use apus_zend::{Call, Callable, Raise, Value, engine};

use super::answer::encode;
use super::cron::Calendar;
use super::methods::{expect_callback, seat};
use super::task_client::{Submission, TaskClient, expect};
use super::{flags, priority, wants};
use crate::runtime::State;
use crate::server::events::Event;

/// The shortest time between two runs, in seconds.
const SHORTEST: f64 = 0.001;
/// The longest time, in seconds: ten years.
const LONGEST: f64 = 10.0 * 366.0 * 86_400.0;
/// The longest name, in bytes.
const LONGEST_NAME: usize = 256;

fn seconds(call: &Call, index: usize, least: f64) -> Result<Duration, Raise> {
    let given = call.float(index, 0.0)?;
    if (least..=LONGEST).contains(&given) {
        return Ok(Duration::from_secs_f64(given));
    }
    Err(call.value_error(index, &format!("must be between {least} and {LONGEST} seconds, {given} given")))
}

/// The same in all processes of a server. Two names with the same number would be one task: of a million names, with a
/// chance of 1 in 37 million.
fn key_of(call: &Call, index: usize) -> Result<u64, Raise> {
    let name = call.bytes(index)?;
    if name.len() > LONGEST_NAME {
        return Err(call.value_error(index, &format!("must have at most {LONGEST_NAME} bytes, {} given", name.len())));
    }
    if name.is_empty() {
        return Ok(0);
    }
    let mut hasher = DefaultHasher::new();
    hasher.write(name);
    Ok(hasher.finish().max(1))
}

struct Later {
    when: When,
    seat: Option<usize>,
    key: u64,
    calendar: Option<Calendar>,
}

fn submit(call: &Call, task_client: &std::rc::Rc<TaskClient>, data: &Value, later: &Later) -> Result<(), Raise> {
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
        seat: later.seat,
        when: later.when,
        key: later.key,
    };
    let Ok(id) = task_client.submit(&handing, false)? else { return call.ret(super::full()) };
    task_client.listen(&State::get()?);
    call.ret(id as i64)
}

pub(in crate::server) fn task_after(call: &Call) -> Result<(), Raise> {
    let task_client = expect("taskAfter()")?;
    expect_callback(&task_client, "taskAfter()")?;
    let when = When::After(seconds(call, 0, 0.0)?);
    let later = Later { when, seat: seat(call, &task_client, 2)?, key: 0, calendar: None };
    submit(call, &task_client, &call.value(1), &later)
}

pub(in crate::server) fn task_every(call: &Call) -> Result<(), Raise> {
    let task_client = expect("taskEvery()")?;
    expect_callback(&task_client, "taskEvery()")?;
    let when = When::Every(seconds(call, 0, SHORTEST)?);
    let later = Later { when, seat: None, key: key_of(call, 2)?, calendar: None };
    submit(call, &task_client, &call.value(1), &later)
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

pub(in crate::server) fn task_cron(call: &Call) -> Result<(), Raise> {
    let task_client = expect("taskCron()")?;
    expect_callback(&task_client, "taskCron()")?;
    let zone = match call.text(3)? {
        given if given.is_empty() => php_zone()?,
        given => given,
    };
    let calendar = Calendar::parse(&call.text(0)?, &zone).map_err(|why| engine::throw_value_error(&why))?;
    let Some(next) = calendar.next() else {
        return Err(call.value_error(0, "must be an expression that some date of the future fits"));
    };
    let later = Later { when: When::At(next), seat: None, key: key_of(call, 2)?, calendar: Some(calendar) };
    submit(call, &task_client, &call.value(1), &later)
}

pub(in crate::server) fn task_cancel(call: &Call) -> Result<(), Raise> {
    let task_client = expect("taskCancel()")?;
    let Ok(id) = u64::try_from(call.int(0, 0)?) else { return call.ret(false) };
    let cancelled = task_client.task_queue.cancel(id);
    if cancelled == Cancelled::Removed {
        task_client.forget(id);
    }
    call.ret(cancelled != Cancelled::Unknown)
}
