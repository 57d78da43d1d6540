<?php

namespace Apus;

/**
 * Callbacks for descriptors that can be read or written. Each call runs in a coroutine of its own. A callback is called
 * again as long as its descriptor is ready: one that does not read everything is called again. As long as a descriptor
 * is watched, run() and wait() go on. $fd is a stream, a Socket of ext/sockets, an object of Apus that has a
 * descriptor, or its number.
 * @rust plain
 */
final class Event
{
    // @rust typed

    /**
     * Watches a descriptor: $read_callback($fd) when it can be read, $write_callback($fd) when it can be written; both
     * when it is at its end or broken. While a callback of it waits and has not read anything, it is not called again
     * for that. A descriptor that is closed is not watched any more.
     * @param int $events Apus\EVENT_READ, Apus\EVENT_WRITE or both; each needs its callback
     * @return int|false the descriptor's number; false when it is closed (EBADF), or already watched (EEXIST, with a
     * warning)
     * @throws \TypeError for a value without descriptor
     * @throws \ValueError for other events, or a missing callback
     * Does not wait.
     */
    public static function add(mixed $fd, ?callable $read_callback = null, ?callable $write_callback = null, int $events = 512): int|false {}

    /**
     * Changes what is watched. A callback that is null stays what it was.
     * @param int $events Apus\EVENT_READ, Apus\EVENT_WRITE, both, or 0 to watch nothing until the next set()
     * @return bool false when the descriptor is not watched (ENOENT, with a warning)
     * @throws \TypeError for a value without descriptor
     * @throws \ValueError for other events, or a missing callback
     * Does not wait.
     */
    public static function set(mixed $fd, ?callable $read_callback = null, ?callable $write_callback = null, int $events = 0): bool {}

    /**
     * Stops watching a descriptor; what write() has kept for it is dropped. A stream or Socket may already be closed.
     * @return bool false when it is not watched (ENOENT)
     * @throws \TypeError for a value without descriptor
     * Does not wait.
     */
    public static function del(mixed $fd): bool {}

    /**
     * Whether a descriptor is watched for one of these events.
     * @throws \TypeError for a value without descriptor
     * @throws \ValueError for other events
     * Does not wait.
     * @rust is_set
     */
    public static function isset(mixed $fd, int $events = 1536): bool {}

    /**
     * Sends to a watched descriptor without waiting: what it does not accept now is kept and sent later, in order. At
     * most 8 MiB are kept for a descriptor. The bytes go to the descriptor itself, bypassing a stream's filters and
     * TLS.
     * @return bool false when the descriptor is not watched (ENOENT, with a warning), cannot be written to, or too much
     * is already kept (ENOBUFS); then nothing of $data is sent
     * @throws \TypeError for a value without descriptor
     * @throws \ValueError for empty data
     * Does not wait.
     */
    public static function write(mixed $fd, string $data): bool {}

    /**
     * Runs the event loop until no coroutine, timer or watched descriptor is left. A script does this automatically at
     * its end.
     * @throws \Apus\Coroutine\Exception NESTED_RUN inside a coroutine
     * @throws \Throwable the first exception that no coroutine caught; everything else is ended then
     */
    public static function wait(): void {}

    /**
     * Runs the event loop until a coroutine has run (a timer or event has called back), or nothing is left.
     * @return bool false when there is no loop yet
     * @throws \Apus\Coroutine\Exception NESTED_RUN inside a coroutine
     * @throws \Throwable as wait()
     */
    public static function dispatch(): bool {}

    /**
     * Ends the event loop: removes all timers and watched descriptors, and cancels every waiting coroutine with an
     * exception. In a server's worker no coroutine is cancelled, and the server goes on.
     * Does not wait.
     */
    public static function exit(): void {}

    /**
     * Sets $callback(), which is called at the loop's start and after each turn in which coroutines ran, at most once a
     * millisecond. It does not keep the loop going.
     * @param callable|null $callback null to remove it
     * @param bool $before for the callback that is called before the other one: there is one of each
     * @return bool false when there was none to remove
     * Does not wait.
     */
    public static function cycle(?callable $callback, bool $before = false): bool {}

    /**
     * Schedules $callback() to be called in a coroutine at the loop's next turn, in the order of the calls of defer().
     * @return bool true
     * Does not wait.
     */
    public static function defer(callable $callback): bool {}

    /**
     * The same as wait(); for programs that register it as a shutdown function.
     * @throws \Apus\Coroutine\Exception NESTED_RUN inside a coroutine
     */
    public static function rshutdown(): void {}
}
