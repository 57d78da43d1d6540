--TEST--
ConnectionPool: connections that were idle are checked before they are handed out, and dead ones replaced
--FILE--
<?php
require __DIR__ . '/conn.inc';
use Apus\ConnectionPool;
use Apus\Coroutine;

Coroutine\run(function () {
    $check = function (Conn $conn): bool {
        echo "check {$conn->id}\n";
        return !$conn->dead;
    };
    $pool = (new ConnectionPool(fn() => new Conn, 3))->set(['check' => $check, 'check_idle' => 0]);
    $pool->fill();
    $a = $pool->get();
    $a->dead = true;
    $pool->put($a);
    $a = null;
    $a = $pool->get();
    echo "got {$a->id}\n";
    $pool->put($a);
    $a = null;
    shown($pool, 'in_use', 'idle', 'created', 'replaced');

    echo "never\n";
    $pool->set(['check_idle' => -1]);
    $x = [$pool->get(), $pool->get(), $pool->get()];
    echo implode(' ', array_map(fn($c) => $c->id, $x)), "\n";
    array_map([$pool, 'put'], $x);
    $x = null;

    echo "all of the others, once one was found dead\n";
    $pool->set(['check_idle' => 1000]);
    $pool->get();
    $pool->put(null);
    $x = [$pool->get(), $pool->get(), $pool->get()];
    array_map([$pool, 'put'], $x);
    $x = [$pool->get(), $pool->get()];
    array_map([$pool, 'put'], $x);
    $x = null;

    echo "after an exception in use()\n";
    complain(fn() => $pool->use(fn() => throw new Exception('in use')));
    $pool->put($pool->get());

    echo "a check that throws, or takes too long\n";
    $pool->set(['check' => fn() => throw new Exception('hidden'), 'check_idle' => 0]);
    $pool->put($pool->get());
    $pool->set(['check' => fn() => Coroutine::sleep(1e6), 'check_timeout' => 0.01]);
    $pool->put($pool->get());

    echo "a cancelled check\n";
    $pool->set(['check_timeout' => 0]);
    $cid = Apus\go(function () use ($pool) {
        var_dump($pool->get());
    });
    Coroutine::cancel($cid);
    Coroutine::join([$cid]);
    $cid = Apus\go(fn() => complain(fn() => $pool->get()));
    Coroutine::cancel($cid, true);
    Coroutine::join([$cid]);
    shown($pool, 'in_use', 'idle');

    echo "a check that was cancelled, and says that all is well\n";
    $pool->set(['check' => fn() => Coroutine::sleep(1e6) || true]);
    $cid = Apus\go(function () use ($pool) {
        var_dump($pool->get());
    });
    Coroutine::cancel($cid);
    Coroutine::join([$cid]);
    $pool->set(['check_timeout' => 0.01]);
    $pool->set(['check_idle' => -1])->put($pool->get());
    $pool->set(['check_idle' => 0])->put($pool->get());
    shown($pool, 'in_use', 'idle');
    Conn::$quiet = true;
});
?>
--EXPECT--
made 1
made 2
made 3
check 3
check 3
closed 3
made 4
got 4
{"in_use":0,"idle":3,"created":4,"replaced":1}
never
4 2 1
all of the others, once one was found dead
closed 1
check 2
check 4
made 5
after an exception in use()
Exception 0: in use
check 4
a check that throws, or takes too long
closed 4
made 6
closed 6
made 7
a cancelled check
closed 7
bool(false)
Apus\Coroutine\CanceledException 0: the coroutine was cancelled while it waited in Coroutine::sleep()
closed 5
{"in_use":0,"idle":1}
a check that was cancelled, and says that all is well
closed 2
bool(false)
made 8
closed 8
made 9
{"in_use":0,"idle":1}
