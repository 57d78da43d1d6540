<?php

namespace Apus\Coroutine;

/**
 * A number of permits that coroutines take and give back; if none is free, the caller waits, first come, first served.
 * A permit has no owner: one coroutine may release() what another acquired, and none is given back automatically.
 */
class Semaphore
{
    // @rust typed

    /**
     * @param int $permits how many there are, 1 or more
     * @throws \ValueError for less
     */
    public function __construct(int $permits) {}

    /**
     * Takes a permit.
     * @param float $timeout seconds; negative for no limit, 0 for no waiting
     * @return bool false when the time-out expired first, or the coroutine was cancelled
     * @throws \Apus\Coroutine\Exception NOT_IN_COROUTINE, CANNOT_SWITCH when it would wait
     * @throws \Apus\Coroutine\CanceledException when cancelled with an exception
     * Waits while none is free.
     */
    public function acquire(float $timeout = -1): bool {}

    /**
     * Takes a permit if one is free and no coroutine waits for it.
     * Does not wait.
     */
    public function tryAcquire(): bool {}

    /**
     * Gives a permit back: to the first waiter, or to the next caller.
     * @throws \Apus\Coroutine\Exception NOT_HELD when all permits are free
     * Does not wait.
     */
    public function release(): void {}

    /**
     * How many permits are free.
     * Does not wait.
     */
    public function available(): int {}
}
