--TEST--
The sleep family waits in the coroutine only
--FILE--
<?php
use Apus\Coroutine;
use function Apus\Coroutine\run;
use function Apus\go;

$ways = [
    'sleep' => fn () => sleep(1),
    'usleep' => fn () => usleep(200_000),
    'time_nanosleep' => fn () => time_nanosleep(0, 200_000_000),
    'time_sleep_until' => fn () => time_sleep_until(microtime(true) + 0.2),
];
foreach ($ways as $name => $sleep) {
    $begun = microtime(true);
    $results = [];
    run(function () use ($sleep, &$results) {
        for ($i = 0; $i < 20; $i++) {
            go(function () use ($sleep, &$results) { $results[] = $sleep(); });
        }
    });
    $took = microtime(true) - $begun;
    printf("%s: %d times, %s, all %s\n", $name, count($results), $took < 3 ? 'together' : "one after the other ($took s)",
        json_encode(array_values(array_unique($results))[0]));
}
--EXPECT--
sleep: 20 times, together, all 0
usleep: 20 times, together, all null
time_nanosleep: 20 times, together, all true
time_sleep_until: 20 times, together, all true
