<?php

namespace Swoole\Coroutine;

/**
 * Apus\Coroutine\Lock, for code written for Swoole: a call that cannot be made gives false.
 * @rust second Apus\Coroutine\Lock
 * @rust within crate::swoole::answers_false_quietly
 */
class Lock
{
    public $errCode = 0;

    /**
     * @rust construct_leaving
     * @rust typed
     */
    public function __construct(bool $shared = false) {}

    public function lock(int $operation = 2): bool {}

    /**
     * @rust unlock_of_any
     * @rust typed
     */
    public function unlock(): bool {}
}
