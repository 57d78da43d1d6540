--TEST--
Channel: time-outs and cancellation on both sides; a value that was handed over is never lost
--FILE--
<?php
use Apus\Coroutine;
use Apus\Coroutine\{CanceledException, Channel};
use function Apus\go;
use function Apus\Coroutine\run;

run(function () {
    $c = new Channel(1);
    var_dump($c->pop(0.001), $c->errCode === Apus\CHANNEL_TIMEOUT);
    $c->push('first');
    var_dump($c->push('lost', 0.001), $c->errCode === Apus\CHANNEL_TIMEOUT);
    var_dump($c->pop(), $c->errCode, $c->length());

    foreach ([false, true] as $throw) {
        $id = go(function () use ($c) {
            try {
                var_dump($c->pop(), $c->errCode === Apus\CHANNEL_CANCELED);
            } catch (CanceledException $e) {
                echo $e->getMessage(), "\n";
            }
        });
        var_dump($c->stats()['consumer_num']);
        Coroutine::cancel($id, $throw);
        Coroutine::join([$id]);
        var_dump($c->stats()['consumer_num']);
    }
    $c->push('kept');
    $id = go(function () use ($c) {
        var_dump($c->push('taken back'), $c->errCode === Apus\CHANNEL_CANCELED);
    });
    Coroutine::cancel($id);
    Coroutine::join([$id]);
    var_dump($c->pop(), $c->length());

    echo "cancelled in the moment of the hand-over:\n";
    // Many hand-overs in one slice of the loop: those after the first hundred are left to the loop, so that a
    // cancellation comes between.
    $got = [];
    $ids = [];
    for ($i = 0; $i < 500; $i++) {
        $ids[] = go(function () use ($c, &$got) {
            $value = $c->pop();
            $got[] = $value === false ? 'lost' : $value;
        });
    }
    for ($i = 0; $i < 500; $i++) {
        $c->push($i);
        Coroutine::cancel($ids[$i], true);
    }
    Coroutine::join($ids);
    var_dump($got === range(0, 499), $c->length());

    echo "cancelled before:\n";
    $values = 0;
    $ids = [];
    for ($i = 0; $i < 10; $i++) {
        $ids[] = go(function () use ($c, &$values) {
            $values += $c->pop() === false ? 0 : 1;
        });
    }
    foreach ($ids as $i => $id) {
        $i % 2 === 0 && Coroutine::cancel($id);
    }
    $left = 0;
    for ($i = 0; $i < 10; $i++) {
        $left += $c->push($i, 0.005) ? 0 : 1;
    }
    var_dump($values + $c->length() + $left);
});
?>
--EXPECT--
bool(false)
bool(true)
bool(false)
bool(true)
string(5) "first"
int(0)
int(0)
int(1)
bool(false)
bool(true)
int(0)
int(1)
the coroutine was cancelled while it waited in Coroutine\Channel::pop()
int(0)
bool(false)
bool(true)
string(4) "kept"
int(0)
cancelled in the moment of the hand-over:
bool(true)
int(0)
cancelled before:
int(10)
