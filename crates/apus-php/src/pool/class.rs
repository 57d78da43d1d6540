//! `Apus\ConnectionPool`.

use std::rc::Rc;

use apus_zend::object::Object;
use apus_zend::{Array, Call, Raise, Value};

use super::core::{Core, PoolHandle};
use super::ops::Pool;
use super::options;
use super::source::Source;
use super::{mysqli, pdo, redis};
use crate::wait::seconds;

/// What a pool holds unless it is told otherwise.
pub(super) const DEFAULT_SIZE: i64 = 64;

/// Where the properties stand, in the order of their declarations.
pub(super) mod slot {
    pub(in crate::pool) const CONSTRUCTOR: u32 = 0;
    pub(in crate::pool) const SIZE: u32 = 1;
    pub(in crate::pool) const PROXY: u32 = 2;
    /// The first property of the classes that extend the pool.
    pub(in crate::pool) const CONFIG: u32 = 3;
}

/// The pool that a method was called on.
fn this(call: &Call) -> Result<Pool, Raise> {
    let core = Rc::clone(&call.this::<PoolHandle>()?.0);
    let object = call.object()?;
    let source = if object.is(&pdo::POOL) {
        Source::Pdo
    } else if object.is(&mysqli::POOL) {
        Source::Mysqli
    } else if object.is(&redis::POOL) {
        Source::Redis
    } else {
        Source::Callable
    };
    Ok(Pool { object, core, source })
}

/// Makes `$this` a pool of `size` (argument `index`) connections.
pub(super) fn construct_with(call: &Call, index: usize) -> Result<Object, Raise> {
    let size = call.int(index, DEFAULT_SIZE)?;
    let count = usize::try_from(size)
        .ok()
        .filter(|size| (1..=100_000).contains(size))
        .ok_or_else(|| call.value_error(index, &format!("must be from 1 to 100000 connections, {size} given")))?;
    call.construct(PoolHandle(Core::new(count)))?;
    let object = call.object()?;
    object.set_slot(slot::SIZE, Value::int(size));
    Ok(object)
}

fn construct(call: &Call) -> Result<(), Raise> {
    drop(call.callable(0)?);
    let proxy = call.opt_bytes(2)?.map(Value::string).transpose()?;
    let object = construct_with(call, 1)?;
    object.set_slot(slot::CONSTRUCTOR, call.value(0));
    if let Some(proxy) = proxy {
        object.set_slot(slot::PROXY, proxy);
    }
    Ok(())
}

fn fill(call: &Call) -> Result<(), Raise> {
    this(call)?.fill()
}

fn get(call: &Call) -> Result<(), Raise> {
    let timeout = seconds(call, 0, -1.0)?;
    match this(call)?.get(timeout)? {
        Some(conn) => call.ret(conn),
        None => call.ret(false),
    }
}

fn put(call: &Call) -> Result<(), Raise> {
    this(call)?.put(&call.value(0))
}

fn with(call: &Call) -> Result<(), Raise> {
    let callable = call.callable(0)?;
    let timeout = seconds(call, 1, -1.0)?;
    call.ret(this(call)?.with(&callable, timeout)?)
}

fn close(call: &Call) -> Result<(), Raise> {
    this(call)?.close()
}

fn maintain(call: &Call) -> Result<(), Raise> {
    this(call)?.maintain()
}

fn set(call: &Call) -> Result<(), Raise> {
    let given = call.array(0)?;
    let pool = this(call)?;
    let core = &pool.core;
    let options::Given { numbers, check, reset } = options::read(given, core.numbers.get())?;
    core.numbers.set(numbers);
    // What is replaced is dropped last: its destructor may run PHP code that calls set() again.
    let old_check = check.map(|check| core.check.replace(check));
    let old_reset = reset.map(|reset| core.reset.replace(reset));
    pool.object.set_slot(slot::SIZE, Value::int(numbers.size as i64));
    core.spread();
    core.bell.ring();
    drop((old_check, old_reset));
    call.ret(pool.object)
}

fn stats(call: &Call) -> Result<(), Raise> {
    let core = this(call)?.core;
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
    call.ret(array)
}

apus_zend::stub!("pool/class");
