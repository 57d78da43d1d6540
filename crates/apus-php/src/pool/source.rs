//! How a pool makes its connections.

use apus_zend::engine::Thrown;
use apus_zend::object::Object;
use apus_zend::value::View;
use apus_zend::{Callable, Raise, Value, engine};
use tokio::time::Instant;

use super::class::slot;
use super::conn::{Conn, identity};
use super::core::{Core, Slot, count};
use super::driver::Kind;
use super::options::random;
use super::{mysqli, pdo, php, redis};
use crate::exception::{self};

/// What makes connections.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Source {
    /// `$constructor()`, or `new $proxy($constructor)`.
    Callable,
    /// A `PDOConfig`.
    Pdo,
    /// A `MysqliConfig`.
    Mysqli,
    /// A `RedisConfig`.
    Redis,
}

/// Makes a connection in the running coroutine. A failure frees the place and throws CONNECT. Waits as the driver does.
pub(super) fn make(core: &Core, object: &Object, source: Source, slot: Slot) -> Result<Conn, Raise> {
    let made = match source {
        Source::Callable => from_callable(object),
        Source::Pdo => pdo::connect(&object.slot(pdo::slot::pool::CONFIG)),
        Source::Mysqli => mysqli::connect(&object.slot(mysqli::slot::pool::CONFIG)),
        Source::Redis => redis::connect(&object.slot(redis::slot::pool::CONFIG)),
    };
    let finished = made.and_then(|value| {
        expect_connection(&value)?;
        let kind = Kind::of(&value)?;
        Ok((value, kind))
    });
    let (value, kind) = finished.map_err(|raise| failed(raise, source))?;
    let numbers = core.numbers.get();
    let luck = random();
    let expires = numbers.shortened(numbers.max_lifetime, luck).map(|time| Instant::now() + time);
    count(&core.counters.created);
    super::figures::created();
    Ok(Conn::new(value, kind, luck, expires, slot))
}

fn from_callable(object: &Object) -> Result<Value, Raise> {
    // Kept as a property only, where PHP's cycle collector sees it.
    let mut constructor = object.slot(slot::pool::CONSTRUCTOR);
    let proxy = object.slot(slot::pool::PROXY);
    if let View::Str(class) = proxy.view() {
        return php::instantiate(&String::from_utf8_lossy(class), &[constructor]);
    }
    Callable::new(&mut constructor).map_err(|not| not.or(engine::throw_error))?.call(&[])
}

fn expect_connection(value: &Value) -> Result<(), Raise> {
    if identity(value).is_some() {
        return Ok(());
    }
    let given = match value.view() {
        View::Null => "null",
        View::Bool(false) => "false",
        View::Bool(true) => "true",
        View::Array(_) => "an array",
        _ => "a plain value",
    };
    Err(engine::throw_error(&format!("the constructor must return an object or a resource, and returned {given}")))
}

/// Wraps what went wrong, but for what ends the coroutine.
fn failed(raise: Raise, source: Source) -> Raise {
    let Raise::Thrown = raise else { return raise };
    let Some(thrown) = Thrown::take() else { return raise };
    if php::ends_coroutine(&thrown) {
        return thrown.rethrow();
    }
    let why = thrown.message();
    let what = match source {
        Source::Callable => "a connection",
        Source::Pdo => "a PDO connection",
        Source::Mysqli => "a mysqli connection",
        Source::Redis => "a Redis connection",
    };
    // Pending, it becomes the previous exception of the one that follows.
    let _ = thrown.rethrow();
    exception::throw(exception::code::pool::CONNECT, &format!("the pool could not make {what}: {why}"))
}
