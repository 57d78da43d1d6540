<?php

namespace Apus\Coroutine;

/**
 * A server of byte streams in a coroutine: it needs no master process, runs in any script beside other coroutines, and
 * may be one of several in the process. Each connection has a coroutine of its own. For all cores start several
 * processes with $reuse_port, or use Apus\Server, which supervises them.
 * An exception that a handler does not catch goes to the program's exception handler, or else to the log; the server
 * goes on.
 * @rust slots
 */
class Server
{
    // @rust typed

    /** The address, or the path of a Unix socket. */
    public string $host = '';

    /** The port; the actual one if 0 was requested; 0 for a Unix socket. */
    public int $port = 0;

    /** The address family: Apus\AF_INET, AF_INET6 or AF_UNIX. */
    public int $type = 2;

    /** The descriptor that listens; -1 when the server has ended. */
    public int $fd = -1;

    /** Why start() returned false: an errno. */
    public int $errCode = 0;

    /** What set() was given. */
    public ?array $setting = null;

    /**
     * Binds and listens: clients that connect before start() wait.
     * @param string $host an IP address, a name that the system knows (its resolution blocks), or "unix:" and a path
     * @param int $port 0 to 65535; 0 lets the system choose: see $port
     * @param bool $reuse_port whether other processes may listen on the same port and share its clients (SO_REUSEPORT)
     * @param bool $ssl whether connections speak TLS, by ssl_cert_file and the other ssl_* settings (as open_ssl)
     * @throws \Apus\Server\Exception BIND
     * Does not wait.
     */
    public function __construct(string $host, int $port = 0, bool $ssl = false, bool $reuse_port = false) {}

    /**
     * Settings of the connections: those that Coroutine\Socket::setProtocol() takes (docs/options.md, scope "client"),
     * such as open_length_check, open_eof_check, package_max_length and read_timeout; and max_connection (default
     * 100000): further connections wait in the listening queue until one of the open ones is closed. Other settings of
     * servers are accepted, as programs share one array, and have no effect here.
     * @throws \Apus\Server\Exception OPTION (the message names the setting), STATE after start()
     * @throws \Apus\Client\Exception OPTION for a setting of connections out of range
     * Does not wait.
     */
    public function set(array $setting): void {}

    /**
     * Sets $fn(Apus\Coroutine\Server\Connection $connection), which is called for each connection, in a coroutine of
     * its own.
     * @throws \Apus\Server\Exception STATE when the server has ended
     * Does not wait.
     * @rust set_handler
     */
    public function handle(callable $fn): void {}

    /**
     * Accepts nothing more: the listening socket is closed, and start() returns. Connections that were accepted go on,
     * in their coroutines.
     * @return bool false when the server is not running
     * Does not wait.
     */
    public function shutdown(): bool {}

    /**
     * Accepts connections until shutdown(). May be called once for each object; afterwards the handler is released.
     * When the process has no descriptor left, this is logged, and accepting is retried every 100 ms.
     * @return bool true after shutdown(); false when it was cancelled or the socket has become unusable, with errCode
     * @throws \Apus\Server\Exception STATE when it has already been called, EVENT without handle()
     * @throws \Apus\Coroutine\Exception NOT_IN_COROUTINE, CANNOT_SWITCH
     * @throws \Apus\Coroutine\CanceledException when cancelled with an exception
     * Waits.
     */
    public function start(): bool {}
}
