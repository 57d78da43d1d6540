<?php

namespace Apus\Coroutine;

/**
 * Coroutines that end where they were begun: run() returns when all that were spawned in the scope have ended. When one
 * throws, the others are cancelled, and the exception comes out of run(); when the owner is cancelled or throws, or the
 * time is over, all are cancelled. Cancelled means that the function they wait in throws a CanceledException; a
 * coroutine that catches it and goes on is waited for.
 */
final class Scope
{
    /** See failures(). */
    private $failures = null;

    /**
     * Calls $body(Scope $scope) in the running coroutine, and waits for everything spawned in the scope.
     * A child that throws also ends what $body waits in, with a CanceledException.
     * @param float $timeout seconds for all of it; negative for no limit
     * @return mixed what $body returned; null when waiting for the children was cancelled without an exception
     * @throws \Throwable what came first: what a child threw, or what $body threw
     * @throws \Apus\Coroutine\TimeoutException when the time was over
     * @throws \Apus\Coroutine\Exception NOT_IN_COROUTINE, CANNOT_SWITCH
     * Waits.
     */
    public static function run(callable $body, float $timeout = -1): mixed {}

    /**
     * A scope of the running coroutine, which has to join() it. Without, its coroutines are cancelled when the object
     * goes. What a child throws, and a time that is over, come out of join().
     * @param float $timeout seconds until everything in it is cancelled, and what the owner waits in; negative for no
     * limit
     * @throws \Apus\Coroutine\Exception NOT_IN_COROUTINE, CANNOT_SWITCH
     */
    public function __construct(float $timeout = -1) {}

    /**
     * Begins a coroutine that runs $callback(...$args), at once until it waits.
     * @return int its id
     * @throws \Apus\Coroutine\Exception STATE when the scope is over or cancelled; TOO_MANY, NO_MEMORY as create()
     * Does not wait.
     */
    public function spawn(callable $callback, mixed ...$args): int {}

    /**
     * Cancels every coroutine spawned in the scope, which takes no more.
     * Does not wait.
     */
    public function cancel(): void {}

    /**
     * Waits until all coroutines of the scope have ended. Cancelled, it cancels them and waits for their end.
     * @return bool false when it was cancelled without an exception
     * @throws \Throwable the first exception of a child
     * @throws \Apus\Coroutine\TimeoutException when the scope's time was over
     * @throws \Apus\Coroutine\Exception STATE in another coroutine than the scope's owner
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
     * What its coroutines threw and nobody was told: after run() or join(), the exceptions that came after the first.
     * @return \Throwable[]
     * Does not wait.
     */
    public function failures(): array {}
}
