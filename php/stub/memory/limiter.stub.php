<?php

namespace Apus;

/**
 * Limits how often something is done for a key (a client's address, a user), over all processes: create it before the
 * server starts. $rate units in $per seconds on average, $burst at once; there are no windows at whose edges twice as
 * much could get through. It takes eight bytes a key; when there is no room for a new key, the least recently used one
 * is forgotten.
 * @rust static CLASS
 */
class RateLimiter
{
    // @rust typed

    /**
     * @param int $keys that are remembered, 1 to 2^30, rounded up; specify twice as many as are active at a time
     * @param float $rate units, above 0
     * @param float $per seconds, above 0
     * @param ?int $burst units at once, 1 or more; null: $rate, rounded up
     * @throws \ValueError for anything else
     * @throws \Apus\CacheException NO_MEMORY
     */
    public function __construct(int $keys, float $rate, float $per = 1.0, ?int $burst = null) {}

    /**
     * Takes $cost units if they are within the limit.
     * @param int $cost 1 to the burst
     * @return bool false: they are not, and nothing was taken
     * @throws \ValueError for another cost
     * Does not wait.
     */
    public function allow(string $key, int $cost = 1): bool {}

    /**
     * The state of a key. Takes nothing.
     * @param int $cost 1 to the burst
     * @return array{allowed: bool, remaining: int, retry_after: float, reset: float} whether allow() would be true now;
     * units that are left; seconds until it would be true; seconds until the whole burst is available again
     * @throws \ValueError for another cost
     * Does not wait.
     */
    public function check(string $key, int $cost = 1): array {}

    /**
     * Forgets a key, which can then use a whole burst at once.
     * Does not wait.
     */
    public function reset(string $key): void {}
}
