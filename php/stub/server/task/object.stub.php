<?php

namespace Apus\Server;

/** A task, as the callback of the event task gets it with task_enable_coroutine or task_use_object. */
final class Task
{
    /** What was handed over. */
    public mixed $data = null;

    /** When, in seconds since 1970. */
    public ?float $dispatch_time = null;

    /** Its number, as task() returned it. */
    public int $id = -1;

    /** The id of the process that handed it over. */
    public int $worker_id = -1;

    /**
     * Bits: 2 the data was packed (no string), 4 its sender blocks until it is over, 8 it has a callback of its own, 32
     * a coroutine waits for it.
     */
    public int $flags = 0;

    /**
     * Gives the sender a result: each call one finish event, or call of the task's own callback; who waits with
     * taskwait() gets the first. What the callback returns, unless null, does the same.
     * @return bool false when the sender has neither, or there is no room for the result: see getLastError()
     * @throws \Apus\Server\TaskException TOO_LARGE
     * @throws \Exception what packing the value throws
     * Does not wait.
     */
    public function finish(mixed $data): bool {}

    /**
     * Whether the task was called off meanwhile, by taskCancel(): nobody wants its result.
     * Does not wait.
     */
    public function isCancelled(): bool {}

    /**
     * The same as Apus\pack().
     * @throws \Apus\PackException
     * @rust pack_value
     */
    public static function pack(mixed $data): string {}

    /**
     * The same as Apus\unpack().
     * @throws \Apus\PackException
     * @rust unpack_value
     */
    public static function unpack(string $data): mixed {}
}
