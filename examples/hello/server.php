<?php

declare(strict_types=1);

use Apus\Http\Request;
use Apus\Http\Response;
use Apus\Http\Server;

$server = new Server('127.0.0.1', (int) ($argv[1] ?? 8080));

$server->on('request', function (Request $request, Response $response): void {
    $name = $request->get['name'] ?? 'world';
    $response->header('Content-Type', 'text/plain; charset=utf-8');
    $response->end("Hello, $name\n");
});

$server->start();
