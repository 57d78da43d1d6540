--TEST--
Scheduler collects coroutines, runs them to the end, and can be started again
--FILE--
<?php
use Apus\Coroutine;
use Apus\Coroutine\Scheduler;
use function Apus\go;

$s = new Scheduler();
$s->add(function ($a, $b) {
    echo "first $a $b\n";
    Coroutine::sleep(0.002);
    echo "first ends\n";
    go(function () { Coroutine::sleep(0.001); echo "its child\n"; });
}, 1, 2);
$s->parallel(3, function ($x) { echo "$x ", Coroutine::getCid(), "\n"; }, "p");
echo "nothing has run\n";
var_dump($s->start());
var_dump($s->start());
$s->add(fn() => print("again\n"));
$s->start();
$s->add(fn() => throw new LogicException("thrown by start()"));
$s->add(fn() => print("the second has run\n"));
try {
    $s->start();
} catch (LogicException $e) {
    echo $e->getMessage(), "\n";
}
?>
--EXPECT--
nothing has run
first 1 2
p 2
p 3
p 4
first ends
its child
bool(true)
bool(true)
again
the second has run
thrown by start()
