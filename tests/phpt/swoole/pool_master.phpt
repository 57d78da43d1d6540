--TEST--
Swoole\Process\Pool: timers and coroutines of the callback of start go on in the master; a worker that blocks is killed
--INI--
apus.swoole_compat=1
--FILE--
<?php
$lock = new Swoole\Atomic();
$pool = new Swoole\Process\Pool(2, SWOOLE_IPC_NONE);
$pool->set(['enable_coroutine' => true, 'max_wait_time' => 1]);
$pool->on('workerStart', function ($pool, int $id) use ($lock) {
    if ($id === 0) {
        $lock->wakeup();
        (new Swoole\Atomic())->wait(-1);
    }
    Swoole\Coroutine\System::sleep(60);
});
$pool->on('start', function ($pool) use ($lock) {
    $master = getmypid();
    go(function () use ($master) {
        Co::sleep(0.01);
        echo 'coroutine ', json_encode(getmypid() === $master), "\n";
    });
    Swoole\Timer::tick(20, function (int $timer) use ($pool, $master) {
        static $round = 0;
        echo 'tick ', json_encode(getmypid() === $master), "\n";
        if (++$round === 3) {
            Swoole\Timer::clear($timer);
            $pool->shutdown();
        }
    });
    echo "start\n";
});
$pool->on('shutdown', fn () => print("shutdown\n"));
$pool->start();
echo "over\n";
?>
--EXPECTF--
start
coroutine true
tick true
tick true
tick true
shutdown
%Aover
