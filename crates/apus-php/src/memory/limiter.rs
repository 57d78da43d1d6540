//! `Apus\RateLimiter`: how often, over all processes.

use std::time::Duration;

use apus_shm::{LIMITER_KEYS_MOST, Limiter};
use apus_zend::class::{Class, Method};
use apus_zend::value::View;
use apus_zend::{Array, Call, Raise, Value, handler, native};

use crate::exception::{self, CACHE, entry};

struct Shared {
    limiter: Limiter,
    burst: u64,
}

native!(Shared, "Apus\\RateLimiter");

fn construct(call: &Call) -> Result<(), Raise> {
    call.expect(2, 4)?;
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
            Err(exception::throw(&CACHE, "NO_MEMORY", &format!("no memory could be shared for {keys} keys: {error}")))
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
    call.expect(1, 2)?;
    let shared = call.this::<Shared>()?;
    call.ret(shared.limiter.allow(call.bytes(0)?, cost(call, shared)?))
}

fn check(call: &Call) -> Result<(), Raise> {
    call.expect(1, 2)?;
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
    call.expect(1, 1)?;
    call.this::<Shared>()?.limiter.reset(call.bytes(0)?);
    Ok(())
}

/// `Apus\RateLimiter`.
pub(crate) static CLASS: Class = Class {
    name: "Apus\\RateLimiter",
    modifiers: "",
    extends: "",
    implements: &[],
    doc: "Limits how often something is done for a key (a client's address, a user), over all processes: make it before the server starts. $rate units in\n\
          $per seconds on the average, $burst at once; there are no windows at whose edge twice as much gets through. Takes eight bytes a key; when a new\n\
          key finds no room, an old one that was not used for longest is forgotten.\n@since 0.1.0",
    constants: &[],
    properties: &[],
    methods: &[
        Method {
            decl: "public function __construct(int $keys, float $rate, float $per = 1.0, ?int $burst = null)",
            doc: "@param int $keys that are remembered, 1 to 2^30, rounded up; take twice as many as are active at a time\n\
                  @param float $rate units, above 0\n@param float $per seconds, above 0\n\
                  @param ?int $burst units at once, 1 or more; null: $rate, rounded up\n\
                  @throws \\ValueError for anything else\n@throws \\Apus\\CacheException NO_MEMORY\n@since 0.1.0",
            handler: Some(handler!(construct)),
        },
        Method {
            decl: "public function allow(string $key, int $cost = 1): bool",
            doc: "Takes $cost units if they are within the limit.\n\
                  @param int $cost 1 to the burst\n@return bool false: they are not, and nothing was taken\n\
                  @throws \\ValueError for another cost\nDoes not wait.\n@since 0.1.0",
            handler: Some(handler!(allow)),
        },
        Method {
            decl: "public function check(string $key, int $cost = 1): array",
            doc: "How a key stands. Takes nothing.\n\
                  @param int $cost 1 to the burst\n\
                  @return array{allowed: bool, remaining: int, retry_after: float, reset: float} whether allow() would be true now; units that are left;\n\
                  seconds until it would be; seconds until the whole burst is there again\n\
                  @throws \\ValueError for another cost\nDoes not wait.\n@since 0.1.0",
            handler: Some(handler!(check)),
        },
        Method {
            decl: "public function reset(string $key): void",
            doc: "Forgets a key, which may then use a whole burst at once.\nDoes not wait.\n@since 0.1.0",
            handler: Some(handler!(reset)),
        },
    ],
    native: true,
    lazy: None,
    entry: entry!(),
};
