--TEST--
Channel: close() wakes everybody who waits, keeps what is held, and may be called once
--FILE--
<?php
use Apus\Coroutine;
use Apus\Coroutine\Channel;
use function Apus\go;
use function Apus\Coroutine\{batch, run};

run(function () {
    $c = new Channel(1);
    $ids = [];
    for ($i = 0; $i < 3; $i++) {
        $ids[] = go(function () use ($c, $i) {
            $end = [$c->pop(), $c->errCode];
            echo "consumer $i: ", json_encode($end), "\n";
        });
    }
    var_dump($c->close(), $c->close(), $c->errCode === Apus\CHANNEL_CLOSED);
    Coroutine::join($ids);

    $c = new Channel(1);
    $c->push('held');
    $ids = [];
    for ($i = 0; $i < 3; $i++) {
        $ids[] = go(function () use ($c, $i) {
            $end = [$c->push($i), $c->errCode];
            echo "producer $i: ", json_encode($end), "\n";
        });
    }
    $c->close();
    Coroutine::join($ids);
    echo json_encode([$c->pop(), $c->errCode, $c->pop(), $c->errCode, $c->push(1), $c->errCode]), "\n";

    // Closed by a coroutine while the time of another runs.
    $c = new Channel;
    $begin = microtime(true);
    $results = batch([fn() => $c->pop(30), function () use ($c) { Coroutine::sleep(0.01); return $c->close(); }]);
    echo json_encode($results), microtime(true) - $begin < 10 ? "\n" : " too late\n";
});
?>
--EXPECT--
consumer 0: [false,-2]
consumer 1: [false,-2]
consumer 2: [false,-2]
bool(true)
bool(false)
bool(true)
producer 0: [false,-2]
producer 1: [false,-2]
producer 2: [false,-2]
["held",0,false,-2,false,-2]
[false,true]
