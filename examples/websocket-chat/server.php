<?php

declare(strict_types=1);

// A chat with rooms, over all workers: open http://127.0.0.1:8080/?room=lobby&name=Ada in two windows.

use Apus\Http\Request;
use Apus\Http\Response;
use Apus\WebSocket\Frame;
use Apus\WebSocket\Server;

$server = new Server('127.0.0.1', (int) ($argv[1] ?? 8080));
// Messages of one person stay in their order.
$server->set(['package_max_length' => 4096, 'connection_concurrency' => 1]);

$server->on('request', function (Request $request, Response $response): void {
    $response->header('Content-Type', 'text/html; charset=utf-8');
    $response->end(file_get_contents(__DIR__ . '/page.html'));
});

/** Who is here, by connection: of this worker only, as the events of a connection come to the worker that holds it. */
$people = [];

$server->on('open', function (Server $server, Request $request) use (&$people): void {
    $name = substr((string) ($request->get['name'] ?? ''), 0, 40) ?: "guest $request->fd";
    $room = 'room ' . substr((string) ($request->get['room'] ?? ''), 0, 40);
    $people[$request->fd] = [$name, $room];
    $server->bind($request->fd, $name);
    $server->subscribe($request->fd, $room);
    say($server, $room, ['joined' => $name]);
});

$server->on('message', function (Server $server, Frame $frame) use (&$people): void {
    [$name, $room] = $people[$frame->fd];
    say($server, $room, ['name' => $name, 'text' => $frame->data]);
});

$server->on('close', function (Server $server, int $fd) use (&$people): void {
    [$name, $room] = $people[$fd] ?? [null, null];
    unset($people[$fd]);
    if ($room !== null) {
        say($server, $room, ['left' => $name]);
    }
});

/** Everybody in the room gets what happened, and who is there. */
function say(Server $server, string $room, array $what): void
{
    $here = array_values(array_unique(array_column($server->presence($room, 100), 'user')));
    $server->publish($room, json_encode($what + ['here' => $here], JSON_INVALID_UTF8_SUBSTITUTE));
}

$server->start();
