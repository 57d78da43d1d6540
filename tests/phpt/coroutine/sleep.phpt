--TEST--
sleep() lets others run; many sleep side by side; 0 gives way once
--FILE--
<?php
use Apus\Coroutine;
use function Apus\go;
use function Apus\Coroutine\run;

$begin = hrtime(true);
$order = [];
run(function () use (&$order) {
    foreach ([0.03, 0.01, 0.02] as $i => $time) {
        go(function () use ($i, $time, &$order) {
            var_dump(Coroutine::sleep($time));
            $order[] = $i;
        });
    }
    for ($i = 0; $i < 50; $i++) {
        go(fn() => Coroutine::sleep(0.03));
    }
});
$took = (hrtime(true) - $begin) / 1e6;
echo implode(",", $order), "\n";
var_dump($took >= 30, $took < 1000);

run(function () {
    foreach ([1, 2] as $n) {
        go(function () use ($n, &$rounds) {
            for ($i = 0; $i < 3; $i++) {
                $rounds[$i][] = $n;
                Coroutine::sleep(0);
            }
        });
    }
    Coroutine::sleep(0.05);
    foreach ($rounds as $i => $who) { sort($who); echo "round $i: ", implode(",", $who), "\n"; }
});

run(function () {
    foreach ([-1, -0.001, INF, NAN, 1e300] as $bad) {
        try {
            Coroutine::sleep($bad);
            echo "no exception for $bad\n";
        } catch (ValueError $e) {
            echo $e->getMessage(), "\n";
        }
    }
});
?>
--EXPECTF--
bool(true)
bool(true)
bool(true)
1,2,0
bool(true)
bool(true)
round 0: 1,2
round 1: 1,2
round 2: 1,2
Apus\Coroutine::sleep(): Argument #1 ($seconds) must be 0 or more seconds, -1.0 given
Apus\Coroutine::sleep(): Argument #1 ($seconds) must be 0 or more seconds, -0.001 given
Apus\Coroutine::sleep(): Argument #1 ($seconds) must be 0 or more seconds, %s given
Apus\Coroutine::sleep(): Argument #1 ($seconds) must be 0 or more seconds, %s given
Apus\Coroutine::sleep(): Argument #1 ($seconds) must be 0 or more seconds, %s given
