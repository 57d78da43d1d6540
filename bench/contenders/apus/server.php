<?php

/** usage: php server.php PORT DIRECTORY */

declare(strict_types=1);

use Apus\Http\Request;
use Apus\Http\Response;
use Apus\Http\Server;

require __DIR__ . '/../_php/work.php';

[, $port, $dir] = $argv;

$server = new Server('127.0.0.1', (int) $port);
$server->set(['worker_num' => 1, 'backlog' => 4096]);
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
