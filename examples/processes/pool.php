<?php

declare(strict_types=1);

// Four processes that are kept running and share the work of a queue: `apus run examples/processes/pool.php`.
// Kill some of them and see; `kill -USR1` the master for new ones; Ctrl-C ends all when they have done what they do.

use Apus\MessageQueue;
use Apus\Process\Pool;

$key = ftok(__FILE__, 'q');
$pool = new Pool(4, Apus\IPC_MSGQUEUE, $key);

$pool->on('start', function (Pool $pool) use ($key) {
    echo "master {$pool->master_pid}\n";
    $queue = new MessageQueue($key);
    for ($number = 1; $number <= 100; $number++) {
        $queue->push((string) ($number * 1_000_003));
    }
});
$pool->on('workerstart', fn (Pool $pool, int $id) => print("worker $id is process {$pool->workerPid}\n"));
$pool->on('message', function (Pool $pool, string $data) {
    $factors = [];
    for ($left = (int) $data, $factor = 2; $left > 1; $factor++) {
        for (; $left % $factor === 0; $left = intdiv($left, $factor)) {
            $factors[] = $factor;
        }
    }
    echo "worker {$pool->workerId}: $data = ", implode(' * ', $factors), "\n";
});
$pool->on('shutdown', fn () => (new MessageQueue($key))->destroy());
$pool->start();
