<?php

/**
 * usage: php server.php PORT WORKERS CASE. SWOOLE_BASE: the workers accept by themselves, as quick as Swoole gets; but a
 * worker reaches another one's connections in SWOOLE_PROCESS only.
 */

declare(strict_types=1);

use Swoole\WebSocket\Server;

require __DIR__ . '/../_php/messages.php';

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
$everybody = function (string $text) use ($server, $broadcast, $workers): void {
    $broadcast($text);
    for ($worker = 0; $worker < (int) $workers; $worker++) {
        if ($worker !== $server->worker_id) {
            $server->sendMessage($text, $worker);
        }
    }
};
$server->on('message', Bench\Ws\handler($everybody));
$server->start();
