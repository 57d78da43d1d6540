//! `Apus\Cache`: what processes remember together.

use std::time::Duration;

use apus_shm::{CACHE_LEAST, CACHE_MOST, Cache, CacheError, Found, Stored};
use apus_zend::value::View;
use apus_zend::{Array, Call, Raise, Value, native};

use super::cache_remember::{self, Makers};
use super::pack;
use crate::exception::{self};

/// Seconds of the longest time that is told from none: a hundred years.
const LONGEST: f64 = 3.2e9;

/// What is behind the PHP object.
pub(super) struct Shared {
    pub(super) cache: Cache,
    /// Values that coroutines of this process make now.
    pub(super) makers: Makers,
}

native!(Shared, "Apus\\Cache");

fn construct(call: &Call) -> Result<(), Raise> {
    let given = call.int(0, 0)?;
    let bytes = usize::try_from(given).ok().filter(|bytes| (CACHE_LEAST..=CACHE_MOST).contains(bytes));
    let Some(bytes) = bytes else {
        let text = format!("must be from {CACHE_LEAST} (64 KiB) to {CACHE_MOST} (1 TiB) bytes, {given} given");
        return Err(call.value_error(0, &text));
    };
    match Cache::new(bytes) {
        Ok(cache) => call.construct(Shared { cache, makers: Makers::default() }),
        Err(error) => {
            let text = format!("no memory could be shared for a cache of {bytes} bytes: {error}");
            Err(exception::throw(exception::code::cache::NO_MEMORY, &text))
        }
    }
}

/// What a refusal throws; the key is the first argument.
pub(super) fn refused(call: &Call, error: CacheError) -> Raise {
    match error {
        CacheError::Key { given } => call.value_error(0, &format!("must be a key of 1 to 1024 bytes, {given} given")),
        CacheError::TooLarge { .. } => {
            let text = format!("the entry has {error}: make the cache larger, or store less under one key");
            exception::throw(exception::code::cache::TOO_LARGE, &text)
        }
        CacheError::NoInteger | CacheError::Overflow => {
            let key = String::from_utf8_lossy(call.bytes(0).unwrap_or_default()).into_owned();
            exception::throw(exception::code::cache::TYPE, &format!("\"{key}\" was not changed: {error}"))
        }
    }
}

/// Seconds as a length of life: 0 for none that ends.
pub(super) fn life(call: &Call, index: usize) -> Result<Option<Duration>, Raise> {
    let seconds = call.float(index, 0.0)?;
    if seconds == 0.0 {
        return Ok(None);
    }
    let life = if seconds > 0.0 { Duration::try_from_secs_f64(seconds.min(LONGEST)).ok() } else { None };
    match life {
        Some(life) => Ok(Some(life)),
        None => Err(call.value_error(index, &format!("must be 0 or more seconds, {seconds:?} given"))),
    }
}

/// What was found, as PHP's value. PHP code may run when it is an object.
pub(super) fn value_of(found: Found, bytes: &[u8]) -> Result<Value, Raise> {
    match found {
        Found::Int(value) => Ok(Value::int(value)),
        Found::Bytes => pack::decode(bytes),
    }
}

/// Stores a value: integers as such, everything else packed, for which PHP code may run when it is an object.
pub(super) fn store(
    cache: &Cache,
    key: &[u8],
    value: &Value,
    life: Option<Duration>,
    only_new: bool,
) -> Result<Result<bool, CacheError>, Raise> {
    if let View::Int(value) = value.view() {
        return Ok(cache.set(key, Stored::Int(value), life, only_new));
    }
    let mut bytes = Vec::with_capacity(256);
    pack::encode(value, &mut bytes)?;
    Ok(cache.set(key, Stored::Bytes(&bytes), life, only_new))
}

fn get(call: &Call) -> Result<(), Raise> {
    let mut bytes = Vec::new();
    let found = call.this::<Shared>()?.cache.get(call.bytes(0)?, &mut bytes);
    match found {
        Some(found) => call.ret(value_of(found, &bytes)?),
        None => call.ret(call.value(1)),
    }
}

fn put(call: &Call, only_new: bool) -> Result<(), Raise> {
    call.expect(2, 3)?;
    let (key, life) = (call.bytes(0)?, life(call, 2)?);
    let stored = store(&call.this::<Shared>()?.cache, key, &call.value(1), life, only_new)?;
    call.ret(stored.map_err(|error| refused(call, error))?)
}

fn set(call: &Call) -> Result<(), Raise> {
    put(call, false)
}

fn add(call: &Call) -> Result<(), Raise> {
    put(call, true)
}

fn has(call: &Call) -> Result<(), Raise> {
    call.ret(call.this::<Shared>()?.cache.has(call.bytes(0)?))
}

fn delete(call: &Call) -> Result<(), Raise> {
    call.ret(call.this::<Shared>()?.cache.remove(call.bytes(0)?))
}

fn touch(call: &Call) -> Result<(), Raise> {
    let life = life(call, 1)?;
    call.ret(call.this::<Shared>()?.cache.touch(call.bytes(0)?, life))
}

fn change(call: &Call, sign: i64) -> Result<(), Raise> {
    call.expect(1, 3)?;
    let life = life(call, 2)?;
    let added = match call.int(1, 1)?.checked_mul(sign) {
        Some(delta) => call.this::<Shared>()?.cache.add(call.bytes(0)?, delta, life),
        None => Err(CacheError::Overflow),
    };
    call.ret(added.map_err(|error| refused(call, error))?)
}

fn increment(call: &Call) -> Result<(), Raise> {
    change(call, 1)
}

fn decrement(call: &Call) -> Result<(), Raise> {
    change(call, -1)
}

fn clear(call: &Call) -> Result<(), Raise> {
    call.this::<Shared>()?.cache.clear();
    Ok(())
}

fn stats(call: &Call) -> Result<(), Raise> {
    let stats = call.this::<Shared>()?.cache.stats();
    let mut array = Array::new(9)?;
    for (name, value) in [
        ("entries", stats.entries),
        ("used", stats.used),
        ("bytes", stats.bytes),
        ("longest", stats.longest),
        ("hits", stats.hits),
        ("misses", stats.misses),
        ("evictions", stats.evictions),
        ("expired", stats.expired),
        ("emptied", stats.emptied),
    ] {
        array.set_int(name.as_bytes(), value as i64)?;
    }
    call.ret(array)
}

apus_zend::stub!("memory/cache");
