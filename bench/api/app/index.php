<?php

declare(strict_types=1);

// The API behind php-fpm: a request is a run of this, with a connection that stays.

namespace Bench;

require __DIR__ . '/api.php';

$path = strtok($_SERVER['REQUEST_URI'], '?');
$query = static function (string $statement, array $values): array {
    $pdo = new \PDO("mysql:unix_socket={$_SERVER['DB_SOCKET']};dbname={$_SERVER['DB_NAME']}", $_SERVER['DB_USER'], $_SERVER['DB_PASSWORD'], OPTIONS + [\PDO::ATTR_PERSISTENT => true]);
    return rows($pdo, $statement, $values);
};
$authorization = $_SERVER['HTTP_AUTHORIZATION'] ?? null;
[$status, $text] = match (true) {
    $path === '/v1/events' && $_SERVER['REQUEST_METHOD'] === 'POST' => event((string) file_get_contents('php://input'), appender($_SERVER['BENCH_FILES'] . '/events')),
    $path === '/v1/campaigns' => campaigns($_GET['after'] ?? null, $authorization, $query),
    preg_match('~^/v1/campaigns/(\d+)$~D', $path, $match) === 1 => campaign($match[1], $authorization, $query),
    $path === '/' => [200, '{"ok":true}'],
    default => [404, '{"error":"not found"}'],
};
http_response_code($status);
header('Content-Type: application/json');
header('Content-Length: ' . strlen($text));
echo $text;
