//! `Apus\Coroutine\Semaphore`: at most so many coroutines at once.

use std::cell::Cell;

use apus_zend::call::value_error;
use apus_zend::{Raise, native};

use super::line::{Line, wait_in};
use crate::exception;
use crate::runtime::State;
use crate::wait::Timeout;

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

fn construct(permits: i64) -> Result<Semaphore, Raise> {
    if permits < 1 {
        return Err(value_error(0, &format!("must be at least 1, {permits} given")));
    }
    Ok(Semaphore { permits, available: Cell::new(permits), waiters: Line::default() })
}

fn acquire(semaphore: &Semaphore, timeout: Timeout) -> Result<bool, Raise> {
    if semaphore.try_acquire() {
        return Ok(true);
    }
    if timeout.is_zero() {
        return Ok(false);
    }
    let state = State::get()?;
    let waited = wait_in(&semaphore.waiters, (), &state, "Coroutine\\Semaphore::acquire()", timeout.limit())?;
    Ok(waited.is_ok())
}

fn try_acquire(semaphore: &Semaphore) -> bool {
    semaphore.try_acquire()
}

fn release(semaphore: &Semaphore) -> Result<(), Raise> {
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

fn available(semaphore: &Semaphore) -> i64 {
    semaphore.available.get()
}

apus_zend::stub!("sync/semaphore");
