<?php

declare(strict_types=1);

// Server-sent events: one answer that goes on for as long as somebody listens. Try: curl -N http://127.0.0.1:8080/

use Apus\Coroutine;
use Apus\Http\Request;
use Apus\Http\Response;
use Apus\Http\Server;

$server = new Server('127.0.0.1', (int) ($argv[1] ?? 8080));

$server->on('request', function (Request $request, Response $response): void {
    $response->header('Content-Type', 'text/event-stream');
    $response->header('Cache-Control', 'no-store');
    $last = (int) ($request->header['last-event-id'] ?? 0);

    // write() waits while the client is slow; it is false, and isWritable() too, when the client has gone.
    for ($id = $last + 1; $response->isWritable(); $id++) {
        $event = json_encode(['time' => date('H:i:s'), 'worker' => getmypid()]);
        if (!$response->write("id: $id\ndata: $event\n\n")) {
            break;
        }
        Coroutine::sleep(1);
    }
});

$server->start();
