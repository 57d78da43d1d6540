--TEST--
Swoole\Coroutine\Lock does not ask who holds it; Swoole\Runtime tells the flags it was given
--INI--
apus.swoole_compat=1
--FILE--
<?php
use Swoole\Coroutine\Lock;

Swoole\Runtime::enableCoroutine(SWOOLE_HOOK_NATIVE_CURL);
var_dump(
    Swoole\Runtime::getHookFlags() === SWOOLE_HOOK_NATIVE_CURL,
    Swoole\Runtime::setHookFlags(SWOOLE_HOOK_ALL),
    Swoole\Runtime::getHookFlags() === SWOOLE_HOOK_ALL,
);

$lock = new Lock();
var_dump($lock->lock(), $lock->errCode === SWOOLE_ERROR_CO_OUT_OF_COROUTINE, $lock->unlock());
Apus\Coroutine\run(function () use ($lock) {
    var_dump($lock->lock());
    go(function () use ($lock) {
        echo "waits\n";
        var_dump($lock->lock());
        echo "has it\n";
        var_dump($lock->unlock());
    });
    go(function () use ($lock) {
        echo "another one unlocks\n";
        var_dump($lock->unlock());
    });
});
?>
--EXPECTF--
bool(true)
bool(true)
bool(true)
bool(false)
bool(true)
bool(false)
bool(true)
waits
another one unlocks
bool(true)
bool(true)
has it
bool(true)
