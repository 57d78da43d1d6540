<?php

declare(strict_types=1);

use Apus\Http\Request;
use Apus\Http\Response;
use Apus\Http\Server;

$server = new Server(getenv('HOST') ?: '127.0.0.1', (int) (getenv('PORT') !== false ? getenv('PORT') : 8080));

$server->set([
    'max_request' => 1_000_000,
    'max_wait_time' => 30,
]);

// Loaded in each worker, not in the master: `apus reload` brings new code in.
$server->on('workerstart', function (): void {
    require_once __DIR__ . '/src/app.php';
});

$server->on('request', function (Request $request, Response $response): void {
    handle($request, $response);
});

$server->start();
