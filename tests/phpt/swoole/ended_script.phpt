--TEST--
After a fatal error of the script its coroutines do not go on, and nothing deferred runs
--INI--
apus.swoole_compat=1
--FILE--
<?php
go(function () {
    defer(fn () => print("never here\n"));
    try {
        Co::sleep(0.001);
        echo "nor here\n";
    } finally {
        echo "finally\n";
    }
});
no_function_has_this_name();
?>
--EXPECTF--
Fatal error: Uncaught Error: Call to undefined function no_function_has_this_name() in %s:%d
Stack trace:
#0 {main}
  thrown in %s on line %d
finally
