<?php

/** usage: php server.php PORT FILES laravel|symfony. One request at a time, as the frameworks' own runtimes have it. */

declare(strict_types=1);

use Swoole\Http\Server;
use Symfony\Component\HttpFoundation\Request;

require __DIR__ . '/app.php';

[, $port, $folder, $name] = $argv;

$server = new Server('127.0.0.1', (int) $port, SWOOLE_BASE);
$server->set(['worker_num' => 1, 'backlog' => 4096, 'enable_coroutine' => false, 'log_level' => SWOOLE_LOG_WARNING]);
$app = null;
$server->on('workerStart', function () use ($name, $folder, &$app): void {
    $app = Bench\Compat\app($name, $folder);
});
$server->on('request', function (object $request, object $response) use (&$app): void {
    $variables = array_change_key_case($request->server, CASE_UPPER);
    foreach ($request->header as $field => $value) {
        $variables['HTTP_' . strtoupper(strtr($field, '-', '_'))] = $value;
    }
    $answer = $app(new Request($request->get ?? [], $request->post ?? [], [], $request->cookie ?? [], [], $variables));
    $response->status($answer->getStatusCode());
    foreach ($answer->headers->allPreserveCaseWithoutCookies() as $field => $values) {
        $response->header($field, $values);
    }
    $response->end($answer->getContent());
});
$server->start();
