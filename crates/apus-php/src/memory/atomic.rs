//! `Apus\Atomic` and `Apus\Atomic\Long`: numbers that processes share.

use std::sync::atomic::Ordering::SeqCst;

use apus_shm::{Heard, Look, Number};
use apus_zend::{Call, Raise, engine, native};

use super::bell::{self, Ears, Waited};
use crate::wait::{limit_or_none, seconds};

const WAIT: &str = "Atomic::wait()";

struct Atomic {
    number: Number,
    ears: Ears,
}

native!(Atomic, "Apus\\Atomic");

struct Long(Number);

native!(Long, "Apus\\Atomic\\Long");

fn number() -> Result<Number, Raise> {
    Number::new().map_err(|error| engine::throw_error(&format!("no memory could be shared for the number: {error}")))
}

fn construct(call: &Call) -> Result<(), Raise> {
    let number = number()?;
    number.word().store(call.int(0, 0)? as u32, SeqCst);
    call.construct(Atomic { number, ears: Ears::default() })
}

fn add(call: &Call) -> Result<(), Raise> {
    let by = call.int(0, 1)? as u32;
    call.ret(i64::from(call.this::<Atomic>()?.number.word().fetch_add(by, SeqCst).wrapping_add(by)))
}

fn sub(call: &Call) -> Result<(), Raise> {
    let by = call.int(0, 1)? as u32;
    call.ret(i64::from(call.this::<Atomic>()?.number.word().fetch_sub(by, SeqCst).wrapping_sub(by)))
}

fn get(call: &Call) -> Result<(), Raise> {
    call.ret(i64::from(call.this::<Atomic>()?.number.word().load(SeqCst)))
}

fn set(call: &Call) -> Result<(), Raise> {
    let value = call.int(0, 0)? as u32;
    call.this::<Atomic>()?.number.word().store(value, SeqCst);
    Ok(())
}

fn cmpset(call: &Call) -> Result<(), Raise> {
    let (expected, new) = (call.int(0, 0)? as u32, call.int(1, 0)? as u32);
    call.ret(call.this::<Atomic>()?.number.word().compare_exchange(expected, new, SeqCst, SeqCst).is_ok())
}

fn wait(call: &Call) -> Result<(), Raise> {
    let limit = limit_or_none(seconds(call, 0, 1.0)?);
    let (atomic, until) = (call.this::<Atomic>()?, bell::deadline(limit));
    let taken = match atomic.number.take() {
        Look::Taken => true,
        Look::Other => false,
        Look::Zero if bell::coroutine().is_some() => {
            let look = || match atomic.number.take_or_wish() {
                Look::Taken => Some(true),
                Look::Other => Some(false),
                Look::Zero => None,
            };
            bell::wait_for(&atomic.ears, atomic.number.fd(), WAIT, until, look)? == Waited::Got(true)
        }
        Look::Zero => sleep(&atomic.number, until)?,
    };
    call.ret(taken)
}

/// Blocks the process until it is woken.
fn sleep(number: &Number, until: Option<std::time::Instant>) -> Result<bool, Raise> {
    loop {
        let heard = number.sleep(until);
        match number.take() {
            Look::Taken => return Ok(true),
            Look::Other => return Ok(false),
            Look::Zero => {}
        }
        match heard {
            Heard::Something => {}
            Heard::Nothing => return Ok(false),
            Heard::Signal => bell::handle_signals()?,
        }
    }
}

fn wakeup(call: &Call) -> Result<(), Raise> {
    let count = call.int(0, 1)?;
    if count < 1 {
        return Err(call.value_error(0, &format!("must be at least 1, {count} given")));
    }
    call.this::<Atomic>()?.number.wake();
    call.ret(true)
}

fn long_construct(call: &Call) -> Result<(), Raise> {
    let number = number()?;
    number.long().store(call.int(0, 0)?, SeqCst);
    call.construct(Long(number))
}

fn long_add(call: &Call) -> Result<(), Raise> {
    let by = call.int(0, 1)?;
    call.ret(call.this::<Long>()?.0.long().fetch_add(by, SeqCst).wrapping_add(by))
}

fn long_sub(call: &Call) -> Result<(), Raise> {
    let by = call.int(0, 1)?;
    call.ret(call.this::<Long>()?.0.long().fetch_sub(by, SeqCst).wrapping_sub(by))
}

fn long_get(call: &Call) -> Result<(), Raise> {
    call.ret(call.this::<Long>()?.0.long().load(SeqCst))
}

fn long_set(call: &Call) -> Result<(), Raise> {
    let value = call.int(0, 0)?;
    call.this::<Long>()?.0.long().store(value, SeqCst);
    Ok(())
}

fn long_cmpset(call: &Call) -> Result<(), Raise> {
    let (expected, new) = (call.int(0, 0)?, call.int(1, 0)?);
    call.ret(call.this::<Long>()?.0.long().compare_exchange(expected, new, SeqCst, SeqCst).is_ok())
}

apus_zend::stub!("memory/atomic");
