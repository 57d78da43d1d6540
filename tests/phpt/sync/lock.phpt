--TEST--
Lock: exclusive and shared, in the order of asking, again by its holder, limits, cancel, misuse
--FILE--
<?php
use Apus\Coroutine;
use Apus\Coroutine\{CanceledException, Lock};
use function Apus\go;
use function Apus\Coroutine\{batch, run};

$told = function (callable $f) {
    try {
        var_dump($f());
    } catch (Throwable $e) {
        echo get_class($e), ' ', $e->getCode(), ': ', $e->getMessage(), "\n";
    }
};
$lock = new Lock;
$told(fn() => $lock->lock());
$told(fn() => $lock->unlock());

run(function () use ($told) {
    echo "exclusive:\n";
    $lock = new Lock;
    $inside = $most = 0;
    $order = [];
    $one = function (int $i) use ($lock, &$inside, &$most, &$order) {
        $lock->lock();
        $most = max($most, ++$inside);
        $order[] = $i;
        Coroutine::sleep(0);
        $inside--;
        $lock->unlock();
    };
    batch(array_map(fn($i) => fn() => $one($i), range(0, 99)));
    var_dump($most, $order === range(0, 99));

    echo "again by its holder:\n";
    var_dump($lock->lock(), $lock->lock(), $lock->lock(LOCK_SH), $lock->unlock(), $lock->unlock());
    batch([function () use ($lock, $told) {
        var_dump($lock->trylock(), $lock->errCode);
        $told(fn() => $lock->unlock());
    }]);
    $lock->unlock();
    batch([fn() => var_dump($lock->trylock(), $lock->errCode, $lock->unlock())]);
    $told(fn() => $lock->unlock());

    echo "shared:\n";
    $log = [];
    $reader = function (string $name) use ($lock, &$log) {
        return function () use ($lock, &$log, $name) {
            $lock->lock(LOCK_SH);
            $log[] = "+$name";
            Coroutine::sleep(0.001);
            $log[] = "-$name";
            $lock->unlock();
        };
    };
    $writer = function () use ($lock, &$log) {
        $lock->lock();
        $log[] = '+w';
        Coroutine::sleep(0.001);
        $log[] = '-w';
        $lock->unlock();
    };
    batch([$reader('r1'), $reader('r2'), $writer, $reader('r3'), $reader('r4'), $writer]);
    echo implode(' ', $log), "\n";
    var_dump($lock->lock(LOCK_SH), $lock->trylock(LOCK_SH));
    $told(fn() => $lock->lock(LOCK_EX));
    $lock->unlock();
    $lock->unlock();

    echo "limits and cancel:\n";
    $lock->lock();
    batch([
        fn() => var_dump($lock->lock(LOCK_EX | LOCK_NB), $lock->errCode, $lock->lock(LOCK_SH, 0), $lock->errCode),
        fn() => var_dump($lock->lock(LOCK_EX, 0.001), $lock->errCode),
    ]);
    foreach ([false, true] as $throw) {
        $id = go(function () use ($lock) {
            try {
                var_dump($lock->lock(), $lock->errCode);
            } catch (CanceledException $e) {
                echo $e->getMessage(), "\n";
            }
        });
        Coroutine::cancel($id, $throw);
        Coroutine::join([$id]);
    }
    $lock->unlock();

    echo "a writer that gives up lets the readers behind it in:\n";
    $lock->lock(LOCK_SH);
    $results = batch([
        'w' => fn() => $lock->lock(LOCK_EX, 0.005),
        'r' => fn() => $lock->lock(LOCK_SH, 10) && $lock->unlock(),
    ]);
    echo json_encode($results), "\n";
    $lock->unlock();
    foreach ([0, 3, 8, -1] as $wrong) {
        $told(fn() => $lock->lock($wrong));
    }
});
?>
--EXPECT--
Apus\Coroutine\Exception 1: Coroutine\Lock::lock() waits and needs a coroutine: call it inside Apus\Coroutine\run() or Apus\go()
Apus\Coroutine\Exception 7: code outside coroutines cannot unlock what it does not hold; nobody does
exclusive:
int(1)
bool(true)
again by its holder:
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
bool(false)
int(16)
Apus\Coroutine\Exception 7: coroutine 102 cannot unlock what it does not hold; coroutine 1 does
bool(true)
int(0)
bool(true)
Apus\Coroutine\Exception 7: coroutine 1 cannot unlock what it does not hold; nobody does
shared:
+r1 +r2 -r1 -r2 +w -w +r3 +r4 -r3 -r4 +w -w
bool(true)
bool(true)
Apus\Coroutine\Exception 8: the coroutine holds this lock shared (LOCK_SH) and would wait for itself: unlock() it before LOCK_EX
limits and cancel:
bool(false)
int(16)
bool(false)
int(16)
bool(false)
int(110)
bool(false)
int(125)
the coroutine was cancelled while it waited in Coroutine\Lock::lock()
a writer that gives up lets the readers behind it in:
{"w":false,"r":true}
ValueError 0: Apus\Coroutine\Lock::lock(): Argument #1 ($operation) must be LOCK_EX or LOCK_SH, or one of these | LOCK_NB
ValueError 0: Apus\Coroutine\Lock::lock(): Argument #1 ($operation) must be LOCK_EX or LOCK_SH, or one of these | LOCK_NB
ValueError 0: Apus\Coroutine\Lock::lock(): Argument #1 ($operation) must be LOCK_EX or LOCK_SH, or one of these | LOCK_NB
ValueError 0: Apus\Coroutine\Lock::lock(): Argument #1 ($operation) must be LOCK_EX or LOCK_SH, or one of these | LOCK_NB
