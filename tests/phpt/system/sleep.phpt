--TEST--
System::sleep() is Coroutine::sleep(): one clock, so that who is to wake up first does
--FILE--
<?php
use Apus\Coroutine;
use Apus\Coroutine\System;
use function Apus\go;
use function Apus\Coroutine\run;

run(function () {
    $order = [];
    // 0.3 ms apart: a clock that counts in milliseconds could not tell them apart.
    for ($i = 0; $i < 20; $i++) {
        $time = 0.0501 + $i * 0.0003;
        go(function () use ($i, $time, &$order) {
            $slept = $i % 2 ? Coroutine::sleep($time) : System::sleep($time);
            $order[] = $slept ? $i : "cancelled";
        });
    }
    Coroutine::sleep(0.2);
    echo implode(",", $order), "\n";

    $rounds = [];
    foreach ([1, 2] as $n) {
        go(function () use ($n, &$rounds) {
            for ($i = 0; $i < 3; $i++) {
                $rounds[$i][] = $n;
                System::sleep(0);
            }
        });
    }
    Coroutine::sleep(0.02);
    foreach ($rounds as $i => $who) { sort($who); echo "round $i: ", implode(",", $who), "\n"; }

    foreach ([-1, INF, NAN] as $bad) {
        try {
            System::sleep($bad);
            echo "no exception for $bad\n";
        } catch (ValueError $e) {
            echo $e->getMessage(), "\n";
        }
    }
});
?>
--EXPECTF--
0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19
round 0: 1,2
round 1: 1,2
round 2: 1,2
Apus\Coroutine\System::sleep(): Argument #1 ($seconds) must be 0 or more seconds, -1.0 given
Apus\Coroutine\System::sleep(): Argument #1 ($seconds) must be 0 or more seconds, %s given
Apus\Coroutine\System::sleep(): Argument #1 ($seconds) must be 0 or more seconds, %s given
