--TEST--
PHP's own limit of the C stack (8.3 and newer) is that of the coroutine's stack: deep recursion throws, in each of them alone
--SKIPIF--
<?php
if (PHP_VERSION_ID < 80300) die('skip PHP 8.3 looks at its stack first');
--FILE--
<?php
use Apus\Coroutine;
use function Apus\{go, Coroutine\run};

Coroutine::set(['stack_size' => '128K']);

function nested(int $depth): int
{
    return $depth === 0 ? 0 : array_map(fn () => 1 + nested($depth - 1), [0])[0];
}

function attempt(string $who, int $depth): void
{
    try {
        $reached = nested($depth);
        echo "$who: $reached\n";
    } catch (Error $e) {
        echo "$who: ", strstr($e->getMessage(), ' of ', true), "\n";
    }
}

$deep = 2000;
run(function () use ($deep) {
    for ($i = 0; $i < 3; $i++) {
        go(function () use ($deep, $i) {
            attempt("before a wait $i", $deep);
            Coroutine::sleep(0.001);
            attempt("after a wait $i", 10);
            attempt("and $i", $deep);
        });
    }
});
attempt('outside', $deep);
--EXPECT--
before a wait 0: Maximum call stack size
before a wait 1: Maximum call stack size
before a wait 2: Maximum call stack size
after a wait 0: 10
and 0: Maximum call stack size
after a wait 1: 10
and 1: Maximum call stack size
after a wait 2: 10
and 2: Maximum call stack size
outside: 2000
