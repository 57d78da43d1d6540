<?php

namespace Apus\Coroutine;

/**
 * Waits for coroutines that need not report when they are done: each holds the barrier (use ($barrier)), and wait()
 * ends when the last of these references is gone, however the coroutines end.
 */
class Barrier
{
    // @rust typed

    /** The same as make(). */
    public function __construct() {}

    /**
     * A new barrier.
     * Does not wait.
     */
    public static function make(): \Apus\Coroutine\Barrier {}

    /**
     * Sets $barrier to null, so that the caller no longer refers to it, and waits until no other code does.
     * @param Barrier $barrier a variable that holds one
     * @param float $timeout seconds after which it returns anyway; 0 or negative for no limit
     * @throws \Apus\Coroutine\Exception STATE when another coroutine already waits for it; NOT_IN_COROUTINE,
     * CANNOT_SWITCH
     * @throws \Apus\Coroutine\CanceledException when cancelled with an exception
     * Waits.
     */
    public static function wait(\Apus\Coroutine\Barrier &$barrier, float $timeout = -1): void {}
}
