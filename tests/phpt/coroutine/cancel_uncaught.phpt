--TEST--
A CanceledException that nobody catches ends its coroutine only after finally and defer; it is not reported as an error
--FILE--
<?php
use Apus\Coroutine;
use function Apus\{go, defer};
use function Apus\Coroutine\run;

try {
    run(function () {
        $id = go(function () {
            defer(fn() => print("deferred\n"));
            try {
                Coroutine::sleep(10);
            } finally {
                echo "finally\n";
            }
        });
        Coroutine::cancel($id, true);
        Coroutine::sleep(0.05);
        echo "the others go on\n";
    });
    echo "run() returns\n";
} catch (Throwable $e) {
    echo "run() threw ", get_class($e), "\n";
}
?>
--EXPECT--
finally
deferred
the others go on
run() returns
