<?php

declare(strict_types=1);

// What the programs of the front door's benchmark answer, for Apus and Swoole, whose requests and responses are alike.

namespace Bench;

function handler(string $site): \Closure
{
    $data = (string) file_get_contents("$site/data.json");
    return static function (object $request, object $response) use ($data): void {
        if ($request->server['request_uri'] === '/data') {
            $response->header('Content-Type', 'application/json');
            $response->end($data);
            return;
        }
        $response->header('Content-Type', 'text/plain');
        $response->end('Hello, World!');
    };
}
