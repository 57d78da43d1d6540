--TEST--
A class that one coroutine is loading is waited for by others, circles are not
--FILE--
<?php
use Apus\Coroutine;
use function Apus\Coroutine\run;
use function Apus\go;

$loads = [];
spl_autoload_register(function (string $class) use (&$loads) {
    $loads[] = $class;
    usleep(2_000);
    match ($class) {
        'A' => eval('class A extends B {}'),
        'B' => eval('class B {}'),
        'X' => eval('interface X {} class_exists("Y");'),
        'Y' => eval('class Y implements X {}'),
        'Broken' => throw new Exception('cannot load it'),
        default => null,
    };
});
run(function () {
    for ($i = 0; $i < 5; $i++) {
        go(fn () => new A);
        go(fn () => new B);
    }
});
sort($loads);
echo implode(' ', $loads), "\n";
run(function () use (&$found) {
    go(function () use (&$found) { $found['X'] = interface_exists('X'); });
    go(function () use (&$found) { $found['Y'] = class_exists('Y'); });
});
ksort($found);
echo json_encode($found), "\n";
$loads = [];
run(function () use (&$said) {
    for ($i = 0; $i < 2; $i++) {
        go(function () use (&$said) {
            try {
                new Broken;
            } catch (Exception $e) {
                $said[] = $e->getMessage();
            }
        });
        go(function () use (&$said) { $said[] = class_exists('Missing') ? 'found' : 'not found'; });
    }
});
sort($said);
echo implode("\n", $said), "\n";
echo count($loads) >= 2 ? "asked\n" : "not asked\n";
--EXPECT--
A B
{"X":true,"Y":true}
cannot load it
cannot load it
not found
not found
asked
