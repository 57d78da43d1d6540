//! `Apus\Coroutine\Semaphore`: at most so many coroutines at once.

use std::cell::Cell;

use apus_zend::{Call, Raise, native};

use super::line::{Line, wait_in};
use crate::exception;
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
    let permits = call.int(0, 0)?;
    if permits < 1 {
        return Err(call.value_error(0, &format!("must be at least 1, {permits} given")));
    }
    call.construct(Semaphore { permits, available: Cell::new(permits), waiters: Line::default() })
}

fn acquire(call: &Call) -> Result<(), Raise> {
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
    call.ret(call.this::<Semaphore>()?.try_acquire())
}

fn release(call: &Call) -> Result<(), Raise> {
    let semaphore = call.this::<Semaphore>()?;
    if semaphore.available.get() >= semaphore.permits {
        let text = format!(
            "all {} permits of the semaphore are free: release() was called more often than acquire()",
            semaphore.permits
        );
        return Err(exception::throw(exception::code::coroutine::NOT_HELD, &text));
    }
    match semaphore.waiters.take() {
        // The permit changes hands without becoming free.
        Some((waiter, ())) => waiter.serve_later(()),
        None => semaphore.available.set(semaphore.available.get() + 1),
    }
    Ok(())
}

fn available(call: &Call) -> Result<(), Raise> {
    call.ret(call.this::<Semaphore>()?.available.get())
}

apus_zend::stub!("sync/semaphore");
