--TEST--
Swoole\Timer: of two that are due the one that was due first, round and removed, timers of before start()
--INI--
apus.swoole_compat=1
--FILE--
<?php
use Swoole\Timer;

$fired = [];
$tick = Timer::tick(20, function () use (&$fired) {
    $fired[] = 'tick';
});
Timer::after(60, function () use (&$fired, $tick) {
    $fired[] = 'after';
    Timer::clear($tick);
});
$late = Timer::after(5, fn () => 0);
usleep(70_000);
var_dump(Timer::info($late)['round'], Timer::info($late)['removed']);
Timer::tick(1, function (int $id) {
    $first = Timer::info($id);
    var_dump($first['round'], $first['removed'], Timer::clear($id), Timer::info($id)['removed'], Timer::clear($id));
    $next = Timer::after(1, fn () => 0);
    var_dump(Timer::info($next)['round'] > 0, Timer::info($next)['exec_msec']);
    Timer::clear($next);
});
Swoole\Event::wait();
echo implode(' ', array_slice($fired, -2)), "\n";

$server = new Swoole\Server('127.0.0.1', 0);
$server->set(['worker_num' => 1, 'log_level' => SWOOLE_LOG_ERROR]);
$server->on('receive', fn () => null);
$server->on('start', fn () => print("start\n"));
Timer::tick(5, function (int $id) use ($server) {
    static $count = 0;
    echo 'in the master: ';
    var_dump(getmypid() === $server->master_pid);
    if (++$count === 2) {
        Timer::clear($id);
        $server->shutdown();
    }
});
var_dump($server->start(), Timer::stats()['num']);
?>
--EXPECT--
int(0)
bool(false)
int(0)
bool(false)
bool(true)
bool(true)
bool(false)
bool(true)
int(1)
tick after
start
in the master: bool(true)
in the master: bool(true)
bool(true)
int(0)
