<?php

declare(strict_types=1);

// A few database connections for many requests. Without DB_HOST it uses a SQLite file, so that it runs anywhere.
//   DB_HOST=127.0.0.1 DB_NAME=test DB_USER=me DB_PASSWORD=secret apus run examples/pool/server.php
// Try: curl -d 'milk' http://127.0.0.1:8080/    curl http://127.0.0.1:8080/    curl http://127.0.0.1:8080/stats

use Apus\ConnectionPool;
use Apus\Database\PDOConfig;
use Apus\Database\PDOPool;
use Apus\Http\Request;
use Apus\Http\Response;
use Apus\Http\Server;

$server = new Server('127.0.0.1', (int) ($argv[1] ?? 8080));
$pool = null;

// A pool belongs to one worker, so each makes its own.
$server->on('workerstart', function () use (&$pool): void {
    $config = new PDOConfig;
    if ($host = getenv('DB_HOST')) {
        $config->withHost($host)->withDbname((string) getenv('DB_NAME'))
            ->withUsername((string) getenv('DB_USER'))->withPassword((string) getenv('DB_PASSWORD'));
    } else {
        $config->withDriver('sqlite')->withDbname(sys_get_temp_dir() . '/apus-example-pool.sqlite');
    }
    // At most 5 connections a worker; a request waits 2 s for one, then it fails.
    $pool = (new PDOPool($config, 5))->set(['wait_timeout' => 2, 'max_lifetime' => 600]);
    $pool->use(fn (PDO $pdo) => $pdo->exec('CREATE TABLE IF NOT EXISTS notes (text VARCHAR(200))'));
});

$server->on('request', function (Request $request, Response $response) use (&$pool): void {
    try {
        $answer = match (true) {
            $request->server['request_uri'] === '/stats' => $pool->stats(),
            $request->server['request_method'] === 'POST' => $pool->use(function (PDO $pdo) use ($request): array {
                $pdo->prepare('INSERT INTO notes VALUES (?)')->execute([substr($request->getContent(), 0, 200)]);
                return ['stored' => true];
            }),
            default => $pool->use(fn (PDO $pdo) => $pdo->query('SELECT text FROM notes')->fetchAll(PDO::FETCH_COLUMN)),
        };
        $response->header('Content-Type', 'application/json');
        $response->end(json_encode($answer));
    } catch (ConnectionPool\Exception $e) {
        // The pool is exhausted, or the database cannot be reached: somebody else may try again.
        error_log($e->getMessage());
        $response->status(503);
        $response->end("try again later\n");
    }
});

$server->start();
