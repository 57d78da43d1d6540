--TEST--
select(): pop and push cases, none ready, limits, closed channels, fairness, cancel, misuse
--FILE--
<?php
use Apus\Coroutine;
use Apus\Coroutine\{CanceledException, Channel};
use function Apus\go;
use function Apus\Coroutine\{run, select};

$told = function (callable $f) {
    try {
        echo json_encode($f()), "\n";
    } catch (Throwable $e) {
        echo get_class($e), ': ', $e->getMessage(), "\n";
    }
};
echo "outside:\n";
[$a, $b] = [new Channel, new Channel];
$told(fn() => select([$a, $b], 0));
$told(fn() => select(['in' => $a, 'out' => [$b, 7]]));
$told(fn() => select([5 => $b]));
$told(fn() => select([$a]));
foreach ([[], [1], [$a, 'x'], [[$a]], [[$a, 1, 2]], [[1, 2]], [new stdClass]] as $wrong) {
    $told(fn() => select($wrong));
}

run(function () use ($told) {
    echo "waiting:\n";
    [$a, $b, $full] = [new Channel, new Channel, new Channel];
    $full->push('old');
    $told(fn() => select([$a, $b, [$full, 1]], 0.001));
    go(function () use ($b) { Coroutine::sleep(0.001); $b->push('late'); });
    $told(fn() => select(['a' => $a, 'b' => $b, 'f' => [$full, 1]]));
    go(function () use ($full) { Coroutine::sleep(0.001); $full->pop(); });
    $told(fn() => select(['a' => $a, 'b' => $b, 'f' => [$full, 'new']], 30));
    echo json_encode([$full->pop(), $a->stats(), $b->stats(), $full->stats()]), "\n";
    go(function () use ($a) { Coroutine::sleep(0.001); $a->close(); });
    $told(fn() => [select(['a' => $a, 'b' => $b]), $a->errCode === Apus\CHANNEL_CLOSED]);
    $told(fn() => select([[$a, 'to a closed one']]));

    echo "only one case happens:\n";
    [$x, $y] = [new Channel, new Channel];
    $ids = [];
    for ($i = 0; $i < 5; $i++) {
        $ids[] = go(function () use ($x, $y) { echo json_encode(select([$x, $y])), "\n"; });
    }
    for ($i = 0; $i < 3; $i++) {
        $x->push("x$i");
    }
    $y->push('y0');
    $y->push('y1');
    Coroutine::join($ids);
    echo json_encode([$x->stats(), $y->stats()]), "\n";

    echo "two that select from each other:\n";
    [$p, $q] = [new Channel, new Channel];
    $p->push('fills');
    $id = go(function () use ($p, $q) { echo json_encode(select(['push' => [$p, 'pushed'], 'pop' => $q])), "\n"; });
    echo json_encode(select(['pop' => $p])), "\n";
    Coroutine::join([$id]);
    echo json_encode($p->pop()), "\n";

    echo "fair:\n";
    $channels = [new Channel(1000), new Channel(1000), new Channel(1000)];
    $counts = [0, 0, 0];
    for ($i = 0; $i < 1500; $i++) {
        foreach ($channels as $c) {
            $c->isEmpty() && $c->push(1);
        }
        $counts[select($channels)[0]]++;
    }
    var_dump(min($counts) > 350, array_sum($counts));

    echo "cancelled:\n";
    foreach ([false, true] as $throw) {
        $id = go(function () use ($told, $p, $q) { $told(fn() => select([$p, $q])); });
        Coroutine::cancel($id, $throw);
        Coroutine::join([$id]);
    }
    $lost = 0;
    for ($i = 0; $i < 300; $i++) {
        $ids[$i] = go(function () use ($p, $q, &$lost, $i) { $lost += select([$p, $q]) === [$i % 2, $i] ? 0 : 1; });
    }
    for ($i = 0; $i < 300; $i++) {
        ($i % 2 ? $q : $p)->push($i);
        Coroutine::cancel($ids[$i]);
    }
    Coroutine::join($ids);
    echo json_encode([$lost, $p->stats(), $q->stats()]), "\n";

    for ($i = 0; $i < 1000; $i++) {
        select([$p, $q], 0.00001);
    }
    class Noisy { public function __destruct() { echo "~\n"; } }
    $full->push('full');
    select([[$full, new Noisy]], 0.001);
    echo "after\n";
});
?>
--EXPECT--
outside:
null
["out",true]
[5,7]
Apus\Coroutine\Exception: Coroutine\select() waits and needs a coroutine: call it inside Apus\Coroutine\run() or Apus\go()
ValueError: Apus\Coroutine\select(): Argument #1 ($cases) must hold at least one channel
TypeError: Apus\Coroutine\select(): Argument #1 ($cases) must hold channels (to pop) and [channel, value] pairs (to push) only
TypeError: Apus\Coroutine\select(): Argument #1 ($cases) must hold channels (to pop) and [channel, value] pairs (to push) only
TypeError: Apus\Coroutine\select(): Argument #1 ($cases) must hold a push case as an array of exactly two: [channel, value]
TypeError: Apus\Coroutine\select(): Argument #1 ($cases) must hold a push case as an array of exactly two: [channel, value]
TypeError: Apus\Coroutine\select(): Argument #1 ($cases) must hold channels (to pop) and [channel, value] pairs (to push) only
TypeError: Apus\Coroutine\select(): Argument #1 ($cases) must hold channels (to pop) and [channel, value] pairs (to push) only
waiting:
null
["b","late"]
["f",true]
["new",{"consumer_num":0,"producer_num":0,"queue_num":0},{"consumer_num":0,"producer_num":0,"queue_num":0},{"consumer_num":0,"producer_num":0,"queue_num":0}]
[["a",false],true]
[0,false]
only one case happens:
[0,"x0"]
[0,"x1"]
[0,"x2"]
[1,"y0"]
[1,"y1"]
[{"consumer_num":0,"producer_num":0,"queue_num":0},{"consumer_num":0,"producer_num":0,"queue_num":0}]
two that select from each other:
["push",true]
["pop","fills"]
"pushed"
fair:
bool(true)
int(1500)
cancelled:
null
Apus\Coroutine\CanceledException: the coroutine was cancelled while it waited in Coroutine\select()
[0,{"consumer_num":0,"producer_num":0,"queue_num":0},{"consumer_num":0,"producer_num":0,"queue_num":0}]
~
after
