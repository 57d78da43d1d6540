<?php

namespace Apus;

/**
 * A System V message queue: messages of bytes between processes that know its key, PHP or not. The system keeps queues
 * with a key, and their contents, until destroy() is called or the machine restarts; ipcs(1) lists them. One without a
 * key is removed with its object in the process that created it. A message is at most kernel.msgmax bytes long (usually
 * 8,192), a queue holds kernel.msgmnb bytes (usually 16,384): Apus\Queue has no such limits. Processes are not notified
 * of messages, so a waiting call polls the queue every 0.2 to 5 milliseconds.
 * @rust slots
 */
class MessageQueue
{
    // @rust typed

    /** The key; 0 for none. */
    public readonly int $key;

    /** The number that the system gave it. */
    public readonly int $id;

    /** Why the last method failed: an errno; 0 after a success. */
    public int $errCode = 0;

    /**
     * Opens the queue of a key, and creates it if there is none.
     * @param int $key the key that all its users share, for example from ftok(); 0 for a new queue that only this
     * process and its children know
     * @param int $permissions who may use it if it is created: as for a file
     * @param int $limit bytes that it holds at most; 0 for the system's default, more than that only as root
     * @throws \Apus\Process\Exception SYSTEM when the system refuses
     * @throws \ValueError for other values
     * Does not wait.
     */
    public function __construct(int $key = 0, int $permissions = 0600, int $limit = 0) {}

    /**
     * Adds a message.
     * @param int $type 1 or more: pop() may ask for it
     * @param float $timeout seconds to wait for room; negative for no limit, 0 for no waiting
     * @return bool false when the time-out expired (ETIMEDOUT), the coroutine was cancelled, the message is too long or
     * the queue was removed, the latter two with a warning; see errCode
     * @throws \ValueError for another type
     * Waits while the queue is full: in a coroutine others run; outside, the process blocks.
     */
    public function push(string $data, int $type = 1, float $timeout = -1): bool {}

    /**
     * Takes the oldest message.
     * @param float $timeout seconds; negative for no limit, 0 for no waiting
     * @param int $type 0 for any message, a number for those of that type, a negative one for those of the lowest type
     * up to its absolute value
     * @param int $size bytes: a longer message stays in the queue (E2BIG)
     * @return string|false false when the time-out expired (ETIMEDOUT), the coroutine was cancelled, or, with a
     * warning, otherwise; see errCode
     * @throws \ValueError for other sizes
     * Waits: in a coroutine others run; outside, the process blocks.
     */
    public function pop(float $timeout = -1, int $type = 0, int $size = 65536): string|false {}

    /**
     * queue_num (messages), queue_bytes (their bytes), queue_limit (bytes that it holds at most).
     * @return array|false false, with a warning, when the queue was removed
     * Does not wait.
     */
    public function stats(): array|false {}

    /**
     * Removes the queue and its contents from the system; waiting calls end with an error.
     * @return bool false, with a warning, when it was already removed or belongs to another user
     * Does not wait.
     */
    public function destroy(): bool {}
}
