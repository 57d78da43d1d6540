--TEST--
Methods without parameters ignore what they are given, as there; those with some refuse what is too much
--INI--
apus.swoole_compat=1
--FILE--
<?php
use Swoole\Coroutine;

Coroutine\run(function () {
    $me = Coroutine::getCid('surplus');
    go(function () use ($me) {
        Coroutine::sleep(0.001);
        Coroutine::resume($me);
    });
    var_dump(Coroutine::suspend(null), count(Coroutine::list(1, 2)));
    $channel = new Coroutine\Channel(1);
    var_dump($channel->isEmpty(true), $channel->length('x'), (new Swoole\Atomic(7))->get([]));
    try {
        Coroutine::resume($me, 1);
    } catch (ArgumentCountError $e) {
        echo $e->getMessage(), "\n";
    }
});
?>
--EXPECT--
bool(true)
int(2)
bool(true)
int(0)
int(7)
Swoole\Coroutine::resume() expects exactly 1 argument, 2 given
