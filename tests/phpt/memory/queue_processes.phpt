--TEST--
Queue between processes: order, waiting inside and outside coroutines, killed poppers and pushers, signals, closing
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
use Apus\{Atomic, Coroutine, Queue};
use function Apus\Coroutine\{batch, run};
use function Apus\go;

function child(callable $do): int
{
    if (($pid = pcntl_fork()) === 0) {
        $do();
        posix_kill(posix_getpid(), SIGKILL);
    }
    return $pid;
}

echo "order:\n";
// Room for a few, so that both sides wait.
$queue = new Queue(2000);
$sum = new Atomic\Long();
$wrong = new Atomic();
$take = function () use ($queue, $sum, $wrong) {
    $last = [];
    while (($value = $queue->pop()) !== false) {
        [$who, $n] = $value;
        ($last[$who] ?? -1) < $n || $wrong->add();
        $last[$who] = $n;
        $sum->add($n);
    }
    $queue->errCode === Apus\CHANNEL_CLOSED || $wrong->add();
};
$give = function (int $who) use ($queue) {
    for ($n = 0; $n < 500; $n++) {
        $queue->push([$who, $n, str_repeat('x', $n % 100)]);
    }
};
$takers = [child($take), child(fn() => run($take)), child(fn() => run(fn() => batch([$take, $take])))];
$givers = [
    child(fn() => $give(1)),
    child(fn() => run(fn() => batch([fn() => $give(2), fn() => $give(3)]))),
    child(fn() => $give(4)),
];
foreach ($givers as $pid) {
    pcntl_waitpid($pid, $status);
}
$queue->close();
foreach ($takers as $pid) {
    pcntl_waitpid($pid, $status);
}
echo json_encode([$sum->get(), 4 * 500 * 499 / 2, $wrong->get(), count($queue)]), "\n";

echo "killed:\n";
$queue = new Queue(4000);
$taken = new Atomic();
$about = new Atomic();
$pop = fn() => child(function () use ($queue, $taken) {
    while ($queue->pop()) {
        $taken->add();
    }
});
$push = fn() => child(function () use ($queue, $about) {
    for (;;) {
        $about->add();
        $queue->push('x');
    }
});
[$popper, $pusher, $other] = [$pop(), $push(), $pop()];
for ($kill = 0; $kill < 20; $kill++) {
    usleep(mt_rand(0, 2000));
    posix_kill($kill % 2 ? $popper : $pusher, SIGKILL);
    pcntl_waitpid($kill % 2 ? $popper : $pusher, $status);
    $kill % 2 ? $popper = $pop() : $pusher = $push();
}
posix_kill($pusher, SIGKILL);
pcntl_waitpid($pusher, $status);
$queue->close();
pcntl_waitpid($popper, $status);
pcntl_waitpid($other, $status);
$lost = $about->get() - $taken->get();
// What each of the killed had in its hands: at most one.
echo json_encode([count($queue), $lost >= 0 && $lost <= 21, $taken->get() > 0]), "\n";

echo "in the loop:\n";
$queue = new Queue(1000);
$now = new Atomic();
$pid = child(function () use ($queue, $now) {
    $now->wait(-1);
    $queue->push('from outside');
});
run(function () use ($queue, $now) {
    $ticks = 0;
    go(function () use (&$ticks, $now) {
        while ($ticks >= 0) {
            Coroutine::sleep(0.0005);
            $ticks++ > 0 && $now->wakeup();
        }
    });
    var_dump($queue->pop(20), $ticks > 0);
    var_dump($queue->pop(0.002), $queue->errCode);
    $cancelled = go(function () use ($queue) {
        var_dump($queue->pop(), $queue->errCode === Apus\CHANNEL_CANCELED);
    });
    Coroutine::cancel($cancelled);
    Coroutine::sleep(0.001);
    // Two coroutines of one process, and one value.
    $got = [];
    foreach ([1, 2] as $_) {
        go(function () use ($queue, &$got) {
            $got[] = $queue->pop(0.02);
        });
    }
    $queue->push('one');
    while (count($got) < 2) {
        Coroutine::sleep(0.001);
    }
    echo json_encode($got), "\n";
    $ticks = -2;
    // A loop that always finds something lets the others run.
    $queue->push(0);
    $others = 0;
    go(function () use (&$others) {
        Coroutine::sleep(0);
        $others++;
    });
    for ($i = 0; $i < 300 && $others === 0; $i++) {
        $queue->push($queue->pop() + 1);
    }
    var_dump($others);
});
pcntl_waitpid($pid, $status);

echo "signals:\n";
$queue = new Queue(1000);
pcntl_async_signals(true);
pcntl_signal(SIGALRM, function () use ($queue) {
    echo "handled\n";
    $queue->push('by the handler');
});
pcntl_alarm(1);
var_dump($queue->pop());
?>
--EXPECT--
order:
[499000,499000,0,0]
killed:
[0,true,true]
in the loop:
string(12) "from outside"
bool(true)
bool(false)
int(-1)
bool(false)
bool(true)
["one",false]
int(1)
signals:
handled
string(14) "by the handler"
