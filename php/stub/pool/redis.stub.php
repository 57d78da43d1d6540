<?php

namespace Apus\Database;

/**
 * Where and as whom a RedisPool connects. Each with…() changes the object and returns it.
 * @rust static CONFIG
 * @rust plain
 * @rust slots
 * @rust accessors config
 */
class RedisConfig
{
    // @rust typed

    /** Host name, address, or path of a Unix socket. */
    protected string $host = '127.0.0.1';

    /** Port. */
    protected int $port = 6379;

    /** Seconds that connecting may take. */
    protected float $timeout;

    /** phpredis's fourth argument. */
    protected string $reserved = '';

    /** Milliseconds between attempts to connect. */
    protected int $retry_interval = 0;

    /** Seconds that an answer may take. */
    protected float $read_timeout;

    /** Password. */
    protected string $auth = '';

    /** Database. */
    protected int $dbIndex = 0;

    /** Options of each connection. */
    protected array $options;

    /**
     * The host.
     * Does not wait.
     */
    public function getHost(): string {}

    /**
     * Sets the host name or address, or the path of a Unix socket (then set port 0); default 127.0.0.1.
     * Does not wait.
     */
    public function withHost(string $host): self {}

    /**
     * The port.
     * Does not wait.
     */
    public function getPort(): int {}

    /**
     * Sets the port, 0 to 65535; default 6379.
     * @throws \ValueError when it is out of range
     * Does not wait.
     * @rust config::with_port
     */
    public function withPort(int $port): self {}

    /**
     * Seconds that connecting may take; 0 for no limit.
     * Does not wait.
     * @rust config::get_seconds
     */
    public function getTimeout(): float {}

    /**
     * Sets the seconds that connecting may take; default 0, no limit.
     * @throws \ValueError when it is negative
     * Does not wait.
     * @rust config::with_seconds
     */
    public function withTimeout(float $timeout): self {}

    /**
     * What withReserved() set.
     * Does not wait.
     */
    public function getReserved(): string {}

    /**
     * Sets the fourth argument of Redis::connect(), which phpredis does not use; default empty.
     * Does not wait.
     */
    public function withReserved(string $reserved): self {}

    /**
     * Milliseconds between attempts to connect.
     * Does not wait.
     */
    public function getRetryInterval(): int {}

    /**
     * Sets the milliseconds between attempts to connect; default 0.
     * @throws \ValueError when it is negative
     * Does not wait.
     * @rust config::with_count
     */
    public function withRetryInterval(int $retry_interval): self {}

    /**
     * Seconds that an answer may take; 0 for no limit.
     * Does not wait.
     * @rust config::get_seconds
     */
    public function getReadTimeout(): float {}

    /**
     * Sets the seconds that an answer may take; default 0, PHP's default_socket_timeout.
     * @throws \ValueError when it is negative
     * Does not wait.
     * @rust config::with_seconds
     */
    public function withReadTimeout(float $read_timeout): self {}

    /**
     * The password; empty for none.
     * Does not wait.
     */
    public function getAuth(): string {}

    /**
     * Sets the password; default empty, for none.
     * Does not wait.
     */
    public function withAuth(string $auth): self {}

    /**
     * The number of the database.
     * Does not wait.
     */
    public function getDbIndex(): int {}

    /**
     * Sets the number of the database; default 0. A connection that comes back with another one is set to this.
     * @throws \ValueError when it is negative
     * Does not wait.
     * @rust config::with_count
     */
    public function withDbIndex(int $dbIndex): self {}

    /**
     * Sets one option of phpredis for each connection, such as (Redis::OPT_PREFIX, 'shop:').
     * Does not wait.
     */
    public function withOption(int $option, mixed $value): self {}

    /**
     * Sets all options of phpredis: option => value; default none.
     * Does not wait.
     */
    public function setOptions(array $options): self {}

    /**
     * The options of phpredis.
     * Does not wait.
     * @rust config::get_array
     */
    public function getOptions(): array {}
}

/**
 * A pool of phpredis connections. get() returns a plain Redis. One that was idle is checked by ECHO. put() discards an
 * open MULTI or pipeline, and selects the database that it was made with; WATCH and subscriptions end with their user's
 * own calls.
 * @rust static POOL
 * @rust slots
 */
class RedisPool extends \Apus\ConnectionPool
{
    // @rust typed

    /** Where and as whom it connects; read whenever a connection is made. */
    protected \Apus\Database\RedisConfig $config;

    /**
     * A pool without connections.
     * @param int $size connections of this process at most, 1 to 100000; default 64
     * @throws \Apus\ConnectionPool\Exception OPTION when redis is not loaded
     * @throws \ValueError when $size is out of range
     * Does not wait.
     * @rust construct_pool
     */
    public function __construct(\Apus\Database\RedisConfig $config, int $size = 64) {}
}
