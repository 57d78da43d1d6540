--TEST--
Timers fire in the order of their times; 10,000 at once; callbacks that wait do not hold others up
--FILE--
<?php
use Apus\Coroutine;
use Apus\Timer;
use function Apus\Coroutine\run;

$order = [];
run(function () use (&$order) {
    foreach ([90, 30, 60, 1] as $ms) {
        Timer::after($ms, function () use ($ms, &$order) { $order[] = $ms; });
    }
});
echo implode(",", $order), "\n";
$fired = 0;
run(function () use (&$fired) {
    for ($i = 0; $i < 10000; $i++) {
        Timer::after(1 + $i % 50, function () use (&$fired) { $fired++; });
    }
    echo Timer::stats()['num'], "\n";
});
echo $fired, "\n";
run(function () {
    $running = 0;
    $most = 0;
    $id = Timer::tick(1, function () use (&$running, &$most) {
        $running++;
        $most = max($most, $running);
        Coroutine::sleep(0.01);
        $running--;
    });
    Coroutine::sleep(0.05);
    Timer::clear($id);
    echo $most > 1 ? "they overlap\n" : "one at a time ($most)\n";
});
// 100,000 timers that are cleared before they fire.
run(function () {
    $ids = [];
    for ($i = 0; $i < 100000; $i++) {
        $ids[] = Timer::after(100000, fn() => print("no\n"));
    }
    foreach ($ids as $id) {
        Timer::clear($id);
    }
    echo Timer::stats()['num'], "\n";
});
?>
--EXPECT--
1,30,60,90
10000
10000
they overlap
0
