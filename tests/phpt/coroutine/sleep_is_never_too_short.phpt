--TEST--
A sleep of any length ends, and not before its time, whoever was cancelled beside it
--FILE--
<?php
use Apus\Coroutine;
use function Apus\go;
use function Apus\Coroutine\run;

run(function () {
    $short = [];
    $ended = 0;
    $cancelled = 0;
    foreach (range(1, 400) as $i) {
        // 0.03 ms to 52 ms, none like another.
        $time = ($i * 151 % 401) * 0.00013 + 0.00003;
        go(function () use ($time, &$short, &$ended) {
            $begin = hrtime(true);
            $true = Coroutine::sleep($time);
            if ($true !== true || hrtime(true) - $begin < $time * 1e9) {
                $short[] = $time;
            }
            $ended++;
        });
        $cid = go(function () use ($time, &$cancelled) {
            $cancelled += Coroutine::sleep(3600 + $time) === false;
        });
        Coroutine::cancel($cid);
    }
    while ($ended < 400) {
        Coroutine::sleep(0.01);
    }
    var_dump($short, $cancelled);
});

// More than the clock can count to.
run(function () {
    $cid = go(function () {
        var_dump(Coroutine::sleep(1e12));
    });
    Coroutine::sleep(0.001);
    Coroutine::cancel($cid);
});
?>
--EXPECT--
array(0) {
}
int(400)
bool(false)
