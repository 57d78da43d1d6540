<?php

/** The routes for Apus and Swoole, whose requests and responses are alike. */

declare(strict_types=1);

namespace Bench;

require __DIR__ . '/work.php';

function handler(string $dir): \Closure
{
    return static function (object $request, object $response) use ($dir): void {
        switch ($request->server['request_uri']) {
            case '/':
                $response->header('Content-Type', 'text/plain');
                $response->end(HELLO);
                break;
            case '/json':
                $response->header('Content-Type', 'application/json');
                $response->end(listing());
                break;
            case '/upload':
                $response->header('Content-Type', 'text/plain');
                $response->end(upload($dir, $request->rawContent()));
                break;
            case '/echo':
                $response->header('Content-Type', 'application/octet-stream');
                $response->end(echoed($dir, $request->rawContent()));
                break;
            default:
                $response->status(404);
                $response->end('Not Found');
        }
    };
}
