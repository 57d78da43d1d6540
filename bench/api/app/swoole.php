<?php

declare(strict_types=1);

// php swoole.php PORT FILES SOCKET USER PASSWORD DATABASE: SWOOLE_BASE with one worker is a single process, as quick as Swoole gets.

namespace Bench;

use Swoole\Database\PDOConfig;
use Swoole\Database\PDOPool;
use Swoole\Http\{Request, Response, Server};

require __DIR__ . '/api.php';

[, $port, $files, $socket, $user, $password, $database] = $argv;

$server = new Server('127.0.0.1', (int) $port, SWOOLE_BASE);
$server->set(['worker_num' => 1, 'backlog' => 4096, 'log_level' => SWOOLE_LOG_WARNING, 'hook_flags' => SWOOLE_HOOK_ALL & ~SWOOLE_HOOK_FILE]);
$pool = $append = null;
$server->on('workerStart', static function () use (&$pool, &$append, $files, $socket, $user, $password, $database): void {
    $config = (new PDOConfig)->withUnixSocket($socket)->withDbname($database)->withUsername($user)->withPassword($password)->withOptions(KEPT);
    $pool = new PDOPool($config, 8);
    $append = appender("$files/events");
});
// A request has one connection, for all its queries.
$asked = static function (\Closure $work) use (&$pool): array {
    $pdo = $pool->get();
    try {
        return $work(static fn (string $statement, array $values): array => kept($pdo, $statement, $values));
    } finally {
        $pool->put($pdo);
    }
};
$server->on('request', static function (Request $request, Response $response) use ($asked, &$append): void {
    $path = $request->server['request_uri'];
    $authorization = $request->header['authorization'] ?? null;
    [$status, $text] = match (true) {
        $path === '/v1/events' && $request->server['request_method'] === 'POST' => event((string) $request->rawContent(), $append),
        $path === '/v1/campaigns' => $asked(static fn (\Closure $query): array => campaigns($request->get['after'] ?? null, $authorization, $query)),
        preg_match('~^/v1/campaigns/(\d+)$~D', $path, $match) === 1 => $asked(static fn (\Closure $query): array => campaign($match[1], $authorization, $query)),
        $path === '/' => [200, '{"ok":true}'],
        default => [404, '{"error":"not found"}'],
    };
    $response->status($status);
    $response->header('Content-Type', 'application/json');
    $response->end($text);
});
$server->start();
