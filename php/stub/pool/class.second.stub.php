<?php

namespace Swoole;

/**
 * Apus\ConnectionPool, for code written for Swoole: get() gives false when no connection became free in time, and throws
 * what the constructor of connections threw.
 * @rust second Apus\ConnectionPool
 * @rust within super::swoole::as_there
 */
class ConnectionPool
{
    public const DEFAULT_SIZE = 64;

    protected $constructor = null;

    protected int $size = 64;

    protected ?string $proxy = null;

    public function __construct(callable $constructor, int $size = 64, ?string $proxy = null) {}

    public function fill(): void {}

    public function get(float $timeout = -1) {}

    public function put(mixed $connection): void {}

    public function close(): void {}

    public function stats(): array {}

    /** Is called by the pool itself. */
    public function maintain(): void {}
}
