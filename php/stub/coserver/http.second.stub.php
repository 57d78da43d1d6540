<?php

namespace Swoole\Coroutine\Http;

/**
 * Apus\Coroutine\Http\Server, for code written for Swoole: a call that cannot be made gives false and a warning.
 * @rust second Apus\Coroutine\Http\Server
 * @rust short Co\Http\Server
 * @rust within crate::swoole::answers_false
 */
class Server
{
    public $fd = -1;

    public $host = null;

    public $port = -1;

    public $ssl = false;

    public $settings = null;

    public $errCode = 0;

    public $errMsg = '';

    /** @rust within crate::swoole::throws */
    public function __construct(string $host, int $port = 0, bool $ssl = false, bool $reuse_port = false) {}

    public function set(array $settings): bool {}

    public function handle(string $pattern, callable $callback): bool {}

    public function start(): bool {}

    public function shutdown(): void {}
}
