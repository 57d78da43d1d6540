--TEST--
clearAll() lets the script end; clearing oneself and others in a callback; an exception in a callback
--FILE--
<?php
use Apus\Timer;
use function Apus\Coroutine\run;

run(function () {
    Timer::tick(1, fn() => print(""));
    Timer::after(100000, fn() => print("no\n"));
    Timer::after(3, function () { var_dump(Timer::clearAll(), count(Timer::list())); });
});
run(function () {
    $a = Timer::tick(1, function (int $id) use (&$b) { echo "a clears b and itself\n"; Timer::clear($b); Timer::clear($id); });
    $b = Timer::tick(60, fn() => print("no\n"));
});
class Gone { function __destruct() { echo "callback released\n"; } }
run(function () {
    $gone = new Gone;
    $id = Timer::after(100000, function () use ($gone) {});
    unset($gone);
    Timer::clear($id);
    echo "cleared\n";
});
try {
    run(function () {
        Timer::after(1, fn() => throw new LogicException("in a timer"));
        Timer::tick(100000, fn() => 1);
    });
} catch (LogicException $e) {
    echo $e->getMessage(), ", timers left: ", Timer::stats()['num'], "\n";
}
Timer::after(1, fn() => print("at the end of the script\n"));
?>
--EXPECT--
bool(true)
int(0)
a clears b and itself
callback released
cleared
in a timer, timers left: 0
at the end of the script
