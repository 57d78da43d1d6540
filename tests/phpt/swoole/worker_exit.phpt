--TEST--
workerexit is told while a worker that is to end has something to wait for, again and again; without that not at all
--INI--
apus.swoole_compat=1
--FILE--
<?php
foreach ([true, false] as $ticks) {
    $server = new Swoole\Server('127.0.0.1', 0);
    $server->set(['worker_num' => 1, 'log_level' => SWOOLE_LOG_ERROR]);
    $server->on('receive', fn () => null);
    $told = 0;
    $timer = null;
    $server->on('workerstart', function ($server) use ($ticks, &$timer) {
        $ticks && $timer = Swoole\Timer::tick(20, fn () => go(fn () => null));
        Swoole\Timer::after(1, fn () => $server->shutdown());
    });
    $server->on('workerexit', function () use (&$told, &$timer) {
        if (++$told === 3) {
            Swoole\Timer::clear($timer);
        }
    });
    $server->on('workerstop', function () use (&$told) {
        echo "told $told times\n";
    });
    $server->start();
}

// A pool tells it, too, and once more when nothing is left.
$pool = new Swoole\Process\Pool(1, SWOOLE_IPC_NONE, 0, true);
$running = true;
$told = 0;
$pool->on('workerstart', function ($pool) use (&$running) {
    $pool->shutdown();
    while ($running) {
        Swoole\Coroutine::sleep(0.02);
    }
});
$pool->on('workerexit', function () use (&$running, &$told) {
    $running = ++$told < 3;
});
$pool->on('workerstop', function () use (&$told) {
    echo "told $told times\n";
});
$pool->start();
?>
--EXPECT--
told 3 times
told 0 times
told 4 times
