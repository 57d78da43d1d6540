<?php

namespace Swoole;

/**
 * Apus\Event, for code written for Swoole: a call that cannot be made gives false and a warning.
 * @rust second Apus\Event
 * @rust also swoole_event
 * @rust within crate::swoole::answers_false
 */
class Event
{
    public static function add(mixed $fd, ?callable $read_callback = null, ?callable $write_callback = null, int $events = 512): false|int {}

    public static function del(mixed $fd): bool {}

    public static function set(mixed $fd, ?callable $read_callback = null, ?callable $write_callback = null, int $events = 0): bool {}

    public static function wait(): void {}

    public static function isset(mixed $fd, int $events = 1536): bool {}

    public static function dispatch(): bool {}

    public static function defer(callable $callback): bool {}

    public static function cycle(?callable $callback, bool $before = false): bool {}

    public static function write(mixed $fd, string $data): bool {}

    public static function exit(): void {}

    public static function rshutdown(): void {}
}
