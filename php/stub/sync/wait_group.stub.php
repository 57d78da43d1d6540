<?php

namespace Apus\Coroutine;

/** Waits until a number of things are done: add() before each is started, done() at its end, wait() for all. */
class WaitGroup
{
    // @rust typed

    /**
     * @param int $delta how many things are counted from the start
     * @throws \InvalidArgumentException for a negative number
     */
    public function __construct(int $delta = 0) {}

    /**
     * Counts $delta more things.
     * @throws \InvalidArgumentException when the counter would become negative
     * @throws \BadMethodCallException while a coroutine is in wait()
     * Does not wait.
     */
    public function add(int $delta = 1): void {}

    /**
     * Counts one thing fewer; the last one ends wait().
     * @throws \BadMethodCallException when nothing is left to do
     * Does not wait.
     */
    public function done(): void {}

    /**
     * Waits until everything that was added is done. Several coroutines may wait.
     * @param float $timeout seconds; 0 or negative for no limit
     * @return bool false when the time-out expired first, or the coroutine was cancelled
     * @throws \Apus\Coroutine\Exception NOT_IN_COROUTINE, CANNOT_SWITCH
     * @throws \Apus\Coroutine\CanceledException when cancelled with an exception
     * Waits, unless nothing is counted.
     */
    public function wait(float $timeout = -1): bool {}

    /**
     * How many things are not done.
     * Does not wait.
     */
    public function count(): int {}
}
