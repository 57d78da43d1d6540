<?php

namespace Swoole\Coroutine;

/**
 * Apus\Coroutine\WaitGroup, for code written for Swoole.
 * @rust second Apus\Coroutine\WaitGroup
 * @rust short Co\WaitGroup
 */
class WaitGroup
{
    public function __construct(int $delta = 0) {}

    public function add(int $delta = 1): void {}

    public function done(): void {}

    public function wait(float $timeout = -1): bool {}

    public function count(): int {}
}
