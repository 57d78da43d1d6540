<?php
// Within the handler of a request.
require SAMPLES_DIRECTORY . '/application.php';
$server = new Apus\Http\Server('127.0.0.1', 8090);
$server->set(['worker_num' => 1, 'task_worker_num' => 1]);
$server->on('task', fn ($server, $id, $worker, $data) => null);
$cache = new Apus\Cache(64 << 20);
$limiter = new Apus\RateLimiter(1_000, rate: 100, per: 60, burst: 20);
$server->on('request', function ($request, $response) use ($server, $cache, $limiter) {
    [$path, $rate, $rows, $address, $workerId] = ['a.png', 2, [1, 2, 3], '127.0.0.1', 0];
// the sample
    if ($response->isWritable()) {
        $response->end();
    }
});
$server->start();
