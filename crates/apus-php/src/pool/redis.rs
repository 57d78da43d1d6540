//! `Apus\Database\RedisPool` and `Apus\Database\RedisConfig`.

use apus_zend::arg::Made;
use apus_zend::object::Object;
use apus_zend::value::{Key, View};
use apus_zend::{Array, Raise, Value, engine};

use super::class::{Size, configured};
use super::config::{self, Config};
use super::core::PoolHandle;
use super::php;
use crate::coroutine::construct;

/// Adds to the options, or overwrites one.
fn with_option(config: Object, option: i64, value: Value) -> Result<Object, Raise> {
    let old = config.slot(slot::config::OPTIONS);
    let mut options = Array::new(4)?;
    if let View::Array(old) = old.view() {
        for (key, zval) in old.iter() {
            if let Key::Index(index) = key {
                options.set_index(index, zval.value())?;
            }
        }
    }
    options.set_index(option.cast_unsigned(), value)?;
    Ok(config::with(config, slot::config::OPTIONS, options.into()))
}

fn construct_pool(config: Object, size: Size) -> Result<Made<PoolHandle, 2>, Raise> {
    configured(config, slot::pool::CONFIG, size, "redis")
}

fn refused(what: &str) -> Raise {
    engine::throw_error(&format!("Redis refused {what}"))
}

/// Connects as a configuration says. Waits.
pub(super) fn connect(config: &Value) -> Result<Value, Raise> {
    let config = Config::of(config)?;
    let redis: Value = construct("Redis", None, &[])?.into();
    let reserved = config.text(slot::config::RESERVED);
    let args = [
        config.value(slot::config::HOST),
        config.value(slot::config::PORT),
        Value::float(config.float(slot::config::TIMEOUT)),
        if reserved.is_empty() { Value::null() } else { php::text(&reserved)? },
        config.value(slot::config::RETRY_INTERVAL),
        Value::float(config.float(slot::config::READ_TIMEOUT)),
    ];
    let done = |name: &str, args: &[Value]| php::method(&redis, name, args).map(|answer| !php::is_false(&answer));
    if !done("connect", &args)? {
        return Err(refused("the connection"));
    }
    if !config.text(slot::config::AUTH).is_empty() && !done("auth", &[config.value(slot::config::AUTH)])? {
        return Err(refused("the password"));
    }
    let database = config.integer(slot::config::DB_INDEX);
    if database != 0 && !done("select", &[Value::int(database)])? {
        return Err(refused(&format!("database {database}")));
    }
    config.each_option(slot::config::OPTIONS, |option, value| {
        if done("setOption", &[Value::int(option), value])? {
            return Ok(());
        }
        Err(engine::throw_error(&format!("Redis::setOption() does not take option {option}")))
    })?;
    Ok(redis)
}

apus_zend::stub!("pool/redis");
