--TEST--
Semaphore: never more than its permits, first come first served, limits, cancel, misuse
--FILE--
<?php
use Apus\Coroutine;
use Apus\Coroutine\{CanceledException, Semaphore};
use function Apus\go;
use function Apus\Coroutine\{batch, run};

foreach ([0, -3] as $wrong) {
    try {
        new Semaphore($wrong);
    } catch (ValueError $e) {
        echo $e->getMessage(), "\n";
    }
}
$s = new Semaphore(2);
var_dump($s->acquire(), $s->tryAcquire(), $s->tryAcquire(), $s->acquire(0), $s->available());
try {
    $s->acquire();
} catch (Coroutine\Exception $e) {
    echo $e->getMessage(), "\n";
}
$s->release();
$s->release();
try {
    $s->release();
} catch (Coroutine\Exception $e) {
    echo $e->getCode() === Coroutine\Exception::NOT_HELD ? '' : 'wrong code ', $e->getMessage(), "\n";
}

run(function () {
    $s = new Semaphore(3);
    $inside = $most = 0;
    $order = [];
    $one = function (int $i) use ($s, &$inside, &$most, &$order) {
        $s->acquire();
        $most = max($most, ++$inside);
        $order[] = $i;
        Coroutine::sleep(0);
        $inside--;
        $s->release();
    };
    batch(array_map(fn($i) => fn() => $one($i), range(0, 99)));
    var_dump($most, $order === range(0, 99), $s->available());

    $s = new Semaphore(1);
    $s->acquire();
    var_dump($s->acquire(0.001));
    foreach ([false, true] as $throw) {
        $id = go(function () use ($s) {
            try {
                var_dump($s->acquire());
            } catch (CanceledException $e) {
                echo $e->getMessage(), "\n";
            }
        });
        Coroutine::cancel($id, $throw);
        Coroutine::join([$id]);
    }
    $got = 0;
    $first = go(function () use ($s, &$got) { $got += $s->acquire() ? 1 : 0; });
    // The permit goes to the one who waits, cancelled or not, and to nobody who comes later.
    $s->release();
    Coroutine::cancel($first);
    var_dump($s->tryAcquire());
    Coroutine::join([$first]);
    var_dump($got, $s->available());
    $s->release();
    var_dump($s->available(), $s->tryAcquire());
});
?>
--EXPECT--
Apus\Coroutine\Semaphore::__construct(): Argument #1 ($permits) must be at least 1, 0 given
Apus\Coroutine\Semaphore::__construct(): Argument #1 ($permits) must be at least 1, -3 given
bool(true)
bool(true)
bool(false)
bool(false)
int(0)
Coroutine\Semaphore::acquire() waits and needs a coroutine: call it inside Apus\Coroutine\run() or Apus\go()
all 2 permits of the semaphore are free: release() was called more often than acquire()
int(3)
bool(true)
int(3)
bool(false)
bool(false)
the coroutine was cancelled while it waited in Coroutine\Semaphore::acquire()
bool(false)
int(1)
int(0)
int(1)
bool(true)
