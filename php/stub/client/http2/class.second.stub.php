<?php

namespace Swoole\Coroutine\Http2;

/**
 * Apus\Coroutine\Http2\Client, for code written for Swoole: a call that cannot be made gives false and a warning.
 * @rust second Apus\Coroutine\Http2\Client
 * @rust short Co\Http2\Client
 * @rust within crate::swoole::answers_false
 * @rust made crate::swoole::throws
 */
class Client
{
    public $errCode = 0;

    public $errMsg = '';

    public $sock = -1;

    public $type = 0;

    public $setting = null;

    public $socket = null;

    public $connected = false;

    public $host = null;

    public $port = 0;

    public $ssl = false;

    public $serverLastStreamId = 0;

    /**
     * @rust super::construct_trusting
     * @rust typed
     */
    public function __construct(string $host, int $port = 80, bool $open_ssl = false) {}

    /** @rust within nothing */
    public function __destruct() {}

    public function set(array $settings): bool {}

    public function connect(): bool {}

    public function stats(string $key = ''): array|int {}

    public function isStreamExist(int $stream_id): bool {}

    public function send(\Swoole\Http2\Request $request): int|false {}

    public function write(int $stream_id, mixed $data, bool $end_stream = false): bool {}

    public function recv(float $timeout = 0): \Swoole\Http2\Response|false {}

    public function read(float $timeout = 0): \Swoole\Http2\Response|false {}

    public function goaway(int $error_code = 0, string $debug_data = ''): bool {}

    public function ping(): bool {}

    public function close(): bool {}
}
