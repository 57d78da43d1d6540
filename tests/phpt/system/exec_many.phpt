--TEST--
100 commands of 0.1 s run side by side
--FILE--
<?php
use Apus\Coroutine\System;
use function Apus\Coroutine\{batch, run};

$begin = hrtime(true);
run(function () {
    $jobs = [];
    for ($i = 0; $i < 100; $i++) {
        $jobs[] = fn() => System::exec("sleep 0.1; echo $i");
    }
    $wrong = array_filter(
        batch($jobs),
        fn($result, $i) => $result !== ['code' => 0, 'signal' => 0, 'output' => "$i\n"],
        ARRAY_FILTER_USE_BOTH,
    );
    var_dump($wrong);
});
var_dump((hrtime(true) - $begin) / 1e9 < 5);
?>
--EXPECT--
array(0) {
}
bool(true)
