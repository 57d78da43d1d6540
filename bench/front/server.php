<?php

declare(strict_types=1);

// php server.php PORT SITE LEVEL plain|log|metrics files|programs: files of SITE without PHP, or `/data` compressed at LEVEL and `/hello`.

use Apus\Http\Server;

require __DIR__ . '/handler.php';

[, $port, $site, $level, $extra, $kind] = $argv;

$server = new Server('127.0.0.1', (int) $port);
$server->set([
    'worker_num' => 1,
    'backlog' => 4096,
    'http_compression_level' => (int) $level,
    ...$kind === 'files' ? ['document_root' => $site, 'enable_static_handler' => true] : [],
    ...match ($extra) {
        'plain' => [],
        'log' => ['access_log' => getcwd() . '/access.log'],
        'metrics' => ['metrics_address' => 'unix:' . getcwd() . '/metrics.sock'],
    },
]);
$server->on('request', Bench\handler($site));
$server->start();
