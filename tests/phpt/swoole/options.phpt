--TEST--
Swoole\Coroutine::set() takes sizes of stacks as there, and getOptions() gives back whatever was set; stats() counts
--INI--
apus.swoole_compat=1
--FILE--
<?php
use Swoole\Coroutine;

$size = function (mixed $bytes): int {
    Coroutine::set(['c_stack_size' => $bytes]);
    return Coroutine::stats()['c_stack_size'] >> 10;
};
var_dump($size(1 << 20), $size(1), $size(511 << 10), $size(-1), $size('256K'));

$scheduler = new Coroutine\Scheduler();
$scheduler->set(['max_coroutine' => 100, 'deadlock_check_limit' => 64, 'of_nobody' => [1, 2]]);
$options = $scheduler->getOptions();
var_dump($options['max_coroutine'], $options['deadlock_check_limit'], $options['of_nobody']);
Coroutine::set(['of_nobody' => 3]);
var_dump(Coroutine::getOptions()['of_nobody'], isset(Apus\Coroutine::getOptions()['of_nobody']));

Coroutine::set(['http2_enable_push' => -1]);
Coroutine::set(['http2_enable_push' => 1]);

Swoole\Process::signal(SIGUSR1, fn () => print("signal\n"));
[$a, $b] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
Swoole\Event::add($a, fn () => null);
var_dump(Coroutine::stats()['signal_listener_num'], Coroutine::stats()['event_num']);
Swoole\Event::del($a);
var_dump(Coroutine::stats()['event_num']);

// A script with nothing but a handler ends when its condition holds.
Coroutine::set(['exit_condition' => fn () => Coroutine::stats()['signal_listener_num'] === 0]);
Swoole\Process::signal(SIGUSR1, function () {
    echo "signal\n";
    Swoole\Process::signal(SIGUSR1, null);
});
$me = getmypid();
$child = new Swoole\Process(function () use ($me) {
    Swoole\Process::kill($me, SIGUSR1);
});
$child->start();
Swoole\Process::wait();
register_shutdown_function(fn () => print("end\n"));
?>
--EXPECTF--
int(1024)
int(64)
int(512)
int(16384)
int(256)
int(100)
int(64)
array(2) {
  [0]=>
  int(1)
  [1]=>
  int(2)
}
int(3)
bool(false)

Warning: http2_enable_push must be greater than or equal to 0, got -1 in %s on line %d
int(1)
int(1)
int(0)
signal
end
