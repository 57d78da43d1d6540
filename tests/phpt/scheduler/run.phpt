--TEST--
run() returns when the last coroutine and timer has ended; several runs follow each other
--FILE--
<?php
use Apus\Coroutine;
use Apus\Timer;
use function Apus\go;
use function Apus\Coroutine\run;

var_dump(run(function (...$args) {
    echo implode(",", $args), "\n";
    Timer::after(60, fn() => print("timer\n"));
    go(function () { Coroutine::sleep(0.001); echo "child\n"; });
}, 1, 2, 3));
for ($i = 0; $i < 3; $i++) {
    run(function () use ($i) { Coroutine::sleep(0.001); echo "run $i\n"; });
}
var_dump(run('strlen', 'x'));
?>
--EXPECT--
1,2,3
child
timer
bool(true)
run 0
run 1
run 2
bool(true)
