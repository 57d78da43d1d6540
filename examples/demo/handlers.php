<?php

declare(strict_types=1);

namespace Apus\Demo;

use Apus\Coroutine;
use Apus\Http\Request;
use Apus\Http\Response;
use Apus\Http\Server;

/** Seconds that one slow call waits, as one for a database or another service would. */
const SLOW = 0.1;
const MOST_CALLS = 10_000;

function page(Response $response): void
{
    static $html = null;
    $html ??= file_get_contents(__DIR__ . '/page.html');
    $response->header('Content-Type', 'text/html; charset=utf-8');
    $response->header('Content-Security-Policy', "default-src 'self'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src 'self' blob: data:");
    $response->end($html);
}

function json(Response $response, mixed $value): void
{
    $response->header('Content-Type', 'application/json');
    $response->header('Cache-Control', 'no-store');
    $response->end(json_encode($value, JSON_THROW_ON_ERROR));
}

/** What the whole server does, all workers together. */
function stats(Server $server, Response $response): void
{
    json($response, $server->stats() + ['php' => PHP_VERSION, 'answered_by' => $server->worker_id, 'now' => microtime(true)]);
}

/** W6 stage 1: an array of 100 elements. */
function listing(Response $response): void
{
    $items = [];
    for ($i = 1; $i <= 100; $i++) {
        $items[] = ['id' => $i, 'name' => "swift $i", 'altitude' => 1000 + ($i * 37) % 900, 'landed' => false];
    }
    json($response, $items);
}

/** Many calls that each wait, all at once: each has a coroutine of its own. */
function slow(Response $response, int $calls): void
{
    $calls = max(1, min($calls, MOST_CALLS));
    $begin = hrtime(true);
    $coroutines = [];
    for ($i = 0; $i < $calls; $i++) {
        $coroutines[] = Coroutine::create(static fn () => Coroutine::sleep(SLOW));
    }
    Coroutine::join($coroutines);
    json($response, [
        'calls' => $calls,
        'each_ms' => SLOW * 1000,
        'total_ms' => round((hrtime(true) - $begin) / 1e6, 1),
    ]);
}

/** W6 stage 2: the body is kept under a UUID, which is the answer; then it is deleted. */
function keep(Request $request, Response $response): void
{
    $uuid = uuid();
    $file = sys_get_temp_dir() . "/$uuid";
    $bytes = file_put_contents($file, $request->rawContent());
    unlink($file);
    json($response, ['uuid' => $uuid, 'bytes' => $bytes]);
}

/** W6 stage 3: the body is kept, read back and sent back; then it is deleted. */
function mirror(Request $request, Response $response): void
{
    $file = sys_get_temp_dir() . '/' . uuid();
    file_put_contents($file, $request->rawContent());
    $body = file_get_contents($file);
    unlink($file);
    $response->header('Content-Type', 'application/octet-stream');
    $response->end($body);
}

function missing(Response $response): void
{
    $response->status(404);
    $response->header('Content-Type', 'text/plain; charset=utf-8');
    $response->end("not found\n");
}

/** A random UUID: version 4 of RFC 9562. */
function uuid(): string
{
    $bytes = random_bytes(16);
    $bytes[6] = chr(ord($bytes[6]) & 0x0f | 0x40);
    $bytes[8] = chr(ord($bytes[8]) & 0x3f | 0x80);
    return vsprintf('%s%s-%s-%s-%s-%s%s%s', str_split(bin2hex($bytes), 4));
}
