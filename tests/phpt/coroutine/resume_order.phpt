--TEST--
resume() from a timer and from the coroutine that was resumed just before
--FILE--
<?php
use Apus\Coroutine;
use Apus\Timer;
use function Apus\go;
use function Apus\Coroutine\run;

run(function () {
    $me = Coroutine::getCid();
    Timer::after(1, function () use ($me) { $done = Coroutine::resume($me); echo "timer resumed: "; var_dump($done); });
    var_dump(Coroutine::yield());
    // The first resumes the second, which resumes the first again while that is still in resume().
    $first = go(function () use (&$second) {
        Coroutine::yield();
        echo "first runs\n";
        $done = Coroutine::resume($second);
        echo "back in first: ", var_export($done, true), "\n";
    });
    $second = go(function () use ($first) {
        Coroutine::yield();
        echo "second runs; first can be resumed: ", var_export(Coroutine::resume($first), true), "\n";
    });
    Coroutine::resume($first);
});
?>
--EXPECT--
bool(true)
first runs
second runs; first can be resumed: false
back in first: true
timer resumed: bool(true)
