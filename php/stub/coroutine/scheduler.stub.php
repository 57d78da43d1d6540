<?php

namespace Apus\Coroutine;

/** Collects coroutines and runs them until the last one has ended. */
class Scheduler
{
    // @rust typed

    /** An empty scheduler. */
    public function __construct() {}

    /**
     * Adds a coroutine that start() will run as $callback(...$args).
     * Does not wait.
     */
    public function add(callable $callback, mixed ...$args): void {}

    /**
     * Adds $n coroutines that all run $callback(...$args).
     * @throws \ValueError when $n is below 1
     * Does not wait.
     */
    public function parallel(int $n, callable $callback, mixed ...$args): void {}

    /** The same as Apus\Coroutine::set(). */
    public function set(array $options): void {}

    /** The same as Apus\Coroutine::getOptions(). */
    public function getOptions(): ?array {}

    /**
     * Runs what was added, and everything that these coroutines start, until the last coroutine and timer has ended.
     * An exception that a coroutine does not catch ends the others (they see a CanceledException) and is thrown here;
     * exit() in a coroutine ends the script.
     * @return bool true
     * @throws \Apus\Coroutine\Exception NESTED_RUN inside a coroutine
     * @throws \Apus\Coroutine\DeadlockException when all coroutines wait for each other
     */
    public function start(): bool {}
}
