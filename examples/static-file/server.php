<?php

declare(strict_types=1);

// Files of one directory, sent by the kernel without a copy through PHP.

use Apus\Http\Request;
use Apus\Http\Response;
use Apus\Http\Server;

$root = realpath($argv[2] ?? __DIR__ . '/public');
$server = new Server('127.0.0.1', (int) ($argv[1] ?? 8080));

$server->on('request', function (Request $request, Response $response) use ($root): void {
    $path = $request->server['path_info'];
    // realpath() resolves `..` and links; what then lies outside the directory does not exist.
    $file = str_contains($path, "\0") ? false : realpath($root . ($path === '/' ? '/index.html' : $path));
    if ($file === false || !str_starts_with($file, "$root/") || !is_file($file)) {
        $response->status(404);
        $response->end("not found\n");
        return;
    }
    // The content type is chosen by the extension.
    $response->sendfile($file);
});

$server->start();
