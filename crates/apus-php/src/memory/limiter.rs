//! `Apus\RateLimiter`: how often, over all processes.

use std::time::Duration;

use apus_shm::{LIMITER_KEYS_MOST, Limiter};
use apus_zend::arg::Given;
use apus_zend::{Array, Raise, Value, native};

use crate::exception;

struct Shared {
    limiter: Limiter,
    burst: u64,
}

native!(Shared, "Apus\\RateLimiter");

fn construct(keys: Given<i64>, rate: Given<f64>, per: Given<f64>, burst: Given<Option<i64>>) -> Result<Shared, Raise> {
    let (most, per_second) = (LIMITER_KEYS_MOST, rate.value);
    if !(1..=most as i64).contains(&keys.value) {
        return Err(keys.must_be(&format!("from 1 to {most}")));
    }
    if !(per_second > 0.0 && per_second.is_finite()) {
        return Err(rate.value_error(&format!("must be above 0, {per_second:?} given")));
    }
    let period = Duration::try_from_secs_f64(per.value).ok().filter(|period| !period.is_zero());
    let Some(period) = period else {
        return Err(per.value_error(&format!("must be above 0 seconds, {:?} given", per.value)));
    };
    let given = burst.value.unwrap_or(per_second.ceil() as i64);
    let Some(burst) = u64::try_from(given).ok().filter(|burst| *burst >= 1) else {
        return Err(burst.value_error(&format!("must be 1 or more, {given} given")));
    };
    match Limiter::new(keys.value as usize, per_second, period, burst) {
        Some(Ok(limiter)) => Ok(Shared { limiter, burst }),
        Some(Err(error)) => {
            let text = format!("no memory could be shared for {} keys: {error}", keys.value);
            Err(exception::throw(exception::code::cache::NO_MEMORY, &text))
        }
        None => Err(rate.value_error(&format!(
            "must give a unit at least a nanosecond, and a burst less than a hundred years: {per_second:?} in {:?} s, {burst} at once",
            per.value
        ))),
    }
}

fn cost_of(shared: &Shared, cost: Given<i64>) -> Result<u64, Raise> {
    let units = u64::try_from(cost.value).ok().filter(|units| (1..=shared.burst).contains(units));
    units.ok_or_else(|| {
        cost.value_error(&format!("must be from 1 to the burst, {}, {} given", shared.burst, cost.value))
    })
}

fn allow(shared: &Shared, key: &[u8], cost: Given<i64>) -> Result<bool, Raise> {
    Ok(shared.limiter.allow(key, cost_of(shared, cost)?))
}

fn check(shared: &Shared, key: &[u8], cost: Given<i64>) -> Result<Array, Raise> {
    let verdict = shared.limiter.check(key, cost_of(shared, cost)?);
    let mut array = Array::new(4)?;
    array.set(b"allowed", Value::bool(verdict.allowed))?;
    array.set_int(b"remaining", verdict.remaining as i64)?;
    array.set(b"retry_after", Value::float(verdict.retry_after.unwrap_or_default().as_secs_f64()))?;
    array.set(b"reset", Value::float(verdict.reset.as_secs_f64()))?;
    Ok(array)
}

fn reset(shared: &Shared, key: &[u8]) {
    shared.limiter.reset(key);
}

apus_zend::stub!("memory/limiter");
