<?php

declare(strict_types=1);

// The smallest push server: browsers at ws://127.0.0.1:8080/?user=tester01, pushes as JSON lines over TCP to 127.0.0.1:1234, such as
//   fwrite(stream_socket_client('tcp://127.0.0.1:1234'), '{"user":"tester01","message":"hello"}' . "\n");
// Any number of workers: sendToUser() finds the user's connections, whichever holds them. examples/gateway is the whole product.

use Apus\Http\Request;
use Apus\WebSocket\Frame;
use Apus\WebSocket\Server;

$server = new Server('127.0.0.1', (int) ($argv[1] ?? 8080));
$server->on('open', fn (Server $server, Request $request) => $server->bind($request->fd, $request->get['user'] ?? 'nobody'));
$server->on('message', fn (Server $server, Frame $frame) => null);

$inner = $server->listen('127.0.0.1', (int) ($argv[2] ?? 1234), Apus\SOCK_TCP);
$inner->set(['open_http_protocol' => false, 'open_websocket_protocol' => false, 'open_line_protocol' => true]);
$inner->on('receive', function (Server $server, int $fd, int $from, string $line): void {
    $push = json_decode($line);
    if (isset($push->user)) {
        $server->sendToUser($push->user, json_encode($push->message ?? null));
    }
});

$server->start();
