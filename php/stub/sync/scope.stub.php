<?php

namespace Apus\Coroutine;

/**
 * Coroutines that end where they were started: run() returns when all that were spawned in the scope have ended. When
 * one throws, the others are cancelled, and run() throws the exception; when the owner is cancelled or throws, or the
 * time-out has expired, all are cancelled. Cancelled means that the function they wait in throws a CanceledException;
 * if a coroutine catches it and goes on, the scope waits for it.
 * @rust slots
 */
final class Scope
{
    // @rust typed

    /** See failures(). */
    private $failures = null;

    /**
     * Calls $body(Scope $scope) in the running coroutine, and waits for everything spawned in the scope. A child that
     * throws also ends the wait of $body, with a CanceledException.
     * @param float $timeout seconds for all of it; negative for no limit
     * @return mixed what $body returned; null when waiting for the children was cancelled without an exception
     * @throws \Throwable the first exception of a child or of $body
     * @throws \Apus\Coroutine\TimeoutException when the time-out expired
     * @throws \Apus\Coroutine\Exception NOT_IN_COROUTINE, CANNOT_SWITCH
     * Waits.
     */
    public static function run(callable $body, float $timeout = -1): mixed {}

    /**
     * A scope of the running coroutine, which has to join() it. Otherwise its coroutines are cancelled when the object
     * is freed. join() throws what a child threw, and an expired time-out.
     * @param float $timeout seconds until everything in it, and the owner's wait, is cancelled; negative for no limit
     * @throws \Apus\Coroutine\Exception NOT_IN_COROUTINE, CANNOT_SWITCH
     */
    public function __construct(float $timeout = -1) {}

    /**
     * Starts a coroutine that runs $callback(...$args) at once, until it waits.
     * @return int its id
     * @throws \Apus\Coroutine\Exception STATE when the scope has ended or was cancelled; TOO_MANY, NO_MEMORY as
     * create()
     * Does not wait.
     */
    public function spawn(callable $callback, mixed ...$args): int {}

    /**
     * Cancels every coroutine spawned in the scope, which accepts no more.
     * Does not wait.
     */
    public function cancel(): void {}

    /**
     * Waits until all coroutines of the scope have ended. Cancelled, it cancels them and waits for their end.
     * @return bool false when it was cancelled without an exception
     * @throws \Throwable the first exception of a child
     * @throws \Apus\Coroutine\TimeoutException when the scope's time was over
     * @throws \Apus\Coroutine\Exception STATE in a coroutine other than the scope's owner
     * Waits.
     */
    public function join(): bool {}

    /**
     * How many of its coroutines have not ended.
     * Does not wait.
     */
    public function count(): int {}

    /**
     * Whether its coroutines were cancelled, for whatever reason.
     * Does not wait.
     */
    public function isCancelled(): bool {}

    /**
     * Exceptions of its coroutines that were not reported: after run() or join(), those that came after the first.
     * @return \Throwable[]
     * Does not wait.
     */
    public function failures(): array {}
}
