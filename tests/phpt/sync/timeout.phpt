--TEST--
timeout(): a deadline ends whatever the coroutine waits in; nested deadlines, results, exceptions, cancel, misuse
--FILE--
<?php
use Apus\Coroutine;
use Apus\Coroutine\{CanceledException, Channel, Lock, Semaphore, TimeoutException, WaitGroup};
use function Apus\go;
use function Apus\Coroutine\{batch, run, select, timeout};

$told = function (callable $f) {
    try {
        echo json_encode($f()), "\n";
    } catch (Throwable $e) {
        echo get_class($e), ': ', $e->getMessage(), "\n";
    }
};
$told(fn() => timeout(1, fn() => 'outside'));
run(function () use ($told) {
    $told(fn() => timeout(10, fn() => 'in time'));
    $told(fn() => timeout(-1, fn() => 'no limit'));
    $told(fn() => timeout(10, fn() => throw new LogicException('its own')));
    $told(fn() => timeout(0, fn() => Coroutine::sleep(30)));
    $told(fn() => timeout(1, 'no such function'));

    echo "every wait:\n";
    $held = new Lock;
    $none = new Semaphore(1);
    $none->acquire();
    $holder = go(function () use ($held) { $held->lock(); Coroutine::yield(); $held->unlock(); });
    $full = new Channel;
    $full->push(1);
    foreach ([
        fn() => Coroutine::sleep(30), fn() => Coroutine::yield(), fn() => Coroutine::join([$holder]), fn() =>
            (new Channel)->pop(),
        fn() => (new Channel)->pop(30), fn() => $full->push(1), fn() => select([new Channel]), fn() =>
            (new WaitGroup(1))->wait(),
        fn() => $held->lock(), fn() => $none->acquire(30), fn() => batch([fn() => Coroutine::sleep(0.01)]),
    ] as $wait) {
        $told(fn() => timeout(0.002, $wait));
    }
    Coroutine::resume($holder);

    echo "nested:\n";
    $told(fn() => timeout(0.005, fn() => timeout(30, fn() => Coroutine::sleep(30))));
    $told(fn() => timeout(30, function () {
        try {
            timeout(0.005, fn() => Coroutine::sleep(30));
        } catch (TimeoutException) {
            echo "the inner one\n";
        }
        Coroutine::sleep(0.01);
        return 'the outer one goes on';
    }));
    $told(fn() => timeout(0.005, fn() => timeout(0.005, fn() => timeout(0.005, fn() => Coroutine::sleep(30)))));
    Coroutine::sleep(0.01);
    echo "finally may wait:\n";
    $told(fn() => timeout(0.002, function () {
        try {
            Coroutine::sleep(30);
        } finally {
            var_dump(Coroutine::sleep(0.005));
        }
    }));
    echo "one that is over strikes no more:\n";
    for ($i = 0; $i < 200; $i++) {
        try {
            timeout(0.001, fn() => Coroutine::sleep(0.001));
        } catch (TimeoutException) {
        }
        Coroutine::sleep(0);
    }
    var_dump(Coroutine::sleep(0.005));
    echo "cancelled meanwhile:\n";
    $id = go(fn() => $told(fn() => timeout(30, fn() => Coroutine::sleep(30))));
    Coroutine::cancel($id, true);
    Coroutine::join([$id]);
    $id = go(fn() => $told(fn() => timeout(30, fn() => Coroutine::sleep(30))));
    Coroutine::cancel($id);
    Coroutine::join([$id]);
    echo "what comes in the last moment is not lost:\n";
    $c = new Channel;
    $id = go(function () use ($c, $told) {
        $told(fn() => timeout(0.002, function () use ($c) {
            $got = [];
            while (count($got) < 1000) {
                try {
                    $got[] = $c->pop();
                } catch (TimeoutException) {
                    echo "over\n";
                }
            }
            return $got === range(0, 999);
        }));
    });
    for ($i = 0; $i < 1000; $i++) {
        $c->push($i);
        $i % 100 || Coroutine::sleep(0.001);
    }
    Coroutine::join([$id]);
});
?>
--EXPECT--
Apus\Coroutine\Exception: Coroutine\timeout() waits and needs a coroutine: call it inside Apus\Coroutine\run() or Apus\go()
"in time"
"no limit"
LogicException: its own
Apus\Coroutine\TimeoutException: the time was over while the coroutine waited in Coroutine::sleep()
TypeError: Apus\Coroutine\timeout(): Argument #2 ($callback) must be a valid callback, function "no such function" not found or invalid function name
every wait:
Apus\Coroutine\TimeoutException: the time was over while the coroutine waited in Coroutine::sleep()
Apus\Coroutine\TimeoutException: the time was over while the coroutine waited in yield
Apus\Coroutine\TimeoutException: the time was over while the coroutine waited in Coroutine::join()
Apus\Coroutine\TimeoutException: the time was over while the coroutine waited in Coroutine\Channel::pop()
Apus\Coroutine\TimeoutException: the time was over while the coroutine waited in Coroutine\Channel::pop()
Apus\Coroutine\TimeoutException: the time was over while the coroutine waited in Coroutine\Channel::push()
Apus\Coroutine\TimeoutException: the time was over while the coroutine waited in Coroutine\select()
Apus\Coroutine\TimeoutException: the time was over while the coroutine waited in Coroutine\WaitGroup::wait()
Apus\Coroutine\TimeoutException: the time was over while the coroutine waited in Coroutine\Lock::lock()
Apus\Coroutine\TimeoutException: the time was over while the coroutine waited in Coroutine\Semaphore::acquire()
Apus\Coroutine\TimeoutException: the time was over while the coroutine waited in Coroutine\batch()
nested:
Apus\Coroutine\TimeoutException: the time was over while the coroutine waited in Coroutine::sleep()
the inner one
"the outer one goes on"
Apus\Coroutine\TimeoutException: the time was over while the coroutine waited in Coroutine::sleep()
finally may wait:
bool(true)
Apus\Coroutine\TimeoutException: the time was over while the coroutine waited in Coroutine::sleep()
one that is over strikes no more:
bool(true)
cancelled meanwhile:
Apus\Coroutine\CanceledException: the coroutine was cancelled while it waited in Coroutine::sleep()
false
what comes in the last moment is not lost:
over
true
