<?php

// The contender Swoole: swoole.php PORT CERT KEY.

use Swoole\WebSocket\Server;

$server = new Server('127.0.0.1', (int) $argv[1], SWOOLE_BASE, SWOOLE_SOCK_TCP | SWOOLE_SSL);
$server->set([
    'worker_num' => 1,
    'log_level' => SWOOLE_LOG_WARNING,
    'ssl_cert_file' => $argv[2],
    'ssl_key_file' => $argv[3],
    'open_http2_protocol' => true,
    'http_compression' => false,
]);
$large = str_repeat('x', 1 << 20);
$server->on('request', function (Swoole\Http\Request $request, Swoole\Http\Response $response) use ($large): void {
    $response->end($request->server['request_uri'] === '/large' ? $large : 'hello');
});
$server->on('message', function (Server $server, Swoole\WebSocket\Frame $frame): void {
    $server->push($frame->fd, $frame->data, $frame->opcode);
});
$server->start();
