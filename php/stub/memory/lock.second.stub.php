<?php

namespace Swoole;

/**
 * Apus\Lock, for code written for Swoole: a call that cannot be made gives false and a warning.
 * @rust second Apus\Lock
 * @rust also swoole_lock
 * @rust within crate::swoole::answers_false
 */
class Lock
{
    public const MUTEX = 3;

    public const RWLOCK = 1;

    public const SPINLOCK = 5;

    public const SEM = 4;

    public const FILELOCK = 2;

    public $errCode = 0;

    public function __construct(int $type = 3, string $filename = '') {}

    public function lock(int $operation = 2, float $timeout = -1): bool {}

    public function unlock(): bool {}

    public function trylock(): bool {}

    public function lockwait(float $timeout = 1): bool {}

    public function lock_read(): bool {}

    public function trylock_read(): bool {}

    public function destroy(): void {}
}
