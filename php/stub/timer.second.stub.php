<?php

namespace Swoole;

/**
 * Apus\Timer, for code written for Swoole: a call that cannot be made gives false and a warning.
 * @rust second Apus\Timer
 * @rust also swoole_timer
 * @rust within crate::swoole::answers_false
 */
class Timer
{
    public static function tick(int $ms, callable $callback, mixed ...$params): int|false {}

    public static function after(int $ms, callable $callback, mixed ...$params): int|false {}

    public static function exists(int $timer_id): bool {}

    /**
     * @rust info_there
     * @rust typed
     */
    public static function info(int $timer_id): ?array {}

    public static function stats(): array {}

    /**
     * @rust list_there
     * @rust typed
     */
    public static function list(): \Swoole\Timer\Iterator {}

    public static function clear(int $timer_id): bool {}

    public static function clearAll(): bool {}
}
