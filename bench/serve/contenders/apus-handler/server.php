<?php

/** usage: php server.php PORT */

declare(strict_types=1);

use Apus\Http\Server;

$server = new Server('127.0.0.1', (int) $argv[1]);
$server->set(['worker_num' => 1, 'backlog' => 4096]);
$server->on('request', fn ($request, $response) => $response->end('Hello, World!'));
$server->start();
