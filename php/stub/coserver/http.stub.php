<?php

namespace Apus\Coroutine\Http;

/**
 * An HTTP/1.1 server in a coroutine: it needs no master process, runs in any script beside other coroutines, and may be
 * one of several in the process. Each request is handled in a coroutine of its own, with the same objects as in the
 * request event of Apus\Http\Server; Response::upgrade() turns it into a WebSocket. For all cores start several
 * processes with $reuse_port, or use Apus\Http\Server, which supervises them. An exception that a handler does not
 * catch goes to the program's exception handler, or else to the log; the client gets 500, and the server goes on.
 * @rust slots
 */
final class Server
{
    // @rust typed

    /** The descriptor that listens; -1 when the server has ended. */
    public int $fd = -1;

    /** The address, or the path of a Unix socket. */
    public ?string $host = null;

    /** The port; the actual one if 0 was requested; 0 for a Unix socket. */
    public int $port = -1;

    /** Whether the server must speak TLS, as the constructor was told. */
    public bool $ssl = false;

    /** What set() was given. */
    public ?array $settings = null;

    /** Why start() returned false: an errno. */
    public int $errCode = 0;

    /** The same as text. */
    public string $errMsg = '';

    /**
     * Binds and listens: clients that connect before start() wait.
     * @param string $host an IP address, a name that the system knows (its resolution blocks), or "unix:" and a path
     * @param int $port 0 to 65535; 0 lets the system choose: see $port
     * @param bool $ssl whether start() refuses to serve without ssl_cert_file
     * @param bool $reuse_port whether other processes may listen on the same port and share its clients (SO_REUSEPORT)
     * @throws \Apus\Server\Exception BIND
     * Does not wait.
     */
    public function __construct(string $host, int $port = 0, bool $ssl = false, bool $reuse_port = false) {}

    /**
     * Settings: those of docs/options.md with the scope "port", and max_connection (default 100000), max_concurrency,
     * cancel_on_disconnect and max_wait_time (default 30 s). Other settings of servers are accepted, as programs share
     * one array, and have no effect here. All are applied, or none.
     * @throws \Apus\Server\Exception OPTION (the message names the setting, its limits and unit), STATE after start()
     * Does not wait.
     */
    public function set(array $settings): bool {}

    /**
     * Registers $callback(Apus\Http\Request $request, Apus\Http\Response $response) for requests whose path (as sent,
     * without the query) begins with $pattern, case-insensitively; it replaces an earlier one for the same pattern. The
     * longest matching pattern is used; "/" matches everything. If none matches, the answer is 404. May be called while
     * the server runs.
     * @param string $pattern begins with "/"
     * @throws \ValueError when it does not
     * @throws \Apus\Server\Exception STATE when the server has ended
     * Does not wait.
     * @rust set_handler
     */
    public function handle(string $pattern, callable $callback): bool {}

    /**
     * Serves, in a coroutine for each request, until shutdown(). May be called once for each object; afterwards the
     * handlers are released. When it is cancelled, the server ends at once: connections are closed, and handlers see a
     * CanceledException.
     * @return bool true after shutdown(); false when it was cancelled or could not listen, with errCode
     * @throws \Apus\Server\Exception STATE when it has already been called, BIND
     * @throws \Apus\Coroutine\Exception NOT_IN_COROUTINE, CANNOT_SWITCH
     * @throws \Apus\Coroutine\CanceledException when cancelled with an exception
     * Waits.
     */
    public function start(): bool {}

    /**
     * Accepts nothing more and lets requests that have begun end, for at most max_wait_time seconds (then their
     * connections are closed and their coroutines cancelled); then start() returns. Connections without a request close
     * within 2 seconds.
     * @return bool false when the server is not running, or is already ending
     * Does not wait.
     */
    public function shutdown(): bool {}
}
