--TEST--
What a destructor throws when a coroutine's or timer's values go is uncaught; it never reaches another coroutine
--FILE--
<?php
use Apus\Coroutine;
use Apus\Timer;
use function Apus\go;
use function Apus\Coroutine\run;

class Throws { function __construct(public string $n) {} function __destruct() { throw new LogicException("destructor of $this->n"); } }
$ways = [
    'context' => fn() => go(function () { Coroutine::getContext()['t'] = new Throws("the context"); Coroutine::sleep(0.001); }),
    'closure' => function () { $t = new Throws("a closure"); go(function () use ($t) { Coroutine::sleep(0.001); }); },
    'argument' => fn() => go(fn($t) => Coroutine::sleep(0.001), new Throws("an argument")),
    'result' => fn() => go(function () { Coroutine::sleep(0.001); return new Throws("a result"); }),
    'timer' => function () { $t = new Throws("a timer"); Timer::after(1, function () use ($t) {}); },
    'at once' => fn() => go(fn() => new Throws("a result at once")),
];
foreach ($ways as $way) {
    try {
        run(function () use ($way) {
            go(function () {
                try {
                    Coroutine::sleep(10);
                } catch (Throwable $e) {
                    echo "another is ended: ", get_class($e), "\n";
                }
            });
            $way();
            Coroutine::sleep(10);
        });
    } catch (LogicException $e) {
        echo $e->getMessage(), "\n";
    }
}
?>
--EXPECT--
another is ended: Apus\Coroutine\CanceledException
destructor of the context
another is ended: Apus\Coroutine\CanceledException
destructor of a closure
another is ended: Apus\Coroutine\CanceledException
destructor of an argument
another is ended: Apus\Coroutine\CanceledException
destructor of a result
another is ended: Apus\Coroutine\CanceledException
destructor of a timer
another is ended: Apus\Coroutine\CanceledException
destructor of a result at once
