<?php

namespace Apus\Coroutine;

/**
 * A queue between the coroutines of one process that holds a bounded number of values, first in, first out. A push to a
 * full one or a pop from an empty one waits; waiters are served in the order of their arrival. A value is never lost: a
 * push() that returns false has not pushed, and what was handed to a waiting pop() is returned by it even if its
 * coroutine is cancelled at that moment. Both may be called outside coroutines as long as they need not wait.
 * @rust slots
 */
class Channel
{
    // @rust typed

    /** How many values it holds at most. */
    public $capacity = 0;

    /** How the last push() or pop() ended: Apus\CHANNEL_OK, CHANNEL_TIMEOUT, CHANNEL_CLOSED or CHANNEL_CANCELED. */
    public $errCode = 0;

    /** @param int $size how many values it holds; less than 1 means 1 */
    public function __construct(int $size = 1) {}

    /**
     * Puts a value at the end. A coroutine that waits for it runs at once, until it waits again.
     * @param float $timeout seconds to wait while the channel is full; 0 or negative for no limit
     * @return bool false when the channel is or gets closed, the time-out expired, or the coroutine was cancelled: see
     * $errCode
     * @throws \Apus\Coroutine\Exception NOT_IN_COROUTINE, CANNOT_SWITCH when it would wait
     * @throws \Apus\Coroutine\CanceledException when cancelled with an exception
     * Waits while the channel is full.
     * @rust raw
     */
    public function push(mixed $data, float $timeout = -1): bool {}

    /**
     * Takes the value at the front. A coroutine that waits to push runs at once, until it waits again.
     * @param float $timeout seconds to wait while the channel is empty; 0 or negative for no limit
     * @return mixed false when the channel is closed and empty, the time-out expired, or the coroutine was cancelled:
     * see $errCode
     * @throws \Apus\Coroutine\Exception NOT_IN_COROUTINE, CANNOT_SWITCH when it would wait
     * @throws \Apus\Coroutine\CanceledException when cancelled with an exception
     * Waits while the channel is empty.
     * @rust raw
     */
    public function pop(float $timeout = -1): mixed {}

    /**
     * Whether it holds no value.
     * Does not wait.
     */
    public function isEmpty(): bool {}

    /**
     * Whether it holds as many values as it can.
     * Does not wait.
     */
    public function isFull(): bool {}

    /**
     * Closes it: coroutines that wait in push() or pop() get false and CHANNEL_CLOSED; nothing can be pushed any more;
     * what it holds can still be popped.
     * @return bool false when it was already closed
     * Does not wait.
     */
    public function close(): bool {}

    /**
     * consumer_num (coroutines that wait in pop()), producer_num (in push()), queue_num (values held).
     * Does not wait.
     */
    public function stats(): array {}

    /**
     * How many values it holds.
     * Does not wait.
     */
    public function length(): int {}
}
