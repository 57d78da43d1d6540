<?php

/** usage: php server.php PORT WORKERS */

declare(strict_types=1);

use Apus\Http\Request;
use Apus\WebSocket\Frame;
use Apus\WebSocket\Server;

const EVERYBODY = 'everybody';

[, $port, $workers] = $argv;

$server = new Server('127.0.0.1', (int) $port);
$server->set(['worker_num' => (int) $workers, 'backlog' => 4096, 'max_connection' => 40_000]);

$server->on('open', function (Server $server, Request $request): void {
    $server->subscribe($request->fd, EVERYBODY);
});
$server->on('message', function (Server $server, Frame $frame): void {
    $text = $frame->data;
    if ($frame->opcode === 1 && ($text[1] ?? '') === ':') {
        if ($text[0] === 'b') {
            $server->publish(EVERYBODY, $text);
            return;
        }
        if ($text[0] === 'p') {
            [, $fd, $count, $gap] = explode(':', $text);
            $server->push($frame->fd, push($server, (int) $fd, (int) $count, (int) $gap));
            return;
        }
    }
    if ($text === 'w') {
        $text = "w:{$server->worker_id}:{$frame->fd}";
    }
    $server->push($frame->fd, $text, $frame->opcode);
});

/** Pushes $count messages that carry the time of their sending, $gap nanoseconds apart; see client/src/push.rs. */
function push(Server $server, int $fd, int $count, int $gap): string
{
    $begun = $next = hrtime(true);
    $pushed = 0;
    for ($i = 0; $i < $count; $i++) {
        for ($now = hrtime(true); $now < $next; $now = hrtime(true)) {
        }
        $next += $gap;
        $pushed += (int) $server->push($fd, sprintf('%020d', $now));
    }
    return "p:$pushed:" . (hrtime(true) - $begun);
}

$server->start();
