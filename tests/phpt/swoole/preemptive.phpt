--TEST--
Coroutine::set(): enable_preemptive_scheduler interrupts a coroutine that does not wait, unless it is excepted
--INI--
apus.swoole_compat=1
--FILE--
<?php
use Swoole\Coroutine;

Coroutine::set(['enable_preemptive_scheduler' => true]);
$go = true;
Coroutine\run(function () use (&$go) {
    go(function () use (&$go) {
        for ($turns = 0; $go; $turns++);
        echo "the loop ended, it turned: ", var_export($turns > 0, true), "\n";
    });
    go(function () use (&$go) {
        echo "another goes on\n";
        $go = false;
    });
});

// What is excepted is left alone, and others after it are not.
$seen = [];
Coroutine\run(function () use (&$seen) {
    var_dump(Coroutine::disableScheduler(), Coroutine::disableScheduler());
    go(function () use (&$seen) {
        Coroutine::sleep(0.001);
        $seen[] = 'the other';
    });
    $end = hrtime(true) + 100_000_000;
    while (hrtime(true) < $end);
    $seen[] = 'excepted';
    var_dump(Coroutine::enableScheduler(), Coroutine::enableScheduler());
    $end = hrtime(true) + 20_000_000_000;
    while (count($seen) < 2 && hrtime(true) < $end);
    $seen[] = 'interrupted';
});
echo implode(', ', $seen), "\n";

// A cancelled one is told where it stands.
Coroutine\run(function () {
    $id = go(function () {
        try {
            for (;;);
        } catch (Swoole\Coroutine\CanceledException) {
            echo "cancelled\n";
        }
    });
    var_dump(Coroutine::cancel($id, true));
});
var_dump(Coroutine::enableScheduler());
?>
--EXPECT--
another goes on
the loop ended, it turned: true
bool(true)
bool(false)
bool(true)
bool(false)
excepted, the other, interrupted
bool(true)
cancelled
bool(false)
