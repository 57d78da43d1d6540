<?php

namespace Swoole\Coroutine\Server;

/**
 * Apus\Coroutine\Server\Connection, for code written for Swoole.
 * @rust second Apus\Coroutine\Server\Connection
 * @rust short Co\Server\Connection
 */
class Connection
{
    protected $socket = null;

    public function __construct(\Swoole\Coroutine\Socket $conn) {}

    public function recv(float $timeout = 0): string|false {}

    public function send(string $data): int|false {}

    public function close(): bool {}

    public function exportSocket(): \Swoole\Coroutine\Socket {}
}
