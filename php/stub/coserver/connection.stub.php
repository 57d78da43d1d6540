<?php

namespace Apus\Coroutine\Server;

/**
 * A connection that an Apus\Coroutine\Server accepted. It is closed by close(), or when neither it nor its socket is
 * referenced any more. One coroutine may read while another one writes. errCode and errMsg of exportSocket() tell why a
 * method failed.
 * @rust slots
 */
class Connection
{
    // @rust typed

    /** The socket. */
    protected ?\Apus\Coroutine\Socket $socket = null;

    /**
     * A connection over a socket that is connected.
     * Does not wait.
     */
    public function __construct(\Apus\Coroutine\Socket $conn) {}

    /**
     * The next whole message in the server's framing (open_length_check, open_eof_check); without one some bytes, at
     * most 65536, as soon as there are any. A peer that breaks the framing, or sends more than package_max_length
     * (default 2 MiB), is disconnected.
     * @param float $timeout seconds; 0 for the settings read_timeout and socket_timeout (none), negative for no limit
     * @return string|false '' when the peer has ended its side; false on failure: ETIMEDOUT, ECANCELED, ECONNRESET …
     * @throws Apus\Coroutine\ConflictException when another coroutine reads
     * @throws Apus\Coroutine\CanceledException when cancelled with an exception
     * Waits.
     */
    public function recv(float $timeout = 0): string|false {}

    /**
     * Sends all of $data.
     * @return int|false how many bytes were accepted: fewer than all if the connection broke meanwhile; false if none
     * were
     * @throws Apus\Coroutine\ConflictException when another coroutine writes
     * @throws Apus\Coroutine\CanceledException when cancelled with an exception
     * Waits.
     */
    public function send(string $data): int|false {}

    /**
     * Closes the connection; a recv() that waits returns false.
     * @return bool false when it was closed already
     * Does not wait.
     */
    public function close(): bool {}

    /**
     * The socket, for everything that this class does not have.
     * Does not wait.
     */
    public function exportSocket(): \Apus\Coroutine\Socket {}
}
