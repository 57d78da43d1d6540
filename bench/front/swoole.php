<?php

declare(strict_types=1);

// php swoole.php PORT SITE LEVEL files|programs: what server.php does, with SWOOLE_BASE and one worker.

use Swoole\Http\Server;

require __DIR__ . '/handler.php';

[, $port, $site, $level, $kind] = $argv;

$server = new Server('127.0.0.1', (int) $port, SWOOLE_BASE);
$server->set([
    'worker_num' => 1,
    'backlog' => 4096,
    'http_compression_level' => (int) $level,
    ...$kind === 'files' ? ['document_root' => $site, 'enable_static_handler' => true] : [],
    'log_level' => SWOOLE_LOG_WARNING,
]);
$server->on('request', Bench\handler($site));
$server->start();
