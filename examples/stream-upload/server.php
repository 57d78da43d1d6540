<?php

declare(strict_types=1);

// An upload of any size in constant memory: the handler begins with the head and reads the body as it arrives.
// Try: curl -T big.iso http://127.0.0.1:8080/

use Apus\Http\Request;
use Apus\Http\Response;
use Apus\Http\Server;

$server = new Server('127.0.0.1', (int) ($argv[1] ?? 8080));

$server->set([
    'stream_request_body' => true,
    'package_max_length' => '16G',
]);

$server->on('request', function (Request $request, Response $response): void {
    $hash = hash_init('sha256');
    $bytes = 0;
    // Waits for the client, and the client for this loop: nothing piles up in between. Empty at the end.
    while (($part = $request->read()) !== '') {
        hash_update($hash, $part);
        $bytes += strlen($part);
    }
    $response->header('Content-Type', 'application/json');
    $response->end(json_encode([
        'bytes' => $bytes,
        'sha256' => hash_final($hash),
        'memory_peak' => memory_get_peak_usage(),
    ]));
});

$server->start();
