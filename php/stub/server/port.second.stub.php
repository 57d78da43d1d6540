<?php

namespace Swoole\Server;

/**
 * Apus\Server\Port, for code written for Swoole: a call that cannot be made gives false and a warning.
 * @rust second Apus\Server\Port
 * @rust also swoole_server_port
 * @rust within crate::swoole::answers_false
 */
class Port
{
    public $host = null;

    public $port = 0;

    public $type = 0;

    public $setting = null;

    public $sock = -1;

    public $ssl = false;

    public $connections = null;

    private $onConnect = null;

    private $onReceive = null;

    private $onClose = null;

    private $onPacket = null;

    private $onBufferFull = null;

    private $onBufferEmpty = null;

    private $onRequest = null;

    private $onHandshake = null;

    private $onOpen = null;

    private $onMessage = null;

    private $onDisconnect = null;

    private $onBeforeHandshakeResponse = null;

    public function set(array $settings): void {}

    /** @rust within crate::server::on_there */
    public function on(string $event_name, callable $callback): bool {}

    /**
     * A socket for the options of the port, which stays the server's; before start().
     * @rust get_socket
     * @rust typed
     */
    public function getSocket(): \Socket|false {}

    public function getCallback(string $event_name): ?\Closure {}
}
