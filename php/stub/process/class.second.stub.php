<?php

namespace Swoole;

/**
 * Apus\Process, for code written for Swoole: a call that cannot be made gives false and a warning.
 * @rust second Apus\Process
 * @rust also swoole_process
 * @rust within crate::swoole::answers_false
 * @rust made crate::swoole::throws
 */
class Process
{
    public const IPC_NOWAIT = 256;

    public const PIPE_MASTER = 1;

    public const PIPE_WORKER = 2;

    public const PIPE_READ = 3;

    public const PIPE_WRITE = 4;

    public const PIPE_TYPE_NONE = 0;

    public const PIPE_TYPE_STREAM = 1;

    public const PIPE_TYPE_DGRAM = 2;

    public $pipe = null;

    public $msgQueueId = null;

    public $msgQueueKey = null;

    public $pid = null;

    public $id = null;

    private $callback = null;

    /**
     * @rust construct_there
     * @rust typed
     */
    public function __construct(callable $callback, bool $redirect_stdin_and_stdout = false, int $pipe_type = 2, bool $enable_coroutine = false) {}

    public static function wait(bool $blocking = true): array|false {}

    public static function signal(int $signal_no, ?callable $callback = null): bool {}

    public static function alarm(int $usec, int $type = 0): bool {}

    public static function kill(int $pid, int $signal_no = 15): bool {}

    public static function daemon(bool $nochdir = true, bool $noclose = true, array $pipes = []): bool {}

    public static function setAffinity(array $cpu_settings): bool {}

    public static function getAffinity(): array {}

    public function setPriority(int $which, int $priority, ?int $who = null): bool {}

    public function getPriority(int $which, ?int $who = null): int|false {}

    public function set(array $settings): void {}

    public function setTimeout(float $seconds): bool {}

    public function setBlocking(bool $blocking): bool {}

    public function useQueue(int $key = 0, int $mode = 2, int $capacity = -1): bool {}

    public function statQueue(): array|false {}

    public function freeQueue(): bool {}

    public function start(): bool|int {}

    public function write(string $data): int|false {}

    public function close(int $which = 0): bool {}

    public function read(int $size = 8192): string|false {}

    public function push(string $data): bool {}

    public function pop(int $size = 65536): string|false {}

    public function exit(int $exit_code = 0): void {}

    /**
     * @rust exec_anywhere
     * @rust typed
     */
    public function exec(string $exec_file, array $args): bool {}

    public function exportSocket(): \Swoole\Coroutine\Socket|false {}

    public function name(string $process_name): bool {}
}
