--TEST--
@ and error_reporting() stay with the coroutine that wrote them; ini_set() reaches new ones
--FILE--
<?php
use Apus\Coroutine;
use function Apus\go;
use function Apus\Coroutine\run;

set_error_handler(function (int $level, string $message) {
    if (error_reporting() & $level) {
        echo "[$message]\n";
    }
    return true;
});
function slow_warning(string $n) {
    Coroutine::sleep(0.001);
    trigger_error("warning of $n", E_USER_WARNING);
    return error_reporting();
}
run(function () {
    go(function () { $level = @slow_warning("silent"); echo "inside @: $level\n"; slow_warning("silent one, now loud"); });
    go(function () { slow_warning("loud"); });
    go(function () { @go(function () { echo "a child of @ has ", error_reporting() === E_ALL ? "the full level" : "less", "\n"; }); });
});
run(function () {
    error_reporting(E_ERROR);
    go(fn() => print("new ones see what error_reporting() set: " . error_reporting() . "\n"));
    Coroutine::sleep(0.001);
    echo error_reporting(), "\n";
    error_reporting(E_ALL);
});
echo error_reporting() === E_ALL ? "full" : error_reporting(), "\n";
?>
--EXPECT--
a child of @ has the full level
inside @: 4437
[warning of loud]
[warning of silent one, now loud]
new ones see what error_reporting() set: 1
1
full
