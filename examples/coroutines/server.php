<?php

declare(strict_types=1);

// Three slow things at once: the answer takes as long as the slowest, and other requests are served meanwhile.

use Apus\Coroutine;
use Apus\Http\Request;
use Apus\Http\Response;
use Apus\Http\Server;

/** Stands for a call to a database or to another service. */
function slow(string $what, float $seconds): string
{
    Coroutine::sleep($seconds);
    return "$what after $seconds s";
}

$server = new Server('127.0.0.1', (int) ($argv[1] ?? 8080));

$server->on('request', function (Request $request, Response $response): void {
    $begin = microtime(true);
    $results = Coroutine\batch([
        'user' => static fn (): string => slow('user', 0.10),
        'orders' => static fn (): string => slow('orders', 0.15),
        'weather' => static fn (): string => slow('weather', 0.05),
    ]);
    $response->header('Content-Type', 'application/json');
    $response->end(json_encode($results + ['seconds' => round(microtime(true) - $begin, 3)]));
});

$server->start();
