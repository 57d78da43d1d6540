--TEST--
100,000 idle timers: under 1,000 bytes each, and no CPU time
--INI--
memory_limit=-1
--FILE--
<?php
use Apus\Coroutine;
use Apus\Timer;
use function Apus\Coroutine\run;

function rss(): int { return (int) explode(' ', file_get_contents('/proc/self/statm'))[1] * 4096; }
function cpu(): int { $r = getrusage(); return $r['ru_utime.tv_sec'] * 1_000_000 + $r['ru_utime.tv_usec'] + $r['ru_stime.tv_sec'] * 1_000_000 + $r['ru_stime.tv_usec']; }
run(function () {
    $before = rss();
    $callback = fn() => print("no\n");
    for ($i = 0; $i < 100_000; $i++) {
        Timer::tick(1_000_000 + $i, $callback);
    }
    $each = intdiv(rss() - $before, 100_000);
    echo $each < 1_000 ? "small enough\n" : "$each bytes each\n";
    Coroutine::sleep(0.1);
    $cpu = cpu();
    Coroutine::sleep(0.3);
    $cpu = cpu() - $cpu;
    echo $cpu < 10_000 ? "idle\n" : "$cpu microseconds of CPU time in 300 ms\n";
    Timer::clearAll();
});
?>
--EXPECT--
small enough
idle
