<?php

/** usage: php server.php PORT DIRECTORY. SWOOLE_BASE with one worker is a single process, as quick as Swoole gets. */

declare(strict_types=1);

use Swoole\Http\Request;
use Swoole\Http\Response;
use Swoole\Http\Server;

require __DIR__ . '/../_php/work.php';

[, $port, $dir] = $argv;

$server = new Server('127.0.0.1', (int) $port, SWOOLE_BASE);
$server->set([
    'worker_num' => 1,
    'backlog' => 4096,
    'package_max_length' => 8 << 20,
    'log_level' => SWOOLE_LOG_WARNING,
]);
$server->on('request', function (Request $request, Response $response) use ($dir): void {
    switch ($request->server['request_uri']) {
        case '/':
            $response->header('Content-Type', 'text/plain');
            $response->end(Bench\HELLO);
            break;
        case '/json':
            $response->header('Content-Type', 'application/json');
            $response->end(Bench\listing());
            break;
        case '/upload':
            $response->header('Content-Type', 'text/plain');
            $response->end(Bench\upload($dir, $request->rawContent()));
            break;
        case '/echo':
            $response->header('Content-Type', 'application/octet-stream');
            $response->end(Bench\echoed($dir, $request->rawContent()));
            break;
        default:
            $response->status(404);
            $response->end('Not Found');
    }
});
$server->start();
