<?php

/** usage: php server.php PORT DIRECTORY */

declare(strict_types=1);

use Apus\Http\Server;

require __DIR__ . '/../_php/handler.php';

[, $port, $dir] = $argv;

$server = new Server('127.0.0.1', (int) $port);
$server->set(['worker_num' => 1, 'backlog' => 4096]);
$server->on('request', Bench\handler($dir));
$server->start();
