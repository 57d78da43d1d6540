<?php

namespace Swoole\WebSocket;

/**
 * Apus\WebSocket\Server, for code written for Swoole: a call that cannot be made gives false and a warning.
 * @rust second Apus\WebSocket\Server
 * @rust also swoole_websocket_server
 * @rust within crate::swoole::answers_false
 */
class Server extends \Swoole\Http\Server
{
    /** @rust within crate::swoole::throws */
    public function __construct(string $host = '0.0.0.0', int $port = 0, int $mode = 1, int $sock_type = 1) {}

    public function push(int $fd, \Swoole\WebSocket\Frame|string $data, int $opcode = 1, int $flags = 1): bool {}

    public function isEstablished(int $fd): bool {}

    public static function pack(\Swoole\WebSocket\Frame|string $data, int $opcode = 1, int $flags = 1): string {}

    public static function unpack(string $data): \Swoole\WebSocket\Frame|false {}

    public function disconnect(int $fd, int $code = 1000, string $reason = ''): bool {}

    public function ping(int $fd, string $data = ''): bool {}
}
