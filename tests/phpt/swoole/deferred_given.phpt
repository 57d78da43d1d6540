--TEST--
What is deferred gets what the coroutine returned; one that throws ends the script, and the others do not run
--INI--
apus.swoole_compat=1
--FILE--
<?php
register_shutdown_function(fn () => print("shutdown\n"));
go(function () {
    defer(fn ($given) => print("got $given\n"));
    defer([new Swoole\Coroutine\Channel(), 'close']);
    return 'this';
});
Co\run(function () {
    go(function () {
        defer(fn () => print("never here\n"));
        defer(function ($given) {
            var_dump($given);
            throw new LogicException('not caught');
        });
    });
    echo "nor here\n";
});
?>
--EXPECTF--
got this
NULL

Fatal error: Uncaught LogicException: not caught in %s:%d
Stack trace:
#0 [internal function]: {closure%S}(NULL)
#1 {main}
  thrown in %s on line %d
shutdown
