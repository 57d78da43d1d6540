<?php

namespace Apus\Server;

/**
 * Requests for some names, on every port that speaks HTTP: see Apus\Http\Server::host(). Where it has no setting or callback of
 * its own, the port's applies.
 * @rust slots
 */
final class Host
{
    // @rust typed

    /** The names that mean it. */
    public ?array $names = null;

    /** What set() was given. */
    public ?array $setting = null;

    /**
     * Settings of this host, in place of the port's: those for files, answers, logins, limits of requests and their
     * clients, and its certificate. See docs/hosts.md.
     * @throws \Apus\Server\Exception OPTION, STATE (after start())
     * Does not wait.
     */
    public function set(array $settings): void {}

    /**
     * A callback of this host, in place of the port's: request, handshake, open or message.
     * @throws \Apus\Server\Exception EVENT, STATE (after start())
     * Does not wait.
     */
    public function on(string $event, callable $callback): bool {}

    /**
     * The host's own callback for an event, or null.
     * Does not wait.
     */
    public function getCallback(string $event): mixed {}
}
