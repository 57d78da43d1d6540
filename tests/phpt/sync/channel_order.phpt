--TEST--
Channel: values come out in the order of their coming, over any number of direct hand-overs, whoever runs first
--FILE--
<?php
use Apus\Coroutine;
use Apus\Coroutine\Channel;
use function Apus\go;
use function Apus\Coroutine\{run, select};

/** Whether $got is 1, 2, 3, …, $count; else where it is not. */
function ordered(array $got, int $count): string
{
    foreach (range(1, $count) as $place => $value) {
        if (($got[$place] ?? null) !== $value) {
            return "at $place: " . json_encode(array_slice($got, max(0, $place - 3), 8));
        }
    }
    return count($got) === $count ? 'in order' : 'too many';
}

$consumer = function (Channel $c, array &$got, int $kind): void {
    while (true) {
        $value = $kind === 1 ? select(['c' => $c])[1] : $c->pop($kind === 2 ? 60 : -1);
        if ($value === false) {
            return;
        }
        $got[] = $value;
    }
};
foreach ([1, 2, 5] as $capacity) {
    foreach ([1, 2, 3, 7] as $consumers) {
        $got = [];
        run(function () use ($capacity, $consumers, $consumer, &$got) {
            $c = new Channel($capacity);
            for ($i = 0; $i < $consumers; $i++) {
                go(function () use ($c, $consumer, &$got, $i) {
                    $consumer($c, $got, $i % 3);
                });
            }
            for ($n = 1; $n <= 1000; $n++) {
                $c->push($n);
            }
            $c->close();
        });
        echo "capacity $capacity, $consumers consumers: ", ordered($got, 1000), "\n";
    }
}

echo "each waits for one value, and one that comes later takes what is there:\n";
$got = [];
run(function () use (&$got) {
    $c = new Channel(10);
    for ($i = 0; $i < 140; $i++) {
        go(function () use ($c, &$got) {
            $got[] = $c->pop();
        });
    }
    for ($n = 1; $n <= 140; $n++) {
        $c->push($n);
    }
    // Nobody but the 12 that the loop has to enter is left; these two are for this coroutine.
    $c->push(141);
    $c->push(142);
    var_dump(count($got), $c->length(), $c->stats(), $c->isEmpty());
    $got[] = $c->pop();
    $got[] = $c->pop();
    var_dump($c->length(), $c->isEmpty(), $c->pop(0.001), $c->errCode === Apus\CHANNEL_TIMEOUT);
});
echo ordered($got, 142), "\n";

echo "promised values come out of a closed channel, and to cancelled coroutines:\n";
$got = [];
run(function () use (&$got) {
    $c = new Channel(1);
    $ids = [];
    for ($i = 0; $i < 132; $i++) {
        $ids[] = go(function () use ($c, &$got) {
            $got[] = $c->pop();
        });
    }
    for ($n = 1; $n <= 132; $n++) {
        $c->push($n);
    }
    $c->push('last');
    $c->close();
    Coroutine::cancel($ids[129]);
    $got[] = $c->pop();
    var_dump($c->pop(), $c->errCode === Apus\CHANNEL_CLOSED);
});
var_dump(count($got), array_slice($got, 126));

echo "where nothing can be suspended:\n";
$got = [];
run(function () use (&$got) {
    $c = new Channel(3);
    for ($i = 0; $i < 3; $i++) {
        go(function () use ($c, &$got) {
            while (($value = $c->pop()) !== false) {
                $got[] = $value;
            }
        });
    }
    $pusher = new class($c) {
        public ?object $self = null;
        public function __construct(private Channel $c) {}
        public function __destruct()
        {
            for ($n = 1; $n <= 6; $n++) {
                $this->c->push($n);
            }
        }
    };
    $pusher->self = $pusher;
    unset($pusher);
    gc_collect_cycles();
    for ($n = 7; $n <= 200; $n++) {
        $c->push($n);
    }
    $c->close();
});
echo ordered($got, 200), "\n";
?>
--EXPECT--
capacity 1, 1 consumers: in order
capacity 1, 2 consumers: in order
capacity 1, 3 consumers: in order
capacity 1, 7 consumers: in order
capacity 2, 1 consumers: in order
capacity 2, 2 consumers: in order
capacity 2, 3 consumers: in order
capacity 2, 7 consumers: in order
capacity 5, 1 consumers: in order
capacity 5, 2 consumers: in order
capacity 5, 3 consumers: in order
capacity 5, 7 consumers: in order
each waits for one value, and one that comes later takes what is there:
int(128)
int(2)
array(3) {
  ["consumer_num"]=>
  int(0)
  ["producer_num"]=>
  int(0)
  ["queue_num"]=>
  int(2)
}
bool(false)
int(0)
bool(true)
bool(false)
bool(true)
in order
promised values come out of a closed channel, and to cancelled coroutines:
bool(false)
bool(true)
int(133)
array(7) {
  [0]=>
  int(127)
  [1]=>
  int(128)
  [2]=>
  int(129)
  [3]=>
  int(130)
  [4]=>
  int(131)
  [5]=>
  int(132)
  [6]=>
  string(4) "last"
}
where nothing can be suspended:
in order
