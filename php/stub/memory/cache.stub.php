<?php

namespace Apus;

/**
 * A cache that processes share: make it before the server starts, and every worker reads and writes the same one. It
 * takes a bounded number of bytes; what was not read for long makes room for what is new, and any entry may be gone at
 * any time. Keys have 1 to 1,024 bytes. Values are copied in and out (Apus\pack()); integers can be counted with. A
 * process that is killed while it writes costs the entries of one partition, never a wrong value.
 * @rust static CLASS
 */
class Cache
{
    /**
     * @param int $bytes that all entries may take, 64 KiB to 1 TiB; an entry takes its key and packed value, each to
     * the next multiple of eight, and 40. Memory is taken as it fills. One entry may take half of a partition: of all
     * below 8 MiB, of 4 to 8 MiB above, of a 64th from 256 MiB on
     * @throws \ValueError for another size
     * @throws \Apus\CacheException NO_MEMORY
     */
    public function __construct(int $bytes) {}

    /**
     * @return mixed the value, or $default when it is not there
     * Does not wait.
     */
    public function get(string $key, mixed $default = null): mixed {}

    /**
     * Stores a value in place of what was there.
     * @param float $ttl seconds until it is gone; 0 for no end
     * @return bool true
     * @throws \ValueError for a key of another length, or a negative time
     * @throws \Apus\CacheException TOO_LARGE, and what was there stays
     * @throws \Apus\PackException for what cannot be packed
     * Does not wait.
     */
    public function set(string $key, mixed $value, float $ttl = 0): bool {}

    /**
     * Stores a value unless one is there.
     * @param float $ttl as for set()
     * @return bool false: there is one, and it stays
     * @throws \ValueError and exceptions as set()
     * Does not wait.
     */
    public function add(string $key, mixed $value, float $ttl = 0): bool {}

    /**
     * Whether a key is there now. It may be gone at the next call: take get() and its default where the value is
     * wanted.
     * Does not wait.
     */
    public function has(string $key): bool {}

    /**
     * @return bool false when it was not there
     * Does not wait.
     */
    public function delete(string $key): bool {}

    /**
     * Gives an entry another end.
     * @param float $ttl seconds from now; 0 for no end
     * @return bool false when it is not there
     * @throws \ValueError for a negative time
     * Does not wait.
     */
    public function touch(string $key, float $ttl): bool {}

    /**
     * Adds to an integer in one step; one that is not there begins at 0.
     * @param float $ttl seconds for one that is not there; one that is keeps its end
     * @return int the sum
     * @throws \Apus\CacheException TYPE when what is there is no integer, or the sum is out of range; it stays
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
     * The value of a key; where there is none, $fn() makes it, once for all processes: who wants it meanwhile waits and
     * gets the same. When $fn throws, or its process dies, one of those who wait calls its own $fn, within some 20 ms.
     * @param float $ttl seconds until it is gone; 0 for no end
     * @param callable $fn fn(): mixed, which may wait; null is a value, too
     * @param float $wait seconds to wait at most for another one's $fn; 0 for none, negative for no limit
     * @param bool $strict whether to throw after $wait; else the own $fn is called, beside the other one
     * @return mixed the value; null when the coroutine is cancelled as it waits. One that is too large for the cache is
     * returned nevertheless, with a warning, and made anew by the next call
     * @throws \Apus\CacheException NESTED when $fn asks for its own key in the same coroutine; WAIT with $strict
     * @throws \Apus\Coroutine\CanceledException when cancelled with an exception
     * @throws \Apus\PackException when the value cannot be packed
     * @throws \ValueError for a key of another length, or a negative $ttl
     * @throws \Throwable what $fn throws
     * Waits while another one makes the value; outside a coroutine, the whole process does.
     * @rust cache_remember::remember
     */
    public function remember(string $key, float $ttl, callable $fn, float $wait = 10, bool $strict = false): mixed {}

    /**
     * Forgets everything and gives the memory back; the counters of stats() go on.
     * Does not wait.
     */
    public function clear(): void {}

    /**
     * @return array{entries: int, used: int, bytes: int, longest: int, hits: int, misses: int, evictions: int, expired:
     * int, emptied: int} entries that lie there and bytes that they take; bytes that they may take, and one of them;
     * reads that found something, and not;
     * entries that made room before and after their end; partitions emptied because a process was killed as it wrote
     * Does not wait.
     */
    public function stats(): array {}
}
