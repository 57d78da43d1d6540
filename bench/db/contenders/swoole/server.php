<?php

/** usage: php server.php PORT CONFIG */

declare(strict_types=1);

namespace Bench\Db;

use Swoole\Database\PDOConfig;
use Swoole\Database\PDOPool;
use Swoole\Http\Request;
use Swoole\Http\Response;
use Swoole\Http\Server;

[, $port, $file] = $argv;
$config = require $file;
require $config['app'] . '/tests.php';

$server = new Server('127.0.0.1', (int) $port, SWOOLE_BASE);
$server->set([
    'worker_num' => $config['workers'],
    'backlog' => 4096,
    // Without it one worker takes most connections, and the pools of the others stay idle.
    'enable_reuse_port' => true,
    'hook_flags' => SWOOLE_HOOK_ALL,
    'log_level' => SWOOLE_LOG_WARNING,
]);
$services = null;
$server->on('workerStart', function () use ($config, &$services): void {
    $database = (new PDOConfig())
        ->withHost($config['host'])
        ->withPort($config['port'])
        ->withUnixSocket($config['socket'] === '' ? null : $config['socket'])
        ->withDbName($config['name'])
        ->withCharset('utf8mb4')
        ->withUsername($config['user'])
        ->withPassword($config['password']);
    $services = new Services($config, new EnginePool(new PDOPool($database, $config['pool'])), new ArrayCache());
});
$server->on('request', function (Request $request, Response $response) use (&$services): void {
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
