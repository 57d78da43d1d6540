<?php

// Generated from the built module by `apus stubs`. Do not edit.

/** @noinspection ALL */

namespace Apus {
    /**
     * Base of every exception that Apus throws.
     * @since 0.1.0
     */
    class Exception extends \RuntimeException
    {
    }
}

namespace Apus\Coroutine {
    /**
     * A coroutine function was used where it cannot work; the code tells why.
     * @since 0.1.0
     */
    class Exception extends \Apus\Exception
    {
        /**
         * The function waits, and no coroutine runs: wrap the call in Apus\Coroutine\run() or Apus\go().
         */
        public const NOT_IN_COROUTINE = 1;

        /**
         * The running code cannot be suspended: a handler of pcntl_signal(), a tick function, the cycle collector, a destructor before PHP 8.4, shutdown.
         */
        public const CANNOT_SWITCH = 2;

        /**
         * The limit `max_coroutine` is reached.
         */
        public const TOO_MANY = 3;

        /**
         * The system gave no memory for a coroutine's C stack.
         */
        public const NO_MEMORY = 4;

        /**
         * run() or Scheduler::start() was called inside a coroutine.
         */
        public const NESTED_RUN = 5;

        /**
         * A process was to be forked inside a coroutine, or in a callback of an event loop.
         */
        public const CANNOT_FORK = 6;

        /**
         * A lock or permit was given back by a coroutine that does not hold it.
         */
        public const NOT_HELD = 7;

        /**
         * The object is not in the state that the call needs.
         */
        public const STATE = 8;

    }
}

namespace Apus\Coroutine {
    /**
     * Thrown by the function in which a coroutine waits when it is cancelled, so that `finally` blocks run.
     * @since 0.1.0
     */
    class CanceledException extends \Apus\Coroutine\Exception
    {
    }
}

namespace Apus\Coroutine {
    /**
     * Every coroutine waits for another one, so none can ever go on. The message holds the stack of each.
     * @since 0.1.0
     */
    class DeadlockException extends \Apus\Coroutine\Exception
    {
    }
}

namespace Apus\Coroutine {
    /**
     * What a coroutine waited for did not come within the time that was given.
     * @since 0.1.0
     */
    class TimeoutException extends \Apus\Coroutine\Exception
    {
    }
}

namespace Apus\Coroutine {
    /**
     * Two coroutines used one connection at the same time; the message names both and what each does. Nothing was sent or
     * read for the second one. Give each coroutine a connection of its own, best from a pool.
     * @since 0.1.0
     */
    class ConflictException extends \Apus\Coroutine\Exception
    {
    }
}

namespace Apus\Client {
    /**
     * A socket or client was used wrongly, or could not be made; failures of the network are return values and errCode.
     * @since 0.1.0
     */
    class Exception extends \Apus\Exception
    {
        /**
         * A setting is unknown, unsupported, or out of its limits.
         */
        public const OPTION = 301;

        /**
         * An address, header or method holds bytes that its grammar forbids.
         */
        public const ARGUMENT = 302;

        /**
         * The client is not in the state that the call needs.
         */
        public const STATE = 303;

        /**
         * A request that a function made got no answer; the message tells why.
         */
        public const REQUEST = 304;

    }
}

namespace Apus\ConnectionPool {
    /**
     * A pool could not give a connection; the code tells why.
     * @since 0.1.0
     */
    class Exception extends \Apus\Exception
    {
        /**
         * Every connection stayed in use for the whole time-out.
         */
        public const EXHAUSTED = 401;

        /**
         * The pool was closed.
         */
        public const CLOSED = 402;

        /**
         * A connection could not be made; the previous exception tells why.
         */
        public const CONNECT = 403;

        /**
         * The object given back did not come from this pool, or was given back already.
         */
        public const FOREIGN = 404;

        /**
         * A setting of the pool is unknown or out of its limits.
         */
        public const OPTION = 405;

    }
}

namespace Apus\Server {
    /**
     * A server could not do what was asked; the code tells why.
     * @since 0.1.0
     */
    class Exception extends \Apus\Exception
    {
        /**
         * An address could not be bound; the message names it and the reason.
         */
        public const BIND = 101;

        /**
         * A setting is unknown, unsupported, or out of its limits.
         */
        public const OPTION = 102;

        /**
         * on() was given an event that does not exist.
         */
        public const EVENT = 103;

        /**
         * The server is not in the state that the call needs.
         */
        public const STATE = 104;

        /**
         * A process could not be made, or a signal not be sent.
         */
        public const PROCESS = 105;

    }
}

namespace Apus\Http {
    /**
     * A request could not be read or a response not be sent; the code tells why.
     * @since 0.1.0
     */
    class Exception extends \Apus\Exception
    {
        /**
         * The response is complete already.
         */
        public const ENDED = 201;

        /**
         * The head has left; it cannot be changed.
         */
        public const HEADERS_SENT = 202;

        /**
         * A header name or value holds bytes that RFC 9110 section 5 forbids.
         */
        public const INVALID_HEADER = 203;

        /**
         * A cookie name, value or attribute holds bytes that RFC 6265 forbids.
         */
        public const INVALID_COOKIE = 204;

        /**
         * A status code must lie between 200 and 999.
         */
        public const INVALID_STATUS = 205;

        /**
         * A file could not be opened or read.
         */
        public const FILE = 206;

        /**
         * The request body broke off or broke the protocol.
         */
        public const BODY = 207;

        /**
         * The response was detached from this object.
         */
        public const DETACHED = 208;

        /**
         * The connection is no WebSocket yet.
         */
        public const NOT_UPGRADED = 209;

    }
}

namespace Apus {
    /**
     * A table refused a value, or cannot do what was asked; the code tells why. Nothing was changed.
     * @since 0.1.0
     */
    class TableException extends \Apus\Exception
    {
        /**
         * As many rows as the table was made for are there, or as many different texts as a dictionary column takes.
         */
        public const FULL = 501;

        /**
         * A text is longer than its column takes. Texts are not cut.
         */
        public const TOO_LONG = 502;

        /**
         * A key is empty, longer than 1,024 bytes, or no id from 0 to the greatest one.
         */
        public const KEY = 503;

        /**
         * There is no column or index of that name, or its description is wrong.
         */
        public const COLUMN = 504;

        /**
         * An integer does not fit into its column.
         */
        public const RANGE = 505;

        /**
         * A value cannot be held by its column without a loss.
         */
        public const TYPE = 506;

        /**
         * The table is not in the state that the call needs: create() was not called, or was, or indexes are deferred.
         */
        public const STATE = 507;

        /**
         * The system gave no memory or no address space, or the room reserved for texts or indexes is used up.
         */
        public const NO_MEMORY = 508;

        /**
         * A snapshot, JSON or CSV could not be read or written; the message names the file and the place in it.
         */
        public const FILE = 509;

    }
}

namespace Apus {
    /**
     * A value could not be packed, or bytes are no packed value; the code tells why.
     * @since 0.1.0
     */
    class PackException extends \Apus\Exception
    {
        /**
         * A value means something in its own process alone: a resource.
         */
        public const UNSUPPORTED = 551;

        /**
         * Arrays and objects lie more than 1024 deep inside each other.
         */
        public const DEPTH = 552;

        /**
         * The packed value would be longer than 1 GiB.
         */
        public const TOO_LARGE = 553;

        /**
         * The bytes were not made by Apus\pack().
         */
        public const MALFORMED = 554;

        /**
         * An enumeration, its case or a class is not what it was when the value was packed, or is not allowed.
         */
        public const MISMATCH = 555;

    }
}

namespace Apus {
    /**
     * A queue between processes refused a value; the code tells why. Nothing was added.
     * @since 0.1.0
     */
    class QueueException extends \Apus\Exception
    {
        /**
         * A packed value is longer than the queue takes: make the queue with a greater $longest.
         */
        public const TOO_LONG = 571;

    }
}

namespace Apus {
    /**
     * A lock cannot be made or had, whoever holds it; the code tells why.
     * @since 0.1.0
     */
    class LockException extends \Apus\Exception
    {
        /**
         * The file of a FILELOCK cannot be opened or locked; the message tells why.
         */
        public const FILE = 581;

    }
}

namespace Apus {
    /**
     * A cache cannot do what was asked; the code tells why.
     * @since 0.1.0
     */
    class CacheException extends \Apus\Exception
    {
        /**
         * A value or key is longer than the cache takes.
         */
        public const TOO_LARGE = 561;

        /**
         * increment() or decrement() met a value that is no integer, or would leave the range.
         */
        public const TYPE = 562;

        /**
         * remember() was called for a key by the function that makes its value: it would wait for itself.
         */
        public const NESTED = 563;

        /**
         * Another process made the value for longer than remember() was to wait.
         */
        public const WAIT = 564;

        /**
         * The system gave no address space.
         */
        public const NO_MEMORY = 565;

    }
}

namespace Apus\Process {
    /**
     * A process, a pool of processes or a message queue could not do what was asked; the code tells why.
     * @since 0.1.0
     */
    class Exception extends \Apus\Exception
    {
        /**
         * The process or pool is not in the state that the call needs, or this is not the process that may call it.
         */
        public const STATE = 701;

        /**
         * The system made no process, pipe or queue; the message tells why.
         */
        public const SYSTEM = 702;

        /**
         * on() was given an event that does not exist, or not here.
         */
        public const EVENT = 703;

        /**
         * An address could not be bound; the message names it.
         */
        public const BIND = 704;

    }
}

namespace Apus\Server {
    /**
     * A task or computation could not be handed over, or came to nothing; the code tells why.
     * @since 0.1.0
     */
    class TaskException extends \Apus\Exception
    {
        /**
         * What was computed threw; the message says what.
         */
        public const FAILED = 801;

        /**
         * The task worker that computed it died.
         */
        public const WORKER_DIED = 802;

        /**
         * The time that was given is over.
         */
        public const TIMEOUT = 803;

        /**
         * The computation was called off.
         */
        public const CANCELLED = 804;

        /**
         * As much waits as task_queue_size allows.
         */
        public const FULL = 805;

        /**
         * The data or result is larger than task_queue_size allows.
         */
        public const TOO_LARGE = 806;

        /**
         * The callable cannot be sent to another process, or is not found there; the message says why.
         */
        public const CALLABLE = 807;

    }
}

namespace Apus {
    /**
     * Coroutines: functions that let others run while they wait. Each has an id (cid), counted from 1.
     * @since 0.1.0
     */
    class Coroutine
    {
        /**
         * The default of `max_coroutine`.
         */
        public const DEFAULT_MAX_CORO_NUM = 100000;

        /**
         * Makes a coroutine and runs $callback(...$args) in it at once, until it first waits.
         * @return int its id
         * @throws \Apus\Coroutine\Exception TOO_MANY at the limit `max_coroutine`; NO_MEMORY when the system gives no stack
         * Does not wait.
         * @since 0.1.0
         */
        public static function create(callable $callback, mixed ...$args): int {}

        /**
         * The id of the running coroutine, or -1 outside.
         * Does not wait.
         * @since 0.1.0
         */
        public static function getCid(): int {}

        /**
         * The same as getCid().
         * Does not wait.
         * @since 0.1.0
         */
        public static function getuid(): int {}

        /**
         * The id of the coroutine that made this one (0: the running one); -1 when it was made outside coroutines.
         * @return int|false false when there is no such coroutine
         * Does not wait.
         * @since 0.1.0
         */
        public static function getPcid(int $cid = 0): int|false {}

        /**
         * Waits; others run meanwhile. Resolution: 20 to 300 microseconds, coarser for longer times.
         * @param float $seconds 0 or more seconds; 0 lets everything that is ready run first
         * @return bool false when the coroutine was cancelled meanwhile
         * @throws \ValueError for a negative or infinite time
         * @throws \Apus\Coroutine\Exception NOT_IN_COROUTINE, CANNOT_SWITCH
         * @throws \Apus\Coroutine\CanceledException when cancelled with an exception
         * Waits.
         * @since 0.1.0
         */
        public static function sleep(float $seconds): bool {}

        /**
         * Waits until another coroutine calls resume() with this one's id.
         * @return bool false when the coroutine was cancelled meanwhile
         * @throws \Apus\Coroutine\Exception NOT_IN_COROUTINE, CANNOT_SWITCH
         * @throws \Apus\Coroutine\CanceledException when cancelled with an exception
         * Waits.
         * @since 0.1.0
         */
        public static function yield(): bool {}

        /**
         * The same as yield().
         * Waits.
         * @since 0.1.0
         */
        public static function suspend(): bool {}

        /**
         * Runs a coroutine that waits in yield() on, at once; returns when it waits again or has ended.
         * Where PHP cannot switch (in destructors before PHP 8.4, in the cycle collector) the event loop does it.
         * @return bool false when there is no such coroutine, or it does not wait in yield(), or is to be run on already
         * Does not wait.
         * @since 0.1.0
         */
        public static function resume(int $cid): bool {}

        /**
         * Has $callback() called when the coroutine's function has returned or thrown; the last given is called first.
         * @throws \Apus\Coroutine\Exception NOT_IN_COROUTINE
         * Does not wait.
         * @since 0.1.0
         */
        public static function defer(callable $callback): void {}

        /**
         * The values that belong to a coroutine (0: the running one).
         * @return Context|null null when there is no such coroutine
         * Does not wait.
         * @since 0.1.0
         */
        public static function getContext(int $cid = 0): ?\Apus\Coroutine\Context {}

        /**
         * Whether the coroutine has not ended.
         * Does not wait.
         * @since 0.1.0
         */
        public static function exists(int $cid): bool {}

        /**
         * The ids of all coroutines of this process.
         * Does not wait.
         * @since 0.1.0
         */
        public static function list(): \ArrayIterator {}

        /**
         * The same as list().
         * Does not wait.
         * @since 0.1.0
         */
        public static function listCoroutines(): \ArrayIterator {}

        /**
         * coroutine_num, coroutine_peak_num, coroutine_last_cid, c_stack_size (bytes), stack_num (stacks made so far),
         * stack_idle_num, switch_num (times a coroutine was entered), timer_num.
         * Does not wait.
         * @since 0.1.0
         */
        public static function stats(): array {}

        /**
         * Changes settings of coroutines: see docs/options.md, scope "coroutine". All are applied, or none.
         * @throws \ValueError for an unknown setting or a value out of its limits
         * Does not wait.
         * @since 0.1.0
         */
        public static function set(array $options): void {}

        /**
         * The settings of coroutines, name => value.
         * Does not wait.
         * @since 0.1.0
         */
        public static function getOptions(): ?array {}

        /**
         * Waits until all these coroutines have ended.
         * @param int[] $cids ids; those of ended coroutines count as ended
         * @param float $timeout seconds; negative for no limit
         * @return bool false when the time was over first, or the coroutine was cancelled
         * @throws \ValueError when the running coroutine is among them
         * @throws \Apus\Coroutine\Exception NOT_IN_COROUTINE, CANNOT_SWITCH
         * @throws \Apus\Coroutine\CanceledException when cancelled with an exception
         * Waits.
         * @since 0.1.0
         */
        public static function join(array $cids, float $timeout = -1): bool {}

        /**
         * Breaks off what a coroutine waits for: the function that it waits in returns its failure value, or throws a
         * CanceledException.
         * @return bool false when there is no such coroutine, or it does not wait
         * Does not wait.
         * @since 0.1.0
         */
        public static function cancel(int $cid, bool $throwException = false): bool {}

        /**
         * Whether the last wait of the running coroutine was cancelled.
         * Does not wait.
         * @since 0.1.0
         */
        public static function isCanceled(): bool {}

        /**
         * debug_backtrace() of a coroutine (0: the running one), also while it waits.
         * @param int $options as debug_backtrace()
         * @param int $limit frames at most; 0 for all
         * @return array|false false when there is no such coroutine
         * Does not wait.
         * @since 0.1.0
         */
        public static function getBackTrace(int $cid = 0, int $options = 1, int $limit = 0): array|false {}

        /**
         * Milliseconds since a coroutine was made (0: the running one), in steps of the kernel's tick (1 to 10 ms); -1 when
         * there is none.
         * Does not wait.
         * @since 0.1.0
         */
        public static function getElapsed(int $cid = 0): int {}

    }
}

namespace Apus\Coroutine {
    /**
     * Values that belong to one coroutine and go when it ends: read and written as an array or as properties.
     * Apus\Coroutine::getContext() gives it.
     * @since 0.1.0
     */
    class Context extends \ArrayObject
    {
    }
}

namespace Apus\Coroutine {
    /**
     * Collects coroutines and runs them until the last one has ended.
     * @since 0.1.0
     */
    class Scheduler
    {
        /**
         * An empty scheduler.
         * @since 0.1.0
         */
        public function __construct() {}

        /**
         * Adds a coroutine that start() will run as $callback(...$args).
         * Does not wait.
         * @since 0.1.0
         */
        public function add(callable $callback, mixed ...$args): void {}

        /**
         * Adds $n coroutines that all run $callback(...$args).
         * @throws \ValueError when $n is below 1
         * Does not wait.
         * @since 0.1.0
         */
        public function parallel(int $n, callable $callback, mixed ...$args): void {}

        /**
         * The same as Apus\Coroutine::set().
         * @since 0.1.0
         */
        public function set(array $options): void {}

        /**
         * The same as Apus\Coroutine::getOptions().
         * @since 0.1.0
         */
        public function getOptions(): ?array {}

        /**
         * Runs what was added, and everything that these coroutines start, until the last coroutine and timer has ended.
         * An exception that a coroutine does not catch ends the others (they see a CanceledException) and is thrown here;
         * exit() in a coroutine ends the script.
         * @return bool true
         * @throws \Apus\Coroutine\Exception NESTED_RUN inside a coroutine
         * @throws \Apus\Coroutine\DeadlockException when all coroutines wait for each other
         * @since 0.1.0
         */
        public function start(): bool {}

    }
}

namespace Apus\Coroutine {
    /**
     * A queue between the coroutines of one process that holds a bounded number of values, first in, first out. Who pushes to
     * a full one or pops from an empty one waits; they are served in the order of their coming. A value is never lost:
     * a push() that returns false has not pushed, and what was handed to a waiting pop() is returned by it even when its
     * coroutine is cancelled at that moment. Both may be called outside coroutines as long as they need not wait.
     * @since 0.1.0
     */
    class Channel
    {
        /**
         * How many values it holds at most.
         */
        public $capacity = 0;

        /**
         * How the last push() or pop() ended: Apus\CHANNEL_OK, CHANNEL_TIMEOUT, CHANNEL_CLOSED or CHANNEL_CANCELED.
         */
        public $errCode = 0;

        /**
         * @param int $size how many values it holds; less than 1 means 1
         * @since 0.1.0
         */
        public function __construct(int $size = 1) {}

        /**
         * Puts a value at the end. A coroutine that waits for it runs at once, until it waits again.
         * @param float $timeout seconds to wait while the channel is full; 0 or negative for no limit
         * @return bool false when the channel is or gets closed, the time was over, or the coroutine was cancelled: see $errCode
         * @throws \Apus\Coroutine\Exception NOT_IN_COROUTINE, CANNOT_SWITCH when it would wait
         * @throws \Apus\Coroutine\CanceledException when cancelled with an exception
         * Waits while the channel is full.
         * @since 0.1.0
         */
        public function push(mixed $data, float $timeout = -1): bool {}

        /**
         * Takes the value at the front. A coroutine that waits to push runs at once, until it waits again.
         * @param float $timeout seconds to wait while the channel is empty; 0 or negative for no limit
         * @return mixed false when the channel is closed and empty, the time was over, or the coroutine was cancelled: see $errCode
         * @throws \Apus\Coroutine\Exception NOT_IN_COROUTINE, CANNOT_SWITCH when it would wait
         * @throws \Apus\Coroutine\CanceledException when cancelled with an exception
         * Waits while the channel is empty.
         * @since 0.1.0
         */
        public function pop(float $timeout = -1): mixed {}

        /**
         * Whether it holds no value.
         * Does not wait.
         * @since 0.1.0
         */
        public function isEmpty(): bool {}

        /**
         * Whether it holds as many values as it can.
         * Does not wait.
         * @since 0.1.0
         */
        public function isFull(): bool {}

        /**
         * Closes it: whoever waits in push() or pop() gets false and CHANNEL_CLOSED; nothing can be pushed any more; what it
         * holds can still be popped.
         * @return bool false when it was closed before
         * Does not wait.
         * @since 0.1.0
         */
        public function close(): bool {}

        /**
         * consumer_num (coroutines that wait in pop()), producer_num (in push()), queue_num (values held).
         * Does not wait.
         * @since 0.1.0
         */
        public function stats(): array {}

        /**
         * How many values it holds.
         * Does not wait.
         * @since 0.1.0
         */
        public function length(): int {}

    }
}

namespace Apus\Coroutine {
    /**
     * Waits until a number of things are done: add() before each is started, done() at its end, wait() for all.
     * @since 0.1.0
     */
    class WaitGroup
    {
        /**
         * @param int $delta how many things are counted from the start
         * @throws \InvalidArgumentException for a negative number
         * @since 0.1.0
         */
        public function __construct(int $delta = 0) {}

        /**
         * Counts $delta more things.
         * @throws \InvalidArgumentException when the counter would get negative
         * @throws \BadMethodCallException while a coroutine is in wait()
         * Does not wait.
         * @since 0.1.0
         */
        public function add(int $delta = 1): void {}

        /**
         * Counts one thing less; the last one ends wait().
         * @throws \BadMethodCallException when nothing is left to be done
         * Does not wait.
         * @since 0.1.0
         */
        public function done(): void {}

        /**
         * Waits until everything that was added is done. Several coroutines may.
         * @param float $timeout seconds; 0 or negative for no limit
         * @return bool false when the time was over first, or the coroutine was cancelled
         * @throws \Apus\Coroutine\Exception NOT_IN_COROUTINE, CANNOT_SWITCH
         * @throws \Apus\Coroutine\CanceledException when cancelled with an exception
         * Waits, unless nothing is counted.
         * @since 0.1.0
         */
        public function wait(float $timeout = -1): bool {}

        /**
         * How many things are not done.
         * Does not wait.
         * @since 0.1.0
         */
        public function count(): int {}

    }
}

namespace Apus\Coroutine {
    /**
     * Waits for coroutines that need not tell when they are done: each holds the barrier (use ($barrier)), and wait() ends
     * when the last of these references is gone, however the coroutines end.
     * @since 0.1.0
     */
    class Barrier
    {
        /**
         * The same as make().
         * @since 0.1.0
         */
        public function __construct() {}

        /**
         * A new barrier.
         * Does not wait.
         * @since 0.1.0
         */
        public static function make(): \Apus\Coroutine\Barrier {}

        /**
         * Sets $barrier to null, so that the caller refers to it no more, and waits until nobody else does.
         * @param Barrier $barrier a variable that holds one
         * @param float $timeout seconds after which it returns all the same; 0 or negative for no limit
         * @throws \Apus\Coroutine\Exception STATE when it is waited for already; NOT_IN_COROUTINE, CANNOT_SWITCH
         * @throws \Apus\Coroutine\CanceledException when cancelled with an exception
         * Waits.
         * @since 0.1.0
         */
        public static function wait(\Apus\Coroutine\Barrier &$barrier, float $timeout = -1): void {}

    }
}

namespace Apus\Coroutine {
    /**
     * A lock between coroutines: one holds it (LOCK_EX), or several share it (LOCK_SH). It is given in the order of asking,
     * so neither readers nor writers starve. The coroutine that holds it may lock it again, and unlocks it as often. A
     * coroutine that ends without unlocking is unlocked, with a warning in the log.
     * @since 0.1.0
     */
    class Lock
    {
        /**
         * How the last lock() ended: 0, or an errno: EBUSY (16), ETIMEDOUT (110), ECANCELED (125); EOWNERDEAD (130) when it is had, and the
         * process that had it alone before ended with it: what it guards may be half-changed.
         */
        public $errCode = 0;

        /**
         * @param bool $shared true: between the processes that are forked while it is there (workers of a server), too. What
         * a dead process held is free, and the next who locks is told by $errCode 130
         * @throws \Error when the system gives no memory to share
         * @since 0.1.0
         */
        public function __construct(bool $shared = false) {}

        /**
         * Locks.
         * @param int $operation LOCK_EX, or LOCK_SH to share it with others that do; | LOCK_NB for no waiting
         * @param float $timeout seconds; negative for no limit, 0 for no waiting
         * @return bool false when it is not free in time, or the coroutine was cancelled: see $errCode
         * @throws \ValueError for another operation
         * @throws \Apus\Coroutine\Exception STATE for LOCK_EX by who holds it shared; NOT_IN_COROUTINE, CANNOT_SWITCH
         * @throws \Apus\Coroutine\CanceledException when cancelled with an exception
         * Waits while it is not free.
         * @since 0.1.0
         */
        public function lock(int $operation = 2, float $timeout = -1): bool {}

        /**
         * The same as lock($operation | LOCK_NB).
         * Does not wait.
         * @since 0.1.0
         */
        public function trylock(int $operation = 2): bool {}

        /**
         * Unlocks once; the first who waits has the lock then.
         * @return bool true
         * @throws \Apus\Coroutine\Exception NOT_HELD when the running coroutine does not hold it
         * Does not wait.
         * @since 0.1.0
         */
        public function unlock(): bool {}

    }
}

namespace Apus\Coroutine {
    /**
     * A number of permits that coroutines take and give back; who finds none waits in line, first come, first served. A
     * permit belongs to nobody: one coroutine may release() what another acquired, and none comes back by itself.
     * @since 0.1.0
     */
    class Semaphore
    {
        /**
         * @param int $permits how many there are, 1 or more
         * @throws \ValueError for less
         * @since 0.1.0
         */
        public function __construct(int $permits) {}

        /**
         * Takes a permit.
         * @param float $timeout seconds; negative for no limit, 0 for no waiting
         * @return bool false when the time was over first, or the coroutine was cancelled
         * @throws \Apus\Coroutine\Exception NOT_IN_COROUTINE, CANNOT_SWITCH when it would wait
         * @throws \Apus\Coroutine\CanceledException when cancelled with an exception
         * Waits while none is free.
         * @since 0.1.0
         */
        public function acquire(float $timeout = -1): bool {}

        /**
         * Takes a permit if one is free and nobody waits for it.
         * Does not wait.
         * @since 0.1.0
         */
        public function tryAcquire(): bool {}

        /**
         * Gives a permit back: to the first who waits, or to whoever comes.
         * @throws \Apus\Coroutine\Exception NOT_HELD when all permits are free
         * Does not wait.
         * @since 0.1.0
         */
        public function release(): void {}

        /**
         * How many permits are free.
         * Does not wait.
         * @since 0.1.0
         */
        public function available(): int {}

    }
}

namespace Apus\Coroutine {
    /**
     * Coroutines that end where they were begun: run() returns when all that were spawned in the scope have ended. When one
     * throws, the others are cancelled, and the exception comes out of run(); when the owner is cancelled or throws, or the time
     * is over, all are cancelled. Cancelled means that the function they wait in throws a CanceledException; a coroutine that
     * catches it and goes on is waited for.
     * @since 0.1.0
     */
    final class Scope
    {
        /**
         * See failures().
         */
        private $failures = null;

        /**
         * Calls $body(Scope $scope) in the running coroutine, and waits for everything spawned in the scope.
         * A child that throws also ends what $body waits in, with a CanceledException.
         * @param float $timeout seconds for all of it; negative for no limit
         * @return mixed what $body returned; null when waiting for the children was cancelled without an exception
         * @throws \Throwable what came first: what a child threw, or what $body threw
         * @throws \Apus\Coroutine\TimeoutException when the time was over
         * @throws \Apus\Coroutine\Exception NOT_IN_COROUTINE, CANNOT_SWITCH
         * Waits.
         * @since 0.1.0
         */
        public static function run(callable $body, float $timeout = -1): mixed {}

        /**
         * A scope of the running coroutine, which has to join() it. Without, its coroutines are cancelled when the object
         * goes. What a child throws, and a time that is over, come out of join().
         * @param float $timeout seconds until everything in it is cancelled, and what the owner waits in; negative for no limit
         * @throws \Apus\Coroutine\Exception NOT_IN_COROUTINE, CANNOT_SWITCH
         * @since 0.1.0
         */
        public function __construct(float $timeout = -1) {}

        /**
         * Begins a coroutine that runs $callback(...$args), at once until it waits.
         * @return int its id
         * @throws \Apus\Coroutine\Exception STATE when the scope is over or cancelled; TOO_MANY, NO_MEMORY as create()
         * Does not wait.
         * @since 0.1.0
         */
        public function spawn(callable $callback, mixed ...$args): int {}

        /**
         * Cancels every coroutine spawned in the scope, which takes no more.
         * Does not wait.
         * @since 0.1.0
         */
        public function cancel(): void {}

        /**
         * Waits until all coroutines of the scope have ended. Cancelled, it cancels them and waits for their end.
         * @return bool false when it was cancelled without an exception
         * @throws \Throwable the first exception of a child
         * @throws \Apus\Coroutine\TimeoutException when the scope's time was over
         * @throws \Apus\Coroutine\Exception STATE in another coroutine than the scope's owner
         * Waits.
         * @since 0.1.0
         */
        public function join(): bool {}

        /**
         * How many of its coroutines have not ended.
         * Does not wait.
         * @since 0.1.0
         */
        public function count(): int {}

        /**
         * Whether its coroutines were cancelled, for whatever reason.
         * Does not wait.
         * @since 0.1.0
         */
        public function isCancelled(): bool {}

        /**
         * What its coroutines threw and nobody was told: after run() or join(), the exceptions that came after the first.
         * @return \Throwable[]
         * Does not wait.
         * @since 0.1.0
         */
        public function failures(): array {}

    }
}

namespace Apus {
    /**
     * Which blocking calls let other coroutines run. Inside coroutines all are hooked from the start but those on regular
     * files, in servers and in run() alike; outside coroutines nothing ever changes.
     * @since 0.1.0
     */
    final class Runtime
    {
        /**
         * Sets the kinds of calls that are hooked from now on, in all coroutines of this process.
         * @param bool|int $flags Apus\HOOK_* bits, 0 for none; or true for $more, false for none
         * @return bool true
         * @throws \ValueError when $flags is negative
         * Does not wait.
         * @since 0.1.0
         */
        public static function enableCoroutine(bool|int $flags = 2147483647, int $more = 2147483647): bool {}

        /**
         * The same as enableCoroutine().
         * @since 0.1.0
         */
        public static function setHookFlags(int $flags): bool {}

        /**
         * The kinds of calls that are hooked, as Apus\HOOK_* bits.
         * @since 0.1.0
         */
        public static function getHookFlags(): int {}

    }
}

namespace Apus\Coroutine {
    /**
     * The operating system seen from a coroutine: others run while one of these functions waits. What fails returns false,
     * and Apus\last_error() tells the number why (Apus\strerror() its text): ETIMEDOUT (110) when the time-out was over first,
     * ECANCELED (125) when the coroutine was cancelled. All throw Apus\Coroutine\Exception NOT_IN_COROUTINE outside coroutines,
     * CANNOT_SWITCH, and Apus\Coroutine\CanceledException when cancelled with an exception.
     * @since 0.1.0
     */
    class System
    {
        /**
         * The same as Apus\Coroutine::sleep().
         * @param float $seconds 0 or more seconds; resolution: 1 millisecond
         * @return bool false when the coroutine was cancelled meanwhile
         * @throws \ValueError for a negative or infinite time
         * Waits.
         * @since 0.1.0
         */
        public static function sleep(float $seconds): bool {}

        /**
         * Runs a command with /bin/sh and waits for its end. Standard input is that of this process.
         * @param bool $get_error_stream whether what the command writes to standard error is part of the output
         * @param int $max_output bytes; a command that prints more is killed
         * @return array|false code (exit code), signal (that killed it, or 0), output (bytes); false when it could not be run, was
         * cancelled (then it and its children are killed), or printed too much (EFBIG, with a warning)
         * @throws \ValueError for a null byte in the command, or $max_output below 1
         * Waits.
         * @since 0.1.0
         */
        public static function exec(string $command, bool $get_error_stream = false, int $max_output = 67108864): array|false {}

        /**
         * The first address of a name, by the system's resolver (/etc/hosts, DNS). At most 64 lookups run at once in a process;
         * further ones wait for a place within their time-out. Nothing is cached.
         * @param int $type AF_INET (2) or AF_INET6 (10)
         * @param float $timeout seconds; negative for no limit
         * @return string|false false: Apus\ERROR_DNSLOOKUP_RESOLVE_FAILED, Apus\ERROR_DNSLOOKUP_RESOLVE_TIMEOUT or ECANCELED
         * @throws \ValueError for an empty name, a null byte or another type
         * Waits.
         * @since 0.1.0
         */
        public static function gethostbyname(string $domain_name, int $type = 2, float $timeout = -1): string|false {}

        /**
         * The same as gethostbyname() with other defaults.
         * @param float $timeout seconds; negative for no limit
         * @param int $type AF_INET (2) or AF_INET6 (10)
         * Waits.
         * @since 0.1.0
         */
        public static function dnsLookup(string $domain_name, float $timeout = 60, int $type = 2): string|false {}

        /**
         * All addresses of a name, in the order of the system's resolver; limits as in gethostbyname().
         * @param int $family AF_INET (2) or AF_INET6 (10)
         * @param int $socktype SOCK_STREAM (1), SOCK_DGRAM (2) or 0 for all
         * @param int $protocol IPPROTO_TCP (6), IPPROTO_UDP (17) or 0 for all
         * @param string|null $service a port or its name, which must exist
         * @param float $timeout seconds; negative for no limit
         * @return string[]|false addresses as text
         * @throws \ValueError for an empty name, a null byte or another family
         * Waits.
         * @since 0.1.0
         */
        public static function getaddrinfo(string $domain, int $family = 2, int $socktype = 1, int $protocol = 6, ?string $service = null, float $timeout = -1): array|false {}

        /**
         * What statvfs(3) tells of the file system of a path: bsize, frsize, blocks, bfree, bavail, files, ffree, favail, fsid, flag,
         * namemax.
         * @throws \ValueError for an empty path or a null byte
         * Waits.
         * @since 0.1.0
         */
        public static function statvfs(string $path): array|false {}

        /**
         * A whole file of at most 1 GiB (else EFBIG), read on another thread.
         * @param int $flag LOCK_EX (2) to wait for a shared lock of the file first; else 0
         * @throws \ValueError for an empty name, a null byte or another flag
         * Waits.
         * @since 0.1.0
         */
        public static function readFile(string $filename, int $flag = 0): string|false {}

        /**
         * Writes a file on another thread; it is made when it does not exist, emptied when it does. Cancelled, it may have been written,
         * in part or whole.
         * @param int $flags FILE_APPEND (8) to write at the end; LOCK_EX (2) to wait for the file's lock first, under which it is
         * emptied; or both
         * @return int|false bytes written
         * @throws \ValueError for an empty name, a null byte or another flag
         * Waits.
         * @since 0.1.0
         */
        public static function writeFile(string $filename, string $fileContent, int $flags = 0): int|false {}

        /**
         * fread() that waits in the coroutine: for a socket, pipe or terminal until there is something, for a file until it is in memory.
         * Wrappers without a descriptor (compressed files, streams in PHP) are read as fread() does.
         * @param resource $handle an open stream
         * @param int $length bytes at most; 0 for everything up to the end
         * @throws \TypeError when $handle is no open stream
         * @throws \ValueError for a negative length
         * Waits.
         * @since 0.1.0
         */
        public static function fread(mixed $handle, int $length = 0): string|false {}

        /**
         * fwrite() that waits in the coroutine until all is written.
         * @param resource $handle an open stream
         * @param int $length bytes of $data at most; 0 for all
         * @return int|false bytes written
         * @throws \TypeError when $handle is no open stream
         * @throws \ValueError for a negative length
         * Waits.
         * @since 0.1.0
         */
        public static function fwrite(mixed $handle, string $data, int $length = 0): int|false {}

        /**
         * fgets() that waits in the coroutine: a line with its line break, or what is left before the end. A longer line than 1 MiB comes
         * in pieces of that size.
         * @param resource $handle an open stream
         * @return string|false false at the end, too
         * @throws \TypeError when $handle is no open stream
         * Waits.
         * @since 0.1.0
         */
        public static function fgets(mixed $handle): string|false {}

        /**
         * Waits until any child process has ended, and reaps it. Children that exec() or waitPid() wait for are left to these.
         * @param float $timeout seconds; negative for no limit; 0 to look only
         * @return array|false pid, code (exit code), signal (that killed it, or 0); false also when there is no child (ECHILD)
         * Waits.
         * @since 0.1.0
         */
        public static function wait(float $timeout = -1): array|false {}

        /**
         * Waits until one child process has ended, and reaps it.
         * @param int $pid the child; -1 for any, as wait()
         * @param float $timeout seconds; negative for no limit; 0 to look only
         * @return array|false as wait(); false also when it is no child of this process, or was reaped (ECHILD)
         * @throws \ValueError for another number
         * Waits.
         * @since 0.1.0
         */
        public static function waitPid(int $pid, float $timeout = -1): array|false {}

        /**
         * Waits for a signal. Its handler or default action is suspended meanwhile and comes back afterwards; a signal that comes while no
         * coroutine waits for it has its usual effect. One coroutine at a time can wait for a signal: further ones get false (EBUSY)
         * and a warning.
         * @param int|int[] $signals numbers, but for SIGCHLD (see wait()), SIGKILL, SIGSTOP and those of the program's own faults
         * @param float $timeout seconds; negative for no limit; 0 to look only
         * @return int|false the signal that came; of several that came together the lowest, the others are kept for the next call
         * @throws \ValueError for numbers that cannot be waited for
         * Waits.
         * @since 0.1.0
         */
        public static function waitSignal(array|int $signals, float $timeout = -1): int|false {}

        /**
         * Waits until a descriptor can be read or written without blocking. One that is at its end or broken is ready for everything:
         * using it tells. A stream of which PHP has read ahead is readable; a regular file always is ready.
         * @param resource|object|int $socket a stream, a Socket of ext/sockets, an object of Apus that has a descriptor, or its number
         * @param int $events Apus\EVENT_READ, Apus\EVENT_WRITE or both
         * @param float $timeout seconds; negative for no limit; 0 to look only
         * @return int|false what it is ready for; false also when it is or was closed (EBADF)
         * @throws \TypeError for anything else
         * @throws \ValueError for other events
         * Waits.
         * @since 0.1.0
         */
        public static function waitEvent(mixed $socket, int $events = 512, float $timeout = -1): int|false {}

    }
}

namespace Apus {
    /**
     * Callbacks for descriptors that can be read or written. Each call runs in a coroutine of its own. A callback is called again as
     * long as its descriptor is ready: one that does not read everything is called once more. As long as a descriptor is watched,
     * run() and wait() go on. $fd is a stream, a Socket of ext/sockets, an object of Apus that has a descriptor, or its number.
     * @since 0.1.0
     */
    final class Event
    {
        /**
         * Watches a descriptor: $read_callback($fd) when it can be read, $write_callback($fd) when it can be written; both when it is at
         * its end or broken. While a callback of it waits and has not read anything, it is not called again for that. A descriptor
         * that is closed is not watched any more.
         * @param int $events Apus\EVENT_READ, Apus\EVENT_WRITE or both; each needs its callback
         * @return int|false the descriptor's number; false when it is closed (EBADF), or watched already (EEXIST, with a warning)
         * @throws \TypeError for a value without descriptor
         * @throws \ValueError for other events, or a missing callback
         * Does not wait.
         * @since 0.1.0
         */
        public static function add(mixed $fd, ?callable $read_callback = null, ?callable $write_callback = null, int $events = 512): int|false {}

        /**
         * Changes what is watched. A callback that is null stays what it was.
         * @param int $events Apus\EVENT_READ, Apus\EVENT_WRITE, both, or 0 to watch nothing until the next set()
         * @return bool false when the descriptor is not watched (ENOENT, with a warning)
         * @throws \TypeError for a value without descriptor
         * @throws \ValueError for other events, or a missing callback
         * Does not wait.
         * @since 0.1.0
         */
        public static function set(mixed $fd, ?callable $read_callback = null, ?callable $write_callback = null, int $events = 0): bool {}

        /**
         * Ends the watching of a descriptor; what write() has kept for it is dropped. A stream or Socket may be closed already.
         * @return bool false when it is not watched (ENOENT)
         * @throws \TypeError for a value without descriptor
         * Does not wait.
         * @since 0.1.0
         */
        public static function del(mixed $fd): bool {}

        /**
         * Whether a descriptor is watched for one of these events.
         * @throws \TypeError for a value without descriptor
         * @throws \ValueError for other events
         * Does not wait.
         * @since 0.1.0
         */
        public static function isset(mixed $fd, int $events = 1536): bool {}

        /**
         * Sends to a watched descriptor without waiting: what it does not take now is kept and sent when it does, in order. At most 8 MiB
         * are kept for a descriptor. The bytes go to the descriptor itself, past a stream's filters and TLS.
         * @return bool false when the descriptor is not watched (ENOENT, with a warning), cannot be written to, or too much is kept
         * already (ENOBUFS); then nothing of $data is sent
         * @throws \TypeError for a value without descriptor
         * @throws \ValueError for empty data
         * Does not wait.
         * @since 0.1.0
         */
        public static function write(mixed $fd, string $data): bool {}

        /**
         * Runs the event loop until no coroutine, timer or watched descriptor is left. A script does it at its end by itself.
         * @throws \Apus\Coroutine\Exception NESTED_RUN inside a coroutine
         * @throws \Throwable the first exception that no coroutine caught; everything else is ended then
         * @since 0.1.0
         */
        public static function wait(): void {}

        /**
         * Runs the event loop until a coroutine has run (a timer or event has called back), or nothing is left.
         * @return bool false when there is no loop yet
         * @throws \Apus\Coroutine\Exception NESTED_RUN inside a coroutine
         * @throws \Throwable as wait()
         * @since 0.1.0
         */
        public static function dispatch(): bool {}

        /**
         * Has the event loop end: removes all timers and watched descriptors, and cancels every waiting coroutine with an exception. In a
         * server's worker no coroutine is cancelled, and the server goes on.
         * Does not wait.
         * @since 0.1.0
         */
        public static function exit(): void {}

        /**
         * Has $callback() called at the loop's begin and after each turn of it in which coroutines ran, at most once a millisecond. It does
         * not keep the loop going.
         * @param callable|null $callback null to end it
         * @param bool $before for the callback that is called before the other one: there is one of each
         * @return bool false when there was none to end
         * Does not wait.
         * @since 0.1.0
         */
        public static function cycle(?callable $callback, bool $before = false): bool {}

        /**
         * Has $callback() called in a coroutine at the loop's next turn, in the order of the calls of defer().
         * @return bool true
         * Does not wait.
         * @since 0.1.0
         */
        public static function defer(callable $callback): bool {}

        /**
         * The same as wait(); for programs that register it as a shutdown function.
         * @throws \Apus\Coroutine\Exception NESTED_RUN inside a coroutine
         * @since 0.1.0
         */
        public static function rshutdown(): void {}

    }
}

namespace Apus\Coroutine {
    /**
     * A socket whose methods let other coroutines run while they wait. One coroutine may read while another one writes;
     * a second reader or writer gets an Apus\Coroutine\ConflictException that names both.
     * Time-outs are seconds: 0 takes the socket's own limit (setOption() with SO_RCVTIMEO, setProtocol()), else the settings
     * socket_connect_timeout (2 s) and socket_timeout (none); a negative one is no limit.
     * Failures of the network are return values with errCode (an errno) and errMsg; both are 0 and '' after a success.
     * @since 0.1.0
     */
    class Socket
    {
        /**
         * The descriptor; -1 when closed.
         */
        public readonly int $fd;

        /**
         * The address family: AF_INET, AF_INET6 or AF_UNIX.
         */
        public readonly int $domain;

        /**
         * SOCK_STREAM, SOCK_DGRAM or another of socket(2).
         */
        public readonly int $type;

        /**
         * The protocol; 0 for the usual one.
         */
        public readonly int $protocol;

        /**
         * Why the last method failed: an errno; 0 after a success.
         */
        public int $errCode = 0;

        /**
         * The same in words.
         */
        public string $errMsg = '';

        /**
         * @param int $domain AF_INET, AF_INET6 or AF_UNIX (also Apus\AF_INET …)
         * @param int $type SOCK_STREAM or SOCK_DGRAM (also Apus\SOCK_STREAM …)
         * @throws \Apus\Client\Exception ARGUMENT when the system makes no such socket
         * Does not wait.
         * @since 0.1.0
         */
        public function __construct(int $domain, int $type, int $protocol = 0) {}

        /**
         * Binds to an IP address and port (0: the system chooses one, see getsockname()), or to a path. Takes no names.
         * @return bool false on failure, with errCode
         * Does not wait.
         * @since 0.1.0
         */
        public function bind(string $address, int $port = 0): bool {}

        /**
         * Begins to take connections, of which $backlog may be queued.
         * Does not wait.
         * @since 0.1.0
         */
        public function listen(int $backlog = 512): bool {}

        /**
         * The next connection. It has the settings that setProtocol() gave this socket: framing, times, TLS; but the handshake is the caller's:
         * sslHandshake().
         * @param float $timeout seconds; 0 for the default, negative for no limit
         * @return Apus\Coroutine\Socket|false false on failure: ETIMEDOUT, ECANCELED when closed or cancelled meanwhile
         * Waits.
         * @since 0.1.0
         */
        public function accept(float $timeout = 0): \Apus\Coroutine\Socket|false {}

        /**
         * Connects to a name, an IP address or a path. A name is resolved without blocking; its addresses of this socket's family
         * (8 at most) are tried in turn. With open_ssl it shakes hands, too.
         * @param float $timeout seconds for all of it; 0 for the default (2), negative for no limit
         * @return bool false on failure: an errno, ERROR_DNSLOOKUP_RESOLVE_FAILED or one of ERROR_SSL_*
         * Waits.
         * @since 0.1.0
         */
        public function connect(string $host, int $port = 0, float $timeout = 0): bool {}

        /**
         * Whether the peer has not closed the connection, as far as is known here; nothing is sent.
         * Does not wait.
         * @since 0.1.0
         */
        public function checkLiveness(): bool {}

        /**
         * The coroutine that reads now (Apus\EVENT_READ) or writes (Apus\EVENT_WRITE); 0 for none.
         * Does not wait.
         * @since 0.1.0
         */
        public function getBoundCid(int $event): int {}

        /**
         * What is there to be read, which stays there.
         * @return string|false '' when the peer has ended its side; false with EAGAIN when nothing is there
         * Does not wait.
         * @since 0.1.0
         */
        public function peek(int $length = 65536): string|false {}

        /**
         * Some bytes, as soon as there are any: at most $length.
         * @return string|false '' when the peer has ended its side; false on failure
         * @throws Apus\Coroutine\ConflictException when another coroutine reads
         * Waits.
         * @since 0.1.0
         */
        public function recv(int $length = 65536, float $timeout = 0): string|false {}

        /**
         * $length bytes. Fewer when the peer ends its side, and when a time-out or a cancellation cuts it off: then errCode is set, and
         * what came is returned.
         * @return string|false false when nothing came before a failure
         * Waits.
         * @since 0.1.0
         */
        public function recvAll(int $length = 65536, float $timeout = 0): string|false {}

        /**
         * One line with its end, a \n or a \r; $length bytes of a longer one; what is left at the end of the stream.
         * @return string|false '' at the end; false on failure, what came stays for the next read
         * Waits.
         * @since 0.1.0
         */
        public function recvLine(int $length = 65536, float $timeout = 0): string|false {}

        /**
         * As recv(), but reads as much as there is (64 KiB) from the kernel and keeps the rest for later reads: for many small ones.
         * Waits.
         * @since 0.1.0
         */
        public function recvWithBuffer(int $length = 65536, float $timeout = 0): string|false {}

        /**
         * One whole message, by the rule that setProtocol() settled; without one, what recv() gives. What a time-out or a cancellation
         * left of a message stays for the next call. A message that is longer than package_max_length, or whose length makes no sense,
         * closes the connection: ERROR_PACKAGE_LENGTH_TOO_LARGE, ERROR_PACKAGE_LENGTH_NOT_FOUND, ERROR_PACKAGE_MALFORMED_DATA.
         * @return string|false '' when the peer has ended its side; false on failure, ECONNRESET when that was inside a message
         * Waits.
         * @since 0.1.0
         */
        public function recvPacket(float $timeout = 0): string|false {}

        /**
         * Sends as much as the kernel takes at once, after waiting until it takes something.
         * @return int|false how many bytes; false on failure, EPIPE when the peer is gone
         * @throws Apus\Coroutine\ConflictException when another coroutine writes
         * Waits.
         * @since 0.1.0
         */
        public function send(string $data, float $timeout = 0): int|false {}

        /**
         * As recv() for the sum of the given lengths, cut into pieces of these lengths.
         * @param array $io_vector lengths, 1 or more bytes each
         * Waits.
         * @since 0.1.0
         */
        public function readVector(array $io_vector, float $timeout = 0): array|false {}

        /**
         * As recvAll() for the sum of the given lengths, cut into pieces of these lengths.
         * @param array $io_vector lengths, 1 or more bytes each
         * Waits.
         * @since 0.1.0
         */
        public function readVectorAll(array $io_vector, float $timeout = 0): array|false {}

        /**
         * As send() for several strings in one go.
         * Waits.
         * @since 0.1.0
         */
        public function writeVector(array $io_vector, float $timeout = 0): int|false {}

        /**
         * As sendAll() for several strings in one go.
         * Waits.
         * @since 0.1.0
         */
        public function writeVectorAll(array $io_vector, float $timeout = 0): int|false {}

        /**
         * Sends a regular file, or $length bytes of it from $offset on; 0 for all that follow. It is read beside the loop.
         * Waits.
         * @since 0.1.0
         */
        public function sendFile(string $file, int $offset = 0, int $length = 0): bool {}

        /**
         * Sends all of it.
         * @return int|false how many bytes were sent: fewer when a failure cut it off (errCode is set then); false when none were
         * Waits.
         * @since 0.1.0
         */
        public function sendAll(string $data, float $timeout = 0): int|false {}

        /**
         * One datagram, 64 KiB at most; $peername becomes ['address' => string, 'port' => int].
         * Waits.
         * @since 0.1.0
         */
        public function recvfrom(mixed &$peername, float $timeout = 0): string|false {}

        /**
         * Sends one datagram to a name, an IP address or a path.
         * Waits.
         * @since 0.1.0
         */
        public function sendto(string $addr, int $port, string $data): int|false {}

        /**
         * The value of an option of socket(7), tcp(7) …: an int; arrays for SO_LINGER (l_onoff, l_linger), SO_RCVTIMEO and SO_SNDTIMEO
         * (sec, usec); a string for SO_BINDTODEVICE and TCP_CONGESTION.
         * @return mixed false on failure
         * Does not wait.
         * @since 0.1.0
         */
        public function getOption(int $level, int $opt_name): mixed {}

        /**
         * Settles how messages are framed and how TLS is spoken: the settings under "Clients" in docs/options.md, and
         * package_length_func, a callable (string $bytes): int that gives the length of the whole message at the front of $bytes, 0 to be
         * asked again when there are more, -1 when they are wrong. Later calls change what they name.
         * @throws \Apus\Client\Exception OPTION for what is unknown or out of its limits; nothing is changed then
         * Does not wait.
         * @since 0.1.0
         */
        public function setProtocol(array $settings): bool {}

        /**
         * Sets what getOption() gives. SO_RCVTIMEO and SO_SNDTIMEO limit the waits of this socket's methods.
         * Does not wait.
         * @since 0.1.0
         */
        public function setOption(int $level, int $opt_name, mixed $opt_value): bool {}

        /**
         * Begins TLS: as the server on an accepted connection (ssl_cert_file and ssl_key_file are needed), else as the client.
         * The server is verified unless ssl_verify_peer is off.
         * @return bool false on failure: ERROR_SSL_HANDSHAKE_FAILED, ERROR_SSL_VERIFY_FAILED, ERROR_SSL_CREATE_CONTEXT_FAILED, an errno
         * Waits.
         * @since 0.1.0
         */
        public function sslHandshake(): bool {}

        /**
         * Ends reading (0), writing (1) or both (2); TLS says goodbye before writing ends.
         * Does not wait.
         * @since 0.1.0
         */
        public function shutdown(int $how = 2): bool {}

        /**
         * Has the coroutine that waits for reading (Apus\EVENT_READ) or writing (Apus\EVENT_WRITE) go on: its method fails with
         * ECANCELED.
         * @return bool false when none waits
         * Does not wait.
         * @since 0.1.0
         */
        public function cancel(int $event = 512): bool {}

        /**
         * Closes it; once more does nothing. Coroutines that wait go on: their methods fail with ECANCELED.
         * @return bool true
         * Does not wait.
         * @since 0.1.0
         */
        public function close(): bool {}

        /**
         * The peer's ['address' => string, 'port' => int]; a path and 0 for Unix sockets.
         * Does not wait.
         * @since 0.1.0
         */
        public function getpeername(): array|false {}

        /**
         * The own ['address' => string, 'port' => int].
         * Does not wait.
         * @since 0.1.0
         */
        public function getsockname(): array|false {}

        /**
         * Whether it was closed, here.
         * Does not wait.
         * @since 0.1.0
         */
        public function isClosed(): bool {}

        /**
         * A socket over that of a stream or of ext/sockets, with a descriptor of its own. Use only one of the two for reading: what the
         * stream has read ahead stays with it.
         * @return Apus\Coroutine\Socket|false false when it is no socket
         * Does not wait.
         * @since 0.1.0
         */
        public static function import(mixed $stream): \Apus\Coroutine\Socket|false {}

    }
}

namespace Apus\Coroutine {
    /**
     * A client of TCP, UDP, Unix sockets and TLS, whose methods let other coroutines run while they wait. One coroutine may read
     * while another one writes; a second one gets an Apus\Coroutine\ConflictException that names both.
     * Time-outs are seconds: 0 takes the settings timeout, connect_timeout, read_timeout and write_timeout of set(), else
     * socket_connect_timeout (2 s) and socket_timeout (none); a negative one is no limit.
     * Failures of the network are return values with errCode and errMsg; both are 0 and '' after a success.
     * @since 0.1.0
     */
    class Client
    {
        /**
         * Out-of-band data.
         */
        public const MSG_OOB = 1;

        /**
         * Leave the bytes where they are.
         */
        public const MSG_PEEK = 2;

        /**
         * Fail with EAGAIN instead of waiting.
         */
        public const MSG_DONTWAIT = 64;

        /**
         * Wait until all bytes have come.
         */
        public const MSG_WAITALL = 256;

        /**
         * Why the last method failed: an errno or an Apus\ERROR_*; 0 after a success.
         */
        public int $errCode = 0;

        /**
         * The same in words.
         */
        public string $errMsg = '';

        /**
         * The descriptor; -1 for none.
         */
        public int $fd = -1;

        /**
         * What exportSocket() gave.
         */
        public ?\Apus\Coroutine\Socket $socket = null;

        /**
         * The type that the constructor was given.
         */
        public int $type = 0;

        /**
         * What set() was given, all calls together.
         */
        public ?array $setting = null;

        /**
         * Whether connect() succeeded and close() was not called.
         */
        public bool $connected = false;

        /**
         * @param int $type Apus\SOCK_TCP, SOCK_TCP6, SOCK_UDP, SOCK_UDP6, UNIX_STREAM or UNIX_DGRAM; streams with | Apus\SSL speak TLS
         * @throws \ValueError for another type
         * Does not wait.
         * @since 0.1.0
         */
        public function __construct(int $type) {}

        /**
         * Settles time-outs, framing, TLS …: the settings under "Clients" in docs/options.md, and package_length_func, a callable
         * (string $bytes): int. Later calls change what they name; a connection that is there follows at once.
         * @throws \Apus\Client\Exception OPTION for what is unknown or out of its limits; nothing is changed then
         * Does not wait.
         * @since 0.1.0
         */
        public function set(array $settings): bool {}

        /**
         * Connects to a name, an IP address or a path, and shakes hands for TLS.
         * @param float $timeout seconds for all of it; 0 for the default (2), negative for no limit
         * @param int $sock_flag without effect
         * @return bool false on failure: an errno, ERROR_DNSLOOKUP_RESOLVE_FAILED or one of ERROR_SSL_*; EISCONN when connected already
         * Waits.
         * @since 0.1.0
         */
        public function connect(string $host, int $port = 0, float $timeout = 0, int $sock_flag = 0): bool {}

        /**
         * Some bytes, 64 KiB at most; with open_length_check or open_eof_check one whole message. A message that breaks its rule closes the
         * connection.
         * @return string|false '' when the peer has ended its side; false on failure
         * Waits.
         * @since 0.1.0
         */
        public function recv(float $timeout = 0): string|false {}

        /**
         * What is there to be read, which stays there; false with EAGAIN when nothing is.
         * Does not wait.
         * @since 0.1.0
         */
        public function peek(int $length = 65535): string|false {}

        /**
         * Sends all of it.
         * @return int|false how many bytes were sent: fewer when a failure cut it off (errCode is set then); false when none were
         * Waits.
         * @since 0.1.0
         */
        public function send(string $data, float $timeout = 0): int|false {}

        /**
         * Sends a regular file, or $length bytes of it from $offset on; 0 for all that follow.
         * Waits.
         * @since 0.1.0
         */
        public function sendfile(string $filename, int $offset = 0, int $length = 0): bool {}

        /**
         * Sends one datagram; needs no connect().
         * @throws \Apus\Client\Exception STATE when the client is not one of datagrams
         * Waits.
         * @since 0.1.0
         */
        public function sendto(string $address, int $port, string $data): bool {}

        /**
         * One datagram, $length bytes of it at most, and who sent it.
         * Waits.
         * @since 0.1.0
         */
        public function recvfrom(int $length, mixed &$address, mixed &$port = 0): string|false {}

        /**
         * Begins TLS on a connection that was made without.
         * Waits.
         * @since 0.1.0
         */
        public function enableSSL(): bool {}

        /**
         * The server's certificate as PEM.
         * Does not wait.
         * @since 0.1.0
         */
        public function getPeerCert(): string|false {}

        /**
         * Verifies the server's certificate, for connections that were made with ssl_verify_peer off.
         * @return bool false with ERROR_SSL_VERIFY_FAILED when it is not valid; errMsg tells why
         * Does not wait.
         * @since 0.1.0
         */
        public function verifyPeerCert(bool $allow_self_signed = false): bool {}

        /**
         * Whether there is a connection that the peer has not closed, as far as is known here; nothing is sent.
         * Does not wait.
         * @since 0.1.0
         */
        public function isConnected(): bool {}

        /**
         * The own ['host' => string, 'address' => the same, 'port' => int].
         * Does not wait.
         * @since 0.1.0
         */
        public function getsockname(): array|false {}

        /**
         * The peer's ['host' => string, 'address' => the same, 'port' => int].
         * Does not wait.
         * @since 0.1.0
         */
        public function getpeername(): array|false {}

        /**
         * Closes the connection; the client can connect anew. Coroutines that wait go on: their methods fail with ECANCELED.
         * @return bool false when there was none
         * Does not wait.
         * @since 0.1.0
         */
        public function close(): bool {}

        /**
         * The connection as a Coroutine\Socket, the same object each time. Closing either closes both.
         * Does not wait.
         * @since 0.1.0
         */
        public function exportSocket(): \Apus\Coroutine\Socket|false {}

    }
}

namespace Apus {
    /**
     * A client of TCP, UDP, Unix sockets and TLS for code outside coroutines, where it blocks its process; inside a coroutine it lets
     * the others run. The time-out of connect(), half a second unless given, limits each later operation, too.
     * Failures of the network are return values with errCode and errMsg; both are 0 and '' after a success.
     * @since 0.1.0
     */
    class Client
    {
        /**
         * Out-of-band data.
         */
        public const MSG_OOB = 1;

        /**
         * Leave the bytes where they are.
         */
        public const MSG_PEEK = 2;

        /**
         * Fail with EAGAIN instead of waiting.
         */
        public const MSG_DONTWAIT = 64;

        /**
         * Wait until all bytes have come.
         */
        public const MSG_WAITALL = 256;

        /**
         * End reading.
         */
        public const SHUT_RD = 0;

        /**
         * End writing.
         */
        public const SHUT_WR = 1;

        /**
         * End both.
         */
        public const SHUT_RDWR = 2;

        /**
         * Why the last method failed: an errno or an Apus\ERROR_*; 0 after a success.
         */
        public int $errCode = 0;

        /**
         * The descriptor; -1 for none.
         */
        public int $sock = -1;

        /**
         * Always false: an object keeps its own connection.
         */
        public bool $reuse = false;

        /**
         * Always 0.
         */
        public int $reuseCount = 0;

        /**
         * The type that the constructor was given.
         */
        public int $type = 0;

        /**
         * The id that the constructor was given.
         */
        public string $id = '';

        /**
         * What set() was given, all calls together.
         */
        public ?array $setting = null;

        /**
         * errCode in words.
         */
        public string $errMsg = '';

        /**
         * @param int $type Apus\SOCK_TCP, SOCK_TCP6, SOCK_UDP, SOCK_UDP6, UNIX_STREAM or UNIX_DGRAM; streams with | Apus\SSL speak TLS
         * @param bool $async must be false
         * @throws \ValueError for another type
         * @throws \Apus\Client\Exception OPTION when $async is true
         * Does not wait.
         * @since 0.1.0
         */
        public function __construct(int $type, bool $async = false, string $id = '') {}

        /**
         * Settles time-outs, framing, TLS …: the settings under "Clients" in docs/options.md, and package_length_func.
         * @throws \Apus\Client\Exception OPTION for what is unknown or out of its limits; nothing is changed then
         * Does not wait.
         * @since 0.1.0
         */
        public function set(array $settings): bool {}

        /**
         * Connects to a name, an IP address or a path, and shakes hands for TLS. Outside coroutines a name is resolved in the time that the
         * system's resolver takes.
         * @param float $timeout seconds, for this and for each later operation; negative for no limit
         * @param int $sock_flag without effect
         * @return bool false on failure: an errno, ERROR_DNSLOOKUP_RESOLVE_FAILED or one of ERROR_SSL_*; EISCONN when connected already
         * Waits.
         * @since 0.1.0
         */
        public function connect(string $host, int $port = 0, float $timeout = 0.5, int $sock_flag = 0): bool {}

        /**
         * Some bytes, at most $size; with MSG_WAITALL as many; with open_length_check or open_eof_check and no flag one whole message.
         * @return string|false '' when the peer has ended its side; false on failure: ETIMEDOUT, EAGAIN with MSG_DONTWAIT
         * Waits.
         * @since 0.1.0
         */
        public function recv(int $size = 65536, int $flag = 0): string|false {}

        /**
         * Sends all of it; with a flag what the kernel takes at once.
         * @return int|false how many bytes were sent: fewer when a failure cut it off (errCode is set then); false when none were
         * Waits.
         * @since 0.1.0
         */
        public function send(string $data, int $flag = 0): int|false {}

        /**
         * Sends a regular file, or $length bytes of it from $offset on; 0 for all that follow.
         * Waits.
         * @since 0.1.0
         */
        public function sendfile(string $filename, int $offset = 0, int $length = 0): bool {}

        /**
         * Sends one datagram; needs no connect().
         * @throws \Apus\Client\Exception STATE when the client is not one of datagrams
         * Waits.
         * @since 0.1.0
         */
        public function sendto(string $ip, int $port, string $data): bool {}

        /**
         * Ends reading (SHUT_RD), writing (SHUT_WR) or both (SHUT_RDWR).
         * Does not wait.
         * @since 0.1.0
         */
        public function shutdown(int $how): bool {}

        /**
         * Begins TLS on a connection that was made without.
         * @throws \ValueError when a callback is given: the handshake is done when this returns
         * Waits.
         * @since 0.1.0
         */
        public function enableSSL(?callable $onSslReady = null): bool {}

        /**
         * The server's certificate as PEM; false for none.
         * Does not wait.
         * @since 0.1.0
         */
        public function getPeerCert(): string|bool {}

        /**
         * Verifies the server's certificate, for connections that were made with ssl_verify_peer off.
         * Does not wait.
         * @since 0.1.0
         */
        public function verifyPeerCert(bool $allow_self_signed = false): bool {}

        /**
         * Whether there is a connection that the peer has not closed, as far as is known here; nothing is sent.
         * Does not wait.
         * @since 0.1.0
         */
        public function isConnected(): bool {}

        /**
         * The own ['host' => string, 'address' => the same, 'port' => int].
         * Does not wait.
         * @since 0.1.0
         */
        public function getsockname(): array|false {}

        /**
         * The peer's ['host' => string, 'address' => the same, 'port' => int].
         * Does not wait.
         * @since 0.1.0
         */
        public function getpeername(): array|false {}

        /**
         * Closes the connection; the client can connect anew.
         * @return bool false when there was none
         * Does not wait.
         * @since 0.1.0
         */
        public function close(bool $force = false): bool {}

    }
}

namespace Apus\WebSocket {
    /**
     * A WebSocket message or control frame (RFC 6455).
     * @since 0.1.0
     */
    class Frame implements \Stringable
    {
        /**
         * int The connection that it came over; 0 for one made by the program.
         */
        public $fd = 0;

        /**
         * string What it carries.
         */
        public $data = '';

        /**
         * int What it is: one of Apus\WEBSOCKET_OPCODE_*.
         */
        public $opcode = 1;

        /**
         * int The sum of Apus\WEBSOCKET_FLAG_*.
         */
        public $flags = 1;

        /**
         * bool Whether it is the last fragment of its message.
         */
        public $finish = true;

        /**
         * Its bytes on the wire, as pack() makes them.
         * @throws \Apus\Client\Exception ARGUMENT for a frame that RFC 6455 forbids
         * Does not wait.
         * @since 0.1.0
         */
        public function __toString(): string {}

        /**
         * The bytes of a frame; of a Frame object, whose own opcode and flags rule. WEBSOCKET_FLAG_MASK masks with a random
         * key, WEBSOCKET_FLAG_COMPRESS compresses a whole message by itself. Without FIN or COMPRESS a fragment.
         * @throws \Apus\Client\Exception ARGUMENT for an unknown opcode, text that is not UTF-8, a long control frame
         * Does not wait.
         * @since 0.1.0
         */
        public static function pack(\Apus\WebSocket\Frame|string $data, int $opcode = 1, int $flags = 1): string {}

        /**
         * The frame that the bytes begin with, unmasked and decompressed (up to 64 MiB); a CloseFrame where it is one.
         * @return Frame|false false when they are not a whole frame
         * Does not wait.
         * @since 0.1.0
         */
        public static function unpack(string $data): \Apus\WebSocket\Frame|false {}

    }
}

namespace Apus\WebSocket {
    /**
     * The frame that ends a WebSocket's conversation.
     * @since 0.1.0
     */
    class CloseFrame extends \Apus\WebSocket\Frame
    {
        /**
         * int Apus\WEBSOCKET_OPCODE_CLOSE.
         */
        public $opcode = 8;

        /**
         * int Why: one of Apus\WEBSOCKET_CLOSE_*, or 3000 to 4999.
         */
        public $code = 1000;

        /**
         * string Why, in up to 123 bytes of UTF-8.
         */
        public $reason = '';

    }
}

namespace Apus\Coroutine\Http {
    /**
     * An HTTP/1.1 and WebSocket client of one server. A request whose answer does not come gives false, a negative
     * $statusCode (Apus\HTTP_CLIENT_ESTATUS_*), $errCode (the kernel's error number; 711: the name cannot be resolved, 1014
     * and 1018: TLS, 7102: the answer is not HTTP, 7103: the proxy refused, 8503 and 8504: WebSocket) and $errMsg.
     * A kept connection that the server has closed is replaced, and the request sent again, when the server cannot have
     * acted on it. One coroutine at a time may use a client; as a WebSocket one may receive while another sends.
     * @since 0.1.0
     */
    class Client
    {
        /**
         * null Kept for programs that name it; the connection is not given out.
         */
        public $socket = null;

        /**
         * int Why the last call failed; 0 when it did not.
         */
        public $errCode = 0;

        /**
         * string The same in words.
         */
        public $errMsg = '';

        /**
         * bool Whether a connection is kept, as of the last call.
         */
        public $connected = false;

        /**
         * string The host.
         */
        public $host = '';

        /**
         * int The port.
         */
        public $port = 0;

        /**
         * bool Whether TLS is spoken.
         */
        public $ssl = false;

        /**
         * array|null What set() was given.
         */
        public $setting = null;

        /**
         * string|null The method; null for POST with a body, GET without.
         */
        public $requestMethod = null;

        /**
         * array|null Header fields of requests: name => value, or a list of values.
         */
        public $requestHeaders = null;

        /**
         * string|array|null The body; an array is a form.
         */
        public $requestBody = null;

        /**
         * array|null Files of the next request: see addFile() and addData().
         */
        public $uploadFiles = null;

        /**
         * string|null The file that the next answer's body goes into.
         */
        public $downloadFile = null;

        /**
         * int Where in that file it begins, in bytes.
         */
        public $downloadOffset = 0;

        /**
         * int The answer's status, or Apus\HTTP_CLIENT_ESTATUS_* without an answer.
         */
        public $statusCode = 0;

        /**
         * array|null The answer's header fields, names lower-case; several of one name are an array.
         */
        public $headers = null;

        /**
         * array|null The answer's Set-Cookie fields as they came.
         */
        public $set_cookie_headers = null;

        /**
         * array|null Cookies that requests carry: those of setCookies() and those that answers set.
         */
        public $cookies = null;

        /**
         * string The answer's body.
         */
        public $body = '';

        /**
         * A client of one server; it connects when it is first used.
         * @param string $host name, IP address, or unix:/path
         * @param int $port 0 for 80, or 443 with TLS
         * @throws \Apus\Client\Exception ARGUMENT
         * Does not wait.
         * @since 0.1.0
         */
        public function __construct(string $host, int $port = 0, bool $ssl = false) {}

        /**
         * Closes the connection.
         * Does not wait.
         * @since 0.1.0
         */
        public function __destruct() {}

        /**
         * Changes settings of this client: see docs/options.md, scope "client". All are applied, or none; they rule from the
         * next request, those of the connection from the next one made. Besides, write_func is a callable(Client $client,
         * string $data) that gets the bodies of answers piece by piece, decompressed, as they come; $body then stays empty, and
         * no more is read than it has taken. Deferred requests do not use it.
         * @return bool true
         * @throws \Apus\Client\Exception OPTION for an unknown setting or a value out of its limits
         * Does not wait.
         * @since 0.1.0
         */
        public function set(array $settings): bool {}

        /**
         * Whether requests are deferred.
         * Does not wait.
         * @since 0.1.0
         */
        public function getDefer(): bool {}

        /**
         * Has execute() & co. return at once, the request under way; recv() then waits for its answer.
         * @return bool true
         * Does not wait.
         * @since 0.1.0
         */
        public function setDefer(bool $defer = true): bool {}

        /**
         * Sets the method of the requests that execute() makes.
         * @return bool true
         * @throws \Apus\Client\Exception ARGUMENT when it is no token
         * Does not wait.
         * @since 0.1.0
         */
        public function setMethod(string $method): bool {}

        /**
         * Sets the header fields of all requests, in place of earlier ones: name => value, or a list of values; null leaves one
         * out. Host, Connection and Accept-Encoding rule over the client's own; Content-Length is always the client's.
         * @return bool true
         * @throws \Apus\Client\Exception ARGUMENT for what RFC 9110 section 5 forbids
         * Does not wait.
         * @since 0.1.0
         */
        public function setHeaders(array $headers): bool {}

        /**
         * Has requests carry Basic credentials (RFC 7617).
         * @throws \Apus\Client\Exception ARGUMENT for a user name with a colon
         * Does not wait.
         * @since 0.1.0
         */
        public function setBasicAuth(string $username, string $password): void {}

        /**
         * Sets the cookies that requests carry, name => value, in place of earlier ones; values are percent-encoded.
         * @return bool true
         * Does not wait.
         * @since 0.1.0
         */
        public function setCookies(array $cookies): bool {}

        /**
         * Sets the body of the requests that execute() makes: bytes, or the fields of a form.
         * @return bool true
         * Does not wait.
         * @since 0.1.0
         */
        public function setData(array|string $data): bool {}

        /**
         * Adds (a part of) a file to the next request, which becomes a multipart form. It is read while it is sent.
         * @param string $name the form field's name
         * @param string|null $type media type; null for the one of its extension
         * @param string|null $filename what the server is told; null for its own
         * @param int $offset bytes from its start
         * @param int $length bytes; 0 for the rest of it
         * @return bool true
         * @throws \Apus\Client\Exception ARGUMENT when it cannot be read or is shorter
         * Does not wait.
         * @since 0.1.0
         */
        public function addFile(string $path, string $name, ?string $type = null, ?string $filename = null, int $offset = 0, int $length = 0): bool {}

        /**
         * Adds a string to the next request as if it were a file.
         * @param string $path what the file holds
         * @param string $name the form field's name
         * @param string|null $type media type; null for application/octet-stream
         * @param string|null $filename null for $name
         * @return bool true
         * Does not wait.
         * @since 0.1.0
         */
        public function addData(string $path, string $name, ?string $type = null, ?string $filename = null): bool {}

        /**
         * Makes the request that was set up, and waits for its answer.
         * @param string $path path and query; what a URL cannot hold is percent-encoded
         * @return bool false without an answer: see the class
         * @throws \Apus\Client\Exception ARGUMENT for a path, method, header or cookie that HTTP cannot carry; STATE on a
         * WebSocket, or while a deferred answer was not fetched
         * @throws \Apus\Coroutine\ConflictException when another coroutine uses the client
         * @throws \Apus\Coroutine\Exception NOT_IN_COROUTINE, CANNOT_SWITCH
         * @throws \Apus\Coroutine\CanceledException when cancelled with an exception
         * Waits.
         * @since 0.1.0
         */
        public function execute(string $path): bool {}

        /**
         * The same as execute() with GET.
         * @throws \Apus\Client\Exception ARGUMENT for a path, method, header or cookie that HTTP cannot carry; STATE on a
         * WebSocket, or while a deferred answer was not fetched
         * @throws \Apus\Coroutine\ConflictException when another coroutine uses the client
         * @throws \Apus\Coroutine\Exception NOT_IN_COROUTINE, CANNOT_SWITCH
         * @throws \Apus\Coroutine\CanceledException when cancelled with an exception
         * Waits.
         * @since 0.1.0
         */
        public function get(string $path): bool {}

        /**
         * The same as execute() with POST and this body, which later requests do not have.
         * @param string|array $data bytes, or the fields of a form
         * @throws \Apus\Client\Exception ARGUMENT for a path, method, header or cookie that HTTP cannot carry; STATE on a
         * WebSocket, or while a deferred answer was not fetched
         * @throws \Apus\Coroutine\ConflictException when another coroutine uses the client
         * @throws \Apus\Coroutine\Exception NOT_IN_COROUTINE, CANNOT_SWITCH
         * @throws \Apus\Coroutine\CanceledException when cancelled with an exception
         * Waits.
         * @since 0.1.0
         */
        public function post(string $path, mixed $data): bool {}

        /**
         * Makes the request that was set up, and stores the body of a successful answer (2xx) in a file; $body stays empty.
         * At offset 0 what the file held is cut off; to go on with a file, give its size here and a Range header.
         * @param int $offset bytes from the file's start
         * @throws \ValueError for a negative offset
         * @throws \Apus\Client\Exception ARGUMENT for a path, method, header or cookie that HTTP cannot carry; STATE on a
         * WebSocket, or while a deferred answer was not fetched
         * @throws \Apus\Coroutine\ConflictException when another coroutine uses the client
         * @throws \Apus\Coroutine\Exception NOT_IN_COROUTINE, CANNOT_SWITCH
         * @throws \Apus\Coroutine\CanceledException when cancelled with an exception
         * Waits.
         * @since 0.1.0
         */
        public function download(string $path, string $file, int $offset = 0): bool {}

        /**
         * $body.
         * Does not wait.
         * @since 0.1.0
         */
        public function getBody(): string|false {}

        /**
         * $headers.
         * Does not wait.
         * @since 0.1.0
         */
        public function getHeaders(): array|false|null {}

        /**
         * $cookies.
         * Does not wait.
         * @since 0.1.0
         */
        public function getCookies(): array|false|null {}

        /**
         * $statusCode.
         * Does not wait.
         * @since 0.1.0
         */
        public function getStatusCode(): int|false {}

        /**
         * The head of the request that was sent last.
         * @return string|false false before the first
         * Does not wait.
         * @since 0.1.0
         */
        public function getHeaderOut(): string|false {}

        /**
         * address and port of the server (or proxy) that the kept connection leads to.
         * @return array|false false without one
         * Does not wait.
         * @since 0.1.0
         */
        public function getpeername(): array|false {}

        /**
         * address and port of our end of the kept connection.
         * @return array|false false without one
         * Does not wait.
         * @since 0.1.0
         */
        public function getsockname(): array|false {}

        /**
         * The server's certificate, as PEM.
         * @return string|false false without TLS or a kept connection
         * Does not wait.
         * @since 0.1.0
         */
        public function getPeerCert(): string|false {}

        /**
         * Asks the server to go on with WebSocket (RFC 6455), with GET and the headers that were set. A request that is
         * answered otherwise gives false, too: $statusCode tells.
         * @throws \Apus\Client\Exception ARGUMENT for a path, method, header or cookie that HTTP cannot carry; STATE on a
         * WebSocket, or while a deferred answer was not fetched
         * @throws \Apus\Coroutine\ConflictException when another coroutine uses the client
         * @throws \Apus\Coroutine\Exception NOT_IN_COROUTINE, CANNOT_SWITCH
         * @throws \Apus\Coroutine\CanceledException when cancelled with an exception
         * Waits.
         * @since 0.1.0
         */
        public function upgrade(string $path): bool {}

        /**
         * Sends a WebSocket message, and waits until it has left. It is compressed where the server agreed to that.
         * @param string|\Apus\WebSocket\Frame $data a frame's own opcode and flags rule
         * @param int $opcode Apus\WEBSOCKET_OPCODE_*
         * @param int $flags Apus\WEBSOCKET_FLAG_*; 0 when fragments with opcode CONTINUATION follow, in their order
         * @return bool false when the WebSocket is closed, or the time `write_timeout` is over (the rest then leaves with the next frame)
         * @throws \Apus\Client\Exception STATE when upgrade() did not succeed before; ARGUMENT for what no frame can carry
         * @throws \Apus\Coroutine\ConflictException when another coroutine sends
         * @throws \Apus\Coroutine\Exception NOT_IN_COROUTINE, CANNOT_SWITCH
         * @throws \Apus\Coroutine\CanceledException when cancelled with an exception
         * Waits.
         * @since 0.1.0
         */
        public function push(mixed $data, int $opcode = 1, int $flags = 1): bool {}

        /**
         * Waits for the next WebSocket message, put together from its fragments; pings are answered meanwhile. After a deferred
         * request: waits for its answer.
         * @param float $timeout seconds; negative for no limit, 0 for `read_timeout` or else `timeout`
         * @return Frame|string|bool the message; '' when the server has closed; false when the time is over ($errCode 110, the
         * WebSocket goes on), or it broke; for a deferred request what execute() would have returned
         * @throws \Apus\Client\Exception STATE when there is neither
         * @throws \Apus\Coroutine\ConflictException when another coroutine receives
         * @throws \Apus\Coroutine\Exception NOT_IN_COROUTINE, CANNOT_SWITCH
         * @throws \Apus\Coroutine\CanceledException when cancelled with an exception
         * Waits.
         * @since 0.1.0
         */
        public function recv(float $timeout = 0): \Apus\WebSocket\Frame|string|bool {}

        /**
         * Closes the connection; a coroutine that waits for it gets false and $errCode 104.
         * @return bool false when there was none
         * Does not wait.
         * @since 0.1.0
         */
        public function close(): bool {}

        /**
         * Sends a WebSocket ping.
         * @param string $data up to 125 bytes, which the server sends back
         * @throws \ValueError when it is longer
         * @return bool false when the WebSocket is closed, or the time `write_timeout` is over (the rest then leaves with the next frame)
         * @throws \Apus\Client\Exception STATE when upgrade() did not succeed before; ARGUMENT for what no frame can carry
         * @throws \Apus\Coroutine\ConflictException when another coroutine sends
         * @throws \Apus\Coroutine\Exception NOT_IN_COROUTINE, CANNOT_SWITCH
         * @throws \Apus\Coroutine\CanceledException when cancelled with an exception
         * Waits.
         * @since 0.1.0
         */
        public function ping(string $data = ''): bool {}

        /**
         * Sends a WebSocket close frame, waits for the server's for up to a second (where no other coroutine receives), and
         * closes the connection.
         * @param int $code Apus\WEBSOCKET_CLOSE_*, or 3000 to 4999
         * @param string $reason up to 123 bytes of UTF-8
         * @return bool false when the WebSocket is closed, or the time `write_timeout` is over (the rest then leaves with the next frame)
         * @throws \Apus\Client\Exception STATE when upgrade() did not succeed before; ARGUMENT for what no frame can carry
         * @throws \Apus\Coroutine\ConflictException when another coroutine sends
         * @throws \Apus\Coroutine\Exception NOT_IN_COROUTINE, CANNOT_SWITCH
         * @throws \Apus\Coroutine\CanceledException when cancelled with an exception
         * Waits.
         * @since 0.1.0
         */
        public function disconnect(int $code = 1000, string $reason = ''): bool {}

    }
}

namespace Apus\Coroutine\Http {
    /**
     * The answer to a request that Apus\Coroutine\Http\request(), get() or post() made: getStatusCode(), getHeaders(),
     * getCookies() and getBody() tell it.
     * @since 0.1.0
     */
    class ClientProxy extends \Apus\Coroutine\Http\Client
    {
    }
}

namespace Apus\Http2 {
    /**
     * A request that Apus\Coroutine\Http2\Client::send() sends.
     * @since 0.1.0
     */
    class Request
    {
        /**
         * string Path and query.
         */
        public $path = '/';

        /**
         * string The method.
         */
        public $method = 'GET';

        /**
         * array|null Header fields: name => value, or a list of values.
         */
        public $headers = null;

        /**
         * array|null Cookies: name => value.
         */
        public $cookies = null;

        /**
         * string|array The body; an array is a form.
         */
        public $data = '';

        /**
         * bool Whether more of the body follows by write().
         */
        public $pipeline = false;

        /**
         * bool Whether the answer is given piece by piece, by read().
         */
        public $usePipelineRead = false;

    }
}

namespace Apus\Http2 {
    /**
     * An answer that came over HTTP/2, or a piece of one.
     * @since 0.1.0
     */
    class Response
    {
        /**
         * int The stream, as send() returned it.
         */
        public $streamId = 0;

        /**
         * int Why the stream broke: one of Apus\HTTP2_ERROR_*, or a kernel's error number; 0 when it did not.
         */
        public $errCode = 0;

        /**
         * int The status; -3 when the stream broke.
         */
        public $statusCode = 0;

        /**
         * bool Whether more of this answer follows.
         */
        public $pipeline = false;

        /**
         * array|null Fields, names lower-case, those of the trailer section too.
         */
        public $headers = null;

        /**
         * array|null Set-Cookie fields as they came.
         */
        public $set_cookie_headers = null;

        /**
         * array|null What they set: name => value.
         */
        public $cookies = null;

        /**
         * string The body, or the next piece of it.
         */
        public $data = null;

    }
}

namespace Apus\Coroutine\Http2 {
    /**
     * An HTTP/2 client (RFC 9113) of one server: many requests at once over one connection, by ALPN with TLS, with prior
     * knowledge without. What fails gives false, $errCode (see Apus\Coroutine\Http\Client) and $errMsg. Any number of
     * coroutines may send at once; one receives.
     * @since 0.1.0
     */
    class Client
    {
        /**
         * int Why the last call failed; 0 when it did not.
         */
        public $errCode = 0;

        /**
         * string The same in words.
         */
        public $errMsg = '';

        /**
         * int Kept for programs that name it.
         */
        public $sock = -1;

        /**
         * int Kept for programs that name it.
         */
        public $type = 0;

        /**
         * array|null What set() was given.
         */
        public $setting = null;

        /**
         * null Kept for programs that name it; the connection is not given out.
         */
        public $socket = null;

        /**
         * bool Whether there is a connection, as of the last call.
         */
        public $connected = false;

        /**
         * string The host.
         */
        public $host = null;

        /**
         * int The port.
         */
        public $port = 0;

        /**
         * bool Whether TLS is spoken.
         */
        public $ssl = false;

        /**
         * int The highest stream that the server has answered.
         */
        public $serverLastStreamId = 0;

        /**
         * A client of one server.
         * @param string $host name, IP address, or unix:/path
         * @param int $port 0 for 80, or 443 with TLS
         * @throws \Apus\Client\Exception ARGUMENT
         * Does not wait.
         * @since 0.1.0
         */
        public function __construct(string $host, int $port = 80, bool $open_ssl = false) {}

        /**
         * Closes the connection.
         * Does not wait.
         * @since 0.1.0
         */
        public function __destruct() {}

        /**
         * Changes settings of this client: see docs/options.md, scope "client". All are applied, or none.
         * @return bool true
         * @throws \Apus\Client\Exception OPTION for an unknown setting or a value out of its limits
         * Does not wait.
         * @since 0.1.0
         */
        public function set(array $settings): bool {}

        /**
         * Connects.
         * @return bool false when that fails, or there is a connection already ($errCode 106)
         * @throws \Apus\Coroutine\ConflictException when another coroutine connects
         * @throws \Apus\Coroutine\Exception NOT_IN_COROUTINE, CANNOT_SWITCH
         * @throws \Apus\Coroutine\CanceledException when cancelled with an exception
         * Waits.
         * @since 0.1.0
         */
        public function connect(): bool {}

        /**
         * current_stream_id (begun last), last_stream_id (the highest that was answered), active_stream_num, max_stream_num
         * (streams that the server allows at once); one of them with $key.
         * @throws \ValueError for another key
         * Does not wait.
         * @since 0.1.0
         */
        public function stats(string $key = ''): array|int {}

        /**
         * Whether the answer of a stream is not complete; for 0 whether there is a connection.
         * Does not wait.
         * @since 0.1.0
         */
        public function isStreamExist(int $stream_id): bool {}

        /**
         * Begins a request; recv() gives its answer. Waits only while the server allows no further stream, for up to
         * `timeout`; the body leaves as its window allows.
         * @return int|false the stream's id, which the answer carries
         * @throws \Apus\Client\Exception ARGUMENT for what HTTP cannot carry
         * @throws \Apus\Coroutine\Exception NOT_IN_COROUTINE, CANNOT_SWITCH
         * @throws \Apus\Coroutine\CanceledException when cancelled with an exception
         * Waits.
         * @since 0.1.0
         */
        public function send(\Apus\Http2\Request $request): int|false {}

        /**
         * Sends a further piece of the body of a request with $pipeline, and waits until the server's window takes it.
         * @param string|array $data bytes, or the fields of a form
         * @param bool $end_stream whether the body ends with it
         * @return bool false when the stream takes no data, or the time `timeout` is over
         * @throws \Apus\Coroutine\Exception NOT_IN_COROUTINE, CANNOT_SWITCH
         * @throws \Apus\Coroutine\CanceledException when cancelled with an exception
         * Waits.
         * @since 0.1.0
         */
        public function write(int $stream_id, mixed $data, bool $end_stream = false): bool {}

        /**
         * Waits for the next answer of any stream, or piece of one where the request says $usePipelineRead. A stream that
         * the server breaks off gives an answer with statusCode -3 and its errCode.
         * @param float $timeout seconds; negative for no limit, 0 for `read_timeout` or else `timeout`
         * @return Response|false false when the connection is lost, or the time is over ($errCode 110; all goes on)
         * @throws \Apus\Coroutine\ConflictException when another coroutine receives
         * @throws \Apus\Coroutine\Exception NOT_IN_COROUTINE, CANNOT_SWITCH
         * @throws \Apus\Coroutine\CanceledException when cancelled with an exception
         * Waits.
         * @since 0.1.0
         */
        public function recv(float $timeout = 0): \Apus\Http2\Response|false {}

        /**
         * The same as recv().
         * @throws \Apus\Coroutine\Exception NOT_IN_COROUTINE, CANNOT_SWITCH
         * @throws \Apus\Coroutine\CanceledException when cancelled with an exception
         * Waits.
         * @since 0.1.0
         */
        public function read(float $timeout = 0): \Apus\Http2\Response|false {}

        /**
         * Begins no further request: the connection ends with GOAWAY when the streams that are open have ended.
         * @param int $error_code 0 only
         * @param string $debug_data not sent by this version
         * @return bool false when there is no connection
         * @throws \ValueError for another code
         * Does not wait.
         * @since 0.1.0
         */
        public function goaway(int $error_code = 0, string $debug_data = ''): bool {}

        /**
         * Asks whether the server is there, and waits for its answer, for up to `timeout`.
         * @throws \Apus\Coroutine\Exception NOT_IN_COROUTINE, CANNOT_SWITCH
         * @throws \Apus\Coroutine\CanceledException when cancelled with an exception
         * Waits.
         * @since 0.1.0
         */
        public function ping(): bool {}

        /**
         * Ends every stream and the connection; a coroutine that waits for it gets false and $errCode 104.
         * @return bool false when there was none
         * Does not wait.
         * @since 0.1.0
         */
        public function close(): bool {}

    }
}

namespace Apus {
    /**
     * Connections that coroutines borrow: at most a given number of them, made when they are needed, checked when they have
     * been idle, cleaned when they come back, and replaced when they are dead. Who finds none waits in line.
     * A pool belongs to one process: make it in `workerstart`. One made before the server starts is empty in each worker.
     * docs/pools.md tells everything.
     * @since 0.1.0
     */
    class ConnectionPool
    {
        /**
         * Connections of a pool that is not told otherwise.
         */
        public const DEFAULT_SIZE = 64;

        /**
         * What makes a connection.
         */
        protected $constructor = null;

        /**
         * Connections of this process at most.
         */
        protected int $size = 64;

        /**
         * The class that wraps what makes a connection.
         */
        protected ?string $proxy = null;

        /**
         * A pool without connections: they are made when they are needed, in the coroutine that needs one.
         * @param callable $constructor makes a connection: an object or a resource. A PDO, mysqli, Redis or
         * PgSql\Connection is checked and cleaned as the pools in Apus\Database do it
         * @param int $size connections of this process at most, 1 to 100000; default 64
         * @param string|null $proxy a class: connections are then made by `new $proxy($constructor)`
         * @throws \ValueError when $size is out of its limits
         * Does not wait.
         * @since 0.1.0
         */
        public function __construct(callable $constructor, int $size = 64, ?string $proxy = null) {}

        /**
         * Makes connections, one after the other, until the pool has as many as it may have.
         * @throws \Apus\ConnectionPool\Exception CONNECT when one cannot be made; CLOSED
         * Waits as the constructor does.
         * @since 0.1.0
         */
        public function fill(): void {}

        /**
         * A connection for this coroutine alone, until it gives it to put(): an idle one, the one used last first, else a new
         * one, else the first that comes free; who waits longest is served first.
         * @param float $timeout seconds to wait in line; 0 or negative for the setting `wait_timeout`, which is no limit
         * unless set. Making and checking a connection is not counted
         * @return mixed the connection; false when the wait was cancelled
         * @throws \Apus\ConnectionPool\Exception EXHAUSTED when none came free in time; CONNECT when none could be made;
         * CLOSED when the pool is, or is closed meanwhile
         * @throws \Apus\Coroutine\Exception NOT_IN_COROUTINE outside coroutines, when it would have to wait
         * Waits.
         * @since 0.1.0
         */
        public function get(float $timeout = -1): mixed {}

        /**
         * Gives a connection back; do not use it after that. An open transaction is rolled back and reported by a warning (setting
         * `reset`). A connection whose user was cancelled in the middle of something is closed instead.
         * @param mixed $connection what get() gave; null: the one that this coroutine took last is broken and to be
         * replaced by a new one when it is needed
         * @throws \Apus\ConnectionPool\Exception FOREIGN when it is not one that the pool has given out, or was given back
         * already
         * Waits as the driver does when there is something to clean.
         * @since 0.1.0
         */
        public function put(mixed $connection): void {}

        /**
         * Gets a connection, calls $callback($connection), and gives the connection back, whatever happens. After an
         * exception the connection is checked before it is handed out again.
         * @param float $timeout as for get()
         * @return mixed what $callback returned; false when the wait was cancelled
         * @throws \Throwable what $callback threw, or what get() throws
         * Waits.
         * @since 0.1.0
         */
        public function use(callable $callback, float $timeout = -1): mixed {}

        /**
         * Changes settings; times are in seconds, fractions allowed, 0 is no limit.
         * size: connections of this process at most. total: of all workers together, divided evenly and rounded down
         * (default 0: no such limit). wait_timeout: how long get() waits when it is given no time (0).
         * check_idle: a connection that was idle for so long is checked before it is handed out (1; 0 always, -1 never).
         * check_timeout: how long the check may take, with hooks (3). max_lifetime: age at which a connection is
         * replaced (1800). idle_timeout: idle time after which it is closed (300). jitter: the part, 0 to 1, by which
         * these two are shortened at random (0.1). min_idle: idle connections kept ready (0).
         * check: callable($connection), false means dead; default null, what the driver knows.
         * reset: 'transaction' (default), 'none', or a callable($connection) that runs after the transaction was rolled
         * back, false means that the connection is of no use any more.
         * @return static the pool
         * @throws \Apus\ConnectionPool\Exception OPTION when one is unknown or out of its limits; then none is changed
         * Does not wait.
         * @since 0.1.0
         */
        public function set(array $options): static {}

        /**
         * The state of this process's pool. Now: size (the limit), in_use (with those that are being made, checked or cleaned), idle,
         * waiters. Since it was made: created, replaced (dead, broken or lost ones that were closed), expired (closed for
         * their age or idleness), lost (never given back), resets (came back unclean), timeouts, waits, wait_time and
         * wait_time_max (seconds in line).
         * Does not wait.
         * @since 0.1.0
         */
        public function stats(): array {}

        /**
         * Closes connections that were never given back, are too old or were idle for too long, and makes those that `min_idle`
         * asks for; when one cannot be made, that is logged. In coroutines the pool does all this by itself.
         * Waits as the driver does.
         * @since 0.1.0
         */
        public function maintain(): void {}

        /**
         * Closes the idle connections and ends the waits of others with CLOSED. Connections in use are closed when they are
         * given back. A second call does nothing.
         * Waits as the driver does.
         * @since 0.1.0
         */
        public function close(): void {}

    }
}

namespace Apus\Database {
    /**
     * Where and as whom a PDOPool connects. Each with…() changes the object and returns it.
     * @since 0.1.0
     */
    class PDOConfig
    {
        /**
         * The driver that is used unless another is named.
         */
        public const DRIVER_MYSQL = 'mysql';

        /**
         * PDO's driver.
         */
        protected string $driver = 'mysql';

        /**
         * Host name or address.
         */
        protected string $host = '127.0.0.1';

        /**
         * Port; null for the driver's own.
         */
        protected ?int $port = null;

        /**
         * Path of a Unix socket, instead of host and port.
         */
        protected ?string $unixSocket = null;

        /**
         * Database.
         */
        protected string $dbname = 'test';

        /**
         * Character set.
         */
        protected string $charset = 'utf8mb4';

        /**
         * User.
         */
        protected string $username = 'root';

        /**
         * Password.
         */
        protected string $password = 'root';

        /**
         * PDO attributes of each connection.
         */
        protected array $options;

        /**
         * The driver.
         * Does not wait.
         * @since 0.1.0
         */
        public function getDriver(): string {}

        /**
         * Sets the driver: mysql (default), pgsql, sqlite, oci, firebird, dblib, sqlsrv or odbc. Its PHP extension must be loaded.
         * Does not wait.
         * @since 0.1.0
         */
        public function withDriver(string $driver): self {}

        /**
         * The host.
         * Does not wait.
         * @since 0.1.0
         */
        public function getHost(): string {}

        /**
         * Sets the host name or address; default 127.0.0.1.
         * Does not wait.
         * @since 0.1.0
         */
        public function withHost(string $host): self {}

        /**
         * The port; unless set 3306 for mysql, 5432 for pgsql, else 0: the driver's own.
         * Does not wait.
         * @since 0.1.0
         */
        public function getPort(): int {}

        /**
         * Whether a Unix socket is set.
         * Does not wait.
         * @since 0.1.0
         */
        public function hasUnixSocket(): bool {}

        /**
         * The path of the Unix socket; null when none is set.
         * Does not wait.
         * @since 0.1.0
         */
        public function getUnixSocket(): ?string {}

        /**
         * Sets the path of a Unix socket, which is used instead of host and port; for pgsql it is the directory of the socket.
         * null (default) for none.
         * Does not wait.
         * @since 0.1.0
         */
        public function withUnixSocket(?string $unixSocket): self {}

        /**
         * Sets the port, 0 to 65535; default: see getPort().
         * @throws \ValueError when it is out of its limits
         * Does not wait.
         * @since 0.1.0
         */
        public function withPort(int $port): self {}

        /**
         * The database.
         * Does not wait.
         * @since 0.1.0
         */
        public function getDbname(): string {}

        /**
         * Sets the database; default test. For sqlite it is the path of the file or :memory:, for odbc the data source.
         * Does not wait.
         * @since 0.1.0
         */
        public function withDbname(string $dbname): self {}

        /**
         * The character set.
         * Does not wait.
         * @since 0.1.0
         */
        public function getCharset(): string {}

        /**
         * Sets the character set; default utf8mb4, which means UTF8 to pgsql.
         * Does not wait.
         * @since 0.1.0
         */
        public function withCharset(string $charset): self {}

        /**
         * The user.
         * Does not wait.
         * @since 0.1.0
         */
        public function getUsername(): string {}

        /**
         * Sets the user; default root.
         * Does not wait.
         * @since 0.1.0
         */
        public function withUsername(string $username): self {}

        /**
         * The password.
         * Does not wait.
         * @since 0.1.0
         */
        public function getPassword(): string {}

        /**
         * Sets the password; default root.
         * Does not wait.
         * @since 0.1.0
         */
        public function withPassword(string $password): self {}

        /**
         * The PDO attributes.
         * Does not wait.
         * @since 0.1.0
         */
        public function getOptions(): array {}

        /**
         * Sets the PDO attributes of each connection, such as [PDO::ATTR_TIMEOUT => 2]; default none.
         * Does not wait.
         * @since 0.1.0
         */
        public function withOptions(array $options): self {}

        /**
         * The drivers of the loaded PDO extensions.
         * @throws \Apus\ConnectionPool\Exception OPTION when PDO is not loaded
         * Does not wait.
         * @since 0.1.0
         */
        public static function getAvailableDrivers(): array {}

    }
}

namespace Apus\Database {
    /**
     * A pool of PDO connections. get() gives a plain PDO. One that was idle is checked by a small query;
     * an open transaction is rolled back when it comes back.
     * @since 0.1.0
     */
    class PDOPool extends \Apus\ConnectionPool
    {
        /**
         * Where and as whom it connects; read whenever a connection is made.
         */
        protected \Apus\Database\PDOConfig $config;

        /**
         * A pool without connections.
         * @param int $size connections of this process at most, 1 to 100000; default 64
         * @throws \Apus\ConnectionPool\Exception OPTION when PDO is not loaded
         * @throws \ValueError when $size is out of its limits
         * Does not wait.
         * @since 0.1.0
         */
        public function __construct(\Apus\Database\PDOConfig $config, int $size = 64) {}

    }
}

namespace Apus\Database {
    /**
     * Where and as whom a MysqliPool connects. Each with…() changes the object and returns it.
     * @since 0.1.0
     */
    class MysqliConfig
    {
        /**
         * Host name or address.
         */
        protected string $host = '127.0.0.1';

        /**
         * Port.
         */
        protected int $port = 3306;

        /**
         * Path of a Unix socket, instead of host and port.
         */
        protected ?string $unixSocket = null;

        /**
         * Database.
         */
        protected string $dbname = 'test';

        /**
         * Character set.
         */
        protected string $charset = 'utf8mb4';

        /**
         * User.
         */
        protected string $username = 'root';

        /**
         * Password.
         */
        protected string $password = 'root';

        /**
         * Options of each connection.
         */
        protected array $options;

        /**
         * The host.
         * Does not wait.
         * @since 0.1.0
         */
        public function getHost(): string {}

        /**
         * Sets the host name or address; default 127.0.0.1.
         * Does not wait.
         * @since 0.1.0
         */
        public function withHost(string $host): self {}

        /**
         * The port.
         * Does not wait.
         * @since 0.1.0
         */
        public function getPort(): int {}

        /**
         * The path of the Unix socket; null when none is set.
         * Does not wait.
         * @since 0.1.0
         */
        public function getUnixSocket(): ?string {}

        /**
         * Sets the path of a Unix socket, which is used instead of host and port. null (default) for none.
         * Does not wait.
         * @since 0.1.0
         */
        public function withUnixSocket(?string $unixSocket): self {}

        /**
         * Sets the port, 0 to 65535; default 3306.
         * @throws \ValueError when it is out of its limits
         * Does not wait.
         * @since 0.1.0
         */
        public function withPort(int $port): self {}

        /**
         * The database.
         * Does not wait.
         * @since 0.1.0
         */
        public function getDbname(): string {}

        /**
         * Sets the database; default test.
         * Does not wait.
         * @since 0.1.0
         */
        public function withDbname(string $dbname): self {}

        /**
         * The character set.
         * Does not wait.
         * @since 0.1.0
         */
        public function getCharset(): string {}

        /**
         * Sets the character set; default utf8mb4, empty for the server's own.
         * Does not wait.
         * @since 0.1.0
         */
        public function withCharset(string $charset): self {}

        /**
         * The user.
         * Does not wait.
         * @since 0.1.0
         */
        public function getUsername(): string {}

        /**
         * Sets the user; default root.
         * Does not wait.
         * @since 0.1.0
         */
        public function withUsername(string $username): self {}

        /**
         * The password.
         * Does not wait.
         * @since 0.1.0
         */
        public function getPassword(): string {}

        /**
         * Sets the password; default root.
         * Does not wait.
         * @since 0.1.0
         */
        public function withPassword(string $password): self {}

        /**
         * The options of mysqli.
         * Does not wait.
         * @since 0.1.0
         */
        public function getOptions(): array {}

        /**
         * Sets what mysqli::options() is called with before each connection is made, such as
         * [MYSQLI_OPT_CONNECT_TIMEOUT => 2]; default none.
         * Does not wait.
         * @since 0.1.0
         */
        public function withOptions(array $options): self {}

    }
}

namespace Apus\Database {
    /**
     * A pool of mysqli connections. get() gives a plain mysqli. One that was idle is checked by a small query.
     * mysqli does not tell whether a transaction is open: put() asks the server, one round trip; the setting
     * `reset` => 'none' saves it for programs that leave none open.
     * @since 0.1.0
     */
    class MysqliPool extends \Apus\ConnectionPool
    {
        /**
         * Where and as whom it connects; read whenever a connection is made.
         */
        protected \Apus\Database\MysqliConfig $config;

        /**
         * A pool without connections.
         * @param int $size connections of this process at most, 1 to 100000; default 64
         * @throws \Apus\ConnectionPool\Exception OPTION when mysqli is not loaded
         * @throws \ValueError when $size is out of its limits
         * Does not wait.
         * @since 0.1.0
         */
        public function __construct(\Apus\Database\MysqliConfig $config, int $size = 64) {}

    }
}

namespace Apus\Database {
    /**
     * Where and as whom a RedisPool connects. Each with…() changes the object and returns it.
     * @since 0.1.0
     */
    class RedisConfig
    {
        /**
         * Host name, address, or path of a Unix socket.
         */
        protected string $host = '127.0.0.1';

        /**
         * Port.
         */
        protected int $port = 6379;

        /**
         * Seconds that connecting may take.
         */
        protected float $timeout;

        /**
         * phpredis's fourth argument.
         */
        protected string $reserved = '';

        /**
         * Milliseconds between attempts to connect.
         */
        protected int $retry_interval = 0;

        /**
         * Seconds that an answer may take.
         */
        protected float $read_timeout;

        /**
         * Password.
         */
        protected string $auth = '';

        /**
         * Database.
         */
        protected int $dbIndex = 0;

        /**
         * Options of each connection.
         */
        protected array $options;

        /**
         * The host.
         * Does not wait.
         * @since 0.1.0
         */
        public function getHost(): string {}

        /**
         * Sets the host name or address, or the path of a Unix socket (then set port 0); default 127.0.0.1.
         * Does not wait.
         * @since 0.1.0
         */
        public function withHost(string $host): self {}

        /**
         * The port.
         * Does not wait.
         * @since 0.1.0
         */
        public function getPort(): int {}

        /**
         * Sets the port, 0 to 65535; default 6379.
         * @throws \ValueError when it is out of its limits
         * Does not wait.
         * @since 0.1.0
         */
        public function withPort(int $port): self {}

        /**
         * Seconds that connecting may take; 0 for no limit.
         * Does not wait.
         * @since 0.1.0
         */
        public function getTimeout(): float {}

        /**
         * Sets the seconds that connecting may take; default 0, no limit.
         * @throws \ValueError when it is negative
         * Does not wait.
         * @since 0.1.0
         */
        public function withTimeout(float $timeout): self {}

        /**
         * What withReserved() set.
         * Does not wait.
         * @since 0.1.0
         */
        public function getReserved(): string {}

        /**
         * Sets the fourth argument of Redis::connect(), of which phpredis makes no use; default empty.
         * Does not wait.
         * @since 0.1.0
         */
        public function withReserved(string $reserved): self {}

        /**
         * Milliseconds between attempts to connect.
         * Does not wait.
         * @since 0.1.0
         */
        public function getRetryInterval(): int {}

        /**
         * Sets the milliseconds between attempts to connect; default 0.
         * @throws \ValueError when it is negative
         * Does not wait.
         * @since 0.1.0
         */
        public function withRetryInterval(int $retry_interval): self {}

        /**
         * Seconds that an answer may take; 0 for no limit.
         * Does not wait.
         * @since 0.1.0
         */
        public function getReadTimeout(): float {}

        /**
         * Sets the seconds that an answer may take; default 0, PHP's default_socket_timeout.
         * @throws \ValueError when it is negative
         * Does not wait.
         * @since 0.1.0
         */
        public function withReadTimeout(float $read_timeout): self {}

        /**
         * The password; empty for none.
         * Does not wait.
         * @since 0.1.0
         */
        public function getAuth(): string {}

        /**
         * Sets the password; default empty, for none.
         * Does not wait.
         * @since 0.1.0
         */
        public function withAuth(string $auth): self {}

        /**
         * The number of the database.
         * Does not wait.
         * @since 0.1.0
         */
        public function getDbIndex(): int {}

        /**
         * Sets the number of the database; default 0. A connection that comes back with another one is set to this.
         * @throws \ValueError when it is negative
         * Does not wait.
         * @since 0.1.0
         */
        public function withDbIndex(int $dbIndex): self {}

        /**
         * Sets one option of phpredis for each connection, such as (Redis::OPT_PREFIX, 'shop:').
         * Does not wait.
         * @since 0.1.0
         */
        public function withOption(int $option, mixed $value): self {}

        /**
         * Sets all options of phpredis: option => value; default none.
         * Does not wait.
         * @since 0.1.0
         */
        public function setOptions(array $options): self {}

        /**
         * The options of phpredis.
         * Does not wait.
         * @since 0.1.0
         */
        public function getOptions(): array {}

    }
}

namespace Apus\Database {
    /**
     * A pool of phpredis connections. get() gives a plain Redis. One that was idle is checked by ECHO. put() discards an open
     * MULTI or pipeline, and selects the database that it was made with; WATCH and subscriptions end with their user's
     * own calls.
     * @since 0.1.0
     */
    class RedisPool extends \Apus\ConnectionPool
    {
        /**
         * Where and as whom it connects; read whenever a connection is made.
         */
        protected \Apus\Database\RedisConfig $config;

        /**
         * A pool without connections.
         * @param int $size connections of this process at most, 1 to 100000; default 64
         * @throws \Apus\ConnectionPool\Exception OPTION when redis is not loaded
         * @throws \ValueError when $size is out of its limits
         * Does not wait.
         * @since 0.1.0
         */
        public function __construct(\Apus\Database\RedisConfig $config, int $size = 64) {}

    }
}

namespace Apus {
    /**
     * A whole number from 0 to 4,294,967,295 that all processes share which are forked while it is there: made before the server starts, it is
     * the same in every worker. Each operation is one step for all of them. Arithmetic is modulo 2^32, negative numbers included. An object made in a
     * worker is that worker's own.
     * @since 0.1.0
     */
    class Atomic
    {
        /**
         * @param int $value what it is at first; of an integer that does not fit, the lowest 32 bits
         * @throws \Error when the system gives no memory to share
         * @since 0.1.0
         */
        public function __construct(int $value = 0) {}

        /**
         * Adds.
         * @return int the sum
         * Does not wait.
         * @since 0.1.0
         */
        public function add(int $add_value = 1): int {}

        /**
         * Subtracts.
         * @return int the difference; 4,294,967,295 follows 0
         * Does not wait.
         * @since 0.1.0
         */
        public function sub(int $sub_value = 1): int {}

        /**
         * What it is now.
         * Does not wait.
         * @since 0.1.0
         */
        public function get(): int {}

        /**
         * Sets it.
         * @param int $value of an integer that does not fit, the lowest 32 bits
         * Does not wait.
         * @since 0.1.0
         */
        public function set(int $value): void {}

        /**
         * Waits until it is 1, and makes it 0: so one wakeup() lets one wait() through, whichever is called first. In a coroutine that alone
         * waits; outside, the process does, and handlers of signals run meanwhile.
         * @param float $timeout seconds; 0 or less for no limit
         * @return bool false when the time was over first, the coroutine was cancelled, or at once when it is neither 0 nor 1
         * @throws \Apus\Coroutine\Exception CANNOT_SWITCH
         * @throws \Apus\Coroutine\CanceledException when cancelled with an exception
         * Waits while it is 0.
         * @since 0.1.0
         */
        public function wait(float $timeout = 1): bool {}

        /**
         * Makes 0 into 1, and wakes those in wait(): the first of them goes on, the others find it 0 and wait on.
         * @param int $count 1 or more; as in Swoole, one goes on whatever it is
         * @return bool true
         * @throws \ValueError for a count below 1
         * Does not wait.
         * @since 0.1.0
         */
        public function wakeup(int $count = 1): bool {}

        /**
         * Sets it to $new_value if it is $cmp_value, in one step.
         * @return bool whether it was
         * Does not wait.
         * @since 0.1.0
         */
        public function cmpset(int $cmp_value, int $new_value): bool {}

    }
}

namespace Apus\Atomic {
    /**
     * As Apus\Atomic, with 64 bits and a sign: any integer of PHP. Above the greatest one follows the least.
     * @since 0.1.0
     */
    class Long
    {
        /**
         * @param int $value what it is at first
         * @throws \Error when the system gives no memory to share
         * @since 0.1.0
         */
        public function __construct(int $value = 0) {}

        /**
         * Adds.
         * @return int the sum
         * Does not wait.
         * @since 0.1.0
         */
        public function add(int $add_value = 1): int {}

        /**
         * Subtracts.
         * @return int the difference
         * Does not wait.
         * @since 0.1.0
         */
        public function sub(int $sub_value = 1): int {}

        /**
         * What it is now.
         * Does not wait.
         * @since 0.1.0
         */
        public function get(): int {}

        /**
         * Sets it.
         * Does not wait.
         * @since 0.1.0
         */
        public function set(int $value): void {}

        /**
         * Sets it to $new_value if it is $cmp_value, in one step.
         * @return bool whether it was
         * Does not wait.
         * @since 0.1.0
         */
        public function cmpset(int $cmp_value, int $new_value): bool {}

    }
}

namespace Apus {
    /**
     * A lock between processes, and between the coroutines of each: made before the server starts, it is the same in every worker. In a coroutine
     * that alone waits for it; outside, the process does, and handlers of signals run meanwhile.
     * It is held by a process: any code of it may unlock(). What a process held that ends, by SIGKILL too, is free; the next who locks gets true, with
     * $errCode 130 (EOWNERDEAD) and recovered() true if it was held alone: what the lock guards may be half-changed.
     * Of several processes that wait, any one gets it; who wants it alone goes before who wants to share it and does not yet.
     * @since 0.1.0
     */
    class Lock
    {
        /**
         * Type of an Apus\Lock: one holds it.
         */
        public const MUTEX = 3;

        /**
         * Type of an Apus\Lock: one holds it (LOCK_EX), or many share it (LOCK_SH).
         */
        public const RWLOCK = 1;

        /**
         * Type of an Apus\Lock: as MUTEX, for what is held very shortly: looks again some times before it waits.
         */
        public const SPINLOCK = 5;

        /**
         * Type of an Apus\Lock: as MUTEX, but any process may unlock it.
         */
        public const SEM = 4;

        /**
         * Type of an Apus\Lock: as RWLOCK, and against other programs that flock() the same file, too.
         */
        public const FILELOCK = 2;

        /**
         * How the last operation ended: 0, or an errno: EOWNERDEAD (130; it is had, and the last holder died with it), EBUSY (16), ETIMEDOUT (110),
         * ECANCELED (125), EDEADLK (35: the waiting code itself has it), EPERM (1: unlock() of what this process has not).
         */
        public $errCode = 0;

        /**
         * @param int $type Apus\Lock::MUTEX, RWLOCK, SPINLOCK, SEM or FILELOCK
         * @param string $filename of a FILELOCK: made if it is not there
         * @throws \ValueError for another type, or a FILELOCK without a file
         * @throws \Apus\LockException FILE when it cannot be opened
         * @throws \Error when the system gives no memory to share
         * @since 0.1.0
         */
        public function __construct(int $type = 3, string $filename = '') {}

        /**
         * Locks.
         * @param int $operation LOCK_EX, or LOCK_SH to share a RWLOCK or FILELOCK with others that do; | LOCK_NB for no waiting
         * @param float $timeout seconds; negative for no limit, 0 for no waiting
         * @throws \ValueError for another operation
         * @return bool false when it is not had: see $errCode
         * @throws \Error when destroy() was called, or the system gives no descriptor to wait with
         * @throws \Apus\LockException FILE when the file of a FILELOCK cannot be locked
         * @throws \Apus\Coroutine\Exception CANNOT_SWITCH
         * @throws \Apus\Coroutine\CanceledException when cancelled with an exception
         * Waits while it is not free.
         * @since 0.1.0
         */
        public function lock(int $operation = 2, float $timeout = -1): bool {}

        /**
         * The same as lock(LOCK_EX | LOCK_NB).
         * @return bool false when it is not had: see $errCode
         * @throws \Error when destroy() was called, or the system gives no descriptor to wait with
         * @throws \Apus\LockException FILE when the file of a FILELOCK cannot be locked
         * Does not wait.
         * @since 0.1.0
         */
        public function trylock(): bool {}

        /**
         * The same as lock(LOCK_SH).
         * @return bool false when it is not had: see $errCode
         * @throws \Error when destroy() was called, or the system gives no descriptor to wait with
         * @throws \Apus\LockException FILE when the file of a FILELOCK cannot be locked
         * @throws \Apus\Coroutine\Exception CANNOT_SWITCH
         * @throws \Apus\Coroutine\CanceledException when cancelled with an exception
         * Waits while it is not free.
         * @since 0.1.0
         */
        public function lock_read(): bool {}

        /**
         * The same as lock(LOCK_SH | LOCK_NB).
         * @return bool false when it is not had: see $errCode
         * @throws \Error when destroy() was called, or the system gives no descriptor to wait with
         * @throws \Apus\LockException FILE when the file of a FILELOCK cannot be locked
         * Does not wait.
         * @since 0.1.0
         */
        public function trylock_read(): bool {}

        /**
         * The same as lock(LOCK_EX, $timeout).
         * @param float $timeout seconds; negative for no limit, 0 for no waiting
         * @return bool false when it is not had: see $errCode
         * @throws \Error when destroy() was called, or the system gives no descriptor to wait with
         * @throws \Apus\LockException FILE when the file of a FILELOCK cannot be locked
         * @throws \Apus\Coroutine\Exception CANNOT_SWITCH
         * @throws \Apus\Coroutine\CanceledException when cancelled with an exception
         * Waits while it is not free.
         * @since 0.1.0
         */
        public function lockwait(float $timeout = 1): bool {}

        /**
         * Unlocks once what this process has, whichever of its coroutines locked it; a SEM whoever has it.
         * @return bool false when there is nothing to unlock: $errCode is 1 (EPERM)
         * @throws \Error when destroy() was called
         * Does not wait.
         * @since 0.1.0
         */
        public function unlock(): bool {}

        /**
         * Whether a process had died as the only holder before the last successful lock of this process: then look whether what it guards is whole.
         * Sharers are told until one locks it alone.
         * Does not wait.
         * @since 0.1.0
         */
        public function recovered(): bool {}

        /**
         * Gives the lock up for this process, unlocked; others go on using it. Without it that happens when the object goes.
         * Does not wait.
         * @since 0.1.0
         */
        public function destroy(): void {}

    }
}

namespace Apus {
    /**
     * A queue between processes: any that was forked while it is there may push and pop. Values arrive whole, once, and in the order of each pusher;
     * what push() has accepted is lost with no process that is killed, but with one that had popped it. Its size is in bytes: a value takes
     * what Apus\pack() makes of it and about 12 bytes more.
     * @since 0.1.0
     */
    class Queue implements \Countable
    {
        /**
         * How the last operation of this process ended: Apus\CHANNEL_OK, CHANNEL_TIMEOUT (full, or empty), CHANNEL_CLOSED, CHANNEL_CANCELED.
         */
        public $errCode = 0;

        /**
         * Memory is taken when it is first used.
         * @param int $bytes room for packed values in all: 64 to 2^40
         * @param int $longest of one packed value: 1 to $bytes and 1 GiB; 0 for a quarter of $bytes
         * @throws \ValueError for other numbers
         * @throws \Error when the system gives no memory to share
         * @since 0.1.0
         */
        public function __construct(int $bytes, int $longest = 0) {}

        /**
         * Adds a value at the end. In a coroutine that alone waits for room; outside, the process does, and handlers of signals run meanwhile.
         * A long value waits until there is room for all of it, and shorter ones may pass it.
         * @param mixed $value anything that Apus\pack() takes
         * @param float $timeout seconds; negative for no limit, 0 for no waiting
         * @return bool true: it is in the queue, whatever becomes of this process; false: see $errCode
         * @throws \Apus\QueueException TOO_LONG when it is longer than the longest
         * @throws \Apus\PackException and what else Apus\pack() throws
         * @throws \Apus\Coroutine\Exception CANNOT_SWITCH when it would wait
         * @throws \Apus\Coroutine\CanceledException when cancelled with an exception
         * Waits while there is no room.
         * @since 0.1.0
         */
        public function push(mixed $value, float $timeout = -1): bool {}

        /**
         * The same as push($value, 0).
         * Does not wait.
         * @since 0.1.0
         */
        public function tryPush(mixed $value): bool {}

        /**
         * Takes the first value. In a coroutine that alone waits for one; outside, the process does, and handlers of signals run meanwhile. Of
         * several who wait, any one gets it.
         * @param float $timeout seconds; negative for no limit, 0 for no waiting
         * @return mixed false when there was none: $errCode is not CHANNEL_OK then
         * @throws \Apus\PackException and what else Apus\unpack() throws: for a class that is not there in the same form, say. The value is gone then
         * @throws \Apus\Coroutine\Exception CANNOT_SWITCH when it would wait
         * @throws \Apus\Coroutine\CanceledException when cancelled with an exception
         * Waits while it is empty.
         * @since 0.1.0
         */
        public function pop(float $timeout = -1): mixed {}

        /**
         * The same as pop(0).
         * Does not wait.
         * @since 0.1.0
         */
        public function tryPop(): mixed {}

        /**
         * How many values are in it now.
         * Does not wait.
         * @since 0.1.0
         */
        public function count(): int {}

        /**
         * Whether none is in it now.
         * Does not wait.
         * @since 0.1.0
         */
        public function isEmpty(): bool {}

        /**
         * Closes it for all processes: push() fails from now on, pop() gives what is left and fails then; who waits is woken.
         * Does not wait.
         * @since 0.1.0
         */
        public function close(): void {}

        /**
         * Whether any process has closed it.
         * Does not wait.
         * @since 0.1.0
         */
        public function isClosed(): bool {}

        /**
         * @return array{count: int, bytes: int, capacity: int, longest: int, pushed: int, popped: int} values in it; the bytes that they take,
         * eight more for each and rounded up to eight, and those that they may take; the greatest length of one; values accepted and taken
         * since it was made, in all processes
         * Does not wait.
         * @since 0.1.0
         */
        public function stats(): array {}

    }
}

namespace Apus {
    /**
     * A cache that processes share: make it before the server starts, and every worker reads and writes the same one. It takes a bounded number of
     * bytes; what was not read for long makes room for what is new, and any entry may be gone at any time. Keys have 1 to 1,024 bytes. Values are
     * copied in and out (Apus\pack()); integers can be counted with. A process that is killed while it writes costs the entries of one partition,
     * never a wrong value.
     * @since 0.1.0
     */
    class Cache
    {
        /**
         * @param int $bytes that all entries may take, 64 KiB to 1 TiB; an entry takes its key and packed value, each to the next multiple of
         * eight, and 40. Memory is taken as it fills. One entry may take half of a partition: of all below 8 MiB, of 4 to 8 MiB above, of a
         * 64th from 256 MiB on
         * @throws \ValueError for another size
         * @throws \Apus\CacheException NO_MEMORY
         * @since 0.1.0
         */
        public function __construct(int $bytes) {}

        /**
         * @return mixed the value, or $default when it is not there
         * Does not wait.
         * @since 0.1.0
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
         * @since 0.1.0
         */
        public function set(string $key, mixed $value, float $ttl = 0): bool {}

        /**
         * Stores a value unless one is there.
         * @param float $ttl as for set()
         * @return bool false: there is one, and it stays
         * @throws \ValueError and exceptions as set()
         * Does not wait.
         * @since 0.1.0
         */
        public function add(string $key, mixed $value, float $ttl = 0): bool {}

        /**
         * Whether a key is there now. It may be gone at the next call: take get() and its default where the value is wanted.
         * Does not wait.
         * @since 0.1.0
         */
        public function has(string $key): bool {}

        /**
         * @return bool false when it was not there
         * Does not wait.
         * @since 0.1.0
         */
        public function delete(string $key): bool {}

        /**
         * Gives an entry another end.
         * @param float $ttl seconds from now; 0 for no end
         * @return bool false when it is not there
         * @throws \ValueError for a negative time
         * Does not wait.
         * @since 0.1.0
         */
        public function touch(string $key, float $ttl): bool {}

        /**
         * Adds to an integer in one step; one that is not there begins at 0.
         * @param float $ttl seconds for one that is not there; one that is keeps its end
         * @return int the sum
         * @throws \Apus\CacheException TYPE when what is there is no integer, or the sum is out of range; it stays
         * @throws \ValueError as set()
         * Does not wait.
         * @since 0.1.0
         */
        public function increment(string $key, int $by = 1, float $ttl = 0): int {}

        /**
         * Subtracts in one step: as increment().
         * @return int the difference
         * @throws \Apus\CacheException TYPE
         * @throws \ValueError as set()
         * Does not wait.
         * @since 0.1.0
         */
        public function decrement(string $key, int $by = 1, float $ttl = 0): int {}

        /**
         * The value of a key; where there is none, $fn() makes it, once for all processes: who wants it meanwhile waits and gets the same. When $fn throws,
         * or its process dies, one of those who wait calls its own $fn, within some 20 ms.
         * @param float $ttl seconds until it is gone; 0 for no end
         * @param callable $fn fn(): mixed, which may wait; null is a value, too
         * @param float $wait seconds to wait at most for another one's $fn; 0 for none, negative for no limit
         * @param bool $strict whether to throw after $wait; else the own $fn is called, beside the other one
         * @return mixed the value; null when the coroutine is cancelled as it waits. One that is too large for the cache is returned nevertheless, with
         * a warning, and made anew by the next call
         * @throws \Apus\CacheException NESTED when $fn asks for its own key in the same coroutine; WAIT with $strict
         * @throws \Apus\Coroutine\CanceledException when cancelled with an exception
         * @throws \Apus\PackException when the value cannot be packed
         * @throws \ValueError for a key of another length, or a negative $ttl
         * @throws \Throwable what $fn throws
         * Waits while another one makes the value; outside a coroutine, the whole process does.
         * @since 0.1.0
         */
        public function remember(string $key, float $ttl, callable $fn, float $wait = 10, bool $strict = false): mixed {}

        /**
         * Forgets everything and gives the memory back; the counters of stats() go on.
         * Does not wait.
         * @since 0.1.0
         */
        public function clear(): void {}

        /**
         * @return array{entries: int, used: int, bytes: int, longest: int, hits: int, misses: int, evictions: int, expired: int, emptied: int}
         * entries that lie there and bytes that they take; bytes that they may take, and one of them; reads that found something, and not;
         * entries that made room before and after their end; partitions emptied because a process was killed as it wrote
         * Does not wait.
         * @since 0.1.0
         */
        public function stats(): array {}

    }
}

namespace Apus {
    /**
     * Limits how often something is done for a key (a client's address, a user), over all processes: make it before the server starts. $rate units in
     * $per seconds on the average, $burst at once; there are no windows at whose edge twice as much gets through. Takes eight bytes a key; when a new
     * key finds no room, an old one that was not used for longest is forgotten.
     * @since 0.1.0
     */
    class RateLimiter
    {
        /**
         * @param int $keys that are remembered, 1 to 2^30, rounded up; take twice as many as are active at a time
         * @param float $rate units, above 0
         * @param float $per seconds, above 0
         * @param ?int $burst units at once, 1 or more; null: $rate, rounded up
         * @throws \ValueError for anything else
         * @throws \Apus\CacheException NO_MEMORY
         * @since 0.1.0
         */
        public function __construct(int $keys, float $rate, float $per = 1.0, ?int $burst = null) {}

        /**
         * Takes $cost units if they are within the limit.
         * @param int $cost 1 to the burst
         * @return bool false: they are not, and nothing was taken
         * @throws \ValueError for another cost
         * Does not wait.
         * @since 0.1.0
         */
        public function allow(string $key, int $cost = 1): bool {}

        /**
         * How a key stands. Takes nothing.
         * @param int $cost 1 to the burst
         * @return array{allowed: bool, remaining: int, retry_after: float, reset: float} whether allow() would be true now; units that are left;
         * seconds until it would be; seconds until the whole burst is there again
         * @throws \ValueError for another cost
         * Does not wait.
         * @since 0.1.0
         */
        public function check(string $key, int $cost = 1): array {}

        /**
         * Forgets a key, which may then use a whole burst at once.
         * Does not wait.
         * @since 0.1.0
         */
        public function reset(string $key): void {}

    }
}

namespace Apus {
    /**
     * Rows with typed columns in memory that processes share, found by a text key. Make it before the processes are forked (before Server::start()); then each reads and writes all rows. Readers take no lock and never see a half-written row; a process that is killed in the middle of a write leaves the row as it was or as it was to be.
     * @since 0.1.0
     */
    class Table implements \Iterator, \Countable
    {
        /**
         * Signed integers of 8 bytes, or of 1, 2 or 4 when column() is given that size.
         */
        public const TYPE_INT = 1;

        /**
         * Floats.
         */
        public const TYPE_FLOAT = 2;

        /**
         * Texts of up to the given number of bytes; a row takes what its text needs.
         */
        public const TYPE_STRING = 3;

        /**
         * Integers from 0 to 255, in one byte.
         */
        public const TYPE_UINT8 = 16;

        /**
         * Integers from -128 to 127, in one byte.
         */
        public const TYPE_INT8 = 17;

        /**
         * Integers from 0 to 65,535, in two bytes.
         */
        public const TYPE_UINT16 = 18;

        /**
         * Integers from -32,768 to 32,767, in two bytes.
         */
        public const TYPE_INT16 = 19;

        /**
         * Integers from 0 to 4,294,967,295, in four bytes.
         */
        public const TYPE_UINT32 = 20;

        /**
         * Integers from -2,147,483,648 to 2,147,483,647, in four bytes.
         */
        public const TYPE_INT32 = 21;

        /**
         * Integers from 0 to PHP_INT_MAX, in eight bytes.
         */
        public const TYPE_UINT64 = 22;

        /**
         * All integers, in eight bytes.
         */
        public const TYPE_INT64 = 23;

        /**
         * Texts of which few are different: each is stored once, a row takes two bytes. Up to 65,535 different ones besides ''; they stay until clear().
         */
        public const TYPE_DICTIONARY = 32;

        /**
         * The same with four bytes a row, for as many different texts as rows fit, from 65,536 to 16,777,215.
         */
        public const TYPE_DICTIONARY32 = 33;

        /**
         * Rows that fit; null before create().
         */
        public $size = null;

        /**
         * Bytes of memory that create() took; null before. getMemorySize() tells what rows have taken since.
         */
        public $memorySize = null;

        /**
         * @param int $table_size rows that fit, 1 to 1,073,741,824; exactly as many, whatever their keys are
         * @param float $conflict_proportion accepted for programs that pass it; keys that share a place cost nothing extra here
         * @throws \ValueError for less or more
         * @since 0.1.0
         */
        public function __construct(int $table_size, float $conflict_proportion = 0.2) {}

        /**
         * Describes a column. To be called before create().
         * @param string $name 1 to 64 bytes, no number, unique in the table; at most 128 columns
         * @param int $type one of the TYPE_ constants
         * @param int $size for TYPE_STRING and dictionaries: bytes of the longest text, 1 to 67,108,863 (required; a row takes what its text needs, not this); for TYPE_INT: 1, 2 or 4 bytes, anything else means 8; else without effect
         * @return bool true
         * @throws \ValueError for an unknown type, or a size out of its limits
         * @throws \Apus\TableException COLUMN for a bad name or too many columns, STATE after create()
         * Does not wait.
         * @since 0.1.0
         */
        public function column(string $name, int $type, int $size = 0): bool {}

        /**
         * Describes an ordered index, by which find(), range(), select() and countRange() look for rows. To be called before create(), after its columns. Each write keeps the indexes right; a table with indexes has one writer at a time.
         * @param string $name 1 to 64 bytes, unique among the indexes; at most 16 indexes
         * @param array|string $columns one column, or two: rows are ordered by the first, then by the second. Texts are ordered by their bytes
         * @return bool true
         * @throws \Apus\TableException COLUMN for a bad name or unknown columns, STATE after create()
         * Does not wait.
         * @since 0.1.0
         */
        public function index(string $name, array|string $columns): bool {}

        /**
         * Makes the table, in memory that processes forked from now on share. Address space for all rows is reserved; memory is taken when rows come. Sets $size and $memorySize.
         * @return bool true
         * @throws \Apus\TableException STATE when it exists already, COLUMN without columns, NO_MEMORY when the system gives no address space
         * Does not wait.
         * @since 0.1.0
         */
        public function create(): bool {}

        /**
         * Gives the table up in this process; others keep it, and its memory is freed when the last one has. Nothing else can be done with the object afterwards.
         * @return bool true
         * @throws \Apus\TableException STATE before create()
         * Does not wait.
         * @since 0.1.0
         */
        public function destroy(): bool {}

        /**
         * Makes a row, or changes the given columns of one; all of them at once: no reader sees some old and some new. Columns of a new row that are not given are 0, 0.0 or ''. Numbers, numeric texts, booleans and null are converted where nothing is lost.
         * @param string $key 1 to 1,024 bytes
         * @param array $value column => value
         * @return bool true
         * @throws \Apus\TableException FULL, KEY, COLUMN, TYPE, RANGE, TOO_LONG, NO_MEMORY: nothing has changed then
         * Does not wait.
         * @since 0.1.0
         */
        public function set(string $key, array $value): bool {}

        /**
         * Makes a row that is not there.
         * @param string $key 1 to 1,024 bytes
         * @param array $value column => value, as for set()
         * @return bool false when there is a row of that key: nothing has changed then
         * @throws \Apus\TableException as set()
         * Does not wait.
         * @since 0.1.0
         */
        public function insert(string $key, array $value): bool {}

        /**
         * Changes the given columns of a row that is there, all at once.
         * @param string $key 1 to 1,024 bytes
         * @param array $value column => value, as for set()
         * @return bool false when there is no row of that key
         * @throws \Apus\TableException as set()
         * Does not wait.
         * @since 0.1.0
         */
        public function update(string $key, array $value): bool {}

        /**
         * Reads a row, or one column of it, as it was at one moment. Takes no lock.
         * @param string $key 1 to 1,024 bytes
         * @param string|null $field a column; null for the row
         * @return array|string|int|float|false column => value in the order of the columns, or the value; false when there is no row
         * @throws \Apus\TableException COLUMN for an unknown column, STATE before create()
         * Does not wait.
         * @since 0.1.0
         */
        public function get(string $key, ?string $field = null): array|string|int|float|false {}

        /**
         * Reads a row and removes it in one step: of several processes that try, one gets it.
         * @param string $key 1 to 1,024 bytes
         * @return array|false the row; false when there is none
         * @throws \Apus\TableException STATE before create()
         * Does not wait.
         * @since 0.1.0
         */
        public function getdel(string $key): array|false {}

        /**
         * Removes a row.
         * @param string $key 1 to 1,024 bytes
         * @return bool false when there is none
         * @throws \Apus\TableException STATE before create()
         * Does not wait.
         * @since 0.1.0
         */
        public function del(string $key): bool {}

        /**
         * The same as del().
         * Does not wait.
         * @since 0.1.0
         */
        public function delete(string $key): bool {}

        /**
         * Whether there is a row.
         * @param string $key 1 to 1,024 bytes
         * @throws \Apus\TableException STATE before create()
         * Does not wait.
         * @since 0.1.0
         */
        public function exists(string $key): bool {}

        /**
         * The same as exists().
         * Does not wait.
         * @since 0.1.0
         */
        public function exist(string $key): bool {}

        /**
         * Adds to a number in one step. A row that is not there is made, with 0 in its columns.
         * @param string $key 1 to 1,024 bytes
         * @param string $column a column of integers or floats
         * @param int|float $incrby what to add; to a column of integers, a whole number
         * @return int|float the new value
         * @throws \Apus\TableException COLUMN, TYPE for a column of texts, RANGE when the result does not fit (the row stays as it was), FULL, KEY, STATE
         * Does not wait.
         * @since 0.1.0
         */
        public function incr(string $key, string $column, int|float $incrby = 1): int|float {}

        /**
         * The same as incr(), but takes $incrby away.
         * Does not wait.
         * @since 0.1.0
         */
        public function decr(string $key, string $column, int|float $incrby = 1): int|float {}

        /**
         * Changes one column if it holds what is expected, in one step.
         * @param string $key 1 to 1,024 bytes
         * @param string $column a column
         * @param mixed $expected the value that it must have, converted as in set()
         * @param mixed $new the value that it then gets
         * @return bool false when it held something else, or there is no row
         * @throws \Apus\TableException as set()
         * Does not wait.
         * @since 0.1.0
         */
        public function cmpset(string $key, string $column, mixed $expected, mixed $new): bool {}

        /**
         * Removes all rows, at once for every process, and gives their memory back.
         * @throws \Apus\TableException STATE before create()
         * Does not wait.
         * @since 0.1.0
         */
        public function clear(): void {}

        /**
         * How many rows there are; 0 before create().
         * Does not wait.
         * @since 0.1.0
         */
        public function count(): int {}

        /**
         * How many rows fit.
         * Does not wait.
         * @since 0.1.0
         */
        public function getSize(): int {}

        /**
         * Bytes of memory that the table has taken so far, over all processes; 0 before create().
         * Does not wait.
         * @since 0.1.0
         */
        public function getMemorySize(): int {}

        /**
         * Counts of the table: num (rows), insert_count, update_count, delete_count, conflict_count and conflict_max_level (keys that shared a place), available_slice_num and total_slice_num (rows that still fit, and in all), memory_used and memory_reserved in bytes.
         * @return array|false name => number
         * @throws \Apus\TableException STATE before create()
         * Does not wait.
         * @since 0.1.0
         */
        public function stats(): array|false {}

        /**
         * The keys of the rows that have a value in an index.
         * @param string $index its name
         * @param mixed $value the value of its first column; or an array with the values of its first, or of both, columns
         * @param int $limit most keys, 0 or more
         * @param int $offset keys that are passed over first, 0 or more
         * @param bool $descending from the end of the order
         * @return array list of keys (string) in the index's order
         * @throws \Apus\TableException COLUMN for an unknown index, TYPE, RANGE or TOO_LONG for a value that its column cannot hold, STATE before create() and while the indexes are deferred
         * @throws \ValueError for too many values, a negative limit or offset
         * Does not wait.
         * @since 0.1.0
         */
        public function find(string $index, mixed $value, int $limit = PHP_INT_MAX, int $offset = 0, bool $descending = false): array {}

        /**
         * The keys of the rows that lie in a part of an index.
         * @param string $index its name
         * @param mixed $from where it begins, included; null: at the start. A value of the first column, or, in an index of two, [value of the first, bound of the second]
         * @param mixed $to where it ends, included; null: at the end. Where one of both gives the first column's value in an array of two, that holds for both: range('user_date', [7, 100], null) is all of user 7 from 100 on
         * @param int $limit most keys, 0 or more
         * @param int $offset keys that are passed over first, 0 or more
         * @param bool $descending from the end of the part to its beginning
         * @param bool $exclusive rows at $from and at $to themselves are left out
         * @return array list of keys (string) in the index's order
         * @throws \Apus\TableException as find()
         * @throws \ValueError for too many values, different first values, a negative limit or offset
         * Does not wait.
         * @since 0.1.0
         */
        public function range(string $index, mixed $from = null, mixed $to = null, int $limit = PHP_INT_MAX, int $offset = 0, bool $descending = false, bool $exclusive = false): array {}

        /**
         * How many rows range() would find.
         * @param string $index its name
         * @param mixed $from as for range()
         * @param mixed $to as for range()
         * @param bool $exclusive as for range()
         * @throws \Apus\TableException as find()
         * @throws \ValueError for too many values, or different first values
         * Does not wait.
         * @since 0.1.0
         */
        public function countRange(string $index, mixed $from = null, mixed $to = null, bool $exclusive = false): int {}

        /**
         * Reads many rows: each as it was at one moment, not all of the same moment.
         * @param array $keys the keys
         * @param array|null $columns names of columns; null for all
         * @return array key => row, in the order of the keys; those without a row are left out
         * @throws \Apus\TableException COLUMN, KEY for a key that is none, STATE before create()
         * Does not wait.
         * @since 0.1.0
         */
        public function fetch(array $keys, ?array $columns = null): array {}

        /**
         * The rows that lie in a part of an index: what range() finds, read as fetch() reads it. A row that others move or remove meanwhile is left out or read as it was, never half.
         * @param string $index its name
         * @param mixed $from as for range()
         * @param mixed $to as for range()
         * @param array|null $columns names of columns; null for all
         * @param int $limit most rows, 0 or more
         * @param int $offset rows that are passed over first, 0 or more
         * @param bool $descending from the end of the part to its beginning
         * @param bool $exclusive rows at $from and at $to themselves are left out
         * @return array key => row in the index's order
         * @throws \Apus\TableException as find()
         * @throws \ValueError as range()
         * Does not wait.
         * @since 0.1.0
         */
        public function select(string $index, mixed $from = null, mixed $to = null, ?array $columns = null, int $limit = PHP_INT_MAX, int $offset = 0, bool $descending = false, bool $exclusive = false): array {}

        /**
         * Makes or changes a row for each object of a JSON array, or of objects one after the other, while reading: the whole is never in memory. An object has a member for the key, one for each column, and no others; it takes at most 16 MiB. Rows before an error have been loaded.
         * @param mixed $source path of a file, or a stream that is open for reading
         * @param string $member the member of the outermost object that holds the array; '' when the array, or the objects, are the outermost value
         * @param callable|null $progress fn(int $rows, int $bytes): ?bool, called every 16,384 rows and at the end with what was loaded and read so far; false stops
         * @param string $key the member that holds the row's key
         * @return int rows loaded, also when $progress stopped it or the coroutine was cancelled
         * @throws \Apus\TableException FILE with the name, the offset and the reason, STATE before create()
         * @throws \TypeError for a source that is neither
         * In a coroutine, others run now and then. Waits as the stream does.
         * @since 0.1.0
         */
        public function loadJson(mixed $source, string $member = '', ?callable $progress = null, string $key = 'id'): int {}

        /**
         * Makes or changes a row for each line of CSV (RFC 4180: fields may be quoted with ", and then hold separators, line ends and doubled quotes), while reading. Columns without a field are 0, 0.0 or '' in new rows. A line takes at most 16 MiB; lines before an error have been loaded.
         * @param mixed $source path of a file, or a stream that is open for reading
         * @param array|null $columns what the fields are, in their order, '' for one that is passed over; null: the first line says it
         * @param callable|null $progress as for loadJson()
         * @param string $separator one byte, no quote or line end
         * @param string $key the field that holds the row's key
         * @return int rows loaded, also when $progress stopped it or the coroutine was cancelled
         * @throws \Apus\TableException FILE with the name, the line and the reason, STATE before create()
         * @throws \TypeError for a source that is neither
         * @throws \ValueError for a separator that is not one byte
         * In a coroutine, others run now and then. Waits as the stream does.
         * @since 0.1.0
         */
        public function loadCsv(mixed $source, ?array $columns = null, ?callable $progress = null, string $separator = ',', string $key = 'id'): int {}

        /**
         * From now on writes leave the indexes as they are, and queries throw STATE, until buildIndexes(): for bulk loads, by several processes at once if wanted.
         * @throws \Apus\TableException STATE before create()
         * Does not wait.
         * @since 0.1.0
         */
        public function deferIndexes(): void {}

        /**
         * Builds all indexes from the rows, packed, and ends deferIndexes(). Other processes that write wait for it, readers of rows do not.
         * @throws \Apus\TableException NO_MEMORY, STATE before create()
         * In a coroutine, others run meanwhile.
         * @since 0.1.0
         */
        public function buildIndexes(): void {}

        /**
         * Writes a snapshot of the table to a file, with a checksum; the file replaces an older one when it is complete, so a crash leaves the old one or the new one.
         * @param string $path the file
         * @return int its bytes; 0 when the coroutine was cancelled meanwhile: the file is written all the same
         * @throws \Apus\TableException FILE when it cannot be written, STATE before create()
         * In a coroutine, others run meanwhile. Writers of all processes wait while rows are read.
         * @since 0.1.0
         */
        public function save(string $path): int {}

        /**
         * Replaces all rows by those of a snapshot of a table with the same description.
         * @param string $path the file
         * @return int rows; 0 when the coroutine was cancelled meanwhile: they are restored all the same
         * @throws \Apus\TableException FILE when it is missing, torn, damaged or of another table: the rows stay as they were
         * In a coroutine, others run meanwhile.
         * @since 0.1.0
         */
        public function restore(string $path): int {}

        /**
         * Goes to the first row, for foreach. The object has one cursor: loops over it inside each other share it. Rows that are there all the time come exactly once, others perhaps. The order is the table's own.
         * @throws \Apus\TableException STATE before create()
         * Does not wait.
         * @since 0.1.0
         */
        public function rewind(): void {}

        /**
         * Whether the cursor stands on a row.
         * Does not wait.
         * @since 0.1.0
         */
        public function valid(): bool {}

        /**
         * Goes to the next row.
         * @throws \Apus\TableException STATE before create()
         * Does not wait.
         * @since 0.1.0
         */
        public function next(): void {}

        /**
         * The row on which the cursor stands, as it was when the cursor came there; null outside.
         * Does not wait.
         * @since 0.1.0
         */
        public function current(): mixed {}

        /**
         * The key of that row; null outside.
         * Does not wait.
         * @since 0.1.0
         */
        public function key(): mixed {}

    }
}

namespace Apus {
    /**
     * Rows with typed columns in memory that processes share, found by an integer id from 0 on. Each column is an array of its own, so a row takes no more than its values: for many rows with dense ids. Otherwise as Apus\Table.
     * @since 0.1.0
     */
    class ColumnTable implements \Iterator, \Countable
    {
        /**
         * Signed integers of 8 bytes, or of 1, 2 or 4 when column() is given that size.
         */
        public const TYPE_INT = 1;

        /**
         * Floats.
         */
        public const TYPE_FLOAT = 2;

        /**
         * Texts of up to the given number of bytes; a row takes what its text needs.
         */
        public const TYPE_STRING = 3;

        /**
         * Integers from 0 to 255, in one byte.
         */
        public const TYPE_UINT8 = 16;

        /**
         * Integers from -128 to 127, in one byte.
         */
        public const TYPE_INT8 = 17;

        /**
         * Integers from 0 to 65,535, in two bytes.
         */
        public const TYPE_UINT16 = 18;

        /**
         * Integers from -32,768 to 32,767, in two bytes.
         */
        public const TYPE_INT16 = 19;

        /**
         * Integers from 0 to 4,294,967,295, in four bytes.
         */
        public const TYPE_UINT32 = 20;

        /**
         * Integers from -2,147,483,648 to 2,147,483,647, in four bytes.
         */
        public const TYPE_INT32 = 21;

        /**
         * Integers from 0 to PHP_INT_MAX, in eight bytes.
         */
        public const TYPE_UINT64 = 22;

        /**
         * All integers, in eight bytes.
         */
        public const TYPE_INT64 = 23;

        /**
         * Texts of which few are different: each is stored once, a row takes two bytes. Up to 65,535 different ones besides ''; they stay until clear().
         */
        public const TYPE_DICTIONARY = 32;

        /**
         * The same with four bytes a row, for as many different texts as rows fit, from 65,536 to 16,777,215.
         */
        public const TYPE_DICTIONARY32 = 33;

        /**
         * Rows that fit; null before create().
         */
        public $size = null;

        /**
         * Bytes of memory that create() took; null before. getMemorySize() tells what rows have taken since.
         */
        public $memorySize = null;

        /**
         * @param int $maxId the greatest id, 0 to 4,294,967,294; memory is taken for ids that are used
         * @throws \ValueError for less or more
         * @since 0.1.0
         */
        public function __construct(int $maxId) {}

        /**
         * Describes a column. To be called before create().
         * @param string $name 1 to 64 bytes, no number, unique in the table; at most 128 columns
         * @param int $type one of the TYPE_ constants
         * @param int $size for TYPE_STRING and dictionaries: bytes of the longest text, 1 to 67,108,863 (required; a row takes what its text needs, not this); for TYPE_INT: 1, 2 or 4 bytes, anything else means 8; else without effect
         * @return bool true
         * @throws \ValueError for an unknown type, or a size out of its limits
         * @throws \Apus\TableException COLUMN for a bad name or too many columns, STATE after create()
         * Does not wait.
         * @since 0.1.0
         */
        public function column(string $name, int $type, int $size = 0): bool {}

        /**
         * Describes an ordered index, by which find(), range(), select() and countRange() look for rows. To be called before create(), after its columns. Each write keeps the indexes right; a table with indexes has one writer at a time.
         * @param string $name 1 to 64 bytes, unique among the indexes; at most 16 indexes
         * @param array|string $columns one column, or two: rows are ordered by the first, then by the second. Texts are ordered by their bytes
         * @return bool true
         * @throws \Apus\TableException COLUMN for a bad name or unknown columns, STATE after create()
         * Does not wait.
         * @since 0.1.0
         */
        public function index(string $name, array|string $columns): bool {}

        /**
         * Makes the table, in memory that processes forked from now on share. Address space for all rows is reserved; memory is taken when rows come. Sets $size and $memorySize.
         * @return bool true
         * @throws \Apus\TableException STATE when it exists already, COLUMN without columns, NO_MEMORY when the system gives no address space
         * Does not wait.
         * @since 0.1.0
         */
        public function create(): bool {}

        /**
         * Gives the table up in this process; others keep it, and its memory is freed when the last one has. Nothing else can be done with the object afterwards.
         * @return bool true
         * @throws \Apus\TableException STATE before create()
         * Does not wait.
         * @since 0.1.0
         */
        public function destroy(): bool {}

        /**
         * Makes a row, or changes the given columns of one; all of them at once: no reader sees some old and some new. Columns of a new row that are not given are 0, 0.0 or ''. Numbers, numeric texts, booleans and null are converted where nothing is lost.
         * @param int $key its id, from 0 to the greatest one
         * @param array $value column => value
         * @return bool true
         * @throws \Apus\TableException FULL, KEY, COLUMN, TYPE, RANGE, TOO_LONG, NO_MEMORY: nothing has changed then
         * Does not wait.
         * @since 0.1.0
         */
        public function set(int $key, array $value): bool {}

        /**
         * Makes a row that is not there.
         * @param int $key its id, from 0 to the greatest one
         * @param array $value column => value, as for set()
         * @return bool false when there is a row of that key: nothing has changed then
         * @throws \Apus\TableException as set()
         * Does not wait.
         * @since 0.1.0
         */
        public function insert(int $key, array $value): bool {}

        /**
         * Changes the given columns of a row that is there, all at once.
         * @param int $key its id, from 0 to the greatest one
         * @param array $value column => value, as for set()
         * @return bool false when there is no row of that key
         * @throws \Apus\TableException as set()
         * Does not wait.
         * @since 0.1.0
         */
        public function update(int $key, array $value): bool {}

        /**
         * Reads a row, or one column of it, as it was at one moment. Takes no lock.
         * @param int $key its id, from 0 to the greatest one
         * @param string|null $field a column; null for the row
         * @return array|string|int|float|false column => value in the order of the columns, or the value; false when there is no row
         * @throws \Apus\TableException COLUMN for an unknown column, STATE before create()
         * Does not wait.
         * @since 0.1.0
         */
        public function get(int $key, ?string $field = null): array|string|int|float|false {}

        /**
         * Reads a row and removes it in one step: of several processes that try, one gets it.
         * @param int $key its id, from 0 to the greatest one
         * @return array|false the row; false when there is none
         * @throws \Apus\TableException STATE before create()
         * Does not wait.
         * @since 0.1.0
         */
        public function getdel(int $key): array|false {}

        /**
         * Removes a row.
         * @param int $key its id, from 0 to the greatest one
         * @return bool false when there is none
         * @throws \Apus\TableException STATE before create()
         * Does not wait.
         * @since 0.1.0
         */
        public function del(int $key): bool {}

        /**
         * The same as del().
         * Does not wait.
         * @since 0.1.0
         */
        public function delete(int $key): bool {}

        /**
         * Whether there is a row.
         * @param int $key its id, from 0 to the greatest one
         * @throws \Apus\TableException STATE before create()
         * Does not wait.
         * @since 0.1.0
         */
        public function exists(int $key): bool {}

        /**
         * The same as exists().
         * Does not wait.
         * @since 0.1.0
         */
        public function exist(int $key): bool {}

        /**
         * Adds to a number in one step. A row that is not there is made, with 0 in its columns.
         * @param int $key its id, from 0 to the greatest one
         * @param string $column a column of integers or floats
         * @param int|float $incrby what to add; to a column of integers, a whole number
         * @return int|float the new value
         * @throws \Apus\TableException COLUMN, TYPE for a column of texts, RANGE when the result does not fit (the row stays as it was), FULL, KEY, STATE
         * Does not wait.
         * @since 0.1.0
         */
        public function incr(int $key, string $column, int|float $incrby = 1): int|float {}

        /**
         * The same as incr(), but takes $incrby away.
         * Does not wait.
         * @since 0.1.0
         */
        public function decr(int $key, string $column, int|float $incrby = 1): int|float {}

        /**
         * Changes one column if it holds what is expected, in one step.
         * @param int $key its id, from 0 to the greatest one
         * @param string $column a column
         * @param mixed $expected the value that it must have, converted as in set()
         * @param mixed $new the value that it then gets
         * @return bool false when it held something else, or there is no row
         * @throws \Apus\TableException as set()
         * Does not wait.
         * @since 0.1.0
         */
        public function cmpset(int $key, string $column, mixed $expected, mixed $new): bool {}

        /**
         * Removes all rows, at once for every process, and gives their memory back.
         * @throws \Apus\TableException STATE before create()
         * Does not wait.
         * @since 0.1.0
         */
        public function clear(): void {}

        /**
         * How many rows there are; 0 before create().
         * Does not wait.
         * @since 0.1.0
         */
        public function count(): int {}

        /**
         * How many rows fit.
         * Does not wait.
         * @since 0.1.0
         */
        public function getSize(): int {}

        /**
         * Bytes of memory that the table has taken so far, over all processes; 0 before create().
         * Does not wait.
         * @since 0.1.0
         */
        public function getMemorySize(): int {}

        /**
         * Counts of the table: num (rows), insert_count, update_count, delete_count, conflict_count and conflict_max_level (keys that shared a place), available_slice_num and total_slice_num (rows that still fit, and in all), memory_used and memory_reserved in bytes.
         * @return array|false name => number
         * @throws \Apus\TableException STATE before create()
         * Does not wait.
         * @since 0.1.0
         */
        public function stats(): array|false {}

        /**
         * The keys of the rows that have a value in an index.
         * @param string $index its name
         * @param mixed $value the value of its first column; or an array with the values of its first, or of both, columns
         * @param int $limit most keys, 0 or more
         * @param int $offset keys that are passed over first, 0 or more
         * @param bool $descending from the end of the order
         * @return array list of keys (int) in the index's order
         * @throws \Apus\TableException COLUMN for an unknown index, TYPE, RANGE or TOO_LONG for a value that its column cannot hold, STATE before create() and while the indexes are deferred
         * @throws \ValueError for too many values, a negative limit or offset
         * Does not wait.
         * @since 0.1.0
         */
        public function find(string $index, mixed $value, int $limit = PHP_INT_MAX, int $offset = 0, bool $descending = false): array {}

        /**
         * The keys of the rows that lie in a part of an index.
         * @param string $index its name
         * @param mixed $from where it begins, included; null: at the start. A value of the first column, or, in an index of two, [value of the first, bound of the second]
         * @param mixed $to where it ends, included; null: at the end. Where one of both gives the first column's value in an array of two, that holds for both: range('user_date', [7, 100], null) is all of user 7 from 100 on
         * @param int $limit most keys, 0 or more
         * @param int $offset keys that are passed over first, 0 or more
         * @param bool $descending from the end of the part to its beginning
         * @param bool $exclusive rows at $from and at $to themselves are left out
         * @return array list of keys (int) in the index's order
         * @throws \Apus\TableException as find()
         * @throws \ValueError for too many values, different first values, a negative limit or offset
         * Does not wait.
         * @since 0.1.0
         */
        public function range(string $index, mixed $from = null, mixed $to = null, int $limit = PHP_INT_MAX, int $offset = 0, bool $descending = false, bool $exclusive = false): array {}

        /**
         * How many rows range() would find.
         * @param string $index its name
         * @param mixed $from as for range()
         * @param mixed $to as for range()
         * @param bool $exclusive as for range()
         * @throws \Apus\TableException as find()
         * @throws \ValueError for too many values, or different first values
         * Does not wait.
         * @since 0.1.0
         */
        public function countRange(string $index, mixed $from = null, mixed $to = null, bool $exclusive = false): int {}

        /**
         * Reads many rows: each as it was at one moment, not all of the same moment.
         * @param array $keys the keys
         * @param array|null $columns names of columns; null for all
         * @return array key => row, in the order of the keys; those without a row are left out
         * @throws \Apus\TableException COLUMN, KEY for a key that is none, STATE before create()
         * Does not wait.
         * @since 0.1.0
         */
        public function fetch(array $keys, ?array $columns = null): array {}

        /**
         * The rows that lie in a part of an index: what range() finds, read as fetch() reads it. A row that others move or remove meanwhile is left out or read as it was, never half.
         * @param string $index its name
         * @param mixed $from as for range()
         * @param mixed $to as for range()
         * @param array|null $columns names of columns; null for all
         * @param int $limit most rows, 0 or more
         * @param int $offset rows that are passed over first, 0 or more
         * @param bool $descending from the end of the part to its beginning
         * @param bool $exclusive rows at $from and at $to themselves are left out
         * @return array key => row in the index's order
         * @throws \Apus\TableException as find()
         * @throws \ValueError as range()
         * Does not wait.
         * @since 0.1.0
         */
        public function select(string $index, mixed $from = null, mixed $to = null, ?array $columns = null, int $limit = PHP_INT_MAX, int $offset = 0, bool $descending = false, bool $exclusive = false): array {}

        /**
         * Makes or changes a row for each object of a JSON array, or of objects one after the other, while reading: the whole is never in memory. An object has a member for the key, one for each column, and no others; it takes at most 16 MiB. Rows before an error have been loaded.
         * @param mixed $source path of a file, or a stream that is open for reading
         * @param string $member the member of the outermost object that holds the array; '' when the array, or the objects, are the outermost value
         * @param callable|null $progress fn(int $rows, int $bytes): ?bool, called every 16,384 rows and at the end with what was loaded and read so far; false stops
         * @param string $key the member that holds the row's key
         * @return int rows loaded, also when $progress stopped it or the coroutine was cancelled
         * @throws \Apus\TableException FILE with the name, the offset and the reason, STATE before create()
         * @throws \TypeError for a source that is neither
         * In a coroutine, others run now and then. Waits as the stream does.
         * @since 0.1.0
         */
        public function loadJson(mixed $source, string $member = '', ?callable $progress = null, string $key = 'id'): int {}

        /**
         * Makes or changes a row for each line of CSV (RFC 4180: fields may be quoted with ", and then hold separators, line ends and doubled quotes), while reading. Columns without a field are 0, 0.0 or '' in new rows. A line takes at most 16 MiB; lines before an error have been loaded.
         * @param mixed $source path of a file, or a stream that is open for reading
         * @param array|null $columns what the fields are, in their order, '' for one that is passed over; null: the first line says it
         * @param callable|null $progress as for loadJson()
         * @param string $separator one byte, no quote or line end
         * @param string $key the field that holds the row's key
         * @return int rows loaded, also when $progress stopped it or the coroutine was cancelled
         * @throws \Apus\TableException FILE with the name, the line and the reason, STATE before create()
         * @throws \TypeError for a source that is neither
         * @throws \ValueError for a separator that is not one byte
         * In a coroutine, others run now and then. Waits as the stream does.
         * @since 0.1.0
         */
        public function loadCsv(mixed $source, ?array $columns = null, ?callable $progress = null, string $separator = ',', string $key = 'id'): int {}

        /**
         * From now on writes leave the indexes as they are, and queries throw STATE, until buildIndexes(): for bulk loads, by several processes at once if wanted.
         * @throws \Apus\TableException STATE before create()
         * Does not wait.
         * @since 0.1.0
         */
        public function deferIndexes(): void {}

        /**
         * Builds all indexes from the rows, packed, and ends deferIndexes(). Other processes that write wait for it, readers of rows do not.
         * @throws \Apus\TableException NO_MEMORY, STATE before create()
         * In a coroutine, others run meanwhile.
         * @since 0.1.0
         */
        public function buildIndexes(): void {}

        /**
         * Writes a snapshot of the table to a file, with a checksum; the file replaces an older one when it is complete, so a crash leaves the old one or the new one.
         * @param string $path the file
         * @return int its bytes; 0 when the coroutine was cancelled meanwhile: the file is written all the same
         * @throws \Apus\TableException FILE when it cannot be written, STATE before create()
         * In a coroutine, others run meanwhile. Writers of all processes wait while rows are read.
         * @since 0.1.0
         */
        public function save(string $path): int {}

        /**
         * Replaces all rows by those of a snapshot of a table with the same description.
         * @param string $path the file
         * @return int rows; 0 when the coroutine was cancelled meanwhile: they are restored all the same
         * @throws \Apus\TableException FILE when it is missing, torn, damaged or of another table: the rows stay as they were
         * In a coroutine, others run meanwhile.
         * @since 0.1.0
         */
        public function restore(string $path): int {}

        /**
         * Goes to the first row, for foreach. The object has one cursor: loops over it inside each other share it. Rows that are there all the time come exactly once, others perhaps. The order is the table's own.
         * @throws \Apus\TableException STATE before create()
         * Does not wait.
         * @since 0.1.0
         */
        public function rewind(): void {}

        /**
         * Whether the cursor stands on a row.
         * Does not wait.
         * @since 0.1.0
         */
        public function valid(): bool {}

        /**
         * Goes to the next row.
         * @throws \Apus\TableException STATE before create()
         * Does not wait.
         * @since 0.1.0
         */
        public function next(): void {}

        /**
         * The row on which the cursor stands, as it was when the cursor came there; null outside.
         * Does not wait.
         * @since 0.1.0
         */
        public function current(): mixed {}

        /**
         * The key of that row; null outside.
         * Does not wait.
         * @since 0.1.0
         */
        public function key(): mixed {}

    }
}

namespace Apus {
    /**
     * A child process that runs a callable of this script, and a pipe to it. The child is a copy of the process that starts it: it
     * has its objects, connections to the outside must not be used by both. The child ends when the callable has returned and
     * its coroutines and timers have ended, with the exit code 0; exit() gives another; an exception that nobody catches is reported
     * as at the end of a script, with 255. Shutdown functions and destructors run in it as at the end of a script.
     * Processes are made outside coroutines: before run(), or by Server::addProcess().
     * @since 0.1.0
     */
    class Process
    {
        /**
         * For useQueue(): push() and pop() do not wait.
         */
        public const IPC_NOWAIT = 256;

        /**
         * For close(): the end of the process that started the other.
         */
        public const PIPE_MASTER = 1;

        /**
         * For close(): the end of the child.
         */
        public const PIPE_WORKER = 2;

        /**
         * For close(): this process reads no more.
         */
        public const PIPE_READ = 3;

        /**
         * For close(): this process writes no more: the other one reads the end.
         */
        public const PIPE_WRITE = 4;

        /**
         * No pipe.
         */
        public const PIPE_TYPE_NONE = 0;

        /**
         * A pipe of bytes.
         */
        public const PIPE_TYPE_STREAM = 1;

        /**
         * A pipe of messages: each write() is one read().
         */
        public const PIPE_TYPE_DGRAM = 2;

        /**
         * The descriptor of this process's end of the pipe; null without one.
         */
        public ?int $pipe = null;

        /**
         * The number of the message queue, after useQueue().
         */
        public ?int $msgQueueId = null;

        /**
         * Its key.
         */
        public ?int $msgQueueKey = null;

        /**
         * The child's process id, once started; in the child its own.
         */
        public ?int $pid = null;

        /**
         * The number of this object, from 1; in a pool or server the number of its worker or process.
         */
        public ?int $id = null;

        /**
         * The pipe exists from here on: what is written before the start is read by the child.
         * @param callable $callback what the child runs, as $callback(Apus\Process $process)
         * @param bool $redirect_stdin_and_stdout the child's standard input, output and error are the pipe, which then carries bytes
         * @param int $pipe_type SOCK_DGRAM (2): messages; SOCK_STREAM (1): bytes; 0: no pipe
         * @param bool $enable_coroutine the child runs $callback in a coroutine
         * @throws \ValueError for another type
         * @throws \Apus\Process\Exception SYSTEM when the system makes no pipe
         * Does not wait.
         * @since 0.1.0
         */
        public function __construct(callable $callback, bool $redirect_stdin_and_stdout = false, int $pipe_type = 2, bool $enable_coroutine = false) {}

        /**
         * @param array $settings enable_coroutine: as the constructor's
         * @throws \ValueError for another setting
         * Does not wait.
         * @since 0.1.0
         */
        public function set(array $settings): void {}

        /**
         * Makes the child. It may be started again when it has ended: a new child has the same pipe. Take the end of every child with
         * wait(): it stays in the system's table until then.
         * @return int|false the child's process id; false, with a warning, when it runs already, or the system makes no process
         * @throws \Apus\Coroutine\Exception CANNOT_FORK inside a coroutine
         * @throws \Apus\Process\Exception STATE in the child itself, and for processes of servers and pools
         * Does not wait.
         * @since 0.1.0
         */
        public function start(): int|false {}

        /**
         * Writes to the other side. A message is at most about 200 KiB long with the system's defaults (net.core.wmem_max).
         * @return int|false bytes written: all, but when setTimeout()'s time was over; false when none were: the child has ended (EPIPE),
         * the message is too long (EMSGSIZE), both with a warning, the time was over (ETIMEDOUT), or there is no room (EAGAIN) and
         * setBlocking(false) was called. Apus\last_error() tells
         * @throws \ValueError for an empty string
         * Waits while the other side does not read: in a coroutine others run, outside the process blocks.
         * @since 0.1.0
         */
        public function write(string $data): int|false {}

        /**
         * Reads what the other side has written.
         * @param int $size bytes at most; what a message has more is lost, with a warning
         * @return string|false '' when the other side has ended or closed its end, and nothing is left; false when setTimeout()'s time was over
         * (ETIMEDOUT), or nothing is there (EAGAIN) and setBlocking(false) was called. Apus\last_error() tells
         * @throws \ValueError for another size
         * @throws \Apus\Process\Exception STATE before start()
         * Waits: in a coroutine others run, outside the process blocks.
         * @since 0.1.0
         */
        public function read(int $size = 8192): string|false {}

        /**
         * Closes the pipe in this process.
         * @param int $which 0: all; PIPE_MASTER, PIPE_WORKER: one end; PIPE_READ, PIPE_WRITE: one direction of this process's end
         * @return bool false, with a warning, when that is closed already
         * @throws \ValueError for another number
         * Does not wait.
         * @since 0.1.0
         */
        public function close(int $which = 0): bool {}

        /**
         * How long read() and write() wait.
         * @param float $seconds 0 or negative for no limit, the default
         * @return bool false without a pipe
         * Does not wait.
         * @since 0.1.0
         */
        public function setTimeout(float $seconds): bool {}

        /**
         * Whether read() and write() wait, which they do by default.
         * @return bool false, with a warning, without a pipe
         * Does not wait.
         * @since 0.1.0
         */
        public function setBlocking(bool $blocking): bool {}

        /**
         * This process's end of the pipe as a socket for coroutines; always the same object. With SOCK_DGRAM each send() is one recv().
         * @return Socket|false false, with a warning, without a pipe
         * Does not wait.
         * @since 0.1.0
         */
        public function exportSocket(): \Apus\Coroutine\Socket|false {}

        /**
         * Ends the child, as exit() does; for the child itself.
         * @param int $exit_code 0 to 255
         * @throws \ValueError for another code
         * @throws \Apus\Process\Exception STATE in another process
         * @since 0.1.0
         */
        public function exit(int $exit_code = 0): void {}

        /**
         * Replaces the child's program; for the child itself. The new program has the pipe's end open, under its number $pipe.
         * @param string $exec_file its path
         * @param string[] $args its arguments, without its name
         * @return bool false, with a warning, when it cannot be run; else this does not return
         * @throws \ValueError for a null byte
         * @throws \Apus\Process\Exception STATE in another process
         * @since 0.1.0
         */
        public function exec(string $exec_file, array $args): bool {}

        /**
         * Sets what ps(1) shows of the calling process, where the command line of PHP runs.
         * @return bool false when it cannot be set
         * @throws \ValueError for an empty name or a null byte
         * Does not wait.
         * @since 0.1.0
         */
        public function name(string $process_name): bool {}

        /**
         * Opens a System V message queue for push() and pop(), before start(). It stays in the system until freeQueue().
         * @param int $key what all its users call it; 0 for a key made of the script's path
         * @param int $mode 2: whoever comes first takes a message; 1: this process's messages only; with IPC_NOWAIT: push() and pop() do not wait
         * @param int $capacity bytes that it takes; -1 for the system's default
         * @throws \ValueError for other values
         * @throws \Apus\Process\Exception SYSTEM when the system refuses
         * Does not wait.
         * @since 0.1.0
         */
        public function useQueue(int $key = 0, int $mode = 2, int $capacity = -1): bool {}

        /**
         * queue_num (messages), queue_bytes (their bytes), queue_limit (bytes that it takes).
         * @return array|false false, with a warning, without a queue
         * Does not wait.
         * @since 0.1.0
         */
        public function statQueue(): array|false {}

        /**
         * Removes the queue from the system with all that is in it.
         * @return bool false, with a warning, without a queue
         * Does not wait.
         * @since 0.1.0
         */
        public function freeQueue(): bool {}

        /**
         * Puts a message into the queue: at most kernel.msgmax bytes (usually 8,192).
         * @return bool false when it is full and does not wait, was removed, or the message is too long, the latter two with a warning
         * @throws \ValueError for an empty string
         * Waits while it is full: in a coroutine others run, outside the process blocks.
         * @since 0.1.0
         */
        public function push(string $data): bool {}

        /**
         * Takes a message from the queue.
         * @param int $size bytes: a longer message stays in the queue, with a warning
         * @return string|false false when it is empty and does not wait, or, with a warning, was removed
         * @throws \ValueError for another size
         * Waits: in a coroutine others run, outside the process blocks.
         * @since 0.1.0
         */
        public function pop(int $size = 65536): string|false {}

        /**
         * @param int $which PRIO_PROCESS (0), PRIO_PGRP (1), PRIO_USER (2)
         * @param int $priority -20 (favoured) to 19; favouring more than before needs rights
         * @param int|null $who the process, group or user; null for the started child
         * @return bool false, with a warning, when it is refused
         * @throws \ValueError for other values
         * Does not wait.
         * @since 0.1.0
         */
        public function setPriority(int $which, int $priority, ?int $who = null): bool {}

        /**
         * The nice value: see setPriority().
         * @return int|false false, with a warning, when there is no such process
         * @throws \ValueError for other values
         * Does not wait.
         * @since 0.1.0
         */
        public function getPriority(int $which, ?int $who = null): int|false {}

        /**
         * Takes the end of a child of this process. In a coroutine, children that System::exec() or waitPid() wait for are left to these.
         * @param bool $blocking false: only looks
         * @return array|false pid, code (exit code), signal (that killed it, or 0); false when there is no child (ECHILD), or none that has ended
         * Waits: in a coroutine others run, outside the process blocks.
         * @since 0.1.0
         */
        public static function wait(bool $blocking = true): array|false {}

        /**
         * Sends a signal; 0 only asks whether there is such a process.
         * @return bool false when there is none, or it may not be signalled; with a warning, but for signal 0
         * Does not wait.
         * @since 0.1.0
         */
        public static function kill(int $pid, int $signal_no = 15): bool {}

        /**
         * Has $callback(int $signal) called whenever a signal comes. While coroutines run (in run(), in a server's worker, at the end of a script
         * that made some) it is called in a coroutine; else between two steps of the running code, as the handlers of ext/pcntl. PHP
         * functions that block are not broken off, but for sleeps; wait(), read(), write() and pop() of this class go on waiting after the
         * handler. A handler does not keep a script alive. Children that are made here have none.
         * @param callable|null $callback null takes the handler away: the signal does what it did before
         * @return bool false, with a warning, when there is no handler to take away
         * @throws \ValueError for SIGKILL, SIGSTOP, the signals of a program's own faults, and numbers that are none
         * Does not wait.
         * @since 0.1.0
         */
        public static function signal(int $signal_no, ?callable $callback = null): bool {}

        /**
         * Has the system send a signal again and again: SIGALRM, SIGVTALRM or SIGPROF.
         * @param int $usec microseconds between two; negative or 0 ends it
         * @param int $type 0: real time; 1: time that the process runs; 2: that time, with what the system does for it
         * @throws \ValueError for another type
         * Does not wait.
         * @since 0.1.0
         */
        public static function alarm(int $usec, int $type = 0): bool {}

        /**
         * Goes on in the background: the script continues in a child in a session of its own, the calling process ends with 0. Timers and
         * coroutines that were waiting are lost: call it first.
         * @param bool $nochdir false: the working directory becomes /
         * @param bool $noclose false: standard input, output and error become /dev/null
         * @param array $pipes streams or descriptors that take their places
         * @return bool false, with a warning, when the system makes no process
         * @throws \Apus\Coroutine\Exception CANNOT_FORK inside a coroutine
         * @throws \TypeError for other elements
         * Does not wait.
         * @since 0.1.0
         */
        public static function daemon(bool $nochdir = true, bool $noclose = true, array $pipes = []): bool {}

        /**
         * Which processors may run this process.
         * @param int[] $cpu_settings their numbers, from 0
         * @return bool false, with a warning, when the machine has none of them
         * @throws \ValueError for other values
         * Does not wait.
         * @since 0.1.0
         */
        public static function setAffinity(array $cpu_settings): bool {}

        /**
         * The numbers of the processors that may run this process.
         * Does not wait.
         * @since 0.1.0
         */
        public static function getAffinity(): array {}

    }
}

namespace Apus\Process {
    /**
     * A number of worker processes that are kept running: one that ends, or is killed, is started again (after a pause, when it keeps failing
     * within its first second). start() makes the calling process their master: SIGTERM and SIGINT end the pool, SIGUSR1 and SIGUSR2
     * replace the workers one after the other. A worker that is to end gets SIGTERM, and SIGKILL when it has not ended after
     * max_wait_time. With messages it ends when it has handled the message it has; with coroutines when these have ended; one that
     * only runs workerstart ends at once unless it handles SIGTERM itself.
     * Events: start(Pool) and shutdown(Pool) in the master; workerstart(Pool, int $workerId), whose return ends a worker without
     * messages, workerstop(Pool, int $workerId), workerexit(Pool, int $workerId), when a worker with coroutines is to end, and
     * message(Pool, string $data) in workers.
     * @since 0.1.0
     */
    class Pool
    {
        /**
         * The master's process id, once start() was called.
         */
        public int $master_pid = -1;

        /**
         * In a worker: its process id.
         */
        public int $workerPid = -1;

        /**
         * In a worker: its number, from 0.
         */
        public int $workerId = -1;

        /**
         * Not used: see getProcess().
         */
        public ?array $workers = null;

        /**
         * In a worker with messages or coroutines: false when it is to end.
         */
        public bool $workerRunning = true;

        /**
         * The same.
         */
        public bool $running = true;

        /**
         * The port that listen() has bound; the real one where 0 was asked for.
         */
        public int $port = 0;

        /**
         * @param int $worker_num 1 to 4096
         * @param int $ipc_type where messages come from: Apus\IPC_NONE: there are none; IPC_UNIXSOCK: from other workers, by sendMessage();
         * IPC_MSGQUEUE: from a System V message queue, for whichever worker is free; IPC_SOCKET: from clients of listen()
         * @param int $msgqueue_key the queue's key; 0 for one made of the script's path. The queue stays in the system
         * @param bool $enable_coroutine workers run their callbacks in coroutines, and handle up to 1,024 messages at once
         * @throws \ValueError for other values
         * Does not wait.
         * @since 0.1.0
         */
        public function __construct(int $worker_num, int $ipc_type = 0, int $msgqueue_key = 0, bool $enable_coroutine = false) {}

        /**
         * @param array $settings enable_coroutine (bool); max_wait_time: seconds that a worker may take to end (3); max_package_size: bytes of
         * a message over a socket (8 MiB); enable_message_bus (bool): no effect, messages are whole in any case
         * @throws \ValueError for other settings or values
         * Does not wait.
         * @since 0.1.0
         */
        public function set(array $settings): void {}

        /**
         * Sets the callback of an event: start, shutdown, workerstart, workerstop, workerexit or message, in any case, with "on" before it or
         * not.
         * @throws \Apus\Process\Exception EVENT for another name, and for message without an $ipc_type; STATE after start()
         * Does not wait.
         * @since 0.1.0
         */
        public function on(string $name, callable $callback): bool {}

        /**
         * A worker's process: with its pid, and with IPC_UNIXSOCK the pipe to it.
         * @param int $work_id its number; -1 in a worker for itself
         * @throws \ValueError for another number
         * @throws \Apus\Process\Exception STATE before start()
         * Does not wait.
         * @since 0.1.0
         */
        public function getProcess(int $work_id = -1): \Apus\Process|false {}

        /**
         * Listens for clients, with IPC_SOCKET. A client sends four bytes with the length of its message in network order, the message, and gets
         * an answer of the same form when the callback called write(); one message a connection, which may take 10 seconds to come.
         * @param string $host an IP address or name, or "unix:" and a path
         * @param int $port 0 for any free one: see $port
         * @param int $backlog connections that may wait, 1 to 65535
         * @throws \ValueError for other values
         * @throws \Apus\Process\Exception BIND when the address cannot be had; STATE for other pools,
         * and after start()
         * Does not wait.
         * @since 0.1.0
         */
        public function listen(string $host, int $port = 0, int $backlog = 2048): bool {}

        /**
         * Adds to the answer to the message that is being handled, with IPC_SOCKET; it is sent when the callback has ended.
         * @throws \ValueError for an empty string
         * @throws \Apus\Process\Exception STATE elsewhere, and above 256 MiB
         * Does not wait.
         * @since 0.1.0
         */
        public function write(string $data): bool {}

        /**
         * Sends a message to a worker, with IPC_UNIXSOCK: at most about 200 KiB with the system's defaults (net.core.wmem_max). A worker that is
         * started again finds what its predecessor had not taken.
         * @return bool false, with a warning, when it is too long (EMSGSIZE); false when the coroutine was cancelled
         * @throws \ValueError for an empty string or another worker
         * @throws \Apus\Process\Exception STATE for other pools
         * Waits while that worker's pipe is full: in a coroutine others run, outside the process blocks.
         * @since 0.1.0
         */
        public function sendMessage(string $data, int $dst_worker_id): bool {}

        /**
         * Takes the calling worker out of the pool, which starts another in its place. The worker goes on until its callback has returned, and takes
         * no more messages; the master's end does not end it.
         * @throws \Apus\Process\Exception STATE outside workers
         * Does not wait.
         * @since 0.1.0
         */
        public function detach(): bool {}

        /**
         * Starts the workers, and returns in the master when the pool was stopped; the script of a worker ends here.
         * @throws \Apus\Coroutine\Exception CANNOT_FORK inside a coroutine
         * @throws \Apus\Process\Exception EVENT when workers have nothing to do; STATE when it was started before, or has not listened;
         * SYSTEM when the system refuses
         * Blocks.
         * @since 0.1.0
         */
        public function start(): void {}

        /**
         * Ends the calling worker, as SIGTERM does; another takes its place.
         * @throws \Apus\Process\Exception STATE outside workers
         * Does not wait.
         * @since 0.1.0
         */
        public function stop(): void {}

        /**
         * Ends the pool: sends SIGTERM to the master.
         * @throws \Apus\Process\Exception STATE when it does not run
         * Does not wait.
         * @since 0.1.0
         */
        public function shutdown(): bool {}

    }
}

namespace Apus\Process {
    /**
     * A pool of processes in which each worker runs a callable of its own: see Apus\Process\Pool for how they are kept running and ended.
     * @since 0.1.0
     */
    class Manager
    {
        /**
         * @param int $ipcType Apus\IPC_NONE or IPC_UNIXSOCK: workers reach each other by getProcess()->write()
         * @param int $msgQueueKey the key of a message queue
         * @throws \ValueError for another type
         * Does not wait.
         * @since 0.1.0
         */
        public function __construct(int $ipcType = 0, int $msgQueueKey = 0) {}

        /**
         * Adds a worker.
         * @param callable $func what it runs: $func(Apus\Process\Pool $pool, int $workerId); when that returns, the worker is
         * started again
         * @param bool $enableCoroutine in a coroutine
         * @throws \ValueError above 4,096 workers
         * Does not wait.
         * @since 0.1.0
         */
        public function add(callable $func, bool $enableCoroutine = false): static {}

        /**
         * Adds several workers that run the same.
         * @throws \ValueError for less than 1 and above 4,096 workers
         * Does not wait.
         * @since 0.1.0
         */
        public function addBatch(int $workerNum, callable $func, bool $enableCoroutine = false): static {}

        /**
         * As Apus\Process\Pool::start().
         * @throws \Apus\Process\Exception STATE without a worker
         * Blocks.
         * @since 0.1.0
         */
        public function start(): void {}

        /**
         * @throws \ValueError for another type
         * Does not wait.
         * @since 0.1.0
         */
        public function setIPCType(int $ipcType): static {}

        /**
         * What was set.
         * Does not wait.
         * @since 0.1.0
         */
        public function getIPCType(): int {}

        /**
         * The key of the message queue.
         * Does not wait.
         * @since 0.1.0
         */
        public function setMsgQueueKey(int $msgQueueKey): static {}

        /**
         * What was set.
         * Does not wait.
         * @since 0.1.0
         */
        public function getMsgQueueKey(): int {}

    }
}

namespace Apus {
    /**
     * A System V message queue: messages of bytes between processes that know its key, of PHP or not. The system keeps queues with
     * a key, and what is in them, until destroy() is called or the machine restarts; ipcs(1) lists them. One without a key goes with
     * its object in the process that made it. A message is at most kernel.msgmax bytes long (usually 8,192), a queue holds
     * kernel.msgmnb bytes (usually 16,384): Apus\Queue has no such limits. Nothing announces messages to a process, so
     * waiting looks at the queue every 0.2 to 5 milliseconds.
     * @since 0.1.0
     */
    class MessageQueue
    {
        /**
         * The key; 0 for none.
         */
        public readonly int $key;

        /**
         * The number that the system gave it.
         */
        public readonly int $id;

        /**
         * Why the last method failed: an errno; 0 after a success.
         */
        public int $errCode = 0;

        /**
         * Opens the queue of a key, which is made when there is none.
         * @param int $key what all its users call it, for example ftok()'s; 0 for a new queue that only this process and its children know
         * @param int $permissions who may use it when it is made: as a file's
         * @param int $limit bytes that it takes; 0 for the system's default, more than that only as root
         * @throws \Apus\Process\Exception SYSTEM when the system refuses
         * @throws \ValueError for other values
         * Does not wait.
         * @since 0.1.0
         */
        public function __construct(int $key = 0, int $permissions = 0600, int $limit = 0) {}

        /**
         * Puts a message.
         * @param int $type 1 or more: pop() may ask for it
         * @param float $timeout seconds to wait for room; negative for no limit, 0 for no waiting
         * @return bool false when the time was over (ETIMEDOUT), the coroutine was cancelled, the message is too long or the queue was removed,
         * the latter two with a warning; see errCode
         * @throws \ValueError for another type
         * Waits while the queue is full: in a coroutine others run, outside the process blocks.
         * @since 0.1.0
         */
        public function push(string $data, int $type = 1, float $timeout = -1): bool {}

        /**
         * Takes the oldest message.
         * @param float $timeout seconds; negative for no limit, 0 for no waiting
         * @param int $type 0 for any message, a number for those of that type, a negative one for those of the lowest type up to it
         * @param int $size bytes: a longer message stays in the queue (E2BIG)
         * @return string|false false when the time was over (ETIMEDOUT), the coroutine was cancelled, or, with a warning, otherwise; see errCode
         * @throws \ValueError for other sizes
         * Waits: in a coroutine others run, outside the process blocks.
         * @since 0.1.0
         */
        public function pop(float $timeout = -1, int $type = 0, int $size = 65536): string|false {}

        /**
         * queue_num (messages), queue_bytes (their bytes), queue_limit (bytes that it takes).
         * @return array|false false, with a warning, when the queue was removed
         * Does not wait.
         * @since 0.1.0
         */
        public function stats(): array|false {}

        /**
         * Removes the queue from the system with all that is in it; whoever waits for it is told.
         * @return bool false, with a warning, when it was removed already or belongs to another user
         * Does not wait.
         * @since 0.1.0
         */
        public function destroy(): bool {}

    }
}

namespace Apus\Http {
    /**
     * One HTTP request. Its properties are built when they are first read.
     * @since 0.1.0
     */
    class Request
    {
        /**
         * request_method, request_uri (path as sent), path_info (path decoded), query_string (when there is one),
         * request_time, request_time_float, server_protocol, server_port, remote_addr, remote_port,
         * master_time (when the connection was made). Keys are lower-case.
         */
        public ?array $server;

        /**
         * Header fields, names lower-case; several of one name are joined with ", " (RFC 9110 section 5.3).
         */
        public ?array $header;

        /**
         * Query variables, nested as PHP does; null without any. Limit: max_input_vars.
         */
        public ?array $get;

        /**
         * Form fields of an urlencoded or multipart body; null without any. Limits: max_input_vars, max_form_memory.
         */
        public ?array $post;

        /**
         * Cookies; null without any.
         */
        public ?array $cookie;

        /**
         * Uploaded files by field: name, full_path, type, tmp_name, error (UPLOAD_ERR_*), size, as in $_FILES, but a field
         * list[] holds a list of such entries; null without any.
         * is_uploaded_file() and move_uploaded_file() know them. They are removed when the request object goes.
         */
        public ?array $files;

        /**
         * Paths of the uploaded files; null without any.
         */
        public ?array $tmpfiles;

        /**
         * The connection's session id.
         */
        public int $fd = 0;

        /**
         * The stream of an HTTP/2 request; 0 in HTTP/1.
         */
        public int $streamId = 0;

        /**
         * The request method as sent, such as GET (RFC 9110 section 9).
         * Does not wait.
         * @since 0.1.0
         */
        public function getMethod(): string {}

        /**
         * The whole body; empty without one. With the setting stream_request_body it waits for what has not come yet.
         * @return string|false false, with a warning, for a multipart form, whose parts are in $post and $files; with the setting http_parse_post
         * off it is given whole
         * @throws \Apus\Http\Exception BODY when the body broke off (streamed bodies only)
         * @since 0.1.0
         */
        public function rawContent(): string|false {}

        /**
         * The same as rawContent().
         * @since 0.1.0
         */
        public function getContent(): string|false {}

        /**
         * The next bytes of the body. With the setting stream_request_body it waits until some have come, and a body of
         * any allowed size passes in constant memory; the client is read from only as fast as this is called.
         * @param int $max 1 to 16777216 bytes
         * @return string at most $max bytes; empty at the end
         * @throws \ValueError when $max is out of its limits
         * @throws \Apus\Http\Exception BODY when the body broke off or came too slowly
         * Waits.
         * @since 0.1.0
         */
        public function read(int $max = 65536): string {}

        /**
         * Trailer fields of a chunked body, names lower-case (RFC 9110 section 6.5); of a streamed body once it was read.
         * Does not wait.
         * @since 0.1.0
         */
        public function getTrailers(): array {}

        /**
         * The request as it was sent: head, and the body where it was kept whole.
         * Does not wait.
         * @since 0.1.0
         */
        public function getData(): string|false {}

        /**
         * Whether the client has closed the connection. See also the setting cancel_on_disconnect.
         * Does not wait.
         * @since 0.1.0
         */
        public function isAborted(): bool {}

    }
}

namespace Apus\Http {
    /**
     * The answer to one request. It may outlive the request's handler and be used from other coroutines. An answer that is
     * never ended becomes a 500 when the object goes.
     * @since 0.1.0
     */
    class Response
    {
        /**
         * The connection's session id.
         */
        public int $fd = 0;

        /**
         * Sets the status code, and a reason phrase instead of the standard one (RFC 9110 section 15).
         * @param int $code 200 to 999, or 101 to accept a WebSocket handshake with end(); default 200
         * @return bool false when the head has left already
         * @throws \Apus\Http\Exception INVALID_STATUS
         * Does not wait.
         * @since 0.1.0
         */
        public function status(int $code, string $reason = ''): bool {}

        /**
         * The same as status().
         * @since 0.1.0
         */
        public function setStatusCode(int $code, string $reason = ''): bool {}

        /**
         * Sets a header field in place of earlier ones of its name; an array makes several lines, null takes the field away.
         * @param bool $format whether content-type is sent as Content-Type
         * @return bool false when the head has left already, or for a field that the server sets by itself
         * (Keep-Alive, Transfer-Encoding, and Connection but for "close" and "keep-alive")
         * @throws \Apus\Http\Exception INVALID_HEADER
         * Does not wait.
         * @since 0.1.0
         */
        public function header(string $key, string|array|null $value, bool $format = true): bool {}

        /**
         * The same as header().
         * @since 0.1.0
         */
        public function setHeader(string $key, string|array|null $value, bool $format = true): bool {}

        /**
         * The header fields set so far, names lower-case; several lines of one name are an array.
         * Does not wait.
         * @since 0.1.0
         */
        public function getHeaders(): array {}

        /**
         * Sets a cookie; the value is percent-encoded (RFC 6265). An empty value deletes it.
         * @param int $expires Unix time in seconds; 0 for the browser's session
         * @param string $samesite Lax, Strict or None; empty to leave it out
         * @param string $priority Low, Medium or High; empty to leave it out
         * @param bool $partitioned needs $secure
         * @return bool false when the head has left already
         * @throws \Apus\Http\Exception INVALID_COOKIE
         * Does not wait.
         * @since 0.1.0
         */
        public function cookie(string $name, string $value = '', int $expires = 0, string $path = '/', string $domain = '', bool $secure = false, bool $httponly = false, string $samesite = '', string $priority = '', bool $partitioned = false): bool {}

        /**
         * Sets a cookie; the value is sent as it is (RFC 6265).
         * @param int $expires Unix time in seconds; 0 for the browser's session
         * @param string $samesite Lax, Strict or None; empty to leave it out
         * @param string $priority Low, Medium or High; empty to leave it out
         * @param bool $partitioned needs $secure
         * @return bool false when the head has left already
         * @throws \Apus\Http\Exception INVALID_COOKIE
         * Does not wait.
         * @since 0.1.0
         */
        public function rawcookie(string $name, string $value = '', int $expires = 0, string $path = '/', string $domain = '', bool $secure = false, bool $httponly = false, string $samesite = '', string $priority = '', bool $partitioned = false): bool {}

        /**
         * Adds a trailer field, which is sent after a chunked body (RFC 9110 section 6.5). A 1.0 client gets none.
         * @return bool false when the response has ended
         * @throws \Apus\Http\Exception INVALID_HEADER, for fields, too, that cannot be trailers (RFC 9110 section 6.5.1): Content-Length,
         * Content-Type, Set-Cookie, …
         * Does not wait.
         * @since 0.1.0
         */
        public function trailer(string $key, string $value): bool {}

        /**
         * Sends a piece of the body, chunked (RFC 9112 section 7.1) unless a Content-Length was set; the first call sends
         * the head. Where the client reads slowly it waits until less than buffer_output_size bytes are on their way.
         * @return bool false when the client is gone, the response has ended, or (outside coroutines) the buffer is full; with a warning when
         * it is more than the Content-Length announced: then the connection is cut
         * @throws \Apus\Coroutine\CanceledException when cancelled with an exception
         * Waits (where a coroutine runs).
         * @since 0.1.0
         */
        public function write(string $data): bool {}

        /**
         * Sends the response, or the last of one begun with write(), and ends it. The bytes leave at once.
         * @return bool false when the client is gone or the response has ended already
         * Does not wait.
         * @since 0.1.0
         */
        public function end(?string $content = null): bool {}

        /**
         * Sends (a part of) a file as the body, without a copy (sendfile(2)), and ends the response. A Content-Type is
         * chosen by the name's extension unless one was set.
         * @param int $offset bytes from its start
         * @param int $length bytes; 0 for the rest of the file
         * @return bool false when the head has left already or the client is gone
         * @throws \Apus\Http\Exception FILE when it cannot be read or is shorter
         * Does not wait.
         * @since 0.1.0
         */
        public function sendfile(string $path, int $offset = 0, int $length = 0): bool {}

        /**
         * Answers with a redirection and ends the response (RFC 9110 section 15.4).
         * @param int $code 300 to 399
         * @return bool false when the head has left already
         * @throws \Apus\Http\Exception INVALID_STATUS, INVALID_HEADER
         * Does not wait.
         * @since 0.1.0
         */
        public function redirect(string $location, int $code = 302): bool {}

        /**
         * Whether something can be sent: the response has not ended, and the client is not known to be gone.
         * Does not wait.
         * @since 0.1.0
         */
        public function isWritable(): bool {}

        /**
         * Takes the answer from this object: its end sends nothing. Response::create() with the fd goes on with it.
         * @return bool false when the response has ended, or was detached already
         * Does not wait.
         * @since 0.1.0
         */
        public function detach(): bool {}

        /**
         * A response object for a connection of this worker that waits for an answer.
         * @param mixed $server the server, or the fd itself
         * @return Response|false false when there is no such connection here, or it waits for nothing
         * Does not wait.
         * @since 0.1.0
         */
        public static function create(mixed $server, int $fd = -1): \Apus\Http\Response|false {}

        /**
         * Accepts the WebSocket handshake that this request is (RFC 6455 section 4.2): sends 101 with the header fields set
         * before, a Sec-WebSocket-Protocol among them. Then recv() and push() speak over the connection, and no message event comes.
         * @return bool false when the request is no sound handshake, or of an origin that websocket_origins does not allow: it
         * was answered with 400, 403, 405 or 426 then, unless the head had left already
         * @throws \Apus\Http\Exception DETACHED
         * Does not wait.
         * @since 0.1.0
         */
        public function upgrade(): bool {}

        /**
         * The next message. Pings are answered by the server. The client is read from only as fast as this is called.
         * @param float $timeout seconds; negative for no limit
         * @return Frame|string|false an empty string once the connection is closed (with open_websocket_close_frame the CloseFrame
         * before it); false when the time is over
         * @throws \Apus\Http\Exception NOT_UPGRADED
         * Waits.
         * @since 0.1.0
         */
        public function recv(float $timeout = -1): \Apus\WebSocket\Frame|string|false {}

        /**
         * Sends a message: see Apus\WebSocket\Server::push().
         * @return bool false when it is lost
         * @throws \Apus\Http\Exception NOT_UPGRADED
         * @throws \Apus\Client\Exception ARGUMENT
         * Waits.
         * @since 0.1.0
         */
        public function push(\Apus\WebSocket\Frame|string $data, int $opcode = 1, int $flags = 1): bool {}

        /**
         * Ends the WebSocket with a closing handshake, or cuts the connection of a request that is not answered yet.
         * @return bool false when it is closed already
         * Does not wait.
         * @since 0.1.0
         */
        public function close(): bool {}

    }
}

namespace Apus\Server {
    /**
     * The session ids of a server's connections, those of other workers too. Empty outside workers.
     * @since 0.1.0
     */
    final class Connections implements \IteratorAggregate, \Countable
    {
        /**
         * The ids, ascending.
         * Does not wait.
         * @since 0.1.0
         */
        public function getIterator(): \ArrayIterator {}

        /**
         * How many there are.
         * Does not wait.
         * @since 0.1.0
         */
        public function count(): int {}

    }
}

namespace Apus\Server {
    /**
     * One address that a server listens on. Settings and callbacks that it does not have are the server's.
     * @since 0.1.0
     */
    final class Port
    {
        /**
         * The address, or the path of a Unix socket.
         */
        public string $host = '';

        /**
         * The port; the real one where 0 was asked for.
         */
        public int $port = 0;

        /**
         * The kind of socket, such as Apus\SOCK_TCP.
         */
        public int $type = 0;

        /**
         * What set() was given.
         */
        public ?array $setting = null;

        /**
         * Settings of this port, in place of the server's: see docs/options.md, scope "port". A port that is given a framing
         * (open_length_check, open_eof_split, …) or open_http_protocol => false is one of raw streams, and has none of the
         * server's framings.
         * @throws \Apus\Server\Exception OPTION, STATE (after start())
         * Does not wait.
         * @since 0.1.0
         */
        public function set(array $settings): void {}

        /**
         * A callback of this port, in place of the server's: connect, receive, packet, bufferfull, bufferempty, close,
         * request, handshake, open, message or disconnect. A port with receive and without request is one of raw streams.
         * @throws \Apus\Server\Exception EVENT, STATE (after start())
         * Does not wait.
         * @since 0.1.0
         */
        public function on(string $event, callable $callback): bool {}

        /**
         * The port's own callback for an event, or null.
         * Does not wait.
         * @since 0.1.0
         */
        public function getCallback(string $event): mixed {}

    }
}

namespace Apus\Server {
    /**
     * A task, as the callback of the event task gets it with task_enable_coroutine or task_use_object.
     * @since 0.1.0
     */
    final class Task
    {
        /**
         * What was handed over.
         */
        public mixed $data = null;

        /**
         * When, in seconds since 1970.
         */
        public ?float $dispatch_time = null;

        /**
         * Its number, as task() returned it.
         */
        public int $id = -1;

        /**
         * The id of the process that handed it over.
         */
        public int $worker_id = -1;

        /**
         * Bits: 2 the data was packed (no string), 4 its sender blocks until it is over, 8 it has a callback of its own, 32 a
         * coroutine waits for it.
         */
        public int $flags = 0;

        /**
         * Gives the sender a result: each call one finish event, or call of the task's own callback; who waits with taskwait() gets the
         * first. What the callback returns, unless null, does the same.
         * @return bool false when the sender has neither, or there is no room for the result: see getLastError()
         * @throws \Apus\Server\TaskException TOO_LARGE
         * @throws \Exception what packing the value throws
         * Does not wait.
         * @since 0.1.0
         */
        public function finish(mixed $data): bool {}

        /**
         * Whether the task was called off meanwhile, by taskCancel(): nobody wants its result.
         * Does not wait.
         * @since 0.1.0
         */
        public function isCancelled(): bool {}

        /**
         * The same as Apus\pack().
         * @throws \Apus\PackException
         * @since 0.1.0
         */
        public static function pack(mixed $data): string {}

        /**
         * The same as Apus\unpack().
         * @throws \Apus\PackException
         * @since 0.1.0
         */
        public static function unpack(string $data): mixed {}

    }
}

namespace Apus {
    /**
     * What all servers have in common: one master process that supervises, and workers that serve. See docs/processes.md.
     * @since 0.1.0
     */
    class Server
    {
        /**
         * All settings in force, once start() was called.
         */
        public ?array $setting = null;

        /**
         * The session ids of all connections; inside workers.
         */
        public ?\Apus\Server\Connections $connections = null;

        /**
         * The first port's address.
         */
        public string $host = '';

        /**
         * The first port's number; the real one where 0 was asked for.
         */
        public int $port = 0;

        /**
         * The first port's kind of socket.
         */
        public int $type = 0;

        /**
         * The mode that the constructor was given.
         */
        public int $mode = 0;

        /**
         * All ports: Apus\Server\Port objects.
         */
        public ?array $ports = null;

        /**
         * The master's process id, once start() was called.
         */
        public int $master_pid = 0;

        /**
         * The same: the master manages the workers.
         */
        public int $manager_pid = 0;

        /**
         * Inside a worker: its id, from 0.
         */
        public int $worker_id = -1;

        /**
         * Whether this process is a task worker.
         */
        public bool $taskworker = false;

        /**
         * Inside a worker: its process id.
         */
        public int $worker_pid = 0;

        /**
         * A server of raw streams and datagrams: TCP, UDP and Unix sockets. Binds the address at once, so that an address in use
         * is an exception here. A socket that systemd passed for it is taken instead.
         * @param string $host an IPv4 or IPv6 address, a name, or the path of a Unix socket
         * @param int $port 0 to 65535; 0 for any free one, which $port then tells
         * @param int $mode Apus\BASE or Apus\PROCESS, which mean the same
         * @param int $sockType Apus\SOCK_TCP, SOCK_TCP6, SOCK_UDP, SOCK_UDP6, SOCK_UNIX_STREAM or SOCK_UNIX_DGRAM
         * @throws \Apus\Server\Exception BIND
         * Does not wait.
         * @since 0.1.0
         */
        public function __construct(string $host = '0.0.0.0', int $port = 0, int $mode = 1, int $sockType = 1) {}

        /**
         * Changes settings: see docs/options.md. All are applied, or none.
         * @throws \Apus\Server\Exception OPTION (the message names the setting, its limits and unit), STATE after start()
         * Does not wait.
         * @since 0.1.0
         */
        public function set(array $settings): bool {}

        /**
         * Sets the callback of an event; its name may have any case. In the master, outside coroutines:
         * start, managerstart, beforereload, afterreload, beforeshutdown, managerstop, shutdown ($server);
         * workererror ($server, $workerId, $workerPid, $exitCode, $signal).
         * In workers, each in a coroutine: workerstart, workerexit, workerstop ($server, $workerId);
         * connect, close ($server, $fd, $workerId); request (Request, Response);
         * receive ($server, $fd, $workerId, $data): a message of a stream, or what came of it without a framing;
         * bufferfull, bufferempty ($server, $fd): see buffer_high_watermark;
         * packet ($server, $data, $clientInfo): a datagram; $clientInfo has address, port, server_socket, server_port;
         * task ($server, $taskId, $srcWorkerId, $data), in task workers: what it returns, unless null, is the task's result; with
         * task_enable_coroutine or task_use_object ($server, Apus\Server\Task);
         * finish ($server, $taskId, $data), taskerror ($server, $taskId, $reason): in the worker that called task().
         * @throws \Apus\Server\Exception EVENT, STATE after start()
         * Does not wait.
         * @since 0.1.0
         */
        public function on(string $event, callable $callback): bool {}

        /**
         * The callback of an event, or null.
         * Does not wait.
         * @since 0.1.0
         */
        public function getCallback(string $event): mixed {}

        /**
         * Listens on one more address; the kind of socket as in the constructor. A stream port of an Http\Server speaks HTTP, unless
         * Port::set() or Port::on() say otherwise.
         * @throws \Apus\Server\Exception BIND, STATE after start()
         * Does not wait.
         * @since 0.1.0
         */
        public function addlistener(string $host, int $port, int $sockType): \Apus\Server\Port|false {}

        /**
         * The same as addlistener().
         * @since 0.1.0
         */
        public function listen(string $host, int $port, int $sockType): \Apus\Server\Port|false {}

        /**
         * Starts the server: this process becomes the master, and returns true when the server has stopped. Workers never
         * return: their script ends here.
         * Signals to the master: TERM stops when requests have ended (setting max_wait_time), INT stops at once,
         * USR1 reloads event and task workers, USR2 task workers, HUP reloads as USR1 and opens the log anew.
         * @throws \Apus\Server\Exception STATE, EVENT (a port without a callback that answers), OPTION, BIND, PROCESS
         * @since 0.1.0
         */
        public function start(): bool {}

        /**
         * Stops the server; requests that have begun are finished.
         * @throws \Apus\Server\Exception STATE when it does not run
         * Does not wait.
         * @since 0.1.0
         */
        public function shutdown(): bool {}

        /**
         * Replaces all event and task workers by fresh ones; no request and no task is lost. User processes stay.
         * @param bool $onlyTaskWorkers whether event workers stay, too
         * @throws \Apus\Server\Exception STATE when it does not run
         * Does not wait.
         * @since 0.1.0
         */
        public function reload(bool $onlyTaskWorkers = false): bool {}

        /**
         * Replaces one worker (-1: this one) by a fresh one, which serves before the old one leaves, also when it is asked for in
         * workerstart; a user process is told to leave (TERM),
         * and started again when it has.
         * @return bool false when there is no such worker
         * @throws \Apus\Server\Exception STATE outside workers
         * Does not wait.
         * @since 0.1.0
         */
        public function stop(int $workerId = -1, bool $waitEvent = false): bool {}

        /**
         * Numbers of the whole server: start_time, connection_num, accept_count, close_count, worker_num, idle_worker_num,
         * serving_worker_num, worker_crash_count, request_count, response_count, error_count (status 500 and above),
         * concurrency (requests being handled), task_worker_num, task_idle_worker_num, tasking_num (tasks that wait or run),
         * task_queue_num (that wait), task_queue_bytes (that both take), task_delayed_num (that wait for their time), task_count (done),
         * task_error_count, user_process_num, total_recv_bytes, total_send_bytes, coroutine_num, memory_bytes, rss_bytes,
         * loop_blocked_count, latency_p50_us, latency_p99_us; of this worker: worker_request_count, worker_response_count,
         * worker_concurrency, coroutine_peak_num; and workers, a row each.
         * @throws \Apus\Server\Exception STATE outside workers
         * Does not wait.
         * @since 0.1.0
         */
        public function stats(): array {}

        /**
         * Whether a connection is open, in whichever worker.
         * @throws \Apus\Server\Exception STATE outside workers
         * Does not wait.
         * @since 0.1.0
         */
        public function exist(int $fd): bool {}

        /**
         * The same as exist().
         * @since 0.1.0
         */
        public function exists(int $fd): bool {}

        /**
         * Closes a connection of whichever worker, after what waits to be sent; with $reset at once, where
         * the connection belongs to this worker. In the handler of that connection's request the answer goes out first.
         * @return bool false when there is no such connection
         * @throws \Apus\Server\Exception STATE outside workers
         * Does not wait.
         * @since 0.1.0
         */
        public function close(int $fd, bool $reset = false): bool {}

        /**
         * What is known of a connection: remote_ip, remote_port, server_port, socket_type, worker_id, reactor_id, connect_time,
         * last_time, last_recv_time, request_count, close_errno; of a WebSocket websocket_status (3); of a stream or WebSocket
         * of this worker send_queued_bytes.
         * @return array|false false when there is no such connection
         * @throws \Apus\Server\Exception STATE outside workers
         * Does not wait.
         * @since 0.1.0
         */
        public function getClientInfo(int $fd, int $reactorId = -1, bool $ignoreError = false): array|false {}

        /**
         * Session ids greater than $startFd, ascending.
         * @param int $count 1 to 10000
         * @return array|false false when there are none
         * @throws \ValueError when $count is out of its limits
         * @throws \Apus\Server\Exception STATE outside workers
         * Does not wait.
         * @since 0.1.0
         */
        public function getClientList(int $startFd = 0, int $count = 10): array|false {}

        /**
         * The master's process id; false before start().
         * Does not wait.
         * @since 0.1.0
         */
        public function getMasterPid(): int|false {}

        /**
         * The same as getMasterPid(): the master manages the workers.
         * Does not wait.
         * @since 0.1.0
         */
        public function getManagerPid(): int|false {}

        /**
         * This worker's id; false outside workers.
         * Does not wait.
         * @since 0.1.0
         */
        public function getWorkerId(): int|false {}

        /**
         * The process id of a worker (-1: this one); false when there is none.
         * @throws \Apus\Server\Exception STATE outside workers
         * Does not wait.
         * @since 0.1.0
         */
        public function getWorkerPid(int $workerId = -1): int|false {}

        /**
         * Sends bytes over a stream connection of whichever worker. Where buffer_output_size bytes wait for it already, send_policy rules: wait (outside
         * coroutines: drop), drop, or close. What is sent from one coroutine arrives in that order.
         * @param int|string $fd the session id, or the path of a Unix datagram socket
         * @param int $serverSocket for a path: which of the server's ports sends, as in packet's $clientInfo; -1 for the first
         * @return bool true when the bytes are sent or wait to be; false when they are lost: see getLastError()
         * @throws \Apus\Server\Exception STATE outside workers
         * Waits (where a coroutine runs).
         * @since 0.1.0
         */
        public function send(int|string $fd, string $data, int $serverSocket = -1): bool {}

        /**
         * Sends one datagram from a datagram port of this server.
         * @param string $ip an IPv4 or IPv6 address, or the path of a Unix socket (then $port is of no account)
         * @param string $data 65507 bytes at most
         * @param int $serverSocket which port sends, as in packet's $clientInfo; -1 for the first of the receiver's family
         * @return bool false when the kernel does not take it: getLastError() gives its errno
         * @throws \ValueError for what is no address
         * @throws \Apus\Server\Exception STATE outside workers, and without such a port
         * Waits (where a coroutine runs).
         * @since 0.1.0
         */
        public function sendto(string $ip, int $port, string $data, int $serverSocket = -1): bool {}

        /**
         * Sends a file over a stream connection of this worker, behind what waits; it is read while it is sent. Only one file at a
         * time waits for a connection: the next one waits for it to leave.
         * @param int $length 0 for all from $offset on
         * @return bool false when it cannot be opened or the connection is gone: see getLastError()
         * @throws \ValueError when the file is shorter
         * @throws \Apus\Server\Exception STATE outside workers
         * Waits (where a coroutine runs).
         * @since 0.1.0
         */
        public function sendfile(int $fd, string $file, int $offset = 0, int $length = 0): bool {}

        /**
         * Like send() over a stream connection of this worker, and returns when the kernel has all of it.
         * @return bool false when the connection is gone: see getLastError()
         * @throws \Apus\Server\Exception STATE outside workers
         * @throws \Apus\Coroutine\Exception NOT_IN_COROUTINE when it has to wait outside a coroutine
         * Waits.
         * @since 0.1.0
         */
        public function sendwait(int $fd, string $data): bool {}

        /**
         * Reads no more from a stream or WebSocket of whichever worker, until resume(): the kernel's buffers fill, and the peer has to wait.
         * @return bool false when there is no such connection
         * @throws \Apus\Server\Exception STATE outside workers
         * Waits only for another worker that is behind with its messages.
         * @since 0.1.0
         */
        public function pause(int $fd): bool {}

        /**
         * Undoes pause().
         * @return bool false when there is no such connection
         * @throws \Apus\Server\Exception STATE outside workers
         * Waits only for another worker that is behind with its messages.
         * @since 0.1.0
         */
        public function resume(int $fd): bool {}

        /**
         * Begins to read from a new connection of a port with enable_delay_receive.
         * @return bool false when there is no such connection
         * @throws \Apus\Server\Exception STATE outside workers
         * Waits only for another worker that is behind with its messages.
         * @since 0.1.0
         */
        public function confirm(int $fd): bool {}

        /**
         * Has the heartbeat leave a connection alone, however silent it is.
         * @return bool false when there is no such connection
         * @throws \Apus\Server\Exception STATE outside workers
         * Waits only for another worker that is behind with its messages.
         * @since 0.1.0
         */
        public function protect(int $fd, bool $on = true): bool {}

        /**
         * The connections of this worker that have brought nothing for heartbeat_idle_time, which are closed at once if asked for.
         * @return array|false their session ids; false when no connection is at a port with heartbeat_idle_time
         * @throws \Apus\Server\Exception STATE outside workers
         * Does not wait.
         * @since 0.1.0
         */
        public function heartbeat(bool $ifCloseConnection = true): array|false {}

        /**
         * How many bytes wait in memory for the client of a connection of this worker, files apart.
         * @return int|false false when there is no such connection in this worker
         * @throws \Apus\Server\Exception STATE outside workers
         * Does not wait.
         * @since 0.1.0
         */
        public function bufferedAmount(int $fd): int|false {}

        /**
         * Why the latest call that returned false did: one of Apus\ERROR_*, or an errno of the kernel.
         * Does not wait.
         * @since 0.1.0
         */
        public function getLastError(): int {}

        /**
         * Sends a value to a worker, which may be this one: its event pipemessage ($server, $srcWorkerId, $message) gets it. Messages
         * of one worker arrive in order. Values other than strings are serialized; objects are unserialized outside coroutines.
         * @param int $workerId 0 to worker_num + task_worker_num - 1
         * @return bool false when the worker takes nothing now (outside coroutines), is just being replaced, or the value is larger than
         * package_max_length and 8 MiB: see getLastError()
         * @throws \ValueError when there is no such worker
         * @throws \Exception what serialize() throws
         * @throws \Apus\Server\Exception STATE outside workers
         * Waits (where a coroutine runs).
         * @since 0.1.0
         */
        public function sendMessage(mixed $message, int $workerId): bool {}

        /**
         * Says whose connection it is, of whichever worker. A user may have many connections, a connection has one user; the last
         * call counts. It ends with the connection.
         * @param string|int $user 1 to 256 bytes; an integer means its decimal digits
         * @return bool false when there is no such connection
         * @throws \ValueError for a name that is empty or too long
         * @throws \Apus\Server\Exception STATE outside workers
         * Waits (for a connection of another worker).
         * @since 0.1.0
         */
        public function bind(int $fd, string|int $user): bool {}

        /**
         * The connection has no user any more.
         * @return bool false when there is no such connection
         * @throws \Apus\Server\Exception STATE outside workers
         * Waits (for a connection of another worker).
         * @since 0.1.0
         */
        public function unbind(int $fd): bool {}

        /**
         * Sends a message to all connections of a user, in all workers, and with the setting broker on all servers: WebSockets get a
         * message (binary where $data is not UTF-8 and no $opcode is given), others the data as it is. A connection for which buffer_output_size bytes wait does not get it and is not counted.
         * @return int the connections that it reached; processes that do not answer within 2 s are not counted
         * @throws \ValueError, \Apus\Client\Exception ARGUMENT for a fragment, a close frame, text that is not UTF-8
         * @throws \Apus\Coroutine\Exception NOT_IN_COROUTINE where others would have to be waited for
         * @throws \Apus\Server\Exception STATE outside workers
         * Waits (for the answers of other workers).
         * @since 0.1.0
         */
        public function sendToUser(string|int $user, \Apus\WebSocket\Frame|string $data, int $opcode = 1, int $flags = 1): int {}

        /**
         * Whether a user has a connection, on any worker, and with the setting broker on any server.
         * @throws \Apus\Server\Exception STATE outside workers
         * Waits (for the answers of other workers, 2 s at most).
         * @since 0.1.0
         */
        public function isOnline(string|int $user): bool {}

        /**
         * The session ids of a user's connections to this server, ascending.
         * @throws \Apus\Server\Exception STATE outside workers
         * Waits (for the answers of other workers, 2 s at most).
         * @since 0.1.0
         */
        public function userConnections(string|int $user): array {}

        /**
         * Has a connection, of whichever worker, get what is published to a topic. It ends with the connection.
         * @param string $topic 1 to 256 bytes
         * @return bool false when there is no such connection, or it has 1024 topics: see getLastError()
         * @throws \ValueError for a topic that is empty or too long
         * @throws \Apus\Server\Exception STATE outside workers
         * Waits (for a connection of another worker).
         * @since 0.1.0
         */
        public function subscribe(int $fd, string $topic): bool {}

        /**
         * It gets that no longer; without a topic, nothing of any.
         * @return bool false when there is no such connection
         * @throws \Apus\Server\Exception STATE outside workers
         * Waits (for a connection of another worker).
         * @since 0.1.0
         */
        public function unsubscribe(int $fd, string $topic = ''): bool {}

        /**
         * Sends a message to all connections that have subscribed a topic, in all workers, and with the setting broker on all
         * servers: WebSockets get a message, encoded once and never compressed, others the data as it is. Nobody waits for a slow
         * connection: one for which buffer_output_size bytes wait does not get it, or is closed where send_policy says so.
         * @return bool false when a worker or the broker takes nothing now, so that some may not get it: see getLastError()
         * @throws \ValueError, \Apus\Client\Exception ARGUMENT for a fragment, a close frame, text that is not UTF-8
         * @throws \Apus\Server\Exception STATE outside workers
         * Waits (where a coroutine runs, for room in another worker's queue).
         * @since 0.1.0
         */
        public function publish(string $topic, \Apus\WebSocket\Frame|string $data, int $opcode = 1, int $flags = 1): bool {}

        /**
         * How many connections have subscribed a topic, in all workers, and with the setting broker on all servers.
         * @throws \Apus\Server\Exception STATE outside workers
         * Waits (for the answers of other workers, 2 s at most).
         * @since 0.1.0
         */
        public function subscribers(string $topic): int {}

        /**
         * Who has subscribed a topic: a row for each connection, with fd, user (null when it has none; decimal digits are an
         * integer, as with array keys), worker_id, and server: '' for a connection of this server, else a name of the other one, for which
         * fd and worker_id hold.
         * @param int $limit rows at most, 1 to 100000
         * @throws \ValueError when $limit is out of its limits
         * @throws \Apus\Server\Exception STATE outside workers
         * Waits (for the answers of other workers, 2 s at most).
         * @since 0.1.0
         */
        public function presence(string $topic, int $limit = 1000): array {}

        /**
         * Hands a task to a task worker, and does not wait for it: the event task gets it there. What that returns (unless null) or gives to
         * finish() comes back to this process, to the callback or the event finish ($server, $taskId, $data); what goes wrong to the event
         * taskerror ($server, $taskId, $reason). The task runs even if this process dies. See docs/tasks.md.
         * @param mixed $data what Apus\pack() takes
         * @param int $dstWorkerId 0 to task_worker_num - 1, or -1 for whichever is free first
         * @param callable|null $finishCallback fn($server, int $taskId, mixed $data)
         * @param int $priority Apus\TASK_HIGH, TASK_NORMAL or TASK_LOW: tasks of a higher one go first
         * @return int|false its number, from 1; false when as much waits as task_queue_size allows (ERROR_TASK_QUEUE_FULL)
         * @throws \ValueError for an unknown worker or priority
         * @throws \Apus\Server\TaskException TOO_LARGE when it would find no room were it alone
         * @throws \Apus\Server\Exception STATE outside the server's processes and without task workers, EVENT without a task callback
         * @throws \Exception what packing the data throws
         * Does not wait.
         * @since 0.1.0
         */
        public function task(mixed $data, int $dstWorkerId = -1, ?callable $finishCallback = null, int $priority = \Apus\TASK_NORMAL): int|false {}

        /**
         * Hands a task over and waits for its result. Outside coroutines it blocks this process. After the time the task goes on, and its
         * result is dropped.
         * @param float $timeout seconds, for room and result together; negative for no limit
         * @return mixed the result; null when the task ended without one; false otherwise, and getLastError() is ERROR_TASK_TIMEOUT,
         * ERROR_TASK_WORKER_DIED, ERROR_TASK_FAILED (it threw; the log says what) or ERROR_TASK_QUEUE_FULL; 0 after a task that returned false
         * @throws \ValueError, \Apus\Server\TaskException, \Apus\Server\Exception as task()
         * Waits.
         * @since 0.1.0
         */
        public function taskwait(mixed $data, float $timeout = 0.5, int $dstWorkerId = -1): mixed {}

        /**
         * Hands several tasks over and waits for all of them. Outside coroutines it blocks this process.
         * @param array $tasks the data of each, 10000 at most
         * @param float $timeout seconds for all of them; negative for no limit
         * @return array|false the results, by the places 0, 1, … of the tasks; a task that gave none in time is missing. False when none did:
         * see getLastError()
         * @throws \ValueError, \Apus\Server\TaskException, \Apus\Server\Exception as task()
         * Waits.
         * @since 0.1.0
         */
        public function taskWaitMulti(array $tasks, float $timeout = 0.5): array|false {}

        /**
         * The same as taskWaitMulti(), with false in the places of tasks that gave nothing in time.
         * @throws \ValueError, \Apus\Server\TaskException, \Apus\Server\Exception as task()
         * Waits.
         * @since 0.1.0
         */
        public function taskCo(array $tasks, float $timeout = 0.5): array|false {}

        /**
         * Inside the callback of the event task: gives the sender a result, as Apus\Server\Task::finish() does.
         * @return bool false when the sender wants none, or there is no room for it
         * @throws \Apus\Server\Exception STATE outside a task
         * @throws \Apus\Server\TaskException TOO_LARGE
         * Does not wait.
         * @since 0.1.0
         */
        public function finish(mixed $data): bool {}

        /**
         * Hands over a task that runs after some time. It stands in memory that the processes share: the death or reload of any worker does not
         * lose it, the server's end does. Its result goes to the event finish, if this process is still there.
         * @param float $seconds 0 to ten years
         * @return int|false its number; false when as much waits as task_queue_size allows
         * @throws \ValueError, \Apus\Server\TaskException, \Apus\Server\Exception as task()
         * Does not wait.
         * @since 0.1.0
         */
        public function taskAfter(float $seconds, mixed $data, int $dstWorkerId = -1): int|false {}

        /**
         * Hands over a task that runs after some time, and again after each such time, until taskCancel() or the server's end. One task worker
         * takes each run; a run that would begin while one goes on is left out. What it returns is dropped.
         * @param float $seconds 0.001 to ten years
         * @param string $name takes the place of a task of this name, so that a workerstart callback may call this in every worker, and again after a
         * reload; 256 bytes at most; empty for none
         * @return int|false its number; false when as much waits as task_queue_size allows
         * @throws \ValueError, \Apus\Server\TaskException, \Apus\Server\Exception as task()
         * Does not wait.
         * @since 0.1.0
         */
        public function taskEvery(float $seconds, mixed $data, string $name = ''): int|false {}

        /**
         * Hands over a task that runs by the calendar. As with taskEvery(), one task worker takes each run, and none overlap; dates that pass
         * while it runs are left out.
         * @param string $expression minute, hour, day of the month, month, day of the week, as in crontab(5), and seconds before them where
         * there are six fields; names of months and days, @hourly and the like, L, W and # are known
         * @param string $name as in taskEvery()
         * @param string $timezone such as Europe/Berlin; empty for PHP's own (date.timezone, date_default_timezone_set()), or where that is not
         * set the system's (TZ)
         * @return int|false its number; false when as much waits as task_queue_size allows
         * @throws \ValueError for an expression or time zone that makes no sense
         * @throws \Apus\Server\TaskException, \Apus\Server\Exception as task()
         * Does not wait.
         * @since 0.1.0
         */
        public function taskCron(string $expression, mixed $data, string $name = '', string $timezone = ''): int|false {}

        /**
         * Calls a task off: one that has not begun does not run; one that runs is finished (Apus\Server\Task::isCancelled() tells it, in a
         * compute() Apus\progress() throws), and does not come again. No event tells of it.
         * @return bool false when there is no such task any more
         * @throws \Apus\Server\Exception STATE outside the server's processes and without task workers
         * Does not wait.
         * @since 0.1.0
         */
        public function taskCancel(int $taskId): bool {}

        /**
         * Has a task worker call something that takes long, and waits for what it returns; meanwhile this worker serves others. Outside coroutines it
         * blocks this process.
         * @param callable $callable a function, a static or other method (its object is copied), an invokable object, or a closure that is
         * written inside a function, a method or the main script (what it uses, and its $this, are copied)
         * @param array $args its arguments, copied
         * @param callable|null $progress fn(mixed $value): called here with what the callable gives to Apus\progress(); when it returns false the
         * computation is called off
         * @param float $timeout seconds, after which it is called off; negative for no limit
         * @return mixed what the callable returned; false when the wait was cancelled quietly
         * @throws \Apus\Server\TaskException FAILED when it threw (the message says what), WORKER_DIED, TIMEOUT, CANCELLED, FULL, TOO_LARGE, CALLABLE when it
         * cannot be sent
         * @throws \Apus\Server\Exception STATE outside the server's processes and without task workers
         * @throws \Exception what packing the arguments throws, and what $progress throws
         * Waits.
         * @since 0.1.0
         */
        public function compute(callable $callable, array $args = [], ?callable $progress = null, float $timeout = -1): mixed {}

        /**
         * Has the server run a process beside its workers: it starts with them, is started again when it ends (after a second at most, or after longer
         * waits when it keeps failing), and gets TERM when the server stops, after the workers are gone; reloads leave it alone. All
         * workers share its pipe: what one writes to $process, the process reads.
         * @param Apus\Process $process one that was not started; at most 1024
         * @return int|false its number among these, from 0. From start() on $process->id is its id among all processes, which goes on from those of
         * the task workers
         * @throws \Apus\Process\Exception STATE when it was started or added before
         * @throws \Apus\Server\Exception STATE after start()
         * @throws \ValueError for too many
         * Does not wait.
         * @since 0.1.0
         */
        public function addProcess(\Apus\Process $process): int|false {}

    }
}

namespace Apus\Http {
    /**
     * An HTTP/1.1 server (RFC 9110, RFC 9112).
     * @since 0.1.0
     */
    class Server extends \Apus\Server
    {
        /**
         * Binds the address at once, so that an address in use is an exception here. A socket that systemd passed for it
         * is taken instead.
         * @param string $host an IPv4 or IPv6 address, a name, or the path of a Unix socket
         * @param int $port 0 to 65535; 0 for any free one, which $port then tells
         * @param int $mode Apus\BASE or Apus\PROCESS, which mean the same
         * @param int $sockType Apus\SOCK_TCP, SOCK_TCP6 or SOCK_UNIX_STREAM
         * @throws \Apus\Server\Exception BIND
         * Does not wait.
         * @since 0.1.0
         */
        public function __construct(string $host = '0.0.0.0', int $port = 0, int $mode = 1, int $sockType = 1) {}

    }
}

namespace Apus\WebSocket {
    /**
     * A server of WebSockets (RFC 6455, RFC 7692) and HTTP/1.1 on one port. A connection that is idle takes less than a
     * kilobyte and no coroutine.
     * @since 0.1.0
     */
    class Server extends \Apus\Http\Server
    {
        /**
         * Binds the address at once: see Apus\Http\Server.
         * Events: handshake (Request, Response): answer with status 101 and end() to accept, with another status to refuse, or
         * return false to refuse with 403 and true to accept; without the callback every sound handshake of an allowed origin
         * is accepted. open ($server, Request). message ($server, Apus\WebSocket\Frame). close ($server, $fd, $workerId) for
         * WebSockets, disconnect ($server, $fd) for HTTP connections that end. request as in Apus\Http\Server.
         * @throws \Apus\Server\Exception BIND
         * Does not wait.
         * @since 0.1.0
         */
        public function __construct(string $host = '0.0.0.0', int $port = 0, int $mode = 1, int $sockType = 1) {}

        /**
         * Sends a message to a WebSocket of whichever worker. Where buffer_output_size bytes wait for it already, send_policy
         * rules: wait (outside coroutines: drop), drop, or close.
         * @param int $opcode one of Apus\WEBSOCKET_OPCODE_*; a Frame object brings its own
         * @param int $flags the sum of Apus\WEBSOCKET_FLAG_*: 0 for a fragment that is not the last of its message, with COMPRESS
         * compressed in any case
         * @return bool false when the message is lost: see getLastError(). For a connection of another worker true means that its
         * worker has the message; when its buffer turns out to be full there, send_policy rules there
         * @throws \Apus\Client\Exception ARGUMENT for what RFC 6455 forbids (text that is not UTF-8, a long control frame, a
         * fragment out of its order; one that comes from another worker is dropped, and logged, where it turns out to be)
         * Waits (where a coroutine runs).
         * @since 0.1.0
         */
        public function push(int $fd, \Apus\WebSocket\Frame|string $data, int $opcode = 1, int $flags = 1): bool {}

        /**
         * Like push(), but never waits, and tells what became of the message.
         * @return int Apus\PUSH_SENT, PUSH_BUFFERED, PUSH_DROPPED or PUSH_GONE
         * @throws \Apus\Client\Exception ARGUMENT
         * Does not wait.
         * @since 0.1.0
         */
        public function tryPush(int $fd, \Apus\WebSocket\Frame|string $data, int $opcode = 1, int $flags = 1): int {}

        /**
         * Ends a WebSocket with a closing handshake (RFC 6455 section 7); what waits for it is sent before.
         * @param int $code one of Apus\WEBSOCKET_CLOSE_*, or 3000 to 4999
         * @param string $reason up to 123 bytes of UTF-8
         * @return bool false when there is no such WebSocket, or it is closing
         * @throws \Apus\Client\Exception ARGUMENT
         * Does not wait.
         * @since 0.1.0
         */
        public function disconnect(int $fd, int $code = 1000, string $reason = ''): bool {}

        /**
         * Whether a connection, of whichever worker, is a WebSocket whose handshake is over and which is not closing.
         * @throws \Apus\Server\Exception STATE outside workers
         * Does not wait.
         * @since 0.1.0
         */
        public function isEstablished(int $fd): bool {}

        /**
         * Sends a PING now; the server sends them by itself (setting websocket_ping_interval).
         * @param string $data up to 125 bytes
         * @return bool false when there is no such WebSocket
         * @throws \Apus\Client\Exception ARGUMENT
         * Does not wait.
         * @since 0.1.0
         */
        public function ping(int $fd, string $data = ''): bool {}

        /**
         * The same as Apus\WebSocket\Frame::pack().
         * @since 0.1.0
         */
        public static function pack(\Apus\WebSocket\Frame|string $data, int $opcode = 1, int $flags = 1): string {}

        /**
         * The same as Apus\WebSocket\Frame::unpack().
         * @since 0.1.0
         */
        public static function unpack(string $data): \Apus\WebSocket\Frame|false {}

    }
}

namespace Apus\Coroutine\Server {
    /**
     * A connection that an Apus\Coroutine\Server accepted. It is closed by close(), or when nobody holds it or its socket any
     * more. One coroutine may read while another one writes. Why a method failed is told by errCode and errMsg of exportSocket().
     * @since 0.1.0
     */
    class Connection
    {
        /**
         * The socket.
         */
        protected ?\Apus\Coroutine\Socket $socket = null;

        /**
         * A connection over a socket that is connected.
         * Does not wait.
         * @since 0.1.0
         */
        public function __construct(\Apus\Coroutine\Socket $conn) {}

        /**
         * The next message by the server's framing settings (open_length_check, open_eof_check), whole; without them some bytes,
         * at most 65536, as soon as there are any. A peer that breaks the framing, or sends more than package_max_length
         * (default 2 MiB), is disconnected.
         * @param float $timeout seconds; 0 for the settings read_timeout and socket_timeout (none), negative for no limit
         * @return string|false '' when the peer has ended its side; false on failure: ETIMEDOUT, ECANCELED, ECONNRESET …
         * @throws Apus\Coroutine\ConflictException when another coroutine reads
         * @throws Apus\Coroutine\CanceledException when cancelled with an exception
         * Waits.
         * @since 0.1.0
         */
        public function recv(float $timeout = 0): string|false {}

        /**
         * Sends all of $data.
         * @return int|false how many bytes were taken: fewer than all when the connection broke meanwhile; false when none were
         * @throws Apus\Coroutine\ConflictException when another coroutine writes
         * @throws Apus\Coroutine\CanceledException when cancelled with an exception
         * Waits.
         * @since 0.1.0
         */
        public function send(string $data): int|false {}

        /**
         * Closes the connection; a recv() that waits returns false.
         * @return bool false when it was closed already
         * Does not wait.
         * @since 0.1.0
         */
        public function close(): bool {}

        /**
         * The socket, for everything that this class does not have.
         * Does not wait.
         * @since 0.1.0
         */
        public function exportSocket(): \Apus\Coroutine\Socket {}

    }
}

namespace Apus\Coroutine {
    /**
     * A server of byte streams in a coroutine: it needs no master process, runs in any script beside other coroutines, and may
     * be one of several in the process. Each connection has a coroutine of its own. For all cores start several processes with
     * $reuse_port, or use Apus\Server, which supervises them.
     * An exception that a handler does not catch goes to the program's exception handler, or else to the log; the server goes on.
     * @since 0.1.0
     */
    class Server
    {
        /**
         * The address, or the path of a Unix socket.
         */
        public string $host = '';

        /**
         * The port; the real one where 0 was asked for; 0 for a Unix socket.
         */
        public int $port = 0;

        /**
         * The address family: Apus\AF_INET, AF_INET6 or AF_UNIX.
         */
        public int $type = 2;

        /**
         * The descriptor that listens; -1 when the server has ended.
         */
        public int $fd = -1;

        /**
         * Why start() returned false: an errno.
         */
        public int $errCode = 0;

        /**
         * What set() was given.
         */
        public ?array $setting = null;

        /**
         * Binds and listens: clients that come before start() wait.
         * @param string $host an IP address, a name that the system knows (its resolution blocks), or "unix:" and a path
         * @param int $port 0 to 65535; 0 lets the system choose: see $port
         * @param bool $reuse_port whether other processes may listen on the same port and share its clients (SO_REUSEPORT)
         * @throws \Apus\Server\Exception BIND, OPTION when $ssl is true: TLS is not in this version
         * Does not wait.
         * @since 0.1.0
         */
        public function __construct(string $host, int $port = 0, bool $ssl = false, bool $reuse_port = false) {}

        /**
         * Settings of the connections: those that Coroutine\Socket::setProtocol() takes (docs/options.md, scope "client"), such as
         * open_length_check, open_eof_check, package_max_length and read_timeout; and max_connection (default 100000): further
         * connections wait in the listening queue until one of the open ones is closed. Other settings of servers are accepted, as
         * programs share one array, and mean nothing here.
         * @throws \Apus\Server\Exception OPTION (the message names the setting), STATE after start()
         * @throws \Apus\Client\Exception OPTION for a setting of connections out of its limits
         * Does not wait.
         * @since 0.1.0
         */
        public function set(array $setting): void {}

        /**
         * Has $fn(Apus\Coroutine\Server\Connection $connection) called for each connection, in a coroutine of its own.
         * @throws \Apus\Server\Exception STATE when the server has ended
         * Does not wait.
         * @since 0.1.0
         */
        public function handle(callable $fn): void {}

        /**
         * Accepts nothing more: the listening socket is closed, and start() returns. Connections that were accepted go on, in their
         * coroutines.
         * @return bool false when the server does not run
         * Does not wait.
         * @since 0.1.0
         */
        public function shutdown(): bool {}

        /**
         * Accepts connections until shutdown(). Once for each object; afterwards the handler is let go of.
         * When the process has no descriptor left it logs so, and tries again every 100 ms.
         * @return bool true after shutdown(); false when it was cancelled or the socket is of no use any more, with errCode
         * @throws \Apus\Server\Exception STATE when it was called before, EVENT without handle()
         * @throws \Apus\Coroutine\Exception NOT_IN_COROUTINE, CANNOT_SWITCH
         * @throws \Apus\Coroutine\CanceledException when cancelled with an exception
         * Waits.
         * @since 0.1.0
         */
        public function start(): bool {}

    }
}

namespace Apus\Coroutine\Http {
    /**
     * An HTTP/1.1 server in a coroutine: it needs no master process, runs in any script beside other coroutines, and may be one
     * of several in the process. Each request is handled in a coroutine of its own, with the objects that the request event of
     * Apus\Http\Server has; Response::upgrade() makes a WebSocket of it. For all cores start several processes with
     * $reuse_port, or use Apus\Http\Server, which supervises them.
     * An exception that a handler does not catch goes to the program's exception handler, or else to the log; the client gets
     * 500, and the server goes on.
     * @since 0.1.0
     */
    final class Server
    {
        /**
         * The descriptor that listens; -1 when the server has ended.
         */
        public int $fd = -1;

        /**
         * The address, or the path of a Unix socket.
         */
        public ?string $host = null;

        /**
         * The port; the real one where 0 was asked for; 0 for a Unix socket.
         */
        public int $port = -1;

        /**
         * Whether TLS is spoken: false.
         */
        public bool $ssl = false;

        /**
         * What set() was given.
         */
        public ?array $settings = null;

        /**
         * Why start() returned false: an errno.
         */
        public int $errCode = 0;

        /**
         * The same in words.
         */
        public string $errMsg = '';

        /**
         * Binds and listens: clients that come before start() wait.
         * @param string $host an IP address, a name that the system knows (its resolution blocks), or "unix:" and a path
         * @param int $port 0 to 65535; 0 lets the system choose: see $port
         * @param bool $reuse_port whether other processes may listen on the same port and share its clients (SO_REUSEPORT)
         * @throws \Apus\Server\Exception BIND, OPTION when $ssl is true: TLS is not in this version
         * Does not wait.
         * @since 0.1.0
         */
        public function __construct(string $host, int $port = 0, bool $ssl = false, bool $reuse_port = false) {}

        /**
         * Settings: those of docs/options.md with the scope "port", and max_connection (default 100000), max_concurrency,
         * cancel_on_disconnect and max_wait_time (default 30 s). Others of a server's are accepted, as programs share one array,
         * and mean nothing here. All are applied, or none.
         * @throws \Apus\Server\Exception OPTION (the message names the setting, its limits and unit), STATE after start()
         * Does not wait.
         * @since 0.1.0
         */
        public function set(array $settings): bool {}

        /**
         * Has $callback(Apus\Http\Request $request, Apus\Http\Response $response) answer requests whose path (as sent, without
         * the query) begins with $pattern, in any case; it replaces an earlier one of the same pattern. The longest pattern that
         * fits is taken; "/" fits everything. Without one that fits the answer is 404. May be called while the server runs.
         * @param string $pattern begins with "/"
         * @throws \ValueError when it does not
         * @throws \Apus\Server\Exception STATE when the server has ended
         * Does not wait.
         * @since 0.1.0
         */
        public function handle(string $pattern, callable $callback): bool {}

        /**
         * Serves, in a coroutine for each request, until shutdown(). Once for each object; afterwards the handlers are let go of.
         * When it is cancelled, the server ends at once: connections are cut, handlers see a CanceledException.
         * @return bool true after shutdown(); false when it was cancelled or could not listen, with errCode
         * @throws \Apus\Server\Exception STATE when it was called before, BIND
         * @throws \Apus\Coroutine\Exception NOT_IN_COROUTINE, CANNOT_SWITCH
         * @throws \Apus\Coroutine\CanceledException when cancelled with an exception
         * Waits.
         * @since 0.1.0
         */
        public function start(): bool {}

        /**
         * Accepts nothing more and lets requests that have begun end, for max_wait_time seconds at most (then their connections
         * are cut and their coroutines cancelled); start() returns then. Connections without a request close within 2 seconds.
         * @return bool false when the server does not run, or ends already
         * Does not wait.
         * @since 0.1.0
         */
        public function shutdown(): bool {}

    }
}

namespace Apus {
    /**
     * Timers of millisecond resolution. A timer costs nothing while it is not due; each callback runs in a coroutine.
     * A script that has timers goes on at its end until they are cleared.
     * @since 0.1.0
     */
    final class Timer
    {
        /**
         * Calls $callback(int $timerId, ...$args) every $ms milliseconds.
         * Ticks that a busy process missed are skipped, not made up for.
         * @param int $ms 1 to 2147483647 milliseconds
         * @return int the timer's id
         * @throws \ValueError when $ms is out of its limits
         * Does not wait.
         * @since 0.1.0
         */
        public static function tick(int $ms, callable $callback, mixed ...$args): int {}

        /**
         * Calls $callback(...$args) once, in $ms milliseconds.
         * @param int $ms 1 to 2147483647 milliseconds
         * @return int the timer's id
         * @throws \ValueError when $ms is out of its limits
         * Does not wait.
         * @since 0.1.0
         */
        public static function after(int $ms, callable $callback, mixed ...$args): int {}

        /**
         * Removes a timer; its callback is not called again.
         * @return bool false when there is no such timer
         * Does not wait.
         * @since 0.1.0
         */
        public static function clear(int $timerId): bool {}

        /**
         * Removes all timers of this process.
         * @return bool true
         * Does not wait.
         * @since 0.1.0
         */
        public static function clearAll(): bool {}

        /**
         * Whether a timer is there.
         * Does not wait.
         * @since 0.1.0
         */
        public static function exists(int $timerId): bool {}

        /**
         * What is known of a timer: exec_msec (milliseconds until it fires), exec_count, interval (ms; 0 when it fires once),
         * round, removed.
         * @return array|null null when there is no such timer
         * Does not wait.
         * @since 0.1.0
         */
        public static function info(int $timerId): ?array {}

        /**
         * The ids of all timers of this process.
         * Does not wait.
         * @since 0.1.0
         */
        public static function list(): \ArrayIterator {}

        /**
         * initialized (bool), num (timers now), round (callbacks so far).
         * Does not wait.
         * @since 0.1.0
         */
        public static function stats(): array {}

    }
}

namespace Apus {
    /**
     * The same as Apus\Coroutine::create().
     * @since 0.1.0
     */
    function go(callable $callback, mixed ...$args): int {}
}

namespace Apus {
    /**
     * The same as Apus\Coroutine::defer().
     * @since 0.1.0
     */
    function defer(callable $callback): void {}
}

namespace Apus\Coroutine {
    /**
     * Runs $callback(...$args) in a coroutine, and returns when it, every coroutine that came of it, and every timer
     * has ended. What it throws, and when: see Apus\Coroutine\Scheduler::start().
     * @return bool true
     * @since 0.1.0
     */
    function run(callable $callback, mixed ...$args): bool {}
}

namespace Apus\Coroutine {
    /**
     * Runs callables at once, each in a coroutine, and waits for all.
     * @param callable[] $tasks
     * @param float $timeout seconds; negative for no limit. Tasks that are not ready by then go on, and give null
     * @return array what each returned, under its key in $tasks
     * @throws \Throwable the first exception that a task did not catch, when all have ended
     * Waits; cancelled, it cancels its tasks.
     * @since 0.1.0
     */
    function batch(array $tasks, float $timeout = -1): array {}
}

namespace Apus\Coroutine {
    /**
     * Runs $callback() in $n coroutines at once and waits for all.
     * @throws \ValueError when $n is below 1
     * @throws \Throwable the first exception that one did not catch, when all have ended
     * Waits; cancelled, it cancels them.
     * @since 0.1.0
     */
    function parallel(int $n, callable $callback): void {}
}

namespace Apus\Coroutine {
    /**
     * Runs what coroutines are left to their end. PHP calls it at the end of a script that made some.
     * @since 0.1.0
     */
    function finish(): void {}
}

namespace Apus {
    /**
     * The version of Apus.
     * @since 0.1.0
     */
    function version(): string {}
}

namespace Apus {
    /**
     * PHP stubs of everything that this module declares, for editors and static analysis.
     * @since 0.1.0
     */
    function stubs(): string {}
}

namespace Apus {
    /**
     * The table of all settings, in Markdown.
     * @since 0.1.0
     */
    function options_markdown(): string {}
}

namespace Apus\Coroutine {
    /**
     * Does whichever of several channel operations is possible first, and no other. Of those that are possible at once, each
     * is chosen as often.
     * @param array $cases a Channel to pop from it; [Channel, $value] to push the value; under keys of your choice
     * @param float $timeout seconds; negative for no limit; 0 does not wait: null when no case is possible now
     * @return array|null [key of the case, what pop() or push() would return]; null when the time was over, or the coroutine
     * was cancelled. For a closed channel the value is false, and the channel's $errCode is Apus\CHANNEL_CLOSED
     * @throws \ValueError for no case at all
     * @throws \TypeError for a case that is no channel
     * @throws \Apus\Coroutine\Exception NOT_IN_COROUTINE, CANNOT_SWITCH when it would wait
     * @throws \Apus\Coroutine\CanceledException when cancelled with an exception
     * Waits unless a case is possible, or $timeout is 0.
     * @since 0.1.0
     */
    function select(array $cases, float $timeout = -1): ?array {}
}

namespace Apus\Coroutine {
    /**
     * Calls $callback() in the running coroutine. When the time is over first, the function that it waits in throws a
     * TimeoutException; code that does not wait is not interrupted. Deadlines may be nested: each ends what waits inside it.
     * Coroutines that $callback starts are not ended: see Scope::run() for that.
     * @param float $seconds seconds; negative for no limit
     * @return mixed what $callback returned
     * @throws \Apus\Coroutine\TimeoutException when the time was over and $callback does not catch it
     * @throws \Apus\Coroutine\Exception NOT_IN_COROUTINE, CANNOT_SWITCH
     * Waits as $callback does.
     * @since 0.1.0
     */
    function timeout(float $seconds, callable $callback): mixed {}
}

namespace Apus {
    /**
     * How many processors this process may use.
     * Does not wait.
     * @since 0.1.0
     */
    function cpu_num(): int {}
}

namespace Apus {
    /**
     * The addresses of this machine's interfaces that are up, interface => address, without loopback.
     * @param int $family AF_INET (2) or AF_INET6 (10)
     * @throws \ValueError for another family
     * Does not wait.
     * @since 0.1.0
     */
    function get_local_ip(int $family = 2): array {}
}

namespace Apus {
    /**
     * The hardware addresses of this machine's interfaces that are up, interface => "00:00:5E:00:53:01", without loopback.
     * Does not wait.
     * @since 0.1.0
     */
    function get_local_mac(): array {}
}

namespace Apus {
    /**
     * The text of an error number.
     * @param int $error_type Apus\STRERROR_SYSTEM (also knows the numbers of Apus), STRERROR_GAI, STRERROR_DNS or STRERROR_APUS
     * @throws \ValueError for another type
     * Does not wait.
     * @since 0.1.0
     */
    function strerror(int $errno, int $error_type = 0): string {}
}

namespace Apus {
    /**
     * errno(3) of the C library as it is now: of use right after a call that failed.
     * Does not wait.
     * @since 0.1.0
     */
    function errno(): int {}
}

namespace Apus {
    /**
     * Why a function of Apus returned false last in this process; 0 for none. One coroutine's failure replaces another's: ask before
     * the next wait.
     * Does not wait.
     * @since 0.1.0
     */
    function last_error(): int {}
}

namespace Apus {
    /**
     * Sets last_error() to 0.
     * Does not wait.
     * @since 0.1.0
     */
    function clear_error(): void {}
}

namespace Apus {
    /**
     * Sets what ps(1) shows of this process, where the command line of PHP runs.
     * @return bool false when it cannot be set
     * @throws \ValueError for an empty name or a null byte
     * Does not wait.
     * @since 0.1.0
     */
    function set_process_name(string $process_name): bool {}
}

namespace Apus\Coroutine\Http {
    /**
     * Makes one request over a connection of its own, and waits for its answer.
     * @param string|array|null $data the body: bytes, or the fields of a form
     * @param string $url of http or https
     * @param array|null $options settings, as Client::set() takes them
     * @param array|null $headers header fields, name => value
     * @param array|null $cookies cookies, name => value
     * @throws \Apus\Client\Exception REQUEST when there is no answer; ARGUMENT, OPTION
     * @throws \Apus\Coroutine\Exception NOT_IN_COROUTINE, CANNOT_SWITCH
     * @throws \Apus\Coroutine\CanceledException when cancelled with an exception
     * Waits.
     * @since 0.1.0
     */
    function request(string $url, string $method, mixed $data = null, ?array $options = null, ?array $headers = null, ?array $cookies = null): \Apus\Coroutine\Http\ClientProxy {}
}

namespace Apus\Coroutine\Http {
    /**
     * The same as request() with GET.
     * @param string $url of http or https
     * @param array|null $options settings, as Client::set() takes them
     * @param array|null $headers header fields, name => value
     * @param array|null $cookies cookies, name => value
     * @throws \Apus\Client\Exception REQUEST when there is no answer; ARGUMENT, OPTION
     * @throws \Apus\Coroutine\Exception NOT_IN_COROUTINE, CANNOT_SWITCH
     * @throws \Apus\Coroutine\CanceledException when cancelled with an exception
     * Waits.
     * @since 0.1.0
     */
    function get(string $url, ?array $options = null, ?array $headers = null, ?array $cookies = null): \Apus\Coroutine\Http\ClientProxy {}
}

namespace Apus\Coroutine\Http {
    /**
     * The same as request() with POST.
     * @param string|array $data the body: bytes, or the fields of a form
     * @param string $url of http or https
     * @param array|null $options settings, as Client::set() takes them
     * @param array|null $headers header fields, name => value
     * @param array|null $cookies cookies, name => value
     * @throws \Apus\Client\Exception REQUEST when there is no answer; ARGUMENT, OPTION
     * @throws \Apus\Coroutine\Exception NOT_IN_COROUTINE, CANNOT_SWITCH
     * @throws \Apus\Coroutine\CanceledException when cancelled with an exception
     * Waits.
     * @since 0.1.0
     */
    function post(string $url, mixed $data, ?array $options = null, ?array $headers = null, ?array $cookies = null): \Apus\Coroutine\Http\ClientProxy {}
}

namespace Apus {
    /**
     * Makes a string of a value, for another process, a file or a cache: smaller and faster than serialize(). Objects, references and cycles come
     * out as they went in; __serialize(), __sleep() and Serializable are called as serialize() calls them. The format is Apus's own: read it
     * with Apus\unpack() of the same major version.
     * @param mixed $value nested at most 1024 deep
     * @return string at most 1 GiB
     * @throws \Apus\PackException UNSUPPORTED for a resource, DEPTH when nested deeper, TOO_LARGE
     * @throws \Exception for objects that PHP forbids to serialize, such as closures, and what magic methods throw
     * Does not wait by itself.
     * @since 0.1.0
     */
    function pack(mixed $value): string {}
}

namespace Apus {
    /**
     * The value that Apus\pack() made a string of. __unserialize(), __wakeup() and Serializable are called as unserialize() calls them; a class
     * that cannot be loaded gives a __PHP_Incomplete_Class. Bytes that did not come from pack() give an exception and no harm; but bytes of a
     * stranger can name any class of the program, so allow only those that are meant.
     * @param array $options "allowed_classes": true for all (the default), false for none, or an array of names
     * @throws \Apus\PackException MALFORMED, and MISMATCH when an enumeration or class does not fit what was packed
     * @throws \ValueError for another option
     * @throws \TypeError when a value does not have its property's type
     * Does not wait by itself.
     * @since 0.1.0
     */
    function unpack(string $data, array $options = []): mixed {}
}

namespace Apus {
    /**
     * Inside what Server::compute() runs: gives a value to its progress callback, and ends here when nobody waits any more. Long
     * computations call it now and then, also without a value to give.
     * @return bool false when there is no room for it
     * @throws \Apus\Server\TaskException CANCELLED when the computation was called off, TOO_LARGE
     * @throws \Apus\Server\Exception STATE elsewhere
     * @throws \Exception what packing the value throws
     * Does not wait.
     * @since 0.1.0
     */
    function progress(mixed $value = null): bool {}
}

namespace Apus {
    /**
     * Coroutine\Channel::$errCode and Queue::$errCode: the last operation succeeded.
     */
    const CHANNEL_OK = 0;
}

namespace Apus {
    /**
     * Coroutine\Channel::$errCode and Queue::$errCode: the time was over; tryPush(), tryPop(): full, or empty.
     */
    const CHANNEL_TIMEOUT = -1;
}

namespace Apus {
    /**
     * Coroutine\Channel::$errCode and Queue::$errCode: the channel is closed.
     */
    const CHANNEL_CLOSED = -2;
}

namespace Apus {
    /**
     * Coroutine\Channel::$errCode and Queue::$errCode: the coroutine was cancelled.
     */
    const CHANNEL_CANCELED = -3;
}

namespace Apus {
    /**
     * TCP sockets: of streams, PDO, mysqli, pgsql, redis, curl, every library.
     */
    const HOOK_TCP = 2;
}

namespace Apus {
    /**
     * UDP sockets.
     */
    const HOOK_UDP = 4;
}

namespace Apus {
    /**
     * Unix stream sockets.
     */
    const HOOK_UNIX = 8;
}

namespace Apus {
    /**
     * Unix datagram sockets.
     */
    const HOOK_UDG = 16;
}

namespace Apus {
    /**
     * Has no effect of its own: what it names are sockets like others, see HOOK_TCP, HOOK_UDP, HOOK_UNIX, HOOK_UDG.
     */
    const HOOK_SSL = 32;
}

namespace Apus {
    /**
     * Has no effect of its own: what it names are sockets like others, see HOOK_TCP, HOOK_UDP, HOOK_UNIX, HOOK_UDG.
     */
    const HOOK_TLS = 64;
}

namespace Apus {
    /**
     * select(): stream_select() and socket_select().
     */
    const HOOK_STREAM_FUNCTION = 128;
}

namespace Apus {
    /**
     * The same as HOOK_STREAM_FUNCTION.
     */
    const HOOK_STREAM_SELECT = 128;
}

namespace Apus {
    /**
     * Opening, reading and syncing regular files by PHP's own functions (fopen(), fread(), file_get_contents(), fsync() and their like),
     * on a pool of threads. Worth it for slow disks only: what is in the page cache comes sooner without. Not part of the default.
     */
    const HOOK_FILE = 256;
}

namespace Apus {
    /**
     * sleep(), usleep(), time_nanosleep(), time_sleep_until().
     */
    const HOOK_SLEEP = 512;
}

namespace Apus {
    /**
     * Child processes: proc_open(), exec(), popen() and their like, pcntl_waitpid(), and their pipes.
     */
    const HOOK_PROC = 1024;
}

namespace Apus {
    /**
     * Has no effect of its own: what it names are sockets like others, see HOOK_TCP, HOOK_UDP, HOOK_UNIX, HOOK_UDG.
     */
    const HOOK_CURL = 2048;
}

namespace Apus {
    /**
     * Has no effect of its own: what it names are sockets like others, see HOOK_TCP, HOOK_UDP, HOOK_UNIX, HOOK_UDG.
     */
    const HOOK_NATIVE_CURL = 4096;
}

namespace Apus {
    /**
     * Name resolution, and locks on files.
     */
    const HOOK_BLOCKING_FUNCTION = 8192;
}

namespace Apus {
    /**
     * Name resolution.
     */
    const HOOK_NET_FUNCTION = 2097152;
}

namespace Apus {
    /**
     * Has no effect of its own: what it names are sockets like others, see HOOK_TCP, HOOK_UDP, HOOK_UNIX, HOOK_UDG.
     */
    const HOOK_SOCKETS = 16384;
}

namespace Apus {
    /**
     * Terminals and pipes, standard input and output among them.
     */
    const HOOK_STDIO = 32768;
}

namespace Apus {
    /**
     * Everything.
     */
    const HOOK_ALL = 2147483647;
}

namespace Apus {
    /**
     * A descriptor can be read.
     */
    const EVENT_READ = 512;
}

namespace Apus {
    /**
     * A descriptor can be written.
     */
    const EVENT_WRITE = 1024;
}

namespace Apus {
    /**
     * Lock a file before it is read or written: the same as LOCK_EX.
     */
    const FILE_LOCK = 2;
}

namespace Apus {
    /**
     * A name has no address of the wanted family, or does not exist.
     */
    const ERROR_DNSLOOKUP_RESOLVE_FAILED = 711;
}

namespace Apus {
    /**
     * The name servers did not answer in time.
     */
    const ERROR_DNSLOOKUP_RESOLVE_TIMEOUT = 712;
}

namespace Apus {
    /**
     * Numbers of errno(3).
     */
    const STRERROR_SYSTEM = 0;
}

namespace Apus {
    /**
     * Numbers of getaddrinfo(3).
     */
    const STRERROR_GAI = 1;
}

namespace Apus {
    /**
     * Numbers of h_errno.
     */
    const STRERROR_DNS = 2;
}

namespace Apus {
    /**
     * Numbers of Apus itself.
     */
    const STRERROR_APUS = 9;
}

namespace Apus {
    /**
     * A client or port of UDP over IPv4.
     */
    const SOCK_UDP = 2;
}

namespace Apus {
    /**
     * A client or port of UDP over IPv6.
     */
    const SOCK_UDP6 = 4;
}

namespace Apus {
    /**
     * A client or port of a Unix socket of bytes.
     */
    const UNIX_STREAM = 5;
}

namespace Apus {
    /**
     * A client or port of a Unix socket of datagrams.
     */
    const UNIX_DGRAM = 6;
}

namespace Apus {
    /**
     * Added to a type of streams: TLS is spoken.
     */
    const SSL = 512;
}

namespace Apus {
    /**
     * Added to a type: without effect, clients block outside coroutines.
     */
    const SYNC = 2048;
}

namespace Apus {
    /**
     * Added to a type: refused by Client, use Coroutine\Client.
     */
    const ASYNC = 1024;
}

namespace Apus {
    /**
     * Unix sockets; ext/sockets has it as AF_UNIX.
     */
    const AF_UNIX = 1;
}

namespace Apus {
    /**
     * IPv4; ext/sockets has it as AF_INET.
     */
    const AF_INET = 2;
}

namespace Apus {
    /**
     * IPv6; ext/sockets has it as AF_INET6.
     */
    const AF_INET6 = 10;
}

namespace Apus {
    /**
     * A stream of bytes; ext/sockets has it as SOCK_STREAM.
     */
    const SOCK_STREAM = 1;
}

namespace Apus {
    /**
     * Datagrams; ext/sockets has it as SOCK_DGRAM.
     */
    const SOCK_DGRAM = 2;
}

namespace Apus {
    /**
     * TLS 1.2, for ssl_protocols.
     */
    const SSL_TLSv1_2 = 32;
}

namespace Apus {
    /**
     * TLS 1.3, for ssl_protocols.
     */
    const SSL_TLSv1_3 = 64;
}

namespace Apus {
    /**
     * errCode: the connection does not speak TLS.
     */
    const ERROR_SSL_NOT_READY = 1011;
}

namespace Apus {
    /**
     * errCode: the peer showed no certificate.
     */
    const ERROR_SSL_EMPTY_PEER_CERTIFICATE = 1013;
}

namespace Apus {
    /**
     * errCode: the peer's certificate was refused.
     */
    const ERROR_SSL_VERIFY_FAILED = 1014;
}

namespace Apus {
    /**
     * errCode: the peers could not agree on TLS.
     */
    const ERROR_SSL_HANDSHAKE_FAILED = 1018;
}

namespace Apus {
    /**
     * errCode: a setting of TLS cannot be honoured; errMsg tells which.
     */
    const ERROR_SSL_CREATE_CONTEXT_FAILED = 1019;
}

namespace Apus {
    /**
     * errCode: a message is longer than package_max_length.
     */
    const ERROR_PACKAGE_LENGTH_TOO_LARGE = 1201;
}

namespace Apus {
    /**
     * errCode: the length of a message makes no sense.
     */
    const ERROR_PACKAGE_LENGTH_NOT_FOUND = 1202;
}

namespace Apus {
    /**
     * errCode: no message ends within package_max_length.
     */
    const ERROR_PACKAGE_MALFORMED_DATA = 1204;
}

namespace Apus {
    /**
     * errCode: the client is not connected.
     */
    const ERROR_CLIENT_NO_CONNECTION = 5001;
}

namespace Apus {
    /**
     * A connection that has not asked for WebSocket.
     */
    const WEBSOCKET_STATUS_CONNECTION = 1;
}

namespace Apus {
    /**
     * The handshake is under way.
     */
    const WEBSOCKET_STATUS_HANDSHAKE = 2;
}

namespace Apus {
    /**
     * Messages go to and fro.
     */
    const WEBSOCKET_STATUS_ACTIVE = 3;
}

namespace Apus {
    /**
     * A close frame was sent or has come.
     */
    const WEBSOCKET_STATUS_CLOSING = 4;
}

namespace Apus {
    /**
     * A further fragment of a message.
     */
    const WEBSOCKET_OPCODE_CONTINUATION = 0;
}

namespace Apus {
    /**
     * A message of UTF-8 text.
     */
    const WEBSOCKET_OPCODE_TEXT = 1;
}

namespace Apus {
    /**
     * A message of bytes.
     */
    const WEBSOCKET_OPCODE_BINARY = 2;
}

namespace Apus {
    /**
     * The end of the conversation.
     */
    const WEBSOCKET_OPCODE_CLOSE = 8;
}

namespace Apus {
    /**
     * A question whether the other side is there.
     */
    const WEBSOCKET_OPCODE_PING = 9;
}

namespace Apus {
    /**
     * The answer to a ping.
     */
    const WEBSOCKET_OPCODE_PONG = 10;
}

namespace Apus {
    /**
     * The last fragment of a message.
     */
    const WEBSOCKET_FLAG_FIN = 1;
}

namespace Apus {
    /**
     * Compress the message, where permessage-deflate was agreed upon.
     */
    const WEBSOCKET_FLAG_COMPRESS = 2;
}

namespace Apus {
    /**
     * The message came compressed.
     */
    const WEBSOCKET_FLAG_RSV1 = 4;
}

namespace Apus {
    /**
     * A reserved bit.
     */
    const WEBSOCKET_FLAG_RSV2 = 8;
}

namespace Apus {
    /**
     * A reserved bit.
     */
    const WEBSOCKET_FLAG_RSV3 = 16;
}

namespace Apus {
    /**
     * The frame is masked.
     */
    const WEBSOCKET_FLAG_MASK = 32;
}

namespace Apus {
    /**
     * The purpose is fulfilled (RFC 6455 section 7.4.1).
     */
    const WEBSOCKET_CLOSE_NORMAL = 1000;
}

namespace Apus {
    /**
     * A server goes down, or a page is left.
     */
    const WEBSOCKET_CLOSE_GOING_AWAY = 1001;
}

namespace Apus {
    /**
     * The protocol was broken.
     */
    const WEBSOCKET_CLOSE_PROTOCOL_ERROR = 1002;
}

namespace Apus {
    /**
     * A kind of data that the receiver does not take.
     */
    const WEBSOCKET_CLOSE_DATA_ERROR = 1003;
}

namespace Apus {
    /**
     * A close frame without a code came; never sent.
     */
    const WEBSOCKET_CLOSE_STATUS_ERROR = 1005;
}

namespace Apus {
    /**
     * The connection broke without a close frame; never sent.
     */
    const WEBSOCKET_CLOSE_ABNORMAL = 1006;
}

namespace Apus {
    /**
     * Text that is not UTF-8, or a broken compressed message.
     */
    const WEBSOCKET_CLOSE_MESSAGE_ERROR = 1007;
}

namespace Apus {
    /**
     * A policy was broken.
     */
    const WEBSOCKET_CLOSE_POLICY_ERROR = 1008;
}

namespace Apus {
    /**
     * A message is larger than the receiver allows.
     */
    const WEBSOCKET_CLOSE_MESSAGE_TOO_BIG = 1009;
}

namespace Apus {
    /**
     * The server did not agree to an extension.
     */
    const WEBSOCKET_CLOSE_EXTENSION_MISSING = 1010;
}

namespace Apus {
    /**
     * The server met a condition that it did not expect.
     */
    const WEBSOCKET_CLOSE_SERVER_ERROR = 1011;
}

namespace Apus {
    /**
     * The server starts anew.
     */
    const WEBSOCKET_CLOSE_CLOSE_SERVICE_RESTART = 1012;
}

namespace Apus {
    /**
     * The server is overloaded.
     */
    const WEBSOCKET_CLOSE_TRY_AGAIN_LATER = 1013;
}

namespace Apus {
    /**
     * A gateway got no usable answer.
     */
    const WEBSOCKET_CLOSE_BAD_GATEWAY = 1014;
}

namespace Apus {
    /**
     * TLS failed; never sent.
     */
    const WEBSOCKET_CLOSE_TLS = 1015;
}

namespace Apus {
    /**
     * $statusCode: no connection was made.
     */
    const HTTP_CLIENT_ESTATUS_CONNECT_FAILED = -1;
}

namespace Apus {
    /**
     * $statusCode: the answer did not come in time.
     */
    const HTTP_CLIENT_ESTATUS_REQUEST_TIMEOUT = -2;
}

namespace Apus {
    /**
     * $statusCode: the connection broke, or the answer was of no use.
     */
    const HTTP_CLIENT_ESTATUS_SERVER_RESET = -3;
}

namespace Apus {
    /**
     * $statusCode: the request could not be sent whole.
     */
    const HTTP_CLIENT_ESTATUS_SEND_FAILED = -4;
}

namespace Apus {
    /**
     * A frame of RFC 9113 section 6.1.
     */
    const HTTP2_TYPE_DATA = 0;
}

namespace Apus {
    /**
     * A frame of RFC 9113 section 6.2.
     */
    const HTTP2_TYPE_HEADERS = 1;
}

namespace Apus {
    /**
     * A frame of RFC 9113 section 6.3.
     */
    const HTTP2_TYPE_PRIORITY = 2;
}

namespace Apus {
    /**
     * A frame of RFC 9113 section 6.4.
     */
    const HTTP2_TYPE_RST_STREAM = 3;
}

namespace Apus {
    /**
     * A frame of RFC 9113 section 6.5.
     */
    const HTTP2_TYPE_SETTINGS = 4;
}

namespace Apus {
    /**
     * A frame of RFC 9113 section 6.6.
     */
    const HTTP2_TYPE_PUSH_PROMISE = 5;
}

namespace Apus {
    /**
     * A frame of RFC 9113 section 6.7.
     */
    const HTTP2_TYPE_PING = 6;
}

namespace Apus {
    /**
     * A frame of RFC 9113 section 6.8.
     */
    const HTTP2_TYPE_GOAWAY = 7;
}

namespace Apus {
    /**
     * A frame of RFC 9113 section 6.9.
     */
    const HTTP2_TYPE_WINDOW_UPDATE = 8;
}

namespace Apus {
    /**
     * A frame of RFC 9113 section 6.10.
     */
    const HTTP2_TYPE_CONTINUATION = 9;
}

namespace Apus {
    /**
     * No error (RFC 9113 section 7).
     */
    const HTTP2_ERROR_NO_ERROR = 0;
}

namespace Apus {
    /**
     * The protocol was broken.
     */
    const HTTP2_ERROR_PROTOCOL_ERROR = 1;
}

namespace Apus {
    /**
     * An unexpected error.
     */
    const HTTP2_ERROR_INTERNAL_ERROR = 2;
}

namespace Apus {
    /**
     * Flow control was not heeded.
     */
    const HTTP2_ERROR_FLOW_CONTROL_ERROR = 3;
}

namespace Apus {
    /**
     * SETTINGS were not acknowledged in time.
     */
    const HTTP2_ERROR_SETTINGS_TIMEOUT = 4;
}

namespace Apus {
    /**
     * A frame came for a closed stream.
     */
    const HTTP2_ERROR_STREAM_CLOSED = 5;
}

namespace Apus {
    /**
     * A frame has a wrong size.
     */
    const HTTP2_ERROR_FRAME_SIZE_ERROR = 6;
}

namespace Apus {
    /**
     * The stream was refused before any work; the request can be sent again.
     */
    const HTTP2_ERROR_REFUSED_STREAM = 7;
}

namespace Apus {
    /**
     * The stream is not needed any more.
     */
    const HTTP2_ERROR_CANCEL = 8;
}

namespace Apus {
    /**
     * The state of header compression is lost.
     */
    const HTTP2_ERROR_COMPRESSION_ERROR = 9;
}

namespace Apus {
    /**
     * A connection made by CONNECT broke.
     */
    const HTTP2_ERROR_CONNECT_ERROR = 10;
}

namespace Apus {
    /**
     * The other side asks for too much.
     */
    const HTTP2_ERROR_ENHANCE_YOUR_CALM = 11;
}

namespace Apus {
    /**
     * TLS is not strong enough.
     */
    const HTTP2_ERROR_INADEQUATE_SECURITY = 12;
}

namespace Apus {
    /**
     * Use HTTP/1.1.
     */
    const HTTP2_ERROR_HTTP_1_1_REQUIRED = 13;
}

namespace Apus {
    /**
     * Type of an Apus\Lock: one holds it.
     */
    const MUTEX = 3;
}

namespace Apus {
    /**
     * Type of an Apus\Lock: one holds it (LOCK_EX), or many share it (LOCK_SH).
     */
    const RWLOCK = 1;
}

namespace Apus {
    /**
     * Type of an Apus\Lock: as MUTEX, for what is held very shortly: looks again some times before it waits.
     */
    const SPINLOCK = 5;
}

namespace Apus {
    /**
     * Type of an Apus\Lock: as MUTEX, but any process may unlock it.
     */
    const SEM = 4;
}

namespace Apus {
    /**
     * Type of an Apus\Lock: as RWLOCK, and against other programs that flock() the same file, too.
     */
    const FILELOCK = 2;
}

namespace Apus {
    /**
     * Workers of a pool get no messages.
     */
    const IPC_NONE = 0;
}

namespace Apus {
    /**
     * Workers of a pool get messages from each other.
     */
    const IPC_UNIXSOCK = 1;
}

namespace Apus {
    /**
     * Workers of a pool get messages from a System V message queue.
     */
    const IPC_MSGQUEUE = 2;
}

namespace Apus {
    /**
     * Workers of a pool get messages from clients of a socket.
     */
    const IPC_SOCKET = 3;
}

namespace Apus {
    /**
     * Server mode. Apus has one process model; both modes mean it.
     */
    const BASE = 1;
}

namespace Apus {
    /**
     * Server mode. Apus has one process model; both modes mean it.
     */
    const PROCESS = 2;
}

namespace Apus {
    /**
     * A TCP port on an IPv4 address.
     */
    const SOCK_TCP = 1;
}

namespace Apus {
    /**
     * A TCP port on an IPv6 address.
     */
    const SOCK_TCP6 = 3;
}

namespace Apus {
    /**
     * A Unix stream socket; the host is its path.
     */
    const SOCK_UNIX_STREAM = 5;
}

namespace Apus {
    /**
     * A Unix datagram socket; the host is its path.
     */
    const SOCK_UNIX_DGRAM = 6;
}

namespace Apus {
    /**
     * No connection has that session id.
     */
    const ERROR_SESSION_NOT_EXIST = 1005;
}

namespace Apus {
    /**
     * The connection is closed, or being closed.
     */
    const ERROR_SESSION_CLOSED = 1004;
}

namespace Apus {
    /**
     * As much output waits for the connection as buffer_output_size allows.
     */
    const ERROR_OUTPUT_BUFFER_OVERFLOW = 1009;
}

namespace Apus {
    /**
     * The connection is not of the kind that the call needs.
     */
    const ERROR_SESSION_INVALID = 1006;
}

namespace Apus {
    /**
     * The process that has the connection takes no more messages now.
     */
    const ERROR_QUEUE_FULL = 1210;
}

namespace Apus {
    /**
     * The message is larger than the process that has the connection takes.
     */
    const ERROR_DATA_TOO_LARGE = 1203;
}

namespace Apus {
    /**
     * The kernel has the message, or gets it in this turn of the loop.
     */
    const PUSH_SENT = 1;
}

namespace Apus {
    /**
     * The message waits for its receiver.
     */
    const PUSH_BUFFERED = 2;
}

namespace Apus {
    /**
     * The message is lost: as much waits for its receiver as buffer_output_size allows.
     */
    const PUSH_DROPPED = 0;
}

namespace Apus {
    /**
     * The message is lost: there is no such WebSocket, or it is closing.
     */
    const PUSH_GONE = -1;
}

namespace Apus {
    /**
     * Priority of a task that goes before all others that wait.
     */
    const TASK_HIGH = 0;
}

namespace Apus {
    /**
     * Priority of most tasks.
     */
    const TASK_NORMAL = 1;
}

namespace Apus {
    /**
     * Priority of a task that runs when no other waits.
     */
    const TASK_LOW = 2;
}

namespace Apus {
    /**
     * The tasks that wait and run take as much memory as task_queue_size allows.
     */
    const ERROR_TASK_QUEUE_FULL = 1301;
}

namespace Apus {
    /**
     * The task worker that ran the task died.
     */
    const ERROR_TASK_WORKER_DIED = 1302;
}

namespace Apus {
    /**
     * The task's callback threw, or a fatal error ended it.
     */
    const ERROR_TASK_FAILED = 1303;
}

namespace Apus {
    /**
     * The task took longer.
     */
    const ERROR_TASK_TIMEOUT = 1304;
}

