<?php

namespace Swoole\Process;

/**
 * Apus\Process\Pool, for code written for Swoole: a call that cannot be made gives false and a warning.
 * @rust second Apus\Process\Pool
 * @rust within crate::swoole::answers_false
 * @rust made crate::swoole::throws
 */
class Pool
{
    public $master_pid = -1;

    public $workerPid = -1;

    public $workerId = -1;

    public $workers = null;

    public $workerRunning = true;

    public $running = true;

    public $port = 0;

    public function __construct(int $worker_num, int $ipc_type = 0, int $msgqueue_key = 0, bool $enable_coroutine = false) {}

    public function set(array $settings): void {}

    public function on(string $name, callable $callback): bool {}

    public function getProcess(int $work_id = -1): \Swoole\Process|false {}

    public function listen(string $host, int $port = 0, int $backlog = 2048): bool {}

    public function write(string $data): bool {}

    public function sendMessage(string $data, int $dst_worker_id): bool {}

    public function detach(): bool {}

    public function start(): null|false {}

    public function stop(): void {}

    public function shutdown(): bool {}
}
