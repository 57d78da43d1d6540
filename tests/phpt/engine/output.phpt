--TEST--
Output buffers belong to the coroutine that opened them
--FILE--
<?php
use Apus\Coroutine;
use function Apus\go;
use function Apus\Coroutine\run;

run(function () {
    $got = [];
    foreach (['a', 'b', 'c'] as $n) {
        go(function () use ($n, &$got) {
            ob_start();
            ob_start(fn($s) => strtoupper($s));
            for ($i = 0; $i < 3; $i++) {
                echo "$n$i ";
                Coroutine::sleep(0.001);
            }
            ob_end_flush();
            echo "levels ", ob_get_level();
            $got[$n] = ob_get_clean();
        });
    }
    echo "level of the main one: ", ob_get_level(), "\n";
    Coroutine::sleep(0.2);
    ksort($got);
    print_r($got);
    echo "level of the main one: ", ob_get_level(), "\n";
    // Left open: flushed at the coroutine's end.
    go(function () { ob_start(fn($s) => "[$s]\n"); echo "left open"; });
    go(function () { ob_start(); echo "in "; Coroutine::sleep(0.001); echo "two parts\n"; });
    // A buffer is open while another coroutine is made and ends.
    ob_start();
    echo "held";
    go(fn() => print("passes by\n"));
    $held = ob_get_clean();
    echo "$held\n";
});
// What a buffer's callback throws at the end is the coroutine's exception; others are not touched.
try {
    run(function () {
        go(function () { ob_start(fn() => throw new LogicException("in a callback")); Coroutine::sleep(0.001); });
        try { Coroutine::sleep(10); } finally { echo "ended\n"; }
    });
} catch (LogicException $e) {
    echo $e->getMessage(), "\n";
}
// A buffer of the script's own does not see what coroutines print, and is unharmed.
ob_start();
echo "before ";
run(function () { ob_start(); echo "hidden"; Coroutine::sleep(0.001); ob_end_clean(); });
echo "after";
var_dump(ob_get_clean());
?>
--EXPECT--
level of the main one: 0
Array
(
    [a] => A0 A1 A2 levels 1
    [b] => B0 B1 B2 levels 1
    [c] => C0 C1 C2 levels 1
)
level of the main one: 0
[left open]
passes by
held
in two parts
ended
in a callback
string(12) "before after"
