<?php

namespace Apus;

/**
 * An integer from 0 to 4,294,967,295, shared by all processes that are forked while it exists: created before the
 * server starts, it is the same in every worker. Each operation is one step for all of them. Arithmetic wraps modulo
 * 2^32, negative numbers included. An object created in a worker belongs to that worker only.
 */
class Atomic
{
    // @rust typed

    /**
     * @param int $value the initial value; of an integer that does not fit, the lowest 32 bits
     * @throws \Error when the system provides no shared memory
     */
    public function __construct(int $value = 0) {}

    /**
     * Adds.
     * @return int the sum
     * Does not wait.
     */
    public function add(int $add_value = 1): int {}

    /**
     * Subtracts.
     * @return int the difference; 4,294,967,295 follows 0
     * Does not wait.
     */
    public function sub(int $sub_value = 1): int {}

    /**
     * The current value.
     * Does not wait.
     */
    public function get(): int {}

    /**
     * Sets it.
     * @param int $value of an integer that does not fit, the lowest 32 bits
     * Does not wait.
     */
    public function set(int $value): void {}

    /**
     * Waits until it is 1, and sets it to 0: so one wakeup() lets one wait() through, whichever is called first. In a
     * coroutine only that coroutine waits; outside, the process does, and signal handlers run meanwhile.
     * @param float $timeout seconds; 0 or less for no limit
     * @return bool false when the time-out expired first, the coroutine was cancelled, or, at once, if it is neither 0
     * nor 1
     * @throws \Apus\Coroutine\Exception CANNOT_SWITCH
     * @throws \Apus\Coroutine\CanceledException when cancelled with an exception
     * Waits while it is 0.
     */
    public function wait(float $timeout = 1): bool {}

    /**
     * Changes 0 to 1, and wakes those in wait(): the first of them continues, the others find it 0 and go on waiting.
     * @param int $count 1 or more; as in Swoole, one continues whatever it is
     * @return bool true
     * @throws \ValueError for a count below 1
     * Does not wait.
     */
    public function wakeup(int $count = 1): bool {}

    /**
     * Sets it to $new_value if it is $cmp_value, in one step.
     * @return bool whether it was
     * Does not wait.
     */
    public function cmpset(int $cmp_value, int $new_value): bool {}
}

namespace Apus\Atomic;

/**
 * As Apus\Atomic, but signed and with 64 bits: any integer of PHP. Arithmetic wraps: the least follows the greatest.
 */
class Long
{
    // @rust typed

    /**
     * @param int $value the initial value
     * @throws \Error when the system provides no shared memory
     * @rust long_construct
     */
    public function __construct(int $value = 0) {}

    /**
     * Adds.
     * @return int the sum
     * Does not wait.
     * @rust long_add
     */
    public function add(int $add_value = 1): int {}

    /**
     * Subtracts.
     * @return int the difference
     * Does not wait.
     * @rust long_sub
     */
    public function sub(int $sub_value = 1): int {}

    /**
     * The current value.
     * Does not wait.
     * @rust long_get
     */
    public function get(): int {}

    /**
     * Sets it.
     * Does not wait.
     * @rust long_set
     */
    public function set(int $value): void {}

    /**
     * Sets it to $new_value if it is $cmp_value, in one step.
     * @return bool whether it was
     * Does not wait.
     * @rust long_cmpset
     */
    public function cmpset(int $cmp_value, int $new_value): bool {}
}
