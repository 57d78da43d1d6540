--TEST--
Coroutines and timers made outside run() are finished at the end of the script
--FILE--
<?php
use Apus\Coroutine;
use Apus\Timer;
use function Apus\go;

go(function () {
    echo "begins at once\n";
    Coroutine::sleep(0.06);
    echo "finished at the end\n";
    go(fn() => Coroutine::sleep(0.001) && print("made at the end\n"));
});
Timer::after(1, fn() => print("timer\n"));
register_shutdown_function(fn() => print("a shutdown function given later runs later\n"));
echo "the script ends\n";
?>
--EXPECT--
begins at once
the script ends
timer
finished at the end
made at the end
a shutdown function given later runs later
