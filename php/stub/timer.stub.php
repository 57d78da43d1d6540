<?php

namespace Apus;

/**
 * Timers of millisecond resolution. A timer costs nothing until it is due; each callback runs in a coroutine. A script
 * that has timers keeps running at its end until they are cleared.
 * @rust plain
 */
final class Timer
{
    // @rust typed

    /**
     * Calls $callback(int $timerId, ...$args) every $ms milliseconds.
     * Ticks that a busy process missed are skipped, not made up for.
     * @param int $ms 1 to 2147483647 milliseconds
     * @return int the timer's id
     * @throws \ValueError when $ms is out of range
     * Does not wait.
     */
    public static function tick(int $ms, callable $callback, mixed ...$args): int {}

    /**
     * Calls $callback(...$args) once, in $ms milliseconds.
     * @param int $ms 1 to 2147483647 milliseconds
     * @return int the timer's id
     * @throws \ValueError when $ms is out of range
     * Does not wait.
     */
    public static function after(int $ms, callable $callback, mixed ...$args): int {}

    /**
     * Removes a timer; its callback is not called again.
     * @return bool false when there is no such timer
     * Does not wait.
     */
    public static function clear(int $timerId): bool {}

    /**
     * Removes all timers of this process.
     * @return bool true
     * Does not wait.
     */
    public static function clearAll(): bool {}

    /**
     * Whether a timer exists.
     * Does not wait.
     */
    public static function exists(int $timerId): bool {}

    /**
     * Information about a timer: exec_msec (milliseconds until it fires), exec_count, interval (ms; 0 when it fires
     * once), round, removed.
     * @return array|null null when there is no such timer
     * Does not wait.
     */
    public static function info(int $timerId): ?array {}

    /**
     * The ids of all timers of this process.
     * Does not wait.
     */
    public static function list(): \ArrayIterator {}

    /**
     * initialized (bool), num (timers now), round (callbacks so far).
     * Does not wait.
     */
    public static function stats(): array {}
}
