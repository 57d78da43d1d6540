<?php

declare(strict_types=1);

// Scores that all workers share, in memory: a row a player, and an index that keeps them in order.
//   apus run examples/tables/server.php
// Try: curl -d ann=5 http://127.0.0.1:8080/    curl http://127.0.0.1:8080/ann    curl http://127.0.0.1:8080/    (the ten best)

use Apus\Http\Request;
use Apus\Http\Response;
use Apus\Http\Server;
use Apus\Table;
use Apus\TableException;

$snapshot = sys_get_temp_dir() . '/apus-example-tables.snapshot';

// Made before the workers are forked, so that they share it.
$players = new Table(10_000);
$players->column('score', Table::TYPE_INT);
$players->column('seen', Table::TYPE_UINT32);
$players->index('score', 'score');
$players->create();
if (is_file($snapshot)) {
    try {
        $players->restore($snapshot);
    } catch (TableException $e) {
        error_log($e->getMessage());
    }
}

$server = new Server('127.0.0.1', (int) ($argv[1] ?? 8080));
$server->set(['worker_num' => 2]);

$server->on('request', function (Request $request, Response $response) use ($players): void {
    $name = substr($request->server['request_uri'], 1);
    try {
        foreach ($request->post ?? [] as $player => $points) {
            // One step over all workers: no point is lost.
            $players->incr((string) $player, 'score', (int) $points);
            $players->set((string) $player, ['seen' => time()]);
        }
        $answer = $name !== ''
            ? $players->get($name)
            : $players->select('score', columns: ['score'], limit: 10, descending: true);
    } catch (TableException $e) {
        $response->status($e->getCode() === TableException::FULL ? 507 : 400);
        $answer = ['error' => $e->getMessage()];
    }
    $response->header('Content-Type', 'application/json');
    $response->end(json_encode($answer));
});

$server->on('shutdown', fn () => $players->save($snapshot));

$server->start();
