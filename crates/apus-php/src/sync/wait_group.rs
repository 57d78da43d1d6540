//! `Apus\Coroutine\WaitGroup`: waiting until a number of things are done.

use std::cell::Cell;
use std::sync::OnceLock;

use apus_zend::class::{Class, Method};
use apus_zend::engine::ClassEntry;
use apus_zend::{Call, Raise, engine, handler, native};

use super::line::{Line, wait_in};
use crate::exception::entry;
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
    call.expect(0, 1)?;
    let delta = call.int(0, 0)?;
    let group = WaitGroup::default();
    add_to(&group, delta)?;
    call.construct(group)
}

fn add(call: &Call) -> Result<(), Raise> {
    call.expect(0, 1)?;
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
    call.expect(0, 0)?;
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
    call.expect(0, 1)?;
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
    call.expect(0, 0)?;
    call.ret(call.this::<WaitGroup>()?.count.get())
}

/// `Apus\Coroutine\WaitGroup`.
pub(crate) static WAIT_GROUP: Class = Class {
    name: "Apus\\Coroutine\\WaitGroup",
    modifiers: "",
    extends: "",
    implements: &[],
    doc: "Waits until a number of things are done: add() before each is started, done() at its end, wait() for all.\n@since 0.1.0",
    constants: &[],
    properties: &[],
    methods: &[
        Method {
            decl: "public function __construct(int $delta = 0)",
            doc: "@param int $delta how many things are counted from the start\n\
                  @throws \\InvalidArgumentException for a negative number\n@since 0.1.0",
            handler: Some(handler!(construct)),
        },
        Method {
            decl: "public function add(int $delta = 1): void",
            doc: "Counts $delta more things.\n\
                  @throws \\InvalidArgumentException when the counter would get negative\n\
                  @throws \\BadMethodCallException while a coroutine is in wait()\nDoes not wait.\n@since 0.1.0",
            handler: Some(handler!(add)),
        },
        Method {
            decl: "public function done(): void",
            doc: "Counts one thing less; the last one ends wait().\n\
                  @throws \\BadMethodCallException when nothing is left to be done\nDoes not wait.\n@since 0.1.0",
            handler: Some(handler!(done)),
        },
        Method {
            decl: "public function wait(float $timeout = -1): bool",
            doc: "Waits until everything that was added is done. Several coroutines may.\n\
                  @param float $timeout seconds; 0 or negative for no limit\n\
                  @return bool false when the time was over first, or the coroutine was cancelled\n\
                  @throws \\Apus\\Coroutine\\Exception NOT_IN_COROUTINE, CANNOT_SWITCH\n\
                  @throws \\Apus\\Coroutine\\CanceledException when cancelled with an exception\n\
                  Waits, unless nothing is counted.\n@since 0.1.0",
            handler: Some(handler!(wait)),
        },
        Method {
            decl: "public function count(): int",
            doc: "How many things are not done.\nDoes not wait.\n@since 0.1.0",
            handler: Some(handler!(count)),
        },
    ],
    native: true,
    lazy: None,
    entry: entry!(),
};
