<?php

namespace Swoole\Coroutine;

/**
 * Apus\Coroutine\Server, for code written for Swoole.
 * @rust second Apus\Coroutine\Server
 * @rust short Co\Server
 */
class Server
{
    public string $host = '';

    public int $port = 0;

    public int $type = 2;

    public int $fd = -1;

    public int $errCode = 0;

    public $setting = null;

    /** @rust within crate::swoole::throws */
    public function __construct(string $host, int $port = 0, bool $ssl = false, bool $reuse_port = false) {}

    public function set(array $setting): void {}

    public function handle(callable $fn): void {}

    public function shutdown(): bool {}

    public function start(): bool {}
}
