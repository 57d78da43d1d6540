--TEST--
Error and exception handlers that wait; autoloaders that wait
--FILE--
<?php
use Apus\Coroutine;
use function Apus\go;
use function Apus\Coroutine\run;

set_error_handler(function (int $level, string $message) {
    echo "begin $message in ", Coroutine::getCid(), "\n";
    Coroutine::sleep(0.002);
    echo "end $message in ", Coroutine::getCid(), "\n";
    return true;
});
run(function () {
    foreach (['a', 'b', 'c'] as $n) {
        go(function () use ($n) {
            trigger_error($n, E_USER_WARNING);
            echo "$n goes on\n";
        });
    }
});
run(fn() => trigger_error("the handler is still there", E_USER_NOTICE));
restore_error_handler();
// It throws after it waited.
set_error_handler(function (int $l, string $m) { Coroutine::sleep(0.001); throw new ErrorException($m); });
run(function () {
    foreach ([1, 2] as $n) {
        go(function () use ($n) {
            try { echo $GLOBALS["undefined$n"]; } catch (ErrorException $e) { echo $e->getMessage(), "\n"; }
        });
    }
});
restore_error_handler();
spl_autoload_register(function (string $class) {
    Coroutine::sleep(0.001);
    echo "loads $class\n";
    eval("class $class {}");
});
run(function () {
    go(fn() => print(get_class(new LoadedOne) . "\n"));
    go(fn() => print(get_class(new LoadedTwo) . "\n"));
});
set_exception_handler(function (Throwable $e) { echo "handler: ", $e->getMessage(), "\n"; });
run(function () { Coroutine::sleep(0.001); throw new LogicException("uncaught"); });
?>
--EXPECT--
begin a in 2
begin b in 3
begin c in 4
end a in 2
a goes on
end b in 3
b goes on
end c in 4
c goes on
begin the handler is still there in 5
end the handler is still there in 5
Undefined global variable $undefined1
Undefined global variable $undefined2
loads LoadedOne
LoadedOne
loads LoadedTwo
LoadedTwo
handler: uncaught
