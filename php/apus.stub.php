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
         * The running code cannot be suspended: the cycle collector runs a destructor, or PHP shuts down.
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
         * Waits; others run meanwhile. Resolution: 1 millisecond.
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
         * @return bool false when there is no such coroutine, or it does not wait in yield()
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
         * @return string|false false for a multipart form, whose parts are in $post and $files
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
         * @param int $code 200 to 999; default 200
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
         * (Connection but for "close", Keep-Alive, Transfer-Encoding)
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
         * @throws \Apus\Http\Exception INVALID_HEADER
         * Does not wait.
         * @since 0.1.0
         */
        public function trailer(string $key, string $value): bool {}

        /**
         * Sends a piece of the body, chunked (RFC 9112 section 7.1) unless a Content-Length was set; the first call sends
         * the head. Where the client reads slowly it waits until less than buffer_output_size bytes are on their way.
         * @return bool false when the client is gone, the response has ended, or (outside coroutines) the buffer is full
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
         * Settings of this port, in place of the server's: see docs/options.md, scope "port".
         * @throws \Apus\Server\Exception OPTION, STATE (after start())
         * Does not wait.
         * @since 0.1.0
         */
        public function set(array $settings): void {}

        /**
         * A callback of this port, in place of the server's: connect, request or close.
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
         * Servers of raw TCP and UDP are not in this version.
         * @throws \Apus\Server\Exception always
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
         * connect, close ($server, $fd, $workerId); request (Request, Response).
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
         * Listens on one more address.
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
         * USR1 reloads all workers, HUP reloads them and opens the log anew.
         * @throws \Apus\Server\Exception STATE, EVENT (no request callback), OPTION, BIND, PROCESS
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
         * Replaces all workers by fresh ones; no request is lost.
         * @throws \Apus\Server\Exception STATE when it does not run
         * Does not wait.
         * @since 0.1.0
         */
        public function reload(bool $onlyTaskWorkers = false): bool {}

        /**
         * Replaces one worker (-1: this one) by a fresh one, which serves before the old one leaves.
         * @return bool false when there is no such worker
         * @throws \Apus\Server\Exception STATE outside workers
         * Does not wait.
         * @since 0.1.0
         */
        public function stop(int $workerId = -1, bool $waitEvent = false): bool {}

        /**
         * Numbers of the whole server: start_time, connection_num, accept_count, close_count, worker_num, idle_worker_num,
         * serving_worker_num, worker_crash_count, request_count, response_count, error_count (status 500 and above),
         * concurrency (requests being handled), total_recv_bytes, total_send_bytes, coroutine_num, memory_bytes, rss_bytes,
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
         * the connection belongs to this worker.
         * @return bool false when there is no such connection
         * @throws \Apus\Server\Exception STATE outside workers
         * Does not wait.
         * @since 0.1.0
         */
        public function close(int $fd, bool $reset = false): bool {}

        /**
         * What is known of a connection: remote_ip, remote_port, server_port, worker_id, reactor_id, connect_time,
         * last_time, last_recv_time, request_count, close_errno.
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

