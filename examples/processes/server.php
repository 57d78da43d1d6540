<?php

declare(strict_types=1);

// A server with a process of its own beside the workers: it counts what they report, and answers how often a page was asked for.
// `apus run examples/processes/server.php 8080`, then http://127.0.0.1:8080/any/page and http://127.0.0.1:8080/counts.

use Apus\Http\{Request, Response, Server};
use Apus\Process;
use Apus\Table;

$counts = new Table(1000);
$counts->column('count', Table::TYPE_INT);
$counts->create();

$server = new Server('127.0.0.1', (int) ($argv[1] ?? 8080));

// Workers write to its pipe; one process alone changes the numbers. When it ends, the server starts it again.
$counter = new Process(function (Process $process) use ($counts) {
    $process->name('counter');
    while (($page = $process->read()) !== '') {
        if ($counts->exist($page) || $counts->count() < 1000) {
            $counts->incr($page, 'count');
        }
    }
}, enable_coroutine: true);
$server->addProcess($counter);

$server->on('request', function (Request $request, Response $response) use ($counter, $counts) {
    $page = $request->server['request_uri'];
    if ($page === '/counts') {
        $response->header('Content-Type', 'application/json');
        $response->end(json_encode(iterator_to_array($counts), JSON_THROW_ON_ERROR));
        return;
    }
    // Waits only while the counter is far behind.
    $counter->write(substr($page, 0, 1000));
    $response->end("counted\n");
});
$server->start();
