--TEST--
A coroutine whose calls need more than the first piece of its VM stack goes on right, and its fiber serves others after it
--INI--
memory_limit=64M
--FILE--
<?php
use Apus\Coroutine;
use function Apus\go;
use function Apus\Coroutine\run;

function deep(int $depth): int
{
    if ($depth === 0) {
        Coroutine::sleep(0.001);

        return 0;
    }
    $others = [$depth, "$depth"];

    return deep($depth - 1) + count($others);
}

/** Calls at the edge of the piece, again and again. */
function wide(int $depth): int
{
    if ($depth > 0) {
        return wide($depth - 1);
    }

    return array_sum(array_map(static fn (int $n) => strlen(str_repeat('x', $n)), range(1, 50)));
}

run(function () {
    foreach (['first', 'again'] as $round) {
        $sum = 0;
        for ($i = 0; $i < 64; $i++) {
            go(function () use ($i, &$sum) { $sum += deep($i) + wide($i); });
        }
        while (Coroutine::stats()['coroutine_num'] > 1) {
            Coroutine::sleep(0.001);
        }
        echo "$round: ", $sum === 2 * array_sum(range(0, 63)) + 64 * 1275 ? 'right' : $sum, "\n";
    }
    // An exception unwinds through the pieces.
    go(function () {
        try {
            $fall = function (int $n) use (&$fall) { return $n ? $fall($n - 1) : throw new LogicException('deep'); };
            $fall(200);
        } catch (LogicException $thrown) {
            echo $thrown->getMessage(), ' ', count($thrown->getTrace()) > 200 ? 'whole' : 'cut', "\n";
        }
    });
    // 16 KiB each would be 128 MiB.
    for ($i = 0; $i < 8_000; $i++) {
        go(function () { Coroutine::sleep(0.01); });
    }
    while (Coroutine::stats()['coroutine_num'] > 1) {
        Coroutine::sleep(0.001);
    }
    echo "done\n";
});
?>
--EXPECT--
first: right
again: right
deep whole
done
