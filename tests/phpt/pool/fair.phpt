--TEST--
ConnectionPool: who waits longest is served first, and waits that are given up or cancelled lose nothing
--FILE--
<?php
require __DIR__ . '/conn.inc';
Conn::$quiet = true;
use Apus\ConnectionPool;
use Apus\Coroutine;
use function Apus\go;

Apus\Coroutine\run(function () {
    $pool = new ConnectionPool(fn() => new Conn, 1);
    $conn = $pool->get();
    $ids = [];
    for ($i = 0; $i < 6; $i++) {
        $ids[] = go(function () use ($pool, $i) {
            try {
                $conn = $pool->get($i === 1 ? 0.01 : -1);
            } catch (Throwable $e) {
                echo "$i: ", get_class($e), ' ', $e->getCode(), "\n";
                return;
            }
            echo "$i: ", $conn ? "has {$conn->id}" : 'false', "\n";
            $conn and $pool->put($conn);
        });
    }
    until(fn() => $pool->stats()['timeouts'] === 1);
    Coroutine::cancel($ids[2]);
    Coroutine::cancel($ids[3], true);
    Coroutine::join([$ids[2], $ids[3]]);
    shown($pool, 'waiters');
    // Given and cancelled in one turn: it is a connection, and nothing is lost.
    $pool->put($conn);
    Coroutine::cancel($ids[0]);
    Coroutine::join($ids);
    shown($pool, 'in_use', 'idle', 'waiters', 'created', 'replaced');

    // A newcomer does not overtake.
    $conn = $pool->get();
    $first = go(function () use ($pool) {
        $conn = $pool->get();
        echo "first\n";
        $pool->put($conn);
    });
    $pool->put($conn);
    $conn = $pool->get();
    echo "second\n";
    $pool->put($conn);
    shown($pool, 'in_use', 'idle', 'waiters', 'created');
});
?>
--EXPECT--
1: Apus\ConnectionPool\Exception 401
2: false
3: Apus\Coroutine\CanceledException 0
{"waiters":3}
0: false
4: has 1
5: has 1
{"in_use":0,"idle":1,"waiters":0,"created":1,"replaced":0}
first
second
{"in_use":0,"idle":1,"waiters":0,"created":1}
