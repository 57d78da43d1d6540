<?php

namespace Apus;

/**
 * Messages to the WebSockets of the server that this process is part of: from a page or a script of `apus serve` whose
 * setting script_websocket takes them, and from the workers of an Apus\Server.
 *
 *     Apus\Push::publish('news', json_encode(['title' => $title]));
 *
 * A page waits for a worker that does it, some 30 microseconds; where the workers of a server do it themselves it is as
 * the server's own method.
 * @rust plain
 */
final class Push
{
    // @rust typed

    /**
     * Sends a message to all connections that are subscribed to a topic, of all workers, and with the setting broker of
     * all servers. A connection that reads too slowly does not get it (see Apus\Server::publish()).
     * @param string $topic 1 to 256 bytes
     * @param ?int $opcode one of Apus\WEBSOCKET_OPCODE_*; without it text, or binary for what is not UTF-8
     * @return bool false when some may not get it: see Apus\last_error()
     * @throws \ValueError, \Apus\Client\Exception ARGUMENT for a fragment, a close frame, text that is not UTF-8
     * @throws \Apus\Server\Exception STATE in a process that reaches no WebSockets
     * Waits (in scripts outside of coroutines, for three seconds at most).
     * @since 0.1.0
     */
    public static function publish(string $topic, \Apus\WebSocket\Frame|string $data, ?int $opcode = null): bool {}

    /**
     * Sends a message to all connections of a user.
     * @param string|int $user 1 to 256 bytes; an integer means its decimal digits
     * @param ?int $opcode as in publish()
     * @return int how many connections it reached: if 0, keep the message for later
     * @throws \ValueError, \Apus\Client\Exception, \Apus\Server\Exception as publish()
     * Waits (in scripts outside of coroutines, for three seconds at most).
     * @since 0.1.0
     */
    public static function sendToUser(string|int $user, \Apus\WebSocket\Frame|string $data, ?int $opcode = null): int {}

    /**
     * Whether a user has a connection.
     * @throws \ValueError, \Apus\Server\Exception as publish()
     * Waits (in scripts outside of coroutines, for three seconds at most).
     * @since 0.1.0
     */
    public static function isOnline(string|int $user): bool {}

    /**
     * How many connections are subscribed to a topic.
     * @throws \ValueError, \Apus\Server\Exception as publish()
     * Waits (in scripts outside of coroutines, for three seconds at most).
     * @since 0.1.0
     */
    public static function subscribers(string $topic): int {}

    /**
     * Closes all connections that a user has at this server, as when somebody logs out. Only in scripts of `apus serve`.
     * @param int $code one of Apus\WEBSOCKET_CLOSE_*, or 3000 to 4999
     * @param string $reason up to 123 bytes of UTF-8
     * @return int how many they were
     * @throws \ValueError, \Apus\Client\Exception, \Apus\Server\Exception as publish()
     * Waits (outside of coroutines, for three seconds at most).
     * @since 0.1.0
     */
    public static function disconnect(string|int $user, int $code = 1000, string $reason = ''): int {}
}
