--TEST--
Swoole\Process and its Pool: objects of their own names, false and a warning
--INI--
apus.swoole_compat=1
--FILE--
<?php
use Swoole\Process;
use Swoole\Process\Pool;

$process = new Process(callback: function (Process $child) {
    $child->write('from ' . get_class($child) . ' ' . ($child->pid === getmypid() ? 'itself' : '?'));
    $child->exit(3);
});
var_dump(
    (new ReflectionProperty(Process::class, 'pid'))->hasType(),
    $process->start() === $process->pid,
    $process->read(),
);
$ended = Process::wait();
var_dump(
    $ended['pid'] === $process->pid,
    $ended['code'],
    Process::wait(false),
    Process::kill(0x7ffffff, 0),
    swoole_last_error() === 3,
);
var_dump($process->write(''), Process::signal(SIGKILL, fn () => 0));
go(function () {
    try {
        (new Process(fn () => 0))->start();
    } catch (Swoole\Error $e) {
        echo $e->getMessage(), "\n";
    }
});
foreach ([[fn () => new Process(fn () => 0, false, 77)], [fn () => new Pool(0)]] as [$make]) {
    try {
        $make();
    } catch (Swoole\Exception $e) {
        echo get_class($e), ': ', $e->getMessage(), "\n";
    }
}
$pool = new Pool(1, SWOOLE_IPC_UNIXSOCK);
var_dump($pool->on('nothing', fn () => 0));
$pool->on('workerStart', function (Pool $pool, int $worker) {
    echo "worker $worker ", get_class($pool->getProcess()), "\n";
    $pool->shutdown();
});
$pool->start();
echo "after the pool\n";
?>
--EXPECTF--
bool(false)
bool(true)
string(26) "from Swoole\Process itself"
bool(true)
int(3)
bool(false)
bool(false)
bool(true)

Warning: Swoole\Process::write(): Argument #1 ($data) cannot be empty in %s on line %d

Warning: Swoole\Process::signal(): Argument #1 ($signal_no) must be a signal that can be handled, 9 given: SIGKILL and SIGSTOP cannot be caught in %s on line %d
bool(false)
bool(false)
must be forked outside the coroutine
Swoole\Exception: Swoole\Process::__construct(): Argument #3 ($pipe_type) must be 0 (no pipe), SOCK_STREAM (1) or SOCK_DGRAM (2), 77 given
Swoole\Exception: Swoole\Process\Pool::__construct(): Argument #1 ($worker_num) must be between 1 and 4096 workers, 0 given

Warning: Swoole\Process\Pool::on(): a pool has no event "nothing": there are start, shutdown, workerstart, workerstop, workerexit, message in %s on line %d
bool(false)
worker 0 Swoole\Process
after the pool
