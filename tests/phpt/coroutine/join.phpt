--TEST--
join() waits for all; ended ones count as ended; timeout; cancelled; itself; outside
--FILE--
<?php
use Apus\Coroutine;
use function Apus\go;
use function Apus\Coroutine\run;

run(function () {
    $ids = [];
    foreach ([0.06, 0.02, 0.04] as $time) {
        $ids[] = go(function () use ($time) {
            Coroutine::sleep($time);
            echo "slept $time\n";
        });
    }
    var_dump(Coroutine::join($ids));
    var_dump(Coroutine::join($ids), Coroutine::join([]), Coroutine::join([4711]));
    $long = go(fn() => var_dump(Coroutine::sleep(10)));
    echo "timeout: ";
    var_dump(Coroutine::join([$long], 0.002));
    var_dump(Coroutine::exists($long), Coroutine::isCanceled());
    $joiner = go(function () use ($long) {
        echo "joiner: ";
        var_dump(Coroutine::join([$long]));
        var_dump(Coroutine::isCanceled());
    });
    Coroutine::cancel($joiner);
    Coroutine::join([$joiner]);
    Coroutine::cancel($long);
    var_dump(Coroutine::join([$long], 1));
    // Three wait for one.
    $one = go(fn() => Coroutine::sleep(0.001));
    foreach ([1, 2, 3] as $n) {
        go(function () use ($n, $one) {
            Coroutine::join([$one]);
            echo "joined by $n\n";
        });
    }
    Coroutine::sleep(0.1);
    foreach ([[Coroutine::getCid()], ["1"], [null]] as $bad) {
        try {
            Coroutine::join($bad);
        } catch (Error $e) {
            echo get_class($e), ": ", $e->getMessage(), "\n";
        }
    }
});
try {
    Coroutine::join([1]);
} catch (Coroutine\Exception $e) {
    echo $e->getMessage(), "\n";
}
?>
--EXPECT--
slept 0.02
slept 0.04
slept 0.06
bool(true)
bool(true)
bool(true)
bool(true)
timeout: bool(false)
bool(true)
bool(false)
joiner: bool(false)
bool(true)
bool(false)
bool(true)
joined by 1
joined by 2
joined by 3
ValueError: Apus\Coroutine::join(): Argument #1 ($cids) must not hold the running coroutine, 1: it cannot wait for itself
TypeError: Apus\Coroutine::join(): Argument #1 ($cids) must hold coroutine ids (int) only
TypeError: Apus\Coroutine::join(): Argument #1 ($cids) must hold coroutine ids (int) only
Coroutine::join() waits and needs a coroutine: call it inside Apus\Coroutine\run() or Apus\go()
