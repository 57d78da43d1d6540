<?php

namespace Swoole\Http;

/**
 * Apus\Http\Server, for code written for Swoole.
 * @rust second Apus\Http\Server
 * @rust also swoole_http_server
 */
class Server extends \Swoole\Server
{
    /** @rust within crate::swoole::throws */
    public function __construct(string $host = '0.0.0.0', int $port = 0, int $mode = 1, int $sock_type = 1) {}
}
