<?php

namespace Apus\Coroutine;

/**
 * A lock between coroutines: one holds it (LOCK_EX), or several share it (LOCK_SH). It is granted in the order of
 * requests, so neither readers nor writers starve. The coroutine that holds it may lock it again, and must unlock it as
 * often. If a coroutine ends without unlocking, its lock is released, with a warning in the log.
 * @rust static CLASS
 * @rust slots
 */
class Lock
{
    // @rust typed

    /**
     * How the last lock() ended: 0, or an errno: EBUSY (16), ETIMEDOUT (110), ECANCELED (125); EOWNERDEAD (130) when it
     * was acquired, and the process that held it exclusively before ended with it: what it guards may be half-changed.
     */
    public $errCode = 0;

    /**
     * @param bool $shared true: also between the processes that are forked while it exists (workers of a server). What
     * a dead process held is free, and the next one to lock it is told by $errCode 130
     * @throws \Error when the system provides no shared memory
     */
    public function __construct(bool $shared = false) {}

    /**
     * Locks.
     * @param int $operation LOCK_EX, or LOCK_SH to share it with other sharers; | LOCK_NB for no waiting
     * @param float $timeout seconds; negative for no limit, 0 for no waiting
     * @return bool false when it is not free in time, or the coroutine was cancelled: see $errCode
     * @throws \ValueError for another operation
     * @throws \Apus\Coroutine\Exception STATE for LOCK_EX in a coroutine that holds it shared; NOT_IN_COROUTINE,
     * CANNOT_SWITCH
     * @throws \Apus\Coroutine\CanceledException when cancelled with an exception
     * Waits while it is not free.
     */
    public function lock(int $operation = 2, float $timeout = -1): bool {}

    /**
     * The same as lock($operation | LOCK_NB).
     * Does not wait.
     * @rust try_lock
     */
    public function trylock(int $operation = 2): bool {}

    /**
     * Unlocks once; the first waiter then has the lock.
     * @return bool true
     * @throws \Apus\Coroutine\Exception NOT_HELD when the running coroutine does not hold it
     * Does not wait.
     */
    public function unlock(): bool {}
}
