//! `Apus\RateLimiter`: how often, over all processes.

use std::time::Duration;

use apus_shm::{LIMITER_KEYS_MOST, Limiter};
use apus_zend::value::View;
use apus_zend::{Array, Call, Raise, Value, native};

use crate::exception::{self};

struct Shared {
    limiter: Limiter,
    burst: u64,
}

native!(Shared, "Apus\\RateLimiter");

fn construct(call: &Call) -> Result<(), Raise> {
    let keys = call.int(0, 0)?;
    let (rate, per) = (call.float(1, 0.0)?, call.float(2, 1.0)?);
    if !(1..=LIMITER_KEYS_MOST as i64).contains(&keys) {
        return Err(call.value_error(0, &format!("must be from 1 to {LIMITER_KEYS_MOST}, {keys} given")));
    }
    if !(rate > 0.0 && rate.is_finite()) {
        return Err(call.value_error(1, &format!("must be above 0, {rate:?} given")));
    }
    let period = Duration::try_from_secs_f64(per).ok().filter(|period| !period.is_zero());
    let Some(period) = period else {
        return Err(call.value_error(2, &format!("must be above 0 seconds, {per:?} given")));
    };
    let burst = match call.view(3) {
        View::Null => rate.ceil() as i64,
        _ => call.int(3, 1)?,
    };
    let Some(burst) = u64::try_from(burst).ok().filter(|burst| *burst >= 1) else {
        return Err(call.value_error(3, &format!("must be 1 or more, {burst} given")));
    };
    match Limiter::new(keys as usize, rate, period, burst) {
        Some(Ok(limiter)) => call.construct(Shared { limiter, burst }),
        Some(Err(error)) => {
            Err(exception::throw(exception::code::cache::NO_MEMORY, &format!("no memory could be shared for {keys} keys: {error}")))
        }
        None => Err(call.value_error(
            1,
            &format!(
                "must give a unit at least a nanosecond, and a burst less than a hundred years: {rate:?} in {per:?} s, {burst} at once"
            ),
        )),
    }
}

fn cost(call: &Call, shared: &Shared) -> Result<u64, Raise> {
    let given = call.int(1, 1)?;
    let cost = u64::try_from(given).ok().filter(|cost| (1..=shared.burst).contains(cost));
    cost.ok_or_else(|| call.value_error(1, &format!("must be from 1 to the burst, {}, {given} given", shared.burst)))
}

fn allow(call: &Call) -> Result<(), Raise> {
    let shared = call.this::<Shared>()?;
    call.ret(shared.limiter.allow(call.bytes(0)?, cost(call, shared)?))
}

fn check(call: &Call) -> Result<(), Raise> {
    let shared = call.this::<Shared>()?;
    let verdict = shared.limiter.check(call.bytes(0)?, cost(call, shared)?);
    let mut array = Array::new(4)?;
    array.set(b"allowed", Value::bool(verdict.allowed))?;
    array.set_int(b"remaining", verdict.remaining as i64)?;
    array.set(b"retry_after", Value::float(verdict.retry_after.unwrap_or_default().as_secs_f64()))?;
    array.set(b"reset", Value::float(verdict.reset.as_secs_f64()))?;
    call.ret(array)
}

fn reset(call: &Call) -> Result<(), Raise> {
    call.this::<Shared>()?.limiter.reset(call.bytes(0)?);
    Ok(())
}

apus_zend::stub!("memory/limiter");
