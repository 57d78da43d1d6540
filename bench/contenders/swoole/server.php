<?php

/** usage: php server.php PORT DIRECTORY. SWOOLE_BASE with one worker is a single process, as quick as Swoole gets. */

declare(strict_types=1);

use Swoole\Http\Server;

require __DIR__ . '/../_php/handler.php';

[, $port, $dir] = $argv;

$server = new Server('127.0.0.1', (int) $port, SWOOLE_BASE);
$server->set([
    'worker_num' => 1,
    'backlog' => 4096,
    'package_max_length' => 8 << 20,
    'log_level' => SWOOLE_LOG_WARNING,
]);
$server->on('request', Bench\handler($dir));
$server->start();
