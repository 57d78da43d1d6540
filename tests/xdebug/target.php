<?php
use Apus\Coroutine;
use function Apus\go;

function work(string $name): string
{
    $before = "before $name";
    Coroutine::sleep(0.005);
    $after = "after $name in " . Coroutine::getCid();
    return $after;
}

if (($argv[1] ?? '') === 'alone') {
    Apus\Coroutine\run(fn() => work("alone"));
    exit;
}
Apus\Coroutine\run(function () {
    $first = go(fn() => work("first"));
    $second = go(function () {
        $fiber = new Fiber(function () {
            return work("second");
        });
        $fiber->start();
        echo $fiber->getReturn(), "\n";
    });
    Coroutine::join([$first, $second]);
    echo "joined\n";
});
