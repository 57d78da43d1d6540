<?php

namespace Apus;

/** Base of every exception that Apus throws. */
class Exception extends \RuntimeException
{
}

namespace Apus\Coroutine;

/**
 * A coroutine function was used where it cannot work; the code tells why.
 * @rust static COROUTINE
 * @rust codes
 */
class Exception extends \Apus\Exception
{
    /** The function waits, and no coroutine runs: wrap the call in Apus\Coroutine\run() or Apus\go(). */
    public const NOT_IN_COROUTINE = 1;

    /** The running code cannot be suspended: a handler of pcntl_signal(), a tick function, shutdown. */
    public const CANNOT_SWITCH = 2;

    /** The limit `max_coroutine` is reached. */
    public const TOO_MANY = 3;

    /** The system provided no memory for a coroutine's C stack. */
    public const NO_MEMORY = 4;

    /** run() or Scheduler::start() was called inside a coroutine. */
    public const NESTED_RUN = 5;

    /** An attempt to fork a process inside a coroutine, or in a callback of an event loop. */
    public const CANNOT_FORK = 6;

    /** A lock or permit was given back by a coroutine that does not hold it. */
    public const NOT_HELD = 7;

    /** The object is not in the state that the call needs. */
    public const STATE = 8;
}

/**
 * Thrown by the function in which a coroutine waits when it is cancelled, so that `finally` blocks run.
 * @rust static CANCELED
 */
class CanceledException extends \Apus\Coroutine\Exception
{
}

/**
 * Every coroutine waits for another one, so none can ever go on. The message holds the stack of each.
 * @rust static DEADLOCK
 */
class DeadlockException extends \Apus\Coroutine\Exception
{
}

/**
 * What a coroutine waited for did not happen within the given time.
 * @rust static TIMEOUT
 */
class TimeoutException extends \Apus\Coroutine\Exception
{
}

/**
 * Two coroutines used one connection at the same time; the message names both and what each does. Nothing was sent or
 * read for the second one. Give each coroutine its own connection, preferably from a pool.
 * @rust static CONFLICT
 */
class ConflictException extends \Apus\Coroutine\Exception
{
}

namespace Apus\Client;

/**
 * A socket or client was used incorrectly, or could not be created; failures of the network are return values and
 * errCode.
 * @rust static CLIENT
 * @rust codes
 */
class Exception extends \Apus\Exception
{
    /** A setting is unknown, unsupported, or out of range. */
    public const OPTION = 301;

    /** An address, header or method holds bytes that its grammar forbids. */
    public const ARGUMENT = 302;

    /** The client is not in the state that the call needs. */
    public const STATE = 303;

    /** A request that a function made got no answer; the message tells why. */
    public const REQUEST = 304;
}

namespace Apus\ConnectionPool;

/**
 * A pool could not give a connection; the code tells why.
 * @rust static POOL
 * @rust codes
 */
class Exception extends \Apus\Exception
{
    /** Every connection stayed in use for the whole time-out. */
    public const EXHAUSTED = 401;

    /** The pool was closed. */
    public const CLOSED = 402;

    /** A connection could not be made; the previous exception tells why. */
    public const CONNECT = 403;

    /** The object given back did not come from this pool, or was already given back. */
    public const FOREIGN = 404;

    /** A setting of the pool is unknown or out of range. */
    public const OPTION = 405;
}

namespace Apus\Server;

/**
 * A server could not do what was requested; the code tells why.
 * @rust static SERVER
 * @rust codes
 */
class Exception extends \Apus\Exception
{
    /** An address could not be bound; the message names it and the reason. */
    public const BIND = 101;

    /** A setting is unknown, unsupported, or out of range. */
    public const OPTION = 102;

    /** on() was given an event that does not exist. */
    public const EVENT = 103;

    /** The server is not in the state that the call needs. */
    public const STATE = 104;

    /** A process could not be created, or a signal could not be sent. */
    public const PROCESS = 105;
}

namespace Apus\Http;

/**
 * A request could not be read or a response not be sent; the code tells why.
 * @rust static HTTP
 * @rust codes
 */
class Exception extends \Apus\Exception
{
    /** A header name or value holds bytes that RFC 9110 section 5 forbids. */
    public const INVALID_HEADER = 203;

    /** A cookie name, value or attribute holds bytes that RFC 6265 forbids. */
    public const INVALID_COOKIE = 204;

    /** A status code must be between 200 and 999. */
    public const INVALID_STATUS = 205;

    /** A file could not be opened or read. */
    public const FILE = 206;

    /** The request body was cut off or violated the protocol. */
    public const BODY = 207;

    /** The response was detached from this object. */
    public const DETACHED = 208;

    /** The connection is not a WebSocket yet. */
    public const NOT_UPGRADED = 209;

    /** The body is not JSON. */
    public const JSON = 210;
}

namespace Apus;

/**
 * A table refused a value, or cannot do what was requested; the code tells why. Nothing was changed.
 * @rust static TABLE
 * @rust codes
 */
class TableException extends \Apus\Exception
{
    /** The table has reached its number of rows, or a dictionary column its number of different texts. */
    public const FULL = 501;

    /** A text is longer than its column allows. Texts are not cut. */
    public const TOO_LONG = 502;

    /** A key is empty, longer than 1,024 bytes, or not an id from 0 to the greatest one. */
    public const KEY = 503;

    /** There is no column or index of that name, or its description is wrong. */
    public const COLUMN = 504;

    /** An integer does not fit into its column. */
    public const RANGE = 505;

    /** A value cannot be stored in its column without loss. */
    public const TYPE = 506;

    /** The table is not in the state that the call needs: create() was not called, or was, or indexes are deferred. */
    public const STATE = 507;

    /** The system provided no memory or no address space, or the room reserved for texts or indexes is used up. */
    public const NO_MEMORY = 508;

    /** A snapshot, JSON or CSV could not be read or written; the message names the file and the position in it. */
    public const FILE = 509;
}

/**
 * A value could not be packed, or bytes are not a packed value; the code tells why.
 * @rust static PACK
 * @rust codes
 */
class PackException extends \Apus\Exception
{
    /** A value is meaningful only in its own process: a resource. */
    public const UNSUPPORTED = 551;

    /** Arrays and objects are nested more than 1024 deep. */
    public const DEPTH = 552;

    /** The packed value would be longer than 1 GiB. */
    public const TOO_LARGE = 553;

    /** The bytes were not made by Apus\pack(). */
    public const MALFORMED = 554;

    /** An enumeration, its case or a class is not what it was when the value was packed, or is not allowed. */
    public const MISMATCH = 555;
}

/**
 * A queue between processes refused a value; the code tells why. Nothing was added.
 * @rust static QUEUE
 * @rust codes
 */
class QueueException extends \Apus\Exception
{
    /** A packed value is longer than the queue allows: create the queue with a greater $longest. */
    public const TOO_LONG = 571;
}

/**
 * A lock cannot be created or acquired, whether it is held or not; the code tells why.
 * @rust static LOCK
 * @rust codes
 */
class LockException extends \Apus\Exception
{
    /** The file of a FILELOCK cannot be opened or locked; the message tells why. */
    public const FILE = 581;
}

/**
 * A cache cannot do what was requested; the code tells why.
 * @rust static CACHE
 * @rust codes
 */
class CacheException extends \Apus\Exception
{
    /** A value or key is longer than the cache allows. */
    public const TOO_LARGE = 561;

    /** increment() or decrement() found a value that is not an integer, or the result would be out of range. */
    public const TYPE = 562;

    /** remember() was called for a key by the function that computes its value: it would wait for itself. */
    public const NESTED = 563;

    /** Another process took longer to compute the value than remember() was to wait. */
    public const WAIT = 564;

    /** The system provided no address space. */
    public const NO_MEMORY = 565;
}

namespace Apus\Metrics;

/**
 * A metric could not be made, or was used with other labels than it has; the code tells why.
 * @rust static METRICS
 * @rust codes
 */
class Exception extends \Apus\Exception
{
    /** There is a metric of this name that is declared in another way. */
    public const DIFFERENT = 601;

    /** The server has started: a metric that is made now would not be shared by all processes. */
    public const LATE = 602;

    /** A program has at most 1,000 metrics. */
    public const TOO_MANY = 603;

    /** The system provided no memory. */
    public const NO_MEMORY = 604;

    /** A metric was given more or fewer labels than it has. */
    public const LABELS = 605;
}

namespace Apus\Process;

/**
 * A process, a pool of processes or a message queue could not do what was requested; the code tells why.
 * @rust static PROCESS
 * @rust codes
 */
class Exception extends \Apus\Exception
{
    /** The process or pool is not in the state that the call needs, or this is not the process that may call it. */
    public const STATE = 701;

    /** The system could not create a process, pipe or queue; the message tells why. */
    public const SYSTEM = 702;

    /** on() was given an event that does not exist, or not here. */
    public const EVENT = 703;

    /** An address could not be bound; the message names it. */
    public const BIND = 704;
}

namespace Apus\Server;

/**
 * A task or computation could not be submitted, or failed; the code tells why.
 * @rust static TASK
 * @rust codes
 */
class TaskException extends \Apus\Exception
{
    /** What was computed threw; the message says what. */
    public const FAILED = 801;

    /** The task worker that computed it died. */
    public const WORKER_DIED = 802;

    /** The given time has expired. */
    public const TIMEOUT = 803;

    /** The computation was cancelled. */
    public const CANCELLED = 804;

    /** The waiting tasks have reached task_queue_size. */
    public const FULL = 805;

    /** The data or result is larger than task_queue_size allows. */
    public const TOO_LARGE = 806;

    /** The callable cannot be sent to another process, or is not found there; the message says why. */
    public const CALLABLE = 807;
}
