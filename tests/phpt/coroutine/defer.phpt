--TEST--
defer() runs callables when the function is over, last given first, also after an exception and when they wait
--FILE--
<?php
use Apus\Coroutine;
use function Apus\defer;
use function Apus\go;
use function Apus\Coroutine\run;

run(function () {
    defer(fn() => print("1\n"));
    Coroutine::defer(function () {
        echo "2 begins\n";
        Coroutine::sleep(0.001);
        defer(fn() => print("2 added this\n"));
        echo "2 ends\n";
    });
    defer(fn() => print("3\n"));
    echo "body\n";
});

try {
    run(function () {
        defer(fn() => print("after the exception\n"));
        throw new LogicException("body");
    });
} catch (LogicException $e) {
    echo get_class($e), ": ", $e->getMessage(), "\n";
}

try {
    run(function () {
        defer(fn() => throw new RuntimeException("second deferred"));
        defer(fn() => print("still called\n"));
        defer(fn() => throw new RuntimeException("first deferred"));
        throw new LogicException("body");
    });
} catch (Throwable $e) {
    for (; $e; $e = $e->getPrevious()) {
        echo get_class($e), ": ", $e->getMessage(), "\n";
    }
}

try {
    defer(fn() => 1);
} catch (Apus\Coroutine\Exception $e) {
    echo $e->getMessage(), " ", $e->getCode() === Apus\Coroutine\Exception::NOT_IN_COROUTINE ? "ok" : "wrong", "\n";
}
?>
--EXPECT--
body
3
2 begins
2 ends
2 added this
1
after the exception
LogicException: body
still called
RuntimeException: second deferred
RuntimeException: first deferred
LogicException: body
defer() needs a coroutine, and none runs ok
