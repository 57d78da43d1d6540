//! The settings of one pool.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use apus_zend::value::{ArrayView, Key, View};
use apus_zend::{Callable, Raise, Value};

use crate::exception::{self};

/// The most connections of one pool: far above what a database takes, low enough to tell a mistake.
const MAX_SIZE: i64 = 100_000;
/// The longest time that a setting can name: 10 years.
const MAX_SECONDS: f64 = 315_360_000.0;

const NAMES: &str = "size, total, wait_timeout, check_idle, check_timeout, max_lifetime, idle_timeout, jitter, min_idle, \
                     check, reset";

/// The numbers among the settings; times are in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Numbers {
    /// Connections a process has at most.
    pub(super) size: usize,
    /// Connections all workers have at most; 0: no limit.
    pub(super) total: usize,
    /// How long `get()` waits when it is given no time; 0: no limit.
    pub(super) wait_timeout: f64,
    /// Connections that were idle for longer are checked; negative: none is.
    pub(super) check_idle: f64,
    /// How long a check may take; 0: no limit.
    pub(super) check_timeout: f64,
    /// How old a connection gets; 0: no limit.
    pub(super) max_lifetime: f64,
    /// How long a connection is kept idle; 0: no limit.
    pub(super) idle_timeout: f64,
    /// By which part of itself a time is shortened at most, at random.
    pub(super) jitter: f64,
    /// Idle connections that are kept ready.
    pub(super) min_idle: usize,
}

impl Numbers {
    pub(super) fn new(size: usize) -> Self {
        Self {
            size,
            total: 0,
            wait_timeout: 0.0,
            check_idle: 1.0,
            check_timeout: 3.0,
            max_lifetime: 1800.0,
            idle_timeout: 300.0,
            jitter: 0.1,
            min_idle: 0,
        }
    }

    /// `limit` seconds with a part of the jitter taken off: `luck` from 0 to 1; none when there is no limit.
    pub(super) fn shortened(&self, limit: f64, luck: f64) -> Option<Duration> {
        (limit > 0.0).then(|| Duration::from_secs_f64(limit * (1.0 - self.jitter * luck)))
    }
}

/// A number that nobody can know before. Not the same in forked processes: their connections are not to end in step.
pub(super) fn random_number() -> u32 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos());
    let mut hasher = RandomState::new().build_hasher();
    hasher.write_u128(now);
    hasher.write_u32(std::process::id());
    (hasher.finish() >> 32) as u32
}

/// A number from 0 to 1.
pub(super) fn random() -> f64 {
    f64::from(random_number()) / f64::from(u32::MAX)
}

/// How an idle connection is checked.
#[derive(Default)]
pub(super) enum Check {
    /// As its driver does it.
    #[default]
    Driver,
    /// By a callable of the program: `false` means dead.
    Callable(Callable),
}

/// What is done with a connection that is given back.
#[derive(Default)]
pub(super) enum Reset {
    /// An open transaction is rolled back.
    #[default]
    Transaction,
    /// The same, and then the program's own: `false` means that it is of no use any more.
    Callable(Callable),
    /// Nothing.
    Nothing,
}

impl Check {
    pub(super) fn share(&self) -> Self {
        match self {
            Self::Driver => Self::Driver,
            Self::Callable(callable) => Self::Callable(callable.share()),
        }
    }
}

impl Reset {
    pub(super) fn share(&self) -> Self {
        match self {
            Self::Transaction => Self::Transaction,
            Self::Callable(callable) => Self::Callable(callable.share()),
            Self::Nothing => Self::Nothing,
        }
    }
}

/// What `set()` was given.
pub(super) struct Given {
    pub(super) numbers: Numbers,
    pub(super) check: Option<Check>,
    pub(super) reset: Option<Reset>,
}

/// Reads settings on top of those in force: all or none.
pub(super) fn read(given: ArrayView<'_>, numbers: Numbers) -> Result<Given, Raise> {
    let mut out = Given { numbers, check: None, reset: None };
    for (key, zval) in given.iter() {
        let name = match key {
            Key::Str(name) => String::from_utf8_lossy(name).into_owned(),
            Key::Index(index) => index.to_string(),
        };
        let mut value = zval.value();
        out.set(&name, &mut value).map_err(|why| exception::throw(exception::code::pool::OPTION, &why))?;
    }
    Ok(out)
}

impl Given {
    fn set(&mut self, name: &str, value: &mut Value) -> Result<(), String> {
        let numbers = &mut self.numbers;
        match name {
            "size" => numbers.size = count(name, value, 1)?,
            "total" => numbers.total = count(name, value, 0)?,
            "min_idle" => numbers.min_idle = count(name, value, 0)?,
            "wait_timeout" => numbers.wait_timeout = number(name, value, 0.0, MAX_SECONDS)?,
            "check_idle" => numbers.check_idle = number(name, value, -1.0, MAX_SECONDS)?,
            "check_timeout" => numbers.check_timeout = number(name, value, 0.0, MAX_SECONDS)?,
            "max_lifetime" => numbers.max_lifetime = number(name, value, 0.0, MAX_SECONDS)?,
            "idle_timeout" => numbers.idle_timeout = number(name, value, 0.0, MAX_SECONDS)?,
            "jitter" => numbers.jitter = number(name, value, 0.0, 1.0)?,
            "check" => self.check = Some(check(value)?),
            "reset" => self.reset = Some(reset(value)?),
            _ => return Err(format!("a pool has no setting \"{name}\"; it has: {NAMES}")),
        }
        Ok(())
    }
}

fn count(name: &str, value: &Value, least: i64) -> Result<usize, String> {
    match value.view() {
        View::Int(count) if (least..=MAX_SIZE).contains(&count) => Ok(usize::try_from(count).unwrap_or(0)),
        other => Err(format!("setting \"{name}\" must be an int from {least} to {MAX_SIZE}, {} given", shown(other))),
    }
}

fn number(name: &str, value: &Value, least: f64, most: f64) -> Result<f64, String> {
    let given = match value.view() {
        View::Int(number) => number as f64,
        View::Float(number) => number,
        _ => f64::NAN,
    };
    if (least..=most).contains(&given) {
        return Ok(given);
    }
    Err(format!("setting \"{name}\" must be a number from {least} to {most}, {} given", shown(value.view())))
}

fn shown(view: View<'_>) -> String {
    match view {
        View::Null => "null".to_owned(),
        View::Bool(flag) => flag.to_string(),
        View::Int(number) => number.to_string(),
        View::Float(number) => format!("{number:?}"),
        View::Str(bytes) => format!("\"{}\"", String::from_utf8_lossy(bytes)),
        View::Array(_) => "array".to_owned(),
        View::Object(_) => "an object".to_owned(),
        View::Other => "a resource".to_owned(),
    }
}

fn check(value: &mut Value) -> Result<Check, String> {
    if matches!(value.view(), View::Null) {
        return Ok(Check::Driver);
    }
    let given = shown(value.view());
    Callable::new(value)
        .map(Check::Callable)
        .map_err(|_| format!("setting \"check\" must be a callable, or null for what the driver knows, {given} given"))
}

fn reset(value: &mut Value) -> Result<Reset, String> {
    match value.view() {
        View::Str(b"transaction") | View::Null => return Ok(Reset::Transaction),
        View::Str(b"none") => return Ok(Reset::Nothing),
        _ => {}
    }
    let given = shown(value.view());
    Callable::new(value)
        .map(Reset::Callable)
        .map_err(|_| format!("setting \"reset\" must be 'transaction', 'none' or a callable, {given} given"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jitter_only_shortens() {
        let numbers = Numbers { jitter: 0.5, ..Numbers::new(1) };
        for _ in 0..100 {
            let time = numbers.shortened(10.0, random()).unwrap().as_secs_f64();
            assert!((5.0..=10.0).contains(&time), "{time}");
        }
    }

    #[test]
    fn jitter_differs() {
        let numbers = Numbers::new(1);
        let times: std::collections::HashSet<_> = (0..20).map(|_| numbers.shortened(1000.0, random())).collect();
        assert!(times.len() > 10);
    }

    #[test]
    fn zero_is_no_limit() {
        assert_eq!(Numbers::new(1).shortened(0.0, 0.5), None);
    }
}
