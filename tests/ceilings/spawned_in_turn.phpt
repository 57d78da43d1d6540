--TEST--
1,000,000 coroutines in turn: through a few pooled stacks, memory stays flat
--FILE--
<?php
use Apus\Coroutine;
use function Apus\go;
use function Apus\Coroutine\run;

function rss(): int { return (int) explode(' ', file_get_contents('/proc/self/statm'))[1] * 4096; }
run(function () {
    $count = 0;
    $round = function (int $n) use (&$count) {
        for ($i = 0; $i < $n; $i++) {
            go(function () use (&$count, $i) { if ($i % 10 === 0) { Coroutine::sleep(0); } $count++; });
            if ($i % 1000 === 0) { Coroutine::sleep(0); Coroutine::sleep(0); }
        }
        Coroutine::sleep(0.001);
    };
    $round(100_000);
    [$rss, $php] = [rss(), memory_get_usage()];
    $round(900_000);
    Coroutine::sleep(0.01);
    $grown = [rss() - $rss, memory_get_usage() - $php];
    echo $count, " done\n";
    echo max($grown) < 1 << 20 ? "flat\n" : "grown by $grown[0] bytes RSS, $grown[1] bytes of PHP's\n";
    $stacks = Coroutine::stats()['stack_num'];
    echo $stacks < 2000 ? "few stacks\n" : "$stacks stacks\n";
});
?>
--EXPECT--
1000000 done
flat
few stacks
