//! `Apus\Coroutine\WaitGroup`: waiting until a number of things are done.

use std::cell::Cell;
use std::sync::OnceLock;

use apus_zend::arg::Me;
use apus_zend::engine::ClassEntry;
use apus_zend::{Raise, engine, native};

use super::line::{Line, wait_in};
use crate::runtime::State;
use crate::wait::Timeout;

#[derive(Default)]
struct WaitGroup {
    count: Cell<i64>,
    waiters: Line<()>,
}

native!(WaitGroup, "Apus\\Coroutine\\WaitGroup");

static BAD_METHOD_CALL: OnceLock<Option<ClassEntry>> = OnceLock::new();
static INVALID_ARGUMENT: OnceLock<Option<ClassEntry>> = OnceLock::new();

/// Throws one of PHP's own exceptions, which the peer throws here, too.
fn misuse(class: &OnceLock<Option<ClassEntry>>, name: &str, text: &str) -> Raise {
    let class = class.get_or_init(|| ClassEntry::find(name)).unwrap_or_else(ClassEntry::error);
    engine::throw(class, 0, &format!("WaitGroup misuse: {text}"))
}

fn bad_call(text: &str) -> Raise {
    misuse(&BAD_METHOD_CALL, "BadMethodCallException", text)
}

const NEGATIVE: &str = "negative counter: more was done than was added";

fn add_to(group: &WaitGroup, delta: i64) -> Result<(), Raise> {
    match group.count.get().checked_add(delta) {
        Some(count) if count >= 0 => group.count.set(count),
        Some(_) => return Err(misuse(&INVALID_ARGUMENT, "InvalidArgumentException", NEGATIVE)),
        None => return Err(misuse(&INVALID_ARGUMENT, "InvalidArgumentException", "the counter is too great")),
    }
    Ok(())
}

fn construct(delta: i64) -> Result<WaitGroup, Raise> {
    let group = WaitGroup::default();
    add_to(&group, delta)?;
    Ok(group)
}

fn add(group: &WaitGroup, delta: i64) -> Result<(), Raise> {
    if group.waiters.first().is_some() {
        return Err(bad_call(
            "add() was called while a coroutine is in wait(): call add() before what it counts is started",
        ));
    }
    add_to(group, delta)
}

fn done(group: Me<'_, WaitGroup>) -> Result<(), Raise> {
    let count = group.count.get() - 1;
    if count < 0 {
        return Err(bad_call(NEGATIVE));
    }
    group.count.set(count);
    if count == 0 {
        // Under the names of Swoole who waits goes on before this returns.
        let now = group.object.is_second(&WAIT_GROUP);
        while let Some((waiter, ())) = group.waiters.take() {
            if now {
                waiter.serve_now(());
            } else {
                waiter.serve_later(());
            }
        }
    }
    State::existing().map_or(Ok(()), |state| state.check_stop())
}

fn wait(group: &WaitGroup, timeout: Timeout) -> Result<bool, Raise> {
    if group.count.get() == 0 {
        return Ok(true);
    }
    let state = State::get()?;
    let waited = wait_in(&group.waiters, (), &state, "Coroutine\\WaitGroup::wait()", timeout.limit_or_none())?;
    Ok(waited.is_ok())
}

fn count(group: &WaitGroup) -> i64 {
    group.count.get()
}

apus_zend::stub!("sync/wait_group");
