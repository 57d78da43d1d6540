//! `Apus\Coroutine\WaitGroup`: waiting until a number of things are done.

use std::cell::Cell;
use std::sync::OnceLock;

use apus_zend::engine::ClassEntry;
use apus_zend::{Call, Raise, engine, native};

use super::line::{Line, wait_in};
use crate::runtime::State;
use crate::wait::{limit_or_none, seconds};

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

fn construct(call: &Call) -> Result<(), Raise> {
    let delta = call.int(0, 0)?;
    let group = WaitGroup::default();
    add_to(&group, delta)?;
    call.construct(group)
}

fn add(call: &Call) -> Result<(), Raise> {
    let delta = call.int(0, 1)?;
    let group = call.this::<WaitGroup>()?;
    if group.waiters.first().is_some() {
        return Err(bad_call(
            "add() was called while a coroutine is in wait(): call add() before what it counts is started",
        ));
    }
    add_to(group, delta)
}

fn done(call: &Call) -> Result<(), Raise> {
    let group = call.this::<WaitGroup>()?;
    let count = group.count.get() - 1;
    if count < 0 {
        return Err(bad_call(NEGATIVE));
    }
    group.count.set(count);
    if count == 0 {
        while let Some((waiter, ())) = group.waiters.take() {
            waiter.serve_later(());
        }
    }
    Ok(())
}

fn wait(call: &Call) -> Result<(), Raise> {
    let seconds = seconds(call, 0, -1.0)?;
    let group = call.this::<WaitGroup>()?;
    if group.count.get() == 0 {
        return call.ret(true);
    }
    let state = State::get()?;
    let waited = wait_in(&group.waiters, (), &state, "Coroutine\\WaitGroup::wait()", limit_or_none(seconds))?;
    call.ret(waited.is_ok())
}

fn count(call: &Call) -> Result<(), Raise> {
    call.ret(call.this::<WaitGroup>()?.count.get())
}

apus_zend::stub!("sync/wait_group");
