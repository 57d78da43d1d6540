--TEST--
Swoole\Process\Pool: shutdown is told when it begins, what runs is told by the properties, processes share the pool's queue
--INI--
apus.swoole_compat=1
--EXTENSIONS--
sysvmsg
--FILE--
<?php
use Swoole\Process\Pool;

$key = 0x5A000000 | getmypid() & 0xffffff;
$pool = new Pool(2, SWOOLE_IPC_MSGQUEUE, $key);
$pool->on('start', fn (Pool $pool) => printf("start %d\n", $pool->running));
$pool->on('shutdown', fn (Pool $pool) => printf("shutdown %d\n", $pool->running));
$pool->on('workerstart', function (Pool $pool, int $worker) {
    if ($worker === 0) {
        $pool->getProcess()->push('handed over') || print("not pushed\n");
        sleep(30);
        return;
    }
    $ended = false;
    Swoole\Process::signal(SIGTERM, function () use (&$ended) {
        $ended = true;
    });
    echo $pool->getProcess()->pop(), "\n";
    $pool->shutdown();
    while (!$ended) {
        usleep(1000);
    }
    // Long after the order: the master has said it before.
    usleep(100_000);
    printf("worker ends %d\n", $pool->workerRunning);
});
$pool->on('workerstop', function (Pool $pool, int $worker) {
    $worker === 1 && printf("worker stops %d\n", $pool->workerRunning);
});
$pool->start();
msg_remove_queue(msg_get_queue($key));
?>
--EXPECT--
start 1
handed over
shutdown 0
worker ends 1
worker stops 0
