<?php

namespace Apus\WebSocket;

/**
 * A server of WebSockets (RFC 6455, RFC 7692) and HTTP/1.1 on one port. A connection that is idle takes less than a
 * kilobyte and no coroutine.
 * @rust static WEBSOCKET_SERVER
 */
class Server extends \Apus\Http\Server
{
    // @rust typed

    /**
     * Binds the address at once: see Apus\Http\Server.
     * Events: handshake (Request, Response): answer with status 101 and end() to accept, with another status to refuse,
     * or return false to refuse with 403 and true to accept; without the callback every valid handshake from an allowed
     * origin is accepted. beforehandshakeresponse ($server, Request, Response): the same, and the callback may add
     * fields and cookies to the answer. open ($server, Request). message ($server, Apus\WebSocket\Frame). close ($server, $fd,
     * $workerId) for WebSockets, disconnect ($server, $fd) for HTTP connections that end. request as in
     * Apus\Http\Server.
     * @throws \Apus\Server\Exception BIND
     * Does not wait.
     */
    public function __construct(string $host = '0.0.0.0', int $port = 0, int $mode = 1, int $sockType = 1) {}

    /**
     * Sends a message to a WebSocket of any worker. Where buffer_output_size bytes wait for it already, send_policy
     * decides: wait (outside coroutines: drop), drop, or close.
     * @param int $opcode one of Apus\WEBSOCKET_OPCODE_*; a Frame object has its own
     * @param int $flags the sum of Apus\WEBSOCKET_FLAG_*: 0 for a fragment that is not the last of its message, with
     * COMPRESS compressed in any case
     * @return bool false when the message is lost: see getLastError(). For a connection of another worker true means
     * that its worker has the message; if its buffer is full there, send_policy applies there
     * @throws \Apus\Client\Exception ARGUMENT for what RFC 6455 forbids (text that is not UTF-8, a long control frame,
     * a fragment out of order; one that comes from another worker is dropped and logged there)
     * Waits (where a coroutine runs).
     */
    public function push(int $fd, \Apus\WebSocket\Frame|string $data, int $opcode = 1, int $flags = 1): bool {}

    /**
     * Like push(), but never waits, and tells what happened to the message.
     * @return int Apus\PUSH_SENT, PUSH_BUFFERED, PUSH_DROPPED or PUSH_GONE
     * @throws \Apus\Client\Exception ARGUMENT
     * Does not wait.
     */
    public function tryPush(int $fd, \Apus\WebSocket\Frame|string $data, int $opcode = 1, int $flags = 1): int {}

    /**
     * Ends a WebSocket with a closing handshake (RFC 6455 section 7); data that waits for it is sent first.
     * @param int $code one of Apus\WEBSOCKET_CLOSE_*, or 3000 to 4999
     * @param string $reason up to 123 bytes of UTF-8
     * @return bool false when there is no such WebSocket, or it is closing
     * @throws \Apus\Client\Exception ARGUMENT
     * Does not wait.
     */
    public function disconnect(int $fd, int $code = 1000, string $reason = ''): bool {}

    /**
     * Whether a connection, of any worker, is a WebSocket whose handshake is complete and which is not closing.
     * @throws \Apus\Server\Exception STATE outside workers
     * Does not wait.
     */
    public function isEstablished(int $fd): bool {}

    /**
     * Sends a PING now; the server sends them by itself (setting websocket_ping_interval).
     * @param string $data up to 125 bytes
     * @return bool false when there is no such WebSocket
     * @throws \Apus\Client\Exception ARGUMENT
     * Does not wait.
     */
    public function ping(int $fd, string $data = ''): bool {}

    // @rust module frame

    /** The same as Apus\WebSocket\Frame::pack(). */
    public static function pack(\Apus\WebSocket\Frame|string $data, int $opcode = 1, int $flags = 1): string {}

    /** The same as Apus\WebSocket\Frame::unpack(). */
    public static function unpack(string $data): \Apus\WebSocket\Frame|false {}
}
