<?php

namespace Swoole\Coroutine;

/**
 * Apus\Coroutine\Scheduler, for code written for Swoole.
 * @rust second Apus\Coroutine\Scheduler
 * @rust short Co\Scheduler
 * @rust within crate::swoole::answers_false
 */
final class Scheduler
{
    public function __construct() {}

    public function add(callable $func, mixed ...$param): void {}

    public function parallel(int $n, callable $func, mixed ...$param): void {}

    /**
     * @rust set_known
     * @rust typed
     */
    public function set(array $settings): void {}

    /**
     * The same as Coroutine::getOptions().
     * @rust get_options_there
     * @rust typed
     */
    public function getOptions(): ?array {}

    /**
     * @rust start_some
     * @rust typed
     */
    public function start(): bool {}
}
