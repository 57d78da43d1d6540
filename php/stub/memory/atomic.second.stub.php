<?php

namespace Swoole;

/**
 * Apus\Atomic, for code written for Swoole.
 * @rust second Apus\Atomic
 * @rust also swoole_atomic
 */
class Atomic
{
    public function __construct(int $value = 0) {}

    public function add(int $add_value = 1): int {}

    public function sub(int $sub_value = 1): int {}

    public function get(): int {}

    public function set(int $value): void {}

    /**
     * @rust wait_there
     * @rust typed
     */
    public function wait(float $timeout = 1.0): bool {}

    /**
     * @rust wakeup_there
     * @rust typed
     */
    public function wakeup(int $count = 1): bool {}

    public function cmpset(int $cmp_value, int $new_value): bool {}
}

namespace Swoole\Atomic;

/**
 * Apus\Atomic\Long, for code written for Swoole.
 * @rust second Apus\Atomic\Long
 * @rust also swoole_atomic_long
 */
class Long
{
    public function __construct(int $value = 0) {}

    public function add(int $add_value = 1): int {}

    public function sub(int $sub_value = 1): int {}

    public function get(): int {}

    public function set(int $value): void {}

    public function cmpset(int $cmp_value, int $new_value): bool {}
}
