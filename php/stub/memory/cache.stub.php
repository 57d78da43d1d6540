<?php

namespace Apus;

/**
 * A cache that processes share: create it before the server starts, and every worker reads and writes the same one. It
 * takes a bounded number of bytes; entries that were not read for long make room for new ones, and any entry may be
 * gone at any time. Keys have 1 to 1,024 bytes. Values are copied in and out (Apus\pack()); integers can be
 * incremented. A process that is killed while it writes causes the entries of one partition to be lost, never a wrong
 * value.
 * @rust static CLASS
 */
class Cache
{
    // @rust typed

    /**
     * @param int $bytes that all entries may take, 64 KiB to 1 TiB; an entry takes its key and packed value, each
     * rounded up to a multiple of eight, and 40. Memory is taken as it fills. One entry may take half of a partition:
     * of the whole below 8 MiB, of 4 to 8 MiB above, of a 64th from 256 MiB on
     * @throws \ValueError for another size
     * @throws \Apus\CacheException NO_MEMORY
     */
    public function __construct(int $bytes) {}

    /**
     * @return mixed the value, or $default if there is none
     * Does not wait.
     */
    public function get(string $key, mixed $default = null): mixed {}

    /**
     * Stores a value, replacing an earlier one.
     * @param float $ttl seconds until it expires; 0 for never
     * @return bool true
     * @throws \ValueError for a key of another length, or a negative time
     * @throws \Apus\CacheException TOO_LARGE, and the earlier value stays
     * @throws \Apus\PackException for what cannot be packed
     * Does not wait.
     */
    public function set(string $key, mixed $value, float $ttl = 0): bool {}

    /**
     * Stores a value unless there is one.
     * @param float $ttl as for set()
     * @return bool false: there is one, and it stays
     * @throws \ValueError and exceptions as set()
     * Does not wait.
     */
    public function add(string $key, mixed $value, float $ttl = 0): bool {}

    /**
     * Whether there is a value for the key now. It may be gone at the next call: use get() with a default if you need
     * the value.
     * Does not wait.
     */
    public function has(string $key): bool {}

    /**
     * @return bool false if there was none
     * Does not wait.
     */
    public function delete(string $key): bool {}

    /**
     * Changes when an entry expires.
     * @param float $ttl seconds from now; 0 for never
     * @return bool false if there is none
     * @throws \ValueError for a negative time
     * Does not wait.
     */
    public function touch(string $key, float $ttl): bool {}

    /**
     * Adds to an integer in one step; a missing one begins at 0.
     * @param float $ttl seconds for a new one; an existing one keeps its expiry
     * @return int the sum
     * @throws \Apus\CacheException TYPE when the value is not an integer, or the sum is out of range; the value stays
     * @throws \ValueError as set()
     * Does not wait.
     */
    public function increment(string $key, int $by = 1, float $ttl = 0): int {}

    /**
     * Subtracts in one step: as increment().
     * @return int the difference
     * @throws \Apus\CacheException TYPE
     * @throws \ValueError as set()
     * Does not wait.
     */
    public function decrement(string $key, int $by = 1, float $ttl = 0): int {}

    /**
     * The value of a key; if there is none, $fn() computes it, once for all processes: other callers wait meanwhile and
     * get the same value. When $fn throws, or its process dies, one of the waiters calls its own $fn, within about 20
     * ms.
     * @param float $ttl seconds until it expires; 0 for never
     * @param callable $fn fn(): mixed, which may wait; null is a value, too
     * @param float $wait seconds to wait at most for another caller's $fn; 0 for none, negative for no limit
     * @param bool $strict whether to throw after $wait; otherwise this caller's $fn is called, in parallel with the
     * other one
     * @return mixed the value; null when the coroutine is cancelled while it waits. A value that is too large for the
     * cache is returned nevertheless, with a warning, and computed again by the next call
     * @throws \Apus\CacheException NESTED when $fn asks for its own key in the same coroutine; WAIT with $strict
     * @throws \Apus\Coroutine\CanceledException when cancelled with an exception
     * @throws \Apus\PackException when the value cannot be packed
     * @throws \ValueError for a key of another length, or a negative $ttl
     * @throws \Throwable what $fn throws
     * Waits while another caller computes the value; outside a coroutine, the whole process does.
     * @rust cache_remember::remember
     */
    public function remember(string $key, float $ttl, callable $fn, float $wait = 10, bool $strict = false): mixed {}

    /**
     * Removes everything and gives the memory back; the counters of stats() continue.
     * Does not wait.
     */
    public function clear(): void {}

    /**
     * @return array{entries: int, used: int, bytes: int, longest: int, hits: int, misses: int, evictions: int, expired:
     * int, emptied: int} entries stored and bytes that they take; bytes that they may take, and that one of them may
     * take; reads that found a value, and that did not; entries that made room before and after they expired;
     * partitions emptied because a process was killed while it wrote
     * Does not wait.
     */
    public function stats(): array {}
}
