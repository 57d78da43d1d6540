//! Tasks that run later, again and again, or by the calendar.

use std::hash::{DefaultHasher, Hasher};
use std::time::Duration;

use apus_shm::tasks::{Cancelled, When};
use apus_zend::class::Method;
use apus_zend::value::View;
use apus_zend::{Call, Callable, Raise, Value, engine, handler};

use super::answer::encode;
use super::cron::Calendar;
use super::desk::{Desk, Handing, expect};
use super::methods::{expect_callback, seat};
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

/// The same in all processes of a server. Two names with the same number would be one task: of a million names, with a chance of 1 in 37 million.
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

fn submit(call: &Call, desk: &std::rc::Rc<Desk>, data: &Value, later: &Later) -> Result<(), Raise> {
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
    let has = |event| desk.core.callbacks.get(event).is_some();
    let once = matches!(later.when, When::After(_));
    let handing = Handing {
        payload: bytes,
        flags: if packed { flags::PACKED } else { 0 } | if later.calendar.is_some() { flags::DATED } else { 0 },
        wants: if has(Event::TaskError) { wants::ERROR } else { 0 }
            | if once && has(Event::Finish) { wants::RESULT } else { 0 },
        priority: priority::NORMAL as usize,
        seat: later.seat,
        when: later.when,
        key: later.key,
    };
    let Ok(id) = desk.submit(&handing, false)? else { return call.ret(super::full()) };
    desk.listen(&State::get()?);
    call.ret(id as i64)
}

fn task_after(call: &Call) -> Result<(), Raise> {
    call.expect(2, 3)?;
    let desk = expect("taskAfter()")?;
    expect_callback(&desk, "taskAfter()")?;
    let when = When::After(seconds(call, 0, 0.0)?);
    let later = Later { when, seat: seat(call, &desk, 2)?, key: 0, calendar: None };
    submit(call, &desk, &call.value(1), &later)
}

fn task_every(call: &Call) -> Result<(), Raise> {
    call.expect(2, 3)?;
    let desk = expect("taskEvery()")?;
    expect_callback(&desk, "taskEvery()")?;
    let when = When::Every(seconds(call, 0, SHORTEST)?);
    let later = Later { when, seat: None, key: key_of(call, 2)?, calendar: None };
    submit(call, &desk, &call.value(1), &later)
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

fn task_cron(call: &Call) -> Result<(), Raise> {
    call.expect(2, 4)?;
    let desk = expect("taskCron()")?;
    expect_callback(&desk, "taskCron()")?;
    let zone = match call.text(3)? {
        given if given.is_empty() => php_zone()?,
        given => given,
    };
    let calendar = Calendar::parse(&call.text(0)?, &zone).map_err(|why| engine::throw_value_error(&why))?;
    let Some(next) = calendar.next() else {
        return Err(call.value_error(0, "must be an expression that some date of the future fits"));
    };
    let later = Later { when: When::At(next), seat: None, key: key_of(call, 2)?, calendar: Some(calendar) };
    submit(call, &desk, &call.value(1), &later)
}

fn task_cancel(call: &Call) -> Result<(), Raise> {
    call.expect(1, 1)?;
    let desk = expect("taskCancel()")?;
    let Ok(id) = u64::try_from(call.int(0, 0)?) else { return call.ret(false) };
    let cancelled = desk.board.cancel(id);
    if cancelled == Cancelled::Removed {
        desk.forget(id);
    }
    call.ret(cancelled != Cancelled::Unknown)
}

/// What dates add to `Apus\Server`.
pub(in crate::server) const METHODS: &[Method] = &[
    Method {
        decl: "public function taskAfter(float $seconds, mixed $data, int $dstWorkerId = -1): int|false",
        doc: "Hands over a task that runs after some time. It stands in memory that the processes share: the death or reload of any worker does not\n\
              lose it, the server's end does. Its result goes to the event finish, if this process is still there.\n\
              @param float $seconds 0 to ten years\n\
              @return int|false its number; false when as much waits as task_queue_size allows\n\
              @throws \\ValueError, \\Apus\\Server\\TaskException, \\Apus\\Server\\Exception as task()\nDoes not wait.\n@since 0.1.0",
        handler: Some(handler!(task_after)),
    },
    Method {
        decl: "public function taskEvery(float $seconds, mixed $data, string $name = ''): int|false",
        doc: "Hands over a task that runs after some time, and again after each such time, until taskCancel() or the server's end. One task worker\n\
              takes each run; a run that would begin while one goes on is left out. What it returns is dropped.\n\
              @param float $seconds 0.001 to ten years\n\
              @param string $name takes the place of a task of this name, so that a workerstart callback may call this in every worker, and again after a\n\
              reload; 256 bytes at most; empty for none\n\
              @return int|false its number; false when as much waits as task_queue_size allows\n\
              @throws \\ValueError, \\Apus\\Server\\TaskException, \\Apus\\Server\\Exception as task()\nDoes not wait.\n@since 0.1.0",
        handler: Some(handler!(task_every)),
    },
    Method {
        decl: "public function taskCron(string $expression, mixed $data, string $name = '', string $timezone = ''): int|false",
        doc: "Hands over a task that runs by the calendar. As with taskEvery(), one task worker takes each run, and none overlap; dates that pass\n\
              while it runs are left out.\n\
              @param string $expression minute, hour, day of the month, month, day of the week, as in crontab(5), and seconds before them where\n\
              there are six fields; names of months and days, @hourly and the like, L, W and # are known\n\
              @param string $name as in taskEvery()\n\
              @param string $timezone such as Europe/Berlin; empty for PHP's own (date.timezone, date_default_timezone_set()), or where that is not\n\
              set the system's (TZ)\n\
              @return int|false its number; false when as much waits as task_queue_size allows\n\
              @throws \\ValueError for an expression or time zone that makes no sense\n\
              @throws \\Apus\\Server\\TaskException, \\Apus\\Server\\Exception as task()\nDoes not wait.\n@since 0.1.0",
        handler: Some(handler!(task_cron)),
    },
    Method {
        decl: "public function taskCancel(int $taskId): bool",
        doc: "Calls a task off: one that has not begun does not run; one that runs is finished (Apus\\Server\\Task::isCancelled() tells it, in a\n\
              compute() Apus\\progress() throws), and does not come again. No event tells of it.\n\
              @return bool false when there is no such task any more\n\
              @throws \\Apus\\Server\\Exception STATE outside the server's processes and without task workers\nDoes not wait.\n@since 0.1.0",
        handler: Some(handler!(task_cancel)),
    },
];
