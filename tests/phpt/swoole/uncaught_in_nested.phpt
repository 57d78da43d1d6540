--TEST--
What nobody catches in a coroutine is told of where it is, then what was deferred runs, and the script ends
--INI--
apus.swoole_compat=1
--FILE--
<?php
register_shutdown_function(function () {
    echo "shutdown\n";
});
Co\run(function () {
    try {
        go(function () {
            defer(fn () => print("deferred\n"));
            throw new LogicException('not caught');
        });
        echo "never here\n";
    } catch (Throwable) {
        echo "nor here\n";
    } finally {
        echo "nor here\n";
    }
});
echo "nor here\n";
?>
--EXPECTF--
Fatal error: Uncaught LogicException: not caught in %s:%d
Stack trace:
#0 [internal function]: {closure%S}()
#1 {main}
  thrown in %s on line %d
deferred
shutdown
