<?php

/**
 * usage: php server.php PORT WORKERS CASE. SWOOLE_BASE: the workers accept by themselves, as quick as Swoole gets; but a
 * worker reaches another one's connections in SWOOLE_PROCESS only.
 */

declare(strict_types=1);

use Swoole\WebSocket\Frame;
use Swoole\WebSocket\Server;

[, $port, $workers, $case] = $argv;

$server = new Server('127.0.0.1', (int) $port, str_starts_with($case, 'push') ? SWOOLE_PROCESS : SWOOLE_BASE);
$server->set([
    'worker_num' => (int) $workers,
    'backlog' => 4096,
    'max_connection' => 40_000,
    'log_level' => SWOOLE_LOG_ERROR,
]);

/** Sends to this worker's connections. */
$broadcast = function (string $text) use ($server, &$mine): void {
    foreach ($mine as $fd => $_) {
        $server->push($fd, $text);
    }
};
/** @var array<int, true> $mine */
$mine = [];

$server->on('open', function (Server $server, Swoole\Http\Request $request) use (&$mine): void {
    $mine[$request->fd] = true;
});
$server->on('close', function (Server $server, int $fd) use (&$mine): void {
    unset($mine[$fd]);
});
$server->on('pipeMessage', function (Server $server, int $from, mixed $text) use ($broadcast): void {
    $broadcast($text);
});
$server->on('message', function (Server $server, Frame $frame) use ($broadcast, $workers): void {
    $text = $frame->data;
    if ($frame->opcode === WEBSOCKET_OPCODE_TEXT && ($text[1] ?? '') === ':') {
        if ($text[0] === 'b') {
            $broadcast($text);
            for ($worker = 0; $worker < (int) $workers; $worker++) {
                if ($worker !== $server->worker_id) {
                    $server->sendMessage($text, $worker);
                }
            }
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
