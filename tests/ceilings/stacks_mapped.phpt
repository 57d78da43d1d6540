--TEST--
More stacks than the kernel allows mappings for, where guards cost one each
--INI--
memory_limit=-1
--FILE--
<?php
use Apus\Coroutine;
use function Apus\go;
use function Apus\Coroutine\run;

// 40,000 stacks with a guard each would be 80,000 mappings; vm.max_map_count is 65,530 by default.
run(function () {
    $woken = 0;
    for ($i = 0; $i < 40_000; $i++) {
        go(function () use (&$woken) { Coroutine::yield(); $woken++; });
    }
    $maps = substr_count(file_get_contents('/proc/self/maps'), "\n");
    echo $maps < 60_000 ? "within the limit\n" : "$maps\n";
    foreach (Coroutine::list() as $id) { Coroutine::resume($id); }
    echo $woken, "\n";
});
?>
--EXPECT--
within the limit
40000
