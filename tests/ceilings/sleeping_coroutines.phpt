--TEST--
100,000 coroutines asleep at once: under 7,200 bytes each (measured: 6,190; before Linux 6.13 a page more for the guard)
--INI--
memory_limit=-1
--FILE--
<?php
use Apus\Coroutine;
use function Apus\go;
use function Apus\Coroutine\run;

function rss(): int { return (int) explode(' ', file_get_contents('/proc/self/statm'))[1] * 4096; }
Coroutine::set(['max_coroutine' => 100_001]);
run(function () {
    $awake = 0;
    $before = rss();
    for ($i = 0; $i < 100_000; $i++) {
        go(function () use (&$awake) { Coroutine::yield(); Coroutine::sleep(0.001); $awake++; });
    }
    $each = intdiv(rss() - $before, 100_000);
    $limit = version_compare(php_uname('r'), '6.13', '>=') ? 7_200 : 11_500;
    echo $each < $limit ? "small enough\n" : "$each bytes each\n";
    $maps = substr_count(file_get_contents('/proc/self/maps'), "\n");
    echo $maps < 40_000 ? "few mappings\n" : "$maps mappings\n";
    foreach (Coroutine::list() as $id) {
        if ($id !== Coroutine::getCid()) { Coroutine::resume($id); }
    }
    while (Coroutine::stats()['coroutine_num'] > 1) { Coroutine::sleep(0.01); }
    echo "$awake awake\n";
});
?>
--EXPECT--
small enough
few mappings
100000 awake
