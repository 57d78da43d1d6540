<?php

/** Front controller of the contenders that start PHP anew for each request: php-fpm and mod_php. */

declare(strict_types=1);

namespace Bench\Db;

$config = require __DIR__ . '/config.php';
require $config['app'] . '/tests.php';

try {
    $body = answer($_SERVER['REQUEST_URI'], new Services($config, new PersistentConnection($config), new ApcuCache()));
    http_response_code($body === null ? 404 : 200);
    $body ??= 'Not Found';
} catch (\Throwable $error) {
    error_log((string) $error);
    http_response_code(500);
    $body = 'failed';
}
header('Content-Type: application/json');
header('Content-Length: ' . strlen($body));
echo $body;
