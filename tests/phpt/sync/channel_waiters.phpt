--TEST--
Channel: 10,000 waiters are served in the order of their coming, time out, and are cancelled
--INI--
memory_limit=-1
--FILE--
<?php
use Apus\Coroutine;
use Apus\Coroutine\Channel;
use function Apus\go;
use function Apus\Coroutine\run;

const N = 10000;
run(function () {
    $c = new Channel(1);
    $order = [];
    $ids = [];
    for ($i = 0; $i < N; $i++) {
        $ids[] = go(function () use ($c, $i, &$order) {
            $order[] = [$i, $c->pop()];
        });
    }
    var_dump($c->stats()['consumer_num']);
    for ($i = 0; $i < N; $i++) {
        $c->push($i);
    }
    Coroutine::join($ids);
    $fair = true;
    foreach ($order as [$waiter, $value]) {
        $fair = $fair && $waiter === $value;
    }
    var_dump($fair, count($order));

    $c->push('full');
    $ids = [];
    for ($i = 0; $i < N; $i++) {
        $ids[] = go(fn() => $c->push($i));
    }
    $popped = [];
    $c->pop();
    for ($i = 0; $i < N; $i++) {
        $popped[] = $c->pop();
    }
    var_dump($popped === range(0, N - 1), $c->isEmpty());

    $out = 0;
    $ids = [];
    for ($i = 0; $i < N; $i++) {
        $ids[] = go(function () use ($c, &$out, $i) {
            $out += $c->pop(0.001 + ($i * 7919 % 97) / 10000) === false ? 1 : 0;
        });
    }
    Coroutine::join($ids);
    var_dump($out, $c->stats()['consumer_num']);

    $ids = [];
    for ($i = 0; $i < N; $i++) {
        $ids[] = go(fn() => $c->pop());
    }
    shuffle($ids);
    foreach ($ids as $id) {
        Coroutine::cancel($id);
    }
    Coroutine::join($ids);
    var_dump($c->stats()['consumer_num'], $c->push('still works'), $c->pop());

    for ($i = 0; $i < N; $i++) {
        go(fn() => $c->pop());
    }
    $c->close();
});
echo "over\n";
?>
--EXPECT--
int(10000)
bool(true)
int(10000)
bool(true)
bool(true)
int(10000)
int(0)
int(0)
bool(true)
string(11) "still works"
over
