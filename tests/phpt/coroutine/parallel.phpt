--TEST--
parallel() runs n and waits for all
--FILE--
<?php
use Apus\Coroutine;
use function Apus\Coroutine\{run, parallel};

run(function () {
    $n = 0;
    var_dump(parallel(10, function () use (&$n) { Coroutine::sleep(0.001); $n++; }));
    echo "$n\n";
    $n = 0;
    try {
        parallel(3, function () use (&$n) { $k = ++$n; Coroutine::sleep(0.02 * $k); throw new LogicException("number $k"); });
    } catch (LogicException $e) {
        echo $e->getMessage(), "\n";
    }
    foreach ([0, -5] as $bad) {
        try {
            parallel($bad, fn() => 1);
        } catch (ValueError $e) {
            echo $e->getMessage(), "\n";
        }
    }
});
?>
--EXPECTF--
NULL
10
number 1
%SArgument #1 ($n) must be at least 1, 0 given
%SArgument #1 ($n) must be at least 1, -5 given
