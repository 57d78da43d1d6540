<?php

namespace Apus\Server;

/**
 * A task, as the callback of the event task gets it with task_enable_coroutine or task_use_object.
 * @rust slots
 */
final class Task
{
    // @rust typed

    /** The data that was submitted. */
    public mixed $data = null;

    /** When it was submitted, in seconds since 1970. */
    public ?float $dispatch_time = null;

    /** Its number, as task() returned it. */
    public int $id = -1;

    /** The id of the process that submitted it. */
    public int $worker_id = -1;

    /**
     * Bits: 2 the data was packed (not a string), 4 its sender blocks until it has ended, 8 it has a callback of its
     * own, 32 a coroutine waits for it.
     */
    public int $flags = 0;

    /**
     * Gives the sender a result: each call is one finish event, or one call of the task's own callback; a caller of
     * taskwait() gets the first. Returning a value other than null from the callback does the same.
     * @return bool false when the sender has neither, or there is no room for the result: see getLastError()
     * @throws \Apus\Server\TaskException TOO_LARGE
     * @throws \Exception what packing the value throws
     * Does not wait.
     */
    public function finish(mixed $data): bool {}

    /**
     * Whether the task was cancelled meanwhile by taskCancel(): its result is not wanted any more.
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
