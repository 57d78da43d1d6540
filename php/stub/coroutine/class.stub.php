<?php

namespace Apus;

/**
 * Coroutines: functions that let others run while they wait. Each has an id (cid), counted from 1.
 * @rust plain
 */
class Coroutine
{
    // @rust typed

    /** The default of `max_coroutine`. */
    public const DEFAULT_MAX_CORO_NUM = 100000;

    /**
     * Creates a coroutine and runs $callback(...$args) in it at once, until it first waits.
     * @return int its id
     * @throws \Apus\Coroutine\Exception TOO_MANY at the limit `max_coroutine`; NO_MEMORY when the system provides no
     * stack
     * Does not wait.
     */
    public static function create(callable $callback, mixed ...$args): int {}

    /**
     * The id of the running coroutine, or -1 outside.
     * Does not wait.
     */
    public static function getCid(): int {}

    /**
     * The same as getCid().
     * Does not wait.
     * @rust get_cid
     */
    public static function getuid(): int {}

    /**
     * The id of the coroutine that created this one (0: the running one); -1 if it was created outside coroutines.
     * @return int|false false when there is no such coroutine
     * Does not wait.
     */
    public static function getPcid(int $cid = 0): int|false {}

    /**
     * Waits; others run meanwhile. Resolution: 20 to 300 microseconds, coarser for longer times.
     * @param float $seconds 0 or more seconds; 0 lets all coroutines that are ready run first
     * @return bool false when the coroutine was cancelled meanwhile
     * @throws \ValueError for a negative or infinite time
     * @throws \Apus\Coroutine\Exception NOT_IN_COROUTINE, CANNOT_SWITCH
     * @throws \Apus\Coroutine\CanceledException when cancelled with an exception
     * Waits.
     * @rust typed
     */
    public static function sleep(float $seconds): bool {}

    /**
     * Waits until another coroutine calls resume() with this one's id.
     * @return bool false when the coroutine was cancelled meanwhile
     * @throws \Apus\Coroutine\Exception NOT_IN_COROUTINE, CANNOT_SWITCH
     * @throws \Apus\Coroutine\CanceledException when cancelled with an exception
     * Waits.
     * @rust yield_now
     */
    public static function yield(): bool {}

    /**
     * The same as yield().
     * Waits.
     * @rust yield_now
     */
    public static function suspend(): bool {}

    /**
     * Continues a coroutine that waits in yield(), at once; returns when it waits again or has ended. Where PHP cannot
     * switch (in a tick function, at shutdown) the event loop does it.
     * @return bool false when there is no such coroutine, or it does not wait in yield(), or is already about to
     * continue
     * Does not wait.
     */
    public static function resume(int $cid): bool {}

    /**
     * Registers $callback() to be called when the coroutine's function has returned or thrown; the last one is called
     * first.
     * @throws \Apus\Coroutine\Exception NOT_IN_COROUTINE
     * Does not wait.
     */
    public static function defer(callable $callback): void {}

    /**
     * The values that belong to a coroutine (0: the running one).
     * @return Context|null null when there is no such coroutine
     * Does not wait.
     */
    public static function getContext(int $cid = 0): ?\Apus\Coroutine\Context {}

    /**
     * Whether the coroutine has not ended.
     * Does not wait.
     */
    public static function exists(int $cid): bool {}

    /**
     * The ids of all coroutines of this process.
     * Does not wait.
     */
    public static function list(): \ArrayIterator {}

    /**
     * The same as list().
     * Does not wait.
     * @rust list
     */
    public static function listCoroutines(): \ArrayIterator {}

    /**
     * coroutine_num, coroutine_peak_num, coroutine_last_cid, c_stack_size (bytes), stack_num (stacks made so far),
     * stack_idle_num, switch_num (times a coroutine was entered), timer_num.
     * Does not wait.
     */
    public static function stats(): array {}

    /**
     * Changes settings of coroutines: see docs/options.md, scope "coroutine". All are applied, or none.
     * @throws \ValueError for an unknown setting or a value out of range
     * Does not wait.
     */
    public static function set(array $options): void {}

    /**
     * The settings of coroutines, name => value.
     * Does not wait.
     */
    public static function getOptions(): ?array {}

    /**
     * Waits until all these coroutines have ended.
     * @param int[] $cids ids; an id of a coroutine that no longer exists counts as ended
     * @param float $timeout seconds; negative for no limit
     * @return bool false when the time-out expired first, or the coroutine was cancelled
     * @throws \ValueError when the running coroutine is among them
     * @throws \Apus\Coroutine\Exception NOT_IN_COROUTINE, CANNOT_SWITCH
     * @throws \Apus\Coroutine\CanceledException when cancelled with an exception
     * Waits.
     * @rust batch::join_call
     */
    public static function join(array $cids, float $timeout = -1): bool {}

    /**
     * Interrupts a coroutine's wait: the function that it waits in returns its failure value, or throws a
     * CanceledException.
     * @return bool false when there is no such coroutine, or it does not wait
     * Does not wait.
     */
    public static function cancel(int $cid, bool $throwException = false): bool {}

    /**
     * Whether the last wait of the running coroutine was cancelled.
     * Does not wait.
     */
    public static function isCanceled(): bool {}

    /**
     * debug_backtrace() of a coroutine (0: the running one), also while it waits.
     * @param int $options as debug_backtrace()
     * @param int $limit maximum number of frames; 0 for all
     * @return array|false false when there is no such coroutine
     * Does not wait.
     */
    public static function getBackTrace(int $cid = 0, int $options = 1, int $limit = 0): array|false {}

    /**
     * Milliseconds since a coroutine was created (0: the running one), in steps of the kernel's tick (1 to 10 ms); -1
     * when there is none.
     * Does not wait.
     */
    public static function getElapsed(int $cid = 0): int {}
}
