--TEST--
WaitGroup: counting, waiting with and without a limit, several waiters, misuse, cancel, use again
--FILE--
<?php
use Apus\Coroutine;
use Apus\Coroutine\{CanceledException, WaitGroup};
use function Apus\go;
use function Apus\Coroutine\run;

$told = function (callable $f) {
    try {
        $f();
        echo "nothing thrown\n";
    } catch (Throwable $e) {
        echo get_class($e), ': ', $e->getMessage(), "\n";
    }
};
$told(fn() => (new WaitGroup)->done());
$told(fn() => (new WaitGroup)->add(-1));
$told(fn() => new WaitGroup(-1));
$told(fn() => (new WaitGroup(PHP_INT_MAX))->add());
var_dump((new WaitGroup)->wait());
$told(fn() => (new WaitGroup(1))->wait());

run(function () use ($told) {
    $wg = new WaitGroup(1);
    $wg->add(2);
    var_dump($wg->count(), $wg->wait(0.001));
    for ($i = 1; $i <= 3; $i++) {
        go(function () use ($wg, $i) {
            Coroutine::sleep($i / 500);
            echo "done $i\n";
            $wg->done();
        });
    }
    for ($i = 0; $i < 2; $i++) {
        go(function () use ($wg, $i) {
            var_dump($wg->wait());
            echo "waiter $i\n";
        });
    }
    $told(fn() => $wg->add());
    var_dump($wg->wait(30), $wg->count());
    Coroutine::sleep(0.001);
    $told(fn() => $wg->done());

    echo "again:\n";
    $wg->add();
    foreach ([false, true] as $throw) {
        $id = go(function () use ($wg) {
            try {
                var_dump($wg->wait());
            } catch (CanceledException $e) {
                echo $e->getMessage(), "\n";
            }
        });
        Coroutine::cancel($id, $throw);
        Coroutine::join([$id]);
    }
    $wg->add();
    go(function () use ($wg) { $wg->done(); $wg->done(); });
    var_dump($wg->wait());
    class MyGroup extends WaitGroup { public function two(): static { $this->add(2); return $this; } }
    var_dump((new MyGroup)->two()->count());
});
?>
--EXPECT--
BadMethodCallException: WaitGroup misuse: negative counter: more was done than was added
InvalidArgumentException: WaitGroup misuse: negative counter: more was done than was added
InvalidArgumentException: WaitGroup misuse: negative counter: more was done than was added
InvalidArgumentException: WaitGroup misuse: the counter is too great
bool(true)
Apus\Coroutine\Exception: Coroutine\WaitGroup::wait() waits and needs a coroutine: call it inside Apus\Coroutine\run() or Apus\go()
int(3)
bool(false)
BadMethodCallException: WaitGroup misuse: add() was called while a coroutine is in wait(): call add() before what it counts is started
done 1
done 2
done 3
bool(true)
waiter 0
bool(true)
waiter 1
bool(true)
int(0)
BadMethodCallException: WaitGroup misuse: negative counter: more was done than was added
again:
bool(false)
the coroutine was cancelled while it waited in Coroutine\WaitGroup::wait()
bool(true)
int(2)
