<?php

/** Front controller of the contenders that start PHP anew for each request: php-fpm and mod_php. */

declare(strict_types=1);

require __DIR__ . '/work.php';

[$status, $type, $body] = match ($_SERVER['REQUEST_METHOD'] . ' ' . $_SERVER['REQUEST_URI']) {
    'GET /' => [200, 'text/plain', Bench\HELLO],
    'GET /json' => [200, 'application/json', Bench\listing()],
    'POST /upload' => [200, 'text/plain', Bench\upload($_SERVER['BENCH_FILES'], file_get_contents('php://input'))],
    'POST /echo' => [
        200, 'application/octet-stream', Bench\echoed($_SERVER['BENCH_FILES'], file_get_contents('php://input')),
    ],
    default => [404, 'text/plain', 'Not Found'],
};
http_response_code($status);
header('Content-Type: ' . $type);
header('Content-Length: ' . strlen($body));
echo $body;
