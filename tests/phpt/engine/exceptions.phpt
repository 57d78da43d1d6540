--TEST--
Exceptions: thrown in and out, after waits, through previous chains, uncaught while others wait
--FILE--
<?php
use Apus\Coroutine;
use function Apus\go;
use function Apus\Coroutine\run;

run(function () {
    try {
        go(function () {
            try {
                Coroutine::sleep(0.001);
                throw new LogicException("after a wait");
            } catch (LogicException $e) {
                echo "caught inside: ", $e->getMessage(), " line ", $e->getLine(), "\n";
            }
        });
        echo "go() returned\n";
    } finally {
        echo "finally of the parent\n";
    }
    Coroutine::sleep(0.05);
    // Two unwind at the same time, each with its own pending exception.
    foreach ([1, 2] as $n) {
        go(function () use ($n) {
            try {
                try {
                    throw new RuntimeException("first $n");
                } finally {
                    Coroutine::sleep(0.001);
                    echo "finally $n slept while its exception was pending\n";
                }
            } catch (RuntimeException $e) {
                echo $e->getMessage(), "\n";
            }
            try {
                try {
                    throw new RuntimeException("inner $n");
                } finally {
                    Coroutine::sleep(0.001);
                    throw new LogicException("outer $n");
                }
            } catch (LogicException $e) {
                echo $e->getMessage(), " <- ", $e->getPrevious()->getMessage(), "\n";
            }
        });
    }
});
try {
    run(function () {
        for ($i = 0; $i < 3; $i++) {
            go(function () use ($i) {
                try {
                    Coroutine::sleep(10);
                } catch (Coroutine\CanceledException $e) {
                    echo "coroutine $i sees ", get_class($e), "\n";
                } finally {
                    echo "finally $i\n";
                }
            });
        }
        Coroutine::sleep(0.001);
        throw new DomainException("nobody catches it", 42, new Exception("previous"));
    });
    echo "not reached\n";
} catch (DomainException $e) {
    echo get_class($e), " ", $e->getCode(), " ", $e->getPrevious()->getMessage(), "; left: ", Coroutine::stats()['coroutine_num'], "\n";
}
// Those who wait again while they are ended are unwound without catch.
try {
    run(function () {
        go(function () {
            while (true) {
                try {
                    Coroutine::sleep(10);
                } catch (Throwable) {
                } finally {
                    static $n = 0;
                    $n++;
                }
            }
        });
        throw new DomainException("ends it");
    });
} catch (DomainException $e) {
    echo $e->getMessage(), "; left: ", Coroutine::stats()['coroutine_num'], "\n";
}
// The first one wins.
try {
    run(function () {
        go(fn() => throw new LogicException("first"));
        throw new LogicException("second");
    });
} catch (LogicException $e) {
    echo $e->getMessage(), "\n";
}
run(fn() => print("the engine goes on\n"));
undefined_function_at_the_end_is_caught();
function undefined_function_at_the_end_is_caught() {
    try {
        run(fn() => no_such_function());
    } catch (Error $e) {
        echo $e->getMessage(), "\n";
    }
}
?>
--EXPECT--
go() returned
finally of the parent
caught inside: after a wait line 11
finally 1 slept while its exception was pending
first 1
finally 2 slept while its exception was pending
first 2
outer 1 <- inner 1
outer 2 <- inner 2
coroutine 0 sees Apus\Coroutine\CanceledException
finally 0
coroutine 1 sees Apus\Coroutine\CanceledException
finally 1
coroutine 2 sees Apus\Coroutine\CanceledException
finally 2
DomainException 42 previous; left: 0
ends it; left: 0
first
the engine goes on
Call to undefined function no_such_function()
