//! `Apus\ConnectionPool`.

use std::rc::Rc;

use apus_zend::arg::{Given, Made, Me, OrFalse, Want};
use apus_zend::object::Object;
use apus_zend::value::ArrayView;
use apus_zend::{Array, Callable, Raise, Value};

use super::core::{Core, PoolHandle};
use super::ops::Pool;
use super::source::Source;
use super::{config, options};
use super::{mysqli, pdo, redis};
use crate::wait::Timeout;

/// What a pool holds unless it is told otherwise.
pub(super) const DEFAULT_SIZE: i64 = 64;

/// The pool that a method was called on.
fn pool(this: Me<'_, PoolHandle>) -> Pool {
    let core = Rc::clone(&this.0);
    let object = this.object;
    let source = if object.is(&pdo::POOL) {
        Source::Pdo
    } else if object.is(&mysqli::POOL) {
        Source::Mysqli
    } else if object.is(&redis::POOL) {
        Source::Redis
    } else {
        Source::Callable
    };
    Pool { object, core, source }
}

/// How many connections a pool has at most.
#[derive(Clone, Copy)]
pub(super) struct Size(usize);

impl Want<i64> for Size {
    fn want(given: Given<i64>) -> Result<Self, Raise> {
        given.number_where(|size| (1..=100_000).contains(size), "from 1 to 100000 connections").map(Self)
    }
}

impl Size {
    /// A pool of so many connections, and what `$size` holds.
    pub(super) fn pool(self) -> (PoolHandle, (u32, Value)) {
        (PoolHandle(Core::new(self.0)), (slot::pool::SIZE, Value::int(self.0 as i64)))
    }
}

/// A pool of connections that `config` describes; they need the class and the extension of PHP.
pub(super) fn configured(
    config: Object,
    place: u32,
    size: Size,
    extension: &str,
) -> Result<Made<PoolHandle, 2>, Raise> {
    config::expect_class(extension)?;
    let (pool, size) = size.pool();
    Ok(Made(pool, [size, (place, config.into())]))
}

fn construct(constructor: Callable, size: Size, proxy: Value) -> Made<PoolHandle, 3> {
    let (pool, size) = size.pool();
    Made(pool, [size, (slot::pool::CONSTRUCTOR, constructor.value()), (slot::pool::PROXY, proxy)])
}

fn fill(this: Me<'_, PoolHandle>) -> Result<(), Raise> {
    pool(this).fill()
}

fn get(this: Me<'_, PoolHandle>, timeout: Timeout) -> Result<OrFalse<Value>, Raise> {
    pool(this).get(timeout).map(OrFalse)
}

fn put(this: Me<'_, PoolHandle>, connection: Value) -> Result<(), Raise> {
    pool(this).put(&connection)
}

fn with(this: Me<'_, PoolHandle>, callable: Callable, timeout: Timeout) -> Result<Value, Raise> {
    pool(this).with(&callable, timeout)
}

fn close(this: Me<'_, PoolHandle>) -> Result<(), Raise> {
    pool(this).close()
}

fn maintain(this: Me<'_, PoolHandle>) -> Result<(), Raise> {
    pool(this).maintain()
}

fn set(this: Me<'_, PoolHandle>, given: ArrayView<'_>) -> Result<Object, Raise> {
    let pool = pool(this);
    let core = &pool.core;
    let options::Given { numbers, check, reset } = options::read(given, core.numbers.get())?;
    core.numbers.set(numbers);
    // What is replaced is dropped last: its destructor may run PHP code that calls set() again.
    let old_check = check.map(|check| core.check.replace(check));
    let old_reset = reset.map(|reset| core.reset.replace(reset));
    pool.object.set_slot(slot::pool::SIZE, Value::int(numbers.size as i64));
    core.spread();
    core.notifier.notify();
    drop((old_check, old_reset));
    Ok(pool.object)
}

fn stats(pool: &PoolHandle) -> Result<Array, Raise> {
    let core = &pool.0;
    core.enter_process();
    let (_, in_use, idle) = core.occupancy();
    let counters = &core.counters;
    let mut array = Array::new(16)?;
    array.set_int(b"size", core.limit() as i64)?;
    array.set_int(b"in_use", in_use as i64)?;
    array.set_int(b"idle", idle as i64)?;
    array.set_int(b"waiters", core.queue.len() as i64)?;
    array.set_int(b"created", counters.created.get() as i64)?;
    array.set_int(b"replaced", counters.replaced.get() as i64)?;
    array.set_int(b"expired", counters.expired.get() as i64)?;
    array.set_int(b"lost", counters.lost.get() as i64)?;
    array.set_int(b"resets", counters.resets.get() as i64)?;
    array.set_int(b"timeouts", counters.timeouts.get() as i64)?;
    array.set_int(b"waits", counters.waits.get() as i64)?;
    array.set(b"wait_time", Value::float(counters.wait_total.get().as_secs_f64()))?;
    array.set(b"wait_time_max", Value::float(counters.wait_max.get().as_secs_f64()))?;
    Ok(array)
}

apus_zend::stub!("pool/class");
