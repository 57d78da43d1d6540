<?php

/** usage: php server.php PORT WORKERS */

declare(strict_types=1);

use Apus\Http\Request;
use Apus\WebSocket\Server;

require __DIR__ . '/../_php/messages.php';

const EVERYBODY = 'everybody';

[, $port, $workers] = $argv;

$server = new Server('127.0.0.1', (int) $port);
$server->set(['worker_num' => (int) $workers, 'backlog' => 4096, 'max_connection' => 40_000]);

$server->on('open', function (Server $server, Request $request): void {
    $server->subscribe($request->fd, EVERYBODY);
});
$broadcast = static function (string $text) use ($server): void {
    $server->publish(EVERYBODY, $text);
};
$server->on('message', Bench\Ws\handler($broadcast));
$server->start();
