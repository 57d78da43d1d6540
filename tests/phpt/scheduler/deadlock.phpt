--TEST--
All coroutines wait for each other: an exception with the stack of each
--FILE--
<?php
use Apus\Coroutine;
use Apus\Coroutine\DeadlockException;
use function Apus\{go, defer};
use function Apus\Coroutine\run;

function waits() { Coroutine::yield(); echo "not reached\n"; }
try {
    run(function () {
        $a = go('waits');
        $b = go(function () use ($a) {
            try {
                Coroutine::join([$a]);
            } finally {
                echo "b is unwound\n";
            }
        });
        Coroutine::sleep(0.001);
        Coroutine::join([$b]);
    });
} catch (DeadlockException $e) {
    echo $e->getMessage(), "\n";
}
run(fn() => print("and on\n"));
// A timer could still resume somebody: no deadlock while one is there.
try {
    run(function () {
        Apus\Timer::after(3, fn() => print("timer\n"));
        Coroutine::yield();
    });
} catch (DeadlockException $e) {
    echo explode("\n", $e->getMessage())[0], "\n";
}
?>
--EXPECTF--
b is unwound
all 3 coroutines wait for each other, none can go on (deadlock):
coroutine 1 (made by -1) waits in Coroutine::join():
#0 %sdeadlock.php(%d): Apus\Coroutine::join(%S)
#1 [internal function]: {closure%S}()
coroutine 2 (made by 1) waits in yield:
#0 %sdeadlock.php(%d): Apus\Coroutine::yield()
#1 [internal function]: waits()
coroutine 3 (made by 1) waits in Coroutine::join():
#0 %sdeadlock.php(%d): Apus\Coroutine::join(%S)
#1 [internal function]: {closure%S}()
and on
timer
all 1 coroutines wait for each other, none can go on (deadlock):
