<?php

namespace Apus;

/**
 * A queue between processes: any that was forked while it exists may push and pop. Values arrive whole, once, and in
 * the order of each pusher; what push() has accepted is lost only if a process that has popped it is killed. Its size
 * is in bytes: a value takes what Apus\pack() makes of it and about 12 bytes more.
 * @rust slots
 */
class Queue implements \Countable
{
    // @rust typed

    /**
     * How the last operation of this process ended: Apus\CHANNEL_OK, CHANNEL_TIMEOUT (full, or empty), CHANNEL_CLOSED,
     * CHANNEL_CANCELED.
     */
    public $errCode = 0;

    /**
     * Memory is taken when it is first used.
     * @param int $bytes total room for packed values: 64 to 2^40
     * @param int $longest of one packed value: 1 to $bytes, and at most 1 GiB; 0 for a quarter of $bytes
     * @throws \ValueError for other numbers
     * @throws \Error when the system provides no shared memory
     */
    public function __construct(int $bytes, int $longest = 0) {}

    /**
     * Adds a value at the end. In a coroutine only that coroutine waits for room; outside, the process does, and signal
     * handlers run meanwhile. A long value waits until there is room for all of it, and shorter ones may overtake it.
     * @param mixed $value anything that Apus\pack() takes
     * @param float $timeout seconds; negative for no limit, 0 for no waiting
     * @return bool true: it is in the queue, whatever happens to this process; false: see $errCode
     * @throws \Apus\QueueException TOO_LONG when it is longer than the longest
     * @throws \Apus\PackException and what else Apus\pack() throws
     * @throws \Apus\Coroutine\Exception CANNOT_SWITCH when it would wait
     * @throws \Apus\Coroutine\CanceledException when cancelled with an exception
     * Waits while there is no room.
     */
    public function push(mixed $value, float $timeout = -1): bool {}

    /**
     * The same as push($value, 0).
     * Does not wait.
     */
    public function tryPush(mixed $value): bool {}

    /**
     * Takes the first value. In a coroutine only that coroutine waits for one; outside, the process does, and signal
     * handlers run meanwhile. Of several waiters, any may get it.
     * @param float $timeout seconds; negative for no limit, 0 for no waiting
     * @return mixed false when there was none: then $errCode is not CHANNEL_OK
     * @throws \Apus\PackException and what else Apus\unpack() throws, for example for a class that does not exist in
     * the same form. The value is then lost
     * @throws \Apus\Coroutine\Exception CANNOT_SWITCH when it would wait
     * @throws \Apus\Coroutine\CanceledException when cancelled with an exception
     * Waits while it is empty.
     */
    public function pop(float $timeout = -1): mixed {}

    /**
     * The same as pop(0).
     * Does not wait.
     */
    public function tryPop(): mixed {}

    /**
     * How many values are in it now.
     * Does not wait.
     */
    public function count(): int {}

    /**
     * Whether none is in it now.
     * Does not wait.
     */
    public function isEmpty(): bool {}

    /**
     * Closes it for all processes: push() fails from now on; pop() returns what is left and then fails; waiters are
     * woken.
     * Does not wait.
     */
    public function close(): void {}

    /**
     * Whether any process has closed it.
     * Does not wait.
     */
    public function isClosed(): bool {}

    /**
     * @return array{count: int, bytes: int, capacity: int, longest: int, pushed: int, popped: int} values in it; the
     * bytes that they take, eight more for each and rounded up to eight, and the most that they may take; the greatest
     * length of one; values accepted and taken since it was created, in all processes
     * Does not wait.
     */
    public function stats(): array {}
}
