--TEST--
Swoole\Server: timers and coroutines that a callback of the master begins go on there
--INI--
apus.swoole_compat=1
--FILE--
<?php
$server = new Swoole\Server('127.0.0.1', 0);
$server->set(['worker_num' => 1, 'log_level' => SWOOLE_LOG_ERROR, 'blocked_loop_warn' => 0]);
$server->on('receive', fn () => null);
$ticks = [];
$server->on('start', function (Swoole\Server $server) use (&$ticks) {
    go(function () use (&$ticks) {
        Apus\Coroutine::sleep(0.005);
        $ticks[] = 'slept ' . json_encode(getmypid() === $GLOBALS['master']);
        throw new LogicException('is logged');
    });
});
$server->on('managerstart', function (Swoole\Server $server) use (&$ticks) {
    Apus\Timer::tick(10, function (int $id) use ($server, &$ticks) {
        $ticks[] = 'tick ' . json_encode([getmypid() === $server->master_pid, Apus\Coroutine::getCid() > 0]);
        if (in_array('slept true', $ticks, true) && count($ticks) >= 3 && !in_array('reload', $ticks, true)) {
            $ticks[] = 'reload';
            $server->reload();
        }
    });
});
$server->on('afterreload', fn (Swoole\Server $server) => $server->shutdown());
$server->on('shutdown', fn () => Apus\Timer::tick(10, fn () => print('never')));
$master = getmypid();
var_dump($server->start());
sort($ticks);
echo implode("\n", array_unique($ticks)), "\n";
?>
--EXPECTF--

Fatal error: Uncaught LogicException: is logged in %s:%d
Stack trace:
#0 [internal function]: {closure%S}()
#1 {main}
  thrown in %s on line 10
[%s #%d.0]	ERROR	php_swoole_server_rshutdown() (ERRNO 503): Fatal error: Uncaught LogicException: is logged in %s:%d
%A
  thrown in %s on line 10
bool(true)
reload
slept true
tick [true,true]
