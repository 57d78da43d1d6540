<?php

namespace Swoole;

/**
 * Apus\Coroutine, for code written for Swoole: a call that cannot be made gives false and a warning.
 * @rust second Apus\Coroutine
 * @rust short Co
 * @rust within crate::swoole::answers_false
 */
class Coroutine
{
    public static function create(callable $func, mixed ...$param): int|false {}

    public static function defer(callable $callback): void {}

    /**
     * @rust set_known
     * @rust typed
     */
    public static function set(array $options): void {}

    /**
     * The settings in force, and whatever else was given to set().
     * @rust second::get_options
     * @rust typed
     */
    public static function getOptions(): ?array {}

    public static function exists(int $cid): bool {}

    /**
     * @rust second::yield_now
     * @rust typed
     */
    public static function yield(): bool {}

    /**
     * @rust second::yield_now
     * @rust typed
     */
    public static function suspend(): bool {}

    /**
     * @rust second::cancel
     * @rust typed
     */
    public static function cancel(int $cid, bool $throw_exception = false): bool {}

    /**
     * @rust second::join
     * @rust typed
     */
    public static function join(array $cid_array, float $timeout = -1): bool {}

    public static function isCanceled(): bool {}

    /**
     * From $seconds on whatever the running coroutine waits in throws a TimeoutException; 0 or less: no limit any more.
     * @rust crate::sync::set_time_limit
     * @rust typed
     */
    public static function setTimeLimit(float $seconds): bool {}

    /**
     * @rust second::resume
     * @rust typed
     */
    public static function resume(int $cid): bool {}

    /**
     * The numbers of Apus\Coroutine::stats(), event_num (descriptors of Event) and signal_listener_num.
     * @rust second::stats
     * @rust typed
     */
    public static function stats(): array {}

    public static function getCid(): int {}

    public static function getuid(): int {}

    public static function getPcid(int $cid = 0): false|int {}

    /**
     * @rust second::get_context
     * @rust typed
     */
    public static function getContext(int $cid = 0): \Swoole\Coroutine\Context|null {}

    public static function getBackTrace(int $cid = 0, int $options = 1, int $limit = 0): array|false {}

    /**
     * Prints the stack of a coroutine (0: the running one), as debug_print_backtrace() does.
     * @rust second::print_back_trace
     * @rust typed
     */
    public static function printBackTrace(int $cid = 0, int $options = 0, int $limit = 0): void {}

    public static function getElapsed(int $cid = 0): int {}

    /**
     * @rust second::list
     * @rust typed
     */
    public static function list(): \Swoole\Coroutine\Iterator {}

    /**
     * @rust second::list
     * @rust typed
     */
    public static function listCoroutines(): \Swoole\Coroutine\Iterator {}

    /**
     * Has the running coroutine interrupted again, when enable_preemptive_scheduler is on.
     * @rust second::enable_scheduler
     * @rust typed
     */
    public static function enableScheduler(): bool {}

    /**
     * Has the running coroutine go on until it waits, whatever enable_preemptive_scheduler says.
     * @rust second::disable_scheduler
     * @rust typed
     */
    public static function disableScheduler(): bool {}

    // The operating system: the same as the methods of Swoole\Coroutine\System.

    /**
     * @rust second::sleep
     * @rust typed
     */
    public static function sleep(float $seconds): bool {}

    /**
     * @rust crate::system::lookup::gethostbyname
     * @rust typed
     */
    public static function gethostbyname(string $domain_name, int $type = 2, float $timeout = -1): false|string {}

    /**
     * @rust crate::system::lookup::dns_lookup_there
     * @rust typed
     */
    public static function dnsLookup(string $domain_name, float $timeout = 60, int $type = 2): string|false {}

    /**
     * @rust crate::system::exec_whole
     * @rust typed
     */
    public static function exec(string $command, bool $get_error_stream = false): array|false {}

    /**
     * @rust crate::system::lookup::getaddrinfo_there
     * @rust typed
     */
    public static function getaddrinfo(string $domain, int $family = 2, int $socktype = 1, int $protocol = 6, ?string $service = null, float $timeout = -1): array|bool {}

    /**
     * @rust crate::system::files::statvfs
     * @rust typed
     */
    public static function statvfs(string $path): array|false {}

    /**
     * @rust crate::system::files::read_file
     * @rust typed
     */
    public static function readFile(string $filename, int $flag = 0): false|string {}

    /**
     * @rust crate::system::files::write_file
     * @rust typed
     */
    public static function writeFile(string $filename, string $fileContent, int $flags = 0): false|int {}

    /**
     * @rust crate::system::children::wait
     * @rust typed
     */
    public static function wait(float $timeout = -1): array|false {}

    /**
     * @rust crate::system::children::wait_pid
     * @rust typed
     */
    public static function waitPid(int $pid, float $timeout = -1): array|false {}

    /**
     * @rust crate::system::signals::wait_signal
     * @rust typed
     */
    public static function waitSignal(array|int $signals, float $timeout = -1): int|false {}

    /**
     * @rust crate::system::ready::wait_event
     * @rust typed
     */
    public static function waitEvent(mixed $socket, int $events = 512, float $timeout = -1): int|false {}
}
