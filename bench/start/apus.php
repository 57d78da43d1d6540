<?php

declare(strict_types=1);

use Apus\Http\{Request, Response, Server};

$server = new Server('127.0.0.1', (int) getenv('PORT'));
$server->set(['worker_num' => 2, 'log_level' => 5]);
$server->on('request', static function (Request $request, Response $response): void {
    $response->end('hello world');
});
$server->start();
