<?php

declare(strict_types=1);

// php apus.php PORT FILES SOCKET USER PASSWORD DATABASE

namespace Bench;

use Apus\Database\PDOConfig;
use Apus\Database\PDOPool;
use Apus\Http\{Request, Response, Router, Server};

require __DIR__ . '/api.php';

[, $port, $files, $socket, $user, $password, $database] = $argv;

$server = new Server('127.0.0.1', (int) $port);
$server->set(['worker_num' => 1, 'backlog' => 4096]);
$pool = $append = null;
$server->on('workerstart', static function () use (&$pool, &$append, $files, $socket, $user, $password, $database): void {
    $config = (new PDOConfig)->withUnixSocket($socket)->withDbname($database)->withUsername($user)->withPassword($password)->withOptions(KEPT);
    $pool = new PDOPool($config, 8);
    $append = appender("$files/events");
});
// A request has one connection, for all its queries.
$asked = static function (\Closure $work) use (&$pool): array {
    return $pool->use(static fn (\PDO $pdo): array
    => $work(static fn (string $statement, array $values): array => kept($pdo, $statement, $values)));
};
$send = static function (Response $response, array $answer): void {
    $response->status($answer[0]);
    $response->header('Content-Type', 'application/json');
    $response->end($answer[1]);
};
$router = new Router;
$router->get('/', static fn (Request $request, Response $response) => $send($response, [200, '{"ok":true}']));
$router->post('/v1/events', static function (Request $request, Response $response) use ($send, &$append): void {
    $send($response, event((string) $request->getContent(), $append));
});
$router->get('/v1/campaigns', static fn (Request $request, Response $response)
    => $send($response, $asked(static fn (\Closure $query): array
        => campaigns($request->get['after'] ?? null, $request->header['authorization'] ?? null, $query))));
$router->get('/v1/campaigns/{id:\d+}', static fn (Request $request, Response $response, array $params)
    => $send($response, $asked(static fn (\Closure $query): array
        => campaign($params['id'], $request->header['authorization'] ?? null, $query))));
$server->on('request', $router);
$server->start();
