--TEST--
The timer of a crowd that sleeps is set every 200 microseconds at most, however many sleeps end
--FILE--
<?php
use Apus\Coroutine;
use function Apus\Coroutine\run;

/** How often the process has waited: each time it is woken by the timer. */
function waits(): int
{
    return getrusage()['ru_nvcsw'];
}

run(function () {
    $end = hrtime(true) + 300_000_000;
    for ($i = 0; $i < 2_000; $i++) {
        Coroutine::create(function () use ($end) {
            while (hrtime(true) < $end) {
                Coroutine::sleep(mt_rand(1_000, 50_000) / 1e6);
            }
        });
    }
    [$before, $begun] = [waits(), hrtime(true)];
    while (hrtime(true) < $end) {
        Coroutine::sleep(0.01);
    }
    $waits = waits() - $before;
    $most = (hrtime(true) - $begun) / 200_000 * 1.2;
    echo $waits > 0 && $waits < $most ? 'seldom enough' : "$waits waits, $most are the most", "\n";
});
?>
--EXPECT--
seldom enough
