//! `Apus\Coroutine\Semaphore`: at most so many coroutines at once.

use std::cell::Cell;

use apus_zend::class::{Class, Method};
use apus_zend::{Call, Raise, handler, native};

use super::line::{Line, wait_in};
use crate::exception::{self, entry};
use crate::runtime::State;
use crate::wait::time_limit;

struct Semaphore {
    permits: i64,
    available: Cell<i64>,
    waiters: Line<()>,
}

native!(Semaphore, "Apus\\Coroutine\\Semaphore");

impl Semaphore {
    /// Takes a permit unless others have waited for one longer.
    fn try_acquire(&self) -> bool {
        let free = self.available.get() > 0 && self.waiters.first().is_none();
        if free {
            self.available.set(self.available.get() - 1);
        }
        free
    }
}

fn construct(call: &Call) -> Result<(), Raise> {
    call.expect(1, 1)?;
    let permits = call.int(0, 0)?;
    if permits < 1 {
        return Err(call.value_error(0, &format!("must be at least 1, {permits} given")));
    }
    call.construct(Semaphore { permits, available: Cell::new(permits), waiters: Line::default() })
}

fn acquire(call: &Call) -> Result<(), Raise> {
    call.expect(0, 1)?;
    let limit = time_limit(call, 0, -1.0)?;
    let semaphore = call.this::<Semaphore>()?;
    if semaphore.try_acquire() {
        return call.ret(true);
    }
    if limit.is_some_and(|limit| limit.is_zero()) {
        return call.ret(false);
    }
    let state = State::get()?;
    let waited = wait_in(&semaphore.waiters, (), &state, "Coroutine\\Semaphore::acquire()", limit)?;
    call.ret(waited.is_ok())
}

fn try_acquire(call: &Call) -> Result<(), Raise> {
    call.expect(0, 0)?;
    call.ret(call.this::<Semaphore>()?.try_acquire())
}

fn release(call: &Call) -> Result<(), Raise> {
    call.expect(0, 0)?;
    let semaphore = call.this::<Semaphore>()?;
    if semaphore.available.get() >= semaphore.permits {
        let text = format!(
            "all {} permits of the semaphore are free: release() was called more often than acquire()",
            semaphore.permits
        );
        return Err(exception::throw(&exception::COROUTINE, "NOT_HELD", &text));
    }
    match semaphore.waiters.take() {
        // The permit changes hands without becoming free.
        Some((waiter, ())) => waiter.serve_later(()),
        None => semaphore.available.set(semaphore.available.get() + 1),
    }
    Ok(())
}

fn available(call: &Call) -> Result<(), Raise> {
    call.expect(0, 0)?;
    call.ret(call.this::<Semaphore>()?.available.get())
}

/// `Apus\Coroutine\Semaphore`.
pub(crate) static SEMAPHORE: Class = Class {
    name: "Apus\\Coroutine\\Semaphore",
    modifiers: "",
    extends: "",
    implements: &[],
    doc: "A number of permits that coroutines take and give back; who finds none waits in line, first come, first served. A\n\
          permit belongs to nobody: one coroutine may release() what another acquired, and none comes back by itself.\n@since 0.1.0",
    constants: &[],
    properties: &[],
    methods: &[
        Method {
            decl: "public function __construct(int $permits)",
            doc: "@param int $permits how many there are, 1 or more\n@throws \\ValueError for less\n@since 0.1.0",
            handler: Some(handler!(construct)),
        },
        Method {
            decl: "public function acquire(float $timeout = -1): bool",
            doc: "Takes a permit.\n\
                  @param float $timeout seconds; negative for no limit, 0 for no waiting\n\
                  @return bool false when the time was over first, or the coroutine was cancelled\n\
                  @throws \\Apus\\Coroutine\\Exception NOT_IN_COROUTINE, CANNOT_SWITCH when it would wait\n\
                  @throws \\Apus\\Coroutine\\CanceledException when cancelled with an exception\n\
                  Waits while none is free.\n@since 0.1.0",
            handler: Some(handler!(acquire)),
        },
        Method {
            decl: "public function tryAcquire(): bool",
            doc: "Takes a permit if one is free and nobody waits for it.\nDoes not wait.\n@since 0.1.0",
            handler: Some(handler!(try_acquire)),
        },
        Method {
            decl: "public function release(): void",
            doc: "Gives a permit back: to the first who waits, or to whoever comes.\n\
                  @throws \\Apus\\Coroutine\\Exception NOT_HELD when all permits are free\nDoes not wait.\n@since 0.1.0",
            handler: Some(handler!(release)),
        },
        Method {
            decl: "public function available(): int",
            doc: "How many permits are free.\nDoes not wait.\n@since 0.1.0",
            handler: Some(handler!(available)),
        },
    ],
    native: true,
    lazy: None,
    entry: entry!(),
};
