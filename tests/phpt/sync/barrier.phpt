--TEST--
Barrier: wait() ends with the last reference, however coroutines end; its limit, cancel, misuse
--FILE--
<?php
use Apus\Coroutine;
use Apus\Coroutine\{Barrier, CanceledException};
use function Apus\go;
use function Apus\Coroutine\run;

try {
    $b = Barrier::make();
    Barrier::wait($b);
} catch (Coroutine\Exception $e) {
    echo $e->getMessage(), "\n";
    var_dump($b instanceof Barrier);
}
run(function () {
    $b = Barrier::make();
    $count = 0;
    for ($i = 0; $i < 100; $i++) {
        go(function () use ($b, &$count, $i) {
            Coroutine::sleep($i % 10 / 1000);
            $count++;
        });
    }
    Barrier::wait($b);
    var_dump($b, $count);

    $b = Barrier::make();
    Barrier::wait($b);
    echo "nobody held it\n";

    $b = new Barrier;
    $over = false;
    $id = go(function () use ($b, &$over) {
        Coroutine::sleep(0.02);
        $over = true;
    });
    Barrier::wait($b, 0.001);
    var_dump($over, $b);
    // Its late end must not end what the coroutine waits for meanwhile.
    var_dump((new Coroutine\Channel)->pop(0.04), $over);

    $b = Barrier::make();
    $id = go(function () use ($b) {
        try {
            Coroutine::sleep(30);
        } finally {
            echo "left by an exception\n";
        }
    });
    go(fn() => Coroutine::cancel($id, true));
    Barrier::wait($b);
    echo "over\n";

    $held = Barrier::make();
    $id = go(function () use ($held) {
        $b = $held;
        try {
            Barrier::wait($b);
        } catch (CanceledException $e) {
            echo $e->getMessage(), "\n";
        }
    });
    $again = $held;
    try {
        Barrier::wait($again);
    } catch (Coroutine\Exception $e) {
        echo $e->getCode() === Coroutine\Exception::STATE ? '' : 'wrong code ', $e->getMessage(), "\n";
    }
    Coroutine::cancel($id, true);
    Coroutine::join([$id]);
    unset($held, $again);
    foreach ([null, 1, new stdClass] as $wrong) {
        try {
            Barrier::wait($wrong);
        } catch (TypeError $e) {
            echo $e->getMessage(), "\n";
        }
    }
    $typed = new class { public Barrier $b; };
    $typed->b = Barrier::make();
    try {
        Barrier::wait($typed->b);
    } catch (TypeError $e) {
        echo $e->getMessage(), "\n";
    }
});
?>
--EXPECT--
Coroutine\Barrier::wait() waits and needs a coroutine: call it inside Apus\Coroutine\run() or Apus\go()
bool(true)
NULL
int(100)
nobody held it
bool(false)
NULL
bool(false)
bool(true)
left by an exception
over
a coroutine has called wait() for this barrier already: each barrier is waited for once
the coroutine was cancelled while it waited in Coroutine\Barrier::wait()
Apus\Coroutine\Barrier::wait(): Argument #1 ($barrier) must be of type Apus\Coroutine\Barrier, null given
Apus\Coroutine\Barrier::wait(): Argument #1 ($barrier) must be of type Apus\Coroutine\Barrier, int given
Apus\Coroutine\Barrier::wait(): Argument #1 ($barrier) must be of type Apus\Coroutine\Barrier, stdClass given
Cannot assign null to reference held by property class@anonymous::$b of type Apus\Coroutine\Barrier
