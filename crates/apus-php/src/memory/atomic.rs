//! `Apus\Atomic` and `Apus\Atomic\Long`: numbers that processes share.

use std::sync::atomic::Ordering::SeqCst;

use apus_shm::{Heard, Look, Number};
use apus_zend::arg::Given;
use apus_zend::{Raise, engine, native};

use super::notifier::{self, Subscription};
use crate::wait::{Deadline, Timeout, Waited};

const WAIT: &str = "Atomic::wait()";

struct Atomic {
    number: Number,
    subscription: Subscription,
}

native!(Atomic, "Apus\\Atomic");

struct Long(Number);

native!(Long, "Apus\\Atomic\\Long");

fn number() -> Result<Number, Raise> {
    Number::new().map_err(|error| engine::throw_error(&format!("no memory could be shared for the number: {error}")))
}

fn construct(value: i64) -> Result<Atomic, Raise> {
    let number = number()?;
    number.word().store(value as u32, SeqCst);
    Ok(Atomic { number, subscription: Subscription::default() })
}

fn add(atomic: &Atomic, by: i64) -> i64 {
    let by = by as u32;
    i64::from(atomic.number.word().fetch_add(by, SeqCst).wrapping_add(by))
}

fn sub(atomic: &Atomic, by: i64) -> i64 {
    let by = by as u32;
    i64::from(atomic.number.word().fetch_sub(by, SeqCst).wrapping_sub(by))
}

fn get(atomic: &Atomic) -> i64 {
    i64::from(atomic.number.word().load(SeqCst))
}

fn set(atomic: &Atomic, value: i64) {
    atomic.number.word().store(value as u32, SeqCst);
}

fn cmpset(atomic: &Atomic, expected: i64, new: i64) -> bool {
    atomic.number.word().compare_exchange(expected as u32, new as u32, SeqCst, SeqCst).is_ok()
}

fn wait(atomic: &Atomic, timeout: Timeout) -> Result<bool, Raise> {
    let until = Deadline::after(timeout.limit_or_none());
    match atomic.number.take() {
        Look::Taken => Ok(true),
        Look::Other => Ok(false),
        Look::Zero if notifier::coroutine().is_some() => listen(atomic, until, || false),
        Look::Zero => sleep(&atomic.number, until),
    }
}

/// `Swoole\Atomic::wait()`: whoever was woken goes on, and one of them has found it 1.
fn wait_there(atomic: &Atomic, timeout: Timeout) -> Result<bool, Raise> {
    let until = Deadline::after(timeout.limit_or_none());
    if notifier::coroutine().is_some() {
        let before = atomic.number.wakes();
        return listen(atomic, until, || atomic.number.wakes() != before);
    }
    loop {
        match atomic.number.take() {
            Look::Taken => return Ok(true),
            Look::Other => return Ok(false),
            Look::Zero => {}
        }
        match atomic.number.sleep(until.instant()) {
            Heard::Signal => notifier::handle_signals()?,
            Heard::Something => return Ok(atomic.number.take() == Look::Taken),
            Heard::Nothing => return Ok(false),
        }
    }
}

/// Waits in a coroutine until the number is found to be 1, or anything but 0, or, while it is 0, `woken` says so.
fn listen(atomic: &Atomic, until: Deadline, woken: impl Fn() -> bool) -> Result<bool, Raise> {
    let look = || match atomic.number.take_or_register() {
        Look::Taken => Some(true),
        Look::Other => Some(false),
        Look::Zero => woken().then_some(false),
    };
    Ok(notifier::wait_for(&atomic.subscription, atomic.number.fd(), WAIT, until, look)? == Waited::Got(true))
}

/// Blocks the process until it is woken.
fn sleep(number: &Number, until: Deadline) -> Result<bool, Raise> {
    loop {
        let heard = number.sleep(until.instant());
        match number.take() {
            Look::Taken => return Ok(true),
            Look::Other => return Ok(false),
            Look::Zero => {}
        }
        match heard {
            Heard::Something => {}
            Heard::Nothing => return Ok(false),
            Heard::Signal => notifier::handle_signals()?,
        }
    }
}

fn wakeup(atomic: &Atomic, count: Given<i64>) -> Result<bool, Raise> {
    if count.value < 1 {
        return Err(count.must_be("at least 1"));
    }
    atomic.number.wake();
    Ok(true)
}

/// `Swoole\Atomic::wakeup()`.
fn wakeup_there(atomic: &Atomic, count: Given<i64>) -> Result<bool, Raise> {
    if count.value < 1 {
        return Err(count.must_be("at least 1"));
    }
    atomic.number.wake_some(i32::try_from(count.value).unwrap_or(i32::MAX));
    Ok(true)
}

fn long_construct(value: i64) -> Result<Long, Raise> {
    let number = number()?;
    number.long().store(value, SeqCst);
    Ok(Long(number))
}

fn long_add(long: &Long, by: i64) -> i64 {
    long.0.long().fetch_add(by, SeqCst).wrapping_add(by)
}

fn long_sub(long: &Long, by: i64) -> i64 {
    long.0.long().fetch_sub(by, SeqCst).wrapping_sub(by)
}

fn long_get(long: &Long) -> i64 {
    long.0.long().load(SeqCst)
}

fn long_set(long: &Long, value: i64) {
    long.0.long().store(value, SeqCst);
}

fn long_cmpset(long: &Long, expected: i64, new: i64) -> bool {
    long.0.long().compare_exchange(expected, new, SeqCst, SeqCst).is_ok()
}

apus_zend::stub!("memory/atomic");
