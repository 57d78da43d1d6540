<?php

/** The tests as handlers of Apus or Swoole, whose servers, configurations and pools are alike. */

declare(strict_types=1);

namespace Bench\Db;

require __DIR__ . '/tests.php';

/**
 * @param class-string $connection of the engine's PDOConfig
 * @param class-string $pool of its PDOPool
 */
function serve(object $server, array $config, string $connection, string $pool): void
{
    $services = null;
    $server->on('workerStart', function () use ($config, $connection, $pool, &$services): void {
        $database = (new $connection())
            ->withHost($config['host'])
            ->withPort($config['port'])
            ->withUnixSocket($config['socket'] === '' ? null : $config['socket'])
            ->withDbName($config['name'])
            ->withCharset('utf8mb4')
            ->withUsername($config['user'])
            ->withPassword($config['password']);
        $services = new Services($config, new EnginePool(new $pool($database, $config['pool'])), new ArrayCache());
    });
    $server->on('request', function (object $request, object $response) use (&$services): void {
        try {
            $body = answer($request->server['request_uri'], $services);
            $response->status($body === null ? 404 : 200);
            $body ??= 'Not Found';
        } catch (\Throwable $error) {
            error_log((string) $error);
            $response->status(500);
            $body = 'failed';
        }
        $response->header('Content-Type', 'application/json');
        $response->end($body);
    });
    $server->start();
}
