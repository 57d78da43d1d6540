--TEST--
Under the names of Swoole the callback of workerstop may run coroutines of its own to their end
--INI--
apus.swoole_compat=1
--FILE--
<?php
$last = function () {
    $scheduler = new Swoole\Coroutine\Scheduler();
    $scheduler->add(function (string $text) {
        Co::sleep(0.01);
        echo $text, "\n";
    }, 'first job');
    $scheduler->add(fn () => print("second job\n"));
    var_dump($scheduler->start());
    Co\run(function () {
        usleep(1000);
        echo "run\n";
    });
    echo "stopped\n";
};

echo "-- server\n";
$server = new Swoole\Server('127.0.0.1', 0);
$server->set(['worker_num' => 1, 'log_level' => SWOOLE_LOG_ERROR]);
$server->on('receive', fn () => null);
$server->on('workerstart', function ($server) {
    var_dump(Co\run(fn () => null));
    $server->shutdown();
});
$server->on('workerstop', $last);
$server->start();

echo "-- pool\n";
$pool = new Swoole\Process\Pool(1, SWOOLE_IPC_NONE, 0, true);
$pool->on('workerstart', fn ($pool) => $pool->shutdown());
$pool->on('workerstop', $last);
$pool->start();
?>
--EXPECTF--
-- server

Warning: Swoole\Coroutine\Scheduler::start(): eventLoop has already been created. unable to start Swoole\Coroutine\Scheduler in %s on line %d
bool(false)
second job
first job
bool(true)
run
stopped
-- pool
second job
first job
bool(true)
run
stopped
