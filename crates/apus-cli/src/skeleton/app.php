<?php

declare(strict_types=1);

use Apus\Http\Request;
use Apus\Http\Response;

function handle(Request $request, Response $response): void
{
    switch ($request->server['request_uri']) {
        case '/':
            $response->header('Content-Type', 'text/plain; charset=utf-8');
            $response->end("Hello from {{name}}\n");
            break;

        case '/health':
            $response->header('Content-Type', 'application/json');
            $response->end('{"status":"ok"}');
            break;

        default:
            $response->status(404);
            $response->end("not found\n");
    }
}
