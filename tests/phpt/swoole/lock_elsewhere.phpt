--TEST--
Swoole\Lock: another process may unlock it, and it is free when the process that has it dies
--EXTENSIONS--
posix
--INI--
apus.swoole_compat=1
--FILE--
<?php
use Swoole\Lock;
use Swoole\Process;

foreach ([SWOOLE_MUTEX, SWOOLE_SPINLOCK, SWOOLE_RWLOCK] as $kind) {
    $lock = new Lock($kind);
    $lock->lock();
    $process = new Process(fn ($process) => $process->exit($lock->unlock() ? 1 : 0));
    $process->start();
    $unlocked = Process::wait()['code'] === 1;
    var_dump($unlocked, $lock->lock(LOCK_EX | LOCK_NB) === $unlocked);
    $lock->unlock();
    // Nobody has it.
    var_dump(@$lock->unlock());
}
$lock = new Lock(SWOOLE_MUTEX);
$process = new Process(function () use ($lock): void {
    $lock->lock();
    posix_kill(getmypid(), SIGKILL);
});
$process->start();
Process::wait();
var_dump($lock->lock(LOCK_EX | LOCK_NB));

// Under the names of Apus only who has it may.
$lock = new Apus\Lock(Apus\Lock::MUTEX);
$lock->lock();
$process = new Process(fn ($process) => $process->exit($lock->unlock() ? 1 : 0));
$process->start();
var_dump(Process::wait()['code']);
?>
--EXPECT--
bool(true)
bool(true)
bool(false)
bool(true)
bool(true)
bool(false)
bool(false)
bool(true)
bool(false)
bool(true)
int(0)
