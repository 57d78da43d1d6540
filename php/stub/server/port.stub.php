<?php

namespace Apus\Server;

/**
 * One address that a server listens on. Where it has no setting or callback of its own, the server's applies.
 * @rust slots
 */
final class Port
{
    // @rust typed

    /** The address, or the path of a Unix socket. */
    public string $host = '';

    /** The port number; the actual one if 0 was requested. */
    public int $port = 0;

    /** The kind of socket, such as Apus\SOCK_TCP. */
    public int $type = 0;

    /** What set() was given. */
    public ?array $setting = null;

    /**
     * Settings of this port, in place of the server's: see docs/options.md, scope "port". A port that is given a
     * framing (open_length_check, open_eof_split, …) or open_http_protocol => false is a port of raw streams, and has
     * none of the server's framings.
     * @throws \Apus\Server\Exception OPTION, STATE (after start())
     * Does not wait.
     */
    public function set(array $settings): void {}

    /**
     * A callback of this port, in place of the server's: connect, receive, packet, bufferfull, bufferempty, close,
     * request, handshake, open, message or disconnect. A port with receive and without request is a port of raw
     * streams.
     * @throws \Apus\Server\Exception EVENT, STATE (after start())
     * Does not wait.
     */
    public function on(string $event, callable $callback): bool {}

    /**
     * The port's own callback for an event, or null.
     * Does not wait.
     */
    public function getCallback(string $event): mixed {}
}
