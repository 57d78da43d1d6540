<?php

namespace Apus;

/**
 * Connections that coroutines borrow: at most a given number of them, made when they are needed, checked when they have
 * been idle, cleaned when they come back, and replaced when they are dead. If none is free, the caller waits. A pool
 * belongs to one process: make it in `workerstart`. One made before the server starts is empty in each worker.
 * docs/pools.md has the details.
 * @rust static POOL
 * @rust slots
 */
class ConnectionPool
{
    // @rust typed

    /**
     * The default size of a pool.
     * @rust DEFAULT_SIZE
     */
    public const DEFAULT_SIZE = 64;

    /** What makes a connection. */
    protected $constructor = null;

    /** Connections of this process at most. */
    protected int $size = 64;

    /** The class that wraps what makes a connection. */
    protected ?string $proxy = null;

    /**
     * A pool without connections: they are made when they are needed, in the coroutine that needs one.
     * @param callable $constructor makes a connection: an object or a resource. A PDO, mysqli, Redis or
     * PgSql\Connection is checked and cleaned as the pools in Apus\Database do it
     * @param int $size connections of this process at most, 1 to 100000; default 64
     * @param string|null $proxy a class: connections are then made by `new $proxy($constructor)`
     * @throws \ValueError when $size is out of range
     * Does not wait.
     */
    public function __construct(callable $constructor, int $size = 64, ?string $proxy = null) {}

    /**
     * Makes connections, one after the other, until the pool has reached its size.
     * @throws \Apus\ConnectionPool\Exception CONNECT when one cannot be made; CLOSED
     * Waits as the constructor does.
     */
    public function fill(): void {}

    /**
     * A connection for this coroutine only, until it is given to put(): an idle one (the most recently used), else a
     * new one, else the first that becomes free; the longest waiter is served first.
     * @param float $timeout seconds to wait for a free one; 0 or negative for the setting `wait_timeout`, which means
     * no limit unless set. The time to make and check a connection does not count
     * @return mixed the connection; false when the wait was cancelled
     * @throws \Apus\ConnectionPool\Exception EXHAUSTED when none became free in time; CONNECT when none could be made;
     * CLOSED when the pool is closed, or is closed meanwhile
     * @throws \Apus\Coroutine\Exception NOT_IN_COROUTINE outside coroutines, when it would have to wait
     * Waits.
     */
    public function get(float $timeout = -1): mixed {}

    /**
     * Gives a connection back; do not use it after that. An open transaction is rolled back and reported by a warning
     * (setting `reset`). A connection whose user was cancelled in the middle of an operation is closed instead.
     * @param mixed $connection what get() gave; null: the one that this coroutine took last is broken and to be
     * replaced by a new one when it is needed
     * @throws \Apus\ConnectionPool\Exception FOREIGN when it is not one that the pool has given out, or was given back
     * already
     * Waits as the driver does when there is something to clean.
     */
    public function put(mixed $connection): void {}

    /**
     * Gets a connection, calls $callback($connection), and gives the connection back, whatever happens. After an
     * exception the connection is checked before it is handed out again.
     * @param float $timeout as for get()
     * @return mixed what $callback returned; false when the wait was cancelled
     * @throws \Throwable what $callback threw, or what get() throws
     * Waits.
     * @rust with
     */
    public function use(callable $callback, float $timeout = -1): mixed {}

    /**
     * Changes settings; times are in seconds, fractions allowed, 0 is no limit.
     * size: connections of this process at most. total: of all workers together, divided evenly and rounded down
     * (default 0: no such limit). wait_timeout: how long get() waits when it is given no time (0).
     * check_idle: a connection that was idle for so long is checked before it is handed out (1; 0 always, -1 never).
     * check_timeout: how long the check may take, with hooks (3). max_lifetime: age at which a connection is replaced
     * (1800). idle_timeout: idle time after which it is closed (300). jitter: the part, 0 to 1, by which these two are
     * shortened at random (0.1). min_idle: idle connections kept ready (0).
     * check: callable($connection), false means dead; default null, what the driver knows.
     * reset: 'transaction' (default), 'none', or a callable($connection) that runs after the transaction was rolled
     * back, false means that the connection is no longer usable.
     * @return static the pool
     * @throws \Apus\ConnectionPool\Exception OPTION when one is unknown or out of range; then none is changed
     * Does not wait.
     */
    public function set(array $options): static {}

    /**
     * The state of this process's pool. Now: size (the limit), in_use (including those that are being made, checked or
     * cleaned), idle, waiters. Since it was made: created, replaced (dead, broken or lost ones that were closed),
     * expired (closed for their age or idleness), lost (never given back), resets (came back unclean), timeouts, waits,
     * wait_time and wait_time_max (seconds of waiting).
     * Does not wait.
     */
    public function stats(): array {}

    /**
     * Closes connections that were never given back, are too old or were idle for too long, and makes those that
     * `min_idle` asks for; when one cannot be made, that is logged. In coroutines the pool does all this automatically.
     * Waits as the driver does.
     */
    public function maintain(): void {}

    /**
     * Closes the idle connections and ends other coroutines' waits with CLOSED. Connections in use are closed when they
     * are given back. A second call does nothing.
     * Waits as the driver does.
     */
    public function close(): void {}
}
