//! `Apus\Cache`: what processes remember together.

use std::time::Duration;

use apus_shm::{CACHE_LEAST, CACHE_MOST, Cache, CacheError, Found, Stored};
use apus_zend::arg::{Given, Want};
use apus_zend::value::View;
use apus_zend::{Array, Raise, Value, native};

use super::cache_remember::{self, Producers};
use super::pack;
use crate::exception;

/// Seconds of the longest time that is told from none: a hundred years.
const LONGEST: f64 = 3.2e9;

/// What is behind the PHP object.
pub(super) struct Shared {
    pub(super) cache: Cache,
    /// Values that coroutines of this process make now.
    pub(super) producers: Producers,
}

native!(Shared, "Apus\\Cache");

fn construct(size: Given<i64>) -> Result<Shared, Raise> {
    let bytes = usize::try_from(size.value).ok().filter(|bytes| (CACHE_LEAST..=CACHE_MOST).contains(bytes));
    let Some(bytes) = bytes else {
        return Err(size.must_be(&format!("from {CACHE_LEAST} (64 KiB) to {CACHE_MOST} (1 TiB) bytes")));
    };
    match Cache::new(bytes) {
        Ok(cache) => Ok(Shared { cache, producers: Producers::default() }),
        Err(error) => {
            let text = format!("no memory could be shared for a cache of {bytes} bytes: {error}");
            Err(exception::throw(exception::code::cache::NO_MEMORY, &text))
        }
    }
}

/// What a refusal throws.
pub(super) fn refused(key: Given<&[u8]>, error: CacheError) -> Raise {
    match error {
        CacheError::Key { given } => key.value_error(&format!("must be a key of 1 to 1024 bytes, {given} given")),
        CacheError::TooLarge { .. } => {
            let text = format!("the entry has {error}: make the cache larger, or store less under one key");
            exception::throw(exception::code::cache::TOO_LARGE, &text)
        }
        CacheError::NoInteger | CacheError::Overflow => {
            let key = String::from_utf8_lossy(key.value);
            exception::throw(exception::code::cache::TYPE, &format!("\"{key}\" was not changed: {error}"))
        }
    }
}

/// How long an entry lives; `None`: it does not end.
#[derive(Clone, Copy)]
pub(super) struct TimeToLive(pub(super) Option<Duration>);

/// Seconds, 0 for a life that does not end.
impl Want<f64> for TimeToLive {
    fn want(given: Given<f64>) -> Result<Self, Raise> {
        let seconds = given.value;
        if seconds == 0.0 {
            return Ok(Self(None));
        }
        let life = if seconds > 0.0 { Duration::try_from_secs_f64(seconds.min(LONGEST)).ok() } else { None };
        match life {
            Some(life) => Ok(Self(Some(life))),
            None => Err(given.value_error(&format!("must be 0 or more seconds, {seconds:?} given"))),
        }
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
    TimeToLive(life): TimeToLive,
    only_new: bool,
) -> Result<Result<bool, CacheError>, Raise> {
    if let View::Int(value) = value.view() {
        return Ok(cache.set(key, Stored::Int(value), life, only_new));
    }
    let mut bytes = Vec::with_capacity(256);
    pack::encode(value, &mut bytes)?;
    Ok(cache.set(key, Stored::Bytes(&bytes), life, only_new))
}

fn get(shared: &Shared, key: &[u8], default: Value) -> Result<Value, Raise> {
    let mut bytes = Vec::new();
    shared.cache.get(key, &mut bytes).map_or(Ok(default), |found| value_of(found, &bytes))
}

fn put(shared: &Shared, key: Given<&[u8]>, value: &Value, life: TimeToLive, only_new: bool) -> Result<bool, Raise> {
    store(&shared.cache, key.value, value, life, only_new)?.map_err(|error| refused(key, error))
}

fn set(shared: &Shared, key: Given<&[u8]>, value: Value, life: TimeToLive) -> Result<bool, Raise> {
    put(shared, key, &value, life, false)
}

fn add(shared: &Shared, key: Given<&[u8]>, value: Value, life: TimeToLive) -> Result<bool, Raise> {
    put(shared, key, &value, life, true)
}

fn has(shared: &Shared, key: &[u8]) -> bool {
    shared.cache.has(key)
}

fn delete(shared: &Shared, key: &[u8]) -> bool {
    shared.cache.remove(key)
}

fn touch(shared: &Shared, key: &[u8], life: TimeToLive) -> bool {
    shared.cache.touch(key, life.0)
}

fn change(shared: &Shared, key: Given<&[u8]>, by: Option<i64>, life: TimeToLive) -> Result<i64, Raise> {
    let added = by.ok_or(CacheError::Overflow).and_then(|by| shared.cache.add(key.value, by, life.0));
    added.map_err(|error| refused(key, error))
}

fn increment(shared: &Shared, key: Given<&[u8]>, by: i64, life: TimeToLive) -> Result<i64, Raise> {
    change(shared, key, Some(by), life)
}

fn decrement(shared: &Shared, key: Given<&[u8]>, by: i64, life: TimeToLive) -> Result<i64, Raise> {
    change(shared, key, by.checked_neg(), life)
}

fn clear(shared: &Shared) {
    shared.cache.clear();
}

fn stats(shared: &Shared) -> Result<Array, Raise> {
    let stats = shared.cache.stats();
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
    Ok(array)
}

apus_zend::stub!("memory/cache");
