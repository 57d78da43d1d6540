--TEST--
A task of a batch() that throws after the time is over is an uncaught exception like any other
--FILE--
<?php
use Apus\Coroutine;
use function Apus\Coroutine\{run, batch};

try {
    run(function () {
        batch([function () { Coroutine::sleep(0.1); throw new LogicException("late"); }], 0.01);
        echo "over\n";
        try {
            Coroutine::sleep(10);
        } finally {
            echo "ended\n";
        }
    });
} catch (LogicException $e) {
    echo $e->getMessage(), "\n";
}
?>
--EXPECT--
over
ended
late
