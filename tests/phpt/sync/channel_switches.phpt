--TEST--
Channel: two switches move a buffer; with a capacity of 1 who waits runs at once
--FILE--
<?php
use Apus\Coroutine;
use Apus\Coroutine\Channel;
use function Apus\go;
use function Apus\Coroutine\run;

/** How often a coroutine was entered while so many values went through. */
function switches(int $capacity, int $values): int
{
    $c = new Channel($capacity);
    go(function () use ($c, $values) {
        for ($n = 0; $n < $values; $n++) {
            $c->push($n);
        }
    });
    $before = Coroutine::stats()['switch_num'];
    for ($n = 0; $n < $values; $n++) {
        if ($c->pop() !== $n) {
            echo "wrong\n";
        }
    }
    return Coroutine::stats()['switch_num'] - $before;
}

run(function () {
    echo switches(100, 10_000) <= 10_000 / 100 * 2 + 2 ? "few\n" : "many\n";
    $order = [];
    $c = new Channel(1);
    go(function () use ($c, &$order) {
        while (($value = $c->pop()) !== false) {
            $order[] = "popped $value";
        }
    });
    foreach ([1, 2] as $value) {
        $c->push($value);
        $order[] = "pushed $value";
    }
    $c->close();
    echo implode(', ', $order), "\n";
});
?>
--EXPECT--
few
popped 1, pushed 1, popped 2, pushed 2
