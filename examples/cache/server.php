<?php

declare(strict_types=1);

// A page that is slow to make, made once a minute for all workers, and at most 5 requests a second from one address.
//   apus run examples/cache/server.php
// Try: curl -i http://127.0.0.1:8080/a-page    curl http://127.0.0.1:8080/stats

use Apus\Cache;
use Apus\Coroutine;
use Apus\Http\{Request, Response, Server};
use Apus\RateLimiter;

// Made before the workers are forked, so that they share them.
$cache = new Cache(64 << 20);
$limiter = new RateLimiter(100_000, rate: 5, per: 1.0, burst: 10);

$server = new Server('127.0.0.1', (int) ($argv[1] ?? 8080));
$server->set(['worker_num' => 2]);

$server->on('request', function (Request $request, Response $response) use ($cache, $limiter): void {
    $address = $request->server['remote_addr'];
    if (!$limiter->allow($address)) {
        $response->status(429);
        $response->header('Retry-After', (string) ceil($limiter->check($address)['retry_after']));
        $response->end("too many requests\n");
        return;
    }
    $path = $request->server['request_uri'];
    $page = $path === '/stats' ? json_encode($cache->stats()) : $cache->remember("page:$path", 60, function () use ($path): string {
        // Many may ask at once: one worker makes it, the others wait for it.
        Coroutine::sleep(0.5);
        return "The page $path, made by process " . getmypid() . ' at ' . date('H:i:s');
    });
    $response->end("$page\n");
});

$server->start();
