<?php

declare(strict_types=1);

// Work that a request does not wait for, work that it waits for, and work by the clock, on processes of their own.
//   apus run examples/tasks/server.php
// Try: curl http://127.0.0.1:8080/mail?to=ann    curl http://127.0.0.1:8080/thumbnails    curl http://127.0.0.1:8080/primes?below=200000
//      curl http://127.0.0.1:8080/    (what is going on)

use Apus\Http\Request;
use Apus\Http\Response;
use Apus\Http\Server;
use Apus\Server\TaskException;

function primes(int $below): int
{
    $count = 0;
    for ($n = 2; $n < $below; $n++) {
        if ($n % 10_000 === 0) {
            Apus\progress($n / $below);
        }
        for ($by = 2; $by * $by <= $n && $n % $by !== 0; $by++);
        $count += $by * $by > $n ? 1 : 0;
    }

    return $count;
}

$server = new Server('127.0.0.1', (int) ($argv[1] ?? 8080));
$server->set(['worker_num' => 1, 'task_worker_num' => 2]);

// Runs in a task worker; what it returns goes back.
$server->on('task', function (Server $server, int $id, int $from, array $data): mixed {
    switch ($data['do']) {
        case 'mail':
            usleep(100_000); // where the mail would be sent

            return "mail to {$data['to']} sent by worker {$server->worker_id}";
        case 'thumbnail':
            return strrev($data['image']);
        case 'tidy':
            error_log('tidied up');
    }

    return null;
});

// Both run in the worker that handed the task over.
$server->on('finish', fn (Server $server, int $id, mixed $result) => error_log("task $id: $result"));
$server->on('taskerror', fn (Server $server, int $id, string $reason) => error_log("task $id failed: $reason"));

$server->on('workerstart', function (Server $server, int $id): void {
    if ($id === 0) {
        // One task worker takes each run; the name keeps a reload from adding a second one.
        $server->taskCron('*/5 * * * *', ['do' => 'tidy'], 'tidy');
    }
});

$server->on('request', function (Request $request, Response $response) use ($server): void {
    $answer = match ($request->server['request_uri']) {
        '/mail' => ['task' => $server->task(['do' => 'mail', 'to' => $request->get['to'] ?? 'nobody'])],
        '/thumbnails' => $server->taskWaitMulti(
            array_map(fn (string $image) => ['do' => 'thumbnail', 'image' => $image], ['one', 'two', 'three']),
            5.0,
        ),
        '/primes' => count_primes($server, (int) ($request->get['below'] ?? 100_000)),
        default => array_filter($server->stats(), fn (string $name) => str_contains($name, 'task'), ARRAY_FILTER_USE_KEY),
    };
    $response->header('Content-Type', 'application/json');
    $response->end(json_encode($answer));
});

function count_primes(Server $server, int $below): array
{
    $steps = 0;
    try {
        // Other requests are served meanwhile: the worker only waits.
        $count = $server->compute('primes', [$below], function (float $share) use (&$steps): void {
            $steps++;
        }, 10.0);
    } catch (TaskException $e) {
        return ['error' => $e->getMessage()];
    }

    return ['primes' => $count, 'steps' => $steps];
}

$server->start();
