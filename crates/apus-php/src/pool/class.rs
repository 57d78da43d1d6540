//! `Apus\ConnectionPool`.

use std::rc::Rc;

use apus_zend::class::{Class, Const, Constant, Method, Property};
use apus_zend::object::Object;
use apus_zend::{Array, Call, Raise, Value, handler};

use super::core::{Core, PoolHandle};
use super::ops::Pool;
use super::options;
use super::source::Source;
use super::{mysqli, pdo, redis};
use crate::exception::entry;
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
    let raw = call.this_object()?;
    // SAFETY: $this is alive during the call.
    let object = unsafe { Object::share_raw(raw) };
    let source = if pdo::POOL.get().contains(raw) {
        Source::Pdo
    } else if mysqli::POOL.get().contains(raw) {
        Source::Mysqli
    } else if redis::POOL.get().contains(raw) {
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
    // SAFETY: $this is alive during the call.
    let object = unsafe { Object::share_raw(call.this_object()?) };
    object.set_slot(slot::SIZE, Value::int(size));
    Ok(object)
}

fn construct(call: &Call) -> Result<(), Raise> {
    call.expect(1, 3)?;
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
    call.expect(0, 0)?;
    this(call)?.fill()
}

fn get(call: &Call) -> Result<(), Raise> {
    call.expect(0, 1)?;
    let timeout = seconds(call, 0, -1.0)?;
    match this(call)?.get(timeout)? {
        Some(conn) => call.ret(conn),
        None => call.ret(false),
    }
}

fn put(call: &Call) -> Result<(), Raise> {
    call.expect(1, 1)?;
    this(call)?.put(&call.value(0))
}

fn with(call: &Call) -> Result<(), Raise> {
    call.expect(1, 2)?;
    let callable = call.callable(0)?;
    let timeout = seconds(call, 1, -1.0)?;
    call.ret(this(call)?.with(&callable, timeout)?)
}

fn close(call: &Call) -> Result<(), Raise> {
    call.expect(0, 0)?;
    this(call)?.close()
}

fn maintain(call: &Call) -> Result<(), Raise> {
    call.expect(0, 0)?;
    this(call)?.maintain()
}

fn set(call: &Call) -> Result<(), Raise> {
    call.expect(1, 1)?;
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
    call.expect(0, 0)?;
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

/// `Apus\ConnectionPool`.
pub(super) static POOL: Class = Class {
    name: "Apus\\ConnectionPool",
    modifiers: "",
    extends: "",
    implements: &[],
    doc: "Connections that coroutines borrow: at most a given number of them, made when they are needed, checked when they have\n\
          been idle, cleaned when they come back, and replaced when they are dead. Who finds none waits in line.\n\
          A pool belongs to one process: make it in `workerstart`. One made before the server starts is empty in each worker.\n\
          docs/pools.md tells everything.\n@since 0.1.0",
    constants: &[Constant {
        name: "DEFAULT_SIZE",
        value: Const::Int(DEFAULT_SIZE),
        doc: "Connections of a pool that is not told otherwise.",
    }],
    properties: &[
        Property { decl: "protected $constructor = null", doc: "What makes a connection." },
        Property { decl: "protected int $size = 64", doc: "Connections of this process at most." },
        Property { decl: "protected ?string $proxy = null", doc: "The class that wraps what makes a connection." },
    ],
    methods: METHODS,
    native: true,
    lazy: None,
    entry: entry!(),
};

const METHODS: &[Method] = &[
    Method {
        decl: "public function __construct(callable $constructor, int $size = 64, ?string $proxy = null)",
        doc: "A pool without connections: they are made when they are needed, in the coroutine that needs one.\n\
              @param callable $constructor makes a connection: an object or a resource. A PDO, mysqli, Redis or\n\
              PgSql\\Connection is checked and cleaned as the pools in Apus\\Database do it\n\
              @param int $size connections of this process at most, 1 to 100000; default 64\n\
              @param string|null $proxy a class: connections are then made by `new $proxy($constructor)`\n\
              @throws \\ValueError when $size is out of its limits\nDoes not wait.\n@since 0.1.0",
        handler: Some(handler!(construct)),
    },
    Method {
        decl: "public function fill(): void",
        doc: "Makes connections, one after the other, until the pool has as many as it may have.\n\
              @throws \\Apus\\ConnectionPool\\Exception CONNECT when one cannot be made; CLOSED\n\
              Waits as the constructor does.\n@since 0.1.0",
        handler: Some(handler!(fill)),
    },
    Method {
        decl: "public function get(float $timeout = -1): mixed",
        doc: "A connection for this coroutine alone, until it gives it to put(): an idle one, the one used last first, else a new\n\
              one, else the first that comes free; who waits longest is served first.\n\
              @param float $timeout seconds to wait in line; 0 or negative for the setting `wait_timeout`, which is no limit\n\
              unless set. Making and checking a connection is not counted\n\
              @return mixed the connection; false when the wait was cancelled\n\
              @throws \\Apus\\ConnectionPool\\Exception EXHAUSTED when none came free in time; CONNECT when none could be made;\n\
              CLOSED when the pool is, or is closed meanwhile\n\
              @throws \\Apus\\Coroutine\\Exception NOT_IN_COROUTINE outside coroutines, when it would have to wait\n\
              Waits.\n@since 0.1.0",
        handler: Some(handler!(get)),
    },
    Method {
        decl: "public function put(mixed $connection): void",
        doc: "Gives a connection back; do not use it after that. An open transaction is rolled back and reported by a warning (setting\n\
              `reset`). A connection whose user was cancelled in the middle of something is closed instead.\n\
              @param mixed $connection what get() gave; null: the one that this coroutine took last is broken and to be\n\
              replaced by a new one when it is needed\n\
              @throws \\Apus\\ConnectionPool\\Exception FOREIGN when it is not one that the pool has given out, or was given back\n\
              already\n\
              Waits as the driver does when there is something to clean.\n@since 0.1.0",
        handler: Some(handler!(put)),
    },
    Method {
        decl: "public function use(callable $callback, float $timeout = -1): mixed",
        doc: "Gets a connection, calls $callback($connection), and gives the connection back, whatever happens. After an\n\
              exception the connection is checked before it is handed out again.\n\
              @param float $timeout as for get()\n\
              @return mixed what $callback returned; false when the wait was cancelled\n\
              @throws \\Throwable what $callback threw, or what get() throws\nWaits.\n@since 0.1.0",
        handler: Some(handler!(with)),
    },
    Method {
        decl: "public function set(array $options): static",
        doc: "Changes settings; times are in seconds, fractions allowed, 0 is no limit.\n\
              size: connections of this process at most. total: of all workers together, divided evenly and rounded down\n\
              (default 0: no such limit). wait_timeout: how long get() waits when it is given no time (0).\n\
              check_idle: a connection that was idle for so long is checked before it is handed out (1; 0 always, -1 never).\n\
              check_timeout: how long the check may take, with hooks (3). max_lifetime: age at which a connection is\n\
              replaced (1800). idle_timeout: idle time after which it is closed (300). jitter: the part, 0 to 1, by which\n\
              these two are shortened at random (0.1). min_idle: idle connections kept ready (0).\n\
              check: callable($connection), false means dead; default null, what the driver knows.\n\
              reset: 'transaction' (default), 'none', or a callable($connection) that runs after the transaction was rolled\n\
              back, false means that the connection is of no use any more.\n\
              @return static the pool\n\
              @throws \\Apus\\ConnectionPool\\Exception OPTION when one is unknown or out of its limits; then none is changed\n\
              Does not wait.\n@since 0.1.0",
        handler: Some(handler!(set)),
    },
    Method {
        decl: "public function stats(): array",
        doc: "The state of this process's pool. Now: size (the limit), in_use (with those that are being made, checked or cleaned), idle,\n\
              waiters. Since it was made: created, replaced (dead, broken or lost ones that were closed), expired (closed for\n\
              their age or idleness), lost (never given back), resets (came back unclean), timeouts, waits, wait_time and\n\
              wait_time_max (seconds in line).\nDoes not wait.\n@since 0.1.0",
        handler: Some(handler!(stats)),
    },
    Method {
        decl: "public function maintain(): void",
        doc: "Closes connections that were never given back, are too old or were idle for too long, and makes those that `min_idle`\n\
              asks for; when one cannot be made, that is logged. In coroutines the pool does all this by itself.\n\
              Waits as the driver does.\n@since 0.1.0",
        handler: Some(handler!(maintain)),
    },
    Method {
        decl: "public function close(): void",
        doc: "Closes the idle connections and ends the waits of others with CLOSED. Connections in use are closed when they are\n\
              given back. A second call does nothing.\n\
              Waits as the driver does.\n@since 0.1.0",
        handler: Some(handler!(close)),
    },
];
