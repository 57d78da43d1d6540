--TEST--
Channel: coroutines that hand values to each other for ever do not keep the event loop from timers
--FILE--
<?php
use Apus\Coroutine\Channel;
use Apus\Timer;
use function Apus\go;
use function Apus\Coroutine\run;

run(function () {
    $there = new Channel;
    $back = new Channel;
    $over = false;
    Timer::after(10, function () use (&$over) {
        $over = true;
    });
    go(function () use ($there, $back) {
        while (($value = $there->pop()) !== false) {
            $back->push($value + 1);
        }
        $back->close();
    });
    $value = 0;
    while (!$over) {
        $there->push($value);
        $value = $back->pop();
    }
    var_dump($value > 0);
    $there->close();
    var_dump($back->pop());

    echo "a ring of 1,000:\n";
    $ring = array_map(fn() => new Channel, range(0, 999));
    foreach ($ring as $i => $chan) {
        $i && go(function () use ($ring, $i) {
            while (($value = $ring[$i]->pop()) !== false) {
                $ring[($i + 1) % 1000]->push($value + 1);
            }
            $ring[($i + 1) % 1000]->close();
        });
    }
    for ($round = 0, $value = 0; $round < 20; $round++) {
        $ring[1]->push($value + 1);
        $value = $ring[0]->pop();
    }
    var_dump($value);
    $ring[1]->close();
    var_dump($ring[0]->pop(), $ring[0]->errCode === Apus\CHANNEL_CLOSED);
});
?>
--EXPECT--
bool(true)
bool(false)
a ring of 1,000:
int(20000)
bool(false)
bool(true)
