<?php

declare(strict_types=1);

// What the server does, live, and three things to try. `make run` starts it; PORT and HOST may be set.

namespace Apus\Demo;

use Apus\Http\Request;
use Apus\Http\Response;
use Apus\Http\Server;

$host = getenv('HOST') ?: '127.0.0.1';
$port = (int) (getenv('PORT') !== false ? getenv('PORT') : 8080);
try {
    $server = new Server($host, $port);
} catch (\Apus\Server\Exception $error) {
    fwrite(STDERR, "{$error->getMessage()}\nTry another port: PORT=9000 make run\n");
    exit(1);
}

$server->set([
    'package_max_length' => '16M',
    'process_title' => 'apus-demo',
]);

$server->on('start', function (Server $server): void {
    $host = in_array($server->host, ['0.0.0.0', '::'], true) ? '127.0.0.1' : $server->host;
    echo "\n  The demo is at  http://$host:$server->port\n\n  Ctrl-C stops it.\n\n";
});

// Loaded in each worker, so that `apus reload` brings changes in.
$server->on('workerstart', function (): void {
    require_once __DIR__ . '/handlers.php';
});

$server->on('request', function (Request $request, Response $response) use ($server): void {
    $path = $request->server['request_uri'];
    match (true) {
        $path === '/' => page($response),
        $path === '/stats' => stats($server, $response),
        $path === '/api/list' => listing($response),
        $path === '/api/slow' => slow($response, (int) ($request->get['calls'] ?? 1000)),
        $path === '/api/keep' && $request->getMethod() === 'POST' => keep($request, $response),
        $path === '/api/mirror' && $request->getMethod() === 'POST' => mirror($request, $response),
        default => missing($response),
    };
});

$server->start();
