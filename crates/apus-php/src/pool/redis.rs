//! `Apus\Database\RedisPool` and `Apus\Database\RedisConfig`.

use apus_zend::value::{Key, View};
use apus_zend::{Array, Call, Raise, Value, engine};

use super::class::{construct_with, slot as pool_slot};
use super::config::{self, Config, property};
use super::php;
use crate::coroutine::construct;

mod slot {
    pub(super) const HOST: u32 = 0;
    pub(super) const PORT: u32 = 1;
    pub(super) const TIMEOUT: u32 = 2;
    pub(super) const RESERVED: u32 = 3;
    pub(super) const RETRY_INTERVAL: u32 = 4;
    pub(super) const READ_TIMEOUT: u32 = 5;
    pub(super) const AUTH: u32 = 6;
    pub(super) const DB_INDEX: u32 = 7;
    pub(super) const OPTIONS: u32 = 8;
}

property!(slot::HOST, get_host by get, with_host by with_text);
property!(slot::PORT, get_port by get, with_port by with_port);
property!(slot::TIMEOUT, get_timeout by get_seconds, with_timeout by with_seconds);
property!(slot::RESERVED, get_reserved by get, with_reserved by with_text);
property!(slot::RETRY_INTERVAL, get_retry by get, with_retry by with_count);
property!(slot::READ_TIMEOUT, get_read_timeout by get_seconds, with_read_timeout by with_seconds);
property!(slot::AUTH, get_auth by get, with_auth by with_text);
property!(slot::DB_INDEX, get_db by get, with_db by with_count);
property!(slot::OPTIONS, get_options by get_array, set_options by with_array);

/// Adds to the options, or overwrites one.
fn with_option(call: &Call) -> Result<(), Raise> {
    let option = call.int(0, 0)?;
    let object = config::this(call)?;
    let old = object.slot(slot::OPTIONS);
    let mut options = Array::new(4)?;
    if let View::Array(old) = old.view() {
        for (key, zval) in old.iter() {
            if let Key::Index(index) = key {
                options.set_index(index, zval.value())?;
            }
        }
    }
    options.set_index(option.cast_unsigned(), call.value(1))?;
    config::with(call, slot::OPTIONS, options.into())
}

fn construct_pool(call: &Call) -> Result<(), Raise> {
    let given = call.value(0);
    match given.view() {
        View::Object(object) if object.is(&CONFIG) => {}
        _ => return Err(call.type_error(0, "of type Apus\\Database\\RedisConfig")),
    }
    config::expect_class("redis", "redis")?;
    construct_with(call, 1)?.set_slot(pool_slot::CONFIG, given);
    Ok(())
}

fn refused(what: &str) -> Raise {
    engine::throw_error(&format!("Redis refused {what}"))
}

/// Connects as a configuration says. Waits.
pub(super) fn connect(config: &Value) -> Result<Value, Raise> {
    let config = Config::of(config)?;
    let redis: Value = construct("Redis", None, &[])?.into();
    let reserved = config.text(slot::RESERVED);
    let args = [
        config.value(slot::HOST),
        config.value(slot::PORT),
        Value::float(config.float(slot::TIMEOUT)),
        if reserved.is_empty() { Value::null() } else { php::text(&reserved)? },
        config.value(slot::RETRY_INTERVAL),
        Value::float(config.float(slot::READ_TIMEOUT)),
    ];
    let done = |name: &str, args: &[Value]| php::method(&redis, name, args).map(|answer| !php::is_false(&answer));
    if !done("connect", &args)? {
        return Err(refused("the connection"));
    }
    if !config.text(slot::AUTH).is_empty() && !done("auth", &[config.value(slot::AUTH)])? {
        return Err(refused("the password"));
    }
    let database = config.integer(slot::DB_INDEX);
    if database != 0 && !done("select", &[Value::int(database)])? {
        return Err(refused(&format!("database {database}")));
    }
    config.each_option(slot::OPTIONS, |option, value| {
        if done("setOption", &[Value::int(option), value])? {
            return Ok(());
        }
        Err(engine::throw_error(&format!("Redis::setOption() does not take option {option}")))
    })?;
    Ok(redis)
}

apus_zend::stub!("pool/redis");
