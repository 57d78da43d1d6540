//! `Apus\Cache::remember()`: one process makes a value, the others wait for it.
//!
//! Who waits looks again after pauses that grow from 1 to 20 ms: a look takes a fraction of a microsecond and no lock,
//! and needs nothing that a producer could fail to do before it dies. An eventfd would be another descriptor a cache,
//! written at each store, to save half a pause where a value takes long to make anyway.

use std::cell::RefCell;
use std::time::Duration;

use apus_coro::Wait;
use apus_shm::{Claim, Making};
use apus_zend::arg::Given;
use apus_zend::{Callable, Raise, Value, engine};

use super::cache::{self, Shared, TimeToLive};
use crate::exception;
use crate::runtime::State;
use crate::wait::{Deadline, Timeout, may_wait, wait};

const PAUSES: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(20));
const WAIT: Wait = Wait::Outside("Cache::remember()");

/// Which coroutine of this process makes which value now.
#[derive(Default)]
pub(super) struct Producers(RefCell<Vec<(i64, Vec<u8>)>>);

impl Producers {
    fn has(&self, coroutine: i64, key: &[u8]) -> bool {
        self.0.borrow().iter().any(|(id, made)| *id == coroutine && made == key)
    }

    fn enter(&self, coroutine: i64, key: &[u8]) {
        self.0.borrow_mut().push((coroutine, key.to_vec()));
    }

    fn leave(&self, coroutine: i64, key: &[u8]) {
        let mut producers = self.0.borrow_mut();
        if let Some(at) = producers.iter().rposition(|(id, made)| *id == coroutine && made == key) {
            producers.swap_remove(at);
        }
    }
}

/// One call.
struct Remember<'a> {
    shared: &'a Shared,
    key: &'a [u8],
    life: TimeToLive,
    make: Callable,
    /// The coroutine; -1: none.
    coroutine: i64,
    until: Deadline,
    strict: bool,
}

/// What waiting came to.
enum Turn<'a> {
    /// The value is there.
    There(Value),
    /// This call makes it; with the right to, others wait for it.
    Ours(Option<Making<'a>>),
    /// The coroutine was cancelled.
    Cancelled,
}

pub(super) fn remember(
    shared: &Shared,
    key: Given<&[u8]>,
    life: TimeToLive,
    make: Callable,
    timeout: Timeout,
    strict: bool,
) -> Result<Value, Raise> {
    let mut bytes = Vec::new();
    if let Some(found) = shared.cache.get(key.value, &mut bytes) {
        return cache::value_of(found, &bytes);
    }
    let remember = Remember {
        shared,
        key: key.value,
        life,
        make,
        coroutine: State::existing().map_or(-1, |state| state.engine.current_id()),
        until: Deadline::after(timeout.limit()),
        strict,
    };
    if !(1..=apus_shm::CACHE_KEY_MOST).contains(&key.value.len()) {
        return Err(cache::refused(key, apus_shm::CacheError::Key { given: key.value.len() }));
    }
    if shared.producers.has(remember.coroutine, key.value) {
        let text = format!(
            "remember() was called for \"{}\" by the very function that makes its value",
            String::from_utf8_lossy(key.value)
        );
        return Err(exception::throw(exception::code::cache::NESTED, &text));
    }
    match remember.turn()? {
        Turn::There(value) => Ok(value),
        Turn::Ours(making) => remember.make(making),
        Turn::Cancelled => Ok(Value::null()),
    }
}

impl<'a> Remember<'a> {
    fn found(&self) -> Result<Option<Value>, Raise> {
        let mut bytes = Vec::new();
        match self.shared.cache.peek(self.key, &mut bytes) {
            Some(found) => cache::value_of(found, &bytes).map(Some),
            None => Ok(None),
        }
    }

    /// Waits until the value is there or is this call's to make.
    fn turn(&self) -> Result<Turn<'a>, Raise> {
        let mut pause = PAUSES.0;
        loop {
            let here = match self.shared.cache.claim(self.key) {
                Claim::Mine(making) => {
                    // Stored between the last look and the claim, it is not made twice.
                    return Ok(match self.found()? {
                        Some(value) => Turn::There(value),
                        None => Turn::Ours(Some(making)),
                    });
                }
                Claim::Untracked => return Ok(Turn::Ours(None)),
                Claim::Taken { here } => here,
            };
            if self.until.is_over() {
                return self.too_long();
            }
            let step = self.until.within(pause);
            pause = (pause * 2).min(PAUSES.1);
            match State::existing().filter(|state| may_wait(state)) {
                Some(state) => {
                    if wait(&state, WAIT, state.alarm.sleep(step))?.is_none() {
                        return Ok(Turn::Cancelled);
                    }
                }
                // The producer would never go on while its own process sleeps.
                None if here => return Ok(Turn::Ours(None)),
                None => std::thread::sleep(step),
            }
            if let Some(value) = self.found()? {
                return Ok(Turn::There(value));
            }
        }
    }

    fn too_long(&self) -> Result<Turn<'a>, Raise> {
        if !self.strict {
            return Ok(Turn::Ours(None));
        }
        let text = format!("another one has been making \"{}\" for too long", String::from_utf8_lossy(self.key));
        Err(exception::throw(exception::code::cache::WAIT, &text))
    }

    /// Calls the function and stores what it returns; the right to make it ends with this, however.
    fn make(&self, making: Option<Making<'a>>) -> Result<Value, Raise> {
        self.shared.producers.enter(self.coroutine, self.key);
        let made = self.make.call(&[]);
        self.shared.producers.leave(self.coroutine, self.key);
        let value = made?;
        let stored = cache::store(&self.shared.cache, self.key, &value, self.life, false)?;
        drop(making);
        if let Err(error) = stored {
            let key = String::from_utf8_lossy(self.key);
            engine::warning(&format!("Apus\\Cache::remember(): \"{key}\" was not stored: the entry has {error}"))?;
        }
        Ok(value)
    }
}
