--TEST--
set_error_handler() and restore_error_handler() of a coroutine are its own; children inherit
--FILE--
<?php
use Apus\Coroutine;
use function Apus\go;
use function Apus\Coroutine\run;

function guarded(string $who, float $time): string
{
    $errors = [];
    set_error_handler(function (int $level, string $message) use (&$errors) { $errors[] = $message; return true; });
    try {
        trigger_error("$who begins");
        Coroutine::sleep($time);
        trigger_error("$who goes on");
        set_error_handler(function (int $level, string $message) use (&$errors) { $errors[] = "inner $message"; return true; });
        Coroutine::sleep($time / 2);
        trigger_error("$who is inside");
        restore_error_handler();
        trigger_error("$who ends");
    } finally {
        restore_error_handler();
    }
    return "$who: " . implode(', ', $errors);
}

$everybody = function (int $level, string $message) { echo "for everybody: $message\n"; return true; };
set_error_handler($everybody);
run(function () {
    $said = $ids = [];
    foreach (['alice' => 0.004, 'bob' => 0.002, 'carol' => 0.003] as $who => $time) {
        $ids[] = go(function () use ($who, $time, &$said) { $said[$who] = guarded($who, $time); });
    }
    $ids[] = go(function () { Coroutine::sleep(0.003); trigger_error('nobody set one here'); });
    Coroutine::join($ids);
    ksort($said);
    echo implode("\n", $said), "\n";
});
trigger_error('outside');

// What is set inside run() stays, and a child sees what its parent has set; what the child sets goes with it.
run(function () {
    set_error_handler(function (int $level, string $message) { echo "of the program: $message\n"; return true; });
    $child = go(function () {
        trigger_error('child');
        Coroutine::sleep(0.001);
        trigger_error('child later');
        set_error_handler(fn () => print("of the child\n"));
        trigger_error('x');
        Coroutine::sleep(0.001);
        trigger_error('x');
    });
    Coroutine::join([$child]);
    trigger_error('parent');
});
trigger_error('after run()');
restore_error_handler();
trigger_error('restored');

// A handler of a coroutine's own that waits.
run(function () {
    foreach (['a', 'b'] as $who) {
        go(function () use ($who) {
            set_error_handler(function (int $level, string $message) use ($who) {
                Coroutine::sleep(0.001);
                echo "$who handles $message\n";
                return true;
            });
            trigger_error("of $who");
            trigger_error("again of $who");
            restore_error_handler();
            trigger_error("last of $who");
        });
    }
});
restore_error_handler();
var_dump(set_error_handler(null));
?>
--EXPECT--
for everybody: nobody set one here
alice: alice begins, alice goes on, inner alice is inside, alice ends
bob: bob begins, bob goes on, inner bob is inside, bob ends
carol: carol begins, carol goes on, inner carol is inside, carol ends
for everybody: outside
of the program: child
of the program: child later
of the child
of the child
of the program: parent
of the program: after run()
for everybody: restored
a handles of a
b handles of b
a handles again of a
for everybody: last of a
b handles again of b
for everybody: last of b
NULL
