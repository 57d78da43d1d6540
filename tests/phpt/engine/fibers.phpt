--TEST--
Users' own Fibers in coroutines: sleeping inside, suspended across, resumed by another coroutine, in generators, dropped
--FILE--
<?php
use Apus\Coroutine;
use function Apus\go;
use function Apus\Coroutine\run;

run(function () {
    // Two coroutines, each with a Fiber that sleeps and suspends.
    foreach (['a', 'b'] as $name) {
        go(function () use ($name) {
            $fiber = new Fiber(function (string $x) use ($name) {
                echo "$name: started with $x in ", Coroutine::getCid(), "\n";
                Coroutine::sleep(0.002);
                $y = Fiber::suspend("out of $name");
                echo "$name: got $y\n";
                Coroutine::sleep(0.002);
                return "end of $name";
            });
            echo $fiber->start("x"), "\n";
            Coroutine::sleep(0.002);
            $fiber->resume("y");
            echo $fiber->getReturn(), "\n";
        });
    }
});

run(function () {
    $fiber = new Fiber(function () {
        echo "1 in ", Coroutine::getCid(), "\n";
        Fiber::suspend();
        echo "2 in ", Coroutine::getCid(), "\n";
        Coroutine::sleep(0.001);
        echo "3 in ", Coroutine::getCid(), "\n";
        throw new LogicException("from the fiber");
    });
    $fiber->start();
    $id = go(function () use ($fiber) {
        try {
            $fiber->resume();
        } catch (LogicException $e) {
            echo "caught in ", Coroutine::getCid(), ": ", $e->getMessage(), "\n";
        }
    });
    try {
        $fiber->resume();
    } catch (FiberError $e) {
        echo $e->getMessage(), "\n";
    }
    Coroutine::join([$id]);
    var_dump($fiber->isTerminated());
});

// Fibers in Fibers in a coroutine, sleeping at each depth; a cancellation passes through them.
run(function () {
    $nest = function (int $n) use (&$nest) {
        if ($n === 0) {
            try {
                Coroutine::sleep(10);
            } finally {
                echo "innermost unwound\n";
            }
        }
        $f = new Fiber($nest);
        Coroutine::sleep(0.001);
        $f->start($n - 1);
    };
    $id = go(function () use ($nest) {
        try {
            $nest(3);
        } catch (Coroutine\CanceledException $e) {
            echo "cancelled through ", Coroutine::getCid() > 0 ? "three fibers" : "?", "\n";
        }
    });
    Coroutine::sleep(0.2);
    Coroutine::cancel($id, true);
});

// Generators that sleep, and one that a Fiber drives.
run(function () {
    $gen = function (string $n) { for ($i = 0; $i < 2; $i++) { Coroutine::sleep(0.001); yield "$n$i"; } };
    foreach (['x', 'y'] as $n) {
        go(function () use ($gen, $n) { foreach ($gen($n) as $v) { echo $v, " "; } });
    }
    Coroutine::sleep(0.2);
    $g = $gen('z');
    $f = new Fiber(function () use ($g) { foreach ($g as $v) { Fiber::suspend($v); } });
    echo $f->start(), " ";
    $f->resume();
    echo $g->current(), "\n";
});

// Suspended Fibers that are dropped run their finally blocks, in a coroutine, too.
run(function () {
    $f = new Fiber(function () { try { Fiber::suspend(); } finally { echo "dropped\n"; } });
    $f->start();
    unset($f);
    gc_collect_cycles();
    echo "done\n";
});
?>
--EXPECT--
a: started with x in 2
b: started with x in 3
out of a
out of b
a: got y
b: got y
end of a
end of b
1 in 4
2 in 5
Cannot resume a fiber that is not suspended
3 in 5
caught in 5: from the fiber
bool(true)
innermost unwound
cancelled through three fibers
x0 y0 x1 y1 z0 z1
dropped
done
